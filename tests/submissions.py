"""Submissions made from a released notebook, for tests: each as a student could hand it in, whole or broken."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode

from autograder import notebook
from autograder.course import Chapter


def solutions(chapter: Chapter) -> dict[str, str]:
    """The reference answer of each solution cell, by grade_id."""
    cells = notebook.read(chapter.source).cells
    return {notebook.grade_id(cell): notebook.without_solution_marks(cell.source) for cell in cells if notebook.is_solution(cell)}


def filled(released: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """A copy of a released notebook with `answers` in its solution cells."""
    nb = copy.deepcopy(released)
    for cell in nb.cells:
        cell.source = answers.get(notebook.grade_id(cell), cell.source)
    return nb


def cell_of(nb: NotebookNode, grade_id: str) -> NotebookNode:
    return next(cell for cell in nb.cells if notebook.grade_id(cell) == grade_id)


def changed(nb: NotebookNode, change: Callable[[NotebookNode], object]) -> NotebookNode:
    nb = copy.deepcopy(nb)
    change(nb)
    return nb


def put(path: Path, content: NotebookNode | bytes) -> None:
    """Write a notebook or bytes, as they are: a submission need not be valid."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
