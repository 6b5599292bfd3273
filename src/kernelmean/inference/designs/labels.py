"""Labels and weights of rows as callers pass them: which rows take part, and what a reader should know of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array, BoolArray, IntArray
from ...core.validate import check_weights
from ...core.words import count, number_range
from ..units.layout import DesignError, Layout


def taken_layout(
    rows: IntArray,
    weights: Array,
    strata: IntArray | None,
    clusters: IntArray | None,
    labels: IntArray,
    *,
    equal_sizes: bool,
) -> Layout:
    """Return the layout of the rows that take part, whose labels are given; raise when none of them can move."""
    strata, clusters = (None if column is None else column[rows] for column in (strata, clusters))
    layout = Layout.of(labels, weights[rows], strata, clusters, equal_sizes=equal_sizes)
    if layout.still < len(layout.cells):
        return layout
    units = "rows" if clusters is None else "clusters"
    raise DesignError(
        f"nothing can be permuted: no two {units} may change places, and p would be 1 whatever the data; pass coarser "
        + ("strata, or clusters of equal sizes" if equal_sizes else "strata")
    )


Labels = tuple[IntArray | None, tuple[str, ...]]
"""Labels of rows as whole numbers from 0, None where there are none, and what these stand for."""


def check_nested(clusters: Labels, strata: Labels, first: IntArray | None = None) -> None:
    """Raise when a cluster has rows in several strata, or in both samples; ``first`` is 1 for rows of the first."""
    numbers, names = clusters
    if numbers is None:
        return
    split = _torn(numbers, strata[0])
    if split is not None:
        torn, cluster, (one, other) = split
        raise DesignError(
            f"{torn} of {count(len(names), 'cluster')} {_has(torn)} rows in more than one stratum, such as "
            f"{names[cluster]} in {strata[1][one]} and {strata[1][other]}; a cluster moves as a whole, within one "
            "stratum. If names start again in every stratum, as patients 1, 2, … of each center, combine both columns: "
            "name clusters by stratum and cluster together, such as 'Oslo 1'. If they are the same cluster, leave the "
            "strata out"
        )
    split = _torn(numbers, first)
    if split is not None:
        torn, cluster, _ = split
        raise DesignError(
            f"{torn} of {count(len(names), 'cluster')} {_has(torn)} rows in both samples, such as {names[cluster]}; a "
            "cluster moves as a whole. In an experiment this is an error of the assignment: find its cause, and leave "
            "these clusters out; so too if the samples are a series before and after a time, which cuts one of its "
            "blocks. Where every cluster has rows in both, as people before and after, pass the clusters as strata, "
            "or pairs by paired=True"
        )


def _has(n: int) -> str:
    return "has" if n == 1 else "have"


def _torn(clusters: IntArray, of: IntArray | None) -> tuple[int, int, tuple[int, int]] | None:
    """Return how many clusters differ in a column of codes, one of them, and two of its codes; None if none does."""
    if of is None:
        return None
    pairs = np.unique(np.stack([clusters, of], axis=1), axis=0)
    torn = np.flatnonzero(np.diff(pairs[:, 0]) == 0)
    if not len(torn):
        return None
    (cluster, one), (_, other) = pairs[torn[0] : torn[0] + 2].tolist()
    return len(np.unique(pairs[torn, 0])), cluster, (one, other)


def check_sample_weights(weights: Any, n: int, name: str) -> Array:
    """Return weights of n rows, none negative."""
    array = check_weights(weights, n, name)
    if (array < 0.0).any():
        where = int(np.argmax(array < 0.0))
        raise ValueError(f"row {where + 1} of {name} is {array[where]:g}; weights must not be negative")
    if not array.any():
        raise DesignError(f"{name} are all zero; at least one row needs a positive weight")
    return array


def weightless(weighted: BoolArray) -> tuple[str, ...]:
    """Return a note on rows of weight zero, if there are any."""
    return () if weighted.all() else (f"{count(int((~weighted).sum()), 'row')} of weight zero left out",)


def effective(*weights: Array) -> tuple[str, ...]:
    """Return a note on how many equally weighted rows are as precise, for the weights of each sample (Kish, 1965).

    Examples
    --------
    >>> effective(np.array([1.0, 1.0, 1.0, 3.0]), np.ones(4))
    ('with these weights, means are about as precise as those of 3 and 4 rows of equal weight',)
    """
    shares = [scaled / scaled.sum() for scaled in (each / each.max() for each in weights)]
    rows = " and ".join(f"{1.0 / np.square(share).sum():,.0f}" for share in shares)
    return (f"with these weights, means are about as precise as those of {rows} rows of equal weight",)


_ANY_SIZE = ", whatever their sizes: exact where the sample of a cluster does not depend on its size"


def description(
    layout: Layout, names: tuple[str, ...], clustered: bool, *, equal_sizes: bool = True
) -> tuple[str, ...]:
    """Return what a reader should know of the permutations."""
    notes: tuple[str, ...] = ()
    units, still, every = "clusters" if clustered else "rows", layout.still, len(layout.cells)
    of = f"{every - still:,} of {every:,}" if still else f"{every:,}"
    rest = "; the rest have no counterpart and stay where they are" if still else ""
    if clustered and (layout.sizes == 1).all():
        notes += (f"each of the {every:,} clusters is a single row: clusters change nothing here",)
    elif clustered:
        among = " and only among clusters of equally many rows" if equal_sizes else _ANY_SIZE
        notes += (f"{of} clusters are permuted, whole{among}{rest}",)
    elif still:
        notes += (f"{of} rows are permuted{rest}",)
    if len(names) > 1:
        sizes = number_range(np.bincount(layout.stratum))
        notes += (f"{units} are permuted only within their stratum ({len(names):,} strata of {sizes} rows each)",)
    return notes
