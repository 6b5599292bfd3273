"""Documents as GitHub's Markdown, with charts as SVG files beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from . import charts, pictures
from .document import (
    OUTCOMES,
    UNKNOWN,
    Anchors,
    Chart,
    Section,
    TextTable,
    Verdict,
    numeric_columns,
    tally,
)
from .figures import BARS, has_errors, numbers

if TYPE_CHECKING:
    from .html import Document

_SIGNS = re.compile(r"[\\`*\[\]<>|~$&{}]|(?<![^\W_])_|_(?![^\W_])")
_AT_START = re.compile(r"^(?:(\d{1,9})(?=[.)](?:\s|$))|(?=(?:#{1,6}|[+\-]|[\-=]+)(?:\s|$)))")
"""Where a line would begin a list, a heading or a rule."""


def render(document: Document, folder: str | Path) -> str:
    r"""Return a document as Markdown to be written into ``folder``, where the charts are written as SVG files.

    Parameters
    ----------
    document : Document
    folder : str or Path
        Exists; each chart becomes ``folder/NAME.svg``, and the text links to NAME.svg.

    Raises
    ------
    ValueError
        When two charts have the same name, or a row of a table does not have as many cells as its header.
    OSError
        When a chart cannot be written.

    Notes
    -----
    Without matplotlib no charts are written; the text holds their numbers instead.

    Examples
    --------
    >>> from kernelmean.report import Document, to_markdown
    >>> print(to_markdown(Document("Title", ("In short: 1 < 2.",), ()), "."))
    # Title
    <BLANKLINE>
    In short: 1 \< 2.
    <BLANKLINE>
    """
    names = [chart.name for section in document.sections for chart in section.charts]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two charts are called {name!r}; the second would be written over the first")
    anchors = Anchors()
    anchors.take(document.title)
    overview = _overview(document, anchors)
    headline = [f"**{escaped(document.headline)}**"] if document.headline else []
    glance = [f"- **{escaped(name)}**: {escaped(' '.join(texts))}" for name, texts in document.overview]
    opening = [*headline, *(["\n".join(glance)] if glance else []), *map(escaped, document.summary)]
    blocks = [f"# {escaped(document.title)}", *opening, *overview]
    for section in document.sections:
        blocks += _section(section, Path(folder))
    if document.made_by:
        blocks += ["## Made by", *_pairs(document.made_by)]
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    r"""Return text in one line that Markdown shows as it is.

    Examples
    --------
    >>> print(escaped("- two_sided *and* [this](that) | $1"))
    \- two_sided \*and\* \[this\](that) \| \$1
    """
    line = _SIGNS.sub(r"\\\g<0>", " ".join(text.split()))
    return _AT_START.sub(r"\1\\", line)


def _overview(document: Document, anchors: Anchors) -> list[str]:
    """Return the outcomes of all verdicts and the table of contents, linked to the sections."""
    verdicts = [verdict for section in document.sections for verdict in section.verdicts]
    heads = (["Verdicts"] if verdicts else []) + (["Contents"] if len(document.sections) > 1 else [])
    for head in heads:
        anchors.take(head)
    links = [f"[{escaped(section.title)}](#{anchors.take(section.title)})" for section in document.sections]
    rows = [
        f"| {_badge(verdict)} | {escaped(verdict.claim)} | {link} |"
        for section, link in zip(document.sections, links, strict=True)
        for verdict in section.verdicts
    ]
    blocks = []
    if rows:
        counts = escaped(tally(document.sections))
        blocks += ["## Verdicts", counts, "\n".join(["| outcome | claim | section |", "| --- | --- | --- |", *rows])]
    if len(links) > 1:
        blocks += ["## Contents", "\n".join(f"{k}. {link}" for k, link in enumerate(links, 1))]
    return blocks


def _section(section: Section, folder: Path) -> list[str]:
    blocks = [f"## {escaped(section.title)}", *map(escaped, section.paragraphs)]
    blocks += ["\n".join(f"- {escaped(text)}" for text in section.items)] if section.items else []
    if section.verdicts:
        blocks.append("\n".join(_verdict(verdict) for verdict in section.verdicts))
    for table in section.tables:
        blocks += _table(table)
    for chart in section.charts:
        blocks += _figure(chart, folder)
    if section.settings:
        blocks += ["<details><summary>Settings</summary>", *_pairs(section.settings), "</details>"]
    return blocks


def _badge(verdict: Verdict) -> str:
    return f"{OUTCOMES.get(verdict.outcome, UNKNOWN)[0]} {escaped(verdict.outcome)}"


def _verdict(verdict: Verdict) -> str:
    parts = [f"- **{_badge(verdict)}**: {escaped(verdict.claim.rstrip('.'))}."]
    parts += [escaped(verdict.evidence)] if verdict.evidence else []
    parts += [f"*Rule: {escaped(verdict.rule)}*"] if verdict.rule else []
    return "  \n  ".join(parts)


def _table(table: TextTable) -> list[str]:
    rule = " | ".join("---:" if right else "---" for right in numeric_columns(table))
    lines = [" | ".join(escaped(text) for text in table.header), rule]
    for i, row in enumerate(table.rows):
        cells = [escaped(text) for text in row]
        strong = [f"**{cell}**" if (i, j) in table.emphasis and cell else cell for j, cell in enumerate(cells)]
        lines.append(" | ".join(strong))
    return [f"**{escaped(table.caption)}**", "\n".join(f"| {line} |" for line in lines)]


def _figure(chart: Chart, folder: Path) -> list[str]:
    """Write a chart as a file, and return the link to it with a description in words."""
    why_not = pictures.missing()
    if why_not:
        return [
            f"**{escaped(chart.title)}**. {escaped(chart.text)}",
            escaped(f"Not drawn: {why_not}"),
            *_table(numbers(chart)),
        ]
    charts.save(chart, folder / f"{chart.name}.svg")
    bars = f" {BARS}" if has_errors(chart) else ""
    return [f"![{escaped(chart.text)}]({quote(chart.name)}.svg)", f"*{escaped(chart.title)}.*{bars}"]


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return ["\n".join(f"- {escaped(name)}: {escaped(text)}" for name, text in pairs)]
