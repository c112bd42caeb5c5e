"""The two ways of comparing an answer with what is wanted: exactly, and closely.

Both walk lists, tuples, dicts, sets, tensors and arrays. They must be of exactly that type, and numbers and strings are compared as plain
copies, so that no `__eq__` of an answer is ever asked. Of any other object only the very same one will do.
"""

from __future__ import annotations

import math
import types
from dataclasses import dataclass
from typing import Any

from autograder.plain import (
    LONGEST_TEXT,
    array_dtype,
    array_layout,
    array_shape,
    array_size,
    as_numpy,
    is_array,
    is_on_meta,
    is_tensor,
    kind,
    listing,
    plain,
    shorten,
    show,
    type_name,
    without_extras,
)

__all__ = ["EXACTLY", "Difference", "Tolerance", "difference", "shorten"]

FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
ONE_AFTER_ANOTHER = ("generator", "map", "filter", "zip", "range", "dict_keys", "dict_values", "dict_items", "list", "tuple", "Size")


@dataclass(frozen=True)
class Difference:
    """The first place where two values differ: `path` is what to append to the expression, `got` and `want` stand there."""

    got: Any
    want: Any
    path: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from the one wanted: `atol + rtol * |wanted|`. Zero and zero is exactly."""

    rtol: float = 0.0
    atol: float = 0.0

    @property
    def exact(self) -> bool:
        return self.rtol == self.atol == 0.0


EXACTLY = Tolerance()


def difference(got: Any, want: Any, tolerance: Tolerance = EXACTLY) -> Difference | None:
    """Where `got` is not `want`: another kind, another structure, another number. nan and inf match only themselves."""
    got, want = plain(got), plain(want)
    if is_array(want):
        return _array_difference(got, want, tolerance)
    if _is_number(want):
        return _number_difference(got, want, tolerance)
    if type(got) is not type(want):
        return Difference(got, want, detail=_wrong_kind(got, want))
    if type(want) is dict:
        return _dict_difference(got, want, tolerance)
    if type(want) in (list, tuple):
        return _sequence_difference(got, want, tolerance)
    if type(want) in (set, frozenset):
        return _keys_difference(got, want, "item")
    if type(want) is str:
        return None if got == want else _text_difference(got, want)
    return _object_difference(got, want)


def _number_difference(got: Any, want: Any, tolerance: Tolerance) -> Difference | None:
    if not _is_number(got) or (type(got) is complex and type(want) is not complex):
        return Difference(got, want, detail=_wrong_kind(got, want))
    if got == want or (got != got and want != want):
        is_count = tolerance.exact and type(want) is int and type(got) is not int
        return Difference(got, want, detail="A count is an int: use // instead of /, or int(...).") if is_count else None
    if _is_finite(got) and _is_finite(want):
        return None if _is_within(got, want, tolerance) else Difference(got, want)
    return Difference(got, want, detail=_not_finite(got, want))


def _is_within(got: Any, want: Any, tolerance: Tolerance) -> bool:
    try:
        return abs(got - want) <= tolerance.atol + tolerance.rtol * abs(want)
    except OverflowError:  # an int that no float can hold
        return False


def _array_difference(got: Any, want: Any, tolerance: Tolerance) -> Difference | None:
    if not is_array(got) or is_tensor(got) != is_tensor(want):
        return Difference(got, want, detail=_wrong_kind(got, want))
    got, want = without_extras(got), without_extras(want)
    for what, of in (("shape", array_shape), ("dtype", array_dtype), ("layout", array_layout)):
        if of(got) != of(want):
            return Difference(got, want, detail=f"The {what} is {of(got)}, expected {of(want)}.")
    if is_on_meta(got) or is_on_meta(want):
        same = is_on_meta(got) and is_on_meta(want)
        return None if same else Difference(got, want, detail="One of the two is on the meta device, where tensors have no values.")
    wanted = as_numpy(want)
    try:
        numbers = as_numpy(got)
    except (RuntimeError, TypeError):
        return Difference(got, want, detail="Its values cannot be read: it is no ordinary tensor.")
    return _worst_element(numbers, wanted, tolerance)


def _worst_element(got: Any, want: Any, tolerance: Tolerance) -> Difference | None:
    """The element that is furthest off (an exact comparison: the first one that differs)."""
    import numpy

    with numpy.errstate(all="ignore"):
        if tolerance.exact:
            distance = wrong = (got != want) & ~((got != got) & (want != want))
        else:
            wrong = ~numpy.isclose(got, want, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True)
            distance = numpy.nan_to_num(numpy.where(wrong, numpy.abs(got.astype(complex) - want.astype(complex)), -1.0), nan=numpy.inf)
    if not wrong.any():
        return None
    index = numpy.unravel_index(distance.argmax(), got.shape)
    one, other = _shortest(got[index]), _shortest(want[index])
    count = f"{int(wrong.sum())} of {got.size} values differ." if got.size > 1 else ""
    path = f"[{', '.join(str(int(i)) for i in index)}]" if index else ""
    return Difference(one, other, path, _not_finite(one, other) or count)


def _shortest(element: Any) -> Any:
    """A NumPy number as Python's, with no more digits than it has: 0.1, not 0.10000000149."""
    return float(str(element)) if element.dtype.kind == "f" else element.item()


def _dict_difference(got: dict, want: dict, tolerance: Tolerance) -> Difference | None:
    if found := _keys_difference(got, want, "key"):
        return found
    items = {_identity(key): item for key, item in got.items()}
    for key, item in want.items():
        if inner := difference(items[_identity(key)], item, tolerance):
            return _inside(inner, f"[{show(key)}]")
    return None


def _keys_difference(got: Any, want: Any, what: str) -> Difference | None:
    got_keys, want_keys = ({_identity(key): key for key in _in_order(keys)} for keys in (got, want))
    for key, missing in want_keys.items():
        if key not in got_keys:
            return Difference(got, want, detail=f"The {what} {show(missing)} is missing; it has {listing(got_keys.values())}.")
    for key, extra in got_keys.items():
        if key not in want_keys:
            return Difference(got, want, detail=f"The {what} {show(extra)} is one too many; expected: {listing(want_keys.values())}.")
    return None


def _in_order(keys: Any) -> Any:
    return keys if type(keys) is dict else sorted(keys, key=show)  # a set has another order in every run


def _identity(key: Any) -> Any:
    """What stands for the key of a dict, or the item of a set: a plain value for itself; an object, which could lie, for its identity."""
    key = plain(key)
    if type(key) in (tuple, frozenset):
        return type(key), type(key)(_identity(item) for item in key)
    return type(key), key if type(key) in (bool, int, float, complex, str, bytes) else id(key)


def _sequence_difference(got: Any, want: Any, tolerance: Tolerance) -> Difference | None:
    if len(got) != len(want):
        return Difference(got, want, detail=f"It has {len(got)} items, expected {len(want)}.")
    for index, (one, other) in enumerate(zip(got, want, strict=True)):
        if inner := difference(one, other, tolerance):
            return _inside(inner, f"[{index}]")
    return None


def _object_difference(got: Any, want: Any) -> Difference | None:
    has_pythons_own_equality = type(want) in (bool, bytes, range) or type(want).__module__ == "torch"  # torch: dtypes, devices
    if got is want or (has_pythons_own_equality and got == want):
        return None
    return Difference(got, want)


def _inside(inner: Difference, step: str) -> Difference:
    return Difference(inner.got, inner.want, step + inner.path, inner.detail)


# --- saying what is wrong ---


def _wrong_kind(got: Any, want: Any) -> str:
    if got is None:
        return "That is None: is a return missing?"
    wanted = "True or False" if type(want) is bool else kind(want)
    hint = _hint(got, want)
    return f"That is {kind(got)}; {wanted} is expected" + (f": {hint}." if hint else ".")


def _hint(got: Any, want: Any) -> str:
    """What a student most likely has to write, when one kind came for another."""
    if type(got) in FUNCTIONS:
        return "call it, with parentheses"
    if issubclass(type(got), BaseException):
        return "raise an exception instead of returning it"
    if _is_number(want) and is_array(got) and array_size(got) == 1:
        return "use .item()"
    if is_tensor(want) and (type(got) in (list, tuple, int, float) or is_array(got)):
        return "use torch.tensor(...)"
    if type(want) in (list, tuple) and type_name(got) in ONE_AFTER_ANOTHER:
        return f"use {type_name(want)}(...)"
    return ""


def _text_difference(got: str, want: str) -> Difference:
    """Of texts of several lines, or too long to be shown: the first line that differs, shown near where it does."""
    if max(len(repr(got)), len(repr(want))) <= LONGEST_TEXT and "\n" not in got + want:
        return Difference(got, want)
    got_lines, want_lines = got.split("\n"), want.split("\n")
    for number, (one, other) in enumerate(zip(got_lines, want_lines, strict=False), start=1):
        if one != other:
            shorter = min(len(one), len(other))
            same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), shorter)
            lengths = f" ({len(one)} characters, expected {len(other)})" if same == shorter else ""
            detail = f"Line {number} is{lengths}\n    {_window(one, same)}\nexpected\n    {_window(other, same)}"
            return Difference(one, other, detail=detail)
    number = min(len(got_lines), len(want_lines))
    if len(got_lines) < len(want_lines):
        return Difference(got, want, detail=f"Line {number + 1} is missing:\n    {_window(want_lines[number])}")
    return Difference(got, want, detail=f"Line {number + 1} is one too many:\n    {_window(got_lines[number])}")


def _window(line: str, around: int = 0) -> str:
    start = max(0, around - LONGEST_TEXT // 2)
    end = start + LONGEST_TEXT
    return ("…" if start else "") + repr(line[start:end]) + ("…" if line[end:] else "")


def _not_finite(got: Any, want: Any) -> str:
    if type(got) is complex or _is_finite(got) or not _is_finite(want):
        return ""
    if got != got:
        return "nan is not a number: somewhere 0/0, inf - inf or log of a negative number was computed."
    return "That is infinite: somewhere a number was divided by zero or grew without bound."


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, complex)


def _is_finite(number: Any) -> bool:
    return type(number) is int or (math.isfinite(number.real) and math.isfinite(number.imag))
