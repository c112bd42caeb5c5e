"""`course verify` on the toy chapter: all green when it is good, and every kind of failure is found."""

from __future__ import annotations

import shutil

import pytest
import toy
from edits import Edit, cell, good_notebook, replaced, stored, with_code, with_locked, write_source
from nbformat.v4 import new_output

from autograder import notebook
from autograder.authoring.build import build
from autograder.authoring.run import run
from autograder.authoring.source import Source
from autograder.authoring.submissions import batches, blank, solved, to_grade, with_answers
from autograder.authoring.verify import verify
from autograder.course import Course

# The toy chapter's second exercise calls the first: without that, answers to both can be handed in together.
APART = (
    replaced("toy-total", "double(number)", "number + number"),
    replaced("toy-total-mistake-2", "double(numbers[-1])", "2 * numbers[-1]"),
    replaced("toy-total-mistake-3", "double(number)", "2 * number"),
)
TWO_LINES = "def total(numbers):\n    return 2 * sum(numbers)"
IMPATIENT = """\
try:
    total([])
except NotImplementedError:
    raise ValueError("not yet")
expect"""


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Course:
    """A good chapter, run and built."""
    course = toy.toy_course(tmp_path_factory.mktemp("good"))
    write_source(course, *APART)
    assert run(course.chapters)
    build(course)
    return course


@pytest.fixture
def verified(good, tmp_path, capsys):
    """What `course verify` says, and prints, of the good chapter with some edits of its source."""

    def verified(*edits: Edit, after_build=lambda course: None) -> tuple[bool, str]:
        course = Course(tmp_path / "course")
        shutil.copytree(good.root, course.root)
        nb = notebook.read(course.chapters[0].source)
        for edit in edits:
            edit(nb)
        notebook.write(notebook.canonical(nb), course.chapters[0].source)
        build(course)
        after_build(course)
        capsys.readouterr()
        return verify(course, "toy"), capsys.readouterr().out

    return verified


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if line.strip().startswith(("double", "total"))]


def test_a_good_chapter_is_all_green(verified):
    ok, out = verified()
    assert ok, out
    assert rows(out) == [["double", "2", "✓", "✓", "3/3", "3/3", "✓"], ["total", "1", "✓", "✓", "3/3", "3/3", "✓"]]
    assert "✗" not in out
    assert "✓ generated files are what `course build` makes" in out


def test_answers_that_are_not_as_they_should_be_are_found(verified):
    ok, out = verified(
        replaced("toy-double-mistake-1", "number**2", "2 * number"),
        replaced("toy-double-mistake-2", "number + 2", "number * number"),
        replaced("toy-double-alternative", "number + number", "number + abs(number)"),
        stored("toy-total-mistake-1", new_output("stream", name="stdout", text="total([1, 2, 3]) gave 7.\n")),
        replaced("toy-total-mistake-3", "    return result", "    return sum(numbers)"),
        replaced("toy-total-alternative", TWO_LINES, "# waiver: there is one way to add"),
    )
    assert not ok
    assert rows(out) == [["double", "2", "✓", "✓", "2/3", "1/3", "✗"], ["total", "1", "✓", "✓", "3/3", "1/3", "waived"]]
    for found in (
        "toy.double: toy-double-mistake-1: the tests let this mistake pass",
        "toy.double: toy-double-mistake-2: the student is not told 'Twice is not two more:', but: double(3) gave 9, expected 6.",
        "toy.double: toy-double-alternative: this right answer earns 1 of 2 points: double(-4) gave 0, expected -8.",
        "toy.total: toy-total-mistake-1: the student is told 'total([1, 2, 3]) gave 6, expected 12.",
        "toy.total: toy-total-mistake-3: it gets the same wrong value or diagnosis as toy-total-mistake-1: total([1, 2, 3]) gave 6",
    ):
        assert f"✗ {found}" in out
    assert "toy-double-mistake-3" not in out and "toy-total-mistake-2" not in out


def test_solution_blank_and_generated_files_that_are_not_as_they_should_be_are_found(verified):
    ok, out = verified(
        replaced("toy-double", "return 2 * number", "return 2 * int(number)"),
        with_locked(
            'exercise("toy.double")\nassert callable(double)', "toy-double-test-3", after="toy-double-test-2", grade=True, points=1
        ),
        replaced("toy-total-test", "expect(total([1, 2, 3]))", f"{IMPATIENT}(total([1, 2, 3]))"),
        with_code("[][double(1)]"),
        replaced("toy-use", "print(", "print('now', "),
        after_build=lambda course: course.chapters[0].module.write_text("edited = True\n"),
    )
    assert not ok
    for found in (
        "toy.double: toy-double-test-2: the solution earns 0 of 1 points: double(number) gave 4, expected 5.0.",
        "toy.double: toy-double-test-3: the untouched notebook earns 1 points here",
        "toy.total: toy-total-test: the untouched notebook fails with ValueError: not yet",
        "toy-added: in the student notebook with the solutions it shows IndexError: list index out of range; stored is nothing",
        "toy-use: in the student notebook with the solutions it shows now 42 12; stored is 42 12. Run the source",
        "paramshare/toy.py: out of date, or edited by hand",
    ):
        assert found in out, out
    assert "generated files are what" not in out


# --- what is handed in ---


def source_of(course: Course) -> Source:
    return Source.of(course.chapters[0])


def test_answers_of_independent_exercises_share_a_submission(good):
    grouped = [{answer.exercise for answer in batch} for batch in batches(source_of(good))]
    assert grouped == [{"toy.double", "toy.total"}] * 4


def test_answers_of_exercises_that_use_each_other_are_handed_in_apart(tmp_path):
    course = toy.toy_course(tmp_path)
    grouped = [[answer.id for answer in batch] for batch in batches(source_of(course))]
    assert len(grouped) == 8 and all(len(batch) == 1 for batch in grouped)


def test_a_given_helper_ties_exercises_together(tmp_path):
    course = toy.toy_course(tmp_path)
    write_source(
        course,
        *APART,
        with_locked("def twice(number):\n    return double(number)", "toy-given_twice", after="toy-double"),
        replaced("toy-total", "number + number", "twice(number)"),
    )
    assert all(len(batch) == 1 for batch in batches(source_of(course)))


def test_every_answer_but_a_waiver_is_handed_in_once(tmp_path):
    course = toy.toy_course(tmp_path)
    write_source(course, replaced("toy-total-alternative", TWO_LINES, "# waiver: there is one way"))
    source = source_of(course)
    assert sorted(answer.id for batch in batches(source) for answer in batch) == sorted(answer.id for answer in to_grade(source))
    assert "toy-total-alternative" not in {answer.id for answer in to_grade(source)}


def test_what_is_handed_in(good):
    source, released = source_of(good), notebook.read(good.chapters[0].released)
    assert blank().fill(released) == notebook.canonical(released)
    whole = solved(source).fill(released)
    assert cell(whole, "toy-double").source.strip() == notebook.without_solution_marks(toy.DOUBLE).strip()
    assert cell(whole, "toy-use").source == cell(source.nb, "toy-use").source
    mistake = source.exercises[0].mistakes[0]
    alone = with_answers(source, [mistake], "alone").fill(released)
    assert cell(alone, "toy-double").source == mistake.text
    assert cell(alone, "toy-total").source == cell(whole, "toy-total").source
    assert {each.id for each in alone.cells} == {each.id for each in whole.cells if notebook.grade_id(each)}


def test_an_answer_that_writes_a_part_anew_stands_below_the_solution(tmp_path):
    course = toy.toy_course(tmp_path)
    write_source(course, replaced("toy-double", "def double", "HELPER = 2\n\n\ndef double"))
    source = source_of(course)
    answer = source.exercises[0].mistakes[0]
    changed = with_answers(source, [answer], "alone").answers["toy-double"]
    assert changed.startswith("HELPER = 2") and changed.endswith(answer.text)


def test_a_good_notebook_is_good_form():
    assert notebook.canonical(good_notebook()) == good_notebook()


def test_verify_takes_the_chapters_it_is_told(good):
    from autograder.course import CourseError

    with pytest.raises(CourseError, match="no chapter 'other'"):
        verify(good, "other")
