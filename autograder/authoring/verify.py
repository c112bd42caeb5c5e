"""`course verify`: the five proofs of every exercise, from submissions that go the same way as a student's."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from autograder.authoring import proofs
from autograder.authoring.bench import Bench, Trial
from autograder.authoring.build import build
from autograder.authoring.proofs import Fault, Proof
from autograder.authoring.source import ALTERNATIVE, Answer, Exercise, Source
from autograder.authoring.submissions import BLANK, SOLUTION, batches, blank, solved, to_grade, with_answers
from autograder.course import Chapter, Course


def verify(course: Course, word: str | None) -> bool:
    """Prove the chapter called `word`, or all; print a table for each and what is not as it should be. False when anything is not."""
    console = Console(highlight=False)
    sources = [Source.of(chapter) for chapter in course.chosen(word)]
    stale = _stale_files(course, [source.chapter for source in sources])
    faults = list(_all_faults(sources, console))
    for source in sources:
        _report(source, [fault for chapter, fault in faults if chapter == source.chapter], console)
    for line in stale:
        console.print(f"✗ {line}", markup=False, soft_wrap=True)
    if not stale:
        console.print("✓ generated files are what `course build` makes")
    return not faults and not stale


def _stale_files(course: Course, chapters: list[Chapter]) -> list[str]:
    """What `course build --check` says of the files of these chapters."""
    said = io.StringIO()
    with redirect_stdout(said):
        build(course, check=True)
    places = tuple(course.shown(place) for chapter in chapters for place in (chapter.source, chapter.released.parent, chapter.module))
    return [line for line in said.getvalue().splitlines() if line.startswith(places)]


# --- trying ---


def _all_faults(sources: list[Source], console: Console) -> Iterator[tuple[Chapter, Fault]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=0)
        with Bench(done=lambda: progress.advance(bar)) as bench:
            for source in sources:
                tries = Tries(source, bench)
                progress.reset(bar, description=source.chapter.name, total=2 + len(tries.batches))
                yield from ((source.chapter, fault) for fault in tries.faults())


@dataclass(frozen=True)
class Tries:
    """The submissions of one chapter, and what they show."""

    source: Source
    bench: Bench

    @property
    def batches(self) -> list[list[Answer]]:
        return list(batches(self.source))

    def faults(self) -> Iterator[Fault]:
        trials = self._first_round()
        yield from proofs.of_the_solution(self.source, trials[SOLUTION])
        yield from proofs.of_the_blank(self.source, trials[BLANK])
        yield from proofs.of_missing_alternatives(self.source.exercises)
        trials |= self._alone([answer for answer in self._suspects() if self._of_an_answer(answer, trials[answer.id])])
        for answer in to_grade(self.source):
            yield from self._of_an_answer(answer, trials[answer.id])
        for exercise in self.source.exercises:
            messages = {mistake.id: trials[mistake.id].message(exercise.name) for mistake in exercise.mistakes}
            yield from proofs.of_mistakes_together(exercise, messages)

    def _first_round(self) -> dict[str, Trial]:
        """The trial of each answer, by its cell; those of the solution and the blank by these names."""
        together = {f"batch-{number}": batch for number, batch in enumerate(self.batches, start=1)}
        several = [with_answers(self.source, batch, student) for student, batch in together.items()]
        trials = self.bench.grade(self.source.chapter, [solved(self.source), blank(), *several])
        return trials | {answer.id: trials[student] for student, batch in together.items() for answer in batch}

    def _alone(self, suspects: list[Answer]) -> dict[str, Trial]:
        """Each of these in a submission of its own: nothing but it can then be to blame."""
        return self.bench.grade(self.source.chapter, [with_answers(self.source, [answer], answer.id) for answer in suspects])

    def _suspects(self) -> Iterator[Answer]:
        """Answers that others in their submission may have disturbed; not mistakes that cannot be as stored, for nothing is stored."""
        return (answer for batch in self.batches if len(batch) > 1 for answer in batch if answer.output or answer.magic == ALTERNATIVE)

    def _of_an_answer(self, answer: Answer, trial: Trial) -> list[Fault]:
        exercise = next(exercise for exercise in self.source.exercises if exercise.name == answer.exercise)
        prove = proofs.of_an_alternative if answer.magic == ALTERNATIVE else proofs.of_a_mistake
        return list(prove(exercise, answer, trial))


# --- telling ---


def _report(source: Source, faults: list[Fault], console: Console) -> None:
    table = Table(title=source.chapter.name, title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("exercise", no_wrap=True)
    for heading in ("points", "solution", "blank", "caught", "diagnosed", "alternative"):
        table.add_column(heading, justify="right")
    for exercise in source.exercises:
        table.add_row(*_row(exercise, [fault for fault in faults if fault.exercise == exercise.name]))
    console.print(table)
    for fault in faults:
        console.print("✗ " + ": ".join(filter(None, (fault.exercise, fault.cell, fault.text))), markup=False, soft_wrap=True)


def _row(exercise: Exercise, faults: list[Fault]) -> tuple[str, ...]:
    """The exercise's line: of its mistakes, how many lost a point, and how many of these were told why."""
    failed = {proof: {fault.cell for fault in faults if fault.proof == proof} for proof in Proof}
    caught = len(exercise.mistakes) - len(failed[Proof.CAUGHT])
    diagnosed = caught - len(failed[Proof.DIAGNOSED] - failed[Proof.CAUGHT])
    waived = bool(exercise.alternatives) and all(answer.waiver is not None for answer in exercise.alternatives)
    return (
        exercise.name.partition(".")[2],
        f"{exercise.points:g}",
        _mark(not failed[Proof.SOLUTION]),
        _mark(not failed[Proof.BLANK]),
        f"{caught}/{len(exercise.mistakes)}",
        f"{diagnosed}/{len(exercise.mistakes)}",
        "waived" if waived else _mark(not failed[Proof.ALTERNATIVE]),
    )


def _mark(good: bool) -> str:
    return "[green]✓[/]" if good else "[red]✗[/]"
