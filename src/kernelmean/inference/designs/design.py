"""Which rows may change places, as a caller says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from ...core.words import passed


@final
@dataclass(frozen=True, eq=False)
class Design:
    r"""What a test is told of its rows: strata, clusters, weights, or that the rows of two samples are pairs.

    Parameters
    ----------
    groups : array of shape (n,), or a pair of such, optional
        Strata of the rows, such as the center of a study: rows change places within their stratum only. Two samples
        take (strata of X, strata of Y), and the test asks whether they differ within strata: the statistic is
        :math:`|\sum_s c_s (μ_{X,s} - μ_{Y,s})|^2` with c_s in proportion to n_s m_s / (n_s + m_s) and of sum 1, as
        Cochran, Mantel and Haenszel weigh strata, so that a difference between strata does not enter it. Strata with
        rows of one sample only are left out. Independence takes one label for every pair.
    clusters : array of shape (n,), or a pair of such, optional
        Which rows belong together, such as the visits of a patient: clusters change places as wholes, each with those
        of as many rows only (and of its stratum), so that nothing need be assumed of how the sizes came about. The
        unbiased statistic leaves out the pairs of rows within a cluster.
    weights : array of shape (n,), or a pair of such, optional
        Survey or importance weights, not negative, on one scale for all rows; the means become weighted means. A weight
        moves with its row, so the test is exact where the pairs (row, weight) are exchangeable under the null
        hypothesis; of two variables it stays with the row of X. Rows of weight zero are left out.
    paired : bool
        Whether row i of X and row i of Y are one pair, such as one patient before and after: pairs are exchanged
        within themselves. Two samples only, and without the others.

    Raises
    ------
    ValueError
        When pairs have strata, clusters or weights.

    Notes
    -----
    O(n² (d + P)) time for P permutations, O(n r P) on factors of rank r; memory never O(n²). Hemerik & Goeman (2018)
    for groups.

    Examples
    --------
    >>> import kernelmean as km
    >>> X, Y = [[0.0], [2.0], [10.0]], [[1.0], [11.0], [13.0]]
    >>> centers = km.Design(groups=([1, 1, 2], [1, 2, 2]))
    >>> km.mmd_test(X, Y, design=centers, statistic="v").notes[-1]
    'relabeled within 2 groups only'
    """

    groups: Any = None
    clusters: Any = None
    weights: Any = None
    paired: bool = False

    def __post_init__(self) -> None:
        if self.paired and self.says_more:
            raise ValueError("paired=True goes without groups, clusters and weights; leave them out, or paired=False")

    @property
    def says_more(self) -> bool:
        """Whether there are strata, clusters or weights."""
        return any(part is not None for part in (self.groups, self.clusters, self.weights))


def only(kernels: Sequence[Any]) -> Any:
    """Return the kernel, or the tuple of kernels, of a null that has one at a time."""
    if len(kernels) != 1:
        raise ValueError(f"{passed(len(kernels), 'kernel')}, this null has one at a time; pass null([kernel], ...)")
    return kernels[0]


def check_design(design: Any) -> Design:
    """Return a design; None is one that says nothing."""
    if design is None:
        return Design()
    if not isinstance(design, Design):
        raise TypeError(f"design is {design!r}; pass a Design, such as Design(groups=...), or None")
    return design
