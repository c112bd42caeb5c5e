"""`course run`: execute source notebooks and store their outputs in canonical form."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable

from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from autograder import notebook
from autograder.course import Chapter

# The same numbers everywhere, and no progress bars in stored outputs.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "PYTHONHASHSEED": "0"}
CELL_TIMEOUT = 600  # seconds
SLOWEST = 3

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class ThisPython(AsyncKernelManager):
    """Starts the kernel with the interpreter that runs this, whatever kernelspec of the notebook's name is installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        return KernelSpec(**get_kernel_dict(["--log-level=ERROR"]))  # or each start warns of TCP


class Client(NotebookClient):
    """Remembers how long each cell took; after an error, the last cell it remembers is the one that failed."""

    def __init__(self, chapter: Chapter, nb: NotebookNode):
        super().__init__(
            nb,
            kernel_manager_class=ThisPython,
            timeout=CELL_TIMEOUT,
            shutdown_kernel="immediate",
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(chapter.source.parent)}},
        )
        self.seconds: dict[str, float] = {}

    async def async_execute_cell(self, cell: NotebookNode, *args, **kwargs) -> NotebookNode:
        started = time.perf_counter()
        try:
            return await super().async_execute_cell(cell, *args, **kwargs)
        finally:
            self.seconds[cell.id] = time.perf_counter() - started


def run(chapters: Iterable[Chapter]) -> bool:
    """Execute each source and store its outputs; one that fails is left as it was. Prints what happened, returns whether all ran.

    Only a cell tagged `raises-exception` may fail.
    """
    return all([_run_chapter(chapter) for chapter in chapters])


def _run_chapter(chapter: Chapter) -> bool:
    nb = notebook.read_source(chapter)
    client, started = Client(chapter, nb), time.perf_counter()
    try:
        client.execute(env=_environment())
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"{chapter.name}: cell {list(client.seconds)[-1]} failed, nothing is stored. {_message(error)}")
        return False
    notebook.write(notebook.canonical(nb), chapter.source)
    print(f"{chapter.name}: {time.perf_counter() - started:.1f} s, slowest cells: {_slowest(client.seconds)}")
    return True


def _slowest(seconds: dict[str, float]) -> str:
    cells = sorted(seconds, key=seconds.get, reverse=True)[:SLOWEST]
    return ", ".join(f"{id} {seconds[id]:.1f} s" for id in cells)


def _environment() -> dict[str, str]:
    """This environment without a matplotlib backend of its own, so that the kernel takes the one for notebooks."""
    return {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | ENVIRONMENT


def _message(error: Exception) -> str:
    text = f"{error.ename}: {error.evalue}" if isinstance(error, CellExecutionError) else str(error).partition("\n")[0]
    return _COLOUR.sub("", text)
