"""Stored outputs: no error, no warning, and where they may differ, an assertion beside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import IGNORED, Source, code_of


def outputs_have_no_stderr(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        said = next((output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stderr"), "")
        if said:
            yield Finding(cell.id, f"stderr in its stored output, {said.strip().splitlines()[0]!r}: mend what warns, or print it")


def outputs_have_no_error(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        failed = [output.ename for output in cell.outputs if output.output_type == "error"]
        if failed and "raises-exception" not in notebook.tags(cell):
            yield Finding(cell.id, f"{failed[0]} in its stored output: mend the cell, or tag it raises-exception if that is what it shows")


def ignored_outputs_are_asserted(source: Source) -> Iterator[Finding]:
    cells = [*source.code_cells, None]
    for cell, following in pairwise(cells):
        if IGNORED not in notebook.tags(cell):
            continue
        if following is None or not any(isinstance(node, ast.Assert) for node in ast.walk(code_of(following))):
            yield Finding(cell.id, "nobody checks its output: assert in the next code cell what the reader is meant to see in it")
