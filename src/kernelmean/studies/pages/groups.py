"""The page of a comparison of several groups: two maps, pairs and columns in numbers, and how it was tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...core.array import SILENT, Progress
from ...core.words import count, listed, percent
from ...inference.null_page import made_by, null_section
from ...inference.wording import brief
from ...report import Bars, Chart, Document, Panel, Section, Sketches
from ...report.marginals import marginal
from ...tables.columns.kinds import Coding
from ..cells import Axis
from ..groups import GroupComparison
from ..plots.groups import near_map
from ..study import page
from .parts import caveats


@page.register(GroupComparison)
def groups_page(result: GroupComparison, progress: Progress = SILENT) -> Document:
    """Return the page of what :func:`kernelmean.studies.groups.compare_groups` found.

    Examples
    --------
    >>> from kernelmean.studies.groups import compare_groups
    >>> page = groups_page(compare_groups("iris", "target", n_resamples=199))
    >>> [section.title for section in page.sections]
    ['All pairs of groups', 'Pairs in numbers', 'Columns', 'Means of the groups', 'The test', 'What to keep in mind']
    """
    del progress
    description = result.describe()
    sections = (
        _map(result),
        _pairs(result),
        _columns(result),
        Section("Means of the groups", tables=(result.means_grid().table(),)),
        null_section(
            result.test,
            result.design.permuted("the rows were dealt at random to all groups"),
            description.in_detail().without("pairs", "columns", "strength"),
        ),
        caveats(_caveats(result), description.notes),
    )
    return Document(
        title=description.title,
        headline=description.sentence,
        summary=(f"Of the pairs of groups, {result.on_pairs()}. Column by column, {result.on_columns()}.",),
        sections=sections,
        made_by=made_by(result.test, result.seed),
    )


def _map(result: GroupComparison) -> Section:
    text = (
        "Strength is the share of the variation of the rows of two groups that their group explains: near 0 for "
        f"equal distributions, 1 at most. Stars mark the pairs that differ at level {result.level:g}, all "
        "pairs counted."
    )
    pairs = Chart("groups", "How groups differ", (result.heat_map(),), text)
    return Section("All pairs of groups", charts=(pairs, *_places(result)))


def _places(result: GroupComparison) -> Iterator[Chart]:
    """Yield the places of three or more groups, unless no pair is found to differ: then they would show chance."""
    if len(result.groups) > 2 and result.differing():
        panel, share = near_map(result)
        text = (
            "Groups near each other are alike and groups far apart differ: the squared distance of two groups is their "
            f"strength, and this map shows {percent(share)} of the sum of all. Directions have no meaning, and what is "
            "left out can misplace groups: the map of pairs leaves out nothing."
        )
        yield Chart("places", "Where groups lie", (panel,), text)


def _pairs(result: GroupComparison) -> Section:
    grid = result.grid()
    words = (
        f"Every pair was tested alone. Adjusted p-values are for all {count(len(result.pairs), 'pair')} together: one "
        f"of at most {result.level:g} comes up between two equal groups with probability at most {result.level:g}."
    )
    return Section("Pairs in numbers", (words, *grid.words_on_rest()), tables=(grid.table("Pairs, strongest first"),))


def _columns(result: GroupComparison) -> Section:
    grid = result.column_grid()
    words = (
        "All groups were tested on every column alone, and the strength is that of the two groups that differ most in "
        f"it. Adjusted p-values are for all {count(len(result.columns), 'column')} together."
    )
    table = grid.table(
        "Columns, those in which groups differ most clearly first. Distributions, "
        f"{'areas and lines' if len(result.groups) == 2 else 'from top to bottom'}: {listed(map(brief, result.groups))}"
    )
    codings = {coding.name: coding for coding in result.encoded.codings}
    pictures = tuple(_outlines(result, codings[column.name]) for column in result.columns[: grid.on_page()])
    table = replace(table, sketches=(Sketches("distributions", pictures),))
    return Section("Columns", (words, *grid.words_on_rest()), tables=(table,))


def _outlines(result: GroupComparison, coding: Coding) -> Panel | Bars:
    """Return how a column is distributed in every group; rows count alike."""
    axis = Axis.of(coding, *result.encoded.frames)
    cells = {name: axis.cells(frame) for name, frame in zip(result.groups, result.encoded.frames, strict=True)}
    return marginal(axis.name, cells, label=axis.label, order=axis.levels)


def _caveats(result: GroupComparison) -> Iterator[str]:
    independent = (
        "independent rows: repeated measurements of the same subjects and time series need a test of their own"
    )
    assumed = f"the design: {result.design.assumed()}" if result.design else independent
    yield (
        f"The p-values are exact: if all groups came from one distribution, one of at most {result.level:g} would come "
        f"up with probability at most {result.level:g}, at any size. That needs {assumed}."
    )
    yield (
        f"The test of all groups keeps the level {result.level:g}, and so do those of the pairs together and those of "
        "the columns together, but not all three at once."
    )
    yield "A small p says that there is a difference, not that it is large or matters: see the strength."
