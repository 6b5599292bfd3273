"""Are two samples alike up to a margin? The test whose null hypothesis is that they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from .._array import RngLike, as_rng
from .._validate import check_positive
from ..estimators.options import KernelLike
from ..kernels import Kernel
from ..plan import DEFAULT, Plan
from .effect import maximum_distance
from .features import difference_of_means
from .fluctuation import fluctuations
from .subject import TwoSamples
from .witness import check_level

Unit = Literal["distance", "explained"]


@final
@dataclass(frozen=True)
class EquivalenceResult:
    """The outcome of an equivalence test; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic : float
        The unbiased MMD², of either sign.
    pvalue : float
        Small where the samples differ by less than ``margin``; never 0.
    margin : float
        In ``unit``.
    unit : str
    upper : float
        The upper confidence limit at ``level``, in ``unit``: the smallest margin at which the samples are equivalent.
    level : float
    kernel : Kernel
    sizes : (int, int)
    n_resamples : int
    """

    statistic: float
    pvalue: float
    margin: float
    unit: str
    upper: float
    level: float
    kernel: Kernel
    sizes: tuple[int, int]
    n_resamples: int

    def __iter__(self) -> Any:
        return iter((self.statistic, self.pvalue))

    @property
    def equivalent(self) -> bool:
        """Say whether the samples were shown to differ by less than the margin."""
        return self.pvalue <= 1.0 - self.level + 1e-12


def equivalence_test(
    X: Any,
    Y: Any,
    margin: float,
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    unit: Unit = "distance",
    level: float = 0.95,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan = DEFAULT,
) -> EquivalenceResult:
    r"""Test the hypothesis MMD ≥ margin against MMD < margin.

    The p-value is the share of the simulated fluctuations under which a distance of ``margin`` gives no more than the
    observed one, the observed one counted.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        At least three rows each.
    margin : float
        The largest difference that does not matter.
    kernel, bandwidth
        As in :func:`kernelmean.mmd_test`. A margin is one of a kernel: fix the bandwidth before seeing the data.
    unit : {"distance", "explained"}
        Whether the margin is an MMD, or a share of the feature variance as in :class:`EffectSize`.
    level : float
        1 - α.
    n_resamples, rng, plan
        As in :func:`effect_size`.

    Raises
    ------
    ValueError
        When the margin is not positive, or exceeds every possible distance; or the samples do not fit.

    Notes
    -----
    The simulation and its cost are those of :func:`effect_size`; near 0 it errs to the safe side. The level at
    the boundary is measured in ``tests/statistical/test_explain_coverage.py``. Few rows cannot show equivalence: then
    p is large even for equal samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(400, 1)), rng.normal(size=(300, 1))
    >>> equivalence_test(X, Y, 0.25, bandwidth=1.0, rng=0).equivalent
    True
    >>> equivalence_test(X[:20], Y[:20], 0.25, bandwidth=1.0, rng=0).equivalent
    False
    """
    check_level(level)
    subject = TwoSamples.of(X, Y, kernel, bandwidth, plan)
    _check_margin(margin, unit, subject)
    effect = difference_of_means(subject)
    drawn = fluctuations(effect.mean, n_resamples, as_rng(rng))
    _, distances = drawn.distances(scaled=unit == "explained")
    sizes = distances if unit == "distance" else _explained(distances, effect.scale)
    pvalue = float((1.0 + np.count_nonzero(sizes >= margin)) / (1.0 + n_resamples))
    upper = float(np.quantile(sizes, level, method="higher"))
    return EquivalenceResult(
        effect.mean.squared, pvalue, float(margin), unit, upper, level, subject.kernel, subject.sizes, n_resamples
    )


def _explained(distances: Any, scale: float) -> Any:
    """Return δ² / (4V + δ²), and 0 where nothing varies."""
    squares = np.square(distances)
    return np.divide(squares, 4.0 * scale + squares, out=np.zeros_like(squares), where=4.0 * scale + squares > 0.0)


def _check_margin(margin: float, unit: str, subject: TwoSamples) -> None:
    """Raise when the unit is unknown, or every pair of laws is within the margin."""
    if unit not in ("distance", "explained"):
        raise ValueError(f"unit is {unit!r}; pass 'distance' or 'explained'")
    check_positive(margin, "margin")
    most = 1.0 if unit == "explained" else maximum_distance(subject.kernel, subject.pooled.shape[1])
    if margin >= most:
        raise ValueError(f"margin is {margin!r}, but no two laws differ by more than {most:.4g}; pass a smaller one")
