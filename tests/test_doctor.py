"""`course doctor`: what it reports, what it calls a problem, and what it advises."""

from importlib import metadata

import pytest

from autograder.student import doctor
from autograder.student.doctor import Finding, show_report


@pytest.fixture
def report(capsys):
    """Print the report; give back its verdict and its lines."""

    def make() -> tuple[bool, list[str]]:
        verdict = show_report()
        return verdict, capsys.readouterr().out.splitlines()

    return make


def line(lines: list[str], subject: str) -> str:
    return next(line for line in lines if line[8:].startswith(subject))


def test_the_tested_environment_has_no_problem(report):
    verdict, lines = report()
    assert verdict and lines[-1] == "Everything essential is there."
    for subject in ("system", "Python", "torch", "GPU", "nbgrader", "jupyterlab", "@jupyter/nbgrader", "formgrader", "validate_assignment"):
        assert line(lines, subject).startswith("ok")


def test_it_is_plain_text_to_paste(report):
    _, lines = report()
    assert all(text.isprintable() for text in lines)


def test_a_version_out_of_bounds_is_a_problem_with_a_cure(report, monkeypatch):
    real = metadata.version
    monkeypatch.setattr(doctor.metadata, "version", lambda name: "0.8.1" if name == "nbgrader" else real(name))
    verdict, lines = report()
    found = line(lines, "nbgrader")
    assert not verdict and lines[-1] == "1 problem found."
    assert found.startswith("PROBLEM") and "0.8.1" in found
    assert "the course needs <0.10,>=0.9.5" in lines[lines.index(found) + 1]


def test_a_missing_package_is_a_problem(report, monkeypatch):
    real = metadata.version

    def version(name: str) -> str:
        if name == "jupyterlab":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor.metadata, "version", version)
    verdict, lines = report()
    assert not verdict and "not installed" in line(lines, "jupyterlab")


def test_a_missing_tool_is_a_note_and_no_problem(report, monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda program, path=None: "/usr/bin/alembic" if program == "alembic" else None)
    verdict, lines = report()
    assert verdict
    assert line(lines, "sandbox").startswith("note")
    assert "bubblewrap" in lines[lines.index(line(lines, "sandbox")) + 1]


def test_what_cannot_be_looked_at_is_a_problem_and_the_rest_is_still_reported(report, monkeypatch):
    def _torch():
        raise ImportError("libtorch_cpu.so: cannot open shared object file")

    monkeypatch.setattr(doctor, "_torch", _torch)
    verdict, lines = report()
    assert not verdict and any("libtorch_cpu.so" in text for text in lines)
    assert line(lines, "alembic").startswith("ok")


def test_outside_a_course_it_says_where_to_go(monkeypatch):
    def find(start=None):
        raise doctor.CourseError("no course here")

    monkeypatch.setattr(doctor.Course, "find", find)
    assert list(doctor._work()) == [Finding("course", "not found", "no course here")]


def test_a_work_folder_that_cannot_be_written_is_a_problem(tmp_path, monkeypatch):
    def refuse(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    assert "make" in doctor._writable(tmp_path / "work").cure
