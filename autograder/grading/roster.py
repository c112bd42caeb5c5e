"""The class list: a CSV with the column `student`, and any of `name`, `email` and `file`."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from autograder.course import CourseError
from autograder.grading.names import clean, letters, same_id


class NotFound(Exception):
    """The roster does not say whose a file is; the message says why."""


@dataclass(frozen=True)
class Entry:
    """One line of the roster. `file` is the name, or a pattern of names, of what this student handed in."""

    student: str
    name: str = ""
    email: str = ""
    file: str = ""

    @property
    def id(self) -> str:
        return clean(self.student)

    @cached_property
    def words(self) -> tuple[set[str], ...]:
        """How this student may be called, surest first: by id, by address, by name with any part of it first (Canvas: `lastfirst`)."""
        parts = [letters(part) for part in self.name.replace(",", " ").split()]
        names = {"".join(parts[i:] + parts[:i]) for i in range(len(parts))}
        return {letters(self.student)} - {""}, {letters(self.email), letters(self.email.partition("@")[0])} - {""}, names - {""}

    def names_file(self, parts: tuple[str, ...]) -> bool:
        """Is it this file (or its folder, or its zip) that the column `file` names?"""
        paths = ("/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1))
        return bool(self.file) and any(path == self.file or fnmatchcase(path, self.file) for path in paths)


@dataclass(frozen=True)
class Roster:
    entries: tuple[Entry, ...]

    @classmethod
    def read(cls, path: Path) -> Roster:
        rows = csv.DictReader(io.StringIO(text := _text(path), newline=""), delimiter=_delimiter(text))
        columns = {(column or "").strip().casefold(): column for column in rows.fieldnames or ()}
        if "student" not in columns:
            raise CourseError(f"{path}: a roster needs a column `student` (and may have `name`, `email`, `file`); it has: {list(columns)}")
        wanted = {field: columns[field] for field in ("student", "name", "email", "file") if field in columns}
        entries = [Entry(**{field: (row[column] or "").strip() for field, column in wanted.items()}) for row in rows]
        if nameless := [entry for entry in entries if not entry.id and any((entry.student, entry.name, entry.email, entry.file))]:
            raise CourseError(f"{path}: a line of the roster has no usable `student`: {nameless[0]}")
        return cls(tuple(entry for entry in entries if entry.id))

    @cached_property
    def doubled(self) -> dict[str, str]:
        """For each id that several lines have, or that would be one file name: why no one can be graded by it."""
        lines = Counter(same_id(entry.id) for entry in self.entries)
        return {
            same_id(entry.id): "the roster has this student on several lines (" + ", ".join(self._written(entry)) + "): keep one line"
            for entry in self.entries
            if lines[same_id(entry.id)] > 1
        }

    def _written(self, entry: Entry) -> list[str]:
        return [repr(other.student) for other in self.entries if same_id(other.id) == same_id(entry.id)]

    def owner(self, parts: tuple[str, ...], words: list[str]) -> Entry:
        """Whose the file at `parts` is: by the column `file`, else by the first of `words` that is a student's."""
        named = [entry for entry in self.entries if entry.names_file(parts)]
        if len({entry.id for entry in named}) > 1:
            raise NotFound(f"the roster's column `file` gives it to several: {', '.join(entry.student for entry in named)}")
        if named:
            return named[0]
        for word in map(letters, words):
            for surest in range(3):
                called = [entry for entry in self.entries if word and word in entry.words[surest]]
                if len({entry.id for entry in called}) > 1:
                    raise NotFound(f"several students are called so: {', '.join(entry.student for entry in called)}; name it in `file`")
                if called:
                    return called[0]
        raise NotFound("not in the roster: correct the roster, or name this file in its column `file`")


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CourseError(f"the roster {path} cannot be read: {error.strerror}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")  # how Excel saves a CSV


def _delimiter(text: str) -> str:
    """What separates the columns of the head line: Excel writes `;` in half of Europe."""
    head = text.partition("\n")[0]
    return max(",;\t", key=head.count)
