"""The form of a test cell, which a student reads, a magic replays and a judge runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import Source, calls, code, code_of, exercise_of
from autograder.magics import exercise_of as named_in

_HIDDEN = re.compile(r"^\s*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS[^\n]*\n?", re.MULTILINE | re.DOTALL)


def begins_with_its_exercise(source: Source) -> Iterator[Finding]:
    for cell in filter(notebook.is_test, source.code_cells):
        if named_in(cell.source) != exercise_of(cell):
            yield Finding(cell.id, f'its first statement must be exercise("{exercise_of(cell)}")')


def ends_in_no_value(source: Source) -> Iterator[Finding]:
    """nbgrader takes a value that a test cell displays for a score."""
    for cell in filter(notebook.is_test, source.code_cells):
        for text in {cell.source, _HIDDEN.sub("", cell.source)}:  # what is graded, and what a student has
            statements = code(text).body
            if statements and isinstance(statements[-1], ast.Expr) and _root(statements[-1].value) not in ("expect", "exercise"):
                yield Finding(
                    cell.id, f"it ends in `{ast.unparse(statements[-1])}`, which nbgrader would take for a score: end in a call of expect"
                )
                break


def prints_nothing(source: Source) -> Iterator[Finding]:
    for cell in filter(notebook.is_test, source.code_cells):
        printing = sorted({name for _, name in calls(code_of(cell)) if name in ("print", "display", "warnings.warn")})
        if printing:
            yield Finding(cell.id, f"a test prints nothing: leave {', '.join(printing)} to a demonstration")
        elif cell.outputs:
            yield Finding(cell.id, "its stored output is not empty: a test that passes prints nothing, and neither may what it calls")


def _root(node: ast.expr) -> str:
    """The name that a chain of calls and attributes starts from, when it ends in a call."""
    if not isinstance(node, ast.Call):
        return ""
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
