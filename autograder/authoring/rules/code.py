"""Code cells: documented, short, and at home on a machine without network or keyboard."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import DEFINITIONS, Source, calls, code_of, parse, python_text

LINES, LINES_OF_AN_EXERCISE = 35, 60
KEYBOARD = ("input", "getpass", "getpass.getpass", "breakpoint", "pdb.set_trace")
NETWORK_MODULES = {"aiohttp", "ftplib", "http", "httpx", "requests", "socket", "urllib", "urllib3", "wget"}
SHELL = re.compile(r"^[ \t]*(?:!|%pip\b|%conda\b|%sx\b|%system\b|%%(?:bash|sh|script|system)\b).*", re.MULTILINE)


def is_python(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        try:
            parse(python_text(cell))
        except SyntaxError as error:
            yield Finding(cell.id, f"no Python: {error.msg} (line {error.lineno})")


def graded_and_exported_cells_have_no_magics(source: Source) -> Iterator[Finding]:
    """A module and a judge run plain Python."""
    for cell in source.code_cells:
        kind = "an exported" if "export" in notebook.tags(cell) else "a graded" if notebook.grade_id(cell) else ""
        if kind and "get_ipython" in {name.partition(".")[0] for _, name in calls(code_of(cell))}:
            yield Finding(cell.id, f"{kind} cell is plain Python: move its magics to a demonstration")


def has_docstrings(source: Source) -> Iterator[Finding]:
    for cell in _published(source):
        for node in code_of(cell).body:
            if isinstance(node, DEFINITIONS) and not ast.get_docstring(node):
                yield Finding(cell.id, f"{node.name} has no docstring: what it gives, shapes, what it raises, paper and equation")


def has_type_hints(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        if "export" in notebook.tags(cell):
            for name, function in _public_functions(code_of(cell)):
                if missing := _without_hint(function):
                    yield Finding(cell.id, f"{name} has no type hint for {', '.join(missing)}")


def code_is_short(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        most = LINES_OF_AN_EXERCISE if notebook.grade_id(cell) or notebook.is_for_authors(cell) else LINES
        lines = len(cell.source.splitlines())
        if lines > most:
            yield Finding(cell.id, f"{lines} lines; a screen holds {most}: cut the cell in two")


def asks_nobody(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        if asking := sorted({name for _, name in calls(code_of(cell)) if name in KEYBOARD}):
            yield Finding(cell.id, f"{', '.join(asking)} waits for a keyboard, and a graded notebook has none: give the value in the cell")


def needs_no_network(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        if reaching := sorted(_reaching_out(cell)):
            yield Finding(
                cell.id, f"{', '.join(reaching)}: chapters run without network and install nothing; data comes from packages or data/"
            )


# --- what these rules look at ---


def _published(source: Source) -> Iterator[NotebookNode]:
    return (cell for cell in source.code_cells if notebook.is_solution(cell) or "export" in notebook.tags(cell))


def _public_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from ((f"{node.name}.{name}", function) for name, function in _public_functions(node))
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            yield node.name, node


def _without_hint(function: ast.FunctionDef) -> list[str]:
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    missing = [argument.arg for argument in every if argument.annotation is None and argument.arg not in ("self", "cls")]
    return missing + (["what it returns"] if function.returns is None and function.name != "__init__" else [])


def _reaching_out(cell: NotebookNode) -> Iterator[str]:
    tree = code_of(cell)
    yield from (line.strip() for line in SHELL.findall(cell.source))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"import {module}" for module in modules if module.partition(".")[0] in NETWORK_MODULES or module == "torch.hub")
    for call, name in calls(tree):
        if name.startswith(("torch.hub.", "hub.load")) or name.endswith("load_dataset"):
            yield name
        elif name.endswith("from_pretrained") and not any(
            word.arg == "local_files_only" and _is_true(word.value) for word in call.keywords
        ):
            yield f"{name} without local_files_only=True"


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
