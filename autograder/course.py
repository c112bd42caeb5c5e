"""Where things are: the course folder, its chapters and its settings."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CHAPTER_NAME = re.compile(r"(?P<number>\d\d)_(?P<topic>[a-z][a-z0-9_]*)")


class CourseError(Exception):
    """Something the person at the keyboard can put right; the message says what is wrong and what would be right."""


@dataclass(frozen=True)
class Chapter:
    """One chapter, by the name its folder and its notebook carry (`01_counting`)."""

    course: Course
    name: str

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def topic(self) -> str:
        return self.name[3:]

    @property
    def source(self) -> Path:
        """The solution notebook, written by people."""
        return self.course.root / "solutions" / self.name / f"{self.name}.ipynb"

    @property
    def released(self) -> Path:
        """The student notebook, written by `course build`."""
        return self.course.root / "chapters" / self.name / f"{self.name}.ipynb"

    @property
    def module(self) -> Path:
        """The library module, written by `course build`."""
        return self.course.root / "paramshare" / f"{self.topic}.py"

    @property
    def working_copy(self) -> Path:
        """The student's own copy, made by `course lab` and written by nobody else."""
        return self.course.root / "work" / self.name / f"{self.name}.ipynb"


@dataclass(frozen=True)
class Course:
    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Course:
        """The course around `start` (the current folder), else the one this package was installed from."""
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents, Path(__file__).resolve().parents[1]):
            if _course_settings(folder) is not None:
                return cls(folder)
        raise CourseError(
            f"no course here: neither {start} nor a folder above it has a pyproject.toml with a [tool.course] table. "
            "Run the command inside a clone of the course."
        )

    @cached_property
    def settings(self) -> dict:
        return _course_settings(self.root) or {}

    @property
    def repository(self) -> str:
        """Where the course is published; empty while nobody has said so."""
        return self.settings.get("repository", "").removesuffix("/").removesuffix(".git")

    @cached_property
    def chapters(self) -> tuple[Chapter, ...]:
        """Every chapter that has a source, in order."""
        sources = sorted((self.root / "solutions").glob("*/*.ipynb"))
        return tuple(Chapter(self, path.stem) for path in sources if path.parent.name == path.stem and CHAPTER_NAME.fullmatch(path.stem))

    def chapter(self, word: str) -> Chapter:
        """The chapter called `word`: its number (`1`, `01`), its topic (`counting`) or its whole name."""
        for chapter in self.chapters:
            if word in (chapter.name, chapter.topic) or (word.isdecimal() and int(word) == int(chapter.number)):
                return chapter
        known = ", ".join(chapter.name for chapter in self.chapters) or "none yet"
        raise CourseError(f"no chapter {word!r}; there are: {known}")

    def shown(self, path: Path) -> str:
        """`path` as a message names it: from the root of the course, with `/`."""
        return path.relative_to(self.root).as_posix()

    def chosen(self, word: str | None) -> tuple[Chapter, ...]:
        """The chapter called `word`, or all of them."""
        return self.chapters if word is None else (self.chapter(word),)


def _course_settings(folder: Path) -> dict | None:
    try:
        with open(folder / "pyproject.toml", "rb") as file:
            return tomllib.load(file).get("tool", {}).get("course")
    except FileNotFoundError:
        return None
