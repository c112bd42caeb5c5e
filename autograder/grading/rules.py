"""How a submission is run and credited, where that is not nbgrader's own way."""

from __future__ import annotations

import os
import subprocess
import time

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    Execute,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets import Integer
from traitlets.config import Config

from autograder import notebook
from autograder.authoring.run import ENVIRONMENT, ThisPython

TOO_LONG = "This cell did not come to its end in time."


class DropTags(NbGraderPreprocessor):
    """A tag on a cell can mean "do not run this": none that a student set counts."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        cell.metadata.pop("tags", None)
        return cell, resources


class ForgetUnknownCells(NbGraderPreprocessor):
    """A cell that the assignment does not know is a cell like any other: one of an older release, or one that a student marked."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            known = {cell.name for cell in gradebook.find_notebook(names["notebook"], names["assignment"]).source_cells}
        for cell in nb.cells:
            if notebook.grade_id(cell) not in known:
                cell.metadata.pop("nbgrader", None)
        return nb, resources


class OutOfTime(Exception):
    """A whole submission took longer than it may."""


class ExecuteQuietly(Execute):
    """Runs the cells as `course run` does, and all of them within `longest` seconds; what the kernel's process prints is not shown."""

    longest = Integer(900, help="Seconds that a whole notebook may take.").tag(config=True)

    def __init__(self, **options):
        super().__init__(**{"kernel_manager_class": ThisPython} | options)

    def preprocess(self, nb: NotebookNode, resources: dict, km=None) -> tuple[NotebookNode, dict]:
        self._end = time.monotonic() + self.longest
        return super().preprocess(nb, resources, km)

    def _get_timeout(self, cell: NotebookNode | None) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return min(self.timeout, left)

    def start_new_kernel(self, **options) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | ENVIRONMENT
        super().start_new_kernel(env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


class CreditWhatRan(NbGraderPreprocessor):
    """Keep of a test cell's outputs what decides: an error, or nothing when it ran to its end.

    nbgrader gives full points to a test without output even when it never ran, none to one with a warning on stderr, and takes a
    displayed value for a score.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        if notebook.is_test(cell):
            errors = [output for output in cell.outputs if output.output_type == "error"]
            cell.outputs = errors if errors or cell.execution_count is not None else [_never_ran()]
        return cell, resources


def _never_ran() -> NotebookNode:
    text = "This test did not run."
    return NotebookNode(output_type="error", ename="NotRun", evalue=text, traceback=[text])


REPAIR = [ClearOutput, DropTags, ForgetUnknownCells, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
GRADE = [ExecuteQuietly, CreditWhatRan, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]


def apply(config: Config) -> Config:
    """Let nbgrader's Autograde follow these rules."""
    config.Autograde.sanitize_preprocessors = REPAIR
    config.Autograde.autograde_preprocessors = GRADE
    config.Execute.error_on_timeout = {"ename": "CellTimeoutError", "evalue": TOO_LONG, "traceback": [TOO_LONG]}
    return config
