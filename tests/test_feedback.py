"""What a student reads: their points and messages, nothing of hidden tests, and nothing that acts."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from nbformat.v4 import new_code_cell, new_output
from submissions import changed, filled, put, solutions
from toy import DOUBLE_TEST_2, TOTAL_TEST, toy_course

from autograder.grading.autograde import autograde_notebook
from autograder.grading.class_folder import ClassFolder
from autograder.grading.feedback import write_feedback
from autograder.grading.hidden_tests import HIDDEN_FAILURE, REMOVED, HideTests, Parts, message_for_student
from autograder.grading.results import Graded, Question
from autograder.grading.safe_page import cleaned

HIDDEN = ["for number in (0, 10, 2.5)", "equals(number + number)", "total([])", "total([5, -5, 2.5])", "HIDDEN TESTS"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A function from what is done to a right notebook to the feedback page, and its text."""
    course = toy_course(tmp_path_factory.mktemp("feedback"))
    [chapter] = course.chapters
    folder = ClassFolder(course.root / "class")
    released = folder.prepare(course, chapter).nb

    def page(*changes, **answers):
        nb = filled(released, solutions(chapter) | {id.replace("_", "-"): source for id, source in answers.items()})
        for change in changes:
            nb = changed(nb, change)
        put(course.root / "ann.ipynb", nb)
        row = autograde_notebook(folder, chapter, "ann", course.root / "ann.ipynb")
        assert write_feedback(folder, chapter, row) == ()
        return folder.feedback("ann", chapter).read_text(), row

    return page


def text_of(page: str) -> str:
    """What a reader, or a search in the file, finds on `page`."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.partition("<body>")[2]))


def add_cells(*sources):
    return lambda nb: nb.cells.extend(new_code_cell(source) for source in sources)


def test_a_right_answer(toy):
    page, row = toy()
    assert row.points == 3
    assert "(Score: 3.0 / 3.0)" in page
    assert '<a href="#toy-double-test-2">toy.double</a> (Score: 1.0 / 1.0)' in page
    assert "return 2 * number" in text_of(page)
    assert not any(line in text_of(page) for line in HIDDEN)


def test_a_visible_test_says_what_it_found(toy):
    page, _ = toy(toy_double="def double(number):\n    return number**2")
    assert "double(3) gave 9, expected 6." in text_of(page)
    assert "Twice is not the square: multiply by two." in text_of(page)
    assert "Traceback" not in text_of(page)
    assert not any(line in text_of(page) for line in HIDDEN)


def test_a_hidden_test_says_only_that_it_failed(toy):
    page, row = toy(toy_double="def double(number):\n    return {3: 6, -4: -8}.get(number, 0)")
    assert row.questions[1].message.startswith("double(number) gave 0, expected 20")
    assert HIDDEN_FAILURE in text_of(page)
    assert "expected 20" not in text_of(page)
    assert not any(line in text_of(page) for line in HIDDEN)


def test_an_exception_in_a_hidden_test_brings_no_traceback(toy):
    wrong = "def double(number):\n    if number == 10:\n        raise KeyError(f'got {number}')\n    return 2 * number"
    page, row = toy(toy_double=wrong)
    assert "got 10" in row.questions[1].message
    assert HIDDEN_FAILURE in text_of(page)
    assert "got 10" not in text_of(page)
    assert not any(line in text_of(page) for line in HIDDEN)


def test_an_exception_in_a_visible_test_is_told(toy):
    page, _ = toy(toy_total="def total():\n    return 0")
    assert "TypeError: total() takes 0 positional arguments but 1 was given" in text_of(page)
    assert HIDDEN_FAILURE not in text_of(page)


def test_a_stub_is_told_as_a_stub(toy):
    page, _ = toy(toy_total="def total(numbers):\n    raise NotImplementedError('write it')")
    assert "NotImplementedError: write it" in text_of(page)
    assert HIDDEN_FAILURE not in text_of(page)


def test_what_an_answer_prints_in_tests_is_not_shown(toy):
    page, row = toy(toy_double="def double(number):\n    print('asked for', number)\n    return 2 * number")
    assert row.points == 3
    assert "asked for 10" not in text_of(page)


@pytest.mark.parametrize(
    "leak",
    [
        "print(In[-3:])",
        "print('\\n'.join(In))",
        "print(repr(repr(In)))",
        "In",
        "raise ValueError(str(In))",
        "from IPython.display import HTML\nHTML('<pre>' + '\\n'.join(In) + '</pre>')",
        "import sys\nsys.stderr.write('\\n'.join(In))",
        "print('\\n'.join(In).replace('5', '\\x1b[31m5\\x1b[0m'))",
        "print([line[5:40] for cell in In for line in cell.split('\\n')])",
        "%history",
    ],
)
def test_other_cells_cannot_show_hidden_tests(toy, leak):
    page, row = toy(add_cells(leak))
    assert row.points == 3
    shown = text_of(page).replace(leak, "")
    assert REMOVED in shown
    assert not any(line in shown for line in HIDDEN)


def test_pages_stay_small(toy):
    image = "from IPython.display import HTML\nHTML('<img alt=\"{alt}\" src=\"data:image/png;base64,' + 'A' * {size} + '\">')"
    page, row = toy(
        add_cells(
            "print('x' * 5_000_000)",
            "for i in range(100_000): print(i)",
            "for i in range(500): display('shown', i)",
            image.format(alt="small picture", size=100_000),
            image.format(alt="huge picture", size=5_000_000),
            "display({'text/html': '<b>x</b>', 'application/json': {'a': 1}}, raw=True)",
        )
    )
    assert row.flags == ()
    assert "cut: too long" in page
    assert '<img alt="small picture"' in page
    assert '<img alt="huge picture"' not in page
    assert "left out: too large" in page
    assert page.count("'shown'") < 100
    assert len(page) < 1_000_000


# --- nothing acts ---

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='JaVa\tScript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "<img src='https://evil.example/pixel.png'>",
    "<form action='https://evil.example'><input type=submit></form>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href='https://evil.example'>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>body { background: url(https://evil.example/x) }</style>",
    "<div style='background:url(https://evil.example/x);position:fixed'>x</div>",
    "<object data='https://evil.example/x.swf'></object><embed src='https://evil.example/x'>",
    "</body></html><script>alert(1)</script>",
    "</head><script>alert(1)</script>",
    "<details ontoggle=alert(1) open>x</details>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
]


class Active(HTMLParser):
    """Collects what in a page can act, or reaches out without a click."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "iframe", "object", "embed", "form", "meta", "base", "link", "style", "svg", "math", "noscript"):
            self.found.append(tag)
        for name, value in attrs:
            value = re.sub(r"\s", "", value or "").lower()
            is_link = name == "href" and not value.startswith(("#", "http:", "https:", "mailto:"))
            if (
                name.startswith("on")
                or is_link
                or (name == "src" and not value.startswith("data:image/"))
                or ("url(" in value and name == "style")
            ):
                self.found.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_active_is_left(attack):
    assert Active(cleaned(f"<div class='cell'>{attack}</div>")).found == []


def test_what_a_page_is_made_of_is_left():
    kept = '<div class="cell" id="a"><a href="#top">Top</a><table><tbody><tr><td>1</td></tr></tbody></table>{}</div>'
    kept = kept.format('<img alt="x" src="data:image/png;base64,AA==">')
    assert cleaned(kept) == kept


def test_nothing_active_reaches_a_page(toy):
    def attack(nb):
        nb.metadata.title = "</title><script>alert(1)</script>"
        nb.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}, "x": "</script><script>alert(1)</script>"}}
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                cell.source += "\n\n" + "\n\n".join(ATTACKS)
                break
        display = "from IPython.display import *\ndisplay({kind}({text!r}))"
        for text in ATTACKS:
            nb.cells.append(new_code_cell(display.format(kind="HTML", text=text)))
        nb.cells.append(new_code_cell(display.format(kind="Javascript", text="alert(1)")))
        nb.cells.append(new_code_cell(display.format(kind="SVG", text='<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>')))
        nb.cells.append(new_code_cell("print('<script>alert(1)</script>')"))
        nb.cells.append(new_code_cell("raise ValueError('<script>alert(1)</script>')"))

    page, row = toy(attack)
    assert row.points == 3
    head, _, body = page.partition("</head>")
    assert Active(body).found == []
    assert "alert(1)" not in head
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body


# --- failed submissions ---


def test_a_failed_submission_has_a_page_with_its_reason(tmp_path):
    course = toy_course(tmp_path)
    row = Graded("ann", "failed", reason="Not JSON: <script>alert(1)</script>")
    folder = ClassFolder(tmp_path / "class")
    assert write_feedback(folder, course.chapters[0], row) == ()
    page = folder.feedback("ann", course.chapters[0]).read_text()
    assert "Not graded. Not JSON: &lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_page_that_cannot_be_made_is_a_flag(tmp_path):
    course = toy_course(tmp_path)
    folder = ClassFolder(tmp_path / "class")
    row = Graded("ann", "graded", questions=(Question("toy.double", "toy-double-test", 1, 1, ""),))
    [flag] = write_feedback(folder, course.chapters[0], row)
    assert "the page has points only" in flag
    assert "1 points" in folder.feedback("ann", course.chapters[0]).read_text()


# --- the parts ---


def failed(source, message, ename="ExpectationFailed", traceback=()):
    marks = {"nbgrader": {"grade": True, "solution": False, "grade_id": "toy-x-test"}}
    output = new_output("error", ename=ename, evalue=message, traceback=list(traceback))
    return new_code_cell(source, metadata=marks, outputs=[output], execution_count=7)


@pytest.mark.parametrize(
    ("message", "is_told"),
    [
        ("double(-4) gave 8, expected -8.\nA negative number keeps its sign when it is doubled.", True),
        ("double(-4)[0] gave 8, expected -8.", True),
        ("(double(-4))[0] gave 8, expected -8.", True),
        ("double(number) gave 0, expected 20.", False),
        ("got gave 0, expected 20.", False),
        ("something nobody can place", False),
    ],
)
def test_a_message_is_told_when_a_visible_test_surely_said_it(message, is_told):
    assert message_for_student(failed(DOUBLE_TEST_2, message)) == (message if is_told else HIDDEN_FAILURE)


def test_without_hidden_tests_every_message_is_told():
    assert message_for_student(failed("expect(x).equals(1)", "whatever")) == "whatever"


def test_a_message_that_both_parts_could_have_said_is_not_told():
    source = "expect(f(n)).equals(1)\n### BEGIN HIDDEN TESTS\nexpect(f(n)).equals(2)\n### END HIDDEN TESTS"
    assert message_for_student(failed(source, "f(n) gave 3, expected 2.")) == HIDDEN_FAILURE


@pytest.mark.parametrize(("line", "is_told"), [(2, True), (8, False)])
def test_other_exceptions_are_told_by_their_line(line, is_told):
    cell = failed(
        TOTAL_TEST, "x", ename="ValueError", traceback=[f"Cell \x1b[32mIn[7]\x1b[39m\x1b[32m, line {line}\x1b[39m\n", "Cell In[3], line 1"]
    )
    assert message_for_student(cell) == ("ValueError: x" if line == 2 else HIDDEN_FAILURE)


def test_parts_of_a_test_cell():
    parts = Parts.of(TOTAL_TEST)
    assert "expect(total([1, 2, 3]))" in parts.visible
    assert "HIDDEN" not in parts.visible + parts.hidden
    assert parts.hidden.split("\n")[0] == "expect(total([])).equals(0)"
    assert Parts.of("a\n### BEGIN HIDDEN TESTS\nb").visible == "a"


def test_hidden_tests_leave_a_cell_that_passed(toy):
    cell = failed(TOTAL_TEST, "x")
    cell.outputs = [new_output("stream", name="stdout", text="printed")]
    nb, _ = HideTests().preprocess(changed_cells(cell), {})
    assert nb.cells[0].outputs == []


def changed_cells(*cells):
    from nbformat.v4 import new_notebook

    return new_notebook(cells=list(cells))
