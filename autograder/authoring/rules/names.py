"""Names of graded cells: by these a gradebook and a repaired submission find them again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import Source

NAME = r"[A-Za-z_][A-Za-z0-9_]*"


def grade_ids_are_unique(source: Source) -> Iterator[Finding]:
    for name, count in _times(source).items():
        if count > 1:
            yield Finding(name, f"{count} cells have this grade_id: each needs one of its own")


def grade_ids_are_cell_ids(source: Source) -> Iterator[Finding]:
    times = _times(source)
    for cell in source.cells:
        name = notebook.grade_id(cell)
        if times[name] == 1 and cell.id != name:
            yield Finding(
                cell.id, f"its grade_id is {name}: cell id and grade_id must be the same (`course run` and `course build` make them so)"
            )


def _times(source: Source) -> Counter[str]:
    return Counter(notebook.grade_id(cell) for cell in source.cells if notebook.grade_id(cell))


def grade_ids_name_their_part(source: Source) -> Iterator[Finding]:
    topic = re.escape(source.chapter.topic)
    for cell in source.cells:
        name = notebook.grade_id(cell)
        if not name:
            continue
        if notebook.is_test(cell):
            pattern, example = rf"{topic}-{NAME}-test(-\d+)?", "name-test or name-test-2"
        elif notebook.is_solution(cell):
            pattern, example = rf"{topic}-{NAME}", "name, the exercise's name as Python has it"
        else:
            pattern, example = rf"{topic}-[A-Za-z0-9_-]+", "setup or given_name"
        if not re.fullmatch(pattern, name):
            yield Finding(cell.id, f"grade_id {name}: here it must be {source.chapter.topic}-{example}")


def tests_have_points(source: Source) -> Iterator[Finding]:
    for cell in source.cells:
        if notebook.grading(cell).get("grade") and not notebook.grading(cell).get("points", 0) >= 1:
            yield Finding(cell.id, "a graded cell without points: give it at least 1")
