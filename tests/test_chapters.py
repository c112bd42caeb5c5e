"""Every chapter of this course: its form, its proofs, and that the notebook is the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder import notebook
from autograder.authoring.lint import lint
from autograder.authoring.verify import verify
from autograder.course import Course

COURSE = Course(Path(__file__).resolve().parents[1])
each_chapter = pytest.mark.parametrize("chapter", COURSE.chapters, ids=lambda chapter: chapter.name)


@each_chapter
def test_form(chapter):
    assert lint([chapter])


@each_chapter
def test_every_exercise_is_proved(chapter):
    assert verify(COURSE, chapter.name)


@each_chapter
def test_the_notebook_is_the_library(chapter):
    module = chapter.module.read_text(encoding="utf-8")
    position = 0
    for cell in notebook.read(chapter.source).cells:
        if "export" in notebook.tags(cell):
            position = module.index(notebook.without_solution_marks(cell.source).rstrip(), position)
    assert position > 0


@each_chapter
def test_the_library_stands_alone(chapter):
    """In a fresh interpreter, far from the course's folder, and with everything in its `__all__`."""
    module = f"paramshare.{chapter.topic}"
    code = f"import {module} as m; missing = [n for n in m.__all__ if not hasattr(m, n)]; assert m.__all__ and not missing, missing"
    subprocess.run([sys.executable, "-c", code], cwd="/", check=True)
