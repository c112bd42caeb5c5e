"""Every file in a folder of submissions, out of its zips, as a private copy: read with suspicion, changed never.

What cannot be read is not left out: it comes as a `File` with a problem.
"""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

from autograder.grading.names import clean

LARGEST_FILE = 50 * 2**20
LARGEST_ARCHIVE = 2 * 2**30  # all files of one zip, unpacked
MOST_MEMBERS = 20_000
MOST_ZIPS_DEEP = 2  # a zip of the class that holds a zip of each student

_LITTER = {".ds_store", "__macosx", "thumbs.db", "desktop.ini", ".ipynb_checkpoints", "__pycache__", ".git"}


class Unreadable(Exception):
    """A file cannot be had; the message ends the sentence that starts with its name."""


@dataclass(frozen=True)
class File:
    """One file as it was handed in. `parts` is where it lay, with zips as folders; `copy` is a private copy, where there could be one."""

    parts: tuple[str, ...]
    copy: Path | None
    problem: str = ""

    @property
    def path(self) -> str:
        return "/".join(self.parts)

    @property
    def stem(self) -> str:
        return PurePosixPath(self.parts[-1]).stem

    @property
    def is_notebook(self) -> bool:
        return self.parts[-1].casefold().endswith(".ipynb")

    def keep_in(self, folder: Path) -> None:
        """Put a copy into `folder` for people to read, under a safe name, beside any other of that name."""
        if self.copy is None:
            return
        target = folder.joinpath(*(clean(part) or "unnamed" for part in self.parts))
        target.parent.mkdir(parents=True, exist_ok=True)
        while target.exists():
            target = target.with_name(f"_{target.name}")
        shutil.copyfile(self.copy, target)


def is_zip(name: str) -> bool:
    return name.casefold().endswith(".zip")


class Reader:
    """Copies everything that was handed in to `staging`; the file `besides` was not handed in."""

    def __init__(self, staging: Path, besides: Path | None = None):
        self.staging = staging
        self.besides = besides and besides.resolve()
        self.count = 0
        self.room = 0  # bytes that the zip at hand may still unpack to, the zips in it included

    def files(self, where: Path) -> Iterator[File]:
        """The files of a folder, or of one zip, or one notebook."""
        if not where.is_dir():
            yield from self._entry(where, (where.name,))
            return
        for path in sorted(where.iterdir()):
            if _is_litter(path.name) or path.resolve() == self.besides:
                continue
            found = list(self._entry(path, (path.name,)))
            yield from found or [File((path.name,), None, "is an empty folder")]

    def _entry(self, path: Path, parts: tuple[str, ...]) -> Iterator[File]:
        try:
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                for child in sorted(path.iterdir()):
                    if not _is_litter(child.name):
                        yield from self._entry(child, (*parts, child.name))
                return
            if stat.S_ISLNK(mode):
                raise Unreadable("is a link to another file: hand in the file itself")
            if not stat.S_ISREG(mode):
                raise Unreadable("is not an ordinary file")
            with open(path, "rb") as file:
                copy = self._keep(file, LARGEST_ARCHIVE if is_zip(path.name) else LARGEST_FILE)
        except Unreadable as error:
            yield File(parts, None, str(error))
        except OSError as error:
            yield File(parts, None, f"cannot be read: {error.strerror}")
        else:
            self.room = LARGEST_ARCHIVE
            yield from self._unpacked(copy, parts)

    def _unpacked(self, copy: Path, parts: tuple[str, ...], deep: int = 0) -> Iterator[File]:
        """The file itself or, when it is a zip, what is in it."""
        if not is_zip(parts[-1]):
            yield File(parts, copy)
        elif deep == MOST_ZIPS_DEEP:
            yield File(parts, copy, "is a zip in a zip in a zip: unpack it once")
        else:
            try:
                with ZipFile(copy) as archive:
                    yield from self._members(archive, parts, deep)
            except Exception as error:  # zipfile and the decompressors raise a dozen kinds for a broken archive
                yield File(parts, copy, _broken_zip(error))

    def _members(self, archive: ZipFile, parts: tuple[str, ...], deep: int) -> Iterator[File]:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise Unreadable(f"holds {len(members):,} files; {MOST_MEMBERS:,} are the most")
        names = [_name(member) for member in members]
        for member, name in zip(members, names, strict=True):
            inside = tuple(part for part in name.split("/") if part not in ("", ".", ".."))
            if not inside or any(map(_is_litter, inside)):
                continue
            where = (*parts, *(inside[-1:] if _leads_outside(name) else inside))
            if member.is_dir():
                if not any(other.startswith(name) for other in names if other != name):
                    yield File(where, None, "is an empty folder")
                continue
            try:
                copy = self._member(archive, member, name)
            except Unreadable as error:
                yield File(where, None, str(error))
            except Exception as error:  # as above
                yield File(where, None, _broken_zip(error))
            else:
                yield from self._unpacked(copy, where, deep + 1)
        if not any(not member.is_dir() for member in members):
            raise Unreadable("is an empty zip")

    def _member(self, archive: ZipFile, member: ZipInfo, name: str) -> Path:
        if _leads_outside(name):
            raise Unreadable(f"would be unpacked outside its folder: the zip calls it {name!r}")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise Unreadable("is a link to another file: hand in the file itself")
        if member.flag_bits & 1:
            raise Unreadable("is in an encrypted zip: hand in a zip without a password")
        limit = LARGEST_ARCHIVE if is_zip(name) else LARGEST_FILE
        with archive.open(member) as file:
            copy = self._keep(file, min(limit, self.room))
        self.room -= copy.stat().st_size
        return copy

    def _keep(self, source: BinaryIO, limit: int) -> Path:
        """A private copy of `source`, which is given up when it is larger than `limit`, whatever size it claims to have."""
        self.count += 1
        copy = self.staging / f"{self.count:05d}"
        with open(copy, "wb") as file:
            while block := source.read(2**20):
                file.write(block)
                if file.tell() > limit:
                    break
            too_large = file.tell() > limit
        if too_large:
            copy.unlink()
            raise Unreadable(f"is larger than {limit / 2**20:,.0f} MB")
        return copy


def _is_litter(name: str) -> bool:
    """Files that systems leave behind and no one hands in."""
    return name.casefold() in _LITTER or name.startswith("._")


def _leads_outside(name: str) -> bool:
    return name.startswith("/") or name[1:2] == ":" or ".." in name.split("/")


def _name(member: ZipInfo) -> str:
    """The member's name. Many zips hold UTF-8 names without saying so; backslashes come from old Windows tools."""
    name = member.filename
    if not member.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = member.filename
    return name.replace("\\", "/")


def _broken_zip(error: Exception) -> str:
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return "is in an encrypted zip: hand in a zip without a password"
    return f"is not a zip that can be read ({error})"
