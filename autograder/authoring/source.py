"""A source notebook as its checks see it: what belongs to which exercise, and the code of its cells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from autograder import notebook
from autograder.course import Chapter, CourseError
from autograder.magics import begins

MISTAKE, ALTERNATIVE = "%%mistake", "%%alternative"
WAIVER = "# waiver:"
IGNORED = "nbval-ignore-output"  # the tag of a cell whose output may differ between runs
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Answer:
    """A cell with a mistake or an alternative: its `magic`, the `words` after it, the `text` below, and what is stored as its output."""

    exercise: str
    id: str
    magic: str
    words: str
    text: str
    output: str

    def means(self, sentence: str) -> bool:
        """Do the words begin this diagnosis?"""
        return begins(self.words, sentence)

    @property
    def waiver(self) -> str | None:
        """The reason why an exercise has no alternative: `# waiver: reason`, and no code, in the cell of one."""
        if code(self.text).body or WAIVER not in self.text:
            return None
        return self.text.partition(WAIVER)[2].strip()


@dataclass(frozen=True)
class Exercise:
    """An auto-graded exercise: its solution cell, its test cells, and the answers that authors wrote to try them."""

    name: str
    solution: NotebookNode
    tests: tuple[NotebookNode, ...]
    mistakes: tuple[Answer, ...]
    alternatives: tuple[Answer, ...]

    @property
    def points(self) -> float:
        return sum(notebook.grading(test).get("points", 0) for test in self.tests)


@dataclass(frozen=True)
class Source:
    chapter: Chapter
    nb: NotebookNode

    @classmethod
    def of(cls, chapter: Chapter) -> Source:
        try:
            return cls(chapter, notebook.read(chapter.source))
        except (ValueError, OSError) as error:
            raise CourseError(f"{chapter.course.shown(chapter.source)}: {error}") from None

    @property
    def cells(self) -> list[NotebookNode]:
        return self.nb.cells

    @property
    def code_cells(self) -> Iterator[NotebookNode]:
        return (cell for cell in self.cells if cell.cell_type == "code")

    @property
    def text_cells(self) -> Iterator[NotebookNode]:
        return (cell for cell in self.cells if cell.cell_type == "markdown")

    @property
    def graded_cells(self) -> Iterator[NotebookNode]:
        """The code cells that nbgrader knows: locked, solution and test cells."""
        return (cell for cell in self.code_cells if notebook.grade_id(cell))

    @property
    def demonstrations(self) -> Iterator[NotebookNode]:
        """The code cells that a student sees and nobody grades."""
        return (cell for cell in self.code_cells if not notebook.grade_id(cell) and not notebook.is_for_authors(cell))

    @cached_property
    def exercises(self) -> tuple[Exercise, ...]:
        """Every auto-graded exercise, in order: what has a solution cell, with the tests and answers that belong to it."""
        return tuple(self._exercise(cell) for cell in self.graded_cells if notebook.is_solution(cell))

    def _exercise(self, solution: NotebookNode) -> Exercise:
        name = exercise_of(solution)
        tests = tuple(cell for cell in self.graded_cells if notebook.is_test(cell) and exercise_of(cell) == name)
        mine = [answer for answer in self.answers if answer.exercise == name]
        mistakes, alternatives = (tuple(answer for answer in mine if answer.magic == magic) for magic in (MISTAKE, ALTERNATIVE))
        return Exercise(name, solution, tests, mistakes, alternatives)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """Every mistake and alternative; it belongs to the exercise of the last test cell above it, to '' when there is none."""
        exercise, answers = "", []
        for cell in self.code_cells:
            if notebook.is_test(cell):
                exercise = exercise_of(cell)
            first, _, text = cell.source.lstrip().partition("\n")
            magic, _, words = first.partition(" ")
            if magic in (MISTAKE, ALTERNATIVE):
                answers.append(Answer(exercise, cell.id, magic, words.strip(), text, _stored_text(cell)))
        return tuple(answers)


def _stored_text(cell: NotebookNode) -> str:
    """What the stored outputs of a cell say on stdout."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def exercise_of(cell: NotebookNode) -> str:
    """The exercise that a graded cell belongs to."""
    return notebook.exercise_of(notebook.grade_id(cell))


# --- the code of cells ---


def code_of(cell: NotebookNode) -> ast.Module:
    """The code of a cell, solution in, magics as calls; of a mistake or an alternative, the answer. Empty where it is no Python."""
    return code(python_text(cell))


def python_text(cell: NotebookNode) -> str:
    source = notebook.without_solution_marks(cell.source)
    return source.lstrip().partition("\n")[2] if source.lstrip().startswith((MISTAKE, ALTERNATIVE)) else source


@cache
def code(text: str) -> ast.Module:
    try:
        return parse(text)
    except SyntaxError:
        return ast.Module([], [])


def parse(text: str) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(text))


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Every call with the dotted name of what is called."""
    return ((node, dotted(node.func)) for node in ast.walk(tree) if isinstance(node, ast.Call))


def dotted(node: ast.AST) -> str:
    """`torch.hub.load` of that expression; only the attributes where it does not start with a name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}".lstrip(".")
    return node.id if isinstance(node, ast.Name) else ""


def used_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def defined_names(tree: ast.Module) -> set[str]:
    """The names that running `tree` leaves in its namespace."""
    return set(_defined(tree.body))


def _defined(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, _SCOPES):
            yield from _defined(ast.iter_child_nodes(node))
