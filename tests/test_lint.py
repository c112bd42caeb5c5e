"""Every rule of `course lint`: one edit of a good chapter trips it, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy
from edits import (
    Edit,
    both,
    cell,
    graded_by_hand,
    insert_after,
    named,
    replaced,
    stored,
    with_code,
    with_grading,
    with_locked,
    with_text,
    without,
    write_source,
)
from nbformat.v4 import new_code_cell, new_output

from autograder.authoring.lint import findings, lint
from autograder.authoring.rules import RULES
from autograder.authoring.source import Source

GIVEN = """\
@factory
def pair(number):
    return Pair(number)


class Pair:
    def __init__(self, number):
        self.number = number
"""


def source_with(tmp_path: Path, *edits: Edit) -> Source:
    course = toy.toy_course(tmp_path)
    write_source(course, *edits)
    return Source.of(course.chapters[0])


STDERR = new_output("stream", name="stderr", text="UserWarning: mind\n")
PICTURE = new_output("display_data", data={"image/png": "aGVsbG8="})
ERROR = new_output("error", ename="KeyError", evalue="'x'", traceback=[])
FIGURE = 'show(figure, alt="Two bars, the second twice as high.")'
MORE = "\n".join(f"x{number} = {number}" for number in range(36))

TRIPS = {
    # the parts of a chapter
    "no title": ("title_says_what_it_takes", replaced("toy-title", "# 01 Toy", "# Toy"), "begins with its title: # 01"),
    "no minutes": ("title_says_what_it_takes", replaced("toy-title", "10 minutes", "soon"), "lacks `90 minutes`"),
    "builds on what": ("title_says_what_it_takes", replaced("toy-title", "builds on", "needs"), "lacks `builds on …`"),
    "no cold open": ("opens_cold", without("toy-open"), "opens with something that runs"),
    "no ledgers": ("has_its_sections", without("toy-ledgers"), "no section `## What did not improve`"),
    "no references": ("has_its_sections", without("toy-references"), "no section `## References`"),
    "nothing to try": ("has_an_open_cell", without("toy-try-code"), "no open cell below it"),
    "short quiz": ("quiz_has_three_questions", replaced("toy-quiz", "**3.", "3."), "2 questions"),
    "question in the answer": (
        "questions_stand_alone",
        graded_by_hand("Why?\n\n### BEGIN SOLUTION\nSo.\n### END SOLUTION"),
        "put the question into a cell above",
    ),
    "long prose": ("text_is_short", with_text("word " * 141), "141 words"),
    # the parts of an exercise
    "no card": ("has_a_card", without("toy-double-card"), "**Exercise `toy.double`**"),
    "card of another": ("has_a_card", replaced("toy-total-card", "toy.total", "toy.sum"), "**Exercise `toy.total`**"),
    "no difficulty": ("has_a_card", replaced("toy-double-card", "difficulty 1 of 5", "easy"), "difficulty 2 of 5"),
    "no reason": (
        "has_a_card",
        replaced("toy-double-card", "*Why it matters: everything else here is made of it.*", ""),
        "*Why it matters: ….*",
    ),
    "no third hint": ("has_three_hints", replaced("toy-double-hints", "Hint 3", "Tip"), "no hint 3"),
    "empty hint": ("has_three_hints", replaced("toy-total-hints", "One operator is enough.\n", ""), "no hint 2"),
    "no tests": (
        "has_tests",
        without("toy-total-test", *(f"toy-total-{end}" for end in ("mistake-1", "mistake-2", "mistake-3", "alternative"))),
        "toy-total-test",
    ),
    "tests of nothing": (
        "tests_have_a_solution",
        with_locked('exercise("toy.half")', "toy-half-test", after="toy-use", grade=True, points=1),
        "no solution cell has the grade_id toy-half",
    ),
    "two mistakes": ("has_three_mistakes", without("toy-double-mistake-2"), "2 mistakes below its tests"),
    "no alternative": ("has_an_alternative", without("toy-total-alternative"), "no %%alternative"),
    "waiver without reason": (
        "has_an_alternative",
        replaced("toy-total-alternative", "def total(numbers):\n    return 2 * sum(numbers)", "# waiver:"),
        "a waiver without a reason",
    ),
    "mistake above the tests": (
        "answers_stand_below_tests",
        with_code("%%mistake one two three four\nx = 1", after="toy-authors"),
        "right after the tests",
    ),
    "three words": (
        "mistakes_name_a_diagnosis",
        replaced("toy-double-mistake-1", "Twice is not the square", "Twice is not"),
        "at least 4 words",
    ),
    "words of no diagnosis": (
        "mistakes_name_a_diagnosis",
        replaced("toy-double-mistake-1", "Twice is not the square", "Twice is not the sum"),
        "no diagnosis begins with 'Twice is not the sum:'",
    ),
    "one diagnosis for two": (
        "mistakes_name_a_diagnosis",
        replaced("toy-double-mistake-2", "Twice is not two more", "Twice is not the square"),
        "toy-double-mistake-1 has the same diagnosis",
    ),
    # what nbgrader goes by
    "grade_id twice": (
        "grade_ids_are_unique",
        lambda nb: insert_after(nb, "toy-setup", new_code_cell("x = 1", id="toy-setup", metadata=cell(nb, "toy-setup").metadata)),
        "2 cells have this grade_id",
    ),
    "other cell id": ("grade_ids_are_cell_ids", lambda nb: cell(nb, "toy-setup").update(id="abc"), "its grade_id is toy-setup"),
    "other topic": ("grade_ids_name_their_part", named("toy-setup", "tory-setup"), "it must be toy-setup or given_name"),
    "answer with a hyphen": (
        "grade_ids_name_their_part",
        graded_by_hand("### BEGIN SOLUTION\nSo.\n### END SOLUTION", "toy-why-not"),
        "toy-name",
    ),
    "no points": ("tests_have_points", with_grading("toy-total-test", points=0), "at least 1"),
    "end of solution missing": ("solutions_are_marked", replaced("toy-double", "    ### END SOLUTION", ""), "needs its ### END SOLUTION"),
    "marker misspelt": ("solutions_are_marked", replaced("toy-double", "### BEGIN SOLUTION", "## begin solution"), "spelt just so"),
    "all of it solution": (
        "solutions_are_marked",
        both(replaced("toy-double", "    ### BEGIN SOLUTION\n", ""), replaced("toy-double", "    ### END SOLUTION", "")),
        "docstring too",
    ),
    "solution in the open": ("solutions_are_marked", with_code("### BEGIN SOLUTION\nx = 1\n### END SOLUTION"), "no solution cell"),
    "hidden tests without end": (
        "hidden_tests_are_marked",
        replaced("toy-double-test-2", "### END HIDDEN TESTS", ""),
        "### END HIDDEN TESTS",
    ),
    "hidden tests misspelt": (
        "hidden_tests_are_marked",
        replaced("toy-total-test", "### BEGIN HIDDEN TESTS", "### BEGIN HIDDEN TEST"),
        "spelt just so",
    ),
    "hidden tests in the open": (
        "hidden_tests_are_marked",
        with_code("### BEGIN HIDDEN TESTS\nx = 1\n### END HIDDEN TESTS"),
        "no test cell",
    ),
    # tests
    "test of another exercise": (
        "begins_with_its_exercise",
        replaced("toy-total-test", '"toy.total"', '"toy.double"'),
        'exercise("toy.total")',
    ),
    "test without its exercise": (
        "begins_with_its_exercise",
        replaced("toy-double-test", 'exercise("toy.double")', "pass"),
        'exercise("toy.double")',
    ),
    "ends in a number": ("ends_in_no_value", replaced("toy-double-test-2", "### END HIDDEN TESTS", "### END HIDDEN TESTS\n0.5"), "`0.5`"),
    "ends in a name": ("ends_in_no_value", replaced("toy-double-test-2", "### BEGIN", "double\n### BEGIN"), "`double`"),
    "ends in another call": (
        "ends_in_no_value",
        replaced("toy-total-test", "### END HIDDEN TESTS", "### END HIDDEN TESTS\nabs(1)"),
        "`abs(1)`",
    ),
    "test prints": ("prints_nothing", replaced("toy-double-test", "expect", "print(1)\nexpect"), "leave print to a demonstration"),
    "test printed": (
        "prints_nothing",
        stored("toy-double-test", new_output("stream", name="stdout", text="6\n")),
        "stored output is not empty",
    ),
    # two rooms
    "module for the answer": (
        "tests_run_in_a_room_of_their_own",
        both(
            with_locked(GIVEN),
            replaced("toy-double", "2 * number", "2 * getattr(number, 'number', number)"),
            replaced("toy-double-test", "double(3)", "double(Pair(3))"),
        ),
        "cannot hand a Pair to an answer that runs in another process: hand it plain values or tensors, or let a @factory",
    ),
    "object compared": (
        "tests_run_in_a_room_of_their_own",
        both(
            replaced("toy-double", "    return 2 * number", "    return complex if number == 9 else 2 * number"),
            replaced("toy-double-test-2", "### BEGIN", "assert double(9) == complex\n### BEGIN"),
        ),
        "only plain values can be compared",
    ),
    "test needs a demonstration": (
        "tests_run_in_a_room_of_their_own",
        both(with_code("six = 6", after="toy-open"), replaced("toy-double-test", "equals(6", "equals(six")),
        "name 'six' is not defined when only graded cells run",
    ),
    "solution needs a demonstration": (
        "tests_run_in_a_room_of_their_own",
        both(
            with_code("two = 2", after="toy-open"), replaced("toy-double", "def double(number: float)", "def double(number: float = two)")
        ),
        "does not run when only graded cells run: NameError: name 'two' is not defined",
    ),
    "solution is wrong": (
        "tests_run_in_a_room_of_their_own",
        replaced("toy-total", "return sum(", "return 1 + sum("),
        "gave 13, expected 12",
    ),
    # code
    "no Python": ("is_python", with_code("x = = 1"), "invalid syntax"),
    "graded magic": (
        "graded_and_exported_cells_have_no_magics",
        replaced("toy-setup", "from", "%matplotlib inline\nfrom"),
        "a graded cell is plain Python",
    ),
    "exported magic": (
        "graded_and_exported_cells_have_no_magics",
        with_code("%time x = 1", tags=("export",)),
        "an exported cell is plain Python",
    ),
    "no docstring": (
        "has_docstrings",
        replaced("toy-double", '    """Twice the number, with its sign."""\n', ""),
        "double has no docstring",
    ),
    "no hint for an argument": ("has_type_hints", replaced("toy-double", "number: float", "number"), "double has no type hint for number"),
    "no hint for the result": ("has_type_hints", replaced("toy-total", " -> float", ""), "total has no type hint for what it returns"),
    "no hint in a method": (
        "has_type_hints",
        with_code('class Box:\n    """A box."""\n    def size(self, unit) -> int:\n        return 1', tags=("export",)),
        "Box.size has no type hint for unit",
    ),
    "long code": ("code_is_short", with_code(MORE), "36 lines; a screen holds 35"),
    "keyboard": ("asks_nobody", with_code("name = input()"), "input waits for a keyboard"),
    "download": ("needs_no_network", with_code("import urllib.request"), "import urllib.request"),
    "shell": ("needs_no_network", with_code("!wget example.org/x"), "!wget example.org/x"),
    "install": ("needs_no_network", with_code("%pip install x"), "%pip install x"),
    "weights from a hub": (
        "needs_no_network",
        with_code('model = AutoModel.from_pretrained("x")'),
        "AutoModel.from_pretrained without local_files_only=True",
    ),
    "torch.hub": ("needs_no_network", with_code('model = torch.hub.load("x", "y")'), "torch.hub.load"),
    # pictures and outputs
    "no alt": ("figures_have_alt_text", with_code('drawing("boxes")'), "alt is a sentence"),
    "short alt": ("figures_have_alt_text", with_code('drawing("boxes", alt="boxes")'), "alt is a sentence"),
    "plt.show": ("figures_are_shown_with_alt_text", with_code("plt.show()"), "not with plt.show()"),
    "image output": ("figures_are_shown_with_alt_text", with_code("figure", PICTURE), "a figure without alt text"),
    "image in text": ("images_in_text_have_alt_text", with_text("![](boxes.svg)"), "![]( has no alt text"),
    "img in text": ("images_in_text_have_alt_text", with_text('<img src="boxes.svg" alt="">'), "has no alt text"),
    "compared figure": ("figures_are_not_compared", with_code(FIGURE), "tag the cell nbval-ignore-output"),
    "warning": ("outputs_have_no_stderr", stored("toy-use", STDERR), "UserWarning: mind"),
    "stored error": ("outputs_have_no_error", stored("toy-use", ERROR), "KeyError in its stored output"),
    "nobody asserts": (
        "ignored_outputs_are_asserted",
        with_code("print(0.1)", tags=("nbval-ignore-output",)),
        "assert in the next code cell",
    ),
}


@pytest.mark.filterwarnings("ignore:Non-unique cell id")
@pytest.mark.parametrize(("rule", "edit", "told"), TRIPS.values(), ids=TRIPS)
def test_one_edit_trips_one_rule(tmp_path, rule, edit, told):
    source = source_with(tmp_path, edit)
    tripped = {each.__name__: list(each(source)) for each in RULES}
    tripped = {name: found for name, found in tripped.items() if found}
    assert list(tripped) == [rule], tripped
    assert len(tripped[rule]) == 1, tripped
    assert told in tripped[rule][0].text


def test_every_rule_is_tripped_by_some_edit():
    assert {rule.__name__ for rule in RULES} == {rule for rule, _, _ in TRIPS.values()}


FINE = {
    "a figure, asserted": both(
        lambda nb: insert_after(nb, "toy-use", new_code_cell("assert True", id="toy-check")),
        with_code(FIGURE, tags=("nbval-ignore-output",)),
    ),
    "an image with alt text": with_text('![two boxes](x.svg) <img src="x.svg" alt="two boxes"> `<img src=x>`'),
    "much that is no prose": with_text(
        "| a | b |\n|---|---|\n" + "| many words in a table |\n" * 60 + "$$ a + b $$\n" * 90 + "`code` " * 90
    ),
    "much that is folded away": with_text(("<details><summary>Hint</summary>\n\n" + "word " * 100 + "\n</details>\n\n") * 3),
    "a waiver": replaced(
        "toy-total-alternative", "def total(numbers):\n    return 2 * sum(numbers)", "# waiver: there is one letter to choose"
    ),
    "local weights": with_code('model = AutoModel.from_pretrained("x", local_files_only=True)'),
    "an error that is the point": with_code("{}['x']", ERROR, tags=("raises-exception",)),
    "an answer alone in its cell": graded_by_hand("### BEGIN SOLUTION\nSo.\n### END SOLUTION"),
    "a factory": both(
        with_locked(GIVEN),
        replaced("toy-double", "2 * number", "2 * getattr(number, 'number', number)"),
        replaced("toy-double-test", "double(3)", "double(pair(3))"),
    ),
    "a test of what an answer prints": replaced("toy-double", "    return", "    print(number)\n    return"),
    "magics in a demonstration": with_code("%matplotlib inline\nx = %time 1"),
}


@pytest.mark.parametrize("edit", FINE.values(), ids=FINE)
def test_what_is_fine_trips_nothing(tmp_path, edit):
    assert findings(source_with(tmp_path, edit)) == []


def test_lint_says_where_and_what(tmp_path, capsys):
    source = source_with(tmp_path, without("toy-references"), with_code("name = input()"))
    assert lint([source.chapter]) is False
    first, second = capsys.readouterr().out.splitlines()
    assert first == "solutions/01_toy/01_toy.ipynb: no section `## References`"
    assert second.startswith("solutions/01_toy/01_toy.ipynb: toy-added: input waits for a keyboard")


def test_lint_of_a_good_chapter(tmp_path, capsys):
    assert lint([source_with(tmp_path).chapter]) is True
    assert capsys.readouterr().out == f"solutions/01_toy/01_toy.ipynb: follows all {len(RULES)} rules\n"
