"""A good chapter, and edits of its source: what the tests of `course lint` and `course verify` try."""

from __future__ import annotations

from collections.abc import Callable

import toy
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder import notebook
from autograder.course import Course

Edit = Callable[[NotebookNode], None]

QUESTION = "**{}. Is it so?**\n\n<details><summary>Yes.</summary>\n\nIt is.\n</details>"
QUIZ = "## Quiz\n\n" + "\n\n".join(QUESTION.format(number) for number in (1, 2, 3))


def good_notebook() -> NotebookNode:
    """The toy chapter with the parts that it leaves out."""
    nb = toy.toy_notebook()
    cell(nb, "toy-setup").source += ", factory"
    for id, words in (("toy-double-mistake-1", "the square"), ("toy-double-mistake-2", "two more")):
        cell(nb, id).source = cell(nb, id).source.replace(f"{words}\n", f"{words}:\n")
    insert_after(nb, "toy-authors", new_code_cell("print(1 + 1)", id="toy-open"))
    insert_after(
        nb,
        "toy-use",
        new_markdown_cell("## What did not improve\n\nNothing.", id="toy-ledgers"),
        new_markdown_cell("## Try it yourself\n\nTry more.", id="toy-try"),
        new_code_cell("double(1)", id="toy-try-code"),
        new_markdown_cell(QUIZ, id="toy-quiz"),
    )
    return notebook.canonical(nb)


def cell(nb: NotebookNode, id: str) -> NotebookNode:
    return next(cell for cell in nb.cells if cell.id == id)


def insert_after(nb: NotebookNode, id: str, *cells: NotebookNode) -> None:
    place = nb.cells.index(cell(nb, id)) + 1
    nb.cells[place:place] = cells


def write_source(course: Course, *edits: Edit) -> None:
    """Make the source of the chapter the good notebook with these edits."""
    nb = good_notebook()
    for edit in edits:
        edit(nb)
    notebook.write(nb, course.chapters[0].source)


# --- edits ---


def replaced(id: str, old: str, new: str) -> Edit:
    def edit(nb: NotebookNode) -> None:
        assert old in cell(nb, id).source
        cell(nb, id).source = cell(nb, id).source.replace(old, new)

    return edit


def without(*ids: str) -> Edit:
    def edit(nb: NotebookNode) -> None:
        nb.cells = [cell for cell in nb.cells if cell.id not in ids]

    return edit


def with_code(source: str, *outputs: NotebookNode, tags: tuple[str, ...] = (), after: str = "toy-use") -> Edit:
    added = new_code_cell(source, id="toy-added", outputs=list(outputs), metadata={"tags": list(tags)} if tags else {})
    return lambda nb: insert_after(nb, after, added)


def with_text(source: str) -> Edit:
    return lambda nb: insert_after(nb, "toy-use", new_markdown_cell(source, id="toy-added"))


def with_locked(source: str, id: str = "toy-given", after: str = "toy-setup", **grading) -> Edit:
    return lambda nb: insert_after(nb, after, new_code_cell(source, id=id, metadata={"nbgrader": toy._grading(id, locked=True) | grading}))


def graded_by_hand(source: str, id: str = "toy-why") -> Edit:
    grading = toy._grading(id, grade=True, solution=True, points=1) | {"cell_type": "markdown"}
    return lambda nb: insert_after(nb, "toy-use", new_markdown_cell(source, id=id, metadata={"nbgrader": grading}))


def with_grading(id: str, **changes) -> Edit:
    return lambda nb: cell(nb, id).metadata.nbgrader.update(changes)


def named(id: str, name: str) -> Edit:
    def edit(nb: NotebookNode) -> None:
        cell(nb, id).metadata.nbgrader.grade_id = name
        cell(nb, id).id = name

    return edit


def both(*edits: Edit) -> Edit:
    def edit(nb: NotebookNode) -> None:
        for one in edits:
            one(nb)

    return edit


def stored(id: str, *outputs: NotebookNode) -> Edit:
    return lambda nb: cell(nb, id).update(outputs=list(outputs), execution_count=1)
