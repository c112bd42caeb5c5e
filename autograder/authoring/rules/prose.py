"""Text cells: short, and with the parts that every chapter has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import Source, code_of

WORDS = 140
QUESTIONS = 3
SECTIONS = ("What did not improve", "Try it yourself", "Quiz", "References")
TITLE = {
    r"\b\d+ minutes\b": "`90 minutes`",
    r"\b[CG]PU\b": "`CPU` or `GPU optional`",
    r"\bbuilds on\b": "`builds on …`",
    r"\bgives to\b": "`gives to …`",
}

_DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
# What is looked at rather than read: code, formulas, tables, tags, where links lead.
_NOT_PROSE = re.compile(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|^\s*\|.*$|</?\w[^>]*>|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^#+ +(?P<title>.*)$", re.MULTILINE)


def text_is_short(source: Source) -> Iterator[Finding]:
    """A cell at most 120 words, with a little slack; what is folded away counts by itself, a list of references not at all."""
    for cell in source.text_cells:
        if re.match(r"#+ +References\b", cell.source):
            continue
        for text in (_DETAILS.sub("", cell.source), *_DETAILS.findall(cell.source)):
            words = len(re.findall(r"\w[\w'’-]*", _NOT_PROSE.sub(" ", text)))
            if words > WORDS:
                yield Finding(
                    cell.id, f"{words} words; nobody reads more than 120 at once: cut it, or put a picture or an exercise between"
                )


def title_says_what_it_takes(source: Source) -> Iterator[Finding]:
    first = next(source.text_cells, None)
    if first is None or not re.match(rf"# {source.chapter.number}\b", first.source):
        yield Finding(
            first.id if first else "",
            f"a chapter begins with its title: # {source.chapter.number} · … and one sentence that will be true at the end",
        )
        return
    for pattern, example in TITLE.items():
        if not re.search(pattern, first.source):
            yield Finding(first.id, f"the title cell lacks {example}")


def opens_cold(source: Source) -> Iterator[Finding]:
    """Something runs and surprises before the first exercise."""
    first = source.exercises[0].solution.id if source.exercises else None
    for cell in source.code_cells:
        if cell in list(source.demonstrations) and code_of(cell).body:
            return
        if cell.id == first:
            yield Finding(cell.id, "no demonstration before the first exercise: a chapter opens with something that runs and surprises")
            return


def has_its_sections(source: Source) -> Iterator[Finding]:
    titles = [title for cell in source.text_cells for title in _SECTION.findall(cell.source)]
    for section in SECTIONS:
        if not any(section.lower() in title.lower() for title in titles):
            yield Finding("", f"no section `## {section}`")


def has_an_open_cell(source: Source) -> Iterator[Finding]:
    for index, cell in enumerate(source.cells):
        if cell.cell_type == "markdown" and "Try it yourself" in _titles(cell.source):
            following = next(iter(source.cells[index + 1 :]), None)
            if following is None or following.cell_type != "code" or notebook.grade_id(following):
                yield Finding(cell.id, "no open cell below it: a code cell that is not graded, for the student's own experiment")


def quiz_has_three_questions(source: Source) -> Iterator[Finding]:
    in_quiz, folded, quiz = False, 0, None
    for cell in source.text_cells:
        titles = _titles(cell.source)
        in_quiz = (in_quiz and not titles) or "Quiz" in titles
        if in_quiz:
            quiz = quiz or cell
            folded += len(re.findall(r"^\*\*\d+\.", cell.source, re.MULTILINE)) if _DETAILS.search(cell.source) else 0
    if quiz is not None and folded < QUESTIONS:
        yield Finding(quiz.id, f"{folded} questions: a quiz has three, each begins **1. and explains its wrong options in <details>")


def questions_stand_alone(source: Source) -> Iterator[Finding]:
    """nbgrader empties a cell that is graded by hand: a question in it would be gone."""
    for cell in source.text_cells:
        if notebook.is_solution(cell):
            outside = re.sub(r"### BEGIN SOLUTION.*?### END SOLUTION", "", cell.source, flags=re.DOTALL)
            if outside.strip():
                yield Finding(
                    cell.id,
                    "it holds more than the answer between ### BEGIN SOLUTION and ### END SOLUTION: put the question into a cell above",
                )


def _titles(source: str) -> str:
    return "\n".join(_SECTION.findall(source))
