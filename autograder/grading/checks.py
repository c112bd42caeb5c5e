"""Reading a submission before it is run: can it be graded at all, and what about it should a person see?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from nbformat import NotebookNode

from autograder import notebook
from autograder.grading.class_folder import Assignment

FRESH_COPY = "Take a fresh copy of the chapter, put your answers into it, and hand that in."


class Ungradable(Exception):
    """A submission cannot be graded; the message tells its student why, and what to do."""


def read_submission(path: Path, assignment: Assignment) -> NotebookNode:
    """The notebook that was handed in. Raises Ungradable when it is none, or none of this chapter."""
    content = path.read_bytes()
    if not content.strip():
        raise Ungradable("The file is empty. Save the notebook, see that the file has a size, and hand it in again.")
    _refuse_other_formats(content)
    try:
        nb = notebook.read(path)
        ids = [notebook.grade_id(cell) for cell in nb.cells]
        chapter = nb.metadata.get("course", {}).get("chapter", assignment.chapter.name)
    except Exception:  # well-formed JSON can still be anything
        raise Ungradable(f"The file is damaged: it is JSON, but not a notebook. {FRESH_COPY}") from None
    if chapter != assignment.chapter.name:
        raise Ungradable(f"This is chapter {chapter}, not {assignment.chapter.name}. Hand in the notebook of {assignment.chapter.name}.")
    _refuse_lost_or_doubled(ids, assignment)
    return nb


def _refuse_other_formats(content: bytes) -> None:
    if content.lstrip()[:1] == b"<":
        raise Ungradable("This is a web page, perhaps the one that asked you to log in. Download the .ipynb file and hand that in.")
    if content.startswith(b"PK"):
        raise Ungradable("This is a zip with the name of a notebook. Hand in the .ipynb file that is inside.")
    try:
        json.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise Ungradable(f"The file is not text in UTF-8, so it is not a notebook as Jupyter saves it. {FRESH_COPY}") from None
    except (ValueError, RecursionError):
        raise Ungradable("The file breaks off or is damaged: it is not JSON. Save the notebook again and hand in the new file.") from None


def _refuse_lost_or_doubled(ids: list[str], assignment: Assignment) -> None:
    times = Counter(id for id in ids if id in assignment.cells)
    if not times:
        raise Ungradable(
            f"No cell says which exercise it belongs to: this is another notebook, or the cells were pasted into a new one. {FRESH_COPY}"
        )
    if doubled := [id for id, count in times.items() if count > 1]:
        raise Ungradable(
            f"Cells are there more than once, as after copying or splitting them: {', '.join(doubled)}. "
            "Keep one of each, with your answer in it, and hand in again."
        )


def remarks(nb: NotebookNode, assignment: Assignment) -> tuple[str, ...]:
    """What a person should know about a submission that can be graded."""
    release = nb.metadata.get("course", {}).get("release")
    if release is None:
        return ("does not say which release it was made from", *_deleted(nb, assignment))
    if release != assignment.release:
        return (f"made from release {release}, graded with {assignment.release}",)
    return (*_deleted(nb, assignment), *_edited(nb, assignment))


def _deleted(nb: NotebookNode, assignment: Assignment) -> tuple[str, ...]:
    present = {notebook.grade_id(cell) for cell in nb.cells}
    return tuple(f"deleted by the student: {id}" for id in assignment.cells if id not in present)


def _edited(nb: NotebookNode, assignment: Assignment) -> tuple[str, ...]:
    """The locked cells whose text or type is not the released one; nbgrader puts them back."""
    handed_in = {notebook.grade_id(cell): cell for cell in nb.cells}
    locked = {id: cell for id, cell in assignment.cells.items() if not notebook.is_solution(cell) and id in handed_in}
    return tuple(f"edited by the student, and put back: {id}" for id, cell in locked.items() if not _same(handed_in[id], cell))


def _same(one: NotebookNode, other: NotebookNode) -> bool:
    lines = [[line.rstrip() for line in cell.source.rstrip().splitlines()] for cell in (one, other)]
    return one.cell_type == other.cell_type and lines[0] == lines[1]
