"""The definition of the leave-one-out score; tests compare every shortcut with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.array import Array
from ...embedding.embedding import Embedding, embed

Fit = Callable[[Array], Embedding]


def leave_one_out(fit: Fit, X: Array) -> float:
    r"""Return :math:`\frac1n Σ_i |k(x_i, ·) - \hat μ^{(-i)}|^2`, refitting without each point in turn.

    Parameters
    ----------
    fit : callable
        Takes the indices of the points that stay, shape (n-1,), and returns the embedding estimated from them.
    X : array of shape (n, d)

    Notes
    -----
    n fits and O(n³) kernel evaluations. Xia et al. (2021), eq. (24).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> round(leave_one_out(lambda rest: embed(X[rest], Gaussian(1.0)), X), 4)
    1.1235
    """
    everyone = np.arange(len(X))
    losses = []
    for i in everyone:
        estimate = fit(np.delete(everyone, i))
        target = embed(X[i : i + 1], estimate.kernel)
        losses.append(target @ target - 2 * (target @ estimate) + estimate @ estimate)
    return float(np.mean(losses))
