"""A task that needs depth: the elementary cellular automaton of rule 110, whose next row is a function of this one, over and over."""

from __future__ import annotations

import torch

RULE = 110


def next_rows(rows: torch.Tensor, rule: int = RULE) -> torch.Tensor:
    """One step of an elementary cellular automaton on a ring.

    rows: integers 0 and 1, shape [..., W]; each cell's next value is the bit of `rule` that its left neighbour, itself and its right
    neighbour spell as a binary number (Wolfram's numbering). Returns the same shape and dtype.
    """
    if not 0 <= rule <= 255:
        raise ValueError(f"rule must be between 0 and 255: {rule}")
    table = torch.tensor([rule >> pattern & 1 for pattern in range(8)], dtype=rows.dtype, device=rows.device)
    left, right = rows.roll(1, dims=-1), rows.roll(-1, dims=-1)
    return table[(4 * left + 2 * rows + right).long()]


def automaton_batch(
    batch_size: int, steps: int, generator: torch.Generator, width: int = 12, rule: int = RULE
) -> tuple[torch.Tensor, torch.Tensor]:
    """Random first rows, and the rows after 1 to `steps` steps.

    Returns integers of shapes [B, W] and [steps, B, W]: the second holds what layer 1, 2, ... `steps` should say.
    """
    start = torch.randint(2, (batch_size, width), generator=generator)
    rows = [start]
    for _ in range(steps):
        rows.append(next_rows(rows[-1], rule))
    return start, torch.stack(rows[1:]) if steps else start.new_empty(0, batch_size, width)
