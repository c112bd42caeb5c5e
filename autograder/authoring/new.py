"""`course new`: a source notebook with the parts that every chapter has, and one exercise that shows the form."""

from __future__ import annotations

import keyword
import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import notebook
from autograder.course import CHAPTER_NAME, Chapter, Course, CourseError

# A line `=== kind id` opens a cell. What stands in ‹› is for the author to write; the code runs as it is.
CELLS = r'''
=== text title
# NUMBER TITLE

At the end, ‹one sentence that will then be true›.

90 minutes · CPU · builds on ‹counting› · gives to ‹nothing yet›
=== locked setup
from autograder import exercise, expect
=== plain authors
%load_ext autograder
=== text open-text
## ‹Something to wonder about›

‹What the next cell shows, and why it is odd.›
=== plain open
print("without sharing:", 12 * 10, "parameters; with:", 10)
=== text idea
## The idea

‹At most 120 words, beside a picture with alt text, and one equation:›

$$ \text{saved} = (L - 1) \, P $$
=== text saved-task
### What sharing saves

One layer of `layer` parameters is stored and stands in for `num_layers` layers. How many parameters does that save?
=== text saved-card
**Exercise `TOPIC.saved`** · difficulty 1 of 5 · 3 minutes
*Why it matters: ‹what it is good for later›.*
=== solution saved
def saved(layer: int, num_layers: int) -> int:
    """Parameters saved when one layer of `layer` parameters stands in for `num_layers` layers.

    ‹Shapes, units, what is raised; paper and equation.›
    """
    ### BEGIN SOLUTION
    return (num_layers - 1) * layer
    ### END SOLUTION
=== test saved-test
exercise("TOPIC.saved")
expect(saved(10, 4)).equals(30, diagnose={
    "One layer is still stored: only the others are saved.": 40,
    "That is what stays stored, not what is saved.": 10,
    "One layer too few: of four layers, three are saved.": 20,
})
### BEGIN HIDDEN TESTS
for num_layers in (1, 2, 12):
    expect(saved(7, num_layers)).equals(7 * num_layers - 7)
### END HIDDEN TESTS
=== text saved-hints
On success the cell above prints nothing.

<details><summary>Hint 1</summary>

‹A question.›
</details>

<details><summary>Hint 2</summary>

‹A little more.›
</details>

<details><summary>Hint 3</summary>

‹Almost the answer.›
</details>
=== plain saved-mistake-1
%%mistake One layer is still stored
def saved(layer, num_layers):
    """Belief: what is shared is not stored at all."""
    return num_layers * layer
=== plain saved-mistake-2
%%mistake That is what stays stored
def saved(layer, num_layers):
    """Belief: the question is what is left."""
    return layer
=== plain saved-mistake-3
%%mistake One layer too few:
def saved(layer, num_layers):
    """Belief: the first and the last layer stay."""
    return (num_layers - 2) * layer
=== plain saved-alternative
%%alternative
def saved(layer, num_layers):
    """All of them, less the one that stays."""
    return num_layers * layer - layer
=== text use-text
## Use it

‹What was just built, on real input.›
=== plain use
print([saved(10, num_layers) for num_layers in (1, 6, 12)])
=== text result-text
## Signature result

‹The claim and where it stands, three seeds, the spread, and the control; at most 30 s.›
=== plain result
print(saved(7_087_872, 12))
=== text ledgers
## What did not improve

| | stored parameters | operations | KV bytes a token | optimizer and communication bytes |
|---|---|---|---|---|
| without | ‹…› | ‹…› | ‹…› | ‹…› |
| with | ‹…› | ‹…› | ‹…› | ‹…› |
=== text try-text
## Try it yourself

‹A suggestion for the open cell below.›
=== plain try
# your own experiment
=== text quiz-1
## Quiz

**1.** ‹Question?› (a) ‹answer› (b) ‹answer› (c) ‹answer›

<details><summary>Answer</summary>

(a). ‹Why.› (b) is wrong: ‹why›. (c) is wrong: ‹why›.
</details>
=== text quiz-2
**2.** ‹Question?› (a) ‹answer› (b) ‹answer› (c) ‹answer›

<details><summary>Answer</summary>

(b). ‹Why.› (a) is wrong: ‹why›. (c) is wrong: ‹why›.
</details>
=== text quiz-3
**3.** ‹Question?› (a) ‹answer› (b) ‹answer› (c) ‹answer›

<details><summary>Answer</summary>

(c). ‹Why.› (a) is wrong: ‹why›. (b) is wrong: ‹why›.
</details>
=== text references
## References

- ‹Authors, year, title›: ‹what was taken from it›.
'''

_CELL = re.compile(r"^=== (?P<kind>\w+) (?P<id>\S+)\n(?P<source>.*?)(?=^===|\Z)", re.MULTILINE | re.DOTALL)

GRADING = {
    "locked": {"grade": False, "solution": False, "locked": True},
    "solution": {"grade": False, "solution": True, "locked": False},
    "test": {"grade": True, "solution": False, "locked": True, "points": 1},
}


def new_chapter(course: Course, name: str) -> None:
    """Write the source of a new chapter called `name`, unless its number or topic is taken."""
    chapter = Chapter(course, name)
    _refuse(course, chapter)
    title = chapter.topic.replace("_", " ").capitalize()
    text = CELLS.replace("TOPIC", chapter.topic).replace("NUMBER", chapter.number).replace("TITLE", title)
    cells = [_cell(kind, f"{chapter.topic}-{id}", source) for kind, id, source in _CELL.findall(text)]
    notebook.write(notebook.canonical(new_notebook(cells=cells)), chapter.source)
    print(f"{course.shown(chapter.source)}: write what stands in ‹›, then `course run {chapter.number}` and `course build`")


def _refuse(course: Course, chapter: Chapter) -> None:
    if not CHAPTER_NAME.fullmatch(chapter.name) or keyword.iskeyword(chapter.topic):
        raise CourseError(f"{chapter.name!r} is no chapter's name: two digits and a topic that can name a module, like 09_memory_bound")
    for other in course.chapters:
        if chapter.number == other.number or chapter.topic == other.topic:
            raise CourseError(f"{chapter.name}: number or topic is taken by {other.name}")
    if chapter.source.parent.exists():
        raise CourseError(f"{course.shown(chapter.source.parent)} is there already, without a source in it: move it away first")


def _cell(kind: str, id: str, source: str) -> NotebookNode:
    if kind == "text":
        return new_markdown_cell(source, id=id)
    metadata = {"tags": ["export"]} if kind == "solution" else {}
    if kind in GRADING:
        metadata["nbgrader"] = {"grade_id": id, "schema_version": 3, "task": False, "cell_type": "code"} | GRADING[kind]
    return new_code_cell(source, id=id, metadata=metadata)
