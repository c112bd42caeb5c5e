"""The submissions that prove a chapter: solved, blank, and solved but for one answer in each of a few exercises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.source import Answer, Exercise, Source, code, code_of, defined_names, used_names

SOLUTION, BLANK = "solution", "blank"


@dataclass(frozen=True)
class Submission:
    """What one made-up student writes into the solution cells, by grade_id."""

    student: str
    answers: Mapping[str, str]
    demonstrations: bool = True  # nothing graded depends on them, so those who try a single answer hand in without

    def fill(self, released: NotebookNode) -> NotebookNode:
        """The released notebook as this student hands it in."""
        nb = notebook.canonical(released)
        nb.cells = [cell for cell in nb.cells if self.demonstrations or notebook.grade_id(cell)]
        for cell in nb.cells:
            cell.source = self.answers.get(notebook.grade_id(cell), cell.source)
        return nb


def solved(source: Source) -> Submission:
    return Submission(SOLUTION, _solutions(source))


def blank() -> Submission:
    return Submission(BLANK, {})


def with_answers(source: Source, answers: Iterable[Answer], student: str) -> Submission:
    """Solved, but for these answers, of one exercise each."""
    cells = {exercise.name: exercise.solution for exercise in source.exercises}
    changed = {cells[answer.exercise].id: _in_place_of(cells[answer.exercise], answer) for answer in answers}
    return Submission(student, _solutions(source) | changed, demonstrations=False)


def _solutions(source: Source) -> dict[str, str]:
    return {cell.id: notebook.without_solution_marks(cell.source) for cell in source.cells if notebook.is_solution(cell)}


def _in_place_of(solution: NotebookNode, answer: Answer) -> str:
    """The answer; below the solution when it writes only a part of it anew."""
    if defined_names(code_of(solution)) <= defined_names(code(answer.text)):
        return answer.text
    return f"{notebook.without_solution_marks(solution.source)}\n\n\n{answer.text}"


def to_grade(source: Source) -> list[Answer]:
    """Every mistake, and every alternative that is no waiver."""
    return [answer for exercise in source.exercises for answer in (*exercise.mistakes, *exercise.alternatives) if answer.waiver is None]


# --- several answers in one submission ---


def batches(source: Source) -> Iterator[list[Answer]]:
    """Every answer once, those of exercises that do not touch each other together: few submissions, each told apart."""
    left = {exercise.name: [answer for answer in to_grade(source) if answer.exercise == exercise.name] for exercise in source.exercises}
    apart = _independent(source)
    while any(left.values()):
        batch: list[Answer] = []
        for name in sorted(left, key=lambda name: len(left[name]), reverse=True):
            if left[name] and all(frozenset((name, answer.exercise)) in apart for answer in batch):
                batch.append(left[name].pop(0))
        yield batch


def _independent(source: Source) -> set[frozenset[str]]:
    """The pairs of exercises of which neither uses, directly or through others, what the other defines."""
    uses = {exercise.name: _used(source, exercise) for exercise in source.exercises}
    return {frozenset((one, other)) for one in uses for other in uses if one != other and one not in uses[other] and other not in uses[one]}


def _used(source: Source, exercise: Exercise) -> set[str]:
    """The exercises whose solutions the cells of this one lead to."""
    makers = {name: cell for cell in source.graded_cells if not notebook.is_test(cell) for name in defined_names(code_of(cell))}
    trees = [code_of(cell) for cell in (exercise.solution, *exercise.tests)]
    trees += [code(answer.text) for answer in (*exercise.mistakes, *exercise.alternatives)]
    names = set().union(*map(used_names, trees))
    reached: dict[str, NotebookNode] = {}
    while found := {makers[name].id: makers[name] for name in names if name in makers and makers[name].id not in reached}:
        reached |= found
        names = set().union(*(used_names(code_of(cell)) for cell in found.values()))
    return {notebook.exercise_of(id) for id, cell in reached.items() if notebook.is_solution(cell)}
