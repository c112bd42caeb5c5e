import linecache
import math
import textwrap
import warnings

import nbclient
import nbformat
import numpy
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

from autograder import exercise, expect
from autograder.expect import AuthorError, ExpectationFailed, digest
from autograder.ties import EQUAL_COPIES, SEPARATE, TIED

nan = math.nan


def message_of(test) -> str:
    """What a student reads when `test` fails."""
    with pytest.raises(ExpectationFailed) as caught:
        test()
    failure = caught.value
    assert str(failure) == failure.message == "\n".join(failure._render_traceback_())
    assert len(failure.message.split("\n")) <= 6
    assert "0x" not in failure.message
    assert failure.message.endswith(failure.diagnosis)
    return failure.message


def in_a_notebook(source: str, **names) -> dict:
    """The names that a cell defines, with its source where tracebacks and `executing` look for it."""
    source, name = textwrap.dedent(source), f"<cell {hash(source)}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space = {"__name__": "__main__", "expect": expect, **names}
    exec(compile(source, name, "exec"), space)
    return space


def raise_(error):
    raise error


def gives(value):
    return value


# --- values ---


def test_right_answers_pass_in_silence(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expect(2).equals(2, diagnose={"Half.": 1, "Divided.": ZeroDivisionError})
        expect(lambda: [1, nan]).equals([1, nan])
        expect(torch.tensor([1.0, -math.inf])).close_to(torch.tensor([1.0, -math.inf]), diagnose={"nan": torch.tensor([nan, 1.0])})
        expect(torch.ones(2, requires_grad=True)).equals(torch.ones(2))
        expect(lambda: print("a  \nb\n")).prints("a\nb")
        expect(torch.ones(2, 3)).has_shape(2, 3)
        expect(torch.tensor(1)).has_shape()
        expect(lambda: int("x")).raises(ValueError, match="invalid literal")
        expect(lambda: {}["a"]).raises((ValueError, KeyError))
        expect(nn.Linear(2, 3)).has_parameters(9)
    assert capfd.readouterr() == ("", "")


def test_a_wrong_value_and_its_diagnosis():
    diagnose = {"The biases are missing.": 16, "That is one projection.": 6}
    assert message_of(lambda: expect(gives(16)).equals(24, diagnose)) == "gives(16) gave 16, expected 24.\nThe biases are missing."
    assert message_of(lambda: expect(gives(7)).equals(24, diagnose)) == "gives(7) gave 7, expected 24."
    assert message_of(lambda: expect(gives([1, 16])).equals([1, 24], diagnose)).endswith("The biases are missing.")  # where they differ


@pytest.mark.parametrize(
    ("got", "want", "message"),
    [
        (nan, 1.0, "nan, expected 1.\nnan is not a number: somewhere 0/0, inf - inf or log of a negative number was computed."),
        (0.123456, 0.5, "0.12, expected 0.5."),
        (0.50001, 0.5, "0.5, expected 0.5. They are 1e-05 apart."),
        (16, 16.3, "16, expected 16. They are 0.3 apart."),
        (12345.678, 54321, "12000, expected 54_321."),
        ([0.1234, 2], [0.1234, 2, 3], "[0.12, 2], expected [0.12, 2, 3].\nIt has 2 items, expected 3."),
        (torch.tensor([0.1234, 1]), torch.tensor([0.1234]), "tensor [0.12, 1], expected tensor [0.12].\nThe shape is (2,), expected (1,)."),
        (
            [0.5, 1.0],
            torch.tensor([0.5, 1.0]),
            "[0.5, 1], expected tensor [0.5, 1].\nThat is a list; a tensor is expected: use torch.tensor(...).",
        ),
    ],
)
def test_close_to_shows_two_digits(got, want, message):
    assert message_of(lambda: expect(got).close_to(want)) == f"got gave {message}"


def test_close_to_names_the_place_that_is_furthest_off():
    want, got = torch.zeros(2, 8), torch.zeros(2, 8)
    got[1, 3], got[0, 0] = 7.123456, 0.5
    assert message_of(lambda: expect(got).close_to(want)) == "got[1, 3] gave 7.1, expected 0.\n2 of 16 values differ."
    assert message_of(lambda: expect(got + 0).close_to(want, diagnose={"Shifted.": got})).startswith("(got + 0)[1, 3] gave 7.1")


def test_an_answer_that_looks_right_but_is_not():
    assert message_of(lambda: expect(10**400 + 1).equals(10**400)).endswith("10**400.00. They look alike here, but are not the same.")
    assert message_of(lambda: expect(type("C", (), {})).equals(type("C", (), {}))).endswith("They look alike here, but are not the same.")


def test_a_text_is_shown_by_its_first_line_that_differs():
    table, diagnose = "Strategy\n-----------------\nnone | 12", {"The rule is missing.": "Strategy\nnone | 12  \n"}
    said = message_of(lambda: expect(lambda: print("Strategy \nnone | 12")).prints(table, diagnose))
    assert said.endswith(
        " printed another text than expected.\nLine 2 is\n    'none | 12'\nexpected\n    '-----------------'\nThe rule is missing."
    )
    assert message_of(lambda: expect(gives(table + "\n")).equals(table)).endswith(
        "another text than expected.\nLine 4 is one too many:\n    ''"
    )
    assert message_of(lambda: expect(lambda: print("b")).prints("a")) == """print("b") printed 'b', expected 'a'."""


@pytest.mark.parametrize("answer", [lambda: __import__("sys").stdout.close(), lambda: raise_(ValueError("no"))])
def test_printing_that_fails(answer):
    assert "raised ValueError" in message_of(lambda: expect(answer).prints("a"))


@pytest.mark.parametrize(
    ("got", "message"),
    [
        (torch.ones(3, 2), "has shape (3, 2), expected (2, 3).\nTransposed."),
        (torch.ones(2), "has shape (2,), expected (2, 3)."),
        ([1, 2], "gave [1, 2], expected a tensor of shape (2, 3)."),
        (type("Lies", (), {"shape": (2, 3)})(), "gave <test_expect.Lies object>, expected a tensor of shape (2, 3)."),
    ],
)
def test_has_shape(got, message):
    assert message_of(lambda: expect(got).has_shape(2, 3, diagnose={"Transposed.": (3, 2)})) == f"got {message}"


class Broken(type):
    """The metaclass of a class that cannot even tell its name."""

    __name__ = property(lambda cls: 1 / 0)


class Unreadable:
    def __getattr__(self, name):
        raise RuntimeError(name)

    __eq__ = __repr__ = __len__ = __iter__ = __call__ = lambda self, *_: self.nothing
    __hash__ = None


class BrokenModule(nn.Module):
    def parameters(self, recurse=True):
        raise OSError


ODD = {
    "object": lambda: object(),
    "broken class": lambda: Broken("Nameless", (), {})(),
    "unreadable": lambda: Unreadable(),
    "unreadable within": lambda: [Unreadable()],
    "unreadable key": lambda: {type("Key", (Unreadable,), {"__hash__": lambda self: 1})(): 1},
    "generator": lambda: (n for n in ()),
    "module": lambda: nn.LazyLinear(2),
    "broken module": lambda: BrokenModule(),
    "class": lambda: nn.Linear,
    "huge int": lambda: 10**5000,
    "bytes": lambda: b"x",
    "odd letters": lambda: "\udc80\x1b[2J",
    "object array": lambda: numpy.full(1, Unreadable, dtype=object),
    "text array": lambda: numpy.array("x"),
    "empty": lambda: torch.empty(0),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
    "sparse": lambda: torch.ones(2, 2).to_sparse(),
    "complex half": lambda: torch.ones(2, dtype=torch.complex32),
    "meta": lambda: torch.empty(2, device="meta"),
    "without a shape yet": lambda: nn.UninitializedParameter(),
}
WANTS = [
    24,
    24.5,
    True,
    None,
    "s",
    [1],
    (1,),
    {1: 1},
    {1},
    torch.ones(2),
    torch.ones(2, dtype=torch.complex64),
    numpy.ones(2),
    torch.float32,
]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.filterwarnings("ignore")
def test_an_odd_answer_gives_a_message_and_no_other_exception(odd):
    answer, right = ODD[odd](), digest("a")
    for want in WANTS:
        message_of(lambda want=want: expect(answer).equals(want, diagnose={"x": 7, "y": KeyError}))
        message_of(lambda want=want: expect(answer).close_to(want))
    for test in (
        lambda: expect(answer).has_shape(7, 7),
        lambda: expect(answer).has_parameters(7),
        lambda: expect(answer).ties("weight", "bias"),
        lambda: expect(answer).unties("weight", "bias"),
        lambda: expect(answer).chooses(right, among="ab", diagnose={"x": "b"}),
        lambda: expect(lambda: answer).raises(ValueError),
    ):
        message_of(test).encode()


# --- exceptions of an answer ---


def test_an_exception_within_the_test_is_a_message_with_the_line_it_came_from():
    half = in_a_notebook("def half(x):\n    helper = 1\n    return x / 0")["half"]
    message = message_of(lambda: expect(lambda: half(3)).equals(2, diagnose={"Divide by 2.": ZeroDivisionError}))
    assert (
        message
        == "half(3) raised ZeroDivisionError, expected 2.\n    It says: division by zero\n    in the line: return x / 0\nDivide by 2."
    )


@pytest.mark.parametrize(
    "error", [SystemExit(2), RecursionError(), KeyError("a"), type("Mute", (Exception,), {"__str__": lambda self: 1 / 0})()]
)
def test_every_exception_of_an_answer_is_a_message(error):
    assert f"raised {type(error).__name__}" in message_of(lambda: expect(lambda: raise_(error)).equals(1))


@pytest.mark.parametrize("error", [NotImplementedError, KeyboardInterrupt, AuthorError])
def test_what_says_nothing_of_the_answer_goes_through(error):
    for test in (
        lambda: expect(lambda: raise_(error("x"))).equals(1),
        lambda: expect(lambda: raise_(error("x"))).prints("1"),
        lambda: expect(lambda: raise_(error("x"))).raises((ValueError, RuntimeError)),
        lambda: expect(lambda: raise_(error("x"))).raises(Exception),
    ):
        with pytest.raises(error):
            test()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: 0, "gave 0, expected a ValueError whose message names hidden_dim.\nCheck the size first."),
        (lambda: ValueError("hidden_dim"), "gave ValueError('hidden_dim'), expected a ValueError whose message names hidden_dim."),
        (
            lambda: raise_(TypeError("b")),
            "raised TypeError, expected a ValueError whose message names hidden_dim.\n    It says: b\nA type.",
        ),
        (
            lambda: raise_(ValueError("b")),
            "raised ValueError, expected a ValueError whose message names hidden_dim.\n    It says: b\nName it.",
        ),
    ],
)
def test_raises(answer, message):
    diagnose = {"Check the size first.": 0, "Name it.": ValueError, "A type.": TypeError}
    assert message_of(lambda: expect(answer).raises(ValueError, "hidden_dim", diagnose)) == f"answer {message}"


def test_raises_takes_several_kinds_and_patterns():
    assert "expected a KeyError or IndexError whose message matches 'a.*b'." in message_of(
        lambda: expect(lambda: 1).raises((KeyError, IndexError), match="a.*b")
    )
    expect(lambda: raise_(NotImplementedError())).raises(NotImplementedError)


def test_the_whole_message_of_an_exception_is_searched_and_little_of_it_is_shown():
    long = ValueError("x" * 500 + " hidden_dim\n" + "y" * 500)
    expect(lambda: raise_(long)).raises(ValueError, match="hidden_dim")
    assert len(message_of(lambda: expect(lambda: raise_(long)).raises(ValueError, match="num_heads"))) < 250


class Impostor(Exception):
    __class__ = property(lambda self: ValueError)


def test_an_exception_cannot_claim_another_kind():
    assert "raised Impostor" in message_of(lambda: expect(lambda: raise_(Impostor("hidden_dim"))).raises(ValueError))


# --- choices ---


def test_chooses():
    exercise("toy.choice")
    right, diagnose = digest("b"), {"Too small.": "a", "Too big.": "c", "It broke.": ZeroDivisionError}
    expect("b").chooses(right, among="abc", diagnose=diagnose)
    assert message_of(lambda: expect(gives("a")).chooses(right, "abc", diagnose)) == """gives("a") chose 'a'.\nToo small."""
    assert (
        message_of(lambda: expect(gives("B")).chooses(right, "abc", diagnose)) == """gives("B") gave 'B', expected one of 'a', 'b', 'c'."""
    )
    assert message_of(lambda: expect(...).chooses(right, "abc", diagnose)) == "... gave ..., expected one of 'a', 'b', 'c'."
    assert message_of(lambda: expect(lambda: 1 / 0).chooses(right, "abc", diagnose)).endswith("It broke.")
    for odd in (["b"], b"b", None, torch.ones(3), type("Yes", (str,), {"__eq__": lambda *_: True, "__hash__": str.__hash__})("x")):
        assert "expected one of 'a', 'b', 'c'" in message_of(lambda odd=odd: expect(odd).chooses(right, "abc", diagnose))


def test_a_choice_is_salted_by_its_exercise():
    exercise("toy.choice")
    right = digest("b")
    exercise("toy.other")
    assert digest("b") != right
    with pytest.raises(AuthorError, match="no choice has the digest"):
        expect("b").chooses(right, among="abc", diagnose={"1": "a", "2": "c"})


@pytest.mark.parametrize("diagnose", [{"1": "a"}, {"1": "a", "2": "b"}, {"1": "a", "2": "b", "3": "c"}, {"1": "a", "2": "c", "3": "a"}, {}])
def test_each_wrong_choice_must_be_explained_once(diagnose):
    with pytest.raises(AuthorError, match="explain each wrong choice"):
        expect("b").chooses(digest("b"), among="abc", diagnose=diagnose)


# --- modules ---


class Model(nn.Module):
    def __init__(self, tie=lambda model: None):
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 2), nn.Linear(2, 5, bias=False)
        tie(self)


def tied(model):
    model.head.weight = model.embed.weight


def share(model):
    model.head.weight.data = model.embed.weight.data


def copy(model):
    model.head.weight.data.copy_(model.embed.weight.data)


NAMES = "embed.weight", "head.weight"


def test_has_parameters():
    expect(Model(tied)).has_parameters(10)
    model = Model()
    assert message_of(lambda: expect(model).has_parameters(10, {"Not tied.": 20})) == "model has 20 parameters, expected 10.\nNot tied."
    assert message_of(lambda: expect([1]).has_parameters(10)) == "[1] is a list; a torch module is expected."
    assert "uninitialized" in message_of(lambda: expect(nn.LazyLinear(2)).has_parameters(10))
    assert "raised ZeroDivisionError, expected 10 parameters" in message_of(lambda: expect(lambda: 1 / 0).has_parameters(10))


def test_ties_and_unties():
    expect(Model(tied)).ties(*NAMES)
    expect(Model(copy)).unties(*NAMES)
    expect(Model()).unties(*NAMES)
    assert message_of(lambda: expect(Model(share)).ties(*NAMES)).endswith("an optimizer sees two parameters and updates it twice.")
    assert message_of(lambda: expect(Model(copy)).ties(*NAMES, {"A copy.": EQUAL_COPIES})).endswith("does not change the other.\nA copy.")
    assert "two separate parameters" in message_of(lambda: expect(Model()).ties(*NAMES))
    for tie in (tied, share):
        assert "share their memory" in message_of(lambda tie=tie: expect(Model(tie)).unties(*NAMES))


def test_ties_of_what_has_no_such_names():
    model = Model()
    message = "model is a Model: there is no head.wait; there are embed.weight, head.weight."
    assert message_of(lambda: expect(model).ties("embed.weight", "head.wait")) == message
    assert message_of(lambda: expect(3).ties(*NAMES)) == "3 is an int; a torch module is expected."
    assert "raised ZeroDivisionError, expected a torch module" in message_of(lambda: expect(lambda: 1 / 0).ties(*NAMES))


@pytest.mark.parametrize("wrong", [TIED, "nonsense", 3])
def test_a_diagnosis_of_a_tie_must_be_a_wrong_outcome(wrong):
    with pytest.raises(AuthorError, match="a wrong value here is one of"):
        expect(Model(tied)).ties(*NAMES, diagnose={"x": wrong})
    expect(Model()).unties(*NAMES, diagnose={"x": TIED})
    with pytest.raises(AuthorError):
        expect(Model()).unties(*NAMES, diagnose={"x": SEPARATE})


# --- authors' errors ---


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        (lambda: expect(24).equals(24, {"x": 24}), "right answer"),
        (lambda: expect(24).equals(24, {"x": 1, "y": 1}), "same wrong value"),
        (lambda: expect(nan).equals(nan, {"x": nan}), "right answer"),
        (lambda: expect(1.0).close_to(1.0, diagnose={"x": 1.0000001}), "right answer"),
        (lambda: expect(torch.ones(2)).equals(torch.ones(2), {"x": torch.ones(2)}), "right answer"),
        (lambda: expect(print).prints("", {"x": "\n"}), "right answer"),
        (lambda: expect(torch.ones(2)).has_shape(2, diagnose={"x": (2,)}), "right answer"),
        (lambda: expect(lambda: 1).raises(LookupError, diagnose={"x": KeyError}), "right answer"),
        (lambda: expect(1).equals(2, {"x": TypeError, "y": TypeError}), "same wrong value"),
        (lambda: expect(1).raises(ValueError), "write expect"),
        (lambda: expect("x").prints("x"), "write expect"),
        (lambda: exercise("counting-attention"), "topic.name"),
        (lambda: exercise(None), "topic.name"),
    ],
)
def test_tests_that_are_written_wrongly(test, reason):
    with pytest.raises(AuthorError, match=reason):
        test()


# --- messages ---


def test_a_message_has_six_lines_at_most_and_the_diagnosis_is_among_them():
    deep = in_a_notebook("def deep(n):\n    return 1 / n")["deep"]
    message = message_of(lambda: expect(lambda: deep(0) + len("a\nb")).equals("a\nb", {"One.\nTwo.\nThree.": ZeroDivisionError}))
    assert message.split("\n")[-3:] == ["One.", "Two.", "Three."]
    text = "\n".join("abcdefg")
    message = message_of(lambda: expect(gives(text) + "").equals(text.upper(), {"Upper case.": text}))
    assert (message.count("\n"), message.split("\n")[-1]) == (5, "Upper case.")


def test_the_numbers_behind_names_are_told():
    for hidden_dim in (3,):
        message = message_of(lambda: expect(gives(2 * hidden_dim)).equals(7))  # noqa: B023
    assert message == "gives(2 * hidden_dim) gave 6, expected 7.\nHere hidden_dim is 3."
    message = message_of(lambda: expect([n for n in (1, 2)]).equals([1, 3]))
    assert message == "([n for n in (1, 2)])[1] gave 2, expected 3."


SAID = {
    "expect(f(2)).equals(24)": "f(2)",
    "expect(lambda: f(2)).equals(24)": "f(2)",
    "expect(\n    f(\n        2,\n    )\n).equals(\n    24,\n    diagnose={},\n)": "f( 2, )",
    "if True:\n    for _ in range(1):\n        expect(f(2) + 0 * f(3)).equals(24)": "f(2) + 0 * f(3)",
    "def test():\n    expect(f(2)).equals(24)\ntest()": "f(2)",
    "é = 'ö'\nexpect(f(2, 'é'[:0])).equals(24)": "f(2, 'é'[:0])",
    "kept = expect(f(2))\nkept.equals(24)": "got",
}


@pytest.mark.parametrize(("source", "said"), SAID.items())
def test_the_question_is_found_in_a_cell_and_in_ipython(source, said):
    def f(x, _=""):
        return 8 * x

    want = f"{said} gave 16, expected 24."
    assert message_of(lambda: in_a_notebook(source, f=f)) == want
    shell = InteractiveShell()
    shell.push({"f": f, "expect": expect})
    failure = shell.run_cell(source, silent=True).error_in_exec
    assert str(failure) == want


def test_without_source_the_message_says_got():
    assert message_of(lambda: exec("expect(3).equals(4)", {"expect": expect})) == "got gave 3, expected 4."
    assert message_of(lambda: exec("expect(lambda: [3]).equals([4])", {"expect": expect})) == "got[0] gave 3, expected 4."


def test_a_notebook_shows_the_message_alone():
    cells = ["from autograder import exercise, expect\ndef f(x):\n    return x / 0", "expect(lambda: f(1)).equals(1, diagnose={'Ha.': 2})"]
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(nb, allow_errors=True, kernel_name="python3").execute()
    assert nb.cells[0].outputs == []
    (error,) = nb.cells[1].outputs
    lines = ["f(1) raised ZeroDivisionError, expected 1.", "    It says: division by zero", "    in the line: return x / 0"]
    assert (error.ename, error.evalue, error.traceback) == ("ExpectationFailed", "\n".join(lines), lines)
