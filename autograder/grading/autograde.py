"""One student's notebook through nbgrader: whatever happens to it, the class goes on."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from autograder import notebook
from autograder.course import Chapter
from autograder.grading import rules
from autograder.grading.checks import FRESH_COPY, Ungradable, read_submission, remarks
from autograder.grading.class_folder import Assignment, ClassFolder
from autograder.grading.nbgrader_step import logged, run_step
from autograder.grading.results import FAILED, GRADED, Graded, Question
from autograder.nbgrader_settings import settings

SPEAK_FOR_THEMSELVES = ("ExpectationFailed", "CellTimeoutError", "NotRun")
NEVER_STARTED = re.compile(r"Kernel (didn't respond in|died before replying)")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def autograde_notebook(folder: ClassFolder, chapter: Chapter, student: str, notebook: Path) -> Graded:
    """Grade `notebook`, after `folder.prepare(...)`. Never raises for a bad submission: that is a row with a reason.

    A second time replaces the first. Scores that a person entered stay.
    """
    assignment = folder.assignment(chapter)
    try:
        _receive(folder, chapter, student, notebook)
        with logged(folder.log):
            nb = read_submission(folder.submitted(student, chapter), assignment)
            flags = remarks(nb, assignment)
        _run(folder, chapter, student)
        questions, more = _scores(folder, assignment, student)
    except BaseException as error:
        folder.forget(student, chapter)
        if not isinstance(error, Exception):
            raise  # Ctrl-C
        with logged(folder.log) as log:
            log.error("%s could not be graded", student, exc_info=error)
        return Graded(student, FAILED, reason=_in_plain_words(error))
    return Graded(student, GRADED, questions=questions, flags=(*flags, *more))


def _receive(folder: ClassFolder, chapter: Chapter, student: str, handed_in: Path) -> None:
    """Put a copy where nbgrader looks for it, and take away what an earlier run made."""
    folder.forget(student, chapter)
    target = folder.submitted(student, chapter)
    shutil.rmtree(target.parent, ignore_errors=True)
    target.parent.mkdir(parents=True)
    shutil.copyfile(handed_in, target)


def _run(folder: ClassFolder, chapter: Chapter, student: str) -> None:
    config = rules.apply(settings(chapter.course, folder.root))
    stopped_by = run_step(Autograde, config, folder.log, chapter.name, student)
    if isinstance(stopped_by, RuntimeError) and NEVER_STARTED.match(str(stopped_by)):  # a busy machine, a port that two kernels chose
        stopped_by = run_step(Autograde, config, folder.log, chapter.name, student)
    if stopped_by is not None:
        raise stopped_by


def _in_plain_words(error: Exception) -> str:
    if isinstance(error, Ungradable):
        return str(error)
    if isinstance(error, DeadKernelError):
        return (
            "Python ended while the notebook ran: a cell calls exit(), or takes more memory than there is. "
            "Restart the kernel, run all cells, and mend the one that does not come back."
        )
    if isinstance(error, RuntimeError) and NEVER_STARTED.match(str(error)):
        return "Python did not start on the grader's machine, twice. The notebook is not to blame: grade it again on a quieter machine."
    if isinstance(error, rules.OutOfTime | CellTimeoutError):
        return "The notebook did not come to its end: a cell runs for ever, or too long. Restart the kernel and run all cells to find it."
    if isinstance(error, KeyError):  # nbgrader puts a deleted test back behind its neighbour, and that is gone too
        return f"Too many cells of the chapter were deleted to put the tests back. {FRESH_COPY}"
    return f"The notebook could not be run ({type(error).__name__}): its cells are not as the chapter had them. {FRESH_COPY}"


# --- what came of it ---


def _scores(folder: ClassFolder, assignment: Assignment, student: str) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    """Every graded cell of the assignment with its points, and what a person should know about them."""
    chapter = assignment.chapter
    ran = {notebook.grade_id(cell): cell for cell in notebook.read(folder.autograded(student, chapter)).cells}
    questions, flags = [], []
    with folder.gradebook() as gradebook:
        for cell, most in assignment.tests.items():
            grade = gradebook.find_grade(cell, chapter.name, chapter.name, student)
            if grade.manual_score is not None:
                flags.append(f"scored by hand: {cell}")
            elif grade.auto_score is None:
                flags.append(_unscored(gradebook, grade, cell, ran))
            message = said(ran[cell]) if cell in ran else ""
            if message.startswith("AuthorError"):
                flags.append(f"the test is at fault, not the answer: {cell}")
            questions.append(Question(notebook.exercise_of(cell), cell, float(grade.score or 0), most, message))
    return tuple(questions), tuple(flags)


def _unscored(gradebook: Gradebook, grade, cell: str, ran: dict[str, NotebookNode]) -> str:
    """A test that nbgrader found no result of earns nothing, and says so; an answer in words waits for a person."""
    if cell in ran and notebook.is_solution(ran[cell]):
        return f"waits for a score by hand: {cell}"
    grade.auto_score, grade.needs_manual_grade = 0, False
    gradebook.db.commit()
    return f"not in the notebook that ran, no points: {cell}"


def said(cell: NotebookNode) -> str:
    """What a failed test cell told the student; '' for one that passed."""
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    if not errors:
        return ""
    error = errors[-1]  # after a timeout: what says so, behind the interrupt
    value = without_ansi(error.evalue)
    return value if error.ename in SPEAK_FOR_THEMSELVES else f"{error.ename}: {value}".rstrip(": ")


def without_ansi(text: str) -> str:
    return _ANSI.sub("", text)
