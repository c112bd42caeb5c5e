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

WAIVER = "# waiver:"
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Answer:
    """What stands in a `%%mistake` or `%%alternative` cell: `words` after the magic, `text` below it."""

    exercise: str
    id: str
    words: str
    text: str
    output: str

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
    solution: NotebookNode | None
    tests: tuple[NotebookNode, ...]
    mistakes: tuple[Answer, ...]
    alternatives: tuple[Answer, ...]

    @property
    def cell(self) -> str:
        """The cell that stands for the exercise in messages."""
        return (self.solution or self.tests[0]).id

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
        """Every auto-graded exercise, in order."""
        graded = [cell for cell in self.graded_cells if notebook.is_solution(cell) or notebook.is_test(cell)]
        answers = list(self._answers())
        return tuple(self._exercise(name, graded, answers) for name in dict.fromkeys(map(_exercise_of, graded)))

    def _exercise(self, name: str, graded: list[NotebookNode], answers: list[tuple[str, Answer]]) -> Exercise:
        cells = [cell for cell in graded if _exercise_of(cell) == name]
        mine = {
            kind: tuple(answer for magic, answer in answers if magic == kind and answer.exercise == name) for kind in notebook.AUTHOR_MAGICS
        }
        return Exercise(
            name,
            next((cell for cell in cells if notebook.is_solution(cell)), None),
            tuple(cell for cell in cells if notebook.is_test(cell)),
            mine["%%mistake"],
            mine["%%alternative"],
        )

    def _answers(self) -> Iterator[tuple[str, Answer]]:
        """Each mistake and alternative, which belongs to the exercise of the last test cell above it."""
        exercise = ""
        for cell in self.code_cells:
            if notebook.is_test(cell):
                exercise = _exercise_of(cell)
            first, _, text = cell.source.lstrip().partition("\n")
            magic, _, words = first.partition(" ")
            if magic in ("%%mistake", "%%alternative"):
                yield magic, Answer(exercise, cell.id, words.strip(), text, stored_text(cell))


def stored_text(cell: NotebookNode) -> str:
    """What the stored outputs of a cell say on stdout."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def _exercise_of(cell: NotebookNode) -> str:
    return notebook.exercise_of(notebook.grade_id(cell))


# --- the code of cells ---


def code_of(cell: NotebookNode) -> ast.Module:
    """The code of a cell, solution in, magics as calls; of a mistake or an alternative, the answer. Empty where it is no Python."""
    return code(python_text(cell))


def python_text(cell: NotebookNode) -> str:
    source = notebook.without_solution_marks(cell.source)
    return source.lstrip().partition("\n")[2] if source.lstrip().startswith(("%%mistake", "%%alternative")) else source


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
