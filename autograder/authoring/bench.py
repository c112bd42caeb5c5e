"""Where submissions are tried: classes in a temporary folder, one a process, graded as `course grade` grades."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.run import ENVIRONMENT
from autograder.authoring.submissions import Submission
from autograder.course import Chapter
from autograder.grading.autograde import autograde_notebook
from autograder.grading.class_folder import ClassFolder
from autograder.grading.results import FAILED, Graded

PROCESSES = 2


@dataclass(frozen=True)
class Trial:
    """What came of one submission: its grades, and the notebook as it ran (without cells when it could not be run)."""

    graded: Graded
    ran: NotebookNode

    @property
    def failure(self) -> str:
        """Why it was not graded at all; '' when it was."""
        return self.graded.reason if self.graded.status == FAILED else ""

    def points(self, exercise: str) -> float:
        return self.graded.points_of(exercise)

    def message(self, exercise: str) -> str:
        """What the first failing test of the exercise said."""
        return next((question.message for question in self.graded.questions if question.exercise == exercise and question.message), "")


class Bench:
    """`with Bench() as bench: bench.grade(...)`. `done` is called after each submission."""

    def __init__(self, done: Callable[[], None] = lambda: None):
        self._done = done

    def __enter__(self) -> Bench:
        self._folder = TemporaryDirectory(prefix="course-verify-")
        self._pool = ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn"), _start)
        return self

    def __exit__(self, *_) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def grade(self, chapter: Chapter, submissions: Iterable[Submission]) -> dict[str, Trial]:
        """What came of each, by student."""
        futures = {submission.student: self._submit(chapter, submission) for submission in submissions}
        return {student: future.result() for student, future in futures.items()}

    def _submit(self, chapter: Chapter, submission: Submission) -> Future[Trial]:
        future = self._pool.submit(_grade, Path(self._folder.name), chapter, submission)
        future.add_done_callback(lambda _: self._done())
        return future


# --- in a process of its own ---


def _start() -> None:
    """The environment in which outputs were stored."""
    os.environ.pop("MPLBACKEND", None)
    os.environ.update(ENVIRONMENT)


@cache
def _prepared(root: Path, chapter: Chapter) -> ClassFolder:
    folder = ClassFolder(root / str(os.getpid()))
    folder.prepare(chapter.course, chapter)
    return folder


def _grade(root: Path, chapter: Chapter, submission: Submission) -> Trial:
    folder = _prepared(root, chapter)
    handed_in = folder.root / "handed_in" / f"{submission.student}.ipynb"
    notebook.write(submission.fill(folder.assignment(chapter).nb), handed_in)
    graded = autograde_notebook(folder, chapter, submission.student, handed_in)
    ran = folder.autograded(submission.student, chapter)
    return Trial(graded, notebook.canonical(notebook.read(ran)) if ran.is_file() else NotebookNode(cells=[]))
