"""Run something in a process of its own and bring back plain data: nothing of this process changes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

Work = Callable[[], dict]


class Ended(Exception):
    """The process ended, or was ended, before it had a result. The text says how."""


def fork_is_safe() -> bool:
    """A forked child may compute: there is a fork, no CUDA context to lose, and no system library that forbids it (macOS)."""
    torch = sys.modules.get("torch")
    return hasattr(os, "fork") and sys.platform != "darwin" and not (torch and torch.cuda.is_initialized())


def run_forked(work: Work, limit: float) -> dict:
    """The result of `work`, called in a forked child of this process within `limit` seconds. Raises Ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_the_child(work, writing)
    os.close(writing)
    try:
        content = _read_all(reading, limit)
    finally:
        os.close(reading)
        _kill(child)
        _, status = os.waitpid(child, 0)
    if content is None:
        raise Ended(f"it ran longer than {limit:g} seconds and was stopped")
    return _result(content, os.waitstatus_to_exitcode(status))


def run_fresh(program: str, argument: dict, limit: float) -> dict:
    """The result that `program`, Python source given to a fresh interpreter, prints for `argument` (JSON on its standard input)."""
    try:
        done = subprocess.run([sys.executable, "-c", program], input=json.dumps(argument).encode(), capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Ended(f"it ran longer than {limit:g} seconds and was stopped") from None
    return _result(done.stdout, done.returncode)


def _be_the_child(work: Work, writing: int) -> None:
    """Never returns: the child must not go back into the loop of the kernel that it is a copy of."""
    status = 1
    try:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)  # the threads of the parent's pool are not here, and waiting for them would never end
        with os.fdopen(writing, "w") as pipe:
            json.dump(work(), pipe)
        status = 0
    finally:
        os._exit(status)


def _read_all(reading: int, limit: float) -> bytes | None:
    """Everything up to the end of the pipe; None when that takes longer than `limit` seconds."""
    deadline, content = time.monotonic() + limit, b""
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        piece = os.read(reading, 65536)
        if not piece:
            return content
        content += piece


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def _result(content: bytes, status: int) -> dict:
    try:
        return json.loads(content)
    except ValueError:
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        raise Ended(f"it ended Python itself ({how})") from None
