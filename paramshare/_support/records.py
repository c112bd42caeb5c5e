"""Records of the course's own benchmarks: what was asked, what came out, and the machine it was measured on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch


def record(name: str) -> dict[str, Any]:
    """The benchmark record `data/benchmarks/name.json`, with the machine it was taken on. Raises ValueError when there is none."""
    path = files("paramshare_data") / "benchmarks" / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"no record {name!r} in data/benchmarks/: not measured yet")
    return json.loads(path.read_text(encoding="utf-8"))


def write_record(path: Path, question: str, results: Mapping[str, Any]) -> None:
    """Write a record: the question in one sentence, the date, the machine, and the results, in place of what was there."""
    content = {"question": question, "date": date.today().isoformat(), "machine": machine(), "results": results}
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(".tmp")
    written.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    written.replace(path)


def machine() -> dict[str, Any]:
    """What a reader must know of the machine to compare figures: no name, no path."""
    described = {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    return described | ({"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {})


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
