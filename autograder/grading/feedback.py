"""A page for every student: what was asked, what they answered, what the tests said."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from autograder import notebook
from autograder.course import Chapter, CourseError
from autograder.grading.class_folder import ClassFolder
from autograder.grading.hidden_tests import HideTests
from autograder.grading.nbgrader_step import run_step
from autograder.grading.results import GRADED, Graded
from autograder.grading.safe_page import LimitSize, SafePage, small_page
from autograder.nbgrader_settings import settings


def apply(config: Config) -> Config:
    """Let nbgrader's GenerateFeedback make pages that tell nothing they should not, and do nothing."""
    config.GenerateFeedback.preprocessors = [GetGrades, HideTests, LimitSize, CSSHTMLHeaderPreprocessor]
    config.GenerateFeedback.exporter_class = SafePage
    return config


def write_feedback(folder: ClassFolder, chapter: Chapter, row: Graded) -> Path:
    """Write the page of `row`'s student, and say where it is. Who was not graded reads why.

    Raises CourseError when there could be no page but one that says so.
    """
    path = folder.feedback(row.student, chapter)
    problem = ""
    try:
        page = _graded_page(folder, chapter, row.student) if row.status == GRADED else small_page(chapter.name, f"Not graded. {row.reason}")
    except CourseError as error:
        problem, page = str(error), small_page(chapter.name, f"{row.points:g} points. There is no page with more, for now.")
    notebook.write_bytes(path, page.encode())
    if problem:
        raise CourseError(problem)
    return path


def _graded_page(folder: ClassFolder, chapter: Chapter, student: str) -> str:
    config = apply(settings(chapter.course, folder.root))
    with TemporaryDirectory(prefix="course-feedback-") as temporary:
        # An absolute folder is nbgrader's own way to write somewhere else: its own place is a folder where the course has a page.
        config.CourseDirectory.feedback_directory = temporary
        stopped_by = run_step(GenerateFeedback, config, folder.log, chapter.name, student)
        if stopped_by is not None:
            raise CourseError(f"no feedback page for {student}: {stopped_by}. More in {folder.log}") from stopped_by
        return (Path(temporary) / student / chapter.name / f"{chapter.name}.html").read_text(encoding="utf-8")
