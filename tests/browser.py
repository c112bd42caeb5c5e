"""A person at JupyterLab: a running `course lab`, and a page of it that can be clicked, typed into and read."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect, sync_playwright

from autograder import notebook
from autograder.course import Course

MINUTE = 60_000
ADDRESS = re.compile(r"http://(?:localhost|127\.0\.0\.1):\d+/\S+")
# Root (in a container) has no sandbox of Chromium's, and nothing here may look for the network.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def running_lab(course: Course, home: Path, chapter: str = "") -> Iterator[str]:
    """The address that `course lab --no-browser` prints, while it runs. `home` holds the settings of this Jupyter alone."""
    _render_every_cell(home)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    command = [sys.executable, "-c", "from autograder.cli import main; main()", "lab", *filter(None, [chapter]), "--no-browser"]
    environment = clean | {"HOME": str(home), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=course.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            address = _address(process)
            _wait_until_it_listens(address)
            yield address
        finally:
            process.send_signal(signal.SIGTERM)


def _address(process: subprocess.Popen) -> str:
    said = []
    for line in process.stdout:
        said.append(line)
        if found := ADDRESS.search(line):
            return found[0]
    raise AssertionError("`course lab` ended without an address:\n" + "".join(said))


def _wait_until_it_listens(address: str, tries: int = 100) -> None:
    """The address is printed a moment before anyone answers there."""
    place = urlsplit(address)
    for _ in range(tries):
        with suppress(ConnectionRefusedError), socket.create_connection((place.hostname, place.port)):
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody answers at {address}")


def _render_every_cell(home: Path) -> None:
    """JupyterLab draws only the cells in view; the tests look at all of them."""
    settings = home / ".jupyter/lab/user-settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"windowingMode": "none"}))


@contextmanager
def browser_page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(MINUTE)
        yield page
        browser.close()


class Notebook:
    """The notebook at `path`, open on a page of JupyterLab. Cells go by their id."""

    def __init__(self, page: Page, address: str, path: Path):
        self.page = page
        self.ids = [cell.id for cell in notebook.read(path).cells]
        page.goto(address)
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        expect(self.page.locator("#jp-bottom-panel")).to_contain_text(re.compile(r"Python 3.*\| Idle"), timeout=2 * MINUTE)
        expect(self.page.locator(".jp-InputArea-prompt", has_text="[*]")).to_have_count(0, timeout=2 * MINUTE)

    @contextmanager
    def _until_ran(self, id: str) -> Iterator[None]:
        """Wait, after what is done inside, until the cell has a new number and the kernel rests."""
        number = self.cell(id).locator(".jp-InputArea-prompt")
        before = number.inner_text()
        yield
        expect(number).not_to_have_text(before, timeout=2 * MINUTE)
        expect(number).to_have_text(re.compile(r"\[\d+\]"), timeout=2 * MINUTE)
        self.wait_until_idle()

    def cell(self, id: str) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(self.ids.index(id))

    def output(self, id: str) -> str:
        """What the cell printed, its error included."""
        return "\n".join(self.cell(id).locator(".jp-OutputArea-output").all_inner_texts())

    def show(self, id: str) -> None:
        self.cell(id).scroll_into_view_if_needed()

    def run_all(self, until: str) -> None:
        """Run all cells. JupyterLab stops at the first that fails: the cell `until`."""
        with self._until_ran(until):
            self.page.get_by_role("menuitem", name="Run", exact=True).click()
            self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    def run(self, id: str) -> None:
        with self._until_ran(id):
            self.cell(id).locator(".cm-content").click()
            self.page.keyboard.press("Control+Enter")

    def type(self, id: str, source: str) -> None:
        """Type `source` into the cell, over what stands there, and run it."""
        with self._until_ran(id):
            self.cell(id).locator(".cm-content").click()
            self.page.keyboard.press("Control+a")
            self.page.keyboard.insert_text(source)
            self.page.keyboard.press("Control+Enter")

    def validate(self, picture: Path | None = None) -> str:
        """Press nbgrader's Validate, keep a picture of the dialog, close it, and give back what it said."""
        self.page.get_by_text("Validate", exact=True).click()
        dialog = self.page.locator(".jp-Dialog", has_text="Validation Results")
        dialog.wait_for(timeout=3 * MINUTE)
        said = dialog.inner_text()
        if picture:
            self.page.screenshot(path=picture)
        dialog.locator("button").last.click()
        dialog.wait_for(state="detached")
        return said
