"""Two rooms: the answers run in one process, the tests in another, and only plain data passes between them.

    with AnswerRoom(cells) as room:
        space = namespace_of_tests(room, locked_cells, names_the_answers_define)
        run_cell(test_cell, source, space)

In the tests' room every name that an answer defined is a `Remote`: calling it sends the arguments over, and a plain value or another
`Remote` comes back. `course lint` runs every test cell this way, so that no chapter is written whose tests need the answer's own process.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import subprocess
import sys
import types
from collections.abc import Iterable
from contextlib import redirect_stdout, suppress
from typing import Any, NoReturn

from autograder import ties, wire
from autograder.factory import recipe_of

# What a test may do with an object that stays in the answers' room.
OPERATIONS = {
    "call": lambda target, *arguments, **named: target(*arguments, **named),
    "attribute": lambda target, name: getattr(target, name),
    "item": lambda target, key: target[key],
    "length": lambda target: len(target),
    "list": lambda target: list(target),
    "int": lambda target: int(target),
    "float": lambda target: float(target),
    "relation": ties.relation,
}
Cells = Iterable[tuple[str, str]]  # name and source


class RoomEnded(RuntimeError):
    """The process of the answers is no longer there."""


class CellFailed(Exception):
    """A cell that comes before the tests raised an error; `cell` is its name."""

    def __init__(self, cell: str, error: Exception):
        super().__init__(f"{type(error).__name__}: {error}")
        self.cell = cell


def run_cell(name: str, source: str, space: dict[str, Any]) -> None:
    """Execute a cell, with its source where tracebacks, `inspect` and `expect` look for it."""
    file = f"<cell {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec", dont_inherit=True), space)


def namespace_of_tests(room: AnswerRoom, locked_cells: Cells, answered: Iterable[str]) -> dict[str, Any]:
    """Where test cells run: the locked cells' names are here, the names that answers define stand for the other room's."""
    module = sys.modules["__tests__"] = types.ModuleType("__tests__")  # dataclasses and inspect look up where a class was made
    space = vars(module)
    space.update({name: Remote(room, name) for name in answered})
    for name, source in locked_cells:
        try:
            run_cell(name, source, space)
        except Exception as error:
            raise CellFailed(name, error) from error
    return space


# --- the tests' room ---


class Remote:
    """An object of the answers' room, as the tests' room sees it. It can be asked, and never compared."""

    __slots__ = ("__weakref__", "_handle", "_room")

    def __init__(self, room: AnswerRoom, handle: str | int):
        object.__setattr__(self, "_room", room)
        object.__setattr__(self, "_handle", handle)

    def __repr__(self) -> str:
        return "<an object of the answer, which cannot be sent to another process>"

    def __call__(self, *arguments, **named):
        return self._room.ask("call", self, *arguments, **named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._room.ask("attribute", self, name)

    def __setattr__(self, name, value):
        raise wire.CannotCross(f"a test cannot set {name!r} on an object of the answer")

    def __getitem__(self, key):
        return self._room.ask("item", self, key)

    def __len__(self):
        return self._room.ask("length", self)

    def __iter__(self):
        return iter(self._room.ask("list", self))

    def __int__(self):
        return self._room.ask("int", self)

    def __float__(self):
        return self._room.ask("float", self)

    def relation_there(self, first: str, second: str) -> str:
        """How two of its parameters hang together (`ties.relation`)."""
        return self._room.ask("relation", self, first, second)

    def _refuse(self, *_) -> NoReturn:
        raise wire.CannotCross("only plain values can be compared: ask the answer's object for one (an attribute, int(...), a call)")

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = None


class AnswerRoom:
    """A process that runs the locked and the answer cells, and then answers questions about what they defined.

    Entering raises CellFailed when one of the cells fails.
    """

    def __init__(self, cells: Cells):
        self._cells = list(cells)

    def __enter__(self) -> AnswerRoom:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "autograder.rooms"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            for name, source in self._cells:
                self._run(name, source)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        with suppress(BrokenPipeError):  # what was not yet written never will be
            self._process.stdin.close()

    def ask(self, operation: str, *arguments: Any, **named: Any) -> Any:
        """The result of `operation` on `arguments`, the first of which stays in the other room. What the answer prints is printed here."""
        encoded = [_encode(argument) for argument in arguments]
        reply = self._exchange(
            {"operation": operation, "arguments": encoded, "named": {name: _encode(value) for name, value in named.items()}}
        )
        sys.stdout.write(reply["printed"])
        if "error" in reply:
            raise wire.decode_error(*reply["error"])
        return wire.decode(reply["value"], lambda kind, content: Remote(self, content))

    def _run(self, name: str, source: str) -> None:
        reply = self._exchange({"cell": name, "source": source})
        if "error" in reply:
            raise CellFailed(name, wire.decode_error(*reply["error"]))

    def _exchange(self, question: dict) -> dict:
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RoomEnded("the process that ran the answers has ended: an answer called exit(), or crashed")
        return json.loads(line)


def _encode(value: Any) -> Any:
    return wire.encode(value, _encode_object)


def _encode_object(value: Any) -> dict:
    """What is no plain data is of the other room, or made by a factory that the other room has too."""
    if type(value) is Remote:
        return {"handle": value._handle}
    if recipe := recipe_of(value):
        return {"recipe": [recipe.name, [_encode(argument) for argument in recipe.arguments]]}
    raise wire.CannotCross(
        f"a test cannot hand a {type(value).__name__} to an answer that runs in another process: "
        "hand it plain values or tensors, or let a @factory in a locked cell make it"
    )


# --- the answers' room ---


class _Host:
    """What happens in the answers' process: cells run as `__main__`, objects that cannot be sent are kept under a number."""

    def __init__(self):
        self.main = types.ModuleType("__main__")
        sys.modules["__main__"] = self.main
        self.kept: list[Any] = []

    def reply(self, question: dict) -> str:
        printed = io.StringIO()
        try:
            with redirect_stdout(printed):
                value = wire.encode(self._result(question), self._keep)
            return json.dumps({"printed": wire.encode(printed.getvalue()), "value": value})
        except Exception as error:
            return json.dumps({"printed": printed.getvalue()[: wire.LARGEST], "error": wire.encode_error(error)})

    def _result(self, question: dict) -> Any:
        if "cell" in question:
            return run_cell(question["cell"], question["source"], vars(self.main))
        arguments = [wire.decode(argument, self._arrive) for argument in question["arguments"]]
        named = {name: wire.decode(value, self._arrive) for name, value in question["named"].items()}
        return OPERATIONS[question["operation"]](*arguments, **named)

    def _keep(self, value: Any) -> dict:
        self.kept.append(value)
        return {"handle": len(self.kept) - 1}

    def _arrive(self, kind: str, content: Any) -> Any:
        if kind == "recipe":
            name, arguments = content
            return self._named(name)(*(wire.decode(argument, self._arrive) for argument in arguments))
        return self._named(content) if isinstance(content, str) else self.kept[content]

    def _named(self, name: str) -> Any:
        if not hasattr(self.main, name):
            raise NameError(f"name {name!r} is not defined")
        return getattr(self.main, name)


def _serve() -> None:
    """Answer one question a line. What a cell reads or prints by itself must not pass for a question or an answer."""
    questions, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    host = _Host()
    for line in questions:
        answers.write(host.reply(json.loads(line)) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
