"""The units in which a fit works: those of the data, slightly rounded, so that the units of a table change nothing.

Hundreds of quasi-Newton steps turn a difference in the last digit of a row into one in the third digit of a mean. The
same table in metres and in inches differs in the last digits of its rows. Rounded to 32 binary digits of the standard
deviation of their column, they are equal.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..core.array import Array
from ..core.frozen import sealed
from ..core.table import deviations_of
from ..core.words import written
from ..embedding.embedding import Embedding
from ..embedding.parts import PointPart
from ..estimators import KernelMean
from ..kernels.bandwidth import check_bandwidth
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.normal import Normal
from .mixture import GaussianMixture
from .recipe import Recipe, Sample

_DIGITS = 32
_UNLIKE = 5.0
"""How many times as wide as another a column may be without a warning."""


@dataclass(frozen=True)
class Units:
    """The origin of the rows, the unit of length, and the smallest step that is resolved in every column."""

    origin: Array
    unit: float
    steps: Array

    @classmethod
    def of(cls, sample: Sample) -> Self | None:
        """Return the units of a sample, its mean and the root of the mean variance of the columns.

        Return None when all rows are equal.
        """
        points = sample.points
        if not np.ptp(points, axis=0).any():
            return None
        origin = sample.weights @ points
        gaps = points - origin
        largest = float(np.abs(gaps).max())  # so that squares neither overflow nor vanish
        variances = sample.weights @ (gaps / largest) ** 2
        unit = float(np.sqrt(variances.mean()))
        exponents = np.frexp(np.sqrt(variances) / unit)[1]
        return cls(origin, unit * largest, 2.0 ** (exponents - _DIGITS))

    def rows(self, points: Array) -> Array:
        """Return rows in these units."""
        scaled = (points - self.origin) / self.unit / self.steps
        return np.asarray(sealed(np.rint(scaled) * self.steps))

    def sample(self, sample: Sample) -> Sample:
        """Return a sample in these units."""
        return replace(sample, points=self.rows(sample.points))

    def recipe(self, recipe: Recipe) -> Recipe:
        """Return a recipe with its prototypes in these units."""
        return recipe if recipe.prototypes is None else replace(recipe, prototypes=self.mixture(recipe.prototypes))

    def length(self, lengths: Any) -> Array:
        """Return lengths, such as bandwidths, in these units."""
        return _rounded(np.asarray(lengths, dtype=np.float64) / self.unit)

    def mixture(self, mixture: GaussianMixture) -> GaussianMixture:
        """Return a mixture in these units."""
        return GaussianMixture(
            mixture.weights, self.rows(mixture.means), _rounded(mixture.covariances / self.unit / self.unit)
        )

    def mixture_back(self, mixture: GaussianMixture) -> GaussianMixture:
        """Return a mixture in the units of the table."""
        covariances = mixture.covariances * self.unit * self.unit
        return GaussianMixture(mixture.weights, self.origin + self.unit * mixture.means, covariances)

    def log_density_back(self, score: float) -> float:
        """Return a log density of rows in the units of the table."""
        return float(score - len(self.origin) * np.log(self.unit))

    def embedding_back(self, mu: Embedding, kernel: Kernel) -> Embedding:
        """Return an embedding in the units of the table."""
        parts = (
            PointPart(sealed(self.origin + self.unit * part.points), part.weights, self._noise_back(part.noise))
            for part in mu.point_parts
        )
        return replace(mu, kernel=kernel, parts=tuple(parts))

    def _noise_back(self, noise: Noise) -> Noise:
        if not isinstance(noise, Normal):
            return noise
        return Normal.of_form(noise.covariance * self.unit * self.unit, noise.form)


def units_of(sample: Sample, recipe: Recipe, kernel: Kernel | None, bandwidth: Any) -> Units | None:
    """Return the units in which to fit a sample jointly.

    Return None when only weights are matched, since no rounding grows then, or when a kernel, a noise or a rule is in
    the units of the table.
    """
    noise = getattr(recipe.estimator, "noise", None)
    searched = isinstance(recipe.estimator, KernelMean) and (noise is None or isinstance(noise, str))
    if recipe.update == "weights" or kernel is not None or not searched or str(bandwidth) == "median-unsquared":
        return None
    if not isinstance(bandwidth, str):
        check_bandwidth(bandwidth)
    return Units.of(sample)


def _rounded(values: Array) -> Array:
    """Return numbers rounded to 32 binary digits each."""
    digits, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(digits, _DIGITS)), exponents - _DIGITS)


def unlike_scales(points: Array, names: Sequence[str] | None) -> str:
    """Return what to tell where one column varies so much more than another that one width suits only one of them.

    Constant columns are passed over.
    """
    deviations = deviations_of(points)
    largest, smallest = int(np.argmax(deviations)), int(np.argmin(np.where(deviations > 0, deviations, np.inf)))
    if not deviations[largest] > _UNLIKE * deviations[smallest] > 0:
        return ""
    wide, narrow = (repr(names[j]) if names else str(j) for j in (largest, smallest))
    mend = "divide every column by its standard deviation first, such as by make_pipeline(StandardScaler(), ...)"
    return (
        f"column {wide} varies more than {_UNLIKE:g} times as much as column {narrow}, for which the components will "
        f"be too wide; {written(mend, 'leave --no-scale out')}"
    )


@contextmanager
def scales_as_they_are() -> Iterator[None]:
    """Let fits pass over columns of unlike scales, which were told before or are meant."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="column .* varies more than")
        yield
