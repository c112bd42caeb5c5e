"""Work in a process of its own: what comes back, what stays behind, and what happens when nothing comes back."""

from __future__ import annotations

import copy
import ctypes
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import torch

from autograder.isolation import Lost, fork_is_safe, run_afresh, run_isolated

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def open_files() -> dict[str, str]:
    numbers = [number for number in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{number}")]
    return {number: os.readlink(f"/proc/self/fd/{number}") for number in numbers}


def children() -> list[str]:
    """Processes of ours that run, or have ended and were not waited for."""
    return sorted(child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split())


@pytest.fixture(autouse=True)
def no_child_is_left():
    before = children()
    yield
    assert children() == before


# --- what comes back ---


def test_plain_data_comes_back_from_another_process():
    result = run_isolated(lambda: {"process": os.getpid(), "text": "½\n", "numbers": [1, None, 2.5]}, limit=10)
    assert result.pop("process") != os.getpid()
    assert result == {"text": "½\n", "numbers": [1, None, 2.5]}


def test_a_reply_larger_than_a_pipe_holds_comes_back_whole():
    assert len(run_isolated(lambda: {"text": "x" * 3_000_000}, limit=10)["text"]) == 3_000_000


def test_a_new_process_gives_what_a_function_that_it_imports_gives():
    assert run_afresh(copy.copy, {"text": "½", "number": 2.5}, limit=30) == {"text": "½", "number": 2.5}
    assert int(run_afresh(os.readlink, "/proc/self", limit=30)) != os.getpid()


# --- what stays behind ---


def test_nothing_of_the_work_is_left_in_the_parent(capfd):
    thing = {"layers": [1, 2]}
    torch.manual_seed(1), numpy.random.seed(1), random.seed(1)
    states = torch.get_rng_state(), numpy.random.get_state()[1].tolist(), random.getstate()
    files, environment, folder, threads = open_files(), dict(os.environ), os.getcwd(), torch.get_num_threads()

    def work() -> dict:
        thing["layers"].append(3)
        torch.rand(3), numpy.random.rand(3), random.random()
        os.environ["LEFT"] = "1"
        os.chdir("/")
        os.closerange(0, 3)
        return {"layers": thing["layers"]}

    assert run_isolated(work, limit=10) == {"layers": [1, 2, 3]}
    assert thing == {"layers": [1, 2]}
    assert torch.equal(torch.get_rng_state(), states[0])
    assert (numpy.random.get_state()[1].tolist(), random.getstate()) == states[1:]
    assert (open_files(), dict(os.environ), os.getcwd(), torch.get_num_threads()) == (files, environment, folder, threads)


def test_no_output_reaches_the_parent_however_it_is_written(capfd):
    kept = sys.stdout

    def work() -> dict:
        print("printed")
        print("to a stream somebody kept", file=kept, flush=True)
        os.write(1, b"written")
        os.system("echo from a shell; echo and its errors >&2")
        print("an error", file=sys.stderr)
        return {}

    print("before, ", end="")
    run_isolated(work, limit=10)
    print("after")
    assert capfd.readouterr() == ("before, after\n", "")


def test_nobody_is_asked_for_input():
    def work() -> dict:
        try:
            return {"answer": input("? ")}
        except EOFError:
            return {"answer": None, "rest": sys.stdin.read()}

    assert run_isolated(work, limit=10) == {"answer": None, "rest": ""}


def test_processes_the_work_has_started_end_with_it(tmp_path):
    def work() -> dict:
        if os.fork() == 0:
            time.sleep(1)
            (tmp_path / "alive").touch()
            os._exit(0)
        return {}

    run_isolated(work, limit=10)
    time.sleep(1.3)
    assert not (tmp_path / "alive").exists()


# --- nothing comes back ---


def test_work_that_never_ends_is_stopped():
    start = time.monotonic()
    with pytest.raises(Lost, match=r"was still running after 0\.3 s and was stopped"):
        run_isolated(lambda: [None for _ in iter(int, 1)], limit=0.3)
    assert time.monotonic() - start < 3


def test_a_new_process_that_never_ends_is_stopped():
    with pytest.raises(Lost, match="was still running after 1 s and was stopped"):
        run_afresh(time.sleep, 60, limit=1)


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (lambda: os._exit(3), "exit status 3"),
        (lambda: os._exit(0), "exit status 0"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "SIGTERM"),
        (lambda: ctypes.string_at(0), "SIGSEGV"),
    ],
)
def test_work_that_ends_its_process_is_told_from_work_that_gave_something(end, how):
    with pytest.raises(Lost, match=rf"nothing came back \({how}\)"):
        run_isolated(lambda: {"end": end()}, limit=10)


def test_work_that_closes_its_files_is_lost_at_once():
    with pytest.raises(Lost, match="closed its files"):
        run_isolated(lambda: {"closed": os.closerange(3, 4096)}, limit=10)


def test_a_new_process_that_ends_early_is_lost():
    with pytest.raises(Lost, match="exit status 7"):
        run_afresh(os._exit, 7, limit=30)


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt(), ValueError("no such thing")])
def test_an_exception_the_work_lets_through_is_named(error):
    def work() -> dict:
        raise error

    with pytest.raises(Lost, match=f"could not be run: {type(error).__name__}: {error}"):
        run_isolated(work, limit=10)


def test_what_is_not_plain_data_is_refused():
    with pytest.raises(Lost, match="not JSON serializable"):
        run_isolated(lambda: {"set": {1, 2}}, limit=10)


# --- where a fork can be trusted ---


def test_mathematics_works_in_a_child_of_a_parent_with_openmp_threads():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        torch.ones(1_000_000).exp()  # starts a second thread, which a fork does not copy

        def work() -> dict:
            x = torch.ones(300, 300, requires_grad=True)
            (x @ x).tanh().mul(0).sum().backward()
            layer = torch.nn.TransformerEncoderLayer(16, 2, batch_first=True)
            layer(torch.ones(4, 64, 16)).sum().backward()
            return {"gradient": x.grad.sum().item(), "product": float((numpy.ones((300, 300)) @ numpy.ones((300, 300)))[0, 0])}

        assert run_isolated(work, limit=20) == {"gradient": 0.0, "product": 300.0}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_fork_from_another_thread_works_too():
    results = []
    thread = threading.Thread(target=lambda: results.append(run_isolated(lambda: {"sum": torch.ones(9).sum().item()}, limit=10)))
    thread.start()
    thread.join(15)
    assert results == [{"sum": 9.0}]


def test_a_fork_is_safe_until_cuda_is_used_and_never_on_macos(monkeypatch):
    assert fork_is_safe()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: True)))
        assert not fork_is_safe()
        patch.delitem(sys.modules, "torch")
        assert fork_is_safe()
        patch.setattr(sys, "platform", "darwin")
        assert not fork_is_safe()
    monkeypatch.delattr(os, "fork")
    assert not fork_is_safe()
