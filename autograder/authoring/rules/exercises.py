"""What every exercise has: a card, hints, tests, three mistakes, an alternative."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import WAIVER, Exercise, Source, code_of

HINTS, MISTAKES, WORDS = 3, 3, 4
CARD = {
    r"difficulty [1-5] of 5": "`difficulty 2 of 5`",
    r"\b\d+ minutes\b": "`5 minutes`",
    r"^\*Why it matters: \S.*\*$": "a line `*Why it matters: ….*`",
}


def has_a_card(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        title = f"**Exercise `{exercise.name}`**"
        card = next((cell for cell in _above(source, exercise) if cell.cell_type == "markdown" and title in cell.source), None)
        if card is None:
            yield Finding(exercise.cell, f"no card above it: a text cell that begins {title} · difficulty 2 of 5 · 5 minutes")
            continue
        for pattern, example in CARD.items():
            if not re.search(pattern, card.source, re.MULTILINE):
                yield Finding(card.id, f"the card lacks {example}")


def has_three_hints(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        text = "\n".join(cell.source for cell in _until_the_next(source, exercise) if cell.cell_type == "markdown")
        for number in range(1, HINTS + 1):
            if not re.search(rf"<details><summary>Hint {number}</summary>\s*[^\s<]", text):
                yield Finding(
                    exercise.cell,
                    f"no hint {number} below it: <details><summary>Hint {number}</summary>, a blank line, the hint, </details>",
                )


def has_solution_and_tests(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        if exercise.solution is None:
            yield Finding(exercise.cell, f"no solution cell has the grade_id {exercise.name.replace('.', '-')}, whose exercise this tests")
        elif not exercise.tests:
            yield Finding(exercise.cell, f"no test cell: one with the grade_id {exercise.solution.id}-test, and points")


def has_three_mistakes(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        if exercise.tests and len(exercise.mistakes) < MISTAKES:
            yield Finding(exercise.cell, f"{len(exercise.mistakes)} mistakes below its tests: three or more %%mistake cells are needed")


def has_an_alternative(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        if exercise.tests and not exercise.alternatives:
            yield Finding(
                exercise.cell, f"no %%alternative: another right answer, or a cell `%%alternative` that only says `{WAIVER} reason`"
            )
        for answer in exercise.alternatives:
            if answer.waiver == "":
                yield Finding(answer.id, f"a waiver without a reason: `{WAIVER} …` says why there is no other natural way")


def mistakes_stand_below_tests(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        if notebook.is_test(cell):
            return
        if cell.source.lstrip().startswith(("%%mistake", "%%alternative")):
            yield Finding(
                cell.id, "it stands above every test cell: mistakes and alternatives come right after the tests of their exercise"
            )


def mistakes_name_a_diagnosis(source: Source) -> Iterator[Finding]:
    """The words on the line are the beginning of one diagnosis, and no two mistakes have the same one."""
    for exercise in source.exercises:
        sentences = diagnoses(exercise)
        taken: dict[str, str] = {}
        for mistake in exercise.mistakes:
            if len(mistake.words.split()) < WORDS:
                yield Finding(
                    mistake.id, f"`%%mistake {mistake.words}`: give at least four words, the beginning of a diagnosis of {exercise.name}"
                )
                continue
            matching = [sentence for sentence in sentences if sentence.startswith(mistake.words)]
            if len(matching) != 1:
                number = "no diagnosis begins" if not matching else f"{len(matching)} diagnoses begin"
                yield Finding(mistake.id, f"{number} with {mistake.words!r}: exactly one sentence in the tests of {exercise.name} must")
            elif matching[0] in taken:
                yield Finding(mistake.id, f"{taken[matching[0]]} has the same diagnosis: each mistake needs one of its own")
            else:
                taken[matching[0]] = mistake.id


def diagnoses(exercise: Exercise) -> set[str]:
    """Every sentence that stands as a key in the tests' `diagnose`."""
    nodes = (node for test in exercise.tests for node in ast.walk(code_of(test)))
    tables = (node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "diagnose" and isinstance(node.value, ast.Dict))
    return {key.value for table in tables for key in table.keys if isinstance(key, ast.Constant)}


def _above(source: Source, exercise: Exercise) -> list[NotebookNode]:
    return source.cells[: _place(source, exercise)]


def _until_the_next(source: Source, exercise: Exercise) -> list[NotebookNode]:
    """The cells from the stub of `exercise` to that of the next one."""
    start = _place(source, exercise)
    places = [_place(source, other) for other in source.exercises]
    return source.cells[start : min((place for place in places if place > start), default=len(source.cells))]


def _place(source: Source, exercise: Exercise) -> int:
    return next(index for index, cell in enumerate(source.cells) if cell.id == exercise.cell)
