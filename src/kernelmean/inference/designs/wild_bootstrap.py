"""Time series: the wild bootstrap replaces permutations, which dependence over time rules out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array
from ...core.validate import check_positive_number
from ...core.words import passed
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..null import WILD, Null
from ..problem import KernelPair, KernelSide
from ..resampling import Resampling, Resources
from ..statistics import StatisticForm, ties
from ..units.forms import TiledForms, gram_forms, tiled_forms

_LEAST_ROWS = 4


class _WildBootstrap:
    """What both designs share."""

    reach: float
    plain_only: ClassVar[str | None] = "the wild bootstrap"

    @property
    def notes(self) -> tuple[str, ...]:
        """Return that the p-value is not exact."""
        return (
            "the p-value is asymptotic, not exact: it holds for long stationary series whose dependence fades within "
            f"series={float(self.reach):g} rows",
        )


@final
@dataclass(frozen=True)
class WildSamples(_WildBootstrap):
    """Two independent time series."""

    samples: tuple[Array, Array]
    """The series as they were passed."""
    reach: float
    """How far the dependence reaches, in rows."""

    methods: ClassVar[tuple[str, str]] = (
        "Wild bootstrap two-sample test for time series, maximum mean discrepancy",
        "",
    )
    pool: ClassVar[str] = "both series"

    @classmethod
    def of(cls, samples: tuple[Array, Array], reach: float) -> Self:
        """Check that the series are long enough."""
        for series, name in zip(samples, "XY", strict=True):
            _check_length(len(series), reach, name)
        return cls(samples, reach)

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return MMD² (V) of every kernel under the same multipliers."""
        del statistic  # which is "v": the bootstrap has no other
        (n, m), (pooled,), count = map(len, self.samples), tables, how.n_resamples
        side = KernelSide(pooled, tuple(kernels))
        signs = np.repeat([1 / n, -1 / m], [n, m])[:, None]
        with serial_blas:
            forms = gram_forms(side, how.resources)
            drawn = centered_multipliers((n, m), self.reach, count, how.rng, forms.batch)
            values = np.concatenate([forms.forms(signs * part) for part in drawn], axis=1)
        magnitude = np.abs(forms.diagonal).sum(axis=1) * (1 / n + 1 / m)
        return Null(values, ties(values, magnitude), "MMD² (V-statistic)", WILD)


@final
@dataclass(frozen=True)
class WildPairs(_WildBootstrap):
    """Two time series over the same times."""

    reach: float
    """How far the dependence reaches, in rows."""

    methods: ClassVar[tuple[str, str]] = (
        "Wild bootstrap test of independence for time series, Hilbert-Schmidt criterion",
        "",
    )

    @classmethod
    def of(cls, variables: tuple[Array, Array], reach: float) -> Self:
        """Check that the series are long enough."""
        _check_length(len(variables[0]), reach, "X")
        return cls(reach)

    def taken(self, X: Array, Y: Array) -> tuple[Array, Array]:
        """Return the series as they are."""
        return X, Y

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[KernelPair], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return HSIC (V) of the one pair of kernels under the multipliers."""
        del statistic  # which is "v": the bootstrap has no other
        pair, n, count = _only(kernels), len(tables[0]), how.n_resamples
        sides = [KernelSide(points, (kernel,)) for points, kernel in zip(tables, pair, strict=True)]
        with serial_blas:
            left, right = (_CenteredTiles(side, how.resources) for side in sides)
            forms = TiledForms(lambda i, j: [left(i, j) * right(i, j)], np.zeros((1, n)), how.resources.n_jobs)
            drawn = centered_multipliers((n,), self.reach, count, how.rng, forms.batch)
            values = np.concatenate([forms.forms(part) for part in drawn], axis=1) / n**2
        magnitude = np.array([left.magnitude * right.magnitude]) / n**2
        return Null(values, ties(values, magnitude), "HSIC (V-statistic)", WILD)


@final
class _CenteredTiles:
    """Tiles of the centered Gram matrix HKH of one kernel."""

    def __init__(self, side: KernelSide, resources: Resources) -> None:
        self.tiles, self.shift = side.tiles(), side.shifts[0]
        self.means = tiled_forms(side, resources).times(np.full((side.n, 1), 1 / side.n))[0, :, 0]
        self.mean = float(self.means.mean())
        self.magnitude = float(np.abs(side.gram_diagonal()).sum())

    def __call__(self, i: slice, j: slice) -> Array:
        """Return one tile."""
        gram = self.tiles(i, j)[0] - self.shift
        return np.asarray(gram - self.means[i, None] - self.means[j] + self.mean)


def multipliers(n: int, reach: float, count: int, rng: np.random.Generator) -> Array:
    """Return ``count`` stationary autoregressions of n steps, mean 0, variance 1, correlation e^{-t/l}; (n, count)."""
    return autoregressions(rng.standard_normal((count, n)).T, reach)


def autoregressions(noise: Array, reach: float) -> Array:
    """Return the stationary autoregressions driven by independent standard noise (n, count)."""
    from scipy.signal import lfilter  # a tenth of a second, which only these tests need

    decay = float(np.exp(-1 / reach))
    steps = noise * np.sqrt(1 - decay**2)
    steps[0] = noise[0]
    return np.asarray(lfilter([1.0], [1.0, -decay], steps, axis=0))


def centered_multipliers(
    sizes: tuple[int, ...], reach: float, count: int, rng: np.random.Generator, batch: int
) -> Iterator[Array]:
    """Yield multipliers of independent series one below the other: arrays (Σ n, b ≤ ``batch``).

    Each series is centered, and divided by the standard deviation that this leaves on average. The very first column is
    1, which gives the observed statistic; ``count`` draws follow.
    """
    ends = np.cumsum(sizes)
    for start in range(0, count + 1, batch):
        noise = rng.standard_normal((min(batch, count + 1 - start) - (start == 0), int(ends[-1]))).T
        drawn = [autoregressions(part, reach) for part in np.split(noise, ends[:-1])]
        part = np.concatenate([_centered(series, reach) for series in drawn])
        yield np.concatenate([np.ones((len(part), 1)), part], axis=1) if start == 0 else part


def _centered(series: Array, reach: float) -> Array:
    """Return multipliers minus their mean, with an expected mean square of 1 again."""
    n = len(series)
    lags = np.arange(1, n)
    of_mean = (n + 2 * ((n - lags) @ np.exp(-lags / reach))) / n**2
    return np.asarray((series - series.mean(axis=0)) / np.sqrt(1 - of_mean))


def _check_length(n: int, reach: float, name: str) -> None:
    """Raise when a series is too short for the reach of its dependence."""
    length = check_positive_number(reach, "series")
    if n < max(_LEAST_ROWS, length):
        raise ValueError(
            f"{name} has {n} rows for series={length:g}; the wild bootstrap rests on many blocks: pass a longer "
            "series or a smaller number"
        )


def _only(kernels: Sequence[Any]) -> Any:
    """Return the only kernel, or tuple of kernels."""
    if len(kernels) != 1:
        raise ValueError(f"{passed(len(kernels), 'kernel')}, this null has one at a time; pass null([kernel], ...)")
    return kernels[0]
