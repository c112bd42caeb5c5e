"""Where one class lives: its gradebook, what was handed in, and everything made from it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateAssignment

from autograder import notebook
from autograder.course import Chapter, Course, CourseError
from autograder.grading.nbgrader_step import logged, run_step
from autograder.nbgrader_settings import settings

NOT_DATA = ("*.ipynb", "*.pyc", "__pycache__", ".*")


@dataclass(frozen=True)
class Assignment:
    """A chapter as it is graded: what its release gave to students."""

    chapter: Chapter
    nb: NotebookNode

    @property
    def release(self) -> str:
        return self.nb.metadata.course.release

    @cached_property
    def cells(self) -> dict[str, NotebookNode]:
        """The cells that nbgrader knows, by grade_id, in order."""
        return {notebook.grade_id(cell): cell for cell in self.nb.cells if notebook.grade_id(cell)}

    @cached_property
    def tests(self) -> dict[str, float]:
        """The most points of each graded cell."""
        return {id: float(notebook.grading(cell)["points"]) for id, cell in self.cells.items() if notebook.grading(cell).get("grade")}

    @cached_property
    def exercises(self) -> dict[str, float]:
        """The most points of each exercise, in order."""
        most: dict[str, float] = {}
        for id, points in self.tests.items():
            exercise = notebook.exercise_of(id)
            most[exercise] = most.get(exercise, 0) + points
        return most


@dataclass(frozen=True)
class ClassFolder:
    root: Path

    # --- where things are ---

    @property
    def log(self) -> Path:
        return self.root / "grade.log"

    def submitted(self, student: str, chapter: Chapter) -> Path:
        """The notebook that is graded, byte for byte as it was handed in."""
        return self.root / "submitted" / student / chapter.name / f"{chapter.name}.ipynb"

    def everything(self, student: str, chapter: Chapter) -> Path:
        """The folder of all files that a student handed in. Not where nbgrader looks: a stray torch.py must not come beside the kernel."""
        return self.root / "submitted" / student / f"{chapter.name}.all"

    def autograded(self, student: str, chapter: Chapter) -> Path:
        """The notebook as it was run, with outputs."""
        return self.root / "autograded" / student / chapter.name / f"{chapter.name}.ipynb"

    def feedback(self, student: str, chapter: Chapter) -> Path:
        return self.root / "feedback" / student / f"{chapter.name}.html"

    def results(self, chapter: Chapter) -> Path:
        return self.root / "results" / chapter.name

    def grades(self, chapter: Chapter) -> Path:
        return self.root / "grades" / f"{chapter.name}.csv"

    # --- the assignment ---

    def prepare(self, course: Course, chapter: Chapter) -> Assignment:
        """Put the chapter, as its source is now, into the gradebook, hidden tests and all.

        The source is kept under releases/, by the release that a student notebook carries.
        """
        if set(str(self.root)) & set("[]*?"):
            raise CourseError(f"nbgrader finds nothing in a folder whose path has one of [ ] * ? in it: move the course out of {self.root}")
        if not chapter.source.is_file():
            raise CourseError(f"{chapter.name} has no source: {chapter.source} is missing")
        self._copy_source(chapter)
        stopped_by = run_step(GenerateAssignment, settings(course, self.root), self.log, chapter.name)
        if stopped_by is not None:
            raise CourseError(self._refusal(chapter, stopped_by)) from stopped_by
        assignment = self.assignment(chapter)
        shutil.copyfile(self._source(chapter), _made(self.root / "releases" / chapter.name) / f"{assignment.release}.ipynb")
        return assignment

    def assignment(self, chapter: Chapter) -> Assignment:
        """The chapter as `prepare` left it."""
        return Assignment(chapter, notebook.read(self.root / "release" / chapter.name / f"{chapter.name}.ipynb"))

    def _source(self, chapter: Chapter) -> Path:
        return self.root / "source" / chapter.name / f"{chapter.name}.ipynb"

    def _copy_source(self, chapter: Chapter) -> None:
        source = self._source(chapter)
        shutil.rmtree(source.parent, ignore_errors=True)
        shutil.copytree(chapter.source.parent, source.parent, ignore=shutil.ignore_patterns(*NOT_DATA))
        try:
            notebook.write(notebook.canonical(notebook.read(chapter.source)), source)
        except ValueError as error:
            raise CourseError(f"{chapter.source}: {error}") from None

    def _refusal(self, chapter: Chapter, error: Exception) -> str:
        if "Cannot add or remove cells" not in str(error):
            return f"nbgrader refuses the source of {chapter.name}: {error}. More in {self.log}"
        cells = notebook.read(self._source(chapter)).cells
        source = {notebook.grade_id(cell) for cell in cells if notebook.is_solution(cell) or notebook.is_test(cell)}
        with self.gradebook() as gradebook:
            found = gradebook.find_notebook(chapter.name, chapter.name)
            graded = {cell.name for cell in (*found.grade_cells, *found.solution_cells)}
        changes = [f"{word}: {', '.join(sorted(ids))}" for word, ids in (("new", source - graded), ("gone", graded - source)) if ids]
        return (
            f"the graded cells of {chapter.name} are no longer those that submissions in {self.root} were graded with "
            f"({'; '.join(changes) or 'locked cells came or went'}), and one gradebook cannot hold both. Nothing was changed. "
            f"Either check out the version of the course that was graded with, or keep this class as it is by renaming {self.root}, "
            "and grade all submissions again into a new one."
        )

    # --- the gradebook ---

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        with logged(self.log), Gradebook(f"sqlite:///{self.root / 'gradebook.db'}", "paramshare") as gradebook:
            yield gradebook

    def forget(self, student: str, chapter: Chapter) -> None:
        """Leave nothing of what autograding gave a student; what a person entered stays in the gradebook, and then waits for a person."""
        shutil.rmtree(self.autograded(student, chapter).parent, ignore_errors=True)
        with self.gradebook() as gradebook:
            try:
                submission = gradebook.find_submission(chapter.name, student)
            except MissingEntry:
                return
            if not any(_by_hand(nb) for nb in submission.notebooks):
                gradebook.remove_submission(chapter.name, student)
                return
            for grade in (grade for nb in submission.notebooks for grade in nb.grades):
                grade.auto_score = None
                grade.needs_manual_grade = True
            gradebook.db.commit()


def _by_hand(submitted) -> bool:
    """Has a person entered a score or a comment?"""
    scores = any(grade.manual_score is not None or grade.extra_credit is not None for grade in submitted.grades)
    return scores or any(comment.manual_comment for comment in submitted.comments)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
