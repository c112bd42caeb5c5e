"""A page for every student: what was asked, what they answered, what the tests said."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from autograder import notebook
from autograder.course import Chapter
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


def write_feedback(folder: ClassFolder, chapter: Chapter, row: Graded) -> tuple[str, ...]:
    """Write the page of `row`'s student; who was not graded reads why. Gives back what the instructor should know of it, as flags."""
    flags: tuple[str, ...] = ()
    if row.status != GRADED:
        page = small_page(chapter.name, f"Not graded. {row.reason}")
    else:
        try:
            page = _graded_page(folder, chapter, row.student)
        except NoPage as error:
            flags = (f"the page has points only, because {error}: see {folder.log.name}",)
            page = small_page(chapter.name, f"{row.points:g} points. There is no page with more, for now.")
    notebook.write_bytes(folder.feedback(row.student, chapter), page.encode())
    return flags


class NoPage(Exception):
    """nbgrader could not make a page; the message says why."""


def _graded_page(folder: ClassFolder, chapter: Chapter, student: str) -> str:
    config = apply(settings(chapter.course, folder.root))
    with TemporaryDirectory(prefix="course-feedback-") as temporary:
        # An absolute folder is nbgrader's own way to write somewhere else: its own place is a folder where the course has a page.
        config.CourseDirectory.feedback_directory = temporary
        stopped_by = run_step(GenerateFeedback, config, folder.log, chapter.name, student)
        if stopped_by is not None:
            raise NoPage(str(stopped_by).partition("\n")[0]) from stopped_by
        return (Path(temporary) / student / chapter.name / f"{chapter.name}.html").read_text(encoding="utf-8")
