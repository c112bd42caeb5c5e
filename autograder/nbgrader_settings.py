"""nbgrader's settings, in one place: for `course build`, for grading, and (through nbgrader_config.py) for JupyterLab."""

from __future__ import annotations

import os
import secrets
import sysconfig
from pathlib import Path

from traitlets.config import Config

from autograder.authoring.release import STEPS
from autograder.course import Course

STUB = 'raise NotImplementedError("write your answer here, in place of this line")'


def settings(course: Course, class_root: Path) -> Config:
    """What nbgrader needs to know of `course` and of the class kept in `class_root`.

    The class is complete in itself: nbgrader looks for `source/`, `release/`, `submitted/`, `autograded/`, `feedback/` and
    `gradebook.db` in it. The folder itself must be there before nbgrader makes a gradebook.
    """
    _find_alembic()
    c = Config()
    c.CourseDirectory.root = str(class_root)
    c.CourseDirectory.course_id = "paramshare"
    c.CourseDirectory.db_url = f"sqlite:///{class_root / 'gradebook.db'}"

    c.GenerateAssignment.preprocessors = STEPS
    c.AddSetup.repository = course.repository
    c.ClearSolutions.code_stub = {"python": STUB}

    c.OverwriteCells.add_missing_cells = True
    c.Execute.timeout = 300
    c.Execute.iopub_timeout = 60  # the default of 4 s fails at random on a busy machine
    c.Execute.startup_timeout = 180
    c.Execute.shutdown_kernel = "immediate"
    # nbclient skips cells with this tag, and nbgrader takes a test without output for passed: nobody may know the tag.
    c.Execute.skip_cells_with_tag = f"skip-{secrets.token_hex(8)}"
    return c


def _find_alembic() -> None:
    """Put this environment's scripts on PATH, activated or not: nbgrader runs `alembic` from there to make a gradebook."""
    scripts, path = sysconfig.get_path("scripts"), os.environ.get("PATH", "")
    if scripts not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, path])
