"""Choice of the number of components, the bandwidth and the stopping step on held-out training rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..core.array import Array, IntArray
from ..embedding.embedding import Embedding
from .mixture import Bumps, GaussianMixture
from .recipe import Recipe, Sample

Grid = list[tuple[int, int]]  # numbers of components with seeds of k-means


@dataclass(frozen=True)
class Trial:
    """Settings with their held-out score."""

    n_components: int
    factor: float
    """θ² in units of what the bandwidth rule gives."""
    seed: int
    """Of k-means."""
    n_iter: int | None
    """The step at which to stop; None is never."""
    score: float
    """Mean log density of the held-out rows."""


@dataclass
class Stopper:
    """Watches a descent on held-out rows, remembers the best step, ends it when that is long ago."""

    points: Array
    weights: Array
    patience: int
    score: float = -np.inf
    step: int = 0
    _bumps: Bumps = field(init=False)
    _origin: Array = field(init=False)

    def __post_init__(self) -> None:
        self._origin = self.points.mean(axis=0)
        self._bumps = Bumps(self.points - self._origin)

    def __call__(self, step: int, mixture: GaussianMixture) -> bool:
        """Note the score of a step; return whether to end."""
        score = float(self.weights @ mixture.logpdf_at(self._bumps, self._origin))
        if score > self.score:
            self.score, self.step = score, step
        return step - self.step >= self.patience


def split(n: int, fraction: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows to fit and the rows to hold out, at least one of each if n > 1."""
    held = min(max(1, round(fraction * n)), n - 1)
    order = rng.permutation(n)
    return np.sort(order[held:]), np.sort(order[:held])


def try_targets(
    recipe: Recipe,
    sample: Sample,
    targets: Iterable[tuple[float, Embedding]],
    grid: Grid,
    held: Sample,
    patience: int | None,
) -> list[Trial]:
    """Return one trial for every target (with its factor) and every start; without patience none is stopped."""
    starts = [(K, seed, recipe.start(sample, K, seed)) for K, seed in grid]
    stops = recipe.update == "all" and patience is not None
    trials = []
    for factor, target in targets:
        for K, seed, start in starts:
            watch = Stopper(held.points, held.weights, patience or 0)
            watch(0, start)
            end = recipe.run(target, start, recipe.floor(sample), watch=watch if stops else None).mixture
            score = watch.score if stops else float(held.weights @ end.logpdf(held.points))
            trials.append(Trial(K, factor, seed, watch.step if stops else None, score))
    return trials
