"""A small course in a temporary folder, for the tests: one chapter, `01_toy`, with two exercises.

`toy.double` is worth 2 points over two test cells, `toy.total` 1 point; `total` calls `double`.
"""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder import notebook
from autograder.course import Course

CHAPTER = "01_toy"

PYPROJECT = """\
[tool.course]
repository = "{repository}"
"""

DOUBLE = '''\
def double(number: float) -> float:
    """Twice the number, with its sign."""
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION
'''

DOUBLE_TEST = """\
exercise("toy.double")
expect(double(3)).equals(6, diagnose={
    "Twice is not the square: multiply by two.": 9,
    "Twice is not two more: multiply by two.": 5,
})
"""

DOUBLE_TEST_2 = """\
exercise("toy.double")
expect(double(-4)).equals(-8, diagnose={
    "A negative number keeps its sign when it is doubled.": 8,
})
### BEGIN HIDDEN TESTS
for number in (0, 10, 2.5):
    expect(double(number)).equals(number + number)
### END HIDDEN TESTS
"""

TOTAL = '''\
def total(numbers: list[float]) -> float:
    """The sum of the doubles of `numbers`."""
    ### BEGIN SOLUTION
    return sum(double(number) for number in numbers)
    ### END SOLUTION
'''

TOTAL_TEST = """\
exercise("toy.total")
expect(total([1, 2, 3])).equals(12, diagnose={
    "Each number is doubled before it is added.": 6,
    "Every number is doubled, not only the last one.": 9,
    "The doubles are added, not multiplied.": 48,
})
### BEGIN HIDDEN TESTS
expect(total([])).equals(0)
expect(total([5, -5, 2.5])).equals(5.0)
### END HIDDEN TESTS
"""

HINTS = """\
<details><summary>Hint 1</summary>

Say it in words first.
</details>

<details><summary>Hint 2</summary>

One operator is enough.
</details>

<details><summary>Hint 3</summary>

Try it on paper with a small number.
</details>
"""


def toy_course(folder: Path, repository: str = "") -> Course:
    """A course in `folder` whose only source is `toy_notebook()`; nothing is built yet."""
    (folder / "pyproject.toml").write_text(PYPROJECT.format(repository=repository))
    for name in ("paramshare/__init__.py", "paramshare/_support/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('"""Written by hand."""\n')
    (folder / "chapters").mkdir()
    course = Course(folder)
    notebook.write(toy_notebook(), folder / "solutions" / CHAPTER / f"{CHAPTER}.ipynb")
    return course


def toy_notebook() -> NotebookNode:
    """The source of chapter `01_toy`, in canonical form."""
    return notebook.canonical(new_notebook(cells=[*_opening(), *_double(), *_total(), *_closing()]))


def _opening() -> list[NotebookNode]:
    return [
        _text("toy-title", "# 01 Toy\n\nAt the end you can double.\n\n10 minutes · CPU · builds on nothing · gives to nobody"),
        _locked("toy-setup", "from autograder import exercise, expect"),
        _plain("toy-authors", "%load_ext autograder"),
    ]


def _double() -> list[NotebookNode]:
    return [
        _text("toy-double-idea", "### Doubling\n\nThe double of a number is the number added to itself."),
        _card("toy.double", minutes=3, why="everything else here is made of it."),
        _solution("toy-double", DOUBLE),
        _test("toy-double-test", DOUBLE_TEST),
        _test("toy-double-test-2", DOUBLE_TEST_2),
        _text("toy-double-hints", HINTS),
        _wrong("toy-double-mistake-1", "Twice is not the square", "def double(number):\n    return number**2"),
        _wrong("toy-double-mistake-2", "Twice is not two more", "def double(number):\n    return number + 2"),
        _wrong("toy-double-mistake-3", "A negative number keeps its sign", "def double(number):\n    return 2 * abs(number)"),
        _plain("toy-double-alternative", "%%alternative\ndef double(number):\n    return number + number"),
    ]


def _total() -> list[NotebookNode]:
    last = "def total(numbers):\n    return sum(numbers[:-1]) + double(numbers[-1])"
    product = "def total(numbers):\n    result = 1\n    for number in numbers:\n        result *= double(number)\n    return result"
    return [
        _text("toy-total-idea", "### Adding up\n\nDouble each number, then add."),
        _card("toy.total", minutes=5, why="it uses what you just wrote."),
        _solution("toy-total", TOTAL),
        _test("toy-total-test", TOTAL_TEST),
        _text("toy-total-hints", HINTS),
        _wrong("toy-total-mistake-1", "Each number is doubled before it is added.", "def total(numbers):\n    return sum(numbers)"),
        _wrong("toy-total-mistake-2", "Every number is doubled, not only", last),
        _wrong("toy-total-mistake-3", "The doubles are added, not multiplied.", product),
        _plain("toy-total-alternative", "%%alternative\ndef total(numbers):\n    return 2 * sum(numbers)"),
    ]


def _closing() -> list[NotebookNode]:
    use = _plain("toy-use", "print(double(21), total([1, 2, 3]))")
    use.outputs = [new_output("stream", name="stdout", text="42 12\n")]
    return [use, _text("toy-references", "## References\n\n- Euclid, for the idea.")]


# --- the kinds of cells ---


def _text(id: str, source: str) -> NotebookNode:
    return new_markdown_cell(source, id=id)


def _card(exercise: str, minutes: int, why: str) -> NotebookNode:
    id = f"{exercise.replace('.', '-')}-card"
    return _text(id, f"**Exercise `{exercise}`** · difficulty 1 of 5 · {minutes} minutes\n*Why it matters: {why}*")


def _plain(id: str, source: str) -> NotebookNode:
    return new_code_cell(source, id=id)


def _wrong(id: str, belief: str, answer: str) -> NotebookNode:
    return _plain(id, f"%%mistake {belief}\n{answer}")


def _locked(id: str, source: str) -> NotebookNode:
    return new_code_cell(source, id=id, metadata={"nbgrader": _grading(id, locked=True)})


def _solution(id: str, source: str) -> NotebookNode:
    return new_code_cell(source, id=id, metadata={"nbgrader": _grading(id, solution=True), "tags": ["export"]})


def _test(id: str, source: str, points: int = 1) -> NotebookNode:
    return new_code_cell(source, id=id, metadata={"nbgrader": _grading(id, grade=True, locked=True, points=points)})


def _grading(id: str, **flags) -> dict:
    return {
        "cell_type": "code",
        "grade": False,
        "grade_id": id,
        "locked": False,
        "schema_version": 3,
        "solution": False,
        "task": False,
    } | flags
