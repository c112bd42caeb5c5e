"""What may pass between two processes, and that it arrives as it was."""

import json
import math
import types
from collections import OrderedDict, namedtuple

import numpy
import pytest
import torch

from autograder import wire
from autograder.values import difference


def there(value):
    """`value` after a journey as text."""
    return wire.decode(json.loads(json.dumps(wire.encode(value))))


PLAIN = [
    None,
    True,
    0,
    -(2**70),
    "",
    "Zürich\n\x00☃",
    1.5,
    -0.0,
    math.inf,
    -math.inf,
    1 + 2j,
    [],
    [1, [2, (3, "x")]],
    (),
    (1, 2.0, None),
    {"a": (1, [2]), 3: {"b": (4.0, {5})}, (6, 7): frozenset({8})},
    set(),
    {1, 2},
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_arrive_as_they_were(value):
    arrived = there(value)
    assert arrived == value
    assert type(arrived) is type(value)
    assert repr(arrived) == repr(value)


def test_not_a_number_arrives_wherever_it_stands():
    assert math.isnan(there(math.nan))
    pair, complex_ = there(((math.nan, math.inf), complex(math.nan, -math.inf)))
    assert math.isnan(pair[0]) and pair[1] == math.inf
    assert math.isnan(complex_.real) and complex_.imag == -math.inf


TENSORS = {
    "float32": torch.tensor([[1.5, math.nan], [math.inf, -0.0]]),
    "bfloat16": torch.tensor([1.0, 3.140625], dtype=torch.bfloat16),
    "float16": torch.tensor([0.5], dtype=torch.float16),
    "float64": torch.tensor([1 / 3], dtype=torch.float64),
    "int64": torch.arange(6).reshape(2, 3),
    "int8": torch.tensor([-1], dtype=torch.int8),
    "bool": torch.tensor([True, False]),
    "complex": torch.tensor([1 + 2j]),
    "conjugated": torch.tensor([1 + 2j]).conj(),
    "0-d": torch.tensor(7),
    "0-d bfloat16": torch.tensor(7.0, dtype=torch.bfloat16),
    "empty": torch.empty(0),
    "empty with a shape": torch.empty(2, 0, 3, dtype=torch.int32),
    "transposed": torch.arange(6).reshape(2, 3).T,
    "expanded": torch.ones(1).expand(3, 4),
    "parameter": torch.nn.Parameter(torch.ones(2)).detach(),
}


@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS)
def test_tensors_arrive_with_dtype_shape_and_every_bit(tensor):
    arrived = there(tensor)
    assert type(arrived) is torch.Tensor
    assert (arrived.dtype, arrived.shape) == (tensor.dtype, tensor.shape)
    assert torch.equal(torch.nan_to_num(arrived), torch.nan_to_num(tensor))
    assert difference(arrived, tensor) is None


def test_a_parameter_arrives_as_a_tensor_that_can_be_written_to():
    arrived = there({"weight": (torch.nn.Parameter(torch.ones(2)),)})["weight"][0]
    assert type(arrived) is torch.Tensor and not arrived.requires_grad
    arrived += 1
    assert arrived.tolist() == [2.0, 2.0]


def test_a_meta_tensor_has_no_content_and_may_be_as_large_as_it_likes():
    arrived = there(torch.empty(10**9, 30, device="meta", dtype=torch.float16))
    assert (arrived.device.type, tuple(arrived.shape), arrived.dtype) == ("meta", (10**9, 30), torch.float16)


@pytest.mark.parametrize(
    "array",
    [numpy.array([[1.5, numpy.nan]]), numpy.arange(3, dtype=">i2"), numpy.array(3), numpy.zeros((0, 2)), numpy.array([True])],
    ids=repr,
)
def test_arrays_arrive_with_dtype_and_shape(array):
    arrived = there(array)
    assert (arrived.dtype, arrived.shape) == (array.dtype, array.shape)
    assert numpy.array_equal(arrived, array, equal_nan=array.dtype.kind == "f")


@pytest.mark.parametrize(
    ("scalar", "plain"), [(numpy.float32(0.5), 0.5), (numpy.float64(0.5), 0.5), (numpy.int8(-3), -3), (numpy.bool_(True), True)], ids=repr
)
def test_numpy_scalars_arrive_as_the_plain_numbers_they_are(scalar, plain):
    assert there(scalar) == plain and type(there(scalar)) is type(plain)


ODD = {
    "module": torch.nn.Linear(1, 1),
    "lambda": lambda: 0,
    "class": int,
    "object": object(),
    "namespace": types.SimpleNamespace(),
    "bytes": b"x",
    "object array": numpy.array([object()]),
    "date": numpy.datetime64("2020-01-01"),
    "sparse": torch.eye(2).to_sparse(),
    "subclass": torch.nn.Buffer(torch.ones(1)).as_subclass(type("Mine", (torch.Tensor,), {})),
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_what_is_no_plain_data_is_refused_or_left_to_the_caller(value):
    with pytest.raises(wire.CannotCross, match="another process"):
        wire.encode([value])
    assert wire.encode({"x": value}, lambda _: {"handle": 1}) == {"dict": [["x", {"handle": 1}]]}


@pytest.mark.parametrize(
    "value",
    ["x" * (wire.LARGEST + 1), torch.ones(1).expand(10**12), torch.zeros(wire.LARGEST + 1, dtype=torch.uint8)],
    ids=["text", "expanded", "tensor"],
)
def test_what_is_too_large_is_refused_before_it_is_copied(value):
    with pytest.raises(wire.CannotCross, match="limit"):
        wire.encode(value, lambda _: {})


def test_what_arrives_must_be_what_it_says():
    for data in ({"tensor": ["load", [1], ""]}, {"tensor": ["float32", [5], ""]}, {"tensor": ["float32", [3], "AAAA"]}, {"module": "os"}):
        with pytest.raises((ValueError, RuntimeError)):
            wire.decode(data)


# --- exceptions ---


def error_there(error):
    return wire.decode_error(*json.loads(json.dumps(wire.encode_error(error))))


@pytest.mark.parametrize(
    "error",
    [ValueError("num_heads must divide hidden_dim: 12, 770"), KeyError("a"), NotImplementedError(), ZeroDivisionError("x\ny")],
    ids=repr,
)
def test_built_in_exceptions_keep_type_and_message(error):
    arrived = error_there(error)
    assert isinstance(arrived, type(error)) and type(arrived).__name__ == type(error).__name__
    assert str(arrived) == str(error)


def test_an_exception_of_another_class_keeps_its_name_and_the_built_in_class_it_comes_from():
    arrived = error_there(json.JSONDecodeError("no value", "{", 1))
    assert isinstance(arrived, ValueError)
    assert (type(arrived).__name__, str(arrived)) == ("JSONDecodeError", "no value: line 1 column 2 (char 1)")


def test_an_exception_that_wants_more_than_a_message_keeps_name_and_message():
    try:
        b"\xff".decode()
    except UnicodeDecodeError as error:
        arrived = error_there(error)
        assert (type(arrived).__name__, str(arrived)) == ("UnicodeDecodeError", str(error))


def test_a_name_from_the_other_side_never_chooses_something_that_is_no_exception():
    assert type(wire.decode_error("SystemExit", "SystemExit", "bye")).__mro__[1] is Exception
    assert type(wire.decode_error("print", "print", "x")).__mro__[1] is Exception


def test_containers_of_another_class_arrive_as_pythons_own():
    pair = namedtuple("Pair", "a b")
    assert wire.decode(wire.encode(OrderedDict(pair=pair(1, [2])))) == {"pair": (1, [2])}
