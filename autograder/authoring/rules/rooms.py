"""Tests in one process, answers in another: what does not run so, no judge could run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import Source, code_of, defined_names, python_text
from autograder.rooms import AnswerRoom, CellFailed, namespace_of_tests, run_cell
from autograder.wire import CannotCross


def tests_run_in_a_room_of_their_own(source: Source) -> Iterator[Finding]:
    """Runs the graded cells alone: the solutions in one process, the tests in another."""
    if not all(map(_is_python, source.graded_cells)):
        return  # has findings already
    cells = [cell for cell in source.graded_cells if not notebook.is_test(cell)]
    locked = [_named(cell) for cell in cells if not notebook.is_solution(cell)]
    answered = {name for cell in cells if notebook.is_solution(cell) for name in defined_names(code_of(cell))}
    try:
        with AnswerRoom(map(_named, cells)) as room, redirect_stdout(io.StringIO()):
            space = namespace_of_tests(room, locked, answered)
            for test in filter(notebook.is_test, source.graded_cells):
                yield from _run(test, space)
    except CellFailed as failed:
        yield Finding(
            failed.cell,
            f"does not run when only graded cells run: {failed}. What it needs belongs in a locked cell, not in a demonstration",
        )


def _run(test: NotebookNode, space: dict) -> Iterator[Finding]:
    try:
        run_cell(*_named(test), space)
    except CannotCross as error:
        yield Finding(test.id, str(error))
    except NameError as error:
        yield Finding(test.id, f"{error} when only graded cells run: a locked cell must define it, not a demonstration")
    except Exception as error:
        said = f"{type(error).__name__}: {error}".replace("\n", " ")
        yield Finding(
            test.id, f"fails when the answers run in another process: {said} Compare plain values: numbers, strings, lists, tensors"
        )


def _named(cell: NotebookNode) -> tuple[str, str]:
    return cell.id, python_text(cell)


def _is_python(cell: NotebookNode) -> bool:
    try:
        return bool(compile(python_text(cell), cell.id, "exec"))
    except SyntaxError:
        return False
