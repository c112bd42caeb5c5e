"""What the running frames tell: what a test asked for, and where an answer broke."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

from autograder.plain import shorten, show

LONGEST_GIVEN = 20  # letters of a string that are worth repeating
MAY_BE_FOLLOWED_BY_A_PATH = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple, ast.Dict)


@dataclass(frozen=True)
class Asked:
    """What stands inside `expect(...)`, as the test has it; `givens` are the numbers and strings that its names stood for."""

    text: str = "got"
    givens: str = ""
    is_compound: bool = False

    def at(self, path: str) -> str:
        return f"({self.text}){path}" if path and self.is_compound else f"{self.text}{path}"


def asked() -> Asked:
    """The `x` of the `expect(x).…` call that is running, found from the bytecode of the frame that made it."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in (__name__, "autograder.expect"):
        frame = frame.f_back
    try:
        from executing import Source

        found = Source.executing(frame)
        call = found.node.func.value  # expect(x).equals(...): the call, its method, what the method belongs to
        answer = call.args[0].body if isinstance(call.args[0], ast.Lambda) else call.args[0]
        text = shorten(textwrap.dedent(ast.get_source_segment(found.source.text, answer)))
        givens = ", ".join(f"{name} is {value}" for name, value in _givens(answer, frame))
        return Asked(text, f"Here {givens}." if givens else "", not isinstance(answer, MAY_BE_FOLLOWED_BY_A_PATH))
    except Exception:  # no source (an exec'd string, an optimised frame), no `executing`: the message does without
        return Asked()


def _givens(answer: ast.expr, frame: FrameType) -> Iterator[tuple[str, str]]:
    if isinstance(answer, ast.Name):
        return
    nodes = [node for node in ast.walk(answer) if isinstance(node, ast.Name)]
    own = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}  # the variable of a comprehension
    for name in sorted({node.id for node in nodes} - own):
        value = frame.f_locals.get(name, frame.f_globals.get(name))
        if type(value) in (bool, int, float) or (type(value) is str and len(value) <= LONGEST_GIVEN):
            yield name, show(value)


def line_that_raised(error: BaseException) -> str:
    """The deepest line of notebook code that `error` came through, the `lambda` of the test aside; '' when there is none."""
    line, step = "", error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        in_notebook = not code.co_filename.startswith("<frozen") and not os.path.exists(code.co_filename)
        if in_notebook and code.co_name not in ("<lambda>", "<module>"):
            line = linecache.getline(code.co_filename, step.tb_lineno).strip() or line
        step = step.tb_next
    return shorten(line)
