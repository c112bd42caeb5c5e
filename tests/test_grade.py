"""`course grade` on a small class of whole, half, broken and careless submissions."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import shutil

import pytest
from nbgrader.api import Gradebook, MissingEntry
from submissions import cell_of, changed, filled, put, solutions
from toy import toy_course

from autograder import nbgrader_settings, notebook
from autograder.course import Course, CourseError
from autograder.grading import autograde
from autograder.grading.class_folder import ClassFolder
from autograder.grading.grade import grade
from autograder.grading.results import Graded, Question, csv_text, read_records

RIGHT = {"toy-double-test": 1, "toy-double-test-2": 1, "toy-total-test": 1}


PATIENCE = {"cell": 3, "notebook": 900, "iopub": 60}  # seconds


@pytest.fixture(scope="module", autouse=True)
def impatient():
    """Cells have seconds, in place of minutes."""

    def settings(course, root):
        config = nbgrader_settings.settings(course, root)
        config.Execute.timeout = PATIENCE["cell"]
        config.Execute.iopub_timeout = PATIENCE["iopub"]
        config.ExecuteQuietly.longest = PATIENCE["notebook"]
        return config

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autograde, "settings", settings)
        yield


class Class:
    """A toy course with its class folder and a folder of submissions."""

    def __init__(self, root):
        self.course = Course(root)
        [self.chapter] = self.course.chapters
        self.place = ClassFolder(root / "class")
        self.released = self.place.prepare(self.course, self.chapter).nb
        self.right = filled(self.released, solutions(self.chapter))
        self.handed_in = root / "handed in"

    def hand_in(self, name, content):
        put(self.handed_in / name, content)

    def grade(self, **options):
        assert grade(self.course, self.chapter, self.handed_in, **options) is True
        return self.rows()

    def rows(self):
        return {student: record.row for student, record in read_records(self.place.results(self.chapter)).items()}

    def csv(self):
        return {row["student"]: row for row in csv.DictReader(io.StringIO(self.place.grades(self.chapter).read_text()))}

    def gradebook(self):
        return Gradebook(f"sqlite:///{self.place.root / 'gradebook.db'}", "paramshare")

    def scores(self, student):
        """The gradebook's scores by cell; None when it has no submission of this student."""
        with self.gradebook() as gradebook:
            try:
                found = gradebook.find_submission_notebook(self.chapter.name, self.chapter.name, student)
            except MissingEntry:
                return None
            return {grade.name: grade.score for grade in found.grades}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A toy course whose gradebook is made: that takes seconds, once."""
    root = tmp_path_factory.mktemp("prepared")
    course = toy_course(root)
    ClassFolder(root / "class").prepare(course, course.chapters[0])
    return root


@pytest.fixture
def toy(prepared, tmp_path):
    return Class(shutil.copytree(prepared, tmp_path / "course"))


# --- one class with everything in it, graded once ---


def answer(nb, grade_id, source):
    return changed(nb, lambda nb: cell_of(nb, grade_id).update(source=source))


def without(nb, *grade_ids):
    return changed(nb, lambda nb: nb.update(cells=[cell for cell in nb.cells if notebook.grade_id(cell) not in grade_ids]))


def skip_tests(nb):
    for cell in nb.cells:
        if notebook.is_test(cell):
            cell.metadata.tags = ["skip-execution"]


def copy_answer(nb):
    nb.cells.insert(nb.cells.index(cell_of(nb, "toy-double")), cell_of(nb, "toy-double").copy())


def own_graded_cell(nb):
    nb.cells.append(cell_of(nb, "toy-double").copy() | {"id": "mine"})
    nb.cells[-1]["metadata"] = {"nbgrader": {"grade_id": "mine", "grade": True, "solution": False, "locked": True, "points": 99}}


WARNS = """\
import logging, sys, warnings
def double(number):
    warnings.warn("w")
    logging.warning("l")
    print("e", file=sys.stderr)
    return 2 * number
"""
PRINTS = "def double(number):\n    print(number)\n    return 2 * number"
KNOWS = "def double(number):\n    return {3: 6, -4: -8}.get(number, 0)"
LOOPS = "def total(numbers):\n    while True: pass"
EDITED, DELETED = "edited by the student, and put back: ", "deleted by the student: "

# How a submission is made of the right one and the blank one; its points and words of its flags, or None and words of the reason.
ZOO = {
    "right": (lambda right, blank: right, 3, ""),
    "half": (lambda right, blank: answer(blank, "toy-double", cell_of(right, "toy-double").source), 2, ""),
    "blank": (lambda right, blank: blank, 0, ""),
    "warns": (lambda right, blank: answer(right, "toy-double", WARNS), 3, ""),
    "prints": (lambda right, blank: answer(right, "toy-double", PRINTS), 3, ""),
    "knows-the-visible": (lambda right, blank: answer(right, "toy-double", KNOWS), 1, ""),
    "loops": (lambda right, blank: answer(right, "toy-total", LOOPS), 2, ""),
    "skips": (lambda right, blank: changed(blank, skip_tests), 0, ""),
    "edits": (lambda right, blank: answer(blank, "toy-double-test", "assert True"), 0, EDITED + "toy-double-test"),
    "retypes": (lambda right, blank: changed(blank, lambda nb: retype(cell_of(nb, "toy-double-test"))), 0, EDITED + "toy-double-test"),
    "deletes-test": (lambda right, blank: without(right, "toy-double-test-2"), 3, DELETED + "toy-double-test-2"),
    "deletes-answer": (lambda right, blank: without(right, "toy-total"), 2, DELETED + "toy-total"),
    "deletes-both": (lambda right, blank: without(right, "toy-total", "toy-total-test"), None, "Too many cells"),
    "old": (
        lambda right, blank: changed(right, lambda nb: nb.metadata.course.update(release="0" * 12)),
        3,
        "made from release 000000000000",
    ),
    "unstamped": (lambda right, blank: changed(right, lambda nb: nb.metadata.pop("course")), 3, "does not say which release"),
    "marks-own": (lambda right, blank: changed(right, own_graded_cell), 3, ""),
    "zoë-李": (lambda right, blank: right, 3, ""),
    "surrogate": (lambda right, blank: answer(right, "toy-total", "'\ud800'"), None, "could not be run"),
    "copies": (lambda right, blank: changed(right, copy_answer), None, "more than once, as after copying or splitting them: toy-double."),
    "exits": (lambda right, blank: answer(right, "toy-total", "import os\nos._exit(0)"), None, "Python ended while the notebook ran"),
    "flips": (lambda right, blank: changed(right, flip_flags), None, "fresh copy"),
    "strips": (lambda right, blank: changed(right, strip_metadata), None, "pasted into a new one"),
    "other-chapter": (
        lambda right, blank: changed(right, lambda nb: nb.metadata.course.update(chapter="02_o")),
        None,
        "This is chapter 02_o",
    ),
    "cut": (lambda right, blank: json.dumps(right).encode()[:500], None, "breaks off"),
    "empty": (lambda right, blank: b"", None, "is empty"),
    "login": (lambda right, blank: b"\n<!DOCTYPE html><title>Log in</title>", None, "web page"),
    "zip": (lambda right, blank: b"PK\x03\x04", None, "zip"),
    "utf16": (lambda right, blank: json.dumps(right).encode("utf-16"), None, "UTF-8"),
    "list": (lambda right, blank: b"[1, 2]", None, "not a notebook"),
    "odd-cells": (lambda right, blank: b'{"cells": [1, null], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', None, "not a notebook"),
    "odd-metadata": (lambda right, blank: changed(right, lambda nb: nb.update(metadata=[])), None, "not a notebook"),
    "odd-marks": (lambda right, blank: changed(right, lambda nb: nb.cells[3].metadata.update(nbgrader="x")), None, "not a notebook"),
    "odd-stamp": (lambda right, blank: changed(right, lambda nb: nb.metadata.update(course=[["chapter", {}]])), None, "not a notebook"),
    "future": (lambda right, blank: changed(right, lambda nb: nb.update(nbformat=9)), None, "not a notebook"),
    "deep": (lambda right, blank: b"[" * 100_000, None, "damaged"),
}


def retype(cell):
    cell.cell_type = "markdown"
    del cell["outputs"], cell["execution_count"]


def flip_flags(nb):
    cell_of(nb, "toy-total-test").metadata.nbgrader.update(grade=False)


def strip_metadata(nb):
    for cell in nb.cells:
        cell.metadata = {}


@pytest.fixture(scope="module")
def graded(prepared, tmp_path_factory):
    toy = Class(shutil.copytree(prepared, tmp_path_factory.mktemp("class") / "course"))
    for name, (make, *_) in ZOO.items():
        toy.hand_in(f"{name}.ipynb", make(toy.right, toy.released))
    toy.grade()
    return toy


@pytest.mark.parametrize("student", ZOO)
def test_each_submission_gets_what_it_deserves(graded, student):
    _, points, words = ZOO[student]
    row = graded.rows()[student]
    if points is None:
        assert (row.status, row.questions) == ("failed", ())
        assert words in row.reason
        assert graded.scores(student) is None, "a failed submission must not count as graded"
        assert not graded.place.autograded(student, graded.chapter).exists()
    else:
        assert (row.status, row.points) == ("graded", points)
        assert [question.cell for question in row.questions] == list(RIGHT)
        assert words in "; ".join(row.flags) if words else row.flags == ()
        assert sum(graded.scores(student).values()) == points
    sent = (graded.handed_in / f"{student}.ipynb").read_bytes()
    assert graded.place.submitted(student, graded.chapter).read_bytes() == sent


def test_the_csv_has_every_student_and_every_question(graded):
    rows = graded.csv()
    assert set(rows) == set(ZOO)
    assert list(rows["right"]) == ["student", "toy.double", "toy.total", "total", "max", "status", "reason", "flags"]
    assert list(rows["half"].values()) == ["half", "2", "0", "2", "3", "graded", "", ""]
    assert [rows["cut"][column] for column in ("toy.double", "toy.total", "total", "max", "status")] == ["", "", "", "3", "failed"]
    assert "breaks off" in rows["cut"]["reason"]


def test_messages_are_what_the_tests_said(graded):
    messages = {question.cell: question.message for question in graded.rows()["half"].questions}
    assert messages["toy-double-test"] == ""
    assert messages["toy-total-test"].startswith("NotImplementedError: write your answer here")
    assert graded.rows()["knows-the-visible"].questions[1].message.startswith("double(number) gave 0, expected 20")
    assert "did not come to its end in time" in graded.rows()["loops"].questions[2].message
    assert "NameError" in graded.rows()["deletes-answer"].questions[2].message


def test_every_student_has_a_page(graded):
    for student, (_, points, words) in ZOO.items():
        page = graded.place.feedback(student, graded.chapter).read_text()
        if points is None:
            assert words in page


def test_the_log_is_a_file_and_not_the_terminal(toy, capfd):
    toy.hand_in("exits.ipynb", answer(toy.right, "toy-total", "import os\nos.write(2, b'noise')\nos._exit(0)"))
    toy.hand_in("warns.ipynb", answer(toy.right, "toy-double", WARNS))
    toy.grade()
    out, err = capfd.readouterr()
    assert err == ""
    assert "noise" not in out
    assert "1 graded, 1 failed, 0 missing" in out
    assert "DeadKernelError" in toy.place.log.read_text()


@pytest.mark.parametrize(
    ("patience", "source"),
    [
        ({"cell": 1, "iopub": 1}, "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except KeyboardInterrupt: pass"),
        ({"notebook": 2}, "import time\ntime.sleep(2.5)"),
    ],
)
def test_a_notebook_that_does_not_end(toy, monkeypatch, patience, source):
    for what, seconds in patience.items():
        monkeypatch.setitem(PATIENCE, what, seconds)
    toy.hand_in("ann.ipynb", answer(toy.right, "toy-total", source))
    assert "did not come to its end" in toy.grade()["ann"].reason
    assert toy.scores("ann") is None


# --- again ---


def test_a_second_run_replaces_the_first(toy):
    toy.hand_in("ann.ipynb", toy.right)
    assert toy.grade()["ann"].points == 3
    first = toy.place.grades(toy.chapter).read_bytes()
    assert toy.grade()["ann"].points == 3
    assert toy.place.grades(toy.chapter).read_bytes() == first
    toy.hand_in("ann.ipynb", without(toy.released, "toy-double-test"))
    assert toy.grade()["ann"].points == 0
    assert set(toy.scores("ann").values()) == {0}
    toy.hand_in("ann.ipynb", b"broken")
    assert toy.grade()["ann"].status == "failed"
    assert toy.scores("ann") is None
    toy.hand_in("ann.ipynb", toy.right)
    assert toy.grade()["ann"].points == 3


def test_a_score_entered_by_hand_survives(toy):
    toy.hand_in("ann.ipynb", toy.released)
    toy.grade()
    with toy.gradebook() as gradebook:
        found = gradebook.find_grade("toy-total-test", "01_toy", "01_toy", "ann")
        found.manual_score, found.needs_manual_grade = 0.5, False
        gradebook.db.commit()
    row = toy.grade()["ann"]
    assert (row.points, row.flags) == (0.5, ("scored by hand: toy-total-test",))
    assert toy.csv()["ann"]["toy.total"] == "0.5"
    toy.hand_in("ann.ipynb", b"broken")
    assert toy.grade()["ann"].status == "failed"
    assert toy.scores("ann") == {"toy-double-test": 0, "toy-double-test-2": 0, "toy-total-test": 0.5}
    toy.hand_in("ann.ipynb", toy.right)
    assert toy.grade()["ann"].points == 2.5


def test_one_student_alone(toy):
    toy.hand_in("ann.ipynb", toy.right)
    toy.hand_in("bob smith.ipynb", toy.released)
    toy.grade()
    toy.hand_in("ann.ipynb", toy.released)
    toy.hand_in("bob smith.ipynb", toy.right)
    rows = toy.grade(only="Bob Smith")
    assert {student: row.points for student, row in rows.items()} == {"ann": 3, "bob_smith": 3}
    assert {student: row["total"] for student, row in toy.csv().items()} == {"ann": "3", "bob_smith": "3"}
    with pytest.raises(CourseError, match=r"no submission of 'cy' .*ann, bob_smith"):
        toy.grade(only="cy")


def test_a_late_folder_adds_to_the_class_and_a_roster_names_the_rest(toy, tmp_path):
    (tmp_path / "roster.csv").write_text("student\nann\nbob\ncy\n")
    toy.hand_in("ann.ipynb", toy.right)
    toy.hand_in("mallory.ipynb", toy.right)
    rows = toy.grade(roster=tmp_path / "roster.csv")
    assert {student: row.status for student, row in rows.items()} == {
        "ann": "graded",
        "bob": "missing",
        "cy": "missing",
        "mallory": "failed",
    }
    assert rows["bob"].reason == "nothing handed in"
    assert toy.scores("mallory") is None
    toy.handed_in = tmp_path / "late"
    toy.hand_in("bob.ipynb", toy.right)
    toy.hand_in("cy.ipynb", b"broken")
    rows = toy.grade(roster=tmp_path / "roster.csv")
    assert {student: row.status for student, row in rows.items()} == {"ann": "graded", "bob": "graded", "cy": "failed", "mallory": "failed"}
    (toy.handed_in / "cy.ipynb").unlink()
    assert toy.grade(roster=tmp_path / "roster.csv")["cy"].status == "missing"


def test_a_row_whose_file_got_a_better_name_goes(toy, tmp_path):
    toy.hand_in("what.pdf", b"")
    toy.hand_in("ann.ipynb", toy.right)
    assert set(toy.grade()) == {"ann", "what"}
    (toy.handed_in / "what.pdf").unlink()
    toy.hand_in("bob.ipynb", toy.right)
    assert set(toy.grade()) == {"ann", "bob"}


def test_a_student_who_is_not_in_the_roster_any_more_is_kept_and_flagged(toy, tmp_path):
    toy.hand_in("ann.ipynb", toy.right)
    toy.grade()
    (tmp_path / "roster.csv").write_text("student,file\ns1,ann.ipynb\n")
    toy.grade(roster=tmp_path / "roster.csv")
    assert {student: row["flags"] for student, row in toy.csv().items()} == {"ann": "not in the roster", "s1": ""}


def test_a_problem_of_a_graded_student_takes_the_old_score_back(toy):
    toy.hand_in("ann.ipynb", toy.right)
    toy.grade()
    toy.hand_in("ann/01_toy.ipynb", toy.right)
    assert "2 notebooks" in toy.grade()["ann"].reason
    assert toy.scores("ann") is None
    assert len(list(toy.place.everything("ann", toy.chapter).rglob("*.ipynb"))) == 2


def test_files_beside_the_notebook_are_kept_but_not_run(toy):
    toy.hand_in("ann/01_toy.ipynb", toy.right)
    toy.hand_in("ann/ipykernel_launcher.py", b"raise SystemExit('mine')")
    toy.hand_in("ann/torch.py", b"raise SystemExit('mine')")
    row = toy.grade()["ann"]
    assert (row.points, len(row.flags)) == (3, 2)
    assert (toy.place.everything("ann", toy.chapter) / "ann" / "torch.py").exists()


def test_an_interrupted_run_leaves_no_half_and_can_be_taken_up(toy, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    toy.hand_in("ann.ipynb", toy.right)
    toy.hand_in("bob.ipynb", toy.right)
    with monkeypatch.context() as patch:
        patch.setattr(autograde, "_scores", interrupted)
        with pytest.raises(KeyboardInterrupt):
            toy.grade()
    assert toy.scores("ann") is None
    assert [path.name for path in toy.place.root.glob("collected-*")] == []
    assert {student: row.points for student, row in toy.grade().items()} == {"ann": 3, "bob": 3}


# --- the assignment ---


def test_the_source_of_a_release_is_kept(toy):
    assignment = toy.place.prepare(toy.course, toy.chapter)
    kept = notebook.read(toy.place.root / "releases" / "01_toy" / f"{assignment.release}.ipynb")
    assert kept == notebook.read(toy.chapter.source)
    assert assignment.exercises == {"toy.double": 2, "toy.total": 1}
    assert assignment.nb.metadata.course == {"chapter": "01_toy", "release": assignment.release}
    assert not any(notebook.is_for_authors(cell) or "HIDDEN" in cell.source for cell in assignment.nb.cells)


def test_other_cells_after_grading_are_refused_and_nothing_is_lost(toy):
    toy.hand_in("ann.ipynb", toy.right)
    toy.grade()
    grades = toy.place.grades(toy.chapter).read_bytes()
    source = without(notebook.read(toy.chapter.source), "toy-double-test-2")
    cell_of(source, "toy-total-test").metadata.nbgrader.grade_id = "toy-total-test-3"
    notebook.write(source, toy.chapter.source)
    with pytest.raises(CourseError, match=r"new: toy-total-test-3; gone: toy-double-test-2, toy-total-test") as error:
        toy.grade()
    assert "renaming" in str(error.value)
    assert toy.scores("ann") == RIGHT
    assert toy.place.grades(toy.chapter).read_bytes() == grades
    assert toy.place.submitted("ann", toy.chapter).exists()
    toy.place.root.rename(toy.place.root.with_name("class-old"))
    assert toy.grade()["ann"].status == "graded"


def test_another_text_after_grading_is_taken_and_flagged(toy):
    toy.hand_in("ann.ipynb", toy.right)
    toy.hand_in("bob.ipynb", toy.right)
    toy.grade()
    source = notebook.read(toy.chapter.source)
    cell_of(source, "toy-double-test").source += "\nexpect(double(1)).equals(2)"
    notebook.write(source, toy.chapter.source)
    toy.grade(only="ann")
    flags = {student: row["flags"] for student, row in toy.csv().items()}
    assert "made from release" in flags["ann"]
    assert "which is not the present one" in flags["bob"]


def test_a_source_that_nbgrader_refuses(toy):
    source = notebook.read(toy.chapter.source)
    cell_of(source, "toy-total").metadata.nbgrader.grade_id = "toy-double"
    notebook.write(source, toy.chapter.source)
    toy.hand_in("ann.ipynb", toy.right)
    with pytest.raises(CourseError, match="nbgrader refuses the source"):
        toy.grade()


def test_a_path_that_nbgrader_would_read_as_a_pattern(toy, tmp_path):
    with pytest.raises(CourseError, match="move the course"):
        ClassFolder(tmp_path / "a[1]" / "class").prepare(toy.course, toy.chapter)


def test_no_source(toy):
    toy.chapter.source.unlink()
    toy.hand_in("ann.ipynb", toy.right)
    with pytest.raises(CourseError, match="has no source"):
        grade(toy.course, toy.chapter, toy.handed_in)


def test_an_empty_folder(toy):
    toy.handed_in.mkdir()
    with pytest.raises(CourseError, match="nothing was handed in"):
        grade(toy.course, toy.chapter, toy.handed_in)


# --- the CSV ---


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "\r\n=1", "  =1", "|x", "＝1"])
def test_no_cell_is_a_formula(text):
    row = Graded("ann", "failed", reason=text, flags=(text,))
    [parsed] = csv.DictReader(io.StringIO(csv_text([row], {"toy.double": 2})))
    assert parsed["reason"].startswith("'")
    assert parsed["flags"].startswith("'")


def test_what_csv_quotes(toy):
    row = Graded("ann", "graded", questions=(Question("toy.double", "c", 0.5, 2, ""),), flags=('a, "b"', "c\nd"))
    [parsed] = csv.DictReader(io.StringIO(csv_text([row], {"toy.double": 2})))
    assert (parsed["toy.double"], parsed["total"], parsed["max"], parsed["flags"]) == ("0.5", "0.5", "2", 'a, "b"; c d')


def test_rows_come_back_as_they_were_stored(graded):
    row = graded.rows()["knows-the-visible"]
    assert isinstance(row, Graded)
    assert all(isinstance(question, Question) for question in row.questions)
    assert dataclasses.replace(row) == row


def test_a_kernel_that_did_not_start_is_tried_again(toy, tmp_path, monkeypatch):
    """On a busy machine two kernels choose one port, or one is too slow: that says nothing of the notebook."""
    place, chapter = ClassFolder(toy.course.root / "class"), toy.course.chapters[0]
    put(tmp_path / "right.ipynb", toy.right)
    real, failures = autograde.run_step, [RuntimeError("Kernel died before replying to kernel_info")]
    monkeypatch.setattr(autograde, "run_step", lambda *arguments: failures.pop() if failures else real(*arguments))
    assert autograde.autograde_notebook(place, chapter, "right", tmp_path / "right.ipynb").status == "graded"
    monkeypatch.setattr(autograde, "run_step", lambda *_: RuntimeError("Kernel didn't respond in 180 seconds"))
    row = autograde.autograde_notebook(place, chapter, "right", tmp_path / "right.ipynb")
    assert row.status == "failed" and "The notebook is not to blame" in row.reason
