"""The MMKME column of the paper's HSIC table: MMKME of one column, and the power that a wider kernel can have."""

from __future__ import annotations

import numpy as np

from kernelmean import hsic_test, median_bandwidth
from kernelmean.kernels import Gaussian
from kernelmean.noise import Noise, Normal

from .arrays import Array
from .experiment import Context, Finding
from .hsic_reading import DATA, LARGEST, LEVELS, SIZES
from .hsic_tests import PERMUTATIONS
from .paper import ESTIMATORS

LEVEL, SHARE = LEVELS[0], LARGEST
ROWS = SIZES[SHARE][0]
"""The row of the HSIC table, and its number of pairs."""
INFLATIONS = (0.0, 1.0, 10.0, 100.0)
"""Variances of a noise on x and on y, each in units of its θ²."""
OF_ONE_COLUMN = ("MKME", "MMKME")
"""The estimators that are the same for one column."""


def one_column(rng: np.random.Generator, context: Context) -> list[Finding]:
    """Measure the noises of MKME and MMKME of one column, and HSIC's rejections under kernels widened by noise.

    The data are one subsample of Eckerle4 as in the HSIC table at α = 0.05, η = 0.30. MMKME has one σ² per column, and
    x and y have one column each.
    """
    data = context.load(DATA)
    values: Array = np.column_stack([data[name] for name in ("x", "y")])
    x, y = values[rng.choice(len(values), ROWS, replace=False)].T[:, :, None]
    found = []
    for name, side in (("x", x), ("y", y)):
        kernel = Gaussian(float(median_bandwidth(side)))
        for title in OF_ONE_COLUMN:
            variance = _variance(ESTIMATORS[title](kernel).fit(side).noise_) / float(kernel.bandwidth) ** 2
            found.append(Finding(title, f"σ² of {name}", variance))
    for one in INFLATIONS:
        for two in INFLATIONS:
            kernels = tuple(
                Gaussian(float(median_bandwidth(side)) * np.sqrt(1 + 2 * share)) for side, share in ((x, one), (y, two))
            )
            pvalue = hsic_test(x, y, kernel=kernels, n_resamples=PERMUTATIONS, rng=rng).pvalue  # type: ignore[arg-type]
            found.append(Finding("HSIC", inflated(one, two), float(pvalue <= float(LEVEL))))
    return found


def inflated(one: float, two: float) -> str:
    """Return the name of the rejections under noises of these variances."""
    return f"rejects, σ² {one:g} and {two:g}"


def _variance(noise: Noise) -> float:
    return float(np.squeeze(noise.covariance)) if isinstance(noise, Normal) else 0.0
