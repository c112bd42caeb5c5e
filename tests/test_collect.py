"""Whose notebook is it? Downloads of learning platforms, rosters, and everything that can be wrong with a file."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from autograder.course import Chapter, Course, CourseError
from autograder.grading import handed_in
from autograder.grading.collect import NOTHING, Submission, collect
from autograder.grading.names import clean
from autograder.grading.roster import Roster

CHAPTER = Chapter(Course(Path("nowhere")), "01_toy")
NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def found(folder, tmp_path):
    """Collect `folder`, after checking that this changes nothing in it."""

    def run(roster: str | None = None) -> dict[str, Submission]:
        students = None
        if roster is not None:
            (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
            students = Roster.read(tmp_path / "roster.csv")
        staging = tmp_path / f"staging{len(list(tmp_path.iterdir()))}"
        staging.mkdir()
        before = contents(folder)
        submissions = collect(folder, CHAPTER, staging, students)
        assert contents(folder) == before
        assert all(submission.notebook is None or submission.notebook.parent == staging for submission in submissions)
        assert len({submission.student for submission in submissions}) == len(submissions)
        return {submission.student: submission for submission in submissions}

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


def put(folder: Path, name: str, content: bytes = NOTEBOOK) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def zipped(*names: str) -> bytes:
    """A zip whose members are notebooks called `names`."""
    return zipped_dict(dict.fromkeys(names, NOTEBOOK))


def zipped_dict(members: dict[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


# --- the names of the platforms ---


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("leeann_12345_67890_01_toy.ipynb", "leeann"),
        ("leeann_LATE_12345_67890_01_toy-2.ipynb", "leeann"),
        ("Ann Lee_1234567_assignsubmission_file_/01_toy.ipynb", "Ann_Lee"),
        ("Ann Lee_1234567_assignsubmission_file/whatever.ipynb", "Ann_Lee"),
        ("Ann Lee_1234567_assignsubmission_file_01_toy.ipynb", "Ann_Lee"),
        ("Zoë O'Brien-Ö_77_assignsubmission_file_/01_toy.ipynb", "Zoë_O_Brien-Ö"),
        ("ann/01_toy.ipynb", "ann"),
        ("ann/work/01_toy/01_toy.ipynb", "ann"),
        ("ann/homework.ipynb", "ann"),
        ("ann.ipynb", "ann"),
        ("ann (1).ipynb", "ann"),
        ("ann_01_toy.ipynb", "ann"),
        ("ann_01_toy (2).ipynb", "ann"),
        ("ann-01_toy-Copy1.ipynb", "ann"),
        ("student_1_01_toy.ipynb", "student_1"),
        ("ann@school.edu_01_toy.ipynb", "ann@school.edu"),
        ("安娜.ipynb", "安娜"),
        ("नीना.IPYNB", "नीना"),
    ],
)
def test_the_name_says_whose_it_is(folder, found, name, student):
    put(folder, name)
    assert {id: submission.problem for id, submission in found().items()} == {student: ""}
    assert found()[student].origin == name
    assert found()[student].notebook.read_bytes() == NOTEBOOK


@pytest.mark.parametrize(
    ("zip_name", "members", "students"),
    [
        ("submissions.zip", ["leeann_1_2_01_toy.ipynb", "poebob_LATE_3_4_x.ipynb"], {"leeann", "poebob"}),
        (
            "Course-7.zip",
            ["Ann Lee_1_assignsubmission_file_/01_toy.ipynb", "Bob Poe_2_assignsubmission_file_/x.ipynb"],
            {"Ann_Lee", "Bob_Poe"},
        ),
        ("Course-7.zip", ["Ann Lee_1_assignsubmission_file_/01_toy.ipynb"], {"Ann_Lee"}),
        ("all.zip", ["ann/01_toy.ipynb", "bob/01_toy.ipynb"], {"ann", "bob"}),
        ("all.zip", ["ann/01_toy.ipynb"], {"ann"}),
        ("all.zip", ["ann_01_toy.ipynb", "bob_01_toy.ipynb"], {"ann", "bob"}),
        ("ann.zip", ["01_toy.ipynb"], {"ann"}),
        ("ann.zip", ["work/01_toy/01_toy.ipynb"], {"ann"}),
        ("ann.zip", ["homework.ipynb"], {"ann"}),
        ("leeann_12_34_homework.zip", ["01_toy.ipynb"], {"leeann"}),
        ("week1.zip", ["ann.ipynb", "bob.ipynb"], {"ann", "bob"}),
    ],
)
def test_a_zip_of_one_student_or_of_a_class(folder, found, zip_name, members, students):
    put(folder, zip_name, zipped(*members))
    assert {id: submission.problem for id, submission in found().items()} == dict.fromkeys(students, "")


def test_a_zip_of_zips(folder, found):
    put(folder, "all.zip", zipped_dict({"ann.zip": zipped("01_toy.ipynb"), "poebob_1_2_mine.zip": zipped("01_toy.ipynb", "data.ipynb")}))
    assert set(found()) == {"ann", "poebob"}
    assert found()["ann"].origin == "all.zip/ann.zip/01_toy.ipynb"
    assert not found()["poebob"].problem


def test_too_many_zips_in_each_other(folder, found):
    put(folder, "ann.zip", zipped_dict({"b.zip": zipped_dict({"c.zip": zipped("01_toy.ipynb")})}))
    [submission] = found().values()
    assert "zip in a zip in a zip" in submission.problem


def test_a_single_zip_or_notebook_instead_of_a_folder(folder, tmp_path):
    put(folder, "all.zip", zipped("ann/01_toy.ipynb", "bob/01_toy.ipynb"))
    assert [submission.student for submission in collect(folder / "all.zip", CHAPTER, tmp_path)] == ["ann", "bob"]


def test_no_folder_is_an_error_of_the_run(tmp_path):
    with pytest.raises(CourseError, match="there is no folder"):
        collect(tmp_path / "gone", CHAPTER, tmp_path)


# --- the roster ---

ROSTER = """\
student,name,email,file
s1,Ann Lee,ann@x.edu,
s2,"Poe, Bob Maria",bob@x.edu,
s3,Zoë Ünal,,final*.ipynb
s4,Never Here,,
"""


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("s1.ipynb", "s1"),
        ("S1/01_toy.ipynb", "s1"),
        ("leeann_1_2_x.ipynb", "s1"),
        ("ann@x.edu.ipynb", "s1"),
        ("ann/01_toy.ipynb", "s1"),
        ("poebobmaria_LATE_1_2_x.ipynb", "s2"),
        ("Bob Maria Poe_12_assignsubmission_file_/x.ipynb", "s2"),
        ("unalzoe_1_2_x.ipynb", "s3"),
        ("final version.ipynb", "s3"),
        ("week1/final.ipynb", "s3"),
        ("mallory/s1.ipynb", None),
        ("Mallory X_12_assignsubmission_file_/s1.ipynb", None),
        ("mallory_12_34_s1_01_toy.ipynb", None),
        ("mallory.zip", None),
        ("mallory_01_toy.ipynb", None),
    ],
)
def test_the_roster_wins(folder, found, name, student):
    put(folder, name, zipped("s1.ipynb") if name.endswith(".zip") else NOTEBOOK)
    submissions = found(ROSTER)
    ok = {id for id, submission in submissions.items() if not submission.problem}
    assert ok == ({student} if student else set())
    missing = {id for id, submission in submissions.items() if submission.problem == NOTHING}
    assert missing == {"s1", "s2", "s3", "s4"} - {student}
    if student is None:
        [unknown] = submissions.keys() - missing
        assert "not in the roster" in submissions[unknown].problem


def test_canvas_user_ids_can_be_the_roster_s(folder, found):
    put(folder, "leeann_12345_67890_x.ipynb")
    assert found("student\n12345\n")["12345"].problem == ""


def test_a_name_of_several_students(folder, found):
    put(folder, "ann.ipynb")
    submissions = found("student,name\ns1,Ann\ns2,Ann\n")
    assert "several students" in submissions["ann"].problem
    assert submissions["s1"].problem == submissions["s2"].problem == NOTHING


def test_a_student_on_two_lines(folder, found):
    put(folder, "s1.ipynb")
    submissions = found("student\ns1\ns1\ns2\n")
    assert "several lines" in submissions["s1"].problem
    assert submissions["s2"].problem == NOTHING


def test_the_file_column_chooses_among_several(folder, found):
    put(folder, "ann/a.ipynb")
    put(folder, "ann/b.ipynb")
    [submission] = found("student,file\nann,ann/b.ipynb\n").values()
    assert (submission.problem, submission.origin) == ("", "ann/b.ipynb")


def test_a_file_that_two_lines_claim(folder, found):
    put(folder, "team.ipynb")
    assert "several" in found("student,file\nann,team*\nbob,team.ipynb\n")["team"].problem


@pytest.mark.parametrize(
    "content", ["﻿student;name\r\ns1;Zoë\r\n".encode(), "Student \tNAME\ns1\tZoë\n".encode(), "student,name\ns1,Zoë\n\n".encode("cp1252")]
)
def test_rosters_as_spreadsheets_write_them(tmp_path, content):
    (tmp_path / "roster.csv").write_bytes(content)
    [entry] = Roster.read(tmp_path / "roster.csv").entries
    assert (entry.student, entry.name) == ("s1", "Zoë")


@pytest.mark.parametrize("content", [b"", b"name,email\nAnn,a@x\n", b"student,name\n,Ann\n"])
def test_a_roster_that_is_none(tmp_path, content):
    (tmp_path / "roster.csv").write_bytes(content)
    with pytest.raises(CourseError, match="student"):
        Roster.read(tmp_path / "roster.csv")


def test_a_roster_that_is_not_there(tmp_path):
    with pytest.raises(CourseError, match="cannot be read"):
        Roster.read(tmp_path / "roster.csv")


# --- what becomes a row with a reason ---


def test_nothing_is_left_out(folder, found):
    put(folder, "ann.pdf")
    put(folder, "bob/notes.txt")
    (folder / "cy").mkdir()
    put(folder, "01_toy.ipynb")
    put(folder, "dee/a.ipynb")
    put(folder, "dee/b.ipynb")
    reasons = {id: submission.problem for id, submission in found().items()}
    assert set(reasons) == {"ann", "bob", "cy", "01_toy", "dee"}
    assert "ann.pdf is not a notebook" in reasons["ann"]
    assert "bob/notes.txt is not a notebook" in reasons["bob"]
    assert "empty folder" in reasons["cy"]
    assert "does not say whose" in reasons["01_toy"]
    assert "2 notebooks for one student" in reasons["dee"]
    assert len(found()["dee"].files) == 2


def test_the_chapter_s_own_notebook_is_found_among_others(folder, found):
    other = json.dumps({"cells": [], "metadata": {"course": {"chapter": "02_other"}}}).encode()
    mine = json.dumps({"cells": [], "metadata": {"course": {"chapter": "01_toy"}}}).encode()
    put(folder, "ann/01_toy/01_toy.ipynb")
    put(folder, "ann/02_other/02_other.ipynb")
    put(folder, "bob/a.ipynb", other)
    put(folder, "bob/b.ipynb", mine)
    put(folder, "cy/01_toy.ipynb", mine)
    put(folder, "cy/01_toy (1).ipynb", mine)
    submissions = found()
    assert submissions["ann"].origin == "ann/01_toy/01_toy.ipynb"
    assert submissions["ann"].flags == ("also handed in: ann/02_other/02_other.ipynb",)
    assert submissions["bob"].origin == "bob/b.ipynb"
    assert "2 notebooks" in submissions["cy"].problem


def test_ids_that_collide_are_nobody_s(folder, found):
    put(folder, "Ann (Lee).ipynb")
    put(folder, "Ann [Lee].ipynb")
    put(folder, "BOB.ipynb")
    put(folder, "bob/01_toy.ipynb")
    submissions = found()
    assert len(submissions) == 2
    assert all("become one id" in submission.problem for submission in submissions.values())


def test_a_link_and_a_pipe_are_not_followed(folder, found, tmp_path):
    (tmp_path / "secret.ipynb").write_bytes(NOTEBOOK)
    (folder / "ann.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (folder / "bob").symlink_to(tmp_path)
    os.mkfifo(folder / "cy.ipynb")
    submissions = found()
    assert "link" in submissions["ann"].problem
    assert "link" in submissions["bob"].problem
    assert "not an ordinary file" in submissions["cy"].problem


def test_litter_of_systems_is_no_submission(folder, found):
    put(folder, "ann/01_toy.ipynb")
    for name in (".DS_Store", "__MACOSX/._ann.ipynb", "ann/.ipynb_checkpoints/01_toy-checkpoint.ipynb", "._ann.ipynb", "Thumbs.db"):
        put(folder, name)
    put(folder, "bob.zip", zipped("01_toy.ipynb", "__MACOSX/._01_toy.ipynb", ".DS_Store"))
    assert {id: (submission.problem, submission.flags) for id, submission in found().items()} == {"ann": ("", ()), "bob": ("", ())}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a zip"),
        (b"PK\x03\x04 and then nothing", "not a zip"),
        (zipped("01_toy.ipynb")[:-30], "not a zip"),
        (zipped(), "empty zip"),
        (zipped("../01_toy.ipynb"), "outside its folder"),
        (zipped("/etc/01_toy.ipynb"), "outside its folder"),
        (zipped("C:\\temp\\01_toy.ipynb"), "outside its folder"),
        (zipped("a\\..\\..\\01_toy.ipynb"), "outside its folder"),
        (zipped("notes.txt"), "not a notebook"),
    ],
)
def test_zips_that_cannot_be_had(folder, found, content, reason):
    put(folder, "ann.zip", content)
    put(folder, "bob.ipynb")
    submissions = found()
    assert reason in submissions["ann"].problem
    assert submissions["ann"].notebook is None
    assert not submissions["bob"].problem


def test_a_damaged_member(folder, found):
    content = bytearray(zipped("01_toy.ipynb"))
    content[content.index(b"01_toy.ipynb") + 20] ^= 1
    put(folder, "ann.zip", bytes(content))
    assert "not a zip that can be read" in found()["ann"].problem


def test_an_encrypted_zip(folder, found):
    content = bytearray(zipped("01_toy.ipynb"))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    put(folder, "ann.zip", bytes(content))
    assert "without a password" in found()["ann"].problem


def test_a_link_in_a_zip(folder, found):
    link = zipfile.ZipInfo("01_toy.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    put(folder, "ann.zip", zipped_dict({link: b"/etc/passwd"}))
    assert "link" in found()["ann"].problem


def test_files_that_are_too_large_whatever_they_claim(folder, found, monkeypatch):
    monkeypatch.setattr(handed_in, "LARGEST_FILE", 2**20)
    put(folder, "ann.ipynb", b" " * (2**20 + 1))
    put(folder, "bob.zip", zipped_dict({"01_toy.ipynb": b" " * (3 * 2**20)}))
    submissions = found()
    assert "larger than 1 MB" in submissions["ann"].problem
    assert "larger than 1 MB" in submissions["bob"].problem


def test_an_archive_has_room_for_so_much(folder, found, monkeypatch):
    monkeypatch.setattr(handed_in, "LARGEST_ARCHIVE", 2**20)
    monkeypatch.setattr(handed_in, "MOST_MEMBERS", 3)
    put(folder, "all.zip", zipped_dict({f"{name}.ipynb": bytes(2**19) for name in ("ann", "bob", "cy")}))
    assert [id for id, submission in found().items() if "larger" in submission.problem] == ["cy"]
    put(folder, "all.zip", zipped_dict({f"{name}.zip": zipped_dict({"01_toy.ipynb": bytes(2**19)}) for name in ("ann", "bob", "cy")}))
    assert [id for id, submission in found().items() if "larger" in submission.problem] == ["bob", "cy"]
    put(folder, "all.zip", zipped(*(f"{name}.ipynb" for name in "abcd")))
    assert "3 are the most" in found()["all"].problem


def test_names_in_odd_encodings(folder, found):
    utf8_unsaid = zipfile.ZipInfo("zoe.ipynb")
    content = bytearray(zipped_dict({utf8_unsaid: NOTEBOOK}))
    content = bytes(content).replace(b"zoe.ipynb", "zoë".encode()[:4].ljust(9, b"x")[:4] + b"ipynb"[:5])
    put(folder, "all.zip", zipped("ann.ipynb", "sub\\bob.ipynb"))
    put(folder, "more.zip", content)
    assert "ann" in found()
    assert all(clean(id) == id for id in found())


def test_everything_that_came_can_be_kept(folder, found, tmp_path):
    put(folder, "ann/01_toy.ipynb")
    put(folder, "ann/torch (1).py", b"print()")
    submission = found()["ann"]
    for file in (*submission.files, *submission.files):
        file.keep_in(tmp_path / "kept")
    assert sorted(path.name for path in (tmp_path / "kept").rglob("*.*")) == [
        "01_toy.ipynb",
        "_01_toy.ipynb",
        "_torch_1_.py",
        "torch_1_.py",
    ]
    assert submission.flags == ("also handed in: ann/torch (1).py",)


# --- ids ---


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Ann Lee", "Ann_Lee"),
        ("../../etc", "etc"),
        ("a[b]*?{c}", "a_b_c"),
        ("=cmd|'/c calc'!A1", "cmd_c_calc_A1"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("con", "con_"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("x" * 300, "x" * 60),
        ("a\x00b\nc", "a_b_c"),
        ("🦊", ""),
        ("a+b@c.d", "a_b@c.d"),
    ],
)
def test_clean_ids(name, id):
    assert clean(name) == id
    assert clean(id) == id
