"""Blank chapters under nbval: what counts as an expected failure (conftest.py at the root), and what does not."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder import notebook

ROOT = Path(__file__).resolve().parents[1]

# cell: its source in the solved notebook, in the blank one, and how the blank one must come out
CELLS = {
    "defined": ("def f():\n    return 1", "def f():\n    raise NotImplementedError", "PASSED"),
    "stops": ("answer = 3", "raise NotImplementedError", "XFAIL"),
    "lacks-a-name": ("shown = answer", "shown = answer", "XFAIL"),
    "lacks-what-followed": ("print(shown)", "print(shown)", "XFAIL"),
    "calls-a-stub": ("f()", "f()", "XFAIL"),
    "misspelt": ("pass", "print(anwser)", "FAILED"),
    "stale": ("count = 5", "count = 0\nraise NotImplementedError", "XFAIL"),
    "judges-a-stale-name": ("expect(count).equals(5)", "expect(count).equals(5)", "XFAIL"),
    "judges-wrongly": ("pass", "expect(1).equals(2)", "FAILED"),
    "breaks": ("pass", "1 / 0", "FAILED"),
    "runs": ("1 + 1", "1 + 1", "PASSED"),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, str]:
    """How each cell of the blank notebook comes out under nbval."""
    root = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "conftest.py", root)
    (root / "pytest.ini").write_text("[pytest]\n")
    for place, column in (("solutions", 0), ("chapters", 1)):
        cells = [new_code_cell("from autograder import expect", id="imports")]
        cells += [new_code_cell(cell[column], id=id) for id, cell in CELLS.items()]
        notebook.write(new_notebook(cells=cells, metadata=notebook.KERNEL), root / place / "01_x" / "01_x.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-v", "-rN", "chapters"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    results = re.findall(r"::Cell \d+ (PASSED|FAILED|XFAIL)", said)
    assert len(results) == len(CELLS) + 1, said
    return dict(zip(CELLS, results[1:], strict=True))


@pytest.mark.parametrize("cell", CELLS)
def test_only_what_follows_from_a_stub_is_expected_to_fail(outcomes, cell):
    assert outcomes[cell] == CELLS[cell][2]
