"""Are parameters tied? Told by what they do, not by comparing addresses.

A tie has three properties, and popular imitations have only some of them: writing through one name is read through the
other; an optimizer sees one parameter; it stays so after a step. Equal values are none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from autograder.plain import is_tensor, kind, shorten

TIED = "tied"
ONE_STORAGE = "one storage, two parameters"
PARTLY = "partly shared"
EQUAL_COPIES = "equal copies"
SEPARATE = "separate"

OUTCOMES = (TIED, ONE_STORAGE, PARTLY, EQUAL_COPIES, SEPARATE)


def relation(module: Any, first: str, second: str) -> str:
    """How the tensors called `first` and `second` in `module` hang together: one of OUTCOMES. Leaves the module as it was.

    Raises LookupError when a name leads to no tensor. A module in another process is asked there.
    """
    if elsewhere := getattr(type(module), "relation_there", None):
        return elsewhere(module, first, second)
    import torch

    a, b = _tensor(module, first), _tensor(module, second)
    if a is b:
        return TIED
    if a.is_meta or b.is_meta:  # no values to write or read
        return ONE_STORAGE if a.untyped_storage()._cdata == b.untyped_storage()._cdata else SEPARATE
    with _left_as_it_was(a), _left_as_it_was(b):
        ways = [_follows(a, b), _follows(b, a)]
        if all(follows.all() for follows in ways) and a.numel():
            return TIED if _optimizer_steps_once(module, a, b) else ONE_STORAGE
    if any(follows.any() for follows in ways):
        return PARTLY
    return EQUAL_COPIES if a.dtype == b.dtype and torch.equal(a, b) else SEPARATE


def _tensor(module: Any, name: str) -> Any:
    try:
        found = attrgetter(name)(module)
    except AttributeError:
        names = ", ".join(dict(module.named_parameters(remove_duplicate=False)))
        raise LookupError(f"there is no {name}; there are {shorten(names)}") from None
    if not is_tensor(found):
        raise LookupError(f"{name} is {kind(found)}, not a parameter")
    return found


@contextmanager
def _left_as_it_was(tensor: Any) -> Iterator[None]:
    """Put back what the memory of `tensor` holds, also where `tensor` itself does not reach."""
    storage = tensor.untyped_storage()
    before = storage.clone()
    try:
        yield
    finally:
        storage.copy_(before)


def _follows(read: Any, written: Any) -> Any:
    """Which numbers in `read` become whatever is written to all of `written`?"""
    written.data.fill_(0)  # every dtype has 0 and 1
    follows = read.data == 0
    written.data.fill_(1)
    return follows & (read.data == 1)


def _optimizer_steps_once(module: Any, a: Any, b: Any) -> bool:
    """One SGD step that only halves: a weight that two parameters share is halved twice."""
    import torch

    parameters = [parameter for parameter in module.parameters() if parameter is a or parameter is b]
    if not a.is_floating_point():
        return len(parameters) < 2
    if not parameters:
        return True  # plain tensors: no optimizer will touch them
    a.data.fill_(1.0)
    grads = [parameter.grad for parameter in parameters]
    try:
        for parameter in parameters:
            parameter.grad = torch.zeros_like(parameter)
        torch.optim.SGD(parameters, lr=1.0, weight_decay=0.5).step()
        return bool((a == 0.5).all()) and bool((b == 0.5).all())
    finally:
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad
