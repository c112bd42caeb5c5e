"""The student notebook as nbgrader makes it: what is in it, and that Validate and the gradebook can work with it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import compute_checksum
from nbgrader.validator import Validator
from toy import CHAPTER, toy_course, toy_notebook
from traitlets.config import PyFileConfigLoader

from autograder import notebook
from autograder.authoring.build import build
from autograder.authoring.release import release_of
from autograder.course import Course
from autograder.grading import feedback, rules
from autograder.nbgrader_settings import settings

ROOT = Path(__file__).parents[1]
GITHUB = "https://github.com/ORG/REPO"


def released(folder: Path, repository: str = "", tag: str | None = None, source: NotebookNode | None = None) -> NotebookNode:
    """The student notebook of the toy chapter."""
    course = toy_course(folder, repository)
    if source:
        notebook.write(source, course.chapters[0].source)
    build(course, tag=tag)
    return notebook.read(course.chapters[0].released)


def cell(nb: NotebookNode, id: str) -> NotebookNode:
    return next(cell for cell in nb.cells if cell.id == id)


# --- what a student reads ---


def test_no_cell_of_the_authors_is_left(tmp_path):
    ids = [cell.id for cell in released(tmp_path).cells]
    source = [cell.id for cell in toy_notebook().cells if not notebook.is_for_authors(cell)]
    assert ids == ["course-setup", *source]


def test_answers_and_hidden_tests_are_gone(tmp_path):
    nb = released(tmp_path)
    assert cell(nb, "toy-total").source.splitlines() == [
        "def total(numbers: list[float]) -> float:",
        '    """The sum of the doubles of `numbers`."""',
        '    raise NotImplementedError("write your answer here, in place of this line")',
    ]
    text = notebook.dumps(nb).decode()
    assert not any(word in text for word in ("SOLUTION", "HIDDEN", "[5, -5, 2.5]", "%%mistake", "Belief"))


def test_outputs_and_authors_tags_are_gone(tmp_path):
    source = toy_notebook()
    source.cells.append(new_code_cell("1 / 0", id="fails", metadata={"tags": ["raises-exception", "nbval-ignore-output"]}))
    nb = released(tmp_path, source=source)
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert [notebook.tags(cell) for cell in code if notebook.tags(cell)] == [["raises-exception"]]


def test_the_release_is_in_canonical_form(tmp_path):
    nb = released(tmp_path)
    assert notebook.canonical(nb) == nb


def test_test_cells_stay_locked_and_answers_can_be_edited(tmp_path):
    nb = released(tmp_path)
    locked = {"deletable": False, "editable": False}
    for id, flags in {"toy-double-test": locked, "toy-setup": locked, "course-setup": locked, "toy-double": {"deletable": False}}.items():
        assert {key: value for key, value in cell(nb, id).metadata.items() if key in locked} == flags


# --- Colab ---


def run_setup(nb: NotebookNode, colab: bool, monkeypatch) -> list[str]:
    """Run the set-up cell, inside Colab or not; return what it gave to pip."""
    installed = []
    source = re.sub(r"%pip install -q (.*)", r"pip(\1)", cell(nb, "course-setup").source)
    monkeypatch.delitem(sys.modules, "google.colab", raising=False)
    if colab:
        monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    exec(source, {"pip": installed.append})
    return installed


def test_without_a_repository_colab_is_told_what_to_set(tmp_path, monkeypatch):
    nb = released(tmp_path)
    assert nb.cells[0].id == "course-setup"
    run_setup(nb, False, monkeypatch)
    with pytest.raises(RuntimeError, match=r"`repository` under \[tool.course\]"):
        run_setup(nb, True, monkeypatch)


def test_with_a_repository_colab_installs_the_course(tmp_path, monkeypatch):
    nb = released(tmp_path, GITHUB + ".git")
    assert run_setup(nb, False, monkeypatch) == []
    assert run_setup(nb, True, monkeypatch) == [f"paramshare @ git+{GITHUB}"]


def test_a_release_installs_its_tag(tmp_path, monkeypatch):
    nb = released(tmp_path, GITHUB, tag="v1.2")
    assert run_setup(nb, True, monkeypatch) == [f"paramshare @ git+{GITHUB}@v1.2"]
    assert f"/blob/v1.2/chapters/{CHAPTER}/{CHAPTER}.ipynb" in nb.cells[0].source


def test_the_badge_opens_the_chapter_in_colab(tmp_path):
    badge, setup = released(tmp_path, GITHUB).cells[:2]
    assert (badge.id, badge.cell_type, setup.id) == ("course-badge", "markdown", "course-setup")
    assert f"(https://colab.research.google.com/github/ORG/REPO/blob/main/chapters/{CHAPTER}/{CHAPTER}.ipynb)" in badge.source


def test_other_hosts_have_no_badge(tmp_path):
    nb = released(tmp_path, "file:///srv/course")
    assert nb.cells[0].id == "course-setup" and "git+file:///srv/course" in nb.cells[0].source


# --- the stamp ---


def test_the_stamp_names_chapter_and_release(tmp_path):
    nb = released(tmp_path)
    assert nb.metadata.course == {"chapter": CHAPTER, "release": release_of(nb)}
    assert len(bytes.fromhex(nb.metadata.course.release)) == 6


def release_after(folder: Path, old: str, new: str) -> str:
    folder.mkdir()
    source = toy_notebook()
    for cell in source.cells:
        cell.source = cell.source.replace(old, new)
        for output in cell.get("outputs", []):
            output.text = output.text.replace(old, new)
    return released(folder, source=source).metadata.course.release


def test_the_release_changes_with_what_a_student_sees_alone(tmp_path):
    first = release_after(tmp_path / "same", "", "")
    unseen = [("[5, -5, 2.5]", "[5, -5, 3.5]"), ("return 2 * number", "return number * 2"), ("42 12", "43 12"), ("number**2", "number**3")]
    seen = [("Euclid", "Euler"), ("double(3)", "double(7)")]
    assert [release_after(tmp_path / f"unseen-{number}", *edit) == first for number, edit in enumerate(unseen)] == [True] * 4
    assert [release_after(tmp_path / f"seen-{number}", *edit) == first for number, edit in enumerate(seen)] == [False] * 2


# --- nbgrader works on it ---


def test_checksums_are_those_of_the_written_cells(tmp_path):
    source = toy_notebook()
    cell(source, "toy-total-test").source = cell(source, "toy-total-test").source.replace("### BEGIN", "\n\n### BEGIN")
    for graded in released(tmp_path, source=source).cells:
        if notebook.grade_id(graded):
            assert notebook.grading(graded)["checksum"] == compute_checksum(graded)


@pytest.fixture
def validate(tmp_path, monkeypatch):
    """nbgrader's Validate on the toy chapter after an edit: what failed, by the first line of the error, or what changed."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    nb, path = released(tmp_path), tmp_path / "work.ipynb"

    def validated(edits: dict[str, str]) -> dict:
        for id, source in edits.items():
            cell(nb, id).source = source
        notebook.write(nb, path)
        return Validator(config=settings(Course(tmp_path), tmp_path / "class")).validate(str(path))

    return validated


SOLVED = {"toy-double": "def double(number):\n    return 2 * number", "toy-total": "def total(numbers):\n    return 2 * sum(numbers)"}


def test_validate_finds_the_blank_notebook_wanting(validate):
    failed = validate({})["failed"]
    assert len(failed) == 3 and all("write your answer here" in cell["raw_error"] for cell in failed)


def test_validate_accepts_the_solved_notebook(validate):
    assert validate(SOLVED) == {}


def test_validate_notices_an_edited_test(validate):
    edited = validate(SOLVED | {"toy-double-test": "assert True"})
    assert [cell["source"] for cell in edited["changed"]] == ["assert True"]


def test_nbgraders_own_release_is_the_committed_one(tmp_path, monkeypatch):
    """Also without the environment on PATH, where nbgrader looks for alembic when it makes a gradebook."""
    scripts = sysconfig.get_path("scripts")
    monkeypatch.setenv("PATH", os.pathsep.join(place for place in os.environ["PATH"].split(os.pathsep) if place != scripts))
    built = released(tmp_path)
    source = tmp_path / "class" / "source" / CHAPTER / f"{CHAPTER}.ipynb"
    notebook.write(toy_notebook(), source)
    config = settings(Course(tmp_path), tmp_path / "class")
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    assert api.generate_assignment(CHAPTER)["success"]
    assert notebook.read(tmp_path / "class" / "release" / CHAPTER / f"{CHAPTER}.ipynb") == built
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        assert gradebook.find_assignment(CHAPTER).max_score == 3


# --- the settings ---


def test_nobody_knows_the_tag_that_skips_a_cell(tmp_path):
    one, other = (settings(Course(tmp_path), tmp_path).Execute.skip_cells_with_tag for _ in range(2))
    assert one != other and "skip-execution" not in (one, other)


def test_jupyterlab_gets_the_same_settings(tmp_path):
    course = toy_course(tmp_path)
    (tmp_path / "autograder").mkdir()
    shutil.copy(ROOT / "autograder" / "nbgrader_config.py", tmp_path / "autograder")
    config = PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path / "autograder")).load_config()
    same, own = feedback.apply(rules.apply(settings(course, tmp_path / "class"))), config.pop("CourseDirectory")
    del same.CourseDirectory, same.Execute.skip_cells_with_tag, config.Execute.skip_cells_with_tag
    assert config == same
    assert (own.root, own.source_directory, own.submitted_directory) == (str(tmp_path), "solutions", "class/submitted")


def test_nbgrader_works_from_the_root_of_a_fresh_course(tmp_path):
    toy_course(tmp_path)
    (tmp_path / "autograder").mkdir()
    shutil.copy(ROOT / "autograder" / "nbgrader_config.py", tmp_path / "autograder")
    environment = {"PATH": "", "JUPYTER_CONFIG_PATH": "autograder", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", CHAPTER]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "class" / "release" / CHAPTER / f"{CHAPTER}.ipynb").exists() and (tmp_path / "class" / "gradebook.db").exists()
