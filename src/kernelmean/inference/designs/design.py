"""Which rows may change places: as the caller states it, and as an order of the rows in strata, cells and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, BoolArray, IntArray
from ...core.cells import is_missing, missing_cells
from ...core.validate import check_weights
from ...core.words import count, number_range, passed
from ..units.layout import DesignError, Layout


@final
@dataclass(frozen=True, eq=False)
class Design:
    r"""What a test knows about its rows: strata, clusters and weights, or that they are pairs or time series.

    Parameters
    ----------
    strata : array of shape (n,), or a tuple of such, optional
        Strata of the rows, such as the center of a study: rows change places within their stratum only. For samples
        pass those of each, (strata of X, strata of Y). The test then asks whether they differ within strata: the
        statistic is :math:`|\sum_s c_s (μ_{X,s} - μ_{Y,s})|^2`, with c_s proportional to A_s B_s / (A_s + B_s) and
        summing to 1. A_s and B_s are the sums of weights of the rows of X and of Y in the stratum; without weights
        these are their numbers, as in the test of Cochran, Mantel and Haenszel. A difference between strata does not
        enter it. Strata with rows of only one sample are left out. For independence pass one label for every pair.
    clusters : array of shape (n,), or a tuple of such, optional
        Which rows belong together, such as the visits of a patient. A cluster moves as a whole, within its stratum. In
        a test of two samples clusters change places whatever their sizes: it is exact where the sample of a cluster
        does not depend on its size, as when arms are assigned to patients at random. Pairs of variables change places
        between clusters of one size only, and so do samples if there are three or more and a cluster has rows in
        several: its rows in the order of their samples take on the samples of another cluster's, which is exact where
        the rows of a cluster are exchangeable.
    weights : array of shape (n,), or a tuple of such, optional
        Survey or importance weights, not negative, on one scale for all rows; the means become weighted means. A weight
        moves with its row, so the test is exact where the pairs (row, weight) are exchangeable under the null
        hypothesis; for two variables it stays with the row of X. Rows of weight zero are left out.
    equal_sizes : bool
        Whether clusters of two samples, too, change places only with clusters of the same size; then nothing need be
        assumed about how the sizes arose.
    paired : bool
        Whether row i of X and row i of Y are one pair, such as one patient before and after: the two rows of a pair are
        exchanged. For two samples only, and without the rest of the design. The estimator is adaptive (the default),
        "kme", "mkme", "mmkme", or a function.
    series : float, optional
        How far dependence over time reaches, in rows, if X and Y are stationary series in the order of time: two
        independent ones, or for independence two over the same times (to look for dependence at a lag, shift one of
        them). Nothing is permuted; the wild bootstrap multiplies the terms of the V-statistic by random series, whose
        values so many rows apart have correlation 1/e. Its p-value is asymptotic and not exact. Results depend on the
        number; try several. It must grow with the series, but more slowly. The estimator is "kme" (the default),
        "mkme", "mmkme", or a function; the series are in memory, and without the rest of the design.

    Raises
    ------
    ValueError
        When pairs or series have more than that.

    Notes
    -----
    Labels and weights are arrays in memory, in the order of the rows, wherever these are.

    O(n² (d + P)) time for P permutations, O(n r P) on factors of rank r; memory never O(n²). Hemerik & Goeman (2018)
    for groups of permutations.

    *Pairs.* With :math:`L_{ij} = k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(y_i, x_j)` and signs s,

    .. math:: \mathrm{MMD}_V^2 = s^⊤ L s / n^2, \qquad \mathrm{MMD}_U^2 = (s^⊤ L s - \mathrm{tr} L) / (n (n-1)) ,

    s = 1 as observed; -1 exchanges the two halves of a pair. Both have the same p-value, which is exact if (x, y) and
    (y, x) have the same distribution, however x and y depend on each other. s and -s give the same value, so 2ⁿ⁻¹
    flips are all. Changes in both directions can leave the distributions of X and Y alike; with D = Y - X, the test
    of the pairs D and -D finds them where they are not symmetric around 0, and is exact if they are.

    *Series.* With multipliers W of mean 0 within each series, and K̄ = HKH and Z̄ = HZH,

    .. math:: T_b = \Big| \frac1n \sum_t W_t k(x_t, ·) - \frac1m \sum_t W'_t k(y_t, ·) \Big|^2 , \qquad
        T_b = \frac{1}{n^2} \sum_{st} W_s W_t \bar K_{st} \bar Z_{st}

    against MMD² and against HSIC. Chwialkowski, Sejdinovic & Gretton (2014), section 4, with the centered multipliers,
    rescaled.

    Examples
    --------
    >>> import kernelmean as km
    >>> X, Y = [[0.0], [2.0], [10.0]], [[1.0], [11.0], [13.0]]
    >>> centers = km.Design(strata=([1, 1, 2], [1, 2, 2]))
    >>> km.mmd_test(X, Y, design=centers).notes[-1]
    'rows are permuted only within their stratum (2 strata of 3 rows each)'
    >>> before = np.random.default_rng(0).standard_normal((30, 1))
    >>> km.mmd_test(before, before + 0.5, design=km.Design(paired=True), rng=0).pvalue < 0.01
    True
    >>> from kernelmean.inference.designs.wild_bootstrap import multipliers
    >>> x = multipliers(200, 5.0, 1, np.random.default_rng(0))
    >>> result = km.hsic_test(x, x**2, design=km.Design(series=10), rng=0)
    >>> result.scheme, result.pvalue < 0.05
    ('wild bootstrap', True)
    """

    strata: Any = None
    clusters: Any = None
    weights: Any = None
    equal_sizes: bool = False
    paired: bool = False
    series: float | None = None

    def __post_init__(self) -> None:
        alone = [name for name, said in (("paired=True", self.paired), ("series", self.in_series)) if said]
        if len(alone) + self.says_more > 1:
            raise ValueError(f"{alone[0]} goes without the rest of a design; leave it out, or all else of {self!r}")

        if self.equal_sizes and self.clusters is None:
            raise ValueError("equal_sizes=True is about clusters; pass clusters= too, or leave it out")

    def __repr__(self) -> str:
        """Return what is known of how many rows, not their labels and weights."""
        parts = {"strata": self.strata, "clusters": self.clusters, "weights": self.weights}
        said = [f"{name}={_in_short(part)}" for name, part in parts.items() if part is not None]
        said += (
            ["equal_sizes=True"] * self.equal_sizes
            + ["paired=True"] * self.paired
            + [f"series={self.series!r}"] * self.in_series
        )
        return f"Design({', '.join(said)})"

    @property
    def says_more(self) -> bool:
        """Whether there are strata, clusters or weights."""
        return any(part is not None for part in (self.strata, self.clusters, self.weights))

    @property
    def in_series(self) -> bool:
        """Whether the rows follow each other in time."""
        return self.series is not None

    def of_rows(self, kept: Any) -> Design:
        """Return the design of some rows of one table, by their numbers or a mask."""
        strata, clusters, weights = (
            part if part is None else np.asarray(part)[kept] for part in (self.strata, self.clusters, self.weights)
        )
        return replace(self, strata=strata, clusters=clusters, weights=weights)


def _in_short(part: Any) -> str:
    """Return of how many rows labels or weights are: those of one table, or of several."""
    several = isinstance(part, tuple | list) and any(np.ndim(own) for own in part)
    rows = " and ".join(f"{np.size(own):,}" for own in (part if several else (part,)))
    return f"<of {rows} rows>"


def only(kernels: Sequence[Any]) -> Any:
    """Return the only kernel, or tuple of kernels, for a null that has one at a time."""
    if len(kernels) != 1:
        raise ValueError(f"{passed(len(kernels), 'kernel')}, this null has one at a time; pass null([kernel], ...)")
    return kernels[0]


def check_design(design: Any) -> Design:
    """Return a design, an empty one for None."""
    if design is None:
        return Design()
    if not isinstance(design, Design):
        raise TypeError(f"design is {design!r}; pass a Design, such as Design(strata=...), or None")
    return design


# -- the rows in its order ---------------------------------------------------------------------------------------------


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
    within, own = (None if column is None else column[rows] for column in (strata, clusters))
    layout = Layout.of(labels, weights[rows], within, own, equal_sizes=equal_sizes)
    if layout.still < len(layout.cells):
        return layout
    units = "rows" if clusters is None else "clusters"
    raise DesignError(
        f"nothing can be permuted: no two {units} may change places, and p would be 1 whatever the data; pass coarser "
        + ("strata, or clusters of equal sizes" if equal_sizes else "strata")
    )


def check_codes(values: Any, n: int, name: str) -> Any:
    """Return the labels of n rows as an array of shape (n,); raise if one is missing."""
    array = np.asarray(values)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; one label per row, ({n},), is needed")
    blank = _blank(values, array)
    if blank.any():
        row = int(np.argmax(blank)) + 1
        raise ValueError(f"{name} has no label in row {row}; give every row a label, or leave it out")
    return array


def _blank(values: Any, array: Any) -> BoolArray:
    """Return which labels are missing; in a list NumPy would write NaN beside text as text."""
    if array.dtype.kind in "fMm":
        return missing_cells(array)
    cells = array if array.dtype == object else values if isinstance(values, list | tuple) else ()
    blank = np.zeros(len(array), dtype=bool)
    blank[: len(cells)] = [not isinstance(cell, str) and is_missing(cell) for cell in cells]
    return blank


def codes(values: Any, name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Return labels of one type as whole numbers from 0, and what these stand for."""
    try:
        known, found = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{name} mixes labels that do not compare, such as numbers and text; use one type") from error
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in known.tolist())
    return np.asarray(found).ravel(), tuple(map(repr, whole))


Labels = tuple[IntArray | None, tuple[str, ...]]
"""Labels of rows as whole numbers from 0, None where there are none, and what these stand for."""


def check_nested(clusters: Labels, strata: Labels, first: IntArray | None = None) -> None:
    """Raise when a cluster has rows in several strata, or in both samples; ``first`` is 1 for rows of the first."""
    own, names = clusters
    if own is None:
        return
    found = _torn(own, strata[0])
    if found is not None:
        torn, cluster, (one, other) = found
        raise DesignError(
            f"{torn} of {count(len(names), 'cluster')} {_has(torn)} rows in more than one stratum, such as "
            f"{names[cluster]} in {strata[1][one]} and {strata[1][other]}; a cluster moves as a whole, within one "
            "stratum. If names start again in every stratum, as patients 1, 2, … of each center, combine both columns: "
            "name clusters by stratum and cluster together, such as 'Oslo 1'. If they are the same cluster, leave the "
            "strata out"
        )
    found = _torn(own, first)
    if found is not None:
        torn, cluster, _ = found
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
    shares = [own / own.sum() for own in (each / each.max() for each in weights)]
    rows = " and ".join(f"{1.0 / np.square(own).sum():,.0f}" for own in shares)
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
