"""A feedback page in which nothing of a student's can run, reach out, or fill a disk."""

from __future__ import annotations

import html
import re

from bleach.css_sanitizer import CSSSanitizer
from bleach.sanitizer import Cleaner
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder import notebook

MOST_OUTPUTS = 50  # of one cell
MOST_TEXT = 20_000  # characters of one output
TEXTS = ("text/plain", "text/latex", "text/markdown")
LARGEST_WHOLE = 500_000  # characters of a picture or HTML

# fmt: off
TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "center", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "li", "ol", "p", "pre", "q", "s", "samp", "small", "span",
    "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul",
}
# fmt: on
PLAIN_ATTRIBUTES = {"class", "id", "name", "title", "alt", "align", "colspan", "rowspan", "width", "height", "style", "open"}
IMAGE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml);base64,", re.IGNORECASE)
LINK = re.compile(r"(https?:|mailto:|#)", re.IGNORECASE)

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 16px/1.5 sans-serif; max-width: 42em; margin: 3em auto; padding: 0 1em; }}</style></head>
<body><h1>{title}</h1><p>{text}</p></body>
</html>
"""


class LimitSize(NbGraderPreprocessor):
    """Cut outputs that would make a page too large to open: texts are shortened, pictures and HTML are whole or left out."""

    def preprocess_cell(self, cell: NotebookNode, resources: dict, index: int) -> tuple[NotebookNode, dict]:
        if "outputs" in cell:
            cell.outputs = [_limited(output) for output in cell.outputs[:MOST_OUTPUTS]]
        return cell, resources


def _limited(output: NotebookNode) -> NotebookNode:
    if output.output_type == "stream":
        output.text = _shortened(output.text)
    data = output.get("data", {})
    data.update({kind: _shortened(data[kind]) for kind in TEXTS if kind in data})
    if any(len(str(content)) > LARGEST_WHOLE for content in data.values()):
        output.data = NotebookNode({"text/plain": "(left out: too large)"})
    return output


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "\n… (cut: too long)"


class SafePage(HTMLExporter):
    """nbgrader's feedback page. Its head is the template's; of its body only what cannot act is kept."""

    def from_notebook_node(self, nb: NotebookNode, resources=None, **kw) -> tuple[str, dict]:
        nb.metadata = NotebookNode(language_info={"name": "python"})
        page, resources = super().from_notebook_node(nb, resources, **kw)
        head, _, body = page.partition("</head>")
        body = re.sub(r'(?<=<a href="#)([\w-]+)">Test cell<', lambda found: f'{found[1]}">{notebook.exercise_of(found[1])}<', body)
        return f"{head}</head>\n<body>{cleaned(body)}</body>\n</html>\n", resources


def cleaned(body: str) -> str:
    """`body` without scripts, handlers, frames, forms, and links or images that do more than show."""
    body = re.sub(r"</?(body|html)\b[^>]*>", "", body)
    cleaner = Cleaner(
        tags=TAGS,
        attributes=_is_allowed,
        protocols={"http", "https", "mailto", "data"},
        strip=True,
        css_sanitizer=CSSSanitizer(allowed_css_properties={"color", "background-color", "font-weight", "text-align", "width", "height"}),
    )
    return cleaner.clean(body)


def _is_allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and bool(IMAGE.match(value))
    if name == "href":
        return tag == "a" and bool(LINK.match(value))
    if tag == "input":
        return name in ("type", "checked", "disabled") and (name != "type" or value == "checkbox")
    return name in PLAIN_ATTRIBUTES


def small_page(title: str, text: str) -> str:
    return PAGE.format(title=html.escape(title), text=html.escape(text).replace("\n", "<br>"))
