"""Tests in one process, answers in another."""

import sys

import pytest
import torch

from autograder import expect, wire
from autograder.expect import ExpectationFailed
from autograder.factory import factory, recipe_of
from autograder.rooms import AnswerRoom, CellFailed, Remote, RoomEnded, namespace_of_tests, run_cell

SETUP = ("toy-setup", "import torch\nfrom torch import nn\nfrom autograder import exercise, expect, factory")
FACTORIES = (
    "toy-given_modules",
    """\
@factory
def square(size):
    return nn.Linear(size, size)

@factory
def stacked(layer, times):
    return nn.Sequential(*[layer] * times)
""",
)
ANSWERS = (
    "toy-answers",
    """\
import os, sys
from dataclasses import dataclass

@dataclass
class Count:
    stored: int
    names: "list[str]"
    def __int__(self): return self.stored
    def __float__(self): return float(self.stored)
    def __len__(self): return len(self.names)
    def __getitem__(self, index): return self.names[index]

def double(number): return 2 * number
def count(module, extra=0): return Count(sum(p.numel() for p in module.parameters()) + extra, [n for n, _ in module.named_parameters()])
def make(size): return nn.Linear(size, size)
def shape(module): return tuple(module.weight.shape)
def same(module): return module
def refuse(text): raise ValueError(text)
def unwritten(): raise NotImplementedError("write your answer here")
def chatty(number):
    print('{"value": 99}')
    os.system("echo '{\\"value\\": 99}'")
    os.write(1, b'{"value": 99}\\n')
    return number
def asks(): return input()
def leaves(): os._exit(3)
def endless(): return list(range(10**1000))[:0] if False else 10**5000
def itself():
    loop = []
    loop.append(loop)
    return loop
""",
)
NAMES = ["Count", "double", "count", "make", "shape", "same", "refuse", "unwritten", "chatty", "asks", "leaves", "endless", "itself"]


@pytest.fixture(scope="module")
def space():
    with AnswerRoom([SETUP, FACTORIES, ANSWERS]) as room:
        yield namespace_of_tests(room, [SETUP, FACTORIES], NAMES)


def test_a_test_asks_for_plain_values(space):
    test = 'exercise("toy.double")\nexpect(double(3)).equals(6)\nexpect(double(torch.ones(2))).equals(torch.full((2,), 2.0))'
    run_cell("toy-double-test", test, space)


def test_a_wrong_answer_fails_with_the_message_it_has_in_one_process(space):
    with pytest.raises(AssertionError, match=r"^double\(3\) gave 6, expected 7\.$"):
        run_cell("toy-double-test", 'exercise("toy.double")\nexpect(double(3)).equals(7)', space)


def test_an_object_of_the_answer_stays_there_and_can_be_asked(space):
    counted = space["count"](space["square"](4), extra=1)
    assert type(counted) is Remote
    assert (counted.stored, counted.names, int(counted), float(counted), len(counted)) == (21, ["weight", "bias"], 21, 21.0, 2)
    assert (counted[0], list(counted)) == ("weight", ["weight", "bias"])
    with pytest.raises(AttributeError, match="missing"):
        counted.missing  # noqa: B018
    assert not hasattr(counted, "missing")


def test_an_object_of_the_answer_goes_back_as_the_same_object(space):
    layer = space["make"](3)
    assert space["shape"](layer) == (3, 3)
    before = layer.weight.clone()
    layer.weight.fill_(7.0)  # a copy of the weight
    assert torch.equal(space["same"](layer).weight, before)
    expect(layer).has_parameters(12)


def test_a_factory_of_a_locked_cell_rebuilds_its_object_there(space):
    square, stacked, shape, count = (space[name] for name in ("square", "stacked", "shape", "count"))
    assert shape(square(5)) == (5, 5)
    assert int(count(stacked(square(2), 3))) == 6  # one layer, three times
    assert shape(space["same"](square(5))) == (5, 5)


def test_an_exception_keeps_its_type_and_message(space):
    with pytest.raises(ValueError, match=r"^num_heads: 12$"):
        space["refuse"]("num_heads: 12")
    with pytest.raises(NotImplementedError, match="write your answer"):
        space["unwritten"]()


@pytest.mark.parametrize(
    "compare", ["count == 21", "count != 21", "count < 1", "count >= 1", "not count", "count in [1]", "1 if count else 2"]
)
def test_an_object_of_the_answer_cannot_be_compared(space, compare):
    with pytest.raises(wire.CannotCross, match="plain values"):
        eval(compare, {"count": space["make"](2)})


def test_an_object_of_the_answer_is_no_key_and_cannot_be_written_to(space):
    with pytest.raises(TypeError, match="unhashable"):
        {space["make"](2)}
    with pytest.raises(wire.CannotCross, match="set 'bias'"):
        space["make"](2).bias = None


@pytest.mark.parametrize("value", [lambda: 0, torch.nn.Linear(1, 1), object()], ids=["lambda", "module", "object"])
def test_what_cannot_cross_is_refused_with_the_way_out(space, value):
    with pytest.raises(wire.CannotCross, match="@factory in a locked cell"):
        space["double"]([value])


def test_what_the_answer_prints_is_printed_here_and_is_no_answer(space, capfd):
    assert space["chatty"](5) == 5
    assert capfd.readouterr().out == '{"value": 99}\n'
    expect(lambda: space["chatty"](5)).prints('{"value": 99}')


def test_an_answer_that_reads_the_keyboard_finds_nobody(space):
    with pytest.raises(EOFError):
        space["asks"]()
    assert space["double"](1) == 2


def test_an_answer_that_cannot_be_written_down_is_an_error_and_the_room_goes_on(space):
    with pytest.raises(ValueError, match="digits"):
        space["endless"]()
    with pytest.raises(RecursionError):
        space["itself"]()
    assert space["double"](1) == 2


def test_a_name_nobody_defined_is_an_error(space):
    with pytest.raises(NameError, match="'never'"):
        Remote(space["double"]._room, "never")()


def test_a_dead_answer_process_is_a_clear_error():
    with AnswerRoom([SETUP, ANSWERS]) as room:
        space = namespace_of_tests(room, [SETUP], NAMES)
        for _ in range(2):
            with pytest.raises(RoomEnded, match="has ended"):
                space["leaves"]()


def test_a_cell_that_fails_is_named_in_both_rooms():
    with (
        pytest.raises(CellFailed, match="NameError: name 'nowhere' is not defined") as failed,
        AnswerRoom([("toy-a", "x = 1"), ("toy-b", "nowhere")]),
    ):
        pass
    assert failed.value.cell == "toy-b"
    with AnswerRoom([]) as room, pytest.raises(CellFailed, match="SyntaxError") as failed:
        namespace_of_tests(room, [("toy-c", "x = = 1")], [])
    assert failed.value.cell == "toy-c"


def test_a_dataclass_is_made_as_in_a_notebook_in_both_rooms():
    cell = ("toy-given", "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    one: int\n    other: 'int'")
    with AnswerRoom([cell]) as room:
        space = namespace_of_tests(room, [cell], [])
        assert space["Pair"].__annotations__ == {"one": int, "other": "int"}
        assert Remote(room, "Pair")(1, 2).other == 2


def test_source_of_an_answer_can_be_read_where_it_runs():
    answers = ("toy-a", "import inspect\ndef double(number):\n    return 2 * number\ndef source():\n    return inspect.getsource(double)")
    with AnswerRoom([answers]) as room:
        assert Remote(room, "source")() == "def double(number):\n    return 2 * number\n"


# --- factories ---

factory_module = sys.modules[factory.__module__]  # `autograder.factory` is the function


@factory
def layer(size):
    return torch.nn.Linear(size, size)


def test_a_factory_remembers_how_each_object_was_made_and_forgets_it_with_the_object():
    made = layer(3)
    assert (recipe_of(made).name, recipe_of(made).arguments) == ("layer", (3,))
    assert recipe_of(torch.nn.Linear(3, 3)) is None
    address = id(made)
    del made
    assert address not in factory_module._recipes


@factory
def pair():
    return [1, 2]


def test_a_factory_makes_one_object():
    with pytest.raises(TypeError, match="the factory pair makes a list: let it make one module"):
        pair()


TWO_LINEARS = """
from torch import nn


def pair(shared):
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    if shared:
        layers[1].weight = layers[0].weight
    return layers
"""


def test_ties_of_a_module_in_the_other_room_are_told_there():
    with AnswerRoom([("pair", TWO_LINEARS)]) as room:
        space = namespace_of_tests(room, [("imports", "from autograder import expect")], ["pair"])
        run_cell("test", "expect(pair(True)).ties('0.weight', '1.weight')\nexpect(pair(False)).unties('0.weight', '1.weight')", space)
        with pytest.raises(ExpectationFailed, match="two separate parameters"):
            run_cell("test", "expect(pair(False)).ties('0.weight', '1.weight')", space)
        with pytest.raises(ExpectationFailed, match="there is no 2"):
            run_cell("test", "expect(pair(True)).ties('0.weight', '2.weight')", space)
