"""`course run`: outputs are stored in canonical form, or not at all."""

import json
import sys
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from nbformat.v4 import new_code_cell, new_notebook, new_output
from toy import toy_course

from autograder import notebook
from autograder.authoring.run import run
from autograder.course import Chapter, CourseError


@pytest.fixture
def chapter(tmp_path, monkeypatch) -> Chapter:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    return toy_course(tmp_path).chapters[0]


def write(chapter: Chapter, *sources: str, **metadata) -> None:
    cells = [new_code_cell(source, id=f"cell-{number}", metadata=metadata) for number, source in enumerate(sources)]
    cells[0].outputs = [new_output("stream", text="old\n")]
    notebook.write(notebook.canonical(new_notebook(cells=cells)), chapter.source)


def outputs(chapter: Chapter) -> list:
    return [[output.get("text") or output.data["text/plain"] for output in cell.outputs] for cell in notebook.read(chapter.source).cells]


def test_outputs_are_stored_in_canonical_form(chapter, capsys):
    write(chapter, "print(1)\nprint(2)\nobject()", "x = 1")
    assert run([chapter])
    assert outputs(chapter) == [["1\n2\n", "<object at 0x...>"], []]
    nb = notebook.read(chapter.source)
    assert notebook.dumps(notebook.canonical(nb)) == chapter.source.read_bytes()
    assert capsys.readouterr().out.startswith("01_toy: ")


def test_running_twice_gives_the_same_bytes(chapter):
    write(chapter, "print({'a', 'b', 'c', 'd'}, hash('a'))")
    run([chapter])
    first = chapter.source.read_bytes()
    assert run([chapter]) and chapter.source.read_bytes() == first


def test_a_failure_stores_nothing_and_is_named(chapter, capsys):
    write(chapter, "print('new')", "raise ValueError('what is wrong')", "print('later')")
    before = chapter.source.read_bytes()
    assert not run([chapter])
    assert chapter.source.read_bytes() == before
    assert capsys.readouterr().out == "01_toy: cell cell-1 failed, nothing is stored. ValueError: what is wrong\n"


def test_a_dead_kernel_is_a_failure(chapter, capsys):
    write(chapter, "import os; os._exit(1)")
    assert not run([chapter])
    assert "cell cell-0 failed" in capsys.readouterr().out


def test_a_cell_that_is_meant_to_fail_may(chapter):
    write(chapter, "1 / 0", tags=["raises-exception"])
    assert run([chapter])
    assert notebook.read(chapter.source).cells[0].outputs[0].ename == "ZeroDivisionError"


def test_the_other_chapters_still_run(chapter):
    other = Chapter(chapter.course, "02_other")
    write(chapter, "1 / 0")
    write(other, "print('ran')")
    assert not run([chapter, other])
    assert outputs(other) == [["ran\n"]]


def test_the_kernel_runs_this_python_in_the_chapters_folder(chapter, tmp_path, monkeypatch):
    strange = tmp_path / "kernels" / "python3"
    strange.mkdir(parents=True)
    (strange / "kernel.json").write_text(json.dumps({"argv": ["/no/such/python"], "display_name": "Strange", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    assert KernelSpecManager().get_kernel_spec("python3").argv == ["/no/such/python"]
    write(chapter, f"import sys, pathlib\nprint(sys.executable == {sys.executable!r}, pathlib.Path.cwd().name)")
    assert run([chapter]) and outputs(chapter) == [["True 01_toy\n"]]


def test_the_environment_is_the_same_everywhere(chapter, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = ["OMP_NUM_THREADS", "TQDM_DISABLE", "PYTHONHASHSEED", "MPLBACKEND"]
    write(chapter, f"import os\nprint(*(os.environ[name] for name in {names}))")
    assert run([chapter]) and outputs(chapter) == [["1 1 0 module://matplotlib_inline.backend_inline\n"]]


def test_a_broken_source_is_named(chapter):
    chapter.source.write_text("{")
    with pytest.raises(CourseError, match=r"solutions/01_toy/01_toy\.ipynb"):
        run([chapter])
