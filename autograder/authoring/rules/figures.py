"""Pictures: everyone can read them, and no check compares them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from autograder import notebook
from autograder.authoring.rules.finding import Finding
from autograder.authoring.source import IGNORED, Source, calls, code_of

ALT_WORDS = 4
NO_ALT = re.compile(r"!\[\s*\]\(|<img\b(?![^>]*\balt\s*=\s*[\"'][^\"']*\w)[^>]*>", re.IGNORECASE)


def figures_have_alt_text(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        for call, name in calls(code_of(cell)):
            if name in ("show", "drawing") and _words(_alt(call)) < ALT_WORDS:
                yield Finding(cell.id, f'{name}(…, alt="…"): alt is a sentence that says what a reader would see')


def figures_are_shown_with_alt_text(source: Source) -> Iterator[Finding]:
    """An image output has no alt text in JupyterLab, whatever its metadata says."""
    for cell in source.code_cells:
        bare = any(name in ("plt.show", "pyplot.show", "figure.show", "fig.show") for _, name in calls(code_of(cell)))
        if bare or any(kind.startswith("image/") for output in cell.outputs for kind in output.get("data", {})):
            yield Finding(cell.id, 'a figure without alt text: end the cell with show(figure, alt="…"), not with plt.show()')


def images_in_text_have_alt_text(source: Source) -> Iterator[Finding]:
    for cell in source.cells:
        if cell.cell_type == "markdown" or not notebook.is_for_authors(cell):
            for image in NO_ALT.findall(_without_code(cell)):
                yield Finding(cell.id, f"{image} has no alt text: say what a reader would see")


def figures_are_not_compared(source: Source) -> Iterator[Finding]:
    for cell in source.code_cells:
        if IGNORED not in notebook.tags(cell) and any(name == "show" for _, name in calls(code_of(cell))):
            yield Finding(
                cell.id,
                f"a figure differs from one matplotlib to the next: tag the cell {IGNORED}, and assert what it shows in the next one",
            )


def _alt(call: ast.Call) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == "alt"), call.args[1] if len(call.args) > 1 else None)


def _words(alt: ast.expr | None) -> int:
    """Words that stand in the text; what is computed is taken for good."""
    if alt is None:
        return 0
    if isinstance(alt, ast.Constant):
        return len(str(alt.value).split())
    return ALT_WORDS


def _without_code(cell: NotebookNode) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL) if cell.cell_type == "markdown" else cell.source
