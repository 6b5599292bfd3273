r"""HSIC of shrunk and of jointly fitted estimates: whatever a permutation of the pairs changes is computed again.

The cross-covariance of two variables is a mean, in the RKHS whose Gram matrix is :math:`M = \bar K ∘ \bar Z_π`; SCOSE
and FCOSE of Ramdas & Wehbe (2015) are S-KMSE and F-KMSE of that mean. A noise fitted to the pairs depends on the
pairing, so a joint fit is also repeated under every permutation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, as_host, centered
from ...core.validate import check_spread
from ...estimators import KernelMean
from ...estimators.base import as_filter
from ...estimators.filters import Filter, Ridge, Scale
from ...expected import difference, smoothed
from ...kernels import Gaussian, Kernel
from ...noise import Dirac, Noise, Normal
from ..engine import CustomStatistic
from ..null import Null
from ..problem import KernelSide
from ..request import Chosen, KernelOf, check_fit_on, fitted, is_constant
from ..resampling_options import Resampling
from ..statistics import HSIC, SEARCHED, StatisticForm, Sums, check_kind
from .mmd import REFITTED_ROWS, SOLVED_ROWS, WEIGHTED_ROWS
from .refitted_noise import RefittedNoiseHSIC, batch_of, is_common_noise, squared_distances
from .shrinkage import SCOSE
from .weighted_mmd import FilterWeights

Plain = Callable[[tuple[Array, ...], Sequence[tuple[Kernel, Kernel]], Any, Resampling], Any]
"""Returns HSIC of plain kernels from the variables, pairs of kernels, the statistic and a resampling."""

_JOINT_BATCH = 8


@final
@dataclass(frozen=True)
class PairEstimator:
    """An estimator in parts: what gives the kernel of each variable, and what is done to the pairs."""

    kernels: tuple[KernelMean | KernelOf, ...]
    """Estimators that find the kernel of each variable from its own rows: without a filter or a joint noise."""
    filter: Filter | None = None
    """The filter that shrinks the mean of the pairs."""
    strength: float | None = None
    """λ of the filter; None if it is chosen under every permutation."""
    joint: KernelMean | None = None
    """The estimator that fits one noise to the pairs."""

    @property
    def plain(self) -> bool:
        """Whether the statistic is HSIC with the kernels of the variables."""
        return self.filter is None and self.joint is None

    def null(
        self, variables: tuple[Array, ...], chosen: list[Chosen], kind: StatisticForm, plain: Plain, how: Resampling
    ) -> tuple[Any, list[Chosen]]:
        """Return the null, with its kernels and noises."""
        (X, Y), kernels = variables, (chosen[0].kernel, chosen[1].kernel)
        HSIC(X.shape[0], kind)
        if is_constant(as_host(X)) or is_constant(as_host(Y)):
            return plain(variables, [kernels], kind, how), chosen
        if self.joint is not None:
            return _joint((as_host(X), as_host(Y)), self.joint, chosen, kind, how)
        if isinstance(self.filter, Ridge):
            return _fcose((as_host(X), as_host(Y)), kernels, FilterWeights(self.filter, self.strength), how), chosen
        if self.filter is None or self.strength is not None:
            factor = 1.0 if self.strength is None else 1.0 / (1.0 + self.strength)
            return plain(variables, [(factor**2 * kernels[0], kernels[1])], kind, how), chosen
        return plain(variables, [kernels], SCOSE(X.shape[0]), how), chosen

    @classmethod
    def of(cls, found: KernelMean | KernelOf) -> PairEstimator:
        """Split the estimator of one variable; its filter is applied to the pairs."""
        if not isinstance(found, KernelMean):
            return cls((found,))
        filter_ = as_filter(found.filter)
        if filter_ is None and found.contraction is None:
            return cls((found,))
        if found.contraction is not None or not isinstance(filter_, Scale | Ridge) or found.criterion != "loocv":
            raise ValueError(
                f"{found!r} is no estimator of a cross-covariance; pass filter='scale' (SCOSE) or 'ridge' (FCOSE), no "
                "contraction, and criterion='loocv'"
            )
        kernels = KernelMean(found.kernel, bandwidth=found.bandwidth, noise=found.noise)
        return cls((kernels,), filter_, None if found.strength == "loocv" else float(found.strength))

    @classmethod
    def jointly(cls, found: KernelMean | KernelOf) -> PairEstimator:
        """Return the parts of an estimator whose noise is fitted to the pairs."""
        searched = isinstance(found, KernelMean) and isinstance(found.noise, str)
        if not (isinstance(found, KernelMean) and searched and found.filter is None and found.contraction is None):
            raise ValueError(
                f"fit_on is 'joint', but {found!r} has no noise to fit to pairs, or a filter or a contraction; pass "
                "MKME, MMKME or a KernelMean with only a noise to fit"
            )
        kernels = KernelMean(found.kernel, bandwidth=found.bandwidth)
        return cls((kernels,), joint=KernelMean(noise=found.noise, criterion=found.criterion))


def pair_estimator(
    sides: tuple[KernelMean | KernelOf, ...], kind: StatisticForm, *, plain_only: str | None = None
) -> PairEstimator:
    """Split the estimators of two variables into parts.

    Raises
    ------
    ValueError
        When ``fit_on`` does not work with pairs or with the estimator; the sides are shrunk or fitted differently; a
        filter is neither a scale nor a ridge; the shrunk statistic is asked for without its diagonal; or ``plain_only``
        names what needs plain HSIC.
    """
    ways = {check_fit_on(side, ("auto", "separate", "joint")) for side in sides if isinstance(side, KernelMean)}
    check_kind(kind)
    parts = [PairEstimator.jointly(side) if "joint" in ways else PairEstimator.of(side) for side in sides]
    if len(ways) > 1 or any(_common(part) != _common(parts[0]) for part in parts):
        raise ValueError(
            f"the estimators of X and Y, {sides[0]!r} and {sides[1]!r}, shrink or fit the pairs differently; pass one "
            "for both, or two that differ in kernel and bandwidth only"
        )
    made = replace(parts[0], kernels=tuple(part.kernels[0] for part in parts))
    if plain_only and not made.plain:
        raise ValueError(
            f"{sides[0]!r} is fitted to the pairs, which does not go with {plain_only}; pass estimator='kme', 'mkme' "
            "or 'mmkme', and fit_on='separate'"
        )
    if made.filter is not None and made.strength is None and kind == "u":
        raise ValueError("shrunk HSIC is a V-statistic; pass statistic='v'")
    return made


def _common(part: PairEstimator) -> tuple[Any, ...]:
    """Return what belongs to the pairs, and so is the same for both variables."""
    return part.filter, part.strength, None if part.joint is None else (part.joint.noise, part.joint.criterion)


# -- FCOSE ------------------------------------------------------------------------------------------------------------


def _fcose(
    variables: tuple[Array, Array], kernels: tuple[Kernel, Kernel], weights: FilterWeights, how: Resampling
) -> Null:
    X, _ = variables
    check_pair_rows(len(X), SOLVED_ROWS if weights.solves else WEIGHTED_ROWS, "FCOSE")
    left, right = (_centered(points, kernel) for points, kernel in zip(variables, kernels, strict=True))

    def statistic(batch: IntArray) -> Array:
        grams = left * right[batch[:, :, None], batch[:, None, :]]
        found = weights(grams.copy())
        return np.asarray(np.einsum("bi,bij,bj->b", found, grams, found, optimize=True))[None]

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
            "passed; pass estimator='scose', 'mkme' or 'mmkme' with fit_on='separate' (any number of pairs), or a "
            "random subsample"
        )


# -- one noise for the pairs ------------------------------------------------------------------------------------------


def _joint(
    variables: tuple[Array, Array], joint: KernelMean, chosen: list[Chosen], kind: StatisticForm, how: Resampling
) -> tuple[Null, list[Chosen]]:
    X, Y = variables
    check_pair_rows(len(X), REFITTED_ROWS, "a noise fitted to the pairs")
    check_spread(X)
    check_spread(Y, "Y")
    criterion = JointNoise((X, Y), joint, tuple(_bandwidth(own.kernel) for own in chosen), kind)
    identity = np.arange(len(X))
    found = criterion.sides(identity)
    words = "noise: refitted to the pairs under every permutation"
    ends = [replace(old, kernel=k, noise=v) for old, (k, v) in zip(chosen, found, strict=True)]
    ends[1] = replace(ends[1], notes=(*ends[1].notes, words))
    grams = tuple(_centered(points, own.kernel) for points, own in zip((X, Y), ends, strict=True))
    name = f"{HSIC(len(X), kind).name[:-1]}, joint noise)"
    batch = batch_of(len(X)) if is_common_noise(joint) else _JOINT_BATCH
    statistic = CustomStatistic(criterion.statistic(), name, batch, precision=SEARCHED)
    return _listed(statistic, (grams[0], grams[1]), how), ends


def _bandwidth(kernel: Kernel) -> Any:
    if not isinstance(kernel, Gaussian):
        raise TypeError(f"a noise is fitted to pairs under Gaussian kernels, not {kernel!r}; pass fit_on='separate'")
    return kernel.bandwidth


@final
@dataclass(frozen=True)
class JointNoise:
    """HSIC with the noise of one fit to the pairs, each variable in units of its bandwidth.

    In these units the product of the two kernels is one Gaussian kernel of bandwidth 1 over all columns, and one
    variance for all of them does not depend on the units of the data.
    """

    tables: tuple[Array, Array]
    estimator: KernelMean
    bandwidths: tuple[Any, ...]
    kind: StatisticForm

    def statistic(self) -> Callable[[IntArray], Array]:
        """Return the function from permutations (b, n) to HSIC, (1, b); a common variance is fitted for all at once."""
        if not is_common_noise(self.estimator):
            return lambda batch: np.array([[self._value(order) for order in batch]])
        left, right = (squared_distances(*side) for side in zip(self.tables, self.bandwidths, strict=True))
        dim = sum(table.shape[1] for table in self.tables)
        return RefittedNoiseHSIC(left, right, dim, self.estimator.criterion, self.kind)

    def sides(self, order: IntArray) -> list[tuple[Kernel, Noise]]:
        """Return the smoothed kernel and the noise of both variables when row i of X is paired with row π(i) of Y."""
        tables = self.tables[0], self.tables[1][order]
        scaled = [centered(table)[0] / bandwidth for table, bandwidth in zip(tables, self.bandwidths, strict=True)]
        noise = fitted(self.estimator, Gaussian(1.0), np.concatenate(scaled, axis=1)).noise_
        ends = np.cumsum([0] + [table.shape[1] for table in tables])
        return [_smoothed(noise, range(ends[i], ends[i + 1]), bandwidth) for i, bandwidth in enumerate(self.bandwidths)]

    def _value(self, order: IntArray) -> float:
        sides = self.sides(order)
        left, right = (_centered(table, side[0]) for table, side in zip(self.tables, sides, strict=True))
        own, other = np.diagonal(left), np.diagonal(right)
        pairs = np.vdot(left, right[order[:, None], order])
        traces = np.array([own.sum()]), np.array([other.sum()])
        sums = Sums(np.array([[pairs]]), np.array([[own @ other[order]]]), *traces)
        return float(HSIC(len(order), self.kind)(sums)[0, 0])


def _smoothed(noise: Noise, columns: range, bandwidth: Any) -> tuple[Kernel, Noise]:
    """Return the kernel under the noise of some columns, both in the units of the data."""
    own: Noise = Dirac()
    if isinstance(noise, Normal):  # whose unit is the bandwidth
        found = noise.columns(tuple(columns))
        unit = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), (len(columns),))
        if found.form == "full":
            own = Normal(found.covariance * np.outer(unit, unit))
        elif found.form == "isotropic" and np.ndim(bandwidth) == 0:
            own = Normal(float(found.covariance) * float(bandwidth) ** 2)
        else:
            own = Normal.diagonal(found.variances(len(columns)) * unit**2)
    return smoothed(Gaussian(bandwidth), difference(own, own), len(columns)), own
