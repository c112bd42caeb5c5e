"""The canonical form of notebooks, and the questions asked of a cell."""

import os
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from toy import toy_notebook

from autograder import notebook


def graded(id: str, grade_id: str):
    return new_code_cell("x", id=id, metadata={"nbgrader": {"grade_id": grade_id}})


def canonical_cell(cell, **metadata):
    return notebook.canonical(new_notebook(cells=[cell], metadata=metadata)).cells[0]


def test_canonical_form_is_its_own_canonical_form():
    once = notebook.canonical(toy_notebook())
    assert notebook.dumps(notebook.canonical(once)) == notebook.dumps(once)


def test_canonical_does_not_change_its_argument():
    nb = new_notebook(cells=[new_code_cell("1 ", execution_count=7)])
    notebook.canonical(nb)
    assert nb.cells[0].source == "1 " and nb.cells[0].execution_count == 7


def test_machine_traces_are_gone():
    outputs = [
        new_output("stream", name="stdout", text="<f at 0x7f3a2b1c9d80> /tmp/ipykernel_12/345.py:1"),
        new_output("execute_result", data={"text/plain": "<object at 0x7f3a2b1c9d80>"}, execution_count=9, metadata={"a": 1}),
        new_output("display_data", data={"application/vnd.jupyter.widget-view+json": {}}),
    ]
    cell = new_code_cell("x", execution_count=12, outputs=outputs, metadata={"execution": {"iopub": "now"}, "collapsed": True})
    cell = canonical_cell(cell, language_info={"name": "python", "version": "3.11.7"}, widgets={})
    assert cell.metadata == {}
    assert cell.execution_count == 1
    assert [output.get("text") or output.data["text/plain"] for output in cell.outputs] == ["<f at 0x...> <cell>:1", "<object at 0x...>"]
    assert cell.outputs[1].execution_count == 1 and cell.outputs[1].metadata == {}


def test_a_cell_without_outputs_has_no_count():
    assert canonical_cell(new_code_cell("x = 1", execution_count=3)).execution_count is None


def test_a_graded_cell_is_called_by_its_grade_id():
    cells = [graded("a", "toy-double"), graded("b", "toy-double"), graded("c", "no.id"), new_code_cell("x", id="d")]
    assert [cell.id for cell in notebook.canonical(new_notebook(cells=cells)).cells] == ["toy-double", "b", "c", "d"]


def test_a_cell_without_an_id_gets_one():
    nb = new_notebook(cells=[new_markdown_cell("old")])
    del nb.cells[0]["id"]
    assert notebook.canonical(nb).cells[0].id


def test_only_a_release_keeps_the_flags_that_lock_a_cell():
    locked = new_code_cell("x", metadata={"deletable": False, "editable": False, "trusted": True})
    assert canonical_cell(locked).metadata == {}
    assert canonical_cell(locked, course={"chapter": "01_toy"}).metadata == {"deletable": False, "editable": False}


def test_pictures_in_a_text_are_kept():
    picture = new_markdown_cell("![a dot](attachment:dot.png)", attachments={"dot.png": {"image/png": "iVBORw0KGgo="}})
    assert canonical_cell(picture).attachments["dot.png"]


def test_what_is_read_is_what_was_written(tmp_path):
    notebook.write(toy_notebook(), tmp_path / "new" / "toy.ipynb")
    assert notebook.read(tmp_path / "new" / "toy.ipynb") == toy_notebook()


@pytest.mark.parametrize("content", ["", "<html>", '{"cells": 3}', '{"cells": ['])
def test_what_is_no_notebook_is_refused_by_name(tmp_path, content):
    (tmp_path / "broken.ipynb").write_text(content)
    with pytest.raises(ValueError, match=r"broken\.ipynb is not a notebook"):
        notebook.read(tmp_path / "broken.ipynb")


def test_a_failed_write_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path: Path = tmp_path / "toy.ipynb"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        notebook.write(toy_notebook(), path)
    assert [file.name for file in tmp_path.iterdir()] == ["toy.ipynb"] and path.read_text() == "old"


def test_the_kinds_of_cells():
    by_id = {cell.id: cell for cell in toy_notebook().cells}
    of_kind = {
        question.__name__: [id for id, cell in by_id.items() if question(cell)]
        for question in (notebook.is_solution, notebook.is_test, notebook.is_for_authors)
    }
    assert of_kind["is_solution"] == ["toy-double", "toy-total"]
    assert of_kind["is_test"] == ["toy-double-test", "toy-double-test-2", "toy-total-test"]
    assert len(of_kind["is_for_authors"]) == 1 + 2 * (3 + 1)


@pytest.mark.parametrize(
    ("grade_id", "exercise"),
    [("toy-double", "toy.double"), ("toy-double-test", "toy.double"), ("toy-layer_parameters-test-2", "toy.layer_parameters")],
)
def test_the_exercise_of_a_graded_cell(grade_id, exercise):
    assert notebook.exercise_of(grade_id) == exercise


def test_solution_marks_come_off_with_their_lines():
    source = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
    assert notebook.without_solution_marks(source) == "def f():\n    return 1\n"
