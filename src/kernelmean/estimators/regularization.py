"""The strength of a spectral filter, chosen by exact leave-one-out for weights under any fixed noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.cached import cached_property
from ..embedding.score import Score
from ..expected import expected_blocks
from ..kernels.base import Kernel, Stationary
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import running
from .filters import Cutoff, Filter, Iterative, Resolvent, Ridge, check_iterations
from .loocv.spectral import (
    GramSpectrum,
    Masked,
    check_size,
    cutoff_steps,
    largest_without_each,
    printed_scores,
    ridge_scores,
    score_of,
    spectral_score,
)
from .search import minimize_scores

MASKED_LIMIT, CUTOFF_LIMIT = 2000, 500
ITERATIONS = 100  # at most, in a search
_PER_DECADE, _PER_DECADE_OF_PATH = 4, 6
_ROUNDING, _APART = 1e-12, 1e-9  # of the diagonal; how far apart eigenvalues are that differ
UNDERFLOW = 1e-150  # below this, squares of kernel values vanish and the ridge equals a scale to all digits


class ScoreLimitError(ValueError):
    """A leave-one-out score that would take too long."""


@dataclass(frozen=True)
class Strength:
    """A strength λ (or a number of iterations) with its leave-one-out score."""

    value: float
    score: Score


class Weighing:
    """The matrices L and Q of a sample under a fixed noise, from which filters compute weights.

    Raises
    ------
    ValueError
        Above 5,000 points: a filter needs Q as a matrix.
    """

    def __init__(self, X: Array, kernel: Kernel, noise: Noise) -> None:
        check_size(X.shape[0])
        self.n, self.X, self.kernel, self.noise = len(X), X, kernel, noise
        self.constant = float(kernel.diag(X).mean())

    @cached_property
    def square(self) -> Array:
        """Q_ij = E k(x̃_i, x̃_j), symmetric."""
        return self._gram(self.noise, symmetric=True)

    @cached_property
    def cross(self) -> Array:
        """L_ij = E k(x_i, x̃_j); Q itself when there is no noise."""
        return self.square if isinstance(self.noise, Dirac) else self._gram(Dirac(), symmetric=False)

    def _gram(self, left: Noise, *, symmetric: bool) -> Array:
        blocks = expected_blocks(self.kernel, self.X, left, self.X, self.noise)
        return running().gram(blocks, self.n, self.n, symmetric=symmetric)

    @cached_property
    def spectrum(self) -> GramSpectrum:
        """The eigendecomposition of a Gram matrix with constant diagonal."""
        return GramSpectrum.of(self.square, self.constant)

    @property
    def has_path(self) -> bool:
        """Whether the exact ridge path applies: no noise, and k(x, x) the same everywhere."""
        return isinstance(self.noise, Dirac) and isinstance(self.kernel, Stationary)

    def weights(self, filter_: Filter, strength: float) -> Array:
        """Return β, shape (n,)."""
        if strength == math.inf:
            return np.zeros(self.n)
        if isinstance(filter_, Ridge) and self.has_path:
            return self.spectrum.weights(strength)
        return filter_.weights(self.square, strength)

    def at(self, filter_: Filter, strength: float) -> Strength:
        """Return the exact leave-one-out score of a filter at a given strength."""
        return self.path(filter_, np.array([strength]))[0]

    def path(self, filter_: Filter, strengths: Array) -> list[Strength]:
        """Return the exact leave-one-out scores of a filter at given strengths; "ridge" decomposes K only once."""
        if isinstance(filter_, Ridge) and self.has_path:
            return _paired(strengths, ridge_scores(self.spectrum, strengths))
        if isinstance(filter_, Cutoff):
            return self._cutoffs(strengths)
        if isinstance(filter_, Iterative):
            steps = [check_iterations(strength) for strength in strengths]
            path = self._iterations(filter_, max(steps))
            return [path[step - 1] for step in steps]
        if isinstance(filter_, Resolvent):
            check_limit(self.n, MASKED_LIMIT, filter_)
            masked = Masked(self.square)
            columns = (filter_.solutions(masked, float(strength)) for strength in strengths)
            return _paired(strengths, [score_of(each, self.cross, self.square, self.constant) for each in columns])
        check_limit(self.n, CUTOFF_LIMIT, filter_)
        factors = (partial(filter_.factor, strength=float(strength)) for strength in strengths)
        scores = [spectral_score(self.cross, self.square, self.constant, factor) for factor in factors]
        return _paired(strengths, scores)

    def best(self, filter_: Filter) -> Strength:
        """Return the strength with the smallest exact leave-one-out score; infinite when nothing beats μ = 0."""
        if isinstance(filter_, Iterative):
            return _smallest(self._iterations(filter_, ITERATIONS))
        if not isinstance(filter_, Cutoff | Resolvent):
            raise TypeError(
                f"the strength of {filter_!r} cannot be searched; pass strength=<number>, or derive your filter from "
                "Resolvent or Iterative, whose leave-one-out scores are cheap enough for a search"
            )
        if isinstance(filter_, Cutoff):
            chosen = self._best_cutoff()
        elif isinstance(filter_, Ridge) and self.has_path:
            off, largest = self._off
            ridge = partial(self.path, filter_)
            chosen = self._negligible(off) if largest < UNDERFLOW else _minimize(ridge, self._grid(_PER_DECADE_OF_PATH))
        else:
            chosen = _minimize(partial(self.path, filter_), self._grid(_PER_DECADE))
        return _smallest([Strength(math.inf, Score(self.constant, 0, -math.inf)), chosen])

    def best_printed(self) -> Strength:
        """Return the ridge strength with the smallest score, as printed by Muandet et al. (2014)."""
        return _minimize(self.printed_path, self._grid(_PER_DECADE_OF_PATH))

    def printed_path(self, strengths: Array) -> list[Strength]:
        """Return the scores of the ridge, as printed by Muandet et al. (2014)."""
        values = printed_scores(self.spectrum, strengths)
        return _paired(strengths, [Score.of(float(value) - self.constant, self.constant) for value in values])

    # -- ridge: all strengths from one decomposition --------------------------------------------------------------

    @cached_property
    def _off(self) -> tuple[float, float]:
        """The mean and the largest absolute value of Q off the diagonal."""
        off = self.square - np.diag(np.diagonal(self.square))
        return float(off.sum()) / (self.n * (self.n - 1.0)), float(np.abs(off).max())

    def _negligible(self, mean_off: float) -> Strength:
        """Return the optimum where K is c I up to entries whose squares vanish: the one of a plain scale."""
        if mean_off <= 0:
            return Strength(math.inf, Score(self.constant, 0, -math.inf))
        log_scale = math.log(self.n - 1.0) + math.log(mean_off / self.constant)
        strength = self.constant * math.exp(-log_scale) if log_scale > -700 else math.inf
        return Strength(strength, Score(self.constant, -1, log_scale + math.log(mean_off)))

    @cached_property
    def _mean_diagonal(self) -> float:
        diagonal = float(np.diagonal(self.square).mean())
        if diagonal == 0.0:
            raise ValueError("k(x, x) is 0 at every point, so no strength is best; rescale the columns")
        return diagonal

    def _grid(self, per_decade: int) -> Array:
        """Return λ from 1e-8 to 1e3 n times the diagonal, and around the optimum for equal entries off the diagonal.

        That optimum, λ = (c - U)(c + nU) / ((n-1) U), is very large for narrow kernels.
        """
        diagonal = self._mean_diagonal
        wide, narrow = relative_grids(self.n, per_decade)
        mean_off = self._off[0] / diagonal
        if not UNDERFLOW < mean_off < 1 - 1e-12:
            return diagonal * wide
        around = strength_of_equal_entries(mean_off, self.n)
        return np.unique(diagonal * np.concatenate([wide, around * narrow]))

    # -- any filter: leave-one-out weights as a matrix ----------------------------------------------------------------

    def _iterations(self, filter_: Iterative, most: int) -> list[Strength]:
        """Return the scores after 1, …, ``most`` iterations, with steps as long as a fit without the point has."""
        check_limit(self.n, MASKED_LIMIT, filter_)
        iterates = islice(filter_.iterates(Masked(self.square), largest_without_each(self.square)), most)
        return [
            Strength(float(step), score_of(columns, self.cross, self.square, self.constant))
            for step, columns in enumerate(iterates, 1)
        ]

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        check_limit(self.n, CUTOFF_LIMIT, Cutoff())
        return cutoff_steps(self.cross, self.square)

    def _cutoffs(self, cutoffs: Array) -> list[Strength]:
        values, excess = self._steps
        of_each = excess[np.searchsorted(values, cutoffs)].tolist()
        return _paired(cutoffs, [Score.of(value, self.constant) for value in of_each])

    def _best_cutoff(self) -> Strength:
        """Return the middle of the step on which the score is smallest, of steps above rounding."""
        values, excess = self._steps
        least = _ROUNDING * self._mean_diagonal
        above = np.maximum(values, least)
        below = np.append(least, above[:-1])
        steps = np.flatnonzero(above > below * (1.0 + _APART))
        lowest = steps[np.argmin(excess[steps])]
        return self._cutoffs(np.sqrt(below[[lowest]]) * np.sqrt(above[[lowest]]))[0]


def relative_grids(n: int, per_decade: int) -> tuple[Array, Array]:
    """Return λ from 1e-8 to 1e3 n in units of the diagonal, and factors 0.01 to 100 around a guess."""
    wide = np.geomspace(1e-8, 1e3 * n, math.ceil(per_decade * (11 + math.log10(n))))
    return wide, np.geomspace(0.01, 100.0, 4 * per_decade + 1)


def strength_of_equal_entries(mean_off: Any, n: int) -> Any:
    """Return the best λ where all entries off a diagonal of 1 are equal, (1-U)(1+nU) / ((n-1)U)."""
    return (1 - mean_off) / ((n - 1) * mean_off) * (1 + n * mean_off)


def _paired(strengths: Array, scores: Sequence[Score]) -> list[Strength]:
    return [Strength(float(strength), score) for strength, score in zip(strengths, scores, strict=True)]


def _smallest(strengths: Sequence[Strength]) -> Strength:
    return min(strengths, key=lambda one: one.score.key)


def _minimize(path: Callable[[Array], list[Strength]], grid: Array) -> Strength:
    """Return the minimum over λ: the best of the grid, refined in log λ between its neighbours."""
    rough = path(grid)
    scores, logs = [one.score for one in rough], np.array([math.log(strength) for strength in grid])
    unit = abs(_smallest(rough).score.excess or 1.0)
    refined = minimize_scores(lambda u: path(np.array([math.exp(u)]))[0], scores, logs, 1, unit)
    return _smallest([*rough, *refined])


def check_limit(n: int, limit: int, filter_: Filter) -> None:
    """Raise when leave-one-out scores of a filter would take too long."""
    if n > limit:
        raise ScoreLimitError(
            f"the leave-one-out score of {filter_!r} is limited to {limit} points, {n} were passed; pass "
            "strength=<number> (loocv_ is then nan), or use filter='ridge' (up to 5000) or 'scale' (no limit)"
        )
