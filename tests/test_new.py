"""`course new`: a chapter that builds and runs as it is."""

from pathlib import Path

import pytest
from toy import toy_course

from autograder import notebook
from autograder.authoring.build import build
from autograder.authoring.lint import lint
from autograder.authoring.new import new_chapter
from autograder.authoring.run import run
from autograder.course import Chapter, Course, CourseError

PARTS = [
    "# 02 Fresh idea",
    "## ‹Something to wonder about›",
    "## The idea",
    "**Exercise `fresh_idea.saved`**",
    "## Use it",
    "## Signature result",
    "## What did not improve",
    "## Try it yourself",
    "## Quiz",
    "## References",
]


@pytest.fixture
def chapter(tmp_path, monkeypatch) -> Chapter:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    course = toy_course(tmp_path)
    new_chapter(course, "02_fresh_idea")
    return Course(tmp_path).chapter("fresh_idea")


def test_every_part_of_a_chapter_is_there_in_order(chapter):
    text = "\n".join(cell.source for cell in notebook.read(chapter.source).cells)
    assert [line.partition(" ·")[0] for line in text.splitlines() if line.startswith(("# 0", "## ", "**Exercise"))] == PARTS
    assert text.count("%%mistake") == 3 and text.count("%%alternative") == 1 and text.count("<summary>Hint") == 3


def test_a_new_chapter_builds_unchanged(chapter):
    before = chapter.source.read_bytes()
    assert build(chapter.course)
    assert chapter.source.read_bytes() == before
    assert "def saved(layer: int, num_layers: int) -> int:" in chapter.module.read_text()


def test_a_new_chapter_runs(chapter):
    assert run([chapter])
    printed = {cell.id: cell.outputs[0].text for cell in notebook.read(chapter.source).cells if cell.get("outputs")}
    assert printed["fresh_idea-use"] == "[0, 50, 110]\n"
    assert "One layer is still stored: only the others are saved." in printed["fresh_idea-saved-mistake-1"]


def test_a_new_chapter_follows_the_rules(chapter):
    assert lint([chapter])


@pytest.mark.parametrize("name", ["2_short", "02-dash", "02_Upper", "counting", "02_", "02_lambda", "../02_up", ""])
def test_a_bad_name_is_refused(tmp_path, name):
    course = toy_course(tmp_path)
    with pytest.raises(CourseError, match="like 09_memory_bound"):
        new_chapter(course, name)
    assert [path.name for path in (tmp_path / "solutions").iterdir()] == ["01_toy"]


@pytest.mark.parametrize("name", ["01_other", "02_toy", "01_toy"])
def test_a_taken_number_or_topic_is_refused(tmp_path, name):
    with pytest.raises(CourseError, match="taken by 01_toy"):
        new_chapter(toy_course(tmp_path), name)


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    course = toy_course(tmp_path)
    (tmp_path / "solutions" / "02_mine").mkdir()
    with pytest.raises(CourseError, match="solutions/02_mine is there already"):
        new_chapter(course, "02_mine")
