"""`course lint`: the form of source notebooks. The rules stand in rules/."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.rules import RULES, Finding
from autograder.authoring.source import Source
from autograder.course import Chapter


def lint(chapters: Iterable[Chapter]) -> bool:
    """Print each finding as `file: cell: what is wrong, what would be right`. False when there is one."""
    return all([_lint_chapter(chapter) for chapter in chapters])


def findings(source: Source) -> list[Finding]:
    """What the rules find, in the order of the notebook."""
    order = {cell.id: index for index, cell in enumerate(source.cells)}
    return sorted((finding for rule in RULES for finding in rule(source)), key=lambda finding: order.get(finding.cell, -1))


def _lint_chapter(chapter: Chapter) -> bool:
    found = findings(Source.of(chapter))
    file = chapter.course.shown(chapter.source)
    for cell, text in found:
        print(": ".join(filter(None, (file, cell, text))))
    if not found:
        print(f"{file}: follows all {len(RULES)} rules")
    return not found
