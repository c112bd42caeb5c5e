"""What `course verify` proves of an exercise, from the grades that submissions got: a fault for all that is not as it should be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.bench import Trial
from autograder.authoring.source import IGNORED, Answer, Exercise, Source, code_of, defined_names, exercise_of, used_names
from autograder.plain import shorten

_UNDEFINED = re.compile(r"name '(\w+)' is not defined")


class Proof(Enum):
    SOLUTION = "solution"
    BLANK = "blank"
    CAUGHT = "caught"
    DIAGNOSED = "diagnosed"
    ALTERNATIVE = "alternative"


@dataclass(frozen=True)
class Fault:
    """Which proof failed, for which exercise ('' for the chapter), at which cell, and how."""

    proof: Proof
    exercise: str
    cell: str
    text: str


# --- 1. the solution earns every point, and the student notebook with it filled in shows what the source shows ---


def of_the_solution(source: Source, trial: Trial) -> Iterator[Fault]:
    if trial.failure:
        yield Fault(Proof.SOLUTION, "", "", f"the solution was not graded: {trial.failure}")
        return
    for question in trial.graded.questions:
        if question.points < question.max_points:
            earned = f"{question.points:g} of {question.max_points:g} points"
            yield Fault(Proof.SOLUTION, question.exercise, question.cell, f"the solution earns {earned}: {question.message}")
    for flag in trial.graded.flags:
        yield Fault(Proof.SOLUTION, "", "", f"the solution was graded with a remark: {flag}")
    yield from _of_outputs(source, trial)


def _of_outputs(source: Source, trial: Trial) -> Iterator[Fault]:
    ran = {cell.id: cell for cell in trial.ran.cells}
    for cell in source.demonstrations:
        stored, came = _shown(cell), _shown(ran[cell.id])
        if IGNORED not in notebook.tags(cell) and stored != came:
            text = f"in the student notebook with the solutions it shows {_told(came)}; stored is {_told(stored)}. Run the source"
            yield Fault(Proof.SOLUTION, "", cell.id, text)


def _told(shown: list[tuple[str, str]]) -> str:
    return shorten(" ".join(text for _, text in shown)) or "nothing"


def _shown(cell: NotebookNode) -> list[tuple[str, str]]:
    """The outputs of a cell as far as they are compared: no pictures, a stream in one piece."""
    shown: list[tuple[str, str]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            before = shown.pop()[1] if shown and shown[-1][0] == output.name else ""
            shown.append((output.name, before + output.text))
        elif output.output_type == "error":
            shown.append(("error", f"{output.ename}: {output.evalue}"))
        else:
            shown.extend((kind, data) for kind, data in sorted(output.data.items()) if not kind.startswith("image/"))
    return shown


# --- 2. the untouched student notebook earns nothing, and fails because nothing is written yet ---


def of_the_blank(source: Source, trial: Trial) -> Iterator[Fault]:
    if trial.failure:
        yield Fault(Proof.BLANK, "", "", f"the blank was not graded: {trial.failure}")
        return
    for question in trial.graded.questions:
        if question.points:
            yield Fault(Proof.BLANK, question.exercise, question.cell, f"the untouched notebook earns {question.points:g} points here")
    missing = {name for cell in source.cells if notebook.is_solution(cell) for name in defined_names(code_of(cell))}
    for cell in trial.ran.cells:
        for error in (output for output in cell.get("outputs", []) if output.output_type == "error"):
            if not _says_unwritten(error, missing) and not _follows(cell, missing):
                exercise = exercise_of(cell) if notebook.is_test(cell) else ""
                told = f"{error.ename}: {error.evalue}"
                yield Fault(
                    Proof.BLANK, exercise, cell.id, f"the untouched notebook fails with {told}, where NotImplementedError tells what to do"
                )
            missing |= defined_names(code_of(cell))


def _says_unwritten(error: NotebookNode, missing: set[str]) -> bool:
    """NotImplementedError, or a name that is not there because of one."""
    undefined = _UNDEFINED.search(error.evalue)
    return error.ename == "NotImplementedError" or (error.ename == "NameError" and bool(undefined) and undefined[1] in missing)


def _follows(cell: NotebookNode, missing: set[str]) -> bool:
    """A demonstration may stumble over what another that failed has left half made."""
    return not notebook.grade_id(cell) and bool(used_names(code_of(cell)) & missing)


# --- 3. every mistake loses a point and is told its diagnosis, which no other one is told ---


def of_a_mistake(exercise: Exercise, mistake: Answer, trial: Trial) -> Iterator[Fault]:
    if trial.failure or trial.points(exercise.name) >= exercise.points:
        text = f"it was not graded: {trial.failure}" if trial.failure else "the tests let this mistake pass"
        yield Fault(Proof.CAUGHT, exercise.name, mistake.id, text)
        return
    message = trial.message(exercise.name)
    if not mistake.means(message.rpartition("\n")[2]):
        yield Fault(Proof.DIAGNOSED, exercise.name, mistake.id, f"the student is not told {mistake.words!r}, but: {message}")
    elif message != mistake.output.rstrip("\n"):
        stored = f"stored is {mistake.output!r}" if mistake.output else "nothing is stored: run the source"
        yield Fault(Proof.DIAGNOSED, exercise.name, mistake.id, f"the student is told {message!r}, and {stored}")


def of_mistakes_together(exercise: Exercise, messages: dict[str, str]) -> Iterator[Fault]:
    """No two have the same first wrong value or the same diagnosis. `messages`: what was said, by the mistakes' cells."""
    seen: dict[str, str] = {}
    for id, message in messages.items():
        value, _, diagnosis = message.rpartition("\n")
        again = next((text for text in (value, diagnosis) if text and text in seen), None)
        if again:
            yield Fault(Proof.DIAGNOSED, exercise.name, id, f"it gets the same wrong value or diagnosis as {seen[again]}: {again}")
        seen = dict.fromkeys((value, diagnosis), id) | seen


# --- 4. another right answer passes ---


def of_an_alternative(exercise: Exercise, alternative: Answer, trial: Trial) -> Iterator[Fault]:
    if trial.failure:
        yield Fault(Proof.ALTERNATIVE, exercise.name, alternative.id, f"it was not graded: {trial.failure}")
    elif trial.points(exercise.name) < exercise.points:
        earned = f"{trial.points(exercise.name):g} of {exercise.points:g} points"
        yield Fault(Proof.ALTERNATIVE, exercise.name, alternative.id, f"this right answer earns {earned}: {trial.message(exercise.name)}")


def of_missing_alternatives(exercises: Iterable[Exercise]) -> Iterator[Fault]:
    for exercise in exercises:
        if not exercise.alternatives:
            yield Fault(Proof.ALTERNATIVE, exercise.name, exercise.solution.id, "no %%alternative and no waiver")
