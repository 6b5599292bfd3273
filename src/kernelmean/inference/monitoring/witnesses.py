"""Witnesses of drift: functions that earlier rows say are larger on new rows than on those of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from ...core.array import Array
from ...core.type_rules import NoClosedFormError
from ...core.validate import check_positive
from ...embedding.features import FeatureMap, fourier, nystrom
from ...estimators.options import KernelLike, make_kernel
from ...kernels.bandwidth import bandwidth_from
from ...kernels.base import Kernel

HALF_LIVES = (np.inf, 100.0, 25.0)
"""Pairs after which a new row counts half in a witness: never, or soon, for changes after a time without."""
FACTORS = (0.25, 0.5, 1.0, 2.0)
"""The bandwidths that are mixed, in units of the one that a rule finds or that was passed."""
_ROUNDING = 1e-9


def kernels_for(kernel: KernelLike, bandwidth: Any, rows: Array) -> list[Kernel]:
    """Return the kernels that are mixed."""
    if isinstance(kernel, Kernel):
        return [make_kernel(kernel, bandwidth, rows)]
    rules = ("median", "median-unsquared")
    if np.ndim(bandwidth) or (isinstance(bandwidth, str) and bandwidth not in rules):
        raise ValueError(f"bandwidth is {bandwidth!r}; write one positive number, 'median' or 'median-unsquared'")
    if not isinstance(bandwidth, str):
        check_positive(bandwidth, "bandwidth")
    constant = bool((rows == rows[0]).all())
    theta = 1.0 if constant and isinstance(bandwidth, str) else bandwidth_from(rows, bandwidth)
    return [make_kernel(kernel, factor * theta, rows) for factor in FACTORS]


def feature_maps(kernels: Sequence[Kernel], rows: Array, n_frequencies: int, seed: int) -> tuple[FeatureMap, ...]:
    """Return features of every kernel: of Fourier, or landmarks among the rows for kernels without a spectrum."""
    origin, dim = np.median(rows, axis=0), rows.shape[1]
    maps: list[FeatureMap] = []
    for number, kernel in enumerate(kernels):
        rng = np.random.default_rng([seed, number])
        try:
            maps.append(fourier(kernel, dim, n_frequencies, origin=origin, rng=rng))
        except NoClosedFormError:
            maps.append(nystrom(kernel, rows, 2 * n_frequencies, rng=rng))
    return tuple(maps)


@final
@dataclass(frozen=True, eq=False)
class Features:
    """The features of several kernels side by side, and those of the rows that set the scale."""

    maps: tuple[FeatureMap, ...]
    rows: Array
    """Rows of the reference that are never bet on, shape (r, D)."""

    @property
    def size(self) -> int:
        """The number of all features."""
        return sum(each.size for each in self.maps)

    def __call__(self, rows: Array) -> Array:
        """Return the features of rows (n, D), shape (n, m)."""
        return np.concatenate([each(rows) for each in self.maps], axis=1)

    @cached_property
    def known(self) -> Array:
        """The features of ``rows``, shape (r, m)."""
        return self(self.rows)

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the features of every kernel stand."""
        ends = np.cumsum([each.size for each in self.maps]).tolist()
        return tuple(slice(end - each.size, end) for end, each in zip(ends, self.maps, strict=True))

    def values(self, vectors: Array, directions: Array) -> Array:
        """Return ⟨a, φ(x)⟩ for vectors φ (n, m) and directions a (h, m), one for each half-life and kernel: (n, w)."""
        return np.concatenate([vectors[:, part] @ directions[:, part].T for part in self.parts], axis=1)


@final
@dataclass(eq=False)
class Witnesses:
    r"""Mean features of new rows less those of the reference: :math:`\hat h = \hat μ_{new} - \hat μ_{ref}`.

    One for each kernel and half-life. The rows of the reference that set the scale count in its mean.
    """

    features: Features
    reference: Array
    new: Array
    """Shape (m,) and (h, m). Sums of features; those of new rows discounted by every half-life."""
    reference_count: float
    new_counts: Array
    """Shape (h,)."""
    directions: Array
    """The witnesses that are bet with: those of the rows before the last :meth:`renew`, shape (h, m)."""

    @classmethod
    def start(cls, features: Features) -> Self:
        """Return witnesses that know the rows of the scale only, and are 0."""
        shape = (len(HALF_LIVES), features.size)
        known = features.known
        return cls(features, known.sum(axis=0), np.zeros(shape), float(len(known)), np.zeros(shape[0]), np.zeros(shape))

    @property
    def count(self) -> int:
        """The number of witnesses."""
        return len(HALF_LIVES) * len(self.features.maps)

    def payoffs(self, reference: Array, new: Array) -> Array:
        r"""Return :math:`\tanh((h(y) - h(x))/s)` for features of pairs, (p, m) each, in [-1, 1], shape (p, w)."""
        return np.asarray(np.tanh(self.features.values(new - reference, self.directions) / self._scales))

    def add(self, reference: Array, new: Array) -> None:
        """Learn from features of pairs of rows, shape (p, m) each, in their order."""
        pairs, lives = len(new), np.array(HALF_LIVES)[:, None]
        discount = np.exp2(-np.arange(pairs - 1, -1, -1) / lives)
        kept = np.exp2(-pairs / lives)
        self.new = kept * self.new + discount @ new
        self.new_counts = kept[:, 0] * self.new_counts + discount.sum(axis=1)
        self.reference = self.reference + reference.sum(axis=0)
        self.reference_count += pairs

    def renew(self) -> None:
        """Bet with what all rows so far say."""
        self.directions = self.new / self.new_counts[:, None] - self.reference / self.reference_count
        self.__dict__.pop("_scales", None)

    @cached_property
    def _scales(self) -> Array:
        """The standard deviation of h(x) - h(x') under the reference, and a little for rounding, shape (w,)."""
        spread = np.sqrt(2.0) * self.features.values(self.features.known, self.directions).std(axis=0)
        lengths = [np.linalg.norm(self.directions[:, part], axis=1) for part in self.features.parts]
        return np.asarray(spread + _ROUNDING * np.concatenate(lengths) + np.finfo(np.float64).tiny)
