"""What every exercise has: a card, hints, tests, three mistakes, an alternative."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import WAIVER, Exercise, Source, exercise_of
from autograder.magics import FEWEST_WORDS, diagnoses_in

HINTS, MISTAKES = 3, 3
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
            yield Finding(exercise.solution.id, f"no card above it: a text cell that begins {title} · difficulty 2 of 5 · 5 minutes")
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
                    exercise.solution.id,
                    f"no hint {number} below it: <details><summary>Hint {number}</summary>, a blank line, the hint, </details>",
                )


def has_tests(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        if not exercise.tests:
            yield Finding(exercise.solution.id, f"no test cell: one with the grade_id {exercise.solution.id}-test, and points")


def tests_have_a_solution(source: Source) -> Iterator[Finding]:
    names = {exercise.name for exercise in source.exercises}
    for cell in filter(notebook.is_test, source.code_cells):
        if exercise_of(cell) not in names:
            yield Finding(
                cell.id, f"it tests {exercise_of(cell)}, and no solution cell has the grade_id {exercise_of(cell).replace('.', '-')}"
            )


def has_three_mistakes(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        if exercise.tests and len(exercise.mistakes) < MISTAKES:
            yield Finding(
                exercise.solution.id, f"{len(exercise.mistakes)} mistakes below its tests: three or more %%mistake cells are needed"
            )


def has_an_alternative(source: Source) -> Iterator[Finding]:
    for exercise in source.exercises:
        if exercise.tests and not exercise.alternatives:
            yield Finding(
                exercise.solution.id, f"no %%alternative: another right answer, or a cell `%%alternative` that only says `{WAIVER} reason`"
            )
        for answer in exercise.alternatives:
            if answer.waiver == "":
                yield Finding(answer.id, f"a waiver without a reason: `{WAIVER} …` says why there is no other natural way")


def answers_stand_below_tests(source: Source) -> Iterator[Finding]:
    for answer in source.answers:
        if not answer.exercise:
            yield Finding(
                answer.id, "it stands above every test cell: mistakes and alternatives come right after the tests of their exercise"
            )


def mistakes_name_a_diagnosis(source: Source) -> Iterator[Finding]:
    """The words on the line are the beginning of one diagnosis, and no two mistakes have the same one."""
    for exercise in source.exercises:
        sentences = {sentence for test in exercise.tests for sentence in diagnoses_in(test.source)}
        taken: dict[str, str] = {}
        for mistake in exercise.mistakes:
            if len(mistake.words.split()) < FEWEST_WORDS:
                yield Finding(
                    mistake.id,
                    f"`%%mistake {mistake.words}`: give at least {FEWEST_WORDS} words, the beginning of a diagnosis of {exercise.name}",
                )
                continue
            matching = [sentence for sentence in sentences if mistake.means(sentence)]
            if len(matching) != 1:
                number = "no diagnosis begins" if not matching else f"{len(matching)} diagnoses begin"
                yield Finding(mistake.id, f"{number} with {mistake.words!r}: exactly one sentence in the tests of {exercise.name} must")
            elif matching[0] in taken:
                yield Finding(mistake.id, f"{taken[matching[0]]} has the same diagnosis: each mistake needs one of its own")
            else:
                taken[matching[0]] = mistake.id


def _above(source: Source, exercise: Exercise) -> list[NotebookNode]:
    return source.cells[: _place(source, exercise)]


def _until_the_next(source: Source, exercise: Exercise) -> list[NotebookNode]:
    """The cells from the stub of `exercise` to that of the next one."""
    start = _place(source, exercise)
    places = [_place(source, other) for other in source.exercises]
    return source.cells[start : min((place for place in places if place > start), default=len(source.cells))]


def _place(source: Source, exercise: Exercise) -> int:
    return next(index for index, cell in enumerate(source.cells) if cell.id == exercise.solution.id)
