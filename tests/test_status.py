"""`course status`: each exercise judged by running the notebook in work/."""

import pytest
from nbformat.v4 import new_code_cell
from toy import CHAPTER, toy_course

from autograder import notebook
from autograder.authoring.build import build
from autograder.course import Course, CourseError
from autograder.student import status
from autograder.student.lab import copy_missing
from autograder.student.status import DONE, FAILING, NOT_STARTED, Exercise, judge, show_status

DOUBLE = "def double(number):\n    return 2 * number"
SQUARE = "def double(number):\n    return number**2"
TOTAL = "def total(numbers):\n    return sum(double(number) for number in numbers)"


@pytest.fixture
def course(tmp_path, capsys, monkeypatch) -> Course:
    monkeypatch.setenv("COLUMNS", "120")
    course = toy_course(tmp_path)
    build(course)
    copy_missing(course.chapters[0])
    capsys.readouterr()
    return course


def write_in_work(course: Course, **answers: str) -> None:
    """Fill in the cells `toy-double` and `toy-total` of the student's copy."""
    path = course.chapters[0].working_copy
    nb = notebook.read(path)
    for cell in nb.cells:
        cell.source = answers.get(cell.id.removeprefix("toy-"), cell.source)
    notebook.write(nb, path)


def states(course: Course) -> dict[str, tuple[str, float]]:
    return {exercise.name: (exercise.state, exercise.points) for exercise in judge(course.chapters[0])}


def test_a_new_copy_is_not_started(course):
    assert judge(course.chapters[0]) == [Exercise("toy.double", NOT_STARTED, 0, 2), Exercise("toy.total", NOT_STARTED, 0, 1)]


def test_right_answers_are_done(course, capsys):
    write_in_work(course, double=DOUBLE, total=TOTAL)
    assert states(course) == {"toy.double": (DONE, 2), "toy.total": (DONE, 1)}


def test_a_wrong_answer_shows_what_its_test_says_and_keeps_the_points_it_earned(course, capsys):
    write_in_work(course, double="def double(number):\n    return 2 * abs(number)")
    assert show_status(course)
    said = capsys.readouterr().out
    assert "01_toy: 1 of 3 points" in said
    assert "double(-4) gave 8, expected -8." in said
    assert said.splitlines()[-3:] == [
        f"Next: toy.double, in work/{CHAPTER}/{CHAPTER}.ipynb",
        "    double(-4) gave 8, expected -8.",
        "    A negative number keeps its sign when it is doubled.",
    ]


def test_an_exercise_that_waits_for_another_is_failing_not_unstarted(course):
    write_in_work(course, total=TOTAL)
    double, total = judge(course.chapters[0])
    assert double.state == NOT_STARTED
    assert total.state == FAILING and total.message == "It calls something that is not written yet."


def test_an_answer_that_does_not_even_run_is_told_by_its_own_error(course):
    write_in_work(course, double="def double(number)\n    return 2 * number")
    double = judge(course.chapters[0])[0]
    assert double.state == FAILING and double.message.startswith("SyntaxError")


def test_a_lost_test_cell_is_named_and_earns_nothing(course):
    write_in_work(course, double=DOUBLE)
    path = course.chapters[0].working_copy
    nb = notebook.read(path)
    nb.cells = [cell for cell in nb.cells if cell.id != "toy-double-test-2"]
    notebook.write(nb, path)
    double = judge(course.chapters[0])[0]
    assert (double.state, double.points) == (FAILING, 1) and "toy-double-test-2 is gone" in double.message


def test_a_copy_without_nbgrader_metadata_is_judged_by_its_cell_ids(course):
    write_in_work(course, double=DOUBLE, total=TOTAL)
    path = course.chapters[0].working_copy
    nb = notebook.read(path)
    for cell in nb.cells:
        cell.metadata.pop("nbgrader", None)
    notebook.write(nb, path)
    assert states(course) == {"toy.double": (DONE, 2), "toy.total": (DONE, 1)}


def test_an_endless_loop_is_stopped(course, monkeypatch):
    monkeypatch.setattr(status, "SECONDS_A_CELL", 1)
    write_in_work(course, double=DOUBLE, total="def total(numbers):\n    while True:\n        pass")
    total = judge(course.chapters[0])[1]
    assert (total.state, total.message) == (FAILING, "Took longer than 1 seconds.")


def test_a_failure_that_is_not_shown_is_a_failure(course):
    write_in_work(course, double=f"get_ipython().showtraceback = lambda *_, **__: None\n\n{SQUARE}", total=TOTAL)
    assert states(course) == {"toy.double": (FAILING, 0), "toy.total": (FAILING, 0)}


def test_the_notebook_in_work_stays_as_it_was_and_so_do_the_files_beside_it(course):
    path = course.chapters[0].working_copy
    nb = notebook.read(path)
    nb.cells.append(new_code_cell("from pathlib import Path\nPath('written').touch()"))
    notebook.write(nb, path)
    before = path.read_bytes()
    judge(course.chapters[0])
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("content", "told"),
    [("{", "01_toy.ipynb is not a notebook"), (None, "stopped its Python")],
)
def test_a_broken_notebook_is_one_clear_line(course, capsys, content, told):
    if content is None:
        write_in_work(course, double="import os\nos._exit(1)")
    else:
        course.chapters[0].working_copy.write_text(content)
    assert show_status(course) is False
    said = capsys.readouterr().out
    assert told in said and "Traceback" not in said


def test_a_finished_chapter_is_to_be_handed_in(course, capsys):
    write_in_work(course, double=DOUBLE, total=TOTAL)
    assert show_status(course, "toy")
    said = capsys.readouterr().out
    assert "01_toy: 3 of 3 points" in said
    assert said.splitlines()[-1] == f"Every visible test of {CHAPTER} passes: hand in work/{CHAPTER}/{CHAPTER}.ipynb"


def test_with_nothing_in_work_it_says_how_to_begin(course):
    course.chapters[0].working_copy.unlink()
    with pytest.raises(CourseError, match="course lab"):
        show_status(course)
