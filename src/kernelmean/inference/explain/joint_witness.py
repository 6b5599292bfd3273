"""Where two variables depend: the function on which their joint distribution and independence differ most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from ...core.array import Array, as_host
from ...core.points import points_like
from ...core.validate import check_same_columns
from .subject import PairSubject, hadamard


@final
@dataclass(frozen=True, eq=False)
class JointWitness:
    r"""The unit witness :math:`(μ_{XY} - μ_X ⊗ μ_Y) / \sqrt{\mathrm{HSIC}}` on pairs of points.

    Positive where pairs are more frequent than they would be without dependence, as the kernels see it.

    Attributes
    ----------
    pairs : PairSubject
        The tables, and the kernel of either.
    norm : float
        √HSIC (V-statistic): times the unit witness it is the plain difference of the means.
    """

    pairs: PairSubject
    norm: float

    def __call__(self, x: Any, y: Any) -> Array:
        """Return the values at the pairs of rows of ``x`` (p, d) and ``y`` (p, e), shape (p,)."""
        names = self.pairs.names
        places = (
            as_host(points_like(x, names[0], "x", "the sample of x")),
            as_host(points_like(y, names[1], "y", "the sample of y")),
        )
        if len(places[0]) != len(places[1]):
            raise ValueError(f"x has {len(places[0])} rows and y has {len(places[1])}; row i of both is one place")
        for place, table, name in zip(places, self.pairs.tables, "xy", strict=True):
            check_same_columns(table, place, (f"the sample of {name}", name))
        return (self._mean(places, (0, 1)) - self._mean(places, (0,)) * self._mean(places, (1,))) / self.norm

    def _mean(self, places: tuple[Array, Array], sides: tuple[int, ...]) -> Array:
        """Return the mean over the sample of the product of the kernels of some sides, shape (p,)."""
        n = self.pairs.n
        prepared = [self.pairs.kernels[side].blocks(places[side], self.pairs.tables[side]) for side in sides]
        blocks = reduce(hadamard, prepared)
        return self.pairs.plan.matmul(blocks, len(places[0]), n, np.full((n, 1), 1.0 / n))[:, 0]


def joint_witness(subject: PairSubject) -> JointWitness:
    """Return the unit function on which the joint distribution of two variables differs most from independence.

    Raises
    ------
    ValueError
        When the witness is 0 everywhere: of a constant variable, for example.

    Notes
    -----
    O(n² (d + e)) time once, and O(n (d + e)) per pair of points. Gretton et al. (2005), section 3.
    """
    pairs = subject.owned()
    squared = float(pairs.products(unbiased=False).mean()) / pairs.n
    magnitude = np.prod([np.abs(gram.raw_diagonal).mean() for gram in pairs.centered(unbiased=False)])
    if squared <= 1e-28 * magnitude:
        raise ValueError("HSIC is 0, so no function tells the pairs from independent ones; pass variables that vary")
    return JointWitness(pairs, float(np.sqrt(squared)))
