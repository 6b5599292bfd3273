"""The rational quadratic kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ..core.array import Array, full, like, overwritten, precision
from ..core.validate import as_value, check_positive
from .bandwidth import check_axes
from .base import Blockwise, Kernel, WithBandwidth, as_rows
from .distances import Blocks, recentered, squared_distance_blocks


@final
@dataclass(frozen=True)
class RationalQuadratic(WithBandwidth, Blockwise):
    r"""The kernel :math:`k(x, y) = (1 + \frac{1}{2α} \sum_j (x_j - y_j)^2 / θ_j^2)^{-α}`.

    Parameters
    ----------
    bandwidth : float, array of shape (d,), or str
        θ, in the units of X: one for all axes, one per axis, or a rule as in :func:`kernelmean.median_bandwidth`.
    alpha : float
        α, how fast the tails fall; the Gaussian kernel of bandwidth θ is the limit of large α.

    Raises
    ------
    ValueError
        When a bandwidth or α is not positive and finite.

    Notes
    -----
    A mixture of Gaussian kernels of all bandwidths, without a closed form under noise. O(n m d) time by one matrix
    product, O(n m) memory. Rasmussen and Williams (2006), eq. (4.19).

    Examples
    --------
    >>> import numpy as np
    >>> RationalQuadratic(1.0, 0.5)(np.array([[0.0]]), np.array([[1.0]]))
    array([[0.70710678]])
    """

    bandwidth: Any
    alpha: float

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return (cls(1.0, 1.0),)

    def __post_init__(self) -> None:
        alpha = check_positive(self.alpha, "alpha")
        if alpha.ndim:
            raise ValueError(f"alpha is {self.alpha!r}, one number is needed")
        object.__setattr__(self, "alpha", as_value(alpha))
        super().__post_init__()

    def diag(self, X: Array) -> Array:
        """Return ones, shape (n,)."""
        return full(as_rows(X), 1.0)

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the Gram matrix of slices from squared distances."""
        scale = np.sqrt(2.0 * self.alpha) * check_axes(self.bandwidth, X.shape[1])
        scaled = [Z / like(scale, Z) for Z in recentered(X, Y)]
        squared = squared_distance_blocks(scaled[0], scaled[1], floor=1.0, dtype=precision(X))

        def block(i: slice, j: slice) -> Array:
            gram = overwritten("log1p", squared(i, j))
            gram *= -self.alpha
            return overwritten("exp", gram)

        return block
