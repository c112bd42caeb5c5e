"""`course grade`: from a folder of submissions to grades, a gradebook and feedback."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autograder import notebook
from autograder.course import Chapter, Course, CourseError
from autograder.grading.autograde import autograde_notebook
from autograder.grading.class_folder import Assignment, ClassFolder
from autograder.grading.collect import Submission, collect
from autograder.grading.feedback import write_feedback
from autograder.grading.names import clean, same_id
from autograder.grading.results import FAILED, GRADED, MISSING, Graded, Record, csv_text, notes, read_records, table, write_record
from autograder.grading.roster import Roster


def grade(course: Course, chapter: Chapter, folder: Path, roster: Path | None = None, only: str | None = None) -> bool:
    """Grade what is in `folder` into class/. Submissions that cannot be graded are rows with a reason, and no failure of the run."""
    place = ClassFolder(course.root / "class")
    students = Roster.read(roster) if roster else None
    place.root.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="collected-", dir=place.root) as staging:
        submissions = collect(folder, chapter, Path(staging), students, besides=roster)
        chosen = _chosen(submissions, only, folder)
        assignment = place.prepare(course, chapter)
        _grade_all(place, assignment, chosen, folder)
    if only is None:
        _forget_stale(place, chapter, folder, submissions)
    rows = _rows(place, assignment, students)
    notebook.write_bytes(place.grades(chapter), csv_text(rows, assignment.exercises).encode())
    _report(place, assignment, rows)
    return True


def _chosen(submissions: tuple[Submission, ...], only: str | None, folder: Path) -> tuple[Submission, ...]:
    if not submissions:
        raise CourseError(f"nothing was handed in: {folder} is empty")
    if only is None:
        return submissions
    chosen = tuple(submission for submission in submissions if same_id(submission.student) == same_id(clean(only)))
    if not chosen:
        raise CourseError(
            f"no submission of {only!r} in {folder}; there are: {', '.join(submission.student for submission in submissions)}"
        )
    return chosen


# --- grading ---


def _grade_all(place: ClassFolder, assignment: Assignment, submissions: tuple[Submission, ...], folder: Path) -> None:
    known, here = read_records(place.results(assignment.chapter)), str(folder.resolve())
    for submission in _with_progress(submissions):
        earlier = known.get(submission.student)
        if submission.is_missing and earlier and (earlier.row.status == GRADED or earlier.folder != here):
            continue  # handed in with another folder
        row = _grade_one(place, assignment.chapter, submission)
        record = Record(row, here, submission.origin, assignment.release)
        write_record(place.results(assignment.chapter) / f"{row.student}.json", record)


def _grade_one(place: ClassFolder, chapter: Chapter, submission: Submission) -> Graded:
    _keep_everything(place, chapter, submission)
    if submission.notebook is None:
        place.forget(submission.student, chapter)
        row = Graded(submission.student, MISSING if submission.is_missing else FAILED, reason=submission.problem)
    else:
        row = autograde_notebook(place, chapter, submission.student, submission.notebook)
    return replace(row, flags=(*submission.flags, *row.flags, *write_feedback(place, chapter, row)))


def _keep_everything(place: ClassFolder, chapter: Chapter, submission: Submission) -> None:
    """Copy all files of a submission to where a person can read them."""
    kept = place.everything(submission.student, chapter)
    shutil.rmtree(kept, ignore_errors=True)
    for file in submission.files:
        file.keep_in(kept)


def _with_progress(submissions: tuple[Submission, ...]) -> Iterator[Submission]:
    """Each submission, with a bar on a terminal and a line elsewhere."""
    console = Console()
    if not console.is_terminal:
        for number, submission in enumerate(submissions, 1):
            print(f"{number}/{len(submissions)} {submission.student}", flush=True)
            yield submission
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(submissions))
        for submission in submissions:
            progress.update(task, description=submission.student)
            yield submission
            progress.advance(task)


# --- the rows of the class ---


def _forget_stale(place: ClassFolder, chapter: Chapter, folder: Path, submissions: Iterable[Submission]) -> None:
    """Drop ungraded rows that an earlier run over the same folder gave and this one does not, as for a file that has a new name."""
    found = {submission.student for submission in submissions}
    for student, record in read_records(place.results(chapter)).items():
        if student not in found and record.row.status != GRADED and record.folder == str(folder.resolve()):
            (place.results(chapter) / f"{student}.json").unlink()


def _rows(place: ClassFolder, assignment: Assignment, roster: Roster | None) -> list[Graded]:
    """The whole class as stored, those included that earlier runs graded."""
    known = None if roster is None else {same_id(entry.id) for entry in roster.entries}
    rows = []
    for student, record in sorted(read_records(place.results(assignment.chapter)).items()):
        row = record.row
        if row.status == GRADED and record.release != assignment.release:
            row = replace(row, flags=(*row.flags, f"graded with release {record.release}, which is not the present one"))
        if row.status == GRADED and known is not None and same_id(student) not in known:
            row = replace(row, flags=(*row.flags, "not in the roster"))
        rows.append(row)
    return rows


def _report(place: ClassFolder, assignment: Assignment, rows: list[Graded]) -> None:
    chapter = assignment.chapter
    console = Console(soft_wrap=False)
    console.print(table(rows, assignment.exercises, f"{chapter.name}, release {assignment.release}"))
    print(*notes(rows), sep="\n", end="\n\n")
    count = {status: sum(row.status == status for row in rows) for status in (GRADED, FAILED, MISSING)}
    print(", ".join(f"{number} {status}" for status, number in count.items()))
    print(f"grades:   {place.grades(chapter)}")
    print(f"feedback: {place.root / 'feedback'}/<student>/{chapter.name}.html")
