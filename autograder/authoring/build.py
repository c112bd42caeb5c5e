"""`course build`: make chapters/ and paramshare/ from solutions/, or check that they are what solutions/ gives.

Everything is made in memory and in a temporary folder first; only when all of it is there does the first file change.
What a build made carries a mark (a module its header, a student notebook its stamp, which lists the files beside it), and
nothing without that mark is ever deleted.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from nbformat import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder import notebook
from autograder.authoring import export
from autograder.course import Chapter, Course, CourseError
from autograder.nbgrader_settings import settings

NOT_DATA = ("*.ipynb", "*.pyc", "__pycache__", ".*")


def build(course: Course, check: bool = False, tag: str | None = None) -> bool:
    """Bring every generated file up to date. With `check`, change nothing, print what is not, and say whether all is."""
    made = _made(course, tag)
    present = _present(course)
    stale = sorted(path for path, content in made.items() if not _holds(path, content))
    orphans = sorted(present - made.keys())
    if check:
        for path in sorted([*stale, *orphans]):
            print(f"{course.shown(path)}: {_fault(course, path, made)}")
        return not stale and not orphans

    generated = _generated(course)
    for path in orphans:
        if path in generated:
            _remove(path, course)
        print(f"{course.shown(path)}: {'removed' if path in generated else 'no source, and no build made it: left alone'}")
    for path in stale:
        notebook.write_bytes(path, made[path])
        print(f"{course.shown(path)}: written")
    return True


# --- what a build makes ---


def _made(course: Course, tag: str | None) -> dict[Path, bytes]:
    """Every file that a build writes, the canonical sources among them, with its content."""
    _refuse_strays(course)
    if tag and not course.repository:
        raise CourseError("--release pins what Colab installs, but `repository` under [tool.course] in pyproject.toml is not set")
    files: dict[Path, bytes] = {}
    for chapter in course.chapters:
        if chapter.module in files:
            raise CourseError(f"two chapters are called {chapter.topic} and would write the same module: rename one of them")
        source = notebook.read_source(chapter)
        files[chapter.source] = notebook.dumps(source)
        files |= _released(chapter, source, tag)
        if text := export.module_text(chapter, source):
            files[chapter.module] = text.encode()
    return files


def _refuse_strays(course: Course) -> None:
    """A misspelt source would otherwise be a chapter without one, and its student notebook would go."""
    known = {chapter.source.parent for chapter in course.chapters}
    for path in sorted((course.root / "solutions").glob("*/*.ipynb")):
        if path.parent not in known:
            raise CourseError(f"{course.shown(path)}: a source is called like solutions/01_counting/01_counting.ipynb")


def _released(chapter: Chapter, source: NotebookNode, tag: str | None) -> dict[Path, bytes]:
    """The student notebook and the files beside it."""
    with TemporaryDirectory(prefix="course-build-") as temporary:
        folder = Path(temporary) / "source" / chapter.name
        shutil.copytree(chapter.source.parent, folder, ignore=shutil.ignore_patterns(*NOT_DATA))
        notebook.write(source, folder / chapter.source.name)
        config = settings(chapter.course, Path(temporary))
        config.AddSetup.tag = tag or ""
        _generate(chapter, source, config)
        return _collected(Path(temporary) / "release" / chapter.name, chapter)


def _collected(folder: Path, chapter: Chapter) -> dict[Path, bytes]:
    """What nbgrader wrote into `folder`, under the names it will have; the student notebook lists the other files."""
    released = notebook.canonical(notebook.read(folder / chapter.released.name))
    others = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb"}
    if others:
        released.metadata.course.files = sorted(path.as_posix() for path in others)
    place = chapter.released.parent
    return {chapter.released: notebook.dumps(released)} | {place / path: content for path, content in others.items()}


def _generate(chapter: Chapter, source: NotebookNode, config: Config) -> None:
    """Let nbgrader make the student notebook; when it refuses, say which cell it refuses."""
    config.CourseDirectory.assignment_id = chapter.name
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    with suppress(NbGraderException):
        GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
        return
    raise CourseError(f"{chapter.course.shown(chapter.source)}: {_refusal(chapter, source, config)}")


def _refusal(chapter: Chapter, source: NotebookNode, config: Config) -> str:
    """Why nbgrader refuses `source`: what the first cell that it refuses alone is told, else what the whole is."""
    for cell in source.cells:
        if reason := _reason(chapter, [cell], config):
            return f"cell {cell.id}: {reason}"
    return _reason(chapter, source.cells, config) or "nbgrader cannot make a student notebook of it"


def _reason(chapter: Chapter, cells: list[NotebookNode], config: Config) -> str:
    nb = notebook.canonical(NotebookNode(metadata=notebook.KERNEL, cells=cells))
    resources = {"nbgrader": {"notebook": chapter.name, "assignment": chapter.name}}
    try:
        for step in config.GenerateAssignment.preprocessors:
            nb, resources = step(config=config)(nb, resources)
    except Exception as error:  # nbgrader raises a different class for each reason
        return str(error.__context__ or error).partition("\n")[0]
    return ""


# --- what is there ---


def _present(course: Course) -> set[Path]:
    """Every file where only generated files belong."""
    places = [*(course.root / "chapters").glob("*/**/*"), *(course.root / "paramshare").glob("*.py")]
    return {path for path in places if path.is_file() and not _is_ignored(path.relative_to(course.root))}


def _is_ignored(path: Path) -> bool:
    return path.name == "__init__.py" or any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _generated(course: Course) -> set[Path]:
    """The files that carry the mark of an earlier build, and those that a marked notebook lists."""
    modules = {
        path
        for path in (course.root / "paramshare").glob("*.py")
        if export.is_generated(path.read_text(encoding="utf-8", errors="replace"))
    }
    return modules.union(*(_marked(folder) for folder in (course.root / "chapters").glob("*/")))


def _marked(folder: Path) -> set[Path]:
    path = folder / f"{folder.name}.ipynb"
    try:
        stamp = notebook.read(path).metadata.get("course")
    except ValueError:
        return set()
    return {path, *(folder / name for name in stamp.get("files", []))} if stamp else set()


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _fault(course: Course, path: Path, made: dict[Path, bytes]) -> str:
    if path not in made:
        return "no source"
    if not path.exists():
        return "missing"
    return "not canonical" if path.is_relative_to(course.root / "solutions") else "out of date, or edited by hand"


def _remove(path: Path, course: Course) -> None:
    """Delete `path`, and the folders of chapters/ that this leaves empty."""
    path.unlink()
    for folder in path.parents:
        if course.root / "chapters" not in folder.parents or any(folder.iterdir()):
            return
        folder.rmdir()
