"""What a rule of `course lint` finds."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """In which cell ('' for the whole notebook), and what is wrong there and what would be right."""

    cell: str
    text: str
