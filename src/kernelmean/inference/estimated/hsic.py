r"""HSIC of shrunk estimates: whatever a permutation of the pairs changes is computed again.

The cross-covariance of two variables is a mean, in the RKHS whose Gram matrix is :math:`M = \bar K ∘ \bar Z_π`; SCOSE
and FCOSE of Ramdas & Wehbe (2015) are S-KMSE and F-KMSE of that mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, as_host
from ...estimators import KernelMean
from ...estimators.base import as_filter
from ...estimators.filters import Filter, Ridge, Scale
from ...kernels import Kernel
from ..null import Null
from ..permuted_pairs import CustomStatistic
from ..problem import KernelSide
from ..request import Chosen, KernelOf, is_constant
from ..resampling import Resampling
from ..statistics import HSIC, StatisticForm, check_kind
from .mmd import SOLVED_ROWS, WEIGHTED_ROWS
from .shrinkage import SCOSE
from .weighted_mmd import FilterWeights

Plain = Callable[[tuple[Array, ...], Sequence[tuple[Kernel, Kernel]], Any, Resampling], Any]
"""Returns HSIC of plain kernels from the variables, pairs of kernels, the statistic and a resampling."""


@final
@dataclass(frozen=True)
class PairEstimator:
    """An estimator in parts: what gives the kernel of each variable, and what is done to the pairs."""

    kernels: tuple[KernelMean | KernelOf, ...]
    """Estimators that find the kernel of each variable from its own rows: without a filter."""
    filter: Filter | None = None
    """The filter that shrinks the mean of the pairs."""
    strength: float | None = None
    """λ of the filter; None if it is chosen under every permutation."""

    @property
    def plain(self) -> bool:
        """Whether the statistic is HSIC with the kernels of the variables."""
        return self.filter is None

    def null(
        self, variables: tuple[Array, ...], chosen: list[Chosen], kind: StatisticForm, plain: Plain, how: Resampling
    ) -> tuple[Any, list[Chosen]]:
        """Return the null, with its kernels and noises."""
        (X, Y), kernels = variables, (chosen[0].kernel, chosen[1].kernel)
        HSIC(X.shape[0], kind)
        if is_constant(as_host(X)) or is_constant(as_host(Y)):
            return plain(variables, [kernels], kind, how), chosen
        if isinstance(self.filter, Ridge):
            return _fcose((as_host(X), as_host(Y)), kernels, FilterWeights(self.filter, self.strength), how), chosen
        if self.filter is None or self.strength is not None:
            factor = 1.0 if self.strength is None else 1.0 / (1.0 + self.strength)
            return plain(variables, [(factor**2 * kernels[0], kernels[1])], kind, how), chosen
        return plain(variables, [kernels], SCOSE(X.shape[0]), how), chosen

    @classmethod
    def of(cls, side: KernelMean | KernelOf) -> PairEstimator:
        """Split the estimator of one variable; its filter is applied to the pairs."""
        if not isinstance(side, KernelMean):
            return cls((side,))
        filter_ = as_filter(side.filter)
        if filter_ is None and side.contraction is None:
            return cls((side,))
        if side.contraction is not None or not isinstance(filter_, Scale | Ridge) or side.criterion != "loocv":
            raise ValueError(
                f"{side!r} is no estimator of a cross-covariance; pass filter='scale' (SCOSE) or 'ridge' (FCOSE), no "
                "contraction, and criterion='loocv'"
            )
        kernels = KernelMean(side.kernel, bandwidth=side.bandwidth, noise=side.noise)
        return cls((kernels,), filter_, None if side.strength == "loocv" else float(side.strength))


def pair_estimator(
    sides: tuple[KernelMean | KernelOf, ...], kind: StatisticForm, *, plain_only: str | None = None
) -> PairEstimator:
    """Split the estimators of two variables into parts.

    Raises
    ------
    ValueError
        When the sides are shrunk differently; a filter is neither a scale nor a ridge; the shrunk statistic is asked
        for without its diagonal; or ``plain_only`` names what needs plain HSIC.
    """
    check_kind(kind)
    parts = [PairEstimator.of(side) for side in sides]
    if len({(part.filter, part.strength) for part in parts}) > 1:
        raise ValueError(
            f"the estimators of X and Y, {sides[0]!r} and {sides[1]!r}, shrink the pairs differently; pass one for "
            "both, or two that differ in kernel, bandwidth and noise only"
        )
    made = replace(parts[0], kernels=tuple(part.kernels[0] for part in parts))
    if plain_only and not made.plain:
        raise ValueError(
            f"{sides[0]!r} is fitted to the pairs, which does not go with {plain_only}; pass estimator='kme', 'mkme' "
            "or 'mmkme'"
        )
    if made.filter is not None and made.strength is None and kind == "u":
        raise ValueError("shrunk HSIC is a V-statistic; pass statistic='v'")
    return made


# -- FCOSE ------------------------------------------------------------------------------------------------------------


def _fcose(
    variables: tuple[Array, Array], kernels: tuple[Kernel, Kernel], weights: FilterWeights, how: Resampling
) -> Null:
    X, _ = variables
    check_pair_rows(len(X), SOLVED_ROWS if weights.solves else WEIGHTED_ROWS, "FCOSE")
    left, right = (_centered(points, kernel) for points, kernel in zip(variables, kernels, strict=True))

    def statistic(batch: IntArray) -> Array:
        grams = left * right[batch[:, :, None], batch[:, None, :]]
        coefficients = weights(grams.copy())
        return np.asarray(np.einsum("bi,bij,bj->b", coefficients, grams, coefficients, optimize=True))[None]

    return _listed(CustomStatistic(statistic, "shrunk HSIC (FCOSE)", weights.batch(len(X))), (left, right), how)


def _centered(points: Array, kernel: Kernel) -> Array:
    """Return the centered Gram matrix, as in every scheme with dense matrices."""
    return KernelSide(points, (kernel,)).dense()[0][0]


def _listed(statistic: CustomStatistic, grams: tuple[Array, Array], how: Resampling) -> Null:
    """Return the null over permutations of the pairs; ties are judged by the traces of the centered matrices."""
    n = len(grams[0])
    magnitude = float(np.trace(grams[0]) * np.trace(grams[1]) / n**2)
    return replace(statistic, magnitude=magnitude).null((n,), how)


def check_pair_rows(rows: int, limit: int, what: str) -> None:
    """Raise when permutations would take too long, and say what works for that many pairs."""
    if rows > limit:
        raise ValueError(
            f"{what} is solved again for every permutation, in O(n³) each, for at most {limit} pairs; {rows} were "
            "passed; pass estimator='scose', 'mkme' or 'mmkme' (any number of pairs), or a random subsample"
        )
