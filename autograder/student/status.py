"""`course status`: what a student has done, judged by running a temporary copy of the notebooks in work/ with their visible tests."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder import notebook
from autograder.course import Chapter, Course, CourseError
from autograder.student.lab import released_chapters

SECONDS_A_CELL = 60
NOT_WRITTEN = "It calls something that is not written yet."
STUB = re.compile(r"^\s*raise NotImplementedError\b", re.MULTILINE)

DONE, FAILING, NOT_STARTED = "done", "failing", "not started"
COLORS = {DONE: "green", FAILING: "red", NOT_STARTED: "dim"}


@dataclass(frozen=True)
class Exercise:
    name: str
    state: str
    points: float
    max_points: float
    message: str = ""
    """What the first failing test said; several lines."""


def show_status(course: Course, chapter: str | None = None) -> bool:
    """Print a table for each chapter in work/, and the next step. False when a notebook could not be judged."""
    wanted = [course.chapter(chapter)] if chapter else released_chapters(course)
    begun = [each for each in wanted if each.working_copy.exists()]
    if not begun:
        raise CourseError("nothing in work/ yet: `course lab` copies the chapters there and opens them")
    console = Console(highlight=False)
    judged: dict[Chapter, list[Exercise]] = {}
    for each in begun:
        try:
            with console.status(f"Running {each.name}"):
                judged[each] = judge(each)
        except ValueError as error:
            console.print(Text(f"work/{each.name}: {error}", "red"))
        else:
            console.print(_table(each, judged[each]))
    console.print(Text("\n".join(_next_step(judged))))
    return len(judged) == len(begun)


def judge(chapter: Chapter) -> list[Exercise]:
    """Every exercise of the chapter as it stands in work/. Raises ValueError when the notebook is broken or stops its kernel."""
    cells = {notebook.grade_id(cell) or cell.id: cell for cell in executed(chapter.working_copy).cells}
    # The tests are those of the release; where the student's copy lost one, its points are lost with it.
    exercises: dict[str, list[NotebookNode]] = {}
    for cell in filter(notebook.is_test, notebook.read(chapter.released).cells):
        exercises.setdefault(notebook.exercise_of(notebook.grade_id(cell)), []).append(cell)
    return [_exercise(name, tests, cells) for name, tests in exercises.items()]


def executed(path: Path) -> NotebookNode:
    """The notebook at `path` after running every cell of a copy of its folder. Raises ValueError when that cannot be done."""
    nb = notebook.read(path)
    with TemporaryDirectory(prefix="course-status-") as temporary:
        folder = shutil.copytree(path.parent, Path(temporary) / path.parent.name, ignore=shutil.ignore_patterns(".*"))
        client = NotebookClient(
            nb,
            kernel_name="python3",
            timeout=SECONDS_A_CELL,
            interrupt_on_timeout=True,
            allow_errors=True,
            extra_arguments=["--log-level=ERROR"],  # what the kernel has to say about itself is not for students
            resources={"metadata": {"path": str(folder)}},
            on_cell_executed=_note_failure,
        )
        try:
            client.execute()
        except DeadKernelError:
            raise ValueError(f"{path.name} stopped its Python: run it in JupyterLab to see which cell does that") from None
    return nb


def _note_failure(cell: NotebookNode, cell_index: int, execute_reply: dict) -> None:
    """Believe the kernel's reply, not the outputs: what shows errors can be broken, and then a failed cell looks like a silent one."""
    reply = execute_reply["content"]
    if reply["status"] != "ok" and not any(output.output_type == "error" for output in cell.outputs):
        cell.outputs.append(new_output("error", ename=reply.get("ename", "Error"), evalue=reply.get("evalue", "it did not run to its end")))


# --- one exercise ---


def _exercise(name: str, tests: list[NotebookNode], cells: dict[str, NotebookNode]) -> Exercise:
    points = {notebook.grade_id(test): notebook.grading(test)["points"] for test in tests}
    faults = {id: _fault(cells[id]) if id in cells else f"The test {id} is gone: copy it from chapters/." for id in points}
    earned = sum(points[id] for id, fault in faults.items() if not fault)
    answer = cells.get(name.replace(".", "-"), NotebookNode(source=""))
    said = [fault for fault in (_fault(answer), *faults.values()) if fault]
    if not any(faults.values()):
        state, said = DONE, []
    elif STUB.search(answer.source) and NOT_WRITTEN in said:
        state, said = NOT_STARTED, []
    else:
        state = FAILING
    return Exercise(name, state, earned, sum(points.values()), message=said[0] if said else "")


def _fault(cell: NotebookNode) -> str:
    """What the cell's error says; empty when it ran."""
    error = next((output for output in cell.get("outputs", []) if output.output_type == "error"), None)
    if error is None:
        return ""
    if error.ename == "KeyboardInterrupt":
        return f"Took longer than {SECONDS_A_CELL} seconds."
    if error.ename == "NotImplementedError":
        return NOT_WRITTEN
    return error.evalue if error.ename == "ExpectationFailed" else f"{error.ename}: {error.evalue}"


# --- what is shown ---


def _table(chapter: Chapter, exercises: list[Exercise]) -> Table:
    earned, total = (sum(getattr(exercise, field) for exercise in exercises) for field in ("points", "max_points"))
    table = Table(title=f"{chapter.name}: {earned:g} of {total:g} points", title_justify="left")
    table.add_column("exercise", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("what its test says")
    for each in exercises:
        points, says = f"{each.points:g} / {each.max_points:g}", Text(each.message.partition("\n")[0])
        table.add_row(each.name, Text(each.state, COLORS[each.state]), points, says)
    return table


def _next_step(judged: dict[Chapter, list[Exercise]]) -> list[str]:
    for chapter, exercises in judged.items():
        for exercise in exercises:
            if exercise.state != DONE:
                message = [f"    {line}" for line in exercise.message.splitlines()]
                return [f"Next: {exercise.name}, in work/{chapter.name}/{chapter.name}.ipynb", *message]
    return [f"Every visible test of {chapter.name} passes: hand in work/{chapter.name}/{chapter.name}.ipynb" for chapter in judged]
