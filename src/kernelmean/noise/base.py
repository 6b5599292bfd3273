"""Noises: distributions v(·|x) around every point.

What a noise makes of a kernel is not said here but above both, in ``expected/``, one rule for each pair of kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..core.array import Array, like, namespace
from ..core.type_rules import NoClosedFormError
from ..core.validate import as_value, check_positive
from ..core.words import count


class Noise(ABC):
    """A noise v(·|x): a distribution around every point x, the same for all points or one per point."""

    @property
    def per_point(self) -> int | None:
        """The number of points for which the noise is made, or None when all points share it."""
        return None

    @property
    def dim(self) -> int | None:
        """The number of columns for which the noise is made, or None when it fits any."""
        return None

    def take(self, index: slice | Array) -> Noise:
        """Return the noise of a subset of the points; a shared noise returns itself."""
        del index
        return self

    def columns(self, index: tuple[int, ...]) -> Noise:
        """Return the marginal distribution on a block of columns.

        Raises
        ------
        TypeError
            When the family does not say what it is there.
        """
        del index
        raise NoClosedFormError(f"{self!r} does not say what it is on some of the columns; give its class `columns`")

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """Return whether blocks of columns are independent of each other; False where a family does not say so."""
        del blocks
        return False

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return example noises of the family by name, for :func:`kernelmean.support` and the tests."""
        return {}

    @abstractmethod
    def sample(self, X: Array, rng: np.random.Generator) -> Array:
        """Draw one corrupted copy of every row of ``X``, shape (n, d)."""

    def raw_moments(self, X: Array, order: int) -> Array:
        """Return E x̃_j^r for r = 0 … order, shape (order + 1, n, d), if coordinates are independent."""
        del X, order
        raise NoClosedFormError(f"{self!r} has no moments in closed form")

    def logpdf(self, gap: Array) -> Array:
        """Return log v at ``gap`` = x̃ - x, shape (..., d) to (...); -inf outside the support.

        Raises
        ------
        TypeError
            When noises of this family have no density.
        ValueError
            When this noise has none, because its width is 0 in a direction.
        """
        del gap
        raise TypeError(f"{self!r} has no density; use a Normal, Laplace or Uniform noise")


class Additive(Noise):
    """A noise x̃ = x + ε whose ε does not depend on x; it turns stationary kernels into other kernels.

    The distribution of ε is symmetric, the same as that of -ε. So with noise ε on one side and ε' on the other,
    expectations are taken under ε + ε' instead of ε - ε'.
    """

    @abstractmethod
    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Draw ε, of the given shape (n, d)."""

    def sample(self, X: Array, rng: np.random.Generator) -> Array:
        """Draw x + ε for every row of ``X``, shape (n, d)."""
        gap: Array = X + self.sample_gap((len(X), X.shape[1]), rng)
        return gap

    def moments(self, order: int, dim: int) -> Array:
        """Return E ε_j^r for r = 0 … order, shape (order + 1, d) or (order + 1, n, d)."""
        del order, dim
        raise NoClosedFormError(f"{self!r} has no moments in closed form")

    def raw_moments(self, X: Array, order: int) -> Array:
        """Return E (x_j + ε_j)^r for r = 0 … order, shape (order + 1, n, d), by the binomial theorem."""
        central = like(self.moments(order, X.shape[1]), X)
        terms = [sum(comb(r, k) * X ** (r - k) * central[k, ...] for k in range(r + 1)) for r in range(order + 1)]
        xp = namespace(X)
        stacked: Array = xp.stack([xp.broadcast_to(term, X.shape) for term in terms])
        return stacked

    def characteristic(self, frequencies: Array) -> Array:
        """Return E cos(ωᵀε), shape (m,), at ``frequencies`` of shape (m, d); ε is symmetric, so sines vanish."""
        del frequencies
        raise TypeError(f"{self!r} has no characteristic function in closed form")


def common(noises: Sequence[Noise], what: Literal["dim", "per_point"]) -> int | None:
    """Return the number of columns (or of points) for which noises are made, None for any; they must agree."""
    numbers = {number for noise in noises if (number := getattr(noise, what)) is not None}
    if len(numbers) > 1:
        of = "columns" if what == "dim" else "points"
        raise ValueError(f"{' and '.join(map(repr, noises))} are made for different numbers of {of}: {sorted(numbers)}")
    return numbers.pop() if numbers else None


def dim_of(*values: Any) -> int | None:
    """Return the length of per-axis values, None when all are single numbers."""
    return next((len(value) for value in values if np.ndim(value)), None)


def check_density(noise: Noise, positive: Any) -> None:
    """Raise unless the widths of a noise are all ``positive``: with a width of 0 it is a point mass."""
    if not np.all(positive):
        raise ValueError(
            f"{noise!r} has no density: in a direction in which its width is 0, it is a point mass; use a positive "
            "variance (or width) in every direction"
        )


def per_axis(values: Any, index: tuple[int, ...]) -> Any:
    """Cut per-axis values to the columns in ``index``; a single number serves all axes."""
    return values if np.ndim(values) == 0 else np.asarray(values)[..., list(index)]


class AxisWidths(Additive):
    """Independent noise on every axis; a dataclass whose one field, ``parameter``, is the width, checked here."""

    parameter: ClassVar[str]

    @property
    def _width(self) -> Any:
        return getattr(self, self.parameter)

    def __post_init__(self) -> None:
        array = check_positive(self._width, self.parameter, zero=True)
        if array.ndim > 1:
            raise ValueError(f"{self.parameter} has shape {array.shape}; pass a number or one number per column (d,)")
        object.__setattr__(self, self.parameter, as_value(array))

    @property
    def dim(self) -> int | None:
        """The number of widths when there is one per axis, else None."""
        return dim_of(self._width)

    def columns(self, index: tuple[int, ...]) -> Self:
        """Return the noise on a block of columns."""
        return replace(self, **{self.parameter: per_axis(self._width, index)})  # type: ignore[type-var]

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """All columns are independent."""
        del blocks
        return True

    def widths(self, dim: int) -> Array:
        """Return the width of every axis, shape (d,)."""
        array = np.asarray(self._width, dtype=np.float64)
        if array.ndim and len(array) != dim:
            raise ValueError(f"the noise has {len(array)} {self.parameter}s, the data have {count(dim, 'column')}")
        return np.broadcast_to(array, (dim,))
