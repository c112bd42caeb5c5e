import enum
import math
import subprocess
import sys
import warnings
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import torch

from autograder.plain import kind, plain, shorten, show, two_digits
from autograder.values import Tolerance, difference

CLOSE = Tolerance(1e-5, 1e-6)
nan, inf = math.nan, math.inf
tensor = torch.tensor
Pair = namedtuple("Pair", "first second")


@dataclass
class Sizes:
    first: int = 1
    second: int = 2


# --- answers that lie ---


class SaysYes:
    """Equal to everything, and a member of every class."""

    __class__ = property(lambda self: int)
    __hash__ = None
    shape, dtype, device = (2,), torch.float32, torch.device("cpu")

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class SaysYesAsKey(SaysYes):
    def __init__(self, pretends):
        self.pretends = pretends

    def __hash__(self):
        return hash(self.pretends)


class AnswersTensors(SaysYes):
    def __eq__(self, other):
        return torch.ones(3, dtype=torch.bool)


class Raises(SaysYes):
    __class__ = property(lambda self: 1 / 0)

    def __eq__(self, other):
        raise RuntimeError("no")

    __repr__ = __str__ = __bool__ = __iter__ = __len__ = __getattr__ = __eq__


def lying(base):
    lie = lambda self, *_: base("7") if base is not str else "right"  # noqa: E731
    methods = ("__int__", "__index__", "__float__", "__str__", "__repr__", "__abs__", "__sub__", "__rsub__", "item")
    return type(f"Lying{base.__name__}", (base,), dict.fromkeys(("__eq__", "__le__"), lambda *_: True) | dict.fromkeys(methods, lie))


class LyingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


class OtherTensor(torch.Tensor):
    """A subclass that means no harm, and is refused all the same."""


class Looping(list):
    def __iter__(self):
        return iter([1, 2])


@pytest.mark.parametrize(
    "want", [24, 24.0, True, None, "right", b"x", 1j, [1], (1, 2), {"a": 1}, {1}, tensor([1.0, 2.0]), numpy.ones(2), int]
)
@pytest.mark.parametrize("liar", [SaysYes, AnswersTensors, Raises, LyingTensor, OtherTensor, Looping])
def test_equality_of_an_answer_is_never_asked(liar, want):
    got = liar() if issubclass(liar, SaysYes) else liar([1.0, 2.0])
    assert difference(got, want)
    assert difference([got], [want], CLOSE).path == "[0]"
    assert difference(want, got)  # as a wrong value of a diagnosis


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ([lying(int)(16)], [7]),
        ([lying(float)(16.5)], [7.0]),
        ([lying(str)("wrong")], ["right"]),
        ({SaysYesAsKey("a"): 1}, {"a": 1}),
        ({(SaysYesAsKey("a"),): 1}, {("a",): 1}),
        ({SaysYesAsKey(1)}, {1}),
        (numpy.array([SaysYes(), SaysYes()]), numpy.array([1.0, 2.0])),
        (numpy.array([SaysYes()], dtype=object), tensor([1])),
        (numpy.ma.masked_array([1.0, 2.0], mask=True), numpy.array([3.0, 4.0])),
    ],
)
def test_lies_within_numbers_keys_and_arrays_earn_nothing(got, want):
    assert difference(got, want)
    assert difference(got, want, CLOSE)


def test_a_tensor_cannot_hide_its_methods():
    answer = torch.zeros(2)
    for name in ("detach", "cpu", "numpy", "tolist", "resolve_conj", "__eq__"):
        setattr(answer, name, lambda: torch.ones(2))
    assert difference(answer, torch.ones(2)).got == 0.0
    assert show(answer) == "tensor [0, 0]"


# --- odd answers, right and wrong ---


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (numpy.int64(24), 24),
        (enum.IntEnum("Size", {"BASE": 24}).BASE, 24),
        (numpy.bool_(True), True),
        (numpy.str_("a"), "a"),
        (numpy.float32(0.5), 0.5),
        (numpy.longdouble(0.5), 0.5),
        (numpy.complex64(1j), 1j),
        (Fraction(1, 2), 0.5),
        (24, 24.0),
        (-0.0, 0.0),
        (nan, nan),
        (-inf, -inf),
        ([nan, (inf, {"a": nan})], [nan, (inf, {"a": nan})]),
        ([10**5000], [10**5000]),
        (torch.ones(2, 3).shape, (2, 3)),
        ({numpy.int64(1): "a"}, {1: "a"}),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        (Pair(1, 2), (1, 2)),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(int, a=1), {"a": 1}),
        ({1, (2, "a")}, {(2, "a"), 1}),
        (torch.nn.Parameter(torch.ones(2)), torch.ones(2)),
        (torch.ones(2, requires_grad=True) * 2, tensor([2.0, 2.0])),
        (torch.empty(0, 3), torch.empty(0, 3)),
        (tensor(3), tensor(3)),
        (tensor([1.0, nan], dtype=torch.bfloat16), tensor([1.0, nan], dtype=torch.bfloat16)),
        (torch.ones(2).to(torch.float8_e4m3fn), torch.ones(2).to(torch.float8_e4m3fn)),
        (torch.ones(2, 2).to_sparse(), torch.ones(2, 2).to_sparse()),
        (torch.ones(2, dtype=torch.complex64).conj() * 1j, tensor([1j, 1j])),
        (torch.empty(2, device="meta"), torch.empty(2, device="meta")),
        (torch.ones(3, 2).T, torch.ones(2, 3)),
        (tensor([-inf, inf]), tensor([-inf, inf])),
        (numpy.array([1, 2]), numpy.array([1, 2])),
        (torch.float16, torch.float16),
        (torch.device("cpu"), torch.device("cpu")),
        (range(3), range(3)),
        (None, None),
        (int, int),
    ],
)
def test_right_answers(got, want):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a byte on stderr would cost the point
        assert difference(got, want) is None
        assert difference(got, want, CLOSE) is None


LOOP = [1]
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("got", "want", "detail"),
    [
        (True, 1, "That is a bool; an int is expected."),
        (1, True, "That is an int; True or False is expected."),
        (24.0, 24, "A count is an int: use // instead of /, or int(...)."),
        (Fraction(24), 24, "A count is an int: use // instead of /, or int(...)."),
        (Decimal(24), 24, "That is a Decimal; an int is expected."),
        (10**400, 24.0, ""),
        (24 + 0j, 24, "That is a complex; an int is expected."),
        ("24", 24, "That is a string; an int is expected."),
        (None, 24, "That is None: is a return missing?"),
        (0, None, "That is an int; None is expected."),
        (..., 24, "That is a placeholder (...); an int is expected."),
        (len, 24, "That is a builtin_function_or_method; an int is expected: call it, with parentheses."),
        (ValueError("hidden_dim"), 24, "That is a ValueError; an int is expected: raise an exception instead of returning it."),
        (type("", (), {})(), 24, "That is a nameless object; an int is expected."),
        (nan, 1.0, "nan is not a number: somewhere 0/0, inf - inf or log of a negative number was computed."),
        (inf, 1, "That is infinite: somewhere a number was divided by zero or grew without bound."),
        (inf, -inf, ""),
        (1.0, nan, ""),
        (tensor(24), 24, "That is a tensor; an int is expected: use .item()."),
        (tensor([1, 2]), 24, "That is a tensor; an int is expected."),
        ([1.0, 2.0], tensor([1.0, 2.0]), "That is a list; a tensor is expected: use torch.tensor(...)."),
        (numpy.ones(2), torch.ones(2), "That is a NumPy array; a tensor is expected: use torch.tensor(...)."),
        (torch.ones(2), numpy.ones(2), "That is a tensor; a NumPy array is expected."),
        (OtherTensor([1.0]), tensor([1.0]), "That is an OtherTensor; a tensor is expected."),
        (torch.ones(2, 3), torch.ones(3, 2), "The shape is (2, 3), expected (3, 2)."),
        (torch.empty(0), tensor([1.0]), "The shape is (0,), expected (1,)."),
        (torch.ones(2, dtype=torch.float64), torch.ones(2), "The dtype is float64, expected float32."),
        (torch.ones(2).bfloat16(), torch.ones(2), "The dtype is bfloat16, expected float32."),
        (torch.ones(2, 2).to_sparse(), torch.ones(2, 2), "The layout is sparse_coo, expected strided."),
        (torch.ones(2, device="meta"), torch.ones(2), "One of the two is on the meta device, where tensors have no values."),
        (tensor([nan, 1.0]), tensor([1.0, 1.0]), "nan is not a number: somewhere 0/0, inf - inf or log of a negative number was computed."),
        (tensor([1, 2, 4]), tensor([1, 2, 3]), "1 of 3 values differ."),
        ((i for i in [1, 2]), [1, 2], "That is a generator; a list is expected: use list(...)."),
        ({"a": 1}.values(), [1], "That is a dict_values; a list is expected: use list(...)."),
        ([1, 2], (1, 2), "That is a list; a tuple is expected: use tuple(...)."),
        (Sizes(), (1, 2), "That is a Sizes; a tuple is expected."),
        ([1, 2, 3], [1, 2], "It has 3 items, expected 2."),
        (LOOP, [1], "It has 2 items, expected 1."),
        (LOOP, [1, 1], "That is a list; an int is expected."),
        ({"a": 1}, {"b": 1}, "The key 'b' is missing; it has 'a'."),
        ({}, {"b": 1}, "The key 'b' is missing; it has none."),
        ({"a": 1, None: 2}, {"a": 1}, "The key None is one too many; expected: 'a'."),
        ({True: 1}, {1: 1}, "The key 1 is missing; it has True."),
        ({"x", "a"}, {"a", "x", "c"}, "The item 'c' is missing; it has 'a', 'x'."),
        ("abc  ", "abc", ""),
        ("a\r\nb", "a\nb", "Line 1 is (2 characters, expected 1)\n    'a\\r'\nexpected\n    'a'"),
        ("a", "a\nb", "Line 2 is missing:\n    'b'"),
        ("a\nb", "a", "Line 2 is one too many:\n    'b'"),
        (Sizes(), Sizes(), ""),
    ],
)
def test_wrong_answers_and_what_is_said_of_them(got, want, detail):
    assert difference(got, want).detail == detail


@pytest.mark.parametrize(
    ("got", "want", "path", "one", "other"),
    [
        ([1, (2, {"a": tensor([1.0, 2.5])})], [1, (2, {"a": tensor([1.0, 2.0])})], "[1][1]['a'][1]", 2.5, 2.0),
        (tensor([[1, 2], [3, 5]]), tensor([[1, 2], [3, 4]]), "[1, 1]", 5, 4),
        (tensor(1.0), tensor(2.0), "", 1.0, 2.0),
        (tensor([0.1]), tensor([0.2]), "[0]", 0.1, 0.2),
        ({1_000_000: 1}, {1_000_000: 2}, "[1_000_000]", 1, 2),
    ],
)
def test_the_place_that_differs(got, want, path, one, other):
    found = difference(got, want)
    assert (found.path, found.got, found.want) == (path, one, other)


def test_a_close_comparison_names_the_element_that_is_furthest_off():
    found = difference(tensor([1.1, 2.0, 9.0, 1.0]), tensor([1.0, 2.0, 3.0, 1.0]), CLOSE)
    assert (found.path, found.detail) == ("[2]", "2 of 4 values differ.")
    assert difference(tensor([9.0, nan]), tensor([1.0, 1.0]), CLOSE).path == "[1]"
    assert difference(tensor([1, 4], dtype=torch.uint8), tensor([2, 4], dtype=torch.uint8), Tolerance(atol=1)) is None


@pytest.mark.parametrize(("got", "want"), [(1.0000001, 1.0), (3, 3.0), (3.0, 3), (1 + 1e-9j, 1 + 0j), ([0.3], [0.1 + 0.2])])
def test_close_numbers(got, want):
    assert difference(got, want, CLOSE) is None


@pytest.mark.parametrize(("got", "want"), [(1.001, 1.0), (10**400, 1.0), (1.0, 10**400), (inf, 1e308), (1 + 1j, 1 + 0j), (nan, 0.0)])
def test_numbers_that_are_not_close(got, want):
    assert difference(got, want, CLOSE)


def test_a_long_text_is_shown_where_it_differs():
    detail = difference("a" * 500 + "b" + "c" * 500, "a" * 500 + "d" + "c" * 500).detail
    assert "ab" in detail and "ad" in detail
    assert max(map(len, detail.split("\n"))) < 110


# --- showing ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2_362_368, "2_362_368"),
        (True, "True"),
        (10**400, "10**400.00"),
        (-(10**400), "-10**400.00"),
        (-0.0, "-0.0"),
        (numpy.float32(0.5), "0.5"),
        ("a  b ", "'a  b '"),
        ([1, "a", None], "[1, 'a', None]"),
        ((1,), "(1,)"),
        ({"b": 1, "a": [2.5]}, "{'b': 1, 'a': [2.5]}"),
        ({"b", "a"}, "{'a', 'b'}"),
        (set(), "set()"),
        (LOOP, "[1, [1, [1, [1, …]]]]"),
        (torch.ones(2, 2), "tensor [[1, 1], [1, 1]]"),
        (tensor(0.1), "tensor 0.1"),
        (torch.ones(2, 2).to_sparse(), "a tensor of shape (2, 2), float32"),
        (torch.empty(0), "a tensor of shape (0,), float32"),
        (torch.empty(2, device="meta"), "a tensor of shape (2,), float32"),
        (torch.nn.Parameter(torch.ones(7, 2)), "a tensor of shape (7, 2), float32"),
        (numpy.arange(3), "NumPy array [0, 1, 2]"),
        (int, "the class int"),
        (..., "..."),
        (Sizes(), "Sizes(first=1, second=2)"),
        (object(), "<object object>"),
        ([object()], "[<object object>]"),
        (defaultdict(kind), "{}"),
        (torch.nn.Linear(2, 3), "Linear(in_features=2, out_features=3, bias=True)"),
    ],
)
def test_show(value, text):
    assert show(value) == text


@pytest.mark.parametrize("value", ["x" * 10**6, list(range(10**6)), {i: i for i in range(1000)}, [[[["x" * 100] * 100] * 100] * 100]])
def test_nothing_is_shown_at_length(value):
    assert len(show(value)) <= 90


@pytest.mark.parametrize(
    ("number", "text"), [(0.123456, "0.12"), (12345.678, "12000"), (1e-9, "1e-09"), (nan, "nan"), (-inf, "-inf"), (2.0, "2")]
)
def test_two_digits(number, text):
    assert two_digits(number) == text
    assert show([number, {"a": number}], digits=2) == f"[{text}, {{'a': {text}}}]"


def test_shorten_leaves_nothing_that_changes_from_run_to_run_or_cannot_be_printed():
    assert shorten("<C  object at 0x7f00deadbeef>\n\x1b[31m\udc80 end") == "<C object> [31m end"


def test_what_cannot_show_itself_is_shown_by_its_kind():
    assert [show(value) for value in (Raises(), [Raises()], {"a": Raises()})] == ["a Raises", "a list", "a dict"]


def test_plain_leaves_other_objects_alone():
    for value in ([1], object(), SaysYes, torch.ones(1)):
        assert plain(value) is value


def test_neither_torch_nor_numpy_is_imported_to_compare_plain_values():
    code = "import sys; from autograder import expect; expect(2).equals(2); assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
