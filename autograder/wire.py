"""Plain data between two processes: what may cross, and how.

Numbers, strings, None, lists, tuples, dicts, sets of these, tensors and arrays (raw bytes with dtype and shape), and exceptions by name.
Never pickle: nothing that arrives is ever executed.
"""

from __future__ import annotations

import base64
import builtins
import math
import sys
from collections.abc import Callable
from typing import Any

from autograder.plain import plain

LARGEST = 64 * 2**20  # bytes of one tensor or string


class CannotCross(TypeError):
    """A value is no plain data."""


def encode(value: Any, other: Callable[[Any], dict] | None = None) -> Any:
    """`value` as JSON data. What is no plain data goes to `other`, or raises CannotCross."""
    value = plain(value)
    kind = type(value)
    if value is None or kind in (bool, int):
        return value
    if kind is str:
        return _within_limit(value, len(value))
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is complex:
        return {"complex": [encode(value.real), encode(value.imag)]}
    if kind in (list, tuple, set, frozenset):
        return {kind.__name__: [encode(item, other) for item in value]}
    if kind is dict:
        return {"dict": [[encode(key, other), encode(item, other)] for key, item in value.items()]}
    if (array := _encoded_array(value)) is not None:
        return array
    if other is None:
        raise CannotCross(f"a {kind.__name__} cannot be sent to another process")
    return other(value)


def decode(data: Any, other: Callable[[str, Any], Any] | None = None) -> Any:
    """The value that `encode` made `data` from. A kind this module does not know goes to `other`."""
    if not isinstance(data, dict):
        return data
    ((kind, content),) = data.items()
    if kind == "float":
        return float(content)
    if kind == "complex":
        return complex(*map(decode, content))
    if kind in ("list", "tuple", "set", "frozenset"):
        return getattr(builtins, kind)(decode(item, other) for item in content)
    if kind == "dict":
        return {decode(key, other): decode(item, other) for key, item in content}
    if kind == "tensor":
        return _decoded_tensor(*content)
    if kind == "array":
        return _decoded_array(*content)
    if other is None:
        raise ValueError(f"nothing known of data of kind {kind!r}")
    return other(kind, content)


# --- exceptions ---


def encode_error(error: BaseException) -> list[str]:
    """The name of its class, the nearest built-in class, and the message."""
    built_in = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return [type(error).__name__, built_in.__name__, str(error)]


def decode_error(name: str, built_in: str, message: str) -> Exception:
    """An exception of the class `built_in`, called `name`, that says `message`."""
    known = getattr(builtins, built_in, None)
    known = known if isinstance(known, type) and issubclass(known, Exception) else Exception
    try:
        error = known(message)
        if name == known.__name__ and str(error) == message:
            return error
        return type(name, (known,), {"__str__": lambda _: message})(message)
    except TypeError:  # UnicodeDecodeError and its like want more than a message
        return type(name, (Exception,), {})(message)


# --- tensors and arrays ---


def _encoded_array(value: Any) -> dict | None:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided and not value.is_quantized:
        return {"tensor": [_name(value.dtype), list(value.shape), _tensor_content(value)]}
    if numpy and isinstance(value, numpy.generic) and type(value.item()) in (bool, int, float, complex):
        return encode(value.item())
    if numpy and type(value) is numpy.ndarray and value.dtype.kind in "biufc":
        _within_limit(value, value.nbytes)
        return {"array": [value.dtype.str, list(value.shape), _text(value.tobytes())]}
    return None


def _tensor_content(value: Any) -> str | None:
    """The elements in order; None on the meta device, where there are none."""
    import torch

    if value.device.type == "meta":
        return None
    _within_limit(value, value.numel() * value.element_size())  # before the copy: an expanded tensor may be far larger than its memory
    flat = value.detach().cpu().resolve_conj().resolve_neg().reshape(-1).contiguous()
    return _text(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else ""


def _decoded_tensor(dtype: str, shape: list[int], content: str | None) -> Any:
    import torch

    kind = getattr(torch, dtype)
    if not isinstance(kind, torch.dtype):
        raise ValueError(f"no dtype {dtype!r}")
    if content is None:
        return torch.empty(shape, dtype=kind, device="meta")
    flat = torch.frombuffer(bytearray(base64.b64decode(content)), dtype=kind) if content else torch.empty(0, dtype=kind)
    return flat.reshape(shape)


def _decoded_array(dtype: str, shape: list[int], content: str) -> Any:
    import numpy

    return numpy.frombuffer(base64.b64decode(content), dtype=numpy.dtype(dtype)).reshape(shape).copy()


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _within_limit(value: Any, size: int) -> Any:
    if size > LARGEST:
        raise CannotCross(f"{size:,} bytes are too many to send to another process; the limit is {LARGEST:,}")
    return value
