"""The kernel between rows in which some cells are noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from ...expected import expected_blocks
from ...kernels import Gaussian, Kernel
from ...kernels.distances import Blocks
from ...noise import Normal


@final
@dataclass(frozen=True)
class NoisyRows(Kernel):
    r"""The kernel :math:`E\,k(x + ε, y + η)` between rows that carry the variances of their own noise.

    A row is (x, e): d coordinates, and the d variances of ε ~ N(0, diag e). Noise of different rows is independent, and
    so are the two draws for a row with itself. So the matrix is the Gram matrix of the kernel means of the rows'
    distributions: it is positive semi-definite, and a test may permute the rows, each with its noise.

    Examples
    --------
    >>> NoisyRows(Gaussian(1.0))(np.array([[0.0, 3.0]]), np.array([[0.0, 0.0]]))
    array([[0.5]])
    """

    kernel: Gaussian
    """On the d coordinates."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m), of rows of shape (2 d,)."""
        return self.blocks(X, Y)(slice(None), slice(None))

    def diag(self, X: Array) -> Array:
        """Return E k(x + ε, x + ε') for independent draws, shape (n,)."""
        squared = np.square(np.asarray(self.kernel.bandwidth))
        variances = _halves(X)[1]
        return np.asarray(np.exp(-0.5 * np.log1p(2.0 * variances / squared).sum(axis=1)))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Separate coordinates and variances once, and prepare the expectation."""
        (points, variances), (others, other_variances) = _halves(X), _halves(Y)
        noises = Normal.diagonal(variances), Normal.diagonal(other_variances)
        return expected_blocks(self.kernel, points, noises[0], others, noises[1])


def _halves(rows: Array) -> tuple[Array, Array]:
    if rows.shape[1] % 2:
        raise ValueError(f"rows of {rows.shape[1]} numbers were passed; d coordinates and d variances are needed")
    dim = rows.shape[1] // 2
    return rows[:, :dim], rows[:, dim:]
