"""One step of nbgrader, run here, quietly, for one student: what went wrong comes back as the exception that it was."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.converters.base import BaseConverter
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config


def run_step(step: type[BaseConverter], config: Config, log_file: Path, chapter: str, student: str = ".") -> Exception | None:
    """Run `step` and give back what stopped it; nbgrader itself only logs that, and raises something else."""
    config.CourseDirectory.assignment_id = chapter
    config.CourseDirectory.student_id = student
    with logged(log_file) as log:
        converter = _remembering(step)(coursedir=CourseDirectory(config=config, log=log), config=config, log=log)
        converter.force = True
        try:
            converter.start()
        except Exception as error:  # nbgrader raises many kinds for what may be in a notebook
            return converter.stopped_by or error
    return None


def _remembering(step: type[BaseConverter]) -> type[BaseConverter]:
    class Remembering(step):
        stopped_by: Exception | None = None

        def convert_single_notebook(self, notebook_filename: str) -> None:
            try:
                super().convert_single_notebook(notebook_filename)
            except Exception as error:
                self.stopped_by = error
                raise

    return Remembering


@contextmanager
def logged(file: Path) -> Iterator[logging.Logger]:
    """What nbgrader and the libraries under it have to say goes to `file`, not to the terminal."""
    file.parent.mkdir(parents=True, exist_ok=True)
    log = logging.getLogger("traitlets")  # what nbgrader's parts fall back to when they are used without an application
    handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield log
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate
        handler.close()
