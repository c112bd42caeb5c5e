"""The markers between which solutions and hidden tests stand: one that is misspelt gives the answer away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import Source

MARKER = re.compile(r"^\s*#+\s*(?:begin|end)\b.*\b(?:solutions?|hidden|tests?)\b.*$", re.IGNORECASE | re.MULTILINE)
SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")


def solutions_are_marked(source: Source) -> Iterator[Finding]:
    for cell in source.cells:
        found = [line for line in _markers(cell) if "SOLUTION" in line.upper()]
        if notebook.is_solution(cell) and not found:
            yield Finding(
                cell.id, f"a solution cell without {SOLUTION[0]} … {SOLUTION[1]}: all of it, docstring too, would become the stub"
            )
        elif found and not notebook.is_solution(cell):
            yield Finding(cell.id, f"{found[0]} stands in a cell that is no solution cell: students would see what follows")
        elif not _balanced(found, SOLUTION):
            yield Finding(cell.id, f"the markers are {', '.join(found)}: each {SOLUTION[0]} needs its {SOLUTION[1]}, spelt just so")


def hidden_tests_are_marked(source: Source) -> Iterator[Finding]:
    for cell in source.cells:
        found = [line for line in _markers(cell) if "SOLUTION" not in line.upper()]
        if found and not notebook.is_test(cell):
            yield Finding(cell.id, f"{found[0]} stands in a cell that is no test cell")
        elif not _balanced(found, HIDDEN):
            yield Finding(cell.id, f"the markers are {', '.join(found)}: each {HIDDEN[0]} needs its {HIDDEN[1]}, spelt just so")


def _markers(cell: NotebookNode) -> list[str]:
    return [line.strip() for line in MARKER.findall(cell.source)] if cell.cell_type == "code" or notebook.grade_id(cell) else []


def _balanced(found: list[str], pair: tuple[str, str]) -> bool:
    return found == list(pair) * (len(found) // 2)
