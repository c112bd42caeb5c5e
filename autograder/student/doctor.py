"""`course doctor`: what is installed here, what is wrong with it, and what to do about it; plain text, to paste into a question."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from autograder.course import Course, CourseError

GIGABYTE = 1024**3
INSTALL = "make the environment again: `make clean lab`, or with pip: pip install -c constraints.txt -e '.[lab]'"
EXTENSION = "@jupyter/nbgrader"
SERVER_EXTENSIONS = ("nbgrader.server_extensions.formgrader", "nbgrader.server_extensions.validate_assignment")


@dataclass(frozen=True)
class Finding:
    """One line of the report. `cure` is empty when all is well; `essential` when nothing works without it."""

    subject: str
    value: str
    cure: str = ""
    essential: bool = True

    def __str__(self) -> str:
        mark = "ok" if not self.cure else "PROBLEM" if self.essential else "note"
        line = f"{mark:<8}{self.subject:<22}{self.value}"
        return f"{line}\n{'':<8}  -> {self.cure}" if self.cure else line


def show_report() -> bool:
    """Print the report. False when something essential is wrong."""
    findings = [finding for part in (_system, _packages, _torch, _jupyterlab, _work, _tools) for finding in _sound(part)]
    print(*findings, sep="\n")
    problems = sum(bool(finding.cure) and finding.essential for finding in findings)
    print(f"\n{problems} problem{'s' if problems != 1 else ''} found." if problems else "\nEverything essential is there.")
    return not problems


def _sound(part: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """The findings of `part`; one that cannot even be looked at is a finding too."""
    try:
        return list(part())
    except Exception as error:  # a report that stops in the middle helps nobody
        return [Finding(part.__name__.strip("_"), f"{type(error).__name__}: {error}", INSTALL)]


# --- the parts ---


def _system() -> Iterator[Finding]:
    yield Finding("system", f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} processors")
    wanted = metadata.metadata("paramshare")["Requires-Python"]
    fits = Requirement(f"python{wanted}").specifier.contains(platform.python_version(), prereleases=True)
    yield Finding("Python", f"{platform.python_version()} ({sys.executable})", "" if fits else f"the course needs Python {wanted}")


def _packages() -> Iterator[Finding]:
    """Every direct dependency of a student's installation, against the bounds that the course sets."""
    yield Finding("paramshare", metadata.version("paramshare"))
    for requirement in map(Requirement, metadata.requires("paramshare") or []):
        if requirement.marker and not requirement.marker.evaluate({"extra": "lab"}):
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            yield Finding(requirement.name, "not installed", INSTALL)
            continue
        fits = requirement.specifier.contains(version, prereleases=True)
        yield Finding(requirement.name, version, "" if fits else f"the course needs {requirement.specifier}; {INSTALL}")


def _torch() -> Iterator[Finding]:
    import torch

    if torch.cuda.is_available():
        device = ", ".join(torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count()))
    else:
        device = "none: every chapter runs on the CPU"
    yield Finding("GPU", device)
    yield Finding("torch threads", str(torch.get_num_threads()))


def _jupyterlab() -> Iterator[Finding]:
    from jupyter_core.paths import jupyter_config_path, jupyter_path
    from jupyter_server.extension.config import ExtensionConfigManager
    from jupyterlab_server.config import get_federated_extensions, get_page_config

    folders = jupyter_path("labextensions")
    enabled = EXTENSION in get_federated_extensions(folders) and EXTENSION not in get_page_config(folders).get("disabledExtensions", [])
    yield Finding(EXTENSION, "enabled" if enabled else "not enabled", "" if enabled else f"jupyter labextension enable {EXTENSION}")
    extensions = ExtensionConfigManager(read_config_path=jupyter_config_path()).get_jpserver_extensions()
    for name in SERVER_EXTENSIONS:
        cure = "" if extensions.get(name) else f"jupyter server extension enable --sys-prefix {name}"
        yield Finding(name.rpartition(".")[2], "not enabled" if cure else "enabled", cure)
    alembic = shutil.which("alembic", path=os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")]))
    yield Finding("alembic", alembic or "not found", "" if alembic else f"nbgrader makes its gradebook with it; {INSTALL}")


def _work() -> Iterator[Finding]:
    """Whether a student can work here."""
    try:
        course = Course.find()
    except CourseError as error:
        yield Finding("course", "not found", str(error))
        return
    yield Finding("course", str(course.root))
    yield _writable(course.root / "work")
    free = shutil.disk_usage(course.root).free / GIGABYTE
    cure = "" if free >= 1 else "notebooks are small, but JupyterLab fails when the disk is full: make room"
    yield Finding("free disk space", f"{free:.1f} GB", cure, essential=False)


def _writable(folder: Path) -> Finding:
    place = folder if folder.exists() else folder.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return Finding("work/", "can be written" if folder.exists() else "not there yet: `course lab` makes it")
    except OSError as error:
        return Finding("work/", str(error), f"your copies of the chapters go there: make {place} yours to write")


def _tools() -> Iterator[Finding]:
    """Programs that pip does not bring. None of them is needed to work through a chapter."""
    yield _tool("git", ("git",), "to fetch new chapters: install git")
    yield _tool("browser for tests", ("chromium", "google-chrome"), "only `make test` drives it: install chromium")
    yield _tool("sandbox", ("bwrap", "podman"), "only instructors need it, to grade in a locked room: install bubblewrap or podman")


def _tool(subject: str, programs: tuple[str, ...], cure: str) -> Finding:
    found = next(filter(None, map(shutil.which, programs)), None)
    if found is None:
        return Finding(subject, "not found", cure, essential=False)
    version = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    return Finding(subject, version.strip().partition("\n")[0] or found)
