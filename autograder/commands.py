"""The commands of `course`, for Typer. Each one parses, calls the module that does the work, and prints what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

from autograder.course import Course, CourseError

app = typer.Typer(
    name="course",
    help="Build, check and grade the course on parameter sharing in Transformers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

AllChapters = Annotated[str | None, typer.Argument(metavar="[NN]", help="A chapter by number, topic or name. Default: all.")]


def command(function: Callable) -> Callable:
    """Register `function` as a command whose CourseError is one clear line and exit status 1."""

    @wraps(function)
    def run(*args, **kwargs):
        try:
            ok = function(*args, **kwargs)
        except CourseError as error:
            typer.secho(f"course: {error}", fg="red", err=True)
            raise typer.Exit(1) from None
        if ok is False:
            raise typer.Exit(1)

    return app.command()(run)


# --- for students ---


@command
def lab(
    chapter: AllChapters = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    port: Annotated[int, typer.Option(help="Port of the server; another is taken when it is in use.")] = 8888,
):
    """Copy every missing chapter into work/ and open it in JupyterLab."""
    from autograder.student.lab import open_lab

    open_lab(Course.find(), chapter, browser=browser, port=port)


@command
def status(chapter: AllChapters = None):
    """Say which exercises in work/ are done, and what comes next."""
    from autograder.student.status import show_status

    return show_status(Course.find(), chapter)


@command
def doctor():
    """Report versions, torch, JupyterLab and tools, and what to do about each problem."""
    from autograder.student.doctor import show_report

    return show_report()


# --- for authors ---


@command
def build(
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 and name each file that is out of date.")] = False,
    release: Annotated[str | None, typer.Option(metavar="TAG", help="Pin what a chapter installs in Colab to this tag.")] = None,
):
    """Make chapters/ and paramshare/ from solutions/."""
    from autograder.authoring.build import build as build_course

    return build_course(Course.find(), check=check, tag=release)


@command
def run(chapter: AllChapters = None):
    """Execute source notebooks and store their outputs in canonical form."""
    from autograder.authoring.run import run as run_chapters

    return run_chapters(Course.find().chosen(chapter))


@command
def new(name: Annotated[str, typer.Argument(metavar="NN_topic", help="Number and topic, for example 09_memory_bound.")]):
    """Start a source notebook with the parts every chapter has."""
    from autograder.authoring.new import new_chapter

    new_chapter(Course.find(), name)


@command
def lint(chapter: AllChapters = None):
    """Check the form of source notebooks: cards, docstrings, alt text, grade ids, mistakes, and what tests may not do."""
    from autograder.authoring.lint import lint as lint_chapters

    return lint_chapters(Course.find().chosen(chapter))


@command
def verify(chapter: AllChapters = None):
    """Prove every exercise: solution, blank, mistakes, alternatives, and generated files."""
    from autograder.authoring.verify import verify as verify_chapters

    return verify_chapters(Course.find(), chapter)


# --- for instructors ---


@command
def grade(
    chapter: Annotated[str, typer.Argument(metavar="NN", help="The chapter, by number, topic or name.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Notebooks, folders or LMS zips as they were handed in.")],
    roster: Annotated[Path | None, typer.Option(help="CSV with a column `student`, and any of `name`, `email`, `file`.")] = None,
    only: Annotated[str | None, typer.Option(metavar="STUDENT", help="Grade this student alone.")] = None,
):
    """Grade a folder of submissions; write grades and feedback under class/."""
    from autograder.grading.grade import grade as grade_folder

    course = Course.find()
    return grade_folder(course, course.chapter(chapter), folder, roster=roster, only=only)
