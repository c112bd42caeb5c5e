"""Plain values as a student reads them. Nothing that an answer's class says of itself is believed, and no library is imported for it."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator
from numbers import Complex, Integral, Real
from typing import Any

LONGEST_TEXT = 90
LONGEST_INT = 10**30
MOST_ITEMS, DEEPEST = 30, 4  # more would not fit in LONGEST_TEXT
ADDRESS = re.compile(r"( at)? 0x[0-9a-fA-F]{6,}")
STUDENTS_WORDS = {"Parameter": "tensor", "Tensor": "tensor", "ndarray": "NumPy array", "str": "string", "ellipsis": "placeholder (...)"}


def plain(value: Any) -> Any:
    """The number, string or container that `value` is or stands for, of Python's own type; `value` itself when it is none of these.

    A defaultdict is a dict and a named tuple a tuple: they are right where the plain one is. What they hold stays as it is.
    """
    cls, numpy = type(value), sys.modules.get("numpy")
    if cls is bool or value is None:
        return value
    for base, copy in ((str, str.__str__), (int, int.__index__), (float, float.__float__), (complex, complex.__pos__)):
        if issubclass(cls, base):
            return copy(value)  # the method of `base`, whatever a subclass has made of it
    for base, items in ((dict, dict.items), (list, list.__iter__), (tuple, tuple.__iter__)):
        if cls is not base and issubclass(cls, base):
            return base(items(value))
    if numpy and issubclass(cls, numpy.bool_):
        return bool(value)
    for like, copy in ((Integral, int), (Real, float), (Complex, complex)):
        if issubclass(cls, like):
            try:
                return copy(value)
            except Exception:  # a class that only claims to be a number
                return value
    return value


# --- showing ---


def show(value: Any, digits: int | None = None) -> str:
    """`value` in a few words: large numbers with `_`, large tensors by shape and dtype, floats with `digits` significant digits."""
    try:
        return _cut(_show(value, digits, DEEPEST))
    except Exception:  # an answer's class may have a broken repr
        return kind(value)


def listing(values: Iterable[Any]) -> str:
    return _cut(", ".join(show(value) for value in values)) or "none"


def kind(value: Any) -> str:
    """The type of `value` with its article: `an int`, `a list`, `a tensor`."""
    if value is None:
        return "None"
    name = type_name(value) or "nameless object"
    return with_article(STUDENTS_WORDS.get(name, name))


def type_name(value: Any) -> str:
    """The name of the type of `value`, as Python keeps it: a metaclass may tell another."""
    return type.__dict__["__name__"].__get__(type(value))


def with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def shorten(text: str) -> str:
    """`text` on one line, without what cannot be printed and what changes from run to run (addresses)."""
    text = "".join(letter if letter.isprintable() else " " for letter in text[: 100 * LONGEST_TEXT])
    return _cut(" ".join(ADDRESS.sub("", text).split()))


def two_digits(number: float) -> str:
    return _show_float(number, 2)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _show(value: Any, digits: int | None, depth: int) -> str:
    value = plain(value)
    cls = type(value)
    if cls is int:
        return f"{value:_}" if abs(value) < LONGEST_INT else f"{'-' if value < 0 else ''}10**{math.log10(abs(value)):.2f}"
    if cls is float:
        return _show_float(value, digits)
    if cls is str:
        return repr(value[: 2 * LONGEST_TEXT])
    if value is ...:
        return "..."
    if is_array(value):
        return _show_array(value, digits)
    if issubclass(cls, type):
        return f"the class {value.__name__}"
    if cls in (list, tuple, dict, set, frozenset):
        return _show_container(value, digits, depth - 1) if depth else "…"
    return shorten(plain(repr(value)))


def _show_container(value: Any, digits: int | None, depth: int) -> str:
    def shown(items: Iterable[Any]) -> Iterator[str]:
        return (_show(item, digits, depth) for _, item in zip(range(MOST_ITEMS), items, strict=False))

    if type(value) is list:
        return f"[{', '.join(shown(value))}]"
    if type(value) is tuple:
        return f"({', '.join(shown(value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return "{" + ", ".join(f"{key}: {item}" for key, item in zip(shown(value), shown(value.values()), strict=True)) + "}"
    return "{" + ", ".join(sorted(_show(item, digits, depth) for item in value)) + "}" if value else "set()"


def _show_float(number: float, digits: int | None) -> str:
    return repr(number) if digits is None else f"{float(f'{number:.{digits}g}'):g}"


def _show_array(value: Any, digits: int | None) -> str:
    array = without_extras(value)
    if 0 < array_size(array) <= 6 and not is_on_meta(array) and array_layout(array) == "strided":
        return f"{kind(array).split(' ', 1)[1]} {_show(array.tolist(), digits or 6, depth=8)}"
    return f"{kind(array)} of shape {array_shape(array)}, {array_dtype(array)}"


# --- modules, tensors and arrays ---


def is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return bool(torch) and issubclass(type(value), torch.nn.Module)


def is_tensor(value: Any) -> bool:
    """An ordinary tensor or parameter: a subclass could answer for itself, and counts as some other object."""
    torch = sys.modules.get("torch")
    return bool(torch) and type(value) in (torch.Tensor, torch.nn.Parameter) and not value.is_nested


def is_array(value: Any) -> bool:
    """An ordinary tensor or NumPy array."""
    numpy = sys.modules.get("numpy")
    return is_tensor(value) or bool(numpy and type(value) is numpy.ndarray)


def without_extras(array: Any) -> Any:
    """The same numbers without what may hang on a tensor: gradients, attributes that hide its methods."""
    return sys.modules["torch"].Tensor.detach(array) if is_tensor(array) else array


def array_shape(array: Any) -> tuple[int, ...]:
    return tuple(array.shape)


def array_size(array: Any) -> int:
    return math.prod(array.shape)


def array_dtype(array: Any) -> str:
    return str(array.dtype).removeprefix("torch.")


def array_layout(array: Any) -> str:
    return str(array.layout).removeprefix("torch.") if is_tensor(array) else "strided"


def is_on_meta(array: Any) -> bool:
    return is_tensor(array) and array.device.type == "meta"


def as_numpy(array: Any) -> Any:
    if not is_tensor(array):
        return array
    if array_layout(array) != "strided":
        array = array.to_dense()
    if array.is_floating_point() and array_dtype(array) not in ("float16", "float32", "float64"):
        array = array.float()  # exact: NumPy has no bfloat16 and no float8
    return array.cpu().resolve_conj().resolve_neg().numpy()
