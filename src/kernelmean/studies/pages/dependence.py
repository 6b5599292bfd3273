"""The page of a study of dependence: the verdict, the map of all pairs, the strongest ones, and how it was tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

from ...core.array import SILENT, Array, Progress
from ...core.table import Frame
from ...core.words import count, strength
from ...inference.null_page import made_by, null_section
from ...report import Chart, Curve, Document, Panel, Points, Section
from ...report.drawing import are_spread
from ...report.marginals import has_long_tail, marginal
from ..cells import Axis, names_of
from ..dependence import Dependence, PairDependence
from ..plots.dependence import heat_map
from ..study import page
from .overview import of_dependence
from .parts import COARSE, caveats

_MOST_CELLS, _FEW, _MOST_PICTURES, _MOST_POINTS = 24, 6, 12, 250
_MOST_MEANS, _FEWEST_ROWS = 10, 8
"""How many means a line has, and how many rows each of them at least."""
_PARTS = "in parts of equally many rows, with its standard error"
_MOST_PARTS, _MOST_LEVELS = 4, 8
"""The most categories, or ordered levels, in one picture."""


@page.register(Dependence)
def dependence_page(result: Dependence, progress: Progress = SILENT) -> Document:
    """Return the page of what :func:`kernelmean.studies.dependence.dependence` found.

    Examples
    --------
    >>> from kernelmean.studies.dependence import dependence
    >>> a, b = np.random.default_rng(0).normal(size=(2, 60))
    >>> data = np.column_stack([a, b, a**2])
    >>> dependence_page(dependence(data, n_resamples=199)).headline
    '1 of 3 pairs of columns depends on each other (adjusted p at most 0.05), most of all x0 and x2 (strength 0.39).'
    """
    del progress
    description, test = result.describe(), result.test
    dealt = result.design.permuted("rows of one group were paired at random with those of the other")
    tested = () if test is None else (null_section(test, dealt, description.in_detail().without("design")),)
    maps = (_map(result),) if result.target is None else ()  # of one row it would be the table below
    sections = (*maps, *_shapes(result), _pairs(result), *tested)
    return Document(
        title=description.title,
        headline=description.sentence,
        summary=(),
        overview=of_dependence(result),
        sections=(*sections, caveats(_caveats(result), description.notes)),
        made_by=(*made_by(test, result.seed), *(description.in_detail().facts if test is None else ())),
    )


def _map(result: Dependence) -> Section:
    level = result.level
    x, y = (_shown(result, group) for group in (result.x, result.y))
    panel = heat_map(result, x, y, level)
    every = len({*result.x, *result.y})
    kept = len({*x, *y})
    pairs = result.worth_a_look()
    those = " that depend on each other" if pairs else ""
    rest = f" Shown are {kept} of {every} columns, those of the strongest pairs{those}." if kept < every else ""
    outside = sum(not {pair.x, pair.y} <= {*x, *y} for pair in pairs)
    if outside:
        rest += f" Of the pairs that depend on each other {outside} stand only in the table below."
    order = " Columns that depend on each other stand together." if result.test is None and len(x) > _FEW else ""
    text = (
        "Strength is the unbiased, normalised HSIC of two columns: near 0 for independent ones, 1 at most. "
        f"{COARSE} Stars mark the pairs that depend on each other at level {level:g}, all pairs counted."
        f"{order}{rest}"
    )
    title = "How strongly columns depend on each other"
    return Section("All pairs" if kept == every else "Map of pairs", charts=(Chart("map", title, (panel,), text),))


def _shown(result: Dependence, group: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of the map. Of many, those of the strongest pairs that depend on each other, both or none.

    If all pairs of one group are shown, columns that depend on each other stand together: they are the leaves of a tree
    of average linkage with distances 1 minus the strength, in their optimal order. Of two groups, a long one begins
    with the strongest.
    """
    one_group = result.test is None
    ranked = dict.fromkeys(group) if len(group) <= (_MOST_CELLS if one_group else _FEW) else {}
    for pair in result.worth_a_look() or result.listed():
        both = dict.fromkeys(name for name in (pair.x, pair.y) if name in group)
        if len(ranked | both) <= _MOST_CELLS:
            ranked |= both
    names = tuple(name for name in group if name in ranked) if one_group else tuple(ranked)
    if not one_group or len(names) <= _FEW:
        return names
    places = [result.x.index(name) for name in names]
    apart = 1.0 - np.clip(result.matrix()[np.ix_(places, places)], 0.0, 1.0)
    tree = linkage(apart[np.triu_indices(len(names), 1)], "average", optimal_ordering=True)
    return tuple(names[leaf] for leaf in leaves_list(tree))


def _shapes(result: Dependence) -> Iterator[Section]:
    """Yield the section of the strongest pairs: clouds of points, or a column split by the categories of the other."""
    pairs = result.worth_a_look()
    shown = pairs[:_MOST_PICTURES]
    if not shown:
        return
    (frame,) = result.encoded.frames
    axes = {coding.name: Axis.of(coding, frame) for coding in result.encoded.codings}
    clouds = [pair for pair in shown if axes[pair.x].ordered and axes[pair.y].ordered]
    charts = [_clouds(clouds, axes, frame, result.target)] if clouds else []
    charts += [
        _split(pair, axes, frame, k, result.target)
        for k, pair in enumerate(pair for pair in shown if pair not in clouds)
    ]
    which = f"The strongest {len(shown)} of the {len(pairs):,} pairs" if len(pairs) > len(shown) else "All pairs"
    words = f"{which} that depend on each other."
    if len(pairs) > len(shown):
        words += " A report on two columns alone shows any other pair: columns=['a', 'b']."
    if result.design.strata is not None:
        words += " Pictures have the rows of all strata together; strengths and p-values are within strata."
    yield Section("What the strongest pairs look like", (words,), charts=tuple(charts))


def _clouds(pairs: Sequence[PairDependence], axes: dict[str, Axis], frame: Frame, target: str | None) -> Chart:
    rows = np.unique(np.linspace(0, len(frame) - 1, min(len(frame), _MOST_POINTS)).astype(np.intp))
    every = "All" if len(rows) == len(frame) else f"{len(rows)} of {len(frame):,}"
    panels, spread = [], False
    for pair in pairs:
        x, y = axes[pair.x], axes[pair.y]
        if pair.x == target:
            x, y = y, x
        both = np.stack([axis.values(frame) for axis in (x, y)])
        known = both[:, rows][:, ~np.isnan(both[:, rows]).any(axis=0)].tolist()
        spread = spread or any(map(are_spread, known))
        points = (Points("rows", *map(tuple, known)),)
        curves = () if target is None else _means(*both[:, ~np.isnan(both).any(axis=0)])
        far = [bool(values.size) and has_long_tail(values[~np.isnan(values)]) for values in both]
        panels.append(Panel(_title(pair), x.label, y.label, curves, points=points, x_log=far[0], y_log=far[1]))
    words = " Around few whole numbers they are spread a little, so that none hides another." if spread else ""
    words += " Axes of columns with a long tail are logarithmic." if any(p.x_log or p.y_log for p in panels) else ""
    if target is not None:
        words += f" The line is the mean of {target} {_PARTS}."
    return Chart("pairs", "Strongest pairs of numbers", tuple(panels), f"{every} rows as points.{words}")


def _means(x: Array, y: Array) -> tuple[Curve, ...]:
    """Return the mean of y, and its standard error, in parts of equally many rows in the order of x; ties together."""
    edges = np.unique(np.quantile(x, np.linspace(0.0, 1.0, min(_MOST_MEANS, max(len(x) // _FEWEST_ROWS, 1)) + 1)))
    part = np.searchsorted(edges, x, side="right")
    if np.sum(part == len(edges)) < _FEWEST_ROWS:  # the largest values are a part of their own where they are many
        part = np.minimum(part, len(edges) - 1)
    held = [part == k for k, rows in enumerate(np.bincount(part)) if rows > 1]
    if len(held) < 2:
        return ()
    means = [(x[rows].mean(), y[rows].mean(), y[rows].std(ddof=1) / np.sqrt(rows.sum())) for rows in held]
    places, heights, errors = (tuple(map(float, values)) for values in zip(*means, strict=True))
    return (Curve("mean", places, heights, errors),)


def _split(pair: PairDependence, axes: dict[str, Axis], frame: Frame, number: int, target: str | None) -> Chart:
    """Return the distribution of one column of a pair by the most frequent categories, or the levels, of the other."""
    by, other = (pair.x, pair.y) if not axes[pair.x].ordered else (pair.y, pair.x)
    if by == target and axes[other].ordered and (rates := _rates(pair, axes[by], axes[other], frame)):
        return Chart(f"pair-{number + 1}", _title(pair), rates, f"Shares of {by} {_PARTS}.")
    groups, cells, axis = names_of(axes[by].coding, frame), axes[other].cells(frame), axes[other]
    names, counts = np.unique(groups.astype(str), return_counts=True)
    levels = axes[by].levels
    kept = [str(names[k]) for k in np.argsort(-counts, kind="stable")[: _MOST_LEVELS if levels else _MOST_PARTS]]
    kept = [*(level for level in levels if level in kept), *(name for name in kept if name not in levels)]
    parts = {f"{by}: {name}": cells[groups == name] for name in kept}
    panel = marginal(other, parts, label=axis.label, order=axis.levels)
    rest = f" Its {len(kept)} most frequent of {len(names)} values." if len(names) > len(kept) else ""
    return Chart(f"pair-{number + 1}", _title(pair), (panel,), f"The distribution of {other} by {by}.{rest}")


def _rates(pair: PairDependence, target: Axis, other: Axis, frame: Frame) -> tuple[Panel, ...]:
    """Return how the share of one of two values of the target goes with a number; nothing for more or fewer values."""
    groups, x = names_of(target.coding, frame).astype(str), other.values(frame)
    values = np.unique(groups)
    known = ~np.isnan(x)
    if len(values) != 2 or not (curves := _means(x[known], (groups[known] == values[1]).astype(np.float64))):
        return ()
    return (Panel(_title(pair), other.label, f"share of {target.name}: {values[1]}", curves),)


def _title(pair: PairDependence) -> str:
    return f"{pair.x} and {pair.y}: strength {strength(pair.strength)}{pair.mark}"


def _pairs(result: Dependence) -> Section:
    level, grid = result.level, result.grid()
    words = (
        f"Adjusted p-values are for all {count(len(result.pairs), 'pair')} together: if all columns were independent, "
        f"one of at most {level:g} would come up with probability at most {level:g}."
    )
    caption = "Pairs that depend on each other first, the strongest at the top"
    return Section("Pairs in numbers", (words, *grid.words_on_rest()), tables=(grid.table(caption),))


def _assumption(result: Dependence) -> str:
    """Return in words what the p-values need."""
    if result.design:
        return f"That needs the design: {result.design.assumed()}."
    return (
        "That needs independent rows: time series and repeated measurements of the same subjects need a test of their "
        "own."
    )


def _caveats(result: Dependence) -> Iterator[str]:
    yield (
        f"The p-values are exact: for independent columns one of at most {result.level:g} would come up with "
        f"probability at most {result.level:g}, at any size. {_assumption(result)}"
    )
    yield "Dependence is not causation: a third column may move both."
    if result.dependent():
        yield "A small p says that there is a dependence, not that it is strong: see the strength."
    yield "Strength uses Gaussian kernels of its own at the median bandwidth, whatever kernels the test used."
