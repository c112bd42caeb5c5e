"""`course build`: what it writes, what it leaves alone, and what it finds stale."""

import json
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from toy import CHAPTER, toy_course, toy_notebook

from autograder import notebook
from autograder.authoring.build import build
from autograder.course import Course, CourseError

RELEASED = f"chapters/{CHAPTER}/{CHAPTER}.ipynb"
SOURCE = f"solutions/{CHAPTER}/{CHAPTER}.ipynb"
MODULE = "paramshare/toy.py"


@pytest.fixture
def course(tmp_path) -> Course:
    return toy_course(tmp_path)


@pytest.fixture
def built(course, capsys) -> Course:
    build(course)
    capsys.readouterr()
    return course


def files(course: Course) -> dict[str, bytes]:
    return {course.shown(path): path.read_bytes() for path in course.root.rglob("*") if path.is_file()}


def add_cell(course: Course, source: str, **metadata) -> None:
    path = course.root / SOURCE
    nb = notebook.read(path)
    nb.cells.append(new_code_cell(source, id="added", metadata=metadata))
    notebook.write(nb, path)


def rename_chapter(course: Course, name: str) -> Course:
    """The course with its only source under another name."""
    folder = (course.root / "solutions" / CHAPTER).rename(course.root / "solutions" / name)
    (folder / f"{CHAPTER}.ipynb").rename(folder / f"{name}.ipynb")
    return Course(course.root)


# --- building ---


def test_a_build_makes_the_student_notebook_and_the_module(course):
    before = files(course)
    assert build(course)
    assert set(files(course)) - set(before) == {RELEASED, MODULE}
    assert {path: content for path, content in files(course).items() if path in before} == before


def test_a_build_is_up_to_date_and_says_nothing_the_second_time(built, capsys):
    assert build(built, check=True) and build(built)
    assert capsys.readouterr().out == ""


def test_the_same_source_gives_the_same_bytes(built, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    again = toy_course(tmp_path / "elsewhere")
    build(again)
    assert (again.root / RELEASED).read_bytes() == (built.root / RELEASED).read_bytes()
    assert (again.root / MODULE).read_bytes() == (built.root / MODULE).read_bytes()


def test_an_edit_of_a_text_changes_two_lines_of_the_student_notebook(built):
    before = (built.root / RELEASED).read_text().splitlines()
    source = (built.root / SOURCE).read_text()
    (built.root / SOURCE).write_text(source.replace("At the end you can double.", "At the end you can add up."))
    build(built)
    after = (built.root / RELEASED).read_text().splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 2  # the text and the release


def test_a_source_is_made_canonical(course):
    path = course.root / SOURCE
    nb = json.loads(path.read_text())
    nb["metadata"]["language_info"]["version"] = "3.11.7"
    path.write_text(json.dumps(nb))
    build(course)
    assert path.read_bytes() == notebook.dumps(toy_notebook())


def test_nothing_is_executed(course, tmp_path):
    add_cell(course, f"open({str(tmp_path / 'ran')!r}, 'w')")
    build(course)
    assert not (tmp_path / "ran").exists()


def test_files_beside_a_source_are_copied_and_go_with_it(course):
    folder = course.root / "solutions" / CHAPTER
    (folder / "figures").mkdir()
    (folder / "figures" / "dot.svg").write_text("<svg/>")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "old.ipynb").write_text("{}")
    build(course)
    copied = course.root / "chapters" / CHAPTER / "figures" / "dot.svg"
    assert copied.read_text() == "<svg/>"
    assert notebook.read(course.root / RELEASED).metadata.course.files == ["figures/dot.svg"]
    assert not (course.root / "chapters" / CHAPTER / ".ipynb_checkpoints").exists()

    (folder / "figures" / "dot.svg").unlink()
    assert not build(course, check=True)
    build(course)
    assert not copied.parent.exists() and build(course, check=True)


def test_a_renamed_chapter_leaves_nothing_behind(built):
    renamed = rename_chapter(built, "02_other")
    build(renamed)
    assert not (built.root / "chapters" / CHAPTER).exists() and not (built.root / MODULE).exists()
    assert build(renamed, check=True)


def test_what_no_build_made_is_never_deleted(built, capsys):
    mine = [f"chapters/{CHAPTER}/notes.txt", "chapters/09_mine/09_mine.ipynb", "paramshare/mine.py"]
    for path in mine:
        (built.root / path).parent.mkdir(exist_ok=True)
        (built.root / path).write_text("{}")
    (built.root / "chapters" / "README.md").write_text("hand-written")
    assert not build(built, check=True)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(f"{path}: no source" for path in mine)
    build(rename_chapter(built, "02_other"))
    assert all((built.root / path).exists() for path in [*mine, "chapters/README.md", "paramshare/__init__.py"])


def test_a_listed_file_outside_the_chapter_is_not_deleted(built):
    path = built.root / RELEASED
    nb = notebook.read(path)
    nb.metadata.course.files = [f"../../{SOURCE}", "../../pyproject.toml"]
    notebook.write(nb, path)
    build(built)
    assert (built.root / SOURCE).exists() and (built.root / "pyproject.toml").exists()


# --- checking ---


def stale(course: Course, capsys) -> list[str]:
    before = files(course)
    assert not build(course, check=True)
    assert files(course) == before
    return capsys.readouterr().out.splitlines()


def test_check_names_what_is_missing(course, capsys):
    assert stale(course, capsys) == [f"{RELEASED}: missing", f"{MODULE}: missing"]


def test_check_names_what_an_edit_of_the_source_made_stale(built, capsys):
    add_cell(built, "LIMIT = 3", tags=["export"])
    assert stale(built, capsys) == [f"{RELEASED}: out of date, or edited by hand", f"{MODULE}: out of date, or edited by hand"]


@pytest.mark.parametrize("path", [RELEASED, MODULE])
def test_check_names_what_was_edited_by_hand(built, capsys, path):
    (built.root / path).write_text((built.root / path).read_text().replace("double", "twice"))
    assert stale(built, capsys) == [f"{path}: out of date, or edited by hand"]


def test_check_names_a_source_that_is_not_canonical(built, capsys):
    path = built.root / SOURCE
    path.write_text(path.read_text().replace('"metadata": {}', '"metadata": {"collapsed": true}', 1))
    assert stale(built, capsys) == [f"{SOURCE}: not canonical"]


def test_check_names_what_has_no_source_any_more(built, capsys):
    lines = stale(rename_chapter(built, "02_other"), capsys)
    assert f"{RELEASED}: no source" in lines and f"{MODULE}: no source" in lines


# --- refusing ---


def refused(course: Course) -> str:
    before = files(course)
    with pytest.raises(CourseError) as error:
        build(course)
    assert files(course) == before
    return str(error.value)


GRADED = {"grade": False, "solution": True, "locked": False, "task": False, "schema_version": 3}
TEST = GRADED | {"grade_id": "toy-x", "grade": True, "solution": False, "locked": True}


@pytest.mark.parametrize(
    ("source", "nbgrader", "words"),
    [
        ("x = 1", GRADED | {"grade_id": "toy-double"}, "Duplicate grade id: toy-double"),
        ("### BEGIN SOLUTION\nx = 1", GRADED | {"grade_id": "toy-x"}, "cell toy-x: no end solution statement found"),
        ("### BEGIN SOLUTION\nx = 1\n### END SOLUTION", {}, "cell added: Solution region detected in a non-solution cell"),
        ("### BEGIN HIDDEN TESTS\nx", TEST | {"points": 1}, "cell toy-x: No end hidden tests"),
        ("x", TEST, "cell toy-x: nbgrader cell 'toy-x' does not have points"),
        ("x", GRADED | {"grade_id": "toy.x"}, "cell added: 'toy.x' does not match"),
    ],
)
def test_what_nbgrader_refuses_is_named_and_nothing_is_touched(built, source, nbgrader, words):
    add_cell(built, source, nbgrader=nbgrader)
    message = refused(built)
    assert message.startswith(f"{SOURCE}: ") and words in message


def test_one_refused_chapter_leaves_the_others_alone_too(built):
    add_cell(built, "LIMIT = 3", tags=["export"])
    broken = toy_notebook()
    broken.cells.append(new_code_cell("%ls", metadata={"tags": ["export"]}))
    notebook.write(broken, built.root / "solutions" / "02_broken" / "02_broken.ipynb")
    assert "02_broken.ipynb: cell" in refused(Course(built.root))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("02_toy/02_toy.ipynb", "two chapters are called toy"),
        ("2_other/2_other.ipynb", "2_other/2_other.ipynb: a source is called like"),
        ("02_other/other.ipynb", "02_other/other.ipynb: a source is called like"),
        ("02_other/02_other.ipynb", "02_other.ipynb is not a notebook"),
    ],
)
def test_a_misplaced_or_broken_source_is_named(built, path, words):
    target: Path = built.root / "solutions" / path
    target.parent.mkdir()
    target.write_bytes(notebook.dumps(toy_notebook()) if "is not a notebook" not in words else b"{")
    assert words in refused(Course(built.root))


def test_a_release_needs_a_repository(built):
    with pytest.raises(CourseError, match=r"`repository` under \[tool.course\]"):
        build(built, tag="v1")
