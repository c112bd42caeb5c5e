"""A student's way through the first chapter, in a real browser: open, run, solve, validate."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import Notebook, browser_page, running_lab

from autograder import notebook
from autograder.course import Chapter, Course

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[1]
PRIVATE = (".*", "work", "class", "artefacts", "build", "__pycache__", "*.egg-info")
PASSED = "Your notebook passes all the tests"


@pytest.fixture
def course(tmp_path) -> Course:
    """A copy of this course, so that nobody's work/ is touched."""
    root = tmp_path / "course"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*PRIVATE))
    return Course(root)


def solutions(chapter: Chapter) -> dict[str, str]:
    """What the source has in each cell that a student fills in, by cell id."""
    cells = filter(notebook.is_solution, notebook.read(chapter.source).cells)
    return {cell.id: notebook.without_solution_marks(cell.source).rstrip() for cell in cells}


def visible_tests(chapter: Chapter, answer: str) -> dict[str, str]:
    """The visible tests of the exercise whose answer goes into the cell `answer`, by cell id."""
    tests = filter(notebook.is_test, notebook.read(chapter.released).cells)
    return {cell.id: cell.source for cell in tests if notebook.exercise_of(cell.id) == notebook.exercise_of(answer)}


def first_mistake(chapter: Chapter) -> tuple[str, str]:
    """The diagnosis and the answer of the first mistake in the source, which belongs to its first exercise."""
    source = next(cell.source for cell in notebook.read(chapter.source).cells if cell.source.startswith("%%mistake"))
    words, _, wrong = source.removeprefix("%%mistake ").partition("\n")
    return words, wrong


def solve_in_work(chapter: Chapter) -> None:
    """Write every solution into the student's copy."""
    nb = notebook.read(chapter.working_copy)
    for cell in nb.cells:
        cell.source = solutions(chapter).get(cell.id, cell.source)
    notebook.write(nb, chapter.working_copy)


def test_a_student_solves_and_validates_the_first_chapter(course, tmp_path, artefacts, require_tool):
    chapter = course.chapters[0]
    answer, solution = next(iter(solutions(chapter).items()))
    diagnosis, wrong = first_mistake(chapter)
    tests = visible_tests(chapter, answer)
    first_test = next(iter(tests))
    with running_lab(course, home=tmp_path / "home") as address, browser_page(require_tool("chromium")) as page:
        assert urlsplit(address).path == f"/lab/tree/work/{chapter.name}/{chapter.name}.ipynb"
        student = Notebook(page, address, chapter.working_copy)

        student.run_all(until=first_test)
        assert "NotImplementedError" in student.output(first_test)
        student.show(first_test)
        page.screenshot(path=artefacts / "student_1_blank.png")
        blank = student.validate(artefacts / "student_2_validate_blank.png")
        assert "The following cell failed" in blank
        assert all(test in blank for test in tests.values())

        student.type(answer, wrong)
        student.run(first_test)
        assert diagnosis in student.output(first_test)
        student.show(first_test)
        page.screenshot(path=artefacts / "student_3_diagnosis.png")

        student.type(answer, solution)
        for test in tests:
            student.run(test)
            assert student.output(test) == ""
        page.screenshot(path=artefacts / "student_4_first_exercise.png")
        half = student.validate(artefacts / "student_5_validate_half.png")
        assert "The following cell failed" in half
        assert not any(test in half for test in tests.values())

        scratch = [cell.id for cell in notebook.read(chapter.released).cells if cell.cell_type == "code"][-1]
        student.type(scratch, "import sys; print(sys.executable)")
        assert student.output(scratch).strip() == sys.executable

        solve_in_work(chapter)
        student = Notebook(page, address, chapter.working_copy)
        assert PASSED in student.validate(artefacts / "student_6_validate_whole.png")
