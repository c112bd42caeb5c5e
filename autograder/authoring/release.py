"""What a student gets of a source notebook: the steps that nbgrader runs when it makes a release.

Authors' cells and metadata go, a set-up cell and a Colab badge come, and the result is stamped with the release it is.
"""

from __future__ import annotations

import hashlib
import json

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    NbGraderPreprocessor,
    SaveCells,
)
from traitlets import Unicode

from autograder import notebook

TAGS_FOR_STUDENTS = {"raises-exception"}

BADGE_ID, SETUP_ID = "course-badge", "course-setup"
BADGE = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({url})"
COLAB = "https://colab.research.google.com/github/{path}/blob/{version}/chapters/{chapter}/{chapter}.ipynb"
GITHUB = "https://github.com/"

SETUP = """\
# Colab installs the course here; anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install -q "paramshare @ git+{address}"
"""
SETUP_UNSET = """\
# Colab would install the course here; anywhere else this cell does nothing.
import sys

if "google.colab" in sys.modules:
    raise RuntimeError(
        "This copy of the course does not say where it is published, so Colab cannot install it. "
        "Set `repository` under [tool.course] in pyproject.toml and run `course build`."
    )
"""


class DropAuthorsCells(NbGraderPreprocessor):
    """Leave out mistakes, alternatives, and the line that loads their magics."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.cells = [cell for cell in nb.cells if not notebook.is_for_authors(cell)]
        return nb, resources


class TidyMetadata(NbGraderPreprocessor):
    """Canonical form, and no tag that a student has no use for."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb = notebook.canonical(nb)
        for cell in nb.cells:
            tags = [tag for tag in cell.metadata.pop("tags", []) if tag in TAGS_FOR_STUDENTS]
            if tags:
                cell.metadata.tags = tags
        return nb, resources


class AddSetup(NbGraderPreprocessor):
    """Put the cell first that installs the course in Colab and, above it, the badge that opens the chapter there."""

    repository = Unicode(help="Where the course is published; empty while nobody has said so.").tag(config=True)
    tag = Unicode(help="The tag that Colab installs; empty for the newest state.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        chapter = resources["nbgrader"]["notebook"]
        nb.cells.insert(0, self._setup(topic=chapter[3:]))
        if self.repository.startswith(GITHUB):
            nb.cells.insert(0, self._badge(chapter))
        return nb, resources

    def _setup(self, topic: str) -> NotebookNode:
        address = f"{self.repository}@{self.tag}" if self.tag else self.repository
        source = SETUP.format(address=address) if self.repository else SETUP_UNSET
        grading = {"grade_id": f"{topic}-colab", "grade": False, "solution": False, "locked": True, "task": False, "schema_version": 3}
        return new_code_cell(source.rstrip(), id=SETUP_ID, metadata={"nbgrader": grading})

    def _badge(self, chapter: str) -> NotebookNode:
        url = COLAB.format(path=self.repository.removeprefix(GITHUB), version=self.tag or "main", chapter=chapter)
        return new_markdown_cell(BADGE.format(url=url), id=BADGE_ID)


class Stamp(NbGraderPreprocessor):
    """Write into the notebook which chapter and which release it is."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.metadata["course"] = {"chapter": resources["nbgrader"]["notebook"]}
        nb = notebook.canonical(nb)
        nb.metadata.course.release = release_of(nb)
        return nb, resources


# nbgrader's own order, with the course's steps in it. Checksums are computed last, of exactly what is written.
STEPS = [
    DropAuthorsCells,
    TidyMetadata,
    AddSetup,
    LockCells,
    ClearSolutions,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    Stamp,
    ComputeChecksums,
    CheckCellMetadata,
]


def release_of(nb: NotebookNode) -> str:
    """Twelve hex digits for what a student sees of a released notebook: cells, sources and grading, not outputs or checksums.

    Nor the cells that say where the course is published: they differ between a tagged release and the state it was tagged from.
    """
    cells = [cell for cell in nb.cells if cell.id not in (BADGE_ID, SETUP_ID)]
    seen = [(cell.id, cell.cell_type, cell.source, notebook.grading(cell) | {"checksum": ""}) for cell in cells]
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:12]
