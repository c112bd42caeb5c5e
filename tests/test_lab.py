"""`course lab`: what it copies into work/, what it leaves alone, and the JupyterLab it starts."""

import json
import shutil
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from browser import running_lab
from toy import CHAPTER, toy_course

from autograder import notebook
from autograder.authoring.build import build
from autograder.course import Course, CourseError
from autograder.student import lab

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def course(tmp_path, capsys) -> Course:
    course = toy_course(tmp_path)
    build(course)
    capsys.readouterr()
    return course


@pytest.fixture
def opened(monkeypatch) -> list:
    """The chapters that JupyterLab would have been opened on."""
    opened = []
    monkeypatch.setattr(lab, "_run_jupyterlab", lambda chapter, browser, port: opened.append(chapter.name))
    return opened


def release_again(course: Course) -> None:
    """Build a release whose text differs from the last one."""
    source = course.chapters[0].source
    nb = notebook.read(source)
    nb.cells[0].source += "\n\nOne more sentence."
    notebook.write(nb, source)
    build(course)


def test_a_missing_chapter_is_copied_with_the_files_beside_it_and_opened(course, opened, capsys):
    chapter = course.chapters[0]
    (chapter.released.parent / "pictures").mkdir()
    (chapter.released.parent / "pictures" / "one.svg").write_text("<svg/>")
    lab.open_lab(course, None)
    assert chapter.working_copy.read_bytes() == chapter.released.read_bytes()
    assert (chapter.working_copy.parent / "pictures" / "one.svg").read_text() == "<svg/>"
    assert opened == [CHAPTER]
    assert capsys.readouterr().out == f"work/{CHAPTER} is new: your own copy of the chapter\n"


def test_nothing_in_work_is_ever_overwritten(course, opened, capsys):
    chapter = course.chapters[0]
    beside = chapter.released.with_name("numbers.csv")
    beside.write_text("released")
    lab.copy_missing(chapter)
    chapter.working_copy.write_text("mine")
    chapter.working_copy.with_name("numbers.csv").write_text("mine too")
    lab.open_lab(course, "1")
    assert chapter.working_copy.read_text() == "mine"
    assert chapter.working_copy.with_name("numbers.csv").read_text() == "mine too"


def test_a_copy_of_an_earlier_release_is_kept_and_named(course, opened, capsys):
    chapter = course.chapters[0]
    lab.copy_missing(chapter)
    before = chapter.working_copy.read_bytes()
    release_again(course)
    capsys.readouterr()
    lab.open_lab(course, None)
    assert chapter.working_copy.read_bytes() == before
    said = capsys.readouterr().out
    assert said.startswith(f"work/{CHAPTER} was copied from an earlier release; your work is kept.")
    assert said.count("\n") == 1


def test_solving_an_exercise_does_not_make_a_copy_older(course):
    chapter = course.chapters[0]
    lab.copy_missing(chapter)
    nb = notebook.read(chapter.working_copy)
    nb.cells[-1].source += "changed"
    notebook.write(nb, chapter.working_copy)
    assert not lab.is_older(chapter)


def test_an_unknown_chapter_and_an_unbuilt_course_are_refused_in_words(course, opened):
    with pytest.raises(CourseError, match="no chapter '7'; there are: 01_toy"):
        lab.open_lab(course, "7")
    shutil.rmtree(course.root / "chapters")
    with pytest.raises(CourseError, match="course build"):
        lab.open_lab(course, None)
    assert opened == []


def test_the_lab_runs_at_the_course_root_with_nbgrader_and_this_environment(course, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "autograder", course.root / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    _spoil_home(home)
    with running_lab(course, home) as address:
        parts = urlsplit(address)

        def get(path: str):
            with urlopen(f"{parts.scheme}://{parts.netloc}/{path}?{parts.query}", timeout=60) as answer:
                return json.load(answer)

        assert parts.path == f"/lab/tree/work/{CHAPTER}/{CHAPTER}.ipynb"
        assert get(f"api/contents/work/{CHAPTER}/{CHAPTER}.ipynb")["type"] == "notebook"
        assert [assignment["name"] for assignment in get("formgrader/api/assignments")] == [CHAPTER]
        assert get("api/kernelspecs")["kernelspecs"]["python3"]["spec"]["argv"][0] != "/nowhere/python"


def _spoil_home(home: Path) -> None:
    """Another Jupyter at home, whose kernel of the same name is a Python that has no course."""
    kernel = home / ".local/share/jupyter/kernels/python3/kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps({"argv": ["/nowhere/python", "{connection_file}"], "display_name": "Python 3", "language": "python"}))
