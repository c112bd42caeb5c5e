"""From a folder of submissions to grades and feedback, as an instructor does it: the real command, on a real chapter."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from submissions import filled, put, solutions
from toy import toy_course

from autograder import notebook
from autograder.course import Chapter, Course
from autograder.grading.hidden_tests import Parts
from autograder.grading.results import GRADED

REAL = Course(Path(__file__).resolve().parents[1])
ROSTER = "student,name\nright,Rita Right\nhalf,Hal Half\nblank,Bo Blank\nbroken,Bea Broken\nabsent,Abe Absent\n"


@pytest.fixture(params=["toy", REAL.chapters[0].topic])  # the others are graded by the proofs of test_chapters.py
def chapter(request, tmp_path) -> Chapter:
    """A chapter in a course of its own, built, so that no class folder of anybody is touched."""
    if request.param == "toy":
        course = toy_course(tmp_path)
    else:
        course = Course(tmp_path)
        shutil.copy(REAL.root / "pyproject.toml", tmp_path)
        source = REAL.chapter(request.param).source
        shutil.copytree(source.parent, tmp_path / "solutions" / source.stem)
    run(course, "build")
    [chapter] = course.chapters
    return chapter


def run(course: Course, *arguments: object) -> str:
    """Run `course`, in an environment that nobody activated."""
    command = [Path(sys.executable).with_name("course"), *map(str, arguments)]
    kept = {name: os.environ[name] for name in ("HOME", "SYSTEMROOT", "TMPDIR", "OMP_NUM_THREADS") if name in os.environ}
    done = subprocess.run(command, cwd=course.root, env=kept | {"PATH": os.defpath}, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


def points_by_exercise(nb: NotebookNode) -> dict[str, float]:
    points: dict[str, float] = {}
    for cell in filter(notebook.is_test, nb.cells):
        exercise = notebook.exercise_of(notebook.grade_id(cell))
        points[exercise] = points.get(exercise, 0) + notebook.grading(cell)["points"]
    return points


def test_a_class_is_graded(chapter):
    released, answers = notebook.read(chapter.released), solutions(chapter)
    most = points_by_exercise(released)
    first = dict(list(answers.items())[: len(answers) // 2])
    want = {"right": most, "half": {x: most[x] for x in most if x in map(notebook.exercise_of, first)}, "blank": {}}
    handed_in = chapter.course.root / "handed in"
    put(handed_in / f"right_12_34_{chapter.name}.ipynb", filled(released, answers))
    put(handed_in / "Hal Half_123_assignsubmission_file_" / "final.ipynb", filled(released, first))
    put(handed_in / f"blank_{chapter.name}.ipynb", released)
    put(handed_in / "broken.ipynb", notebook.dumps(released)[:1000])
    (chapter.course.root / "roster.csv").write_text(ROSTER)

    said = run(chapter.course, "grade", chapter.number, handed_in, "--roster", "roster.csv")

    assert "3 graded, 1 failed, 1 missing" in said
    check_csv(chapter, most, want)
    check_gradebook(chapter, most, want)
    check_pages(chapter, most, want)

    before = (chapter.course.root / "class" / "grades" / f"{chapter.name}.csv").read_bytes()
    put(handed_in / "broken.ipynb", filled(released, answers))
    run(chapter.course, "grade", chapter.topic, handed_in, "--roster", "roster.csv", "--only", "broken")
    after = (chapter.course.root / "class" / "grades" / f"{chapter.name}.csv").read_bytes()
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert [line.split(b",")[0] for line in changed] == [b"broken"]
    check_gradebook(chapter, most, want | {"broken": most})


def check_csv(chapter: Chapter, most: dict, want: dict) -> None:
    text = (chapter.course.root / "class" / "grades" / f"{chapter.name}.csv").read_text(encoding="utf-8")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text))}
    assert set(rows) == {"right", "half", "blank", "broken", "absent"}
    for student, points in want.items():
        assert rows[student]["status"] == GRADED, rows[student]
        assert {exercise: float(rows[student][exercise]) for exercise in most} == dict.fromkeys(most, 0) | points
        assert float(rows[student]["total"]) == sum(points.values())
        assert (float(rows[student]["max"]), rows[student]["reason"], rows[student]["flags"]) == (sum(most.values()), "", "")
    assert (rows["broken"]["status"], rows["broken"]["total"]) == ("failed", "")
    assert "not JSON" in rows["broken"]["reason"]
    assert (rows["absent"]["status"], rows["absent"]["reason"]) == ("missing", "nothing handed in")


def check_gradebook(chapter: Chapter, most: dict, want: dict) -> None:
    with Gradebook(f"sqlite:///{chapter.course.root / 'class' / 'gradebook.db'}", "paramshare") as gradebook:
        submissions = {submission.student.id: submission for submission in gradebook.assignment_submissions(chapter.name)}
        assert {student: submission.score for student, submission in submissions.items()} == {
            student: sum(points.values()) for student, points in want.items()
        }
        assert {submission.max_score for submission in submissions.values()} == {sum(most.values())}
        assert not any(submission.needs_manual_grade for submission in submissions.values())


def check_pages(chapter: Chapter, most: dict, want: dict) -> None:
    pages = {path.parent.name: path.read_text() for path in (chapter.course.root / "class" / "feedback").glob(f"*/{chapter.name}.html")}
    assert set(pages) == {"right", "half", "blank", "broken", "absent"}
    for student, points in want.items():
        assert f"(Score: {float(sum(points.values()))} / {float(sum(most.values()))})" in pages[student]
    assert "NotImplementedError" in pages["blank"]
    assert "not JSON" in pages["broken"]
    for page in pages.values():
        shown = unescape(re.sub(r"<[^>]+>", "", page))
        assert [line for line in hidden_lines(chapter) if line in shown] == []


def hidden_lines(chapter: Chapter) -> list[str]:
    """The lines of hidden tests that are not, by chance, what a student sees too."""
    cells = notebook.read(chapter.source).cells
    seen = "\n".join(cell.source for cell in notebook.read(chapter.released).cells) + "\n".join(solutions(chapter).values())
    lines = [line.strip() for cell in cells if notebook.is_test(cell) for line in Parts.of(cell.source).hidden.split("\n")]
    return [line for line in lines if len(line) > 12 and line not in seen]
