"""The distribution of one column in one or two samples: outlines of histograms, or shares of few values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ..core.array import Array, BoolArray
from ..core.cells import missing_cells
from ..core.words import ABSENT, of_cell, percent
from .document import Bars, Panel, Steps

_MOST_VALUES, _FEWEST_BINS, _MOST_BINS = 12, 5, 40
_CORES, _FAR, _LONG_TAIL = ((0.005, 0.995), (0.025, 0.975)), 3.0, 10.0


def marginal(
    name: str,
    samples: Mapping[str, Any],
    *,
    label: str = "",
    order: Sequence[str] = (),
    weigh: Callable[[Sequence[BoolArray]], Sequence[Array]] | None = None,
) -> Panel | Bars:
    """Return the distributions of one column in some samples, on common axes.

    Numbers with more than twelve different values are shown as outlines of histograms with common bins, at equal ratios
    if they have a long tail; anything else as the share of each value. Rows without a value are a bar beside.

    Parameters
    ----------
    name : str
        The column.
    samples : mapping from str to array of shape (n,)
        What each sample is called, and its values.
    label : str
        The label of the axis; by default the name.
    order : sequence of str
        The order of values that are not numbers; by default the most frequent first.
    weigh : callable, optional
        From which rows of every sample have a value to how much each row counts; by default all alike.

    Examples
    --------
    >>> marginal("smoker", {"A": [0, 0, 1, 1], "B": [0, 0, 0, 1]}).series
    (('A', (0.5, 0.5)), ('B', (0.75, 0.25)))
    """
    arrays = {one: np.asarray(values) for one, values in samples.items()}
    has_value = [~missing_cells(cells) for cells in arrays.values()]
    known = {one: cells[has] for (one, cells), has in zip(arrays.items(), has_value, strict=True)}
    rows = zip(_weights(has_value, weigh), has_value, strict=True)
    weights = {one: some[has] for one, (some, has) in zip(arrays, rows, strict=True)}
    every = zip(_weights([np.ones_like(has) for has in has_value], weigh), has_value, strict=True)
    blank = tuple(float(some[~has].sum() / (some.sum() or 1.0)) for some, has in every)
    blank = blank if any(blank) else ()
    what, pooled = "share of rows" if weigh is None else "weighted share of rows", np.concatenate(list(known.values()))
    if pooled.dtype == object or len(np.unique(pooled)) <= _MOST_VALUES:
        return _shares(name, f"{what} with a value" if blank else what, known, weights, blank, order)
    edges, long_tail = bins(*known.values()), has_long_tail(pooled)
    edges = np.geomspace(pooled.min(), pooled.max(), len(edges)) if long_tail else edges
    outside = float(np.mean((pooled < edges[0]) | (pooled > edges[-1])))
    title = name + (f" (without the outer {percent(outside)})" if outside else "")
    outlines = tuple(outline(one, values, edges, weights[one]) for one, values in known.items())
    return Panel(title, label or name, what, steps=outlines, blank=blank, x_log=long_tail)


def _weights(
    rows: Sequence[BoolArray], weigh: Callable[[Sequence[BoolArray]], Sequence[Array]] | None
) -> Sequence[Array]:
    """Return how much each row of every sample counts where only these rows do."""
    return [some.astype(np.float64) for some in rows] if weigh is None else weigh(rows)


def outline(label: str, values: Array, edges: Array, weights: Array | None = None, *, density: bool = False) -> Steps:
    """Return the share of all values in every bin, or the density; values beyond the edges count in the total."""
    total = float(len(values) if weights is None else weights.sum())
    heights = np.histogram(values, edges, weights=weights)[0] / (total or 1.0)
    return Steps(label, tuple(edges.tolist()), tuple((heights / np.diff(edges) if density else heights).tolist()))


def bins(*samples: Array) -> Array:
    """Return the edges of common bins: Rice's rule for the smallest sample, over the range that :func:`span` gives."""
    low, high = span(np.concatenate(samples))
    fewest = min(len(values) for values in samples if len(values))
    number = int(np.clip(np.ceil(2.0 * fewest ** (1 / 3)), _FEWEST_BINS, _MOST_BINS))
    return np.linspace(low, high, number + 1)


def has_long_tail(values: Array) -> bool:
    """Return whether values are positive and one of 200 is ten times their median or more.

    Examples
    --------
    >>> has_long_tail(np.arange(1.0, 99.0)), has_long_tail(np.arange(1.0, 99.0) ** 6)
    (False, True)
    """
    middle, high = np.quantile(values, (0.5, _CORES[0][1]))
    return bool(values.min() > 0.0 and high >= _LONG_TAIL * middle)


def span(pooled: Array) -> tuple[float, float]:
    """Return the range of values; if a few lie far from the others, that of the inner 99 %, and then of 95 %.

    Examples
    --------
    >>> span(np.array([0.0, 1.0, 2.0]))
    (0.0, 2.0)
    >>> values = np.tan(np.linspace(-1.57, 1.57, 1001))
    >>> float(values.max().round()), tuple(round(end, 1) for end in span(values))
    (1256.0, (-12.6, 12.6))
    """
    low, high = float(pooled.min()), float(pooled.max())
    for core in _CORES:
        inner = tuple(float(edge) for edge in np.quantile(pooled, core))
        if not high - low > _FAR * (inner[1] - inner[0]) > 0.0:
            break
        low, high = inner
    if high > low:
        return low, high
    reach = abs(low) / 2 or 0.5
    return low - reach, high + reach


def _shares(
    title: str,
    what: str,
    known: Mapping[str, Any],
    weights: Mapping[str, Array],
    blank: tuple[float, ...],
    order: Sequence[str],
) -> Bars:
    """Return the share of each value in the known cells, and that of blank cells in all.

    Numbers are in ascending order, others in the given order or most frequent first.
    """
    shown, rest = _values(np.concatenate(list(known.values())), order)
    series = []
    for one, absent in zip_longest(known, blank):
        whole = float(weights[one].sum())
        shares = [float(weights[one][known[one] == value].sum()) / (whole or 1.0) for value in shown]
        others = [max(1.0 - sum(shares), 0.0) if whole else 0.0] if rest else []
        series.append((one, (*shares, *others, *([absent] if blank else []))))
    texts = [of_cell(value) if isinstance(value, float) else str(value) for value in shown]
    names = (*texts, *([f"{rest} others"] if rest else []), *([ABSENT] if blank else []))
    return Bars(title, what, names, tuple(series))


def _values(pooled: Any, order: Sequence[str]) -> tuple[Sequence[Any], int]:
    """Return the values to show, and how many more there are."""
    if pooled.dtype != object:
        return np.unique(pooled).tolist(), 0
    counts = Counter(pooled.tolist())
    frequent = sorted(counts, key=lambda value: (-counts[value], str(value)))
    ranked = [*(value for value in order if value in counts), *(value for value in frequent if value not in order)]
    kept = ranked if len(ranked) <= _MOST_VALUES else ranked[: _MOST_VALUES - 1]
    return kept, len(ranked) - len(kept)
