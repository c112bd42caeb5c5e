"""Which elements of memory a parameter reaches, and which parameters reach the same ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import nn

MOST_RUNS = 2**20


@dataclass(frozen=True)
class Memory:
    """The elements of memory that a tensor reaches: a set, kept as runs, so that a billion elements cost no more than one.

    `len(memory)` is the number of elements, each counted once; `memory | other` reaches what either of two overlapping ones reaches.
    """

    space: tuple[str, int]  # addresses can be compared inside one space only
    itemsize: int  # bytes in an element
    runs: tuple[tuple[int, int], ...]  # [start, stop) in bytes: sorted, apart from each other

    def __len__(self) -> int:
        return sum(stop - start for start, stop in self.runs) // self.itemsize

    def __or__(self, other: Memory) -> Memory:
        if (self.space, self.itemsize) != (other.space, other.itemsize):
            raise ValueError("only memories of one space and one size of element can be joined")
        return Memory(self.space, self.itemsize, _merged(self.runs + other.runs))


def _merged(runs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same bytes in as few runs as possible."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(runs):
        if merged and start <= merged[-1][1]:
            start, last_stop = merged.pop()
            stop = max(stop, last_stop)
        merged.append((start, stop))
    return tuple(merged)


def memory_of(name: str, parameter: nn.Parameter) -> Memory:
    """The memory that `parameter` reaches. No values are read, so it works on the `meta` device too.

    Raises ValueError with `name` when the parameter has no memory of its own to look at, or lies in more than `MOST_RUNS` pieces.
    """
    refuse_without_memory(name, parameter)
    itemsize, storage = parameter.element_size(), parameter.untyped_storage()
    if storage.device.type in ("cpu", "cuda"):  # addresses: two storages over one array are seen to overlap
        space, start = (str(storage.device), 0), parameter.data_ptr()
    else:  # no addresses here (on `meta` every data_ptr() is 0): places are counted from the start of the parameter's own storage
        space, start = (str(storage.device), storage._cdata), parameter.storage_offset() * itemsize
    if parameter.numel() == 0:
        return Memory(space, itemsize, ())

    starts, length = [start], itemsize
    for stride, size in sorted(zip(parameter.stride(), parameter.shape, strict=True)):
        step = stride * itemsize
        if len(starts) == 1 and step <= length:  # every repeat begins inside the last one or right behind it: one longer run
            length += step * (size - 1)
        elif len(starts) * size <= MOST_RUNS:
            starts = [first + step * index for first in starts for index in range(size)]
        else:
            raise ValueError(f"{name} lies in more than {MOST_RUNS:,} pieces of memory: replace it by a contiguous copy, then count")
    return Memory(space, itemsize, _merged((first, first + length) for first in starts))


def refuse_without_memory(name: str, parameter: nn.Parameter) -> None:
    """Raise ValueError, with `name` and what to do, when the elements of `parameter` are not plain elements in memory."""
    if nn.parameter.is_lazy(parameter):
        raise ValueError(f"{name} has no shape yet: call the module once on an input, then count")
    if parameter.layout is not torch.strided or parameter.is_nested:
        kind = "nested" if parameter.is_nested else parameter.layout
        raise ValueError(f"{name} is {kind}, which does not store each element once: count the module before conversion")
    if hasattr(parameter, "__tensor_flatten__"):
        raise ValueError(f"{name} is a {type(parameter).__name__}, which is made of other tensors: count the module before conversion")
    if parameter.untyped_storage().device.type != "meta" and parameter.numel() and parameter.data_ptr() == 0:
        raise ValueError(f"{name} has a shape but no memory behind it: count the module before it is wrapped or sharded")


def overlapping(memories: dict[str, Memory]) -> list[tuple[str, ...]]:
    """All names of `memories`, in groups: names whose memories overlap, directly or through others, are in one group.

    Groups, and names inside a group, keep the order of `memories`. A name that overlaps with no other is a group of one.
    Raises ValueError when elements that overlap do not coincide (float32 over float16): nobody can say how many those are.
    """
    group = {name: {name} for name in memories}

    def join(name: str, other: str) -> None:
        ours, theirs = memories[name], memories[other]
        if ours.itemsize != theirs.itemsize or (ours.runs[0][0] - theirs.runs[0][0]) % ours.itemsize:
            raise ValueError(f"{name} and {other} overlap in memory, but their elements do not: give each its own with .clone()")
        group[name] |= group[other]
        group.update(dict.fromkeys(group[other], group[name]))

    # From the lowest address upwards, it is enough to hold each run against the one that reached farthest so far.
    farthest_space, farthest_stop, farthest = None, 0, ""
    for space, start, stop, name in sorted((memory.space, *run, name) for name, memory in memories.items() for run in memory.runs):
        same_space = space == farthest_space
        if same_space and start < farthest_stop and group[name] is not group[farthest]:
            join(farthest, name)
        if not same_space or stop > farthest_stop:
            farthest_space, farthest_stop, farthest = space, stop, name

    in_order: dict[int, list[str]] = {}
    for name in memories:
        in_order.setdefault(id(group[name]), []).append(name)
    return [tuple(names) for names in in_order.values()]


def check_countable(module: nn.Module) -> None:
    """Refuse what cannot be counted, before anything is.

    Raises TypeError when `module` is not a module, ValueError when modules hold each other in a circle, when weights are packed
    where `parameters()` does not show them, or when a parameter is lazy, sparse, nested, sharded or otherwise without memory.
    """
    if not isinstance(module, nn.Module):
        kind = f"the class {module.__name__}" if isinstance(module, type) else f"of type {type(module).__name__}"
        raise TypeError(f"module must be a torch.nn.Module, such as nn.Linear(2, 3); it is {kind}")
    _refuse_cycle(module, "module", above={}, done=set())
    for name, part in module.named_modules(prefix="module"):
        packed = any(isinstance(getattr(part, where, None), torch.ScriptObject) for where in ("_packed_params", "_packed_weight", "param"))
        if packed or any(buffer.is_quantized or buffer.is_mkldnn for buffer in part.buffers(recurse=False)):
            raise ValueError(f"{name} packs its weights where parameters() does not see them: count the module before conversion")
    for name, parameter in module.named_parameters():
        refuse_without_memory(name, parameter)


def _refuse_cycle(module: nn.Module, name: str, above: dict[nn.Module, str], done: set[nn.Module]) -> None:
    if module in above:
        raise ValueError(f"{name} is {above[module]} again: a module that holds itself has no end of paths")
    if module not in done:
        for child_name, child in module.named_children():
            _refuse_cycle(child, f"{name}.{child_name}", {**above, module: name}, done)
        done.add(module)
