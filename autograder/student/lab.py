"""`course lab`: give the student a copy of every chapter, and open it in JupyterLab."""

from __future__ import annotations

import os
import shutil

from autograder import notebook
from autograder.course import Chapter, Course, CourseError

OLDER = (
    "work/{0} was copied from an earlier release; your work is kept. "
    "The new text is in chapters/{0}; to start over from it, rename work/{0} and run `course lab` again."
)


def open_lab(course: Course, chapter: str | None, browser: bool = True, port: int = 8888) -> None:
    """Copy what is missing in work/, then run JupyterLab on `chapter` (default: the first) until it is stopped."""
    released = released_chapters(course)
    first = course.chapter(chapter) if chapter else released[0]
    if first not in released:
        raise CourseError(f"{first.name} is not in chapters/ yet: `course build` makes it")
    for each in released:
        if copy_missing(each):
            print(f"work/{each.name} is new: your own copy of the chapter")
        elif is_older(each):
            print(OLDER.format(each.name))
    _run_jupyterlab(first, browser, port)


def released_chapters(course: Course) -> list[Chapter]:
    """The chapters a student can have, in order. Raises CourseError when there are none."""
    released = [chapter for chapter in course.chapters if chapter.released.exists()]
    if not released:
        raise CourseError("no chapter is in chapters/ yet: `course build` makes them from solutions/")
    return released


def copy_missing(chapter: Chapter) -> bool:
    """Copy those files of the chapter that work/ lacks, and no others. True when the notebook was among them."""
    is_new = not chapter.working_copy.exists()
    origin, target = chapter.released.parent, chapter.working_copy.parent
    for file in sorted(origin.rglob("*")):
        place = file.relative_to(origin)
        hidden = any(part.startswith(".") for part in place.parts)
        if file.is_file() and not hidden and not (target / place).exists():
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / place)
    return is_new


def is_older(chapter: Chapter) -> bool:
    """Whether the copy in work/ comes from another release than the one in chapters/."""
    try:
        releases = [notebook.read(path).metadata.get("course", {}).get("release") for path in (chapter.working_copy, chapter.released)]
    except ValueError:  # a broken notebook has no release; `course status` says what is wrong with it
        return False
    return releases[0] != releases[1]


def _run_jupyterlab(chapter: Chapter, browser: bool, port: int) -> None:
    """Become JupyterLab. The settings are in autograder/jupyter_lab_config.py."""
    root = chapter.course.root
    others = os.environ.get("JUPYTER_CONFIG_PATH")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(root / "autograder"), others]))
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel and extensions, not those of another Jupyter at home
    os.chdir(root)

    from jupyterlab.labapp import LabApp

    page = chapter.working_copy.relative_to(root).as_posix()
    options = ["--log-level=WARN", f"--LabApp.default_url=/lab/tree/{page}", f"--ServerApp.port={port}"]
    LabApp.launch_instance(options if browser else [*options, "--no-browser"])
