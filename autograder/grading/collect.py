"""From a folder as it was downloaded to one submission a student."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from autograder.course import Chapter, CourseError
from autograder.grading.handed_in import File, Reader, is_zip
from autograder.grading.names import clean, from_folder, from_platform, from_stem, is_chapter, same_id
from autograder.grading.roster import NotFound, Roster

NOTHING = "nothing handed in"


@dataclass(frozen=True)
class Submission:
    """What one student handed in. `notebook` is a private copy, None when `problem` says why; `files` is everything that came."""

    student: str
    notebook: Path | None
    origin: str
    problem: str = ""
    flags: tuple[str, ...] = ()
    files: tuple[File, ...] = ()

    @property
    def is_missing(self) -> bool:
        return not self.files


@dataclass(frozen=True)
class _Owned:
    """A file with its owner's id. `called`: by what name, before the id was made safe. `named`: by the roster's column `file`."""

    file: File
    student: str
    called: str
    problem: str = ""
    named: bool = False


def collect(
    folder: Path, chapter: Chapter, staging: Path, roster: Roster | None = None, besides: Path | None = None
) -> tuple[Submission, ...]:
    """One submission for each student found in `folder` or in the roster, by id; copies go to `staging`. The file `besides` is none.

    Nothing is left out: what cannot be graded is a submission with a problem.
    """
    if not folder.exists():
        raise CourseError(f"there is no folder {folder}")
    files = list(Reader(staging, besides).files(folder))
    own_zips = _zips_of_one_student(files, chapter)
    groups: dict[str, list[_Owned]] = defaultdict(list)
    for file in files:
        owned = _owned(file, _words(file, chapter, own_zips), roster)
        groups[same_id(owned.student)].append(owned)
    submissions = [_submission(group, chapter, roster) for group in groups.values()]
    missing = [entry.id for entry in (roster.entries if roster else ()) if same_id(entry.id) not in groups]
    submissions += [Submission(student, None, "", NOTHING) for student in dict.fromkeys(missing)]
    return tuple(sorted(submissions, key=lambda submission: submission.student))


# --- whose is it? ---


def _words(file: File, chapter: Chapter, own_zips: set[tuple[str, ...]]) -> list[str]:
    """What may name the owner of `file`, best first.

    A platform's own naming is sure. Else whoever has a folder, or a zip, hands in what is in it. Else the file says it, or a class's zip.
    """
    holders = file.parts[:-1]
    for name in (*map(_without_zip, holders), file.stem):
        if platform := from_platform(name, chapter.name):
            return platform
    inner = max((i + 1 for i, holder in enumerate(holders) if is_zip(holder)), default=0)
    folders = [word for holder in holders[inner:] for word in from_folder(holder, chapter.name)]
    own, others = [], []
    for i in reversed(range(inner)):
        (own if file.parts[: i + 1] in own_zips else others).extend(from_folder(_without_zip(holders[i]), chapter.name))
    return folders + own or from_stem(file.stem, chapter.name) + others


def _zips_of_one_student(files: Iterable[File], chapter: Chapter) -> set[tuple[str, ...]]:
    """The zips that hold at most one notebook, or one with the chapter's own name at their top: work of one student, not of a class."""
    notebooks: dict[tuple[str, ...], list[File]] = defaultdict(list)
    for file in files:
        for i, part in enumerate(file.parts[:-1]):
            if is_zip(part):
                notebooks[file.parts[: i + 1]] += [file] if file.is_notebook else []
    return {
        zip
        for zip, held in notebooks.items()
        if len(held) < 2 or any(len(file.parts) == len(zip) + 1 and is_chapter(file.stem, chapter.name) for file in held)
    }


def _owned(file: File, words: list[str], roster: Roster | None) -> _Owned:
    words = [word for word in words if clean(word)]
    called = words[0] if words else ""
    fallback = clean(called) or clean(PurePath(file.parts[0]).stem) or "unnamed"
    if roster is not None:
        try:
            entry = roster.owner(file.parts, words)
        except NotFound as error:
            return _Owned(file, fallback, called, str(error))
        return _Owned(file, entry.id, entry.student, named=entry.names_file(file.parts))
    if not called:
        return _Owned(file, fallback, called, "does not say whose it is: name it after its student, or use a roster with a column `file`")
    return _Owned(file, fallback, called)


def _without_zip(name: str) -> str:
    return name[:-4] if is_zip(name) else name


# --- which notebook is it? ---


def _submission(group: list[_Owned], chapter: Chapter, roster: Roster | None) -> Submission:
    """What the files of one id amount to."""
    student, files = group[0].student, tuple(owned.file for owned in group)
    try:
        _refuse_doubtful_owner(group, roster)
        notebook = _the_notebook([owned.file for owned in group if owned.named] or files, chapter)
    except Refused as error:
        return Submission(student, None, ", ".join(file.path for file in files), str(error), files=files)
    return Submission(student, notebook.copy, notebook.path, flags=tuple(_beside(notebook, files)), files=files)


class Refused(Exception):
    """There is no one notebook of one student; the message says why."""


def _refuse_doubtful_owner(group: list[_Owned], roster: Roster | None) -> None:
    if problems := dict.fromkeys(owned.problem for owned in group if owned.problem):
        raise Refused("; ".join(problems))
    if roster is not None and (problem := roster.doubled.get(same_id(group[0].student))):
        raise Refused(problem)
    called = sorted({owned.called for owned in group})
    if len(called) > 1:
        raise Refused(f"{' and '.join(map(repr, called))} become one id: give them ids of their own in a roster")


def _the_notebook(files: Iterable[File], chapter: Chapter) -> File:
    """The one among `files` that can be graded."""
    notebooks = _of_this_chapter([file for file in files if file.is_notebook], chapter)
    if len(notebooks) > 1:
        paths = ", ".join(file.path for file in notebooks)
        raise Refused(f"{len(notebooks)} notebooks for one student ({paths}): keep the one that counts")
    if not notebooks or notebooks[0].problem:
        raise Refused("; ".join(f"{file.path} {file.problem or 'is not a notebook'}" for file in notebooks or files))
    return notebooks[0]


def _beside(notebook: File, files: Iterable[File]) -> Iterator[str]:
    """What else was handed in."""
    for file in files:
        if file is not notebook:
            yield f"also handed in: {file.path}" + (f", which {file.problem}" if file.problem else "")


def _of_this_chapter(notebooks: list[File], chapter: Chapter) -> list[File]:
    """Those of several notebooks that are of this chapter, by what they say inside, else by name; all of them when none is."""
    if len(notebooks) < 2:
        return notebooks
    inside = [file for file in notebooks if _chapter_inside(file) == chapter.name]
    named = [file for file in notebooks if is_chapter(file.stem, chapter.name)]
    return inside or named or notebooks


def _chapter_inside(file: File) -> str:
    """The chapter that a notebook was released as, as its metadata says."""
    try:
        return json.loads(file.copy.read_bytes())["metadata"]["course"]["chapter"]
    except Exception:  # any file may be here
        return ""
