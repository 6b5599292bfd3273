"""The page of a comparison: the verdict, by how much, which columns, which rows, and how it was tested."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ...core.array import Progress
from ...core.words import count, listed, percent
from ...inference.null_page import made_by, null_section
from ...inference.wording import brief, titles
from ...report import Chart, Document, Extent, Section, Sketches, TextTable
from ..comparison import ColumnDifference, Comparison
from ..comparison.column_words import changed_spreads, closeness, facts_on_columns, on_columns
from ..plots.witness import witness_panel
from ..study import page
from .evidence import MOST_FOR_EFFECT, Evidence, gather
from .overview import MOST_NAMED, of_comparison, strip_of
from .parts import caveats


@page.register(Comparison)
def _page(result: Comparison, progress: Progress) -> Document:
    return comparison_page(result, gather(result, rng=result.seed or 0, progress=progress))


def comparison_page(result: Comparison, evidence: Evidence) -> Document:
    """Return the page of a comparison.

    Parameters
    ----------
    result : Comparison
        What :func:`kernelmean.studies.comparison.compare` found.
    evidence : Evidence
        What :func:`gather` found, at the same level.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.studies.comparison import compare
    >>> from kernelmean.studies.pages import gather
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 2)), rng.normal([0.0, 2.0], size=(50, 2))
    >>> result = compare(X, Y, names=("before", "after"))
    >>> page = comparison_page(result, gather(result))
    >>> page.headline
    'before and after differ: p = 0.001, at most 0.05.'
    >>> page.sections[0].paragraphs[0]
    'One of 2 columns differs on its own: x1.'
    >>> [name for name, _ in page.overview]
    ['How large', 'What kind of difference', 'The columns that matter most', 'What to do next']
    """
    description, labels = result.describe(), titles(result.names)
    dealt = result.design.permuted("the rows were dealt at random to the two tables")
    spreads = changed_spreads(result, MOST_NAMED)
    changed = (("Further columns whose spread changed more than the mean", tuple(spreads)),) if spreads else ()
    sections = (
        _columns(result, evidence, labels),
        *(Section("Which means are close", tables=(grid.table(),)) for grid in closeness(result.columns)),
        *([Section("Where they differ", charts=(_witnesses(evidence, labels),))] if evidence.witnesses else []),
        *_rows(evidence, labels),
        null_section(
            result.test, dealt, description.in_detail().without("design", "kind", *dict(facts_on_columns(result)))
        ),
        caveats(_caveats(result, evidence), description.notes),
    )
    return Document(
        title=description.title,
        headline=description.sentence,
        summary=(),
        overview=(*of_comparison(result, evidence.effect), *changed),
        strip=tuple(strip_of(result, evidence.effect)),
        sections=sections,
        made_by=made_by(result.test, result.seed),
    )


def _columns(result: Comparison, evidence: Evidence, labels: tuple[str, str]) -> Section:
    grid, weighted = result.grid(intervals=True), result.design.weighted
    caption = (
        f"Columns, those that differ most first. Areas: {labels[0]}; lines: {labels[1]}{weighted and f'; {weighted}'}. "
        "A click or tap on a distribution shows it in full"
    )
    table = replace(_by_use(replace(grid, mark="").table(caption)), sketches=tuple(_sketches(result, evidence)))
    words = (on_columns(result), *grid.words_on_rest())
    return Section("Which columns differ", words, tables=tuple(_folded(table, evidence)))


def _folded(table: TextTable, evidence: Evidence) -> Iterator[TextTable]:
    """Yield the columns that differ, or those that come nearest to it, and the others, which are folded."""
    shown = {row for row, _ in table.emphasis} or {k for k, row in enumerate(table.rows) if row[0] in evidence.columns}
    others = [k for k in range(len(table.rows)) if k not in shown]
    yield table.take(sorted(shown))
    if others:
        caption, folded = "Columns that are not shown to differ", f"{count(len(others), 'column')} not shown to differ"
        if not table.emphasis:
            caption, folded = "The other columns", f"{len(others)} more"
        yield replace(table.take(others), caption=caption, folded=folded)


def _by_use(table: TextTable) -> TextTable:
    """Return the table with adjusted p-values beside the names, and those of single tests and MMD² at the end."""
    last = [table.header.index(head) for head in ("p", "MMD²")]
    first = [0, table.header.index("adjusted p")]
    order = [*first, *(k for k in range(len(table.header)) if k not in (*first, *last)), *last]
    header, *rows = (tuple(row[k] for k in order) for row in (table.header, *table.rows))
    return replace(table, header=header, rows=tuple(rows))


def _sketches(result: Comparison, evidence: Evidence) -> Iterator[Sketches]:
    """Yield the distributions of the columns of the table, and their gaps with intervals, if there are any."""
    yield Sketches("distributions", evidence.sketches)
    columns = result.columns[: len(evidence.sketches)]
    ends = [_in_sd(column) for column in columns]
    reach = max((abs(end) for span in ends for end in span if not math.isnan(end)), default=0.0)
    if reach > 0.0:
        pictures = tuple(
            None if any(map(math.isnan, span)) else Extent(f"{column.name}: the gap and its interval", *span, reach)
            for column, span in zip(columns, ends, strict=True)
        )
        yield Sketches("gap (95 % interval)", pictures, after=2)


def _in_sd(column: ColumnDifference) -> tuple[float, float, float]:
    """Return the gap of a column and the ends of its interval, in standard deviations; nan where there is none."""
    difference = column.means[0] - column.means[1]
    unit = column.gap / difference if difference else math.nan
    return column.gap, column.interval[0] * unit, column.interval[1] * unit


def _witnesses(evidence: Evidence, labels: tuple[str, str]) -> Chart:
    axes = {name: panel.x_label for name, panel in zip(evidence.columns, evidence.marginals, strict=True)}
    panels = tuple(witness_panel(name, axes[name], bands, labels) for name, bands in evidence.witnesses.items())
    outside = [name for name, bands in evidence.witnesses.items() if len(bands.outside)]
    verdict = f"leaves the grey strip of chance in {listed(map(brief, outside))}" if outside else "stays within chance"
    text = (
        f"The witness is above 0 where {labels[0]} has more rows and below where {labels[1]} has more, smoothed by the "
        f"kernel. If a column did not differ, all of its witness would stay in the grey strip in 95 % of cases. It is "
        f"drawn for {count(len(panels), 'column')} with many values, and {verdict}."
    )
    return Chart("witnesses", "Where each table has more rows than the other", panels, text)


def _rows(evidence: Evidence, labels: tuple[str, str]) -> Iterator[Section]:
    """Yield the section of rows that stand out, if there are any."""
    if not evidence.rows:
        return
    rows = tuple((labels[row.table], f"{row.row}", percent(row.share), *row.cells) for row in evidence.rows)
    words = (
        "These rows lie where their own table has many rows and the other has few, so they add most to the statistic. "
        "Check them first for errors of measurement, and for what has changed. They are examples, not tests."
    )
    table = TextTable(
        "Rows that set the tables apart most; contributions are shares of what all rows add or take away",
        ("table", "row", "contribution", *evidence.columns),
        rows,
    )
    yield Section("Which rows stand out", (words,), tables=(table,))


def _on_table(result: Comparison) -> Iterator[str]:
    """Yield how the table of columns is to be read."""
    level, several = result.level, len(result.columns) > 1
    if several:
        yield (
            f"Each column was tested alone. Adjusted p-values are for all columns together: if none differed, one of "
            f"at most {level:g} would come up with probability at most {level:g}."
        )
    below = ", so it may be below 0" if any(column.statistic < 0.0 for column in result.columns) else ""
    estimate = f"is an unbiased estimate of how far two distributions are apart, 0 where they are equal{below}"
    if result.design.columns:
        estimate = "estimates how far two distributions are apart, and is a little above 0 where they are equal"
    yield f"MMD² {estimate}. A gap above 0 says that the mean of the first table is larger."
    if several and any(column.difference() for column in result.columns):
        yield "Intervals are for each column alone, not adjusted for their number."
    if any(column.shares for column in result.columns):
        yield (
            "Of categories, the one whose share differs most for its size is named; of truth values, the share of true "
            "ones."
        )


def _assumption(result: Comparison) -> str:
    """Return in words what the p-value needs."""
    if result.design:
        if result.row_weights is None:
            rest = "Distributions and the rows that stand out count all rows alike."
        else:
            rest = "Nor is there a list of rows that stand out: it would count all rows alike."
        return f"That needs the design: {result.design.assumed()}. {rest}"
    return (
        "That needs independent rows: repeated measurements of the same subjects, time series and matched pairs need a "
        "test of their own."
    )


def _on_effect(result: Comparison, evidence: Evidence) -> Iterator[str]:
    """Yield what the effect size depends on and is of, or why there is none."""
    if evidence.effect is None:
        yield f"There is no effect size: {evidence.lacking}."
        return
    design = result.design
    within = (
        "" if design.strata is None else ", and of how rows vary within strata if these hold two rows of each table"
    )
    of_design = f" With the design it is of the means as the tests compare them{within}." if design else ""
    yield (
        "The effect size belongs to its kernel, so compare it between data sets only at the same kernel. Its "
        f"interval is exact where nothing differs, and an approximation for large tables otherwise.{of_design}"
    )
    if max(result.sizes) > MOST_FOR_EFFECT:
        whole = ", whole clusters at a time" if design.clusters else ", in pairs" if design.paired else ""
        yield f"The effect size rests on at most {MOST_FOR_EFFECT:,} rows of each table, drawn at random{whole}."


def _caveats(result: Comparison, evidence: Evidence) -> Iterator[str]:
    level = result.level
    yield (
        f"The p-value is exact: if both tables came from one distribution, one of at most {level:g} would come up with "
        f"probability at most {level:g}, at any size. {_assumption(result)}"
    )
    if result.differ():
        effect = "" if evidence.effect is None else ": see the effect size"
        yield f"A small p says that there is a difference, not that it is large or matters{effect}."
    yield from _on_table(result)
    if len(result.columns) > 1:
        yield (
            f"The test of all columns keeps the level {level:g}, and so do those of single columns, but not both at "
            "once."
        )
    yield from _on_effect(result, evidence)
    rows = tuple(len(frame) for frame in result.encoded.frames)
    resting = "Rows" if result.design else "Witnesses, rows"
    if rows != result.sizes:
        yield (
            f"{resting} and distributions rest on {rows[0]:,} and {rows[1]:,} rows drawn at random; "
            "the tests, means and shares on all."
        )
    elif evidence.used != result.sizes:
        yield (
            f"{resting.replace(', rows', ' and rows')} rest on {evidence.used[0]:,} and {evidence.used[1]:,} rows "
            "drawn at random; the tests and distributions on all."
        )
