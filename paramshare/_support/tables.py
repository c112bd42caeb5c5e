"""Figures from papers: data with its source."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

MARKS = ("seen", "second-hand", "computed")


def paper_table(name: str) -> list[dict[str, Any]]:
    """The rows of `data/papers/name.csv`, numbers as numbers. Every row says its `paper`, `table` and `mark`.

    The mark: `seen` in the paper itself, `second-hand` (read in somebody's account of it) or `computed` from other figures.
    Raises ValueError when there is no such table.
    """
    folder = files("paramshare_data") / "papers"
    path = folder / f"{name}.csv"
    if not path.is_file():
        known = ", ".join(sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv")))
        raise ValueError(f"no table {name!r}; there are: {known}")
    with path.open(encoding="utf-8", newline="") as file:
        return [{column: _number(text) for column, text in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
