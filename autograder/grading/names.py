"""Whose file is it: what the names that learning platforms give to downloads say, and ids that are safe everywhere."""

from __future__ import annotations

import re
import unicodedata

LONGEST_ID = 60

# Canvas: lastfirst_12345_67890_file.ipynb, with _LATE_ for late ones.
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<user>\d+)_\d+(_.+)?", re.DOTALL)
# Moodle: "First Last_1234567_assignsubmission_file_" as a folder, or with the file's name behind it.
_MOODLE = re.compile(r"(?P<name>.+?)_\d+_assignsubmission_[a-z]+_?.*", re.DOTALL)
# What a browser, a desktop or Jupyter adds to the second copy of a file.
_COPY = re.compile(r"( ?\(\d+\)| copy( \d+)?|-Copy\d+)$", re.IGNORECASE)
# Folders that say nothing about a person.
_NOBODY = {"work", "chapters"}
# Names that Windows keeps for devices.
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)}


def clean(name: str) -> str:
    """`name` as an id: letters of any script, digits and `_ - . @` alone, so that every tool and file system takes it.

    nbgrader finds submissions with globs, which brackets and stars break. Two names can become one id; `same_id` finds that.
    """
    name = unicodedata.normalize("NFC", name)
    safe = "".join(char if unicodedata.category(char)[0] in "LMN" or char in "-.@" else "_" for char in name)
    safe = re.sub(r"_+", "_", safe).strip("_-.@")[:LONGEST_ID].rstrip("_-.@")
    return f"{safe}_" if safe.split(".")[0].casefold() in _DEVICES else safe


def same_id(id: str) -> str:
    """What two ids have in common when a file system or a reader could take one for the other."""
    return unicodedata.normalize("NFKC", id).casefold()


def letters(text: str) -> str:
    """`text` as names are compared: letters and digits alone, no case, no accents."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(char for char in plain.casefold() if char.isalnum())


def is_chapter(stem: str, chapter: str) -> bool:
    """Does a file's name without suffix say which chapter it is, and nothing else (`01_counting (1)`)?"""
    return letters(without_copy_mark(stem)) == letters(chapter)


def without_copy_mark(stem: str) -> str:
    return _COPY.sub("", stem).strip()


def from_platform(name: str, chapter: str) -> list[str]:
    """What a name given by Canvas or Moodle says of its owner, best first; empty for any other name."""
    if match := _MOODLE.fullmatch(name):
        return [match["name"]]
    if match := _CANVAS.fullmatch(_without_chapter(name, chapter)):  # student_1_10_topic is no name of Canvas's
        return [match["name"], match["user"]]
    return []


def from_folder(name: str, chapter: str) -> list[str]:
    if name.casefold() in _NOBODY or is_chapter(name, chapter):
        return []
    return from_platform(name, chapter) or [name]


def from_stem(stem: str, chapter: str) -> list[str]:
    """What a file's own name says: `ann_01_counting` and `ann (1)` are Ann's, `01_counting` is anybody's."""
    if is_chapter(stem, chapter):
        return []
    return from_platform(stem, chapter) or [_without_chapter(stem, chapter)]


def _without_chapter(stem: str, chapter: str) -> str:
    return re.sub(rf"[ _-]+{re.escape(chapter)}$", "", without_copy_mark(stem), flags=re.IGNORECASE)
