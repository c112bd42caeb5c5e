"""Notebooks as this course writes them: canonical form, and the few questions everything else asks of a cell.

Canonical form: the same notebook always has the same bytes. Cell ids stay, metadata is limited to what the course uses,
execution counts and machine traces are gone, outputs are kept. So an edit of two lines is a difference of two lines.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from uuid import uuid4

import nbformat
from nbformat import NotebookNode

from autograder.course import Chapter, CourseError

KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Magics that only authors need. A cell that starts with one never reaches a student.
AUTHOR_MAGICS = ("%%mistake", "%%alternative", "%load_ext autograder")

_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_CELL_FILE = re.compile(r"/\S*ipykernel_\d+/\d+\.py")
_SOLUTION_MARK = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION[ \t]*\n?", re.MULTILINE)


# --- reading and writing ---


def read(path: Path) -> NotebookNode:
    """The notebook at `path`, as nbformat 4. Raises ValueError when the file is no notebook."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises a different class for each way of being broken
        raise ValueError(f"{path.name} is not a notebook: {error}") from error


def read_source(chapter: Chapter) -> NotebookNode:
    """The source of `chapter`, in canonical form; a CourseError names it when it is no notebook."""
    try:
        return canonical(read(chapter.source))
    except ValueError as error:
        raise CourseError(f"{chapter.course.shown(chapter.source)}: {error}") from None


def dumps(nb: NotebookNode) -> bytes:
    return (nbformat.writes(nb).rstrip("\n") + "\n").encode()


def write(nb: NotebookNode, path: Path) -> None:
    """Write `nb` so that a reader sees the old file or the new one, never half of it."""
    write_bytes(path, dumps(nb))


def write_bytes(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


# --- canonical form ---


def canonical(nb: NotebookNode) -> NotebookNode:
    """A copy of `nb` in canonical form.

    A released notebook (one that carries `course`) also keeps the flags by which JupyterLab refuses to delete or edit a cell.
    """
    nb = nbformat.from_dict(nb)  # a deep copy
    stamp = {"course": nb.metadata["course"]} if "course" in nb.metadata else {}
    kept = ("nbgrader", "tags", "deletable", "editable") if stamp else ("nbgrader", "tags")
    nb.metadata = nbformat.from_dict(KERNEL | stamp)
    nb.nbformat, nb.nbformat_minor = 4, 5
    if not stamp:
        _name_cells(nb)
    for cell in nb.cells:
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in kept if cell.metadata.get(key) not in (None, [], {})})
        cell.source = "\n".join(line.rstrip() for line in cell.source.rstrip().split("\n"))
        if cell.cell_type == "code":
            cell.outputs = [_canonical_output(output) for output in cell.outputs if not _is_widget(output)]
            # nbval takes a cell with outputs and no count for one that was never run; a running count would change with every insertion.
            cell.execution_count = 1 if cell.outputs else None
    return nb


def _name_cells(nb: NotebookNode) -> None:
    """Give every graded cell its `grade_id` as id, which no notebook editor lets an author type, and an id to cells without one."""
    taken = set()
    for cell in nb.cells:
        name = grade_id(cell)
        if _CELL_ID.fullmatch(name) and name not in taken:
            cell.id = name
        elif "id" not in cell:
            cell.id = uuid4().hex[:8]
        taken.add(cell.id)


def _canonical_output(output: NotebookNode) -> NotebookNode:
    if "execution_count" in output:
        output.execution_count = 1
    if output.output_type == "stream":
        output.text = _without_traces(output.text)
    elif output.output_type == "error":
        output.traceback = [_without_traces(line) for line in output.traceback]
    else:
        output.metadata = NotebookNode()
        for kind, text in output.data.items():
            if kind.startswith("text/") and isinstance(text, str) and "base64," not in text:
                output.data[kind] = _without_traces(text)
    return output


def _is_widget(output: NotebookNode) -> bool:
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def _without_traces(text: str) -> str:
    """`text` without object addresses and the temporary file names of cells."""
    return _CELL_FILE.sub("<cell>", _ADDRESS.sub("0x...", text))


# --- questions asked of a cell ---


def tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def grading(cell: NotebookNode) -> dict:
    """The cell's nbgrader metadata; empty for a cell that nbgrader does not know."""
    return cell.metadata.get("nbgrader", {})


def grade_id(cell: NotebookNode) -> str:
    return grading(cell).get("grade_id", "")


def is_solution(cell: NotebookNode) -> bool:
    return bool(grading(cell).get("solution"))


def is_test(cell: NotebookNode) -> bool:
    """An auto-graded test cell."""
    return cell.cell_type == "code" and bool(grading(cell).get("grade")) and not is_solution(cell)


def is_for_authors(cell: NotebookNode) -> bool:
    """A cell that stays in the source: a mistake, an alternative, or the line that loads these magics."""
    return cell.cell_type == "code" and cell.source.lstrip().startswith(AUTHOR_MAGICS)


def exercise_of(grade_id: str) -> str:
    """The exercise a graded cell belongs to: `counting-layer_parameters-test-2` is of `counting.layer_parameters`."""
    topic, _, rest = grade_id.partition("-")
    return f"{topic}.{re.sub(r'-test(-[0-9]+)?$', '', rest)}"


def without_solution_marks(source: str) -> str:
    """The source of a solution cell as plain code: the markers gone, the solution in."""
    return _SOLUTION_MARK.sub("", source)
