"""What many tests need."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = {"chromium": ("chromium", "google-chrome")}


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """`require_tool("bwrap")` gives the program's path. Where it is not installed the test is skipped, or fails under COURSE_REQUIRE."""

    def require(name: str) -> str:
        for program in PROGRAMS.get(name, (name,)):
            if path := shutil.which(program):
                return path
        if os.environ.get("COURSE_REQUIRE"):
            pytest.fail(f"{name} is not installed, and COURSE_REQUIRE allows no skip", pytrace=False)
        pytest.skip(f"{name} is not installed")

    return require


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where pictures go that people may want to look at after the run."""
    folder = ROOT / "artefacts"
    folder.mkdir(exist_ok=True)
    return folder
