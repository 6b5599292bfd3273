"""What a caller says of the rows: which of them may change places; and designs of your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from .independence import PairDesign, pair_design
from .labelled import LabelDesign
from .samples import SampleDesign


class AnyDesign(ABC):
    """What a test knows about its rows: pass it as ``design=``.

    A design of your own is a subclass in one file. It says which rows take part, which units change places and, from
    the labels of units, what every unit counts (:class:`~.labelled.LabelDesign`). Rows in memory, in files and on a
    cluster, one kernel and the adaptive test follow.
    """

    says_more: bool = True
    """Whether there is anything that restricts permutations or weighs rows."""
    paired: bool = False
    """Whether row i of both samples is one pair."""
    series: float | None = None
    """How far dependence over time reaches, in rows."""

    @property
    def in_series(self) -> bool:
        """Whether the rows follow each other in time."""
        return self.series is not None

    @abstractmethod
    def of_samples(self, sizes: Sequence[int]) -> LabelDesign:
        """Return the design of samples with so many rows.

        Raises
        ------
        ValueError, TypeError
            When it does not fit them.
        """

    @abstractmethod
    def of_pairs(self, n: int) -> PairDesign:
        """Return the design of n pairs of two variables.

        Raises
        ------
        ValueError, TypeError
            When it does not fit them, or is for samples only.
        """


@final
@dataclass(frozen=True, eq=False)
class Design(AnyDesign):
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
        number; choose it beforehand, or report all that you try. It must grow with the series, but more slowly. The
        estimator is "kme" (the default), "mkme", "mmkme", or a function; the series are in memory, and without the rest
        of the design.

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
        alone = [name for name, passed in (("paired=True", self.paired), ("series", self.in_series)) if passed]
        if len(alone) + self.says_more > 1:
            raise ValueError(f"{alone[0]} goes without the rest of a design; leave it out, or all else of {self!r}")

        if self.equal_sizes and self.clusters is None:
            raise ValueError("equal_sizes=True is about clusters; pass clusters= too, or leave it out")

    def __repr__(self) -> str:
        """Return what is known of how many rows, not their labels and weights."""
        parts = {"strata": self.strata, "clusters": self.clusters, "weights": self.weights}
        arguments = [f"{name}={_in_short(part)}" for name, part in parts.items() if part is not None]
        arguments += (
            ["equal_sizes=True"] * self.equal_sizes
            + ["paired=True"] * self.paired
            + [f"series={self.series!r}"] * self.in_series
        )
        return f"Design({', '.join(arguments)})"

    @property
    def says_more(self) -> bool:  # type: ignore[override]
        """Whether there are strata, clusters or weights."""
        return self.strata is not None or self.clusters is not None or self.weights is not None

    def of_samples(self, sizes: Sequence[int]) -> SampleDesign:
        """Return the design of samples with so many rows."""
        return SampleDesign.of(sizes, self.strata, self.clusters, self.weights, equal_sizes=self.equal_sizes)

    def of_pairs(self, n: int) -> PairDesign:
        """Return the design of n pairs of two variables."""
        return pair_design(n, self.strata, self.clusters, self.weights)

    def of_rows(self, kept: Any) -> Design:
        """Return the design of some rows of one table, by their numbers or a mask."""
        strata, clusters, weights = (
            part if part is None else np.asarray(part)[kept] for part in (self.strata, self.clusters, self.weights)
        )
        return replace(self, strata=strata, clusters=clusters, weights=weights)


def _in_short(part: Any) -> str:
    """Return of how many rows labels or weights are: those of one table, or of several."""
    several = isinstance(part, tuple | list) and any(np.ndim(each) for each in part)
    rows = " and ".join(f"{np.size(each):,}" for each in (part if several else (part,)))
    return f"<of {rows} rows>"


_NOTHING = Design()


def check_design(design: Any) -> AnyDesign:
    """Return a design, an empty one for None."""
    if design is None:
        return _NOTHING
    if not isinstance(design, AnyDesign):
        raise TypeError(f"design is {design!r}; pass a Design, such as Design(strata=...), or None")
    return design
