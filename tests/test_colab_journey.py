"""Colab, as far as it can be had without Colab: its set-up cell installs the course, and what it saves is graded."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from nbformat import NotebookNode
from submissions import filled, put, solutions

from autograder import notebook
from autograder.course import Course
from autograder.grading.autograde import autograde_notebook
from autograder.grading.class_folder import ClassFolder

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = Course(ROOT).chapters[0]
PRIVATE = (".*", "work", "class", "artefacts", "build", "__pycache__", "*.egg-info")

IN_COLAB = """
import sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in {cells!r}:
    shell.run_cell(source).raise_error()
print("installed:", sys.modules["{module}"].__file__)
"""


def saved_by_colab(nb: NotebookNode) -> NotebookNode:
    """As Colab writes a notebook: a badge without id, cell ids in the metadata too, keys of its own, outputs."""
    nb = copy.deepcopy(nb)
    nb.metadata |= {"colab": {"provenance": [], "include_colab_link": True}, "language_info": {"name": "python"}, "accelerator": "GPU"}
    for cell in nb.cells:
        cell.metadata["id"] = cell.id
        if cell.cell_type == "code":
            cell.metadata |= {"colab": {"base_uri": "https://localhost:8080/"}, "outputId": "f2a98d3c-0001"}
    badge = {"cell_type": "markdown", "metadata": {"id": "view-in-github", "colab_type": "text"}, "source": '<a href="#">Open in Colab</a>'}
    nb.cells.insert(0, NotebookNode(badge))
    return nb


def saved_by_older_colab(nb: NotebookNode) -> NotebookNode:
    """The same as nbformat 4.0: cell ids in the metadata alone."""
    nb = saved_by_colab(nb)
    nb.nbformat_minor = 0
    for cell in nb.cells:
        cell.pop("id", None)
    return nb


@pytest.mark.filterwarnings("ignore::nbformat.warnings.MissingIDFieldWarning")
@pytest.mark.parametrize("save", [saved_by_colab, saved_by_older_colab])
def test_a_notebook_that_colab_saved_gets_full_marks(tmp_path, save):
    place = ClassFolder(tmp_path / "class")
    place.root.mkdir()
    assignment = place.prepare(CHAPTER.course, CHAPTER)
    put(tmp_path / "handed in.ipynb", save(filled(notebook.read(CHAPTER.released), solutions(CHAPTER))))
    row = autograde_notebook(place, CHAPTER, "cora", tmp_path / "handed in.ipynb")
    assert (row.status, row.reason) == ("graded", "")
    assert {question.cell: question.points for question in row.questions} == assignment.tests


def test_the_set_up_cell_installs_the_course_from_git(tmp_path, require_tool):
    """In an environment that has the course's dependencies and not the course, and without any package index."""
    git = require_tool("git")
    published = tmp_path / "published"
    shutil.copytree(ROOT, published, ignore=shutil.ignore_patterns(*PRIVATE))
    settings = (published / "pyproject.toml").read_text()
    (published / "pyproject.toml").write_text(settings.replace('repository = ""', f'repository = "file://localhost{published.as_posix()}"'))
    subprocess.run([Path(sys.executable).with_name("course"), "build"], cwd=published, check=True, capture_output=True)
    identity = ("-c", "user.name=course", "-c", "user.email=course@localhost")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "publish")):
        subprocess.run([git, *command], cwd=published, check=True)
    cells = notebook.read(published / CHAPTER.released.relative_to(ROOT)).cells
    wanted = [cell.source for cell in cells if cell.id in ("course-setup", "counting-imports", "counting-setup")]

    python = environment_without_the_course(tmp_path / "colab")
    code = IN_COLAB.format(cells=[*wanted, f"import paramshare.{CHAPTER.topic}"], module=f"paramshare.{CHAPTER.topic}")
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run([python, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"installed: {tmp_path / 'colab'}" in done.stdout


def environment_without_the_course(folder: Path) -> Path:
    """The python of a new environment that sees this one's packages, but not what is installed here in editable form."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    Path(paths["purelib"], "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
