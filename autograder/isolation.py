"""Work in a process of its own: it may do what it likes, nothing of it stays but the plain data that comes back.

`run_isolated` forks, so that the work sees every object there is. `run_afresh` starts a new Python, for where a fork cannot be trusted.
"""

from __future__ import annotations

import builtins
import faulthandler
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn


class Lost(Exception):
    """Nothing came back from the work. The message says why; its subject is the work."""


def fork_is_safe() -> bool:
    """Whether a forked child can compute: not on macOS, whose frameworks refuse to, and not after the first use of CUDA."""
    torch = sys.modules.get("torch")
    return hasattr(os, "fork") and sys.platform != "darwin" and not (torch and torch.cuda.is_initialized())


def run_isolated(work: Callable[[], Any], limit: float) -> Any:
    """What `work()` gives, plain data, done in a forked child within `limit` seconds. Raises Lost when nothing comes back."""
    reader, writer = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        _be_the_child(work, writer, limit)
    writer.close()
    with suppress(OSError):
        os.setpgid(child, child)  # the child does the same: whoever comes first
    try:
        reply = _received(reader, limit)
    finally:
        reader.close()
        status = _end(child)
    return _result(reply, status)


def run_afresh(work: Callable[[Any], Any], request: Any, limit: float) -> Any:
    """The same for `work(request)` in a new Python process. `work` is a function that can be imported, `request` is plain data."""
    order = json.dumps([work.__module__, work.__name__, request, limit])
    command = [sys.executable, "-c", "from autograder.isolation import serve; serve()"]
    try:
        ended = subprocess.run(command, input=order.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        raise _too_slow(limit) from None
    return _result(ended.stdout, ended.returncode)


def serve() -> NoReturn:
    """The other end of `run_afresh`."""
    reply = os.fdopen(os.dup(1), "wb")
    module, name, request, limit = json.load(sys.stdin)
    _cut_ties(limit)
    reply.write(_told(lambda: getattr(import_module(module), name)(request)))
    reply.flush()
    os._exit(0)  # not waiting for threads that the work has left behind


# --- in the child ---


def _be_the_child(work: Callable[[], Any], writer: Connection, limit: float) -> NoReturn:
    try:
        os.setpgid(0, 0)  # what the work starts can be ended with it
        _cut_ties(limit)
        _compute_on_one_thread()
        writer.send_bytes(_told(work))
        os._exit(0)
    finally:
        os._exit(1)


def _told(work: Callable[[], Any]) -> bytes:
    """The reply: what the work gave, or the exception it should have caught itself."""
    try:
        return json.dumps({"gave": work()}).encode()
    except BaseException as error:
        return json.dumps({"raised": f"{type(error).__name__}: {error}"}).encode()


def _cut_ties(limit: float) -> None:
    """No input, no output anywhere, and an end of its own should the parent die before it can set one."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    silence = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):  # a logging handler may have kept them, and a kernel's send from a child too
        stream.write, stream.flush = silence.write, silence.flush
    sys.stdin, sys.stdout, sys.stderr = open(os.devnull), silence, silence  # noqa: SIM115
    builtins.input = _no_input  # a kernel's own would ask the notebook
    faulthandler.disable()  # it kept a way out of its own; a crash is reported by the parent
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limit + 5)


def _no_input(prompt: object = "") -> NoReturn:
    raise EOFError("nobody can answer input() here")


def _compute_on_one_thread() -> None:
    """GNU OpenMP's threads do not survive a fork: the first parallel loop in the child would wait for them forever."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


# --- in the parent ---


def _received(reader: Connection, limit: float) -> bytes:
    """The child's reply; empty when it ended without one."""
    if not reader.poll(limit):
        raise _too_slow(limit)
    try:
        return reader.recv_bytes()
    except (EOFError, OSError):
        return b""


def _end(child: int) -> int:
    """End the child and all it started; its exit status."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _result(reply: bytes, status: int) -> Any:
    if not reply:
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        raise Lost(f"ended its process or closed its files, so that nothing came back ({how})")
    said = json.loads(reply)
    if "raised" in said:
        raise Lost(f"could not be run: {said['raised']}")
    return said["gave"]


def _too_slow(limit: float) -> Lost:
    return Lost(f"was still running after {limit:g} s and was stopped")
