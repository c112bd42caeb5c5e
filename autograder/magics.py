"""`%%mistake` and `%%alternative`: an exercise's wrong answers, and its other right ones, beside its tests.

    %%mistake The biases are missing: each of
    def attention_parameters(hidden_dim):
        return 4 * hidden_dim**2

Running such a cell leaves the notebook as it was. The answer runs in a process of its own, in a copy of the notebook's namespace, and
after it every test cell of the exercise whose test cell ran last. A mistake must fail, with the diagnosis whose first words stand on its
line; what the student would read is printed. An alternative must pass, and prints nothing.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from textwrap import indent

from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.utils.capture import capture_output
from traitlets.config import Config

from autograder import isolation
from autograder.expect import MOST_LINES, AuthorError, ExpectationFailed

FEWEST_WORDS = 4
SECONDS_FOR_AN_ANSWER = 60
SECONDS_TO_CATCH_UP = 120  # a new process imports everything again and runs the notebook up to here


# --- what a cell says of itself ---


def exercise_of(source: str) -> str:
    """The exercise that a test cell names in its first statement; empty for any other cell."""
    match _parsed(source).body[:1]:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="exercise"), args=[ast.Constant(value=str(name))]))]:
            return name
    return ""


def diagnoses_in(source: str) -> list[str]:
    """Every sentence that stands as a key in a `diagnose={...}` of the cell."""
    keywords = [node for node in ast.walk(_parsed(source)) if isinstance(node, ast.keyword) and node.arg == "diagnose"]
    keys = [key for keyword in keywords if isinstance(keyword.value, ast.Dict) for key in keyword.value.keys]
    return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]


def begins(words: str, diagnosis: str) -> bool:
    """Whether `diagnosis` begins with `words`, all of them whole, blanks aside."""
    first, rest = " ".join(words.split()), " ".join(diagnosis.split())
    return rest.startswith(first) and not rest[len(first) :][:1].isalnum()


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


# --- what has been run ---


@dataclass(frozen=True)
class Cell:
    source: str
    succeeded: bool


@dataclass(frozen=True)
class Mistake:
    """A mistake that failed as it should: its diagnosis, and what it gave where it first went wrong."""

    exercise: str
    diagnosis: str
    first_wrong: str


class History:
    """The cells this shell has run, in their order; a cell that is run again keeps its place.

    A kernel's own `In` will not do: nbval runs cells without history.
    """

    def __init__(self, shell: InteractiveShell):
        self.cells: dict[str, Cell] = {}
        self.mistakes: dict[str, Mistake] = {}
        self.exercise = ""  # whose test cell ran last
        self.running = ""
        shell.events.register("pre_run_cell", self._starts)
        shell.events.register("post_run_cell", self._ends)

    def tests(self) -> list[str]:
        """The test cells of the exercise whose test cell ran last."""
        if not self.exercise:
            raise AuthorError(
                'run the test cell of the exercise first, the one that begins with exercise("topic.name"): '
                "none has run since `%load_ext autograder`"
            )
        return [cell.source for cell in self.cells.values() if exercise_of(cell.source) == self.exercise]

    def note(self, mistake: Mistake) -> None:
        """Remember the mistake of the running cell. Raises AuthorError when another cell's mistake is the same to a student."""
        for other in self.mistakes.values():
            if other.exercise != mistake.exercise:
                continue
            if other.diagnosis == mistake.diagnosis:
                raise AuthorError(
                    f"another mistake of {other.exercise} has this diagnosis already; keep one of them:\n    {other.diagnosis}"
                )
            if other.first_wrong == mistake.first_wrong:
                raise AuthorError(
                    f"another mistake of {other.exercise} goes wrong in the same way, yet has another diagnosis:\n"
                    f"{_indented(other.first_wrong, other.diagnosis)}\nLet an earlier expectation tell the two apart."
                )
        self.mistakes[self.running] = mistake

    def _starts(self, info: ExecutionInfo) -> None:
        self.running = _identity(info)
        self.mistakes.pop(self.running, None)

    def _ends(self, result: ExecutionResult) -> None:
        source, identity = result.info.raw_cell, _identity(result.info)
        if source.lstrip().startswith(("%%mistake", "%%alternative")):
            self.cells.pop(identity, None)
        else:
            self.cells[identity] = Cell(source, result.success)
            self.exercise = exercise_of(source) or self.exercise


def _identity(info: ExecutionInfo) -> str:
    """What stays the same when a cell is run again: JupyterLab's id of it, or else its source."""
    return getattr(info, "cell_id", None) or info.raw_cell


# --- one answer ---


@dataclass(frozen=True)
class Outcome:
    """What the student would read (nothing when the answer passes), and which diagnosis it has."""

    message: str = ""
    diagnosis: str = ""
    exception: str = ""  # the type of an exception that no expectation has caught

    @property
    def first_wrong(self) -> str:
        return self.message.removesuffix(self.diagnosis).rstrip()


def run_answer(shell: InteractiveShell, answer: str, tests: Iterable[str]) -> dict:
    """Run `answer` and then `tests` in `shell`, which is the worse for it. The Outcome, or the author's `fault`, as plain data."""
    shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None
    with capture_output(stdout=False, stderr=False):
        try:
            for source in (answer, *tests):
                shell.run_cell(source, silent=True).raise_error()
        except AuthorError as error:
            return {"fault": str(error)}
        except BaseException as error:  # SystemExit too: an answer that leaves has not passed
            return asdict(_outcome(error))
    return asdict(Outcome())


def run_answer_afresh(request: dict) -> dict:
    """The same in a process that knows nothing of the notebook yet: first run its `cells`."""
    shell = _Shell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    shell.showtraceback = shell.showsyntaxerror = lambda *_, **__: None
    for cell in request["cells"]:
        result = shell.run_cell(cell["source"], silent=True)
        if cell["succeeded"] and not result.success:
            first_line = cell["source"].strip().partition("\n")[0]
            error = _outcome(result.error_before_exec or result.error_in_exec).message
            return {
                "fault": "a fork is not safe here, and the notebook cannot be run again in a new process: the cell that begins with\n"
                f"{_indented(first_line)}\nfails there with\n{_indented(error)}\n`%load_ext autograder` must be the first code cell."
            }
    return run_answer(shell, request["answer"], request["tests"])


class _Shell(InteractiveShell):
    def enable_gui(self, gui: str | None = None) -> None:
        """`%matplotlib` asks for it; there is nobody to show a window to."""


def _outcome(error: BaseException) -> Outcome:
    if isinstance(error, ExpectationFailed):
        return Outcome(error.message, error.diagnosis)
    name = type(error).__name__
    text = f"{error.msg} (line {error.lineno})" if isinstance(error, SyntaxError) else str(error)
    lines = (f"{name}: {text}" if text else name).splitlines()
    return Outcome("\n".join(lines[:MOST_LINES]), getattr(error, "diagnosis", ""), name)


# --- the magics ---


@magics_class
class AuthoringMagics(Magics):
    time_limit = SECONDS_FOR_AN_ANSWER

    def __init__(self, shell: InteractiveShell):
        super().__init__(shell)
        earlier = shell.magics_manager.registry.get(type(self).__name__)  # `%reload_ext` makes these magics anew
        self.history = earlier.history if earlier else History(shell)

    @no_var_expand
    @cell_magic
    def mistake(self, line: str, cell: str) -> None:
        """`%%mistake FIRST WORDS OF A DIAGNOSIS`: an answer that must fail, with this diagnosis."""
        if len(line.split()) < FEWEST_WORDS:
            raise AuthorError(f"%%mistake takes the first words of a diagnosis, {FEWEST_WORDS} or more; {line!r} is too short")
        outcome = self.outcome_of(cell)
        diagnoses = [diagnosis for test in self.history.tests() for diagnosis in diagnoses_in(test)]
        _check(outcome, line, list(dict.fromkeys(diagnoses)), self.history.exercise)
        self.history.note(Mistake(self.history.exercise, outcome.diagnosis, outcome.first_wrong))
        print(outcome.message)

    @no_var_expand
    @cell_magic
    def alternative(self, line: str, cell: str) -> None:
        """`%%alternative`: an answer, written differently, that must pass. The line is free for a remark."""
        outcome = self.outcome_of(cell)
        if outcome.message:
            raise AuthorError(f"an alternative must pass the tests of {self.history.exercise}, but they say:\n{_indented(outcome.message)}")

    def outcome_of(self, answer: str, afresh: bool = False) -> Outcome:
        """What the tests of the current exercise say of `answer`; tried in a new process where a fork is not safe, or if `afresh`."""
        tests = self.history.tests()
        try:
            if afresh or not isolation.fork_is_safe():
                request = {"cells": [asdict(cell) for cell in self.history.cells.values()], "answer": answer, "tests": tests}
                said = isolation.run_afresh(run_answer_afresh, request, SECONDS_TO_CATCH_UP + self.time_limit)
            else:
                said = isolation.run_isolated(partial(run_answer, self.shell, answer, tests), self.time_limit)
        except isolation.Lost as lost:
            raise AuthorError(f"this answer {lost}") from None
        if "fault" in said:
            raise AuthorError(said["fault"])
        return Outcome(**said)


# --- what an author is told ---


def _check(outcome: Outcome, words: str, diagnoses: list[str], exercise: str) -> None:
    """Raise AuthorError unless `outcome` has the one diagnosis that begins with `words`."""
    if not outcome.message:
        raise AuthorError(f"this mistake passes every test of {exercise}: add an expectation that it fails")
    meant = [diagnosis for diagnosis in diagnoses if begins(words, diagnosis)]
    if len(meant) > 1:
        raise AuthorError(f"these words begin {len(meant)} diagnoses of {exercise}; write more of them:\n{_indented(*meant)}")
    if not meant:
        said = " ".join(words.split())
        raise AuthorError(
            f"no diagnosis of {exercise} begins with {said!r}.\n{_advice(outcome, f'{said} …')}\n"
            f"The diagnoses of {exercise} are:\n{_indented(*diagnoses or ['(none)'])}"
        )
    if outcome.diagnosis != meant[0]:
        raise AuthorError(f"this mistake fails, but not with the diagnosis {meant[0]!r}.\n{_advice(outcome, meant[0])}")


def _advice(outcome: Outcome, diagnosis: str) -> str:
    entry = _indented(f"{json.dumps(diagnosis, ensure_ascii=False)}: {outcome.exception or _wrong_value(outcome.message)},")
    if outcome.diagnosis:
        remedy = "The last line is another diagnosis: begin with its words, or let an earlier expectation tell the two mistakes apart."
    elif outcome.exception:
        remedy = f"No expectation caught this. If a test calls the answer there, write expect(lambda: ...), and in its `diagnose`:\n{entry}"
    else:
        remedy = f"Add to the `diagnose` of that expectation:\n{entry}"
    return f"The student would read:\n{_indented(outcome.message)}\n{remedy}"


def _wrong_value(message: str) -> str:
    """The wrong value as `diagnose` would have it, where the message shows it in full."""
    first_line = message.partition("\n")[0]
    if raised := re.search(r" raised (\w+)", first_line):
        return raised[1]
    if shown := re.search(r" (?:gave|printed|chose|has shape|has) (.+?)(?: parameters)?(?:, expected .*)?\.$", first_line):
        with suppress(ValueError, SyntaxError):
            if not isinstance(ast.literal_eval(shown[1]), float):  # which may be rounded
                return shown[1]
    return "<what this answer gives there>"


def _indented(*texts: str) -> str:
    return indent("\n".join(texts), "    ")
