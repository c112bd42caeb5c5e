"""The module that a chapter exports."""

import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from toy import toy_course, toy_notebook

from autograder import notebook
from autograder.authoring.export import is_generated, module_text
from autograder.course import CourseError

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def exported(tmp_path, *sources, cell=new_code_cell) -> str:
    cells = [cell(source, id=f"cell-{number}", metadata={"tags": ["export"]}) for number, source in enumerate(sources)]
    return module_text(toy_course(tmp_path).chapters[0], new_notebook(cells=cells))


def test_the_module_is_the_exported_cells_line_by_line(tmp_path):
    lines = module_text(toy_course(tmp_path).chapters[0], toy_notebook()).splitlines()
    cells = [cell.source.splitlines() for cell in toy_notebook().cells if "export" in notebook.tags(cell)]
    wanted = [line for cell in cells for line in [*cell, "", ""] if "### BEGIN SOLUTION" not in line and "### END SOLUTION" not in line]
    begin = lines.index(wanted[0])
    assert lines[begin : begin + len(wanted)] == wanted
    assert lines[begin + len(wanted) :] == ["__all__ = [", '    "double",', '    "total",', "]"]


def test_the_header_names_the_source_and_forbids_editing(tmp_path):
    header = module_text(toy_course(tmp_path).chapters[0], toy_notebook()).partition('"""\n')[0]
    assert "solutions/01_toy/01_toy.ipynb" in header and "do not edit" in header
    assert is_generated(header)


def test_the_module_runs(tmp_path):
    names = {}
    exec(module_text(toy_course(tmp_path).chapters[0], toy_notebook()), names)
    assert names["total"]([1, 2, 3]) == 12


def test_public_names_are_functions_classes_and_constants(tmp_path):
    code = "import math\nLIMIT: int = 3\nBASE, _B = 1, 2\nd = {}\nd['k'] = 1\nfor loop in d: pass"
    text = exported(tmp_path, code, "def _private(): ...", "def run(): ...", "class Count:\n    inner = 1")
    assert text.split("__all__ = ")[1].split() == ["[", '"BASE",', '"LIMIT",', '"Count",', '"d",', '"run",', "]"]


def test_without_exported_cells_there_is_no_module(tmp_path):
    assert exported(tmp_path) == ""


@pytest.mark.parametrize("source", ["%matplotlib inline\nx = 1", "x = !ls", "def f(:", "    x = 1"])
def test_a_cell_that_is_not_plain_python_is_refused_by_name(tmp_path, source):
    with pytest.raises(CourseError, match=r"01_toy\.ipynb: cell cell-1 .* not plain Python .* line 1"):
        exported(tmp_path, "x = 1", source)


@pytest.mark.parametrize(("source", "cell"), [("# nothing", new_code_cell), ("prose", new_markdown_cell)])
def test_an_exported_cell_holds_code(tmp_path, source, cell):
    with pytest.raises(CourseError, match=r"cell-0 .* holds no code"):
        exported(tmp_path, source, cell=cell)


@pytest.mark.parametrize(
    "sources",
    [
        ["import math", "def area(r: float) -> float:\n    return math.pi * r**2"],
        ["import math", "LIMIT = math.inf", "class Two: ...", "def one(): ...", "ONE = 1\nL, f2, f10, f1a, f1 = 1, 2, 3, 4, 5"],
        ["from __future__ import annotations\n\nimport math", "# the area\nAREA = math.pi"],
        ["def f():\n    return 1", "import math", "def g():\n    return math.pi"],
        ["def f():\n    return 1", "import math\n\n\ndef g():\n    return math.pi"],
    ],
)
def test_ruff_has_nothing_to_say(tmp_path, sources):
    (tmp_path / "toy.py").write_text(exported(tmp_path, *sources))
    for check in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *check, "--no-cache", "--config", str(PYPROJECT), str(tmp_path / "toy.py")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
