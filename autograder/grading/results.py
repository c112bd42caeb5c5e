"""What grading found: the results of one class on one chapter, as files, as a table for people and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from autograder import notebook

GRADED, FAILED, MISSING = "graded", "failed", "missing"


@dataclass(frozen=True)
class Question:
    """One test cell. `message` is what the test said when it failed, else ''."""

    exercise: str
    cell: str
    points: float
    max_points: float
    message: str


@dataclass(frozen=True)
class Graded:
    """One student's row. `status` is `graded`, `failed` or `missing`; `reason` says why there are no points."""

    student: str
    status: str
    reason: str = ""
    questions: tuple[Question, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(question.points for question in self.questions)

    def points_of(self, exercise: str) -> float:
        return sum(question.points for question in self.questions if question.exercise == exercise)


# --- one small file a student ---


@dataclass(frozen=True)
class Record:
    """A row with where it came from: the folder or zip that was graded, the file in it, and the release it was graded with."""

    row: Graded
    folder: str
    origin: str
    release: str


def write_record(path: Path, record: Record) -> None:
    notebook.write_bytes(path, (json.dumps(asdict(record), indent=1) + "\n").encode())


def read_records(folder: Path) -> dict[str, Record]:
    """Every stored row, by student."""
    records = (_read_record(path) for path in sorted(folder.glob("*.json")))
    return {record.row.student: record for record in records}


def _read_record(path: Path) -> Record:
    stored = json.loads(path.read_bytes())
    row = stored["row"]
    questions = tuple(Question(**question) for question in row.pop("questions"))
    return Record(**stored | {"row": Graded(**row | {"questions": questions, "flags": tuple(row["flags"])})})


# --- for people ---


def csv_text(rows: Iterable[Graded], exercises: Mapping[str, float]) -> str:
    """One line a student; `exercises` gives the columns and the most points of each. Who was not graded has no points, not zero."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", *exercises, "total", "max", "status", "reason", "flags"])
    for row in rows:
        graded = row.status == GRADED
        points = [_number(row.points_of(exercise)) if graded else "" for exercise in exercises]
        total = _number(row.points) if graded else ""
        told = [row.status, row.reason, "; ".join(row.flags)]
        writer.writerow([_defused(row.student), *points, total, _number(sum(exercises.values())), *map(_defused, told)])
    return out.getvalue()


def table(rows: Iterable[Graded], exercises: Mapping[str, float], title: str) -> Table:
    """The points of the class, for a terminal."""
    shown = Table(title=title, title_justify="left")
    shown.add_column("student", overflow="fold")
    for exercise, most in exercises.items():
        shown.add_column(f"{exercise.partition('.')[2]}\n/ {_number(most)}", justify="right")
    shown.add_column(f"total\n/ {_number(sum(exercises.values()))}", justify="right")
    for row in rows:
        graded = row.status == GRADED
        points = [_number(row.points_of(exercise)) if graded else "" for exercise in exercises]
        cells = [row.student, *points, _number(row.points) if graded else row.status]
        shown.add_row(*map(_plain, cells), style=None if graded else "red")
    return shown


def notes(rows: Iterable[Graded]) -> list[str]:
    """What an instructor should know besides the points: a line for each student of whom there is something."""
    lines = []
    for row in rows:
        said = [*([f"{row.status}: {row.reason}"] if row.status != GRADED else []), *row.flags]
        if said:
            lines.append(_printable(f"{row.student}: {'; '.join(said)}"))
    return lines


def _number(points: float) -> str:
    return f"{points:g}"


def _plain(text: str) -> str:
    """`text` with nothing that rich, or a terminal, would take for an instruction."""
    return _printable(text).replace("[", r"\[")


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())


def _defused(text: str) -> str:
    """`text` on one line, and so that no spreadsheet takes it for a formula."""
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return f"'{text}" if text[:1] in tuple("=+-@|%＝＋－＠") else text
