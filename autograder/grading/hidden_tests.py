"""Keeping hidden tests out of what a student reads: their text, their values, and tracebacks that go through them."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder import notebook
from autograder.grading.autograde import said, without_ansi
from autograder.values import shorten

BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
HIDDEN_FAILURE = "A test failed, and it may be one that you cannot see: hidden tests ask the same with other values."
REMOVED = "(This output is left out: it repeats hidden tests.)"
PIECE, SHORTEST_PIECE = 16, 8  # characters


class HideTests(NbGraderPreprocessor):
    """In a graded notebook, on its way to a feedback page: no hidden test, and of a failed test nothing but its message."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        hidden = []
        for cell in (cell for cell in nb.cells if notebook.is_test(cell)):
            parts, message = Parts.of(cell.source), message_for_student(cell)
            hidden.append(parts.hidden)
            cell.source = parts.visible
            cell.outputs = [_error(message)] if message else []
        telling = _pieces(hidden, besides=[cell.source for cell in nb.cells])
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [_error(REMOVED) if _repeats(output, telling) else output for output in cell.outputs]
        return nb, resources


@dataclass(frozen=True)
class Parts:
    """The source of a test cell, in two: what a student sees, and what not. `first_hidden` is the number of the first hidden line."""

    visible: str
    hidden: str
    first_hidden: int

    @classmethod
    def of(cls, source: str) -> Parts:
        visible, hidden, inside, first = [], [], False, 0
        for number, line in enumerate(source.split("\n"), 1):
            if BEGIN in line:
                inside, first = True, first or number
            elif END in line:
                inside = False
            else:
                (hidden if inside else visible).append(line)
        return cls("\n".join(visible), textwrap.dedent("\n".join(hidden)), first)


def message_for_student(cell: NotebookNode) -> str:
    """What a failed test said, when it is surely a visible test that said it; '' for a test that passed."""
    message, parts = said(cell), Parts.of(cell.source)
    if not message or not parts.first_hidden or _is_of_visible_test(message, cell, parts):
        return message
    return HIDDEN_FAILURE


def _is_of_visible_test(message: str, cell: NotebookNode, parts: Parts) -> bool:
    if message.startswith("NotImplementedError"):  # a stub says the same to every test
        return True
    asked = message.lstrip("(")
    if any(asked.startswith(expression) for expression in _expectations(parts.hidden)):
        return False
    if any(asked.startswith(expression) for expression in _expectations(parts.visible)):
        return True
    return 0 < _line_of_cell(cell) < parts.first_hidden


def _expectations(source: str) -> Iterator[str]:
    """What stands in each `expect(...)` of `source`, in the words in which a message begins with it."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect" and node.args:
            asked = node.args[0].body if isinstance(node.args[0], ast.Lambda) else node.args[0]
            yield shorten(textwrap.dedent(ast.get_source_segment(source, asked) or ""))


def _line_of_cell(cell: NotebookNode) -> int:
    """The line of the test cell that its error came through; 0 when the traceback does not say."""
    traceback = "\n".join(output for error in cell.outputs if error.output_type == "error" for output in error.traceback)
    found = re.search(rf"Cell In\[{cell.execution_count}\], line (\d+)", without_ansi(traceback))
    return int(found[1]) if found else 0


# --- what other cells may have printed of hidden tests ---


def _pieces(hidden: list[str], besides: list[str]) -> set[str]:
    """All short pieces of the lines of hidden tests, those left out that a student sees or wrote."""
    known = "\n".join(map(_essence, besides))
    lines = [_essence(line) for source in hidden for line in source.split("\n")]
    pieces = {line[i : i + PIECE] for line in lines for i in range(max(1, len(line) - PIECE + 1))}
    return {piece for piece in pieces if len(piece) >= SHORTEST_PIECE and piece not in known}


def _repeats(output: NotebookNode, pieces: set[str]) -> bool:
    text = _essence(" ".join(_texts(output)))
    return any(piece in text for piece in pieces)


def _texts(value) -> Iterator[str]:
    """All text in an output, however deep."""
    if isinstance(value, str):
        yield without_ansi(value)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _essence(text: str) -> str:
    """`text` without what printing, quoting or indenting changes."""
    return re.sub(r"[\s\\'\"]+", "", text)


def _error(message: str) -> NotebookNode:
    return NotebookNode(output_type="error", ename="", evalue=message, traceback=message.split("\n"))
