"""`%%mistake` and `%%alternative`: answers that an author puts behind an exercise's tests, to prove the tests.

Both try an answer on the exercise whose test cell ran last, all its test cells, in a process of its own. A mistake must fail, and with
the diagnosis named on its line; an alternative must pass.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from dataclasses import dataclass, field

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class

from autograder import isolation
from autograder.expect import MOST_LINES, AuthorError

LIMIT = 60.0  # seconds
FEWEST_WORDS = 4


@dataclass
class Cells:
    """What ran in this kernel: every cell in order, and each exercise's test cells. A cell that runs again takes its old place."""

    sources: dict[str, str] = field(default_factory=dict)
    current: str = ""

    def remember(self, key: str, source: str) -> None:
        if source.lstrip().startswith(("%%mistake", "%%alternative")):
            return
        self.sources[key] = source
        self.current = exercise_named_in(source) or self.current

    @property
    def tests(self) -> list[str]:
        return [source for source in self.sources.values() if exercise_named_in(source) == self.current]


def exercise_named_in(source: str) -> str:
    """The exercise whose test cell `source` is; '' for any other cell."""
    try:
        first = ast.parse(source).body[0]
    except (SyntaxError, IndexError):
        return ""
    match first:
        case ast.Expr(ast.Call(ast.Name("exercise"), [ast.Constant(str(name))])):
            return name
    return ""


@magics_class
class AuthoringMagics(Magics):
    def __init__(self, shell: InteractiveShell):
        super().__init__(shell)
        self.cells = Cells()
        self.seen: dict[str, dict[str, tuple[str, str]]] = {}  # exercise -> answer -> (diagnosis, first line of its message)
        # In[] stays empty under nbval, which runs cells without history.
        shell.events.register("post_run_cell", self._remember)

    def _remember(self, result) -> None:
        if result.success and result.info.raw_cell:
            source = result.info.raw_cell
            self.cells.remember(result.info.cell_id or source, source)

    @cell_magic
    def mistake(self, line: str, cell: str) -> None:
        """%%mistake WORDS: the answer below fails with the diagnosis that starts with WORDS. Prints what a student would read."""
        key = self._key(" ".join(line.split()))
        message, diagnosis = self._try(cell)
        if message is None:
            raise AuthorError("this mistake passes every test of its exercise: add a test that it fails")
        if diagnosis != key:
            raise AuthorError(f"the student would not read {key!r}, but:\n{message}\nAdd this wrong value to the diagnose of that test, under that sentence.")
        self._refuse_double(cell, diagnosis, message.split("\n")[0])
        print(message)

    @cell_magic
    def alternative(self, line: str, cell: str) -> None:
        """%%alternative: the answer below is right, and passes. Prints nothing."""
        message, _ = self._try(cell)
        if message is not None:
            raise AuthorError(f"this right answer does not pass:\n{message}")

    def _key(self, words: str) -> str:
        """The one sentence of the exercise's `diagnose` that starts with `words`."""
        if not self.cells.current:
            raise AuthorError("no exercise yet: run its test cell, the one that begins with exercise(...), before this cell")
        if len(words.split()) < FEWEST_WORDS:
            raise AuthorError(f"write the first {FEWEST_WORDS} or more words of the diagnosis behind %%mistake, not {words!r}")
        keys = [key for source in self.cells.tests for key in diagnoses_in(source)]
        found = sorted({key for key in keys if key.startswith(words)})
        if len(found) != 1:
            listed = "\n".join(f"    {key}" for key in (found or sorted(set(keys))))
            raise AuthorError(f"{'several diagnoses start' if found else 'no diagnosis starts'} with {words!r}; there are:\n{listed}")
        return found[0]

    def _refuse_double(self, cell: str, diagnosis: str, first_line: str) -> None:
        others = self.seen.setdefault(self.cells.current, {})
        for other, (its_diagnosis, its_line) in others.items():
            if other != cell and diagnosis == its_diagnosis:
                raise AuthorError(f"another mistake of {self.cells.current} has this diagnosis already")
            if other != cell and first_line == its_line:
                raise AuthorError(f"another mistake of {self.cells.current} gives the same wrong value: {first_line}")
        others[cell] = (diagnosis, first_line)

    def _try(self, answer: str) -> tuple[str | None, str]:
        """What a student with this answer reads, None when all tests pass; and the diagnosis in it."""
        if not self.cells.current:
            raise AuthorError("no exercise yet: run its test cell, the one that begins with exercise(...), before this cell")
        try:
            if isolation.fork_is_safe():
                result = isolation.run_forked(lambda: attempt(self.shell, [answer, *self.cells.tests]), LIMIT)
            else:
                earlier = list(self.cells.sources.values())
                result = isolation.run_fresh(FRESH, {"earlier": earlier, "cells": [answer, *self.cells.tests]}, LIMIT)
        except isolation.Ended as error:
            raise AuthorError(f"the answer could not be tried: {error}") from None
        return result["message"], result["diagnosis"]


def diagnoses_in(source: str) -> list[str]:
    """The sentences of every `diagnose={...}` in `source`."""
    dicts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.keyword) and node.arg == "diagnose")
    return [ast.literal_eval(key) for found in dicts if isinstance(found, ast.Dict) for key in found.keys if key is not None]


FRESH = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from autograder.magics import attempt_after
print(json.dumps(attempt_after(**json.load(sys.stdin))))
"""


def attempt_after(earlier: list[str], cells: list[str]) -> dict:
    """`attempt` in a new shell that has run the `earlier` cells."""
    shell = InteractiveShell.instance()
    with contextlib.redirect_stdout(io.StringIO()):
        for source in earlier:
            shell.run_cell(source)
    return attempt(shell, cells)


def attempt(shell: InteractiveShell, cells: list[str]) -> dict:
    """Run `cells` in the namespace of `shell`: what the first that fails says, and its diagnosis."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell.display_pub.publish = lambda *_, **__: None
        try:
            for source in cells:
                name = shell.compile.cache(source)  # registers the source: inspect and messages find it
                exec(compile(source, name, "exec"), shell.user_ns)
        except Exception as error:
            return {"message": said(error), "diagnosis": getattr(error, "diagnosis", "")}
        except SystemExit as error:
            return {"message": f"SystemExit: {error}", "diagnosis": ""}
    return {"message": None, "diagnosis": ""}


def said(error: Exception) -> str:
    text = getattr(error, "message", None) or re.sub(r"0x[0-9a-f]+", "0x...", f"{type(error).__name__}: {error}")
    return "\n".join(text.split("\n")[:MOST_LINES])
