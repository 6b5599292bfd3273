"""Monte Carlo, only on request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.array import Array, like, to_numpy
from ..core.validate import check_integer
from .base import Noise


@dataclass(frozen=True)
class Sampled(Noise):
    """A noise given by ``n_samples`` seeded draws around every point: explicit Monte Carlo for any kernel and noise.

    The distribution is that of the draws. So expectations under it are exact, Gram matrices are symmetric and positive
    semi-definite, and the error compared with ``noise`` itself falls as 1/√n_samples.

    Parameters
    ----------
    noise : Noise
        The noise to sample.
    n_samples : int
        Draws per point. Cost and memory grow with it, or with its square if both sides are sampled.
    seed : int
        The same seed gives the same draws.

    Examples
    --------
    >>> from kernelmean.noise import Normal
    >>> Sampled(Normal(0.1), n_samples=64)
    Sampled(noise=Normal(0.1), n_samples=64, seed=0)
    """

    noise: Noise
    n_samples: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            raise TypeError(f"noise is {self.noise!r}, a value such as noise.Normal(0.1) is needed")
        check_integer(self.n_samples, "n_samples", 1)

    @property
    def per_point(self) -> int | None:
        """The number of points for which the sampled noise is made, or None."""
        return self.noise.per_point

    @property
    def dim(self) -> int | None:
        """The number of columns for which the sampled noise is made, or None."""
        return self.noise.dim

    def take(self, index: slice | Array) -> Sampled:
        """Return the noise of a subset of the points."""
        return Sampled(self.noise.take(index), self.n_samples, self.seed)

    def sample(self, X: Array, rng: np.random.Generator) -> Array:
        """Draw one fresh corrupted copy of every row, shape (n, d)."""
        return self.noise.sample(X, rng)

    def copies(self, X: Array) -> Array:
        """Return the fixed draws, shape (n_samples, n, d); for points on a device, they are drawn on the host."""
        rng, host = np.random.default_rng(self.seed), to_numpy(X)
        copies: Array = like(np.stack([self.noise.sample(host, rng) for _ in range(self.n_samples)]), X)
        return copies
