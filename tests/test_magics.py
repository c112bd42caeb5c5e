"""`%%mistake` and `%%alternative`: in a shell of this process for the many cases, in real kernels for what only a kernel can show."""

from __future__ import annotations

import builtins
import subprocess
import sys
import time

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output
from traitlets.config import Config

from autograder.expect import AuthorError
from autograder.magics import AuthoringMagics, Outcome, diagnoses_in, exercise_of

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")

SETUP = "import os, sys, time\nfrom autograder import exercise, expect"
ANSWER = """
def area(side):
    return side * side

def volume(side):
    return area(side) * side
"""
TEST = """# The first test cell.
exercise("counting.area")
expect(area(3)).equals(9, diagnose={
    "That is the border, not the area.": 12,
    "The sides are added: multiply them.": 6,
    "The sides are raised to $3$ {dimensions}?": 27,
})
"""
TEST_2 = """
exercise("counting.area")
expect(volume(2)).equals(8, diagnose={"The area must grow with the side.": 18})
expect(lambda: area("3")).raises(TypeError, diagnose={"A text has no area at all.": ZeroDivisionError})
"""
BORDER = "%%mistake That is the border,\ndef area(side):\n    return 4 * side"
BORDER_MESSAGE = "area(3) gave 12, expected 9.\nThat is the border, not the area."


class Bench:
    """A shell in which the extension is loaded; cells are run without history, as nbval does."""

    def __init__(self, capsys):
        self.shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
        self._capsys = capsys
        self.run("%load_ext autograder", SETUP, ANSWER)

    def run(self, *sources: str, cell_id: str | None = None) -> str:
        """What the last cell printed. Raises what it raised."""
        for source in sources:
            self._capsys.readouterr()
            result = self.shell.run_cell(source, store_history=False, cell_id=cell_id)
            printed = self._capsys.readouterr().out
            result.raise_error()
        return printed

    def complaint(self, source: str) -> str:
        with pytest.raises(AuthorError) as caught:
            self.run(source)
        return str(caught.value)

    @property
    def magics(self) -> AuthoringMagics:
        return self.shell.magics_manager.registry["AuthoringMagics"]


@pytest.fixture
def empty_bench(capsys, monkeypatch):
    for name in ("display", "get_ipython"):  # a shell leaves its own there
        monkeypatch.setattr(builtins, name, None, raising=False)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return Bench(capsys)


@pytest.fixture
def bench(empty_bench):
    empty_bench.run(TEST, TEST_2)
    return empty_bench


def mistake(body: str, words: str = "That is the border,") -> str:
    return f"%%mistake {words}\n{body}"


# --- a mistake with its diagnosis, an alternative that passes ---


def test_a_mistake_prints_what_the_student_reads(bench):
    assert bench.run(BORDER) == BORDER_MESSAGE + "\n"


def test_an_alternative_that_passes_prints_nothing(bench):
    assert bench.run("%%alternative by addition\ndef area(side):\n    return sum(side for _ in range(side))") == ""


def test_an_alternative_that_fails_shows_why(bench):
    complaint = bench.complaint("%%alternative\ndef area(side):\n    return 4 * side")
    assert "must pass the tests of counting.area" in complaint and "    area(3) gave 12, expected 9." in complaint


def test_every_test_cell_of_the_exercise_runs(bench):
    source = mistake("def area(side):\n    return 9", "The area must grow")
    assert bench.run(source) == "volume(2) gave 18, expected 8.\nThe area must grow with the side.\n"


def test_helpers_defined_before_call_the_mistake(bench):
    bench.run('exercise("counting.volume")\nexpect(volume(2)).equals(8, diagnose={"You forgot the third dimension.": 4})')
    assert "third dimension" in bench.run(mistake("def area(side):\n    return side", "You forgot the third"))


def test_an_exception_that_a_test_expects_is_diagnosed_by_its_type(bench):
    answer = 'def area(side):\n    return 1 / 0 if side == "3" else side * side'
    printed = bench.run(mistake(answer, "A text has no area"))
    assert printed.startswith('area("3") raised ZeroDivisionError') and printed.endswith("A text has no area at all.\n")


def test_the_words_are_taken_as_they_stand(bench):
    dimensions = "no variable"
    bench.run(f"dimensions = {dimensions!r}")
    assert "$3$ {dimensions}?" in bench.run(mistake("def area(side):\n    return side**3", "The sides  are raised to $3$ {dimensions}?"))


def test_ipython_syntax_works_in_an_answer(bench):
    assert bench.run("%%alternative\n%matplotlib --list\n!echo shout\ndef area(side):\n    return side**2\n'a last value'") == ""


# --- nothing is left behind ---


def test_the_notebook_is_as_it_was(bench):
    bench.run(
        "import random, numpy, torch\nthings = [1]\nbefore = area",
        "random.seed(0), numpy.random.seed(0), torch.manual_seed(0)",
    )
    names = set(bench.shell.user_ns)
    answer = "things.append(2)\nrandom.random(), numpy.random.rand(), torch.rand(2)\nfirst = 1\ndef area(side):\n    return 12"
    assert bench.run(mistake(answer)) == BORDER_MESSAGE + "\n"
    assert set(bench.shell.user_ns) == names
    bench.run("assert things == [1] and area is before and area(3) == 9")
    bench.run("assert random.random() == random.Random(0).random()")
    bench.run("assert numpy.random.rand() == numpy.random.RandomState(0).rand()")
    bench.run("assert torch.equal(torch.rand(2), torch.rand(2, generator=torch.Generator().manual_seed(0)))")


def test_what_an_answer_prints_is_swallowed(bench):
    answer = (
        'from IPython.display import display\nprint("printed")\ndisplay("shown")\nos.system("echo from a shell")\n'
        'print("error", file=sys.stderr)\n"a value"\ndef area(side):\n    print("again")\n    return 12'
    )
    assert bench.run(mistake(answer)) == BORDER_MESSAGE + "\n"


def test_sources_of_answers_and_tests_can_be_read(bench):
    bench.run('import inspect\ndef sources(*functions):\n    return "".join(map(inspect.getsource, functions))')
    bench.run('exercise("counting.source")\ndef here(): return 1\nif "very" in sources(area):\n    raise Warning(sources(here, area))')
    outcome = bench.magics.outcome_of("def area(side):\n    return 'this very line'\n")
    assert outcome.message == "Warning: def here(): return 1\ndef area(side):\n    return 'this very line'"


# --- answers that do not behave ---


def test_an_answer_that_never_ends_is_stopped(bench):
    bench.magics.time_limit = 0.5
    start = time.monotonic()
    assert bench.complaint(mistake("while True:\n    pass")) == "this answer was still running after 0.5 s and was stopped"
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("os._exit(0)", "ended its process or closed its files, so that nothing came back (exit status 0)"),
        ("import ctypes; ctypes.string_at(0)", "(SIGSEGV)"),
        ("os.closerange(0, 100)", "closed its files"),
        ("sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def area(side):\n    return side.shape", "AttributeError: 'int' object has no attribute 'shape'"),
        ("def area(side)\n    return 4", "SyntaxError: expected ':' (line 1)"),
        ("def area(side):\n    return unknown(side)", "NameError: name 'unknown' is not defined"),
        ("input('side? ')", "EOFError"),
    ],
)
@pytest.mark.parametrize("magic", ["%%mistake That is the border,", "%%alternative"])
def test_an_answer_that_breaks_off_is_no_mistake_and_no_alternative(bench, magic, body, complaint):
    assert complaint in bench.complaint(f"{magic}\n{body}")


def test_an_uncaught_exception_is_told_in_six_lines_at_most(bench):
    outcome = bench.magics.outcome_of("raise RuntimeError('\\n'.join(map(str, range(1, 20))))")
    assert outcome == Outcome("RuntimeError: 1\n2\n3\n4\n5\n6", "", "RuntimeError")
    assert bench.magics.outcome_of("raise RuntimeError").message == "RuntimeError"


def test_an_exception_may_carry_its_diagnosis(bench):
    answer = "error = RuntimeError('no')\nerror.diagnosis = 'You did not try.'\nraise error"
    assert bench.magics.outcome_of(answer) == Outcome("RuntimeError: no", "You did not try.", "RuntimeError")


def test_a_fault_of_the_tests_is_the_authors(bench):
    bench.run('exercise("counting.faulty")\nif area(1) > 1:\n    expect(1).equals(2, diagnose={"This is the right answer.": 2})')
    assert "has the right answer as its wrong value" in bench.complaint(BORDER)


# --- what an author is told ---


def test_without_a_test_cell_the_author_hears_which_to_run(empty_bench):
    for source in (BORDER, "%%alternative\npass"):
        assert "run the test cell of the exercise first" in empty_bench.complaint(source)


@pytest.mark.parametrize("words", ["", "That", "That is the"])
def test_fewer_than_four_words_are_refused(bench, words):
    assert "4 or more" in bench.complaint(mistake("pass", words))


def test_a_mistake_that_passes_is_none(bench):
    assert "passes every test of counting.area" in bench.complaint(mistake("pass"))


@pytest.mark.parametrize("words", ["That is the bord", "Somebody knows this sentence", "border, not the area."])
def test_words_that_begin_no_diagnosis_are_refused_with_all_there_are(bench, words):
    complaint = bench.complaint(mistake("def area(side):\n    return 7", words))
    assert complaint.startswith(f"no diagnosis of counting.area begins with {words!r}.")
    assert (
        f'The student would read:\n    area(3) gave 7, expected 9.\nAdd to the `diagnose` of that expectation:\n    "{words} …": 7,'
        in complaint
    )
    assert "    That is the border, not the area.\n" in complaint and "    The area must grow with the side.\n" in complaint


def test_words_that_begin_two_diagnoses_are_refused(bench):
    bench.run(
        'exercise("counting.two")\nexpect(area(3)).equals(9, diagnose={"One is missing here: first.": 8, "One is missing here: last.": 7})'
    )
    complaint = bench.complaint(mistake("def area(side):\n    return 8", "One is missing here:"))
    assert "begin 2 diagnoses of counting.two" in complaint and "    One is missing here: last." in complaint


def test_one_sentence_in_two_expectations_is_one_diagnosis(bench):
    bench.run(TEST_2 + 'expect(area(4)).equals(16, diagnose={"That is the border, not the area.": 15})')
    assert bench.run(BORDER) == BORDER_MESSAGE + "\n"


def test_a_mistake_with_another_diagnosis_is_refused(bench):
    complaint = bench.complaint(mistake("def area(side):\n    return side + side"))
    assert complaint.startswith("this mistake fails, but not with the diagnosis 'That is the border, not the area.'")
    assert "    The sides are added: multiply them.\nThe last line is another diagnosis" in complaint


@pytest.mark.parametrize(
    ("value", "entry"),
    [
        ("[1, 'a']", "[1, 'a']"),
        ("1234567", "1_234_567"),
        ("0.123456", "<what this answer gives there>"),
        ("object()", "<what this answer gives there>"),
    ],
)
def test_a_mistake_without_diagnosis_names_the_value_to_add(bench, value, entry):
    complaint = bench.complaint(mistake(f"def area(side):\n    return {value}"))
    assert complaint.endswith(f'Add to the `diagnose` of that expectation:\n    "That is the border, not the area.": {entry},')


def test_an_exception_without_diagnosis_names_its_type(bench):
    assert '": ZeroDivisionError,' in bench.complaint(mistake("def area(side):\n    return 1 / 0"))
    bench.run('exercise("counting.lazy")\nexpect(lambda: area(3)).equals(9, diagnose={"That is the border, not the area.": 12})')
    complaint = bench.complaint(mistake("def area(side):\n    return 1 / 0"))
    assert complaint.endswith('Add to the `diagnose` of that expectation:\n    "That is the border, not the area.": ZeroDivisionError,')


# --- mistakes beside each other ---


def test_two_mistakes_of_one_exercise_share_no_diagnosis(bench):
    bench.run(BORDER)
    complaint = bench.complaint(mistake("def area(side):\n    return side + side + side + side"))
    assert "another mistake of counting.area has this diagnosis already" in complaint


def test_two_mistakes_of_one_exercise_share_no_first_wrong_value(bench):
    bench.run(
        'exercise("counting.close")\n'
        'expect(area(3)).close_to(9.0, diagnose={"This is the first belief.": 1.0, "This is the second belief.": 1.01})'
    )
    bench.run(mistake("def area(side):\n    return 1.0", "This is the first"))
    complaint = bench.complaint(mistake("def area(side):\n    return 1.01", "This is the second"))
    assert (
        "goes wrong in the same way, yet has another diagnosis:\n    area(3) gave 1, expected 9.\n    This is the first belief."
        in complaint
    )


def test_two_texts_that_differ_in_different_lines_are_two_first_wrong_values(bench):
    bench.run(
        'def table():\n    return "a\\nb\\nc"',
        'exercise("counting.table")\nexpect(table()).equals("a\\nb\\nc", '
        'diagnose={"The first line is wrong.": "x\\nb\\nc", "The last line is wrong.": "a\\nb\\nx"})',
    )
    bench.run(mistake('def table():\n    return "x\\nb\\nc"', "The first line is"))
    assert "The last line is wrong." in bench.run(mistake('def table():\n    return "a\\nb\\nx"', "The last line is"))


def test_the_same_cell_may_run_again(bench):
    assert bench.run(BORDER) == bench.run(BORDER)


def test_an_edited_mistake_replaces_its_older_self(bench):
    bench.run(BORDER, cell_id="one")
    bench.run(mistake("def area(side):\n    return side + side", "The sides are added:"), cell_id="one")
    assert bench.run(BORDER, cell_id="two") == BORDER_MESSAGE + "\n"


def test_other_exercises_may_say_the_same(bench):
    bench.run(BORDER)
    bench.run(TEST.replace("counting.area", "counting.again"))
    assert bench.run(BORDER + " ") == BORDER_MESSAGE + "\n"


# --- which cells are remembered ---


def test_the_exercise_is_the_one_whose_test_ran_last(bench):
    bench.run('exercise("counting.other")\nexpect(area(1)).equals(1)', "x = 1")
    assert "passes every test of counting.other" in bench.complaint(mistake("def area(side):\n    return side"))
    bench.run(TEST)
    assert bench.run(BORDER) == BORDER_MESSAGE + "\n"


def test_an_edited_test_cell_replaces_its_older_self(empty_bench):
    empty_bench.run(TEST, cell_id="test")
    empty_bench.run(TEST.replace("That is the border, not the area.", "That is the border, you see."), cell_id="test")
    assert empty_bench.run(BORDER) == "area(3) gave 12, expected 9.\nThat is the border, you see.\n"


def test_a_test_cell_that_fails_counts(empty_bench):
    with pytest.raises(AssertionError):
        empty_bench.run(TEST.replace("equals(9", "equals(10"))
    assert "area(3) gave 9, expected 10." in empty_bench.complaint("%%alternative\npass")


def test_loading_the_extension_again_changes_nothing(bench):
    bench.run("%reload_ext autograder")
    assert bench.run(BORDER) == BORDER_MESSAGE + "\n"
    bench.run("x = 1")
    assert [cell.source for cell in bench.magics.history.cells.values()].count("x = 1") == 1
    callbacks = bench.shell.events.callbacks["post_run_cell"]
    assert sum(getattr(callback, "__self__", None) is bench.magics.history for callback in callbacks) == 1


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('# why\n\nexercise("a.b")\nexpect(1)', "a.b"),
        ('exercise("a.b")\n!ls\n%time x', "a.b"),
        ('x = 1\nexercise("a.b")', ""),
        ("exercise(name)", ""),
        ('print("a.b")', ""),
        ("def (", ""),
        ("", ""),
    ],
)
def test_a_test_cell_is_known_by_its_first_statement(source, name):
    assert exercise_of(source) == name


def test_diagnoses_are_the_keys_of_displays():
    assert diagnoses_in('expect(1).equals(2, diagnose={"one " "sentence": 3, f"{x}": 4, **others})\nf(diagnose={"b": 1})') == [
        "one sentence",
        "b",
    ]
    assert diagnoses_in("expect(1).equals(2, diagnose=elsewhere)") == []


# --- a new process instead of a fork ---


def test_a_new_process_says_the_same(bench):
    for answer in ("def area(side):\n    return 4 * side", "pass", "def area(side):\n    return 9", "raise RuntimeError('no')", "def ("):
        assert bench.magics.outcome_of(answer, afresh=True) == bench.magics.outcome_of(answer)


def test_a_new_process_is_used_where_a_fork_is_not_safe(bench, monkeypatch):
    monkeypatch.setattr("autograder.isolation.fork_is_safe", lambda: False)
    monkeypatch.setattr("autograder.isolation.run_isolated", None)
    with pytest.raises(ZeroDivisionError):
        bench.run("1 / 0")
    assert bench.run(BORDER) == BORDER_MESSAGE + "\n"


def test_a_notebook_that_does_not_run_again_is_the_authors_fault(bench, monkeypatch):
    monkeypatch.setattr("autograder.isolation.fork_is_safe", lambda: False)
    bench.shell.user_ns["made_elsewhere"] = 1
    bench.run("made_elsewhere + 1")
    assert "made_elsewhere + 1\nfails there with\n    NameError" in bench.complaint(BORDER)


# --- in a kernel ---

KERNEL_CELLS = {
    "load": "%load_ext autograder",
    "set-up": SETUP + "\nimport logging, torch\nlogging.basicConfig()\n%matplotlib inline",
    "answer": ANSWER,
    "test": TEST,
    "threads": "torch.set_num_threads(2)\ntorch.ones(1_000_000).exp()\nlogging.warning('seen')",
    "border": BORDER,
    "noisy": mistake(
        "logging.error('unseen')\nprint('unseen')\nos.system('echo unseen; echo unseen >&2')\n"
        + "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\ndisplay('unseen')\ndef area(side):\n    return 2 * side",
        "The sides are added:",
    ),
    "mathematics": "%%alternative\ndef area(side):\n    x = torch.full((300, 300), float(side), requires_grad=True)\n"
    "    (x @ x).sum().backward()\n    return round(x.detach().square().mean().item())",
    "gone": "%%alternative\nos._exit(1)",
    "afresh": "from unittest import mock\nmock.patch('autograder.isolation.fork_is_safe', lambda: False).start()",
    "cubed": mistake("def area(side):\n    return side**3", "The sides are raised to"),
    "after": "print(area(3), torch.get_num_threads(), 'plt' in globals())",
}


@pytest.fixture(scope="module")
def kernel_outputs() -> dict[str, list]:
    """The outputs of KERNEL_CELLS, run from top to bottom."""
    nb = new_notebook(cells=[new_code_cell(source, id=name) for name, source in KERNEL_CELLS.items()])
    NotebookClient(nb, kernel_name="python3", timeout=90, allow_errors=True).execute()
    return {cell.id: cell.outputs for cell in nb.cells}


def stream(outputs: list) -> str:
    assert all(output.output_type == "stream" and output.name == "stdout" for output in outputs)
    return "".join(output.text for output in outputs)


def test_a_kernel_shows_the_message_and_nothing_else(kernel_outputs):
    assert stream(kernel_outputs["border"]) == BORDER_MESSAGE + "\n"
    assert stream(kernel_outputs["noisy"]) == "area(3) gave 6, expected 9.\nThe sides are added: multiply them.\n"
    assert kernel_outputs["threads"][0].text == "WARNING:root:seen\n"


def test_mathematics_after_openmp_threads_does_not_hang(kernel_outputs):
    assert kernel_outputs["mathematics"] == []


def test_an_author_error_fails_its_cell(kernel_outputs):
    assert [(output.ename, output.evalue.rpartition(" (")[0]) for output in kernel_outputs["gone"]] == [
        ("AuthorError", "this answer ended its process or closed its files, so that nothing came back")
    ]


def test_a_kernel_can_use_a_new_process_instead(kernel_outputs):
    assert stream(kernel_outputs["cubed"]) == "area(3) gave 27, expected 9.\nThe sides are raised to $3$ {dimensions}?\n"


def test_the_kernel_goes_on_as_if_nothing_had_been(kernel_outputs):
    assert stream(kernel_outputs["after"]) == "9 2 False\n"


def test_strict_nbval_checks_the_diagnosis(tmp_path):
    def cell(source: str, printed: str = ""):
        outputs = [new_output("stream", text=printed)] if printed else []
        return new_code_cell(source, outputs=outputs, execution_count=1 if outputs else None)

    cells = [cell(source) for source in ("%load_ext autograder", SETUP, ANSWER, TEST, TEST_2)]
    right = [cell(BORDER, BORDER_MESSAGE + "\n"), cell("%%alternative\ndef area(side):\n    return side**2")]
    wrong = [
        cell(mistake("def area(side):\n    return 2 * side", "The sides are added:"), "An older message\n"),
        cell("%%alternative\nraise"),
    ]
    nbformat.write(new_notebook(cells=cells + right + wrong), tmp_path / "strict.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", "strict.ipynb"]
    report = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "2 failed, 7 passed" in report
    assert "strict.ipynb::Cell 7" in report and "strict.ipynb::Cell 8" in report
