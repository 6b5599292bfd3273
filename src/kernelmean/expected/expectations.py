"""Expectations of a kernel under noise, found in tables of rules.

``difference(v, w)`` is the distribution of ε - ε'. ``smoothed(kernel, noise)`` is a kernel again. ``expected(kernel, X,
Y, v, w)`` has one rule for all stationary kernels and additive noises, ``smoothed(k, difference(v, w))``, and others
for a noise that is not additive or not shared by all points, or a kernel that is not stationary. A missing pair raises
an error; nothing is silently approximated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isabstract

from ..core.array import Array, full, joined, of_one_type, slices
from ..core.points import named_points, points_like
from ..core.type_rules import NoClosedFormError, Rules
from ..core.validate import check_same_columns
from ..kernels.base import Kernel, Stationary, check_kernel
from ..kernels.distances import Blocks
from ..noise.base import Additive, Noise, common
from ..noise.dirac import Dirac

difference_rules: Rules[Callable[..., Noise]] = Rules("difference")
smoothed_rules: Rules[Callable[..., Kernel]] = Rules("smoothed")
blocks_rules: Rules[Callable[..., Blocks]] = Rules("expected")
per_point_rules: Rules[Callable[..., Blocks]] = Rules("expected, per point")


def difference(v: Noise, w: Noise) -> Noise:
    """Return the distribution of ε - ε' for independent ε ~ v and ε' ~ w, both additive and symmetric.

    Examples
    --------
    >>> from kernelmean.noise import Normal
    >>> difference(Normal(1.0), Normal(2.0))
    Normal(3.)
    """
    common((v, w), "dim")
    rule = difference_rules.find(v, w)
    if rule is None:
        raise NoClosedFormError(f"the difference of {v!r} and {w!r} has no closed form; both must be additive")
    return rule(v, w)


def smoothed(kernel: Kernel, noise: Noise, dim: int) -> Kernel:
    r"""Return the kernel :math:`\tilde k(x, y) = E\,k(x + ε, y)`, ε from an additive ``noise``.

    Parameters
    ----------
    kernel : Kernel
    noise : Noise
        Additive and shared by all points.
    dim : int
        The number of columns d; the normalising constant depends on it.

    Raises
    ------
    TypeError
        When the pair has no closed form; the message names the alternatives.

    Notes
    -----
    Smoothing multiplies the kernel's spectrum by the noise's characteristic function, so smoothing twice is the same as
    smoothing once by the sum of the noises. Smoothed by the distribution of ε - ε' (the same noise on both sides), the
    kernel stays positive semi-definite. Smoothed by a noise on one side, it may not: the characteristic function of
    Uniform noise changes sign.

    Examples
    --------
    >>> from kernelmean.kernels import Gaussian
    >>> from kernelmean.noise import Normal
    >>> smoothed(Gaussian(1.0), Normal(3.0), dim=1)
    0.5 * Gaussian(bandwidth=2.0)
    """
    check_dim(noise, dim)
    if isinstance(noise, Dirac):
        return kernel
    rule = smoothed_rules.find(kernel, noise)
    if rule is None:
        raise NoClosedFormError(missing(kernel, noise))
    return rule(kernel, noise, dim)


def expected(kernel: Kernel, X: Array, Y: Array, v: Noise | None = None, w: Noise | None = None) -> Array:
    r"""Return the matrix :math:`E_{ij} = E\,k(\tilde x_i, \tilde y_j)`, with independent noise on both sides.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n, d)
    Y : array of shape (m, d)
    v, w : Noise, optional
        The distributions of x̃ around x and of ỹ around y, None for no noise. The two are independent, also for i = j.

    Returns
    -------
    array of shape (n, m)

    Raises
    ------
    ValueError
        When X and Y differ in their columns, or a noise is made for another number of columns or of points.
    TypeError
        When there is no closed form. For explicit Monte Carlo, pass ``noise.Sampled``.

    Notes
    -----
    O(n m d) time for shared noise, O(n (d³ + m d²)) with one full covariance per point on one side. In Xia et al.
    (2021), this is L with one noisy side, eq. (26), and Q with two, eq. (27).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.kernels import Gaussian
    >>> from kernelmean.noise import Normal
    >>> expected(Gaussian(1.0), np.zeros((1, 1)), np.zeros((1, 1)), v=Normal(3.0))
    array([[0.5]])
    """
    X, names = named_points(X, "X")
    Y = points_like(Y, names, "Y", "X")
    check_same_columns(X, Y)
    v, w = (Dirac() if noise is None else noise for noise in (v, w))
    return expected_blocks(kernel, X, v, Y, w)(slice(None), slice(None))


def expected_blocks(kernel: Kernel, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    """Prepare ``f(i, j) = expected(kernel, X[i], Y[j], v, w)`` for slices; work common to all blocks is done once."""
    check_kernel(kernel)
    check_noise(v, *X.shape)
    check_noise(w, *Y.shape)
    X, Y = of_one_type(X, Y)
    if isinstance(v, Dirac) and isinstance(w, Dirac):
        return kernel.blocks(X, Y)
    rule = blocks_rules.find(kernel, v, w)
    if rule is None:
        raise NoClosedFormError(missing(kernel, v, w))
    return rule(kernel, X, v, Y, w)


def expected_diag(kernel: Kernel, X: Array, v: Noise, w: Noise) -> Array:
    """Return E k(x̃_i, x̃'_i) for two independent noisy copies of the same points, shape (n,)."""
    shared = v.per_point is None and w.per_point is None
    if shared and isinstance(kernel, Stationary) and isinstance(v, Additive) and isinstance(w, Additive):
        return full(X, float(expected(kernel, X[:1, :], X[:1, :], v, w)[0, 0]))
    block = expected_blocks(kernel, X, v, X, w)
    diagonal: Array = joined([block(row, row)[0, :] for row in slices(X.shape[0], 1)])
    return diagonal


def check_noise(noise: Noise, n: int, dim: int) -> None:
    """Raise when ``noise`` is not a noise, or does not fit the number of points or columns."""
    if not isinstance(noise, Noise):
        raise TypeError(f"noise is {noise!r}, None or a value such as noise.Normal(0.1) is needed")
    check_dim(noise, dim)
    if noise.per_point not in (None, n):
        raise ValueError(f"{noise!r} has {noise.per_point} distributions for {n} points; one per point is needed")


def check_dim(noise: Noise, dim: int) -> None:
    """Raise when a noise is made for another number of columns."""
    if noise.dim not in (None, dim):
        raise ValueError(
            f"{noise!r} is made for {noise.dim} columns, the data have {dim}; give it one value per column"
        )


@blocks_rules.register(Stationary, Additive, Additive)
def _stationary(kernel: Kernel, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    if v.per_point is None and w.per_point is None:
        return smoothed(kernel, difference(v, w), X.shape[1]).blocks(X, Y)
    rule = per_point_rules.find(kernel, v, w)
    if rule is None:
        raise NoClosedFormError(missing(kernel, v, w))
    return rule(kernel, X, v, Y, w)


@difference_rules.register(Dirac, Additive)
@difference_rules.register(Dirac, Dirac)
def _left_dirac(v: Noise, w: Noise) -> Noise:
    del v
    return w


@difference_rules.register(Additive, Dirac)
def _right_dirac(v: Noise, w: Noise) -> Noise:
    del w
    return v


def missing(kernel: Kernel, *noises: Noise) -> str:
    """Return the error message for a missing closed form: what was asked, what exists, what to write instead."""
    noisy = [noise for noise in noises if not isinstance(noise, Dirac)]
    rules = [names for names in smoothed_rules if isinstance(kernel, names[0])]
    has_own = any(names[0] is not Stationary for names in rules)  # else only sums of noises, term by term
    known = sorted({names[1].__name__ for names in rules if has_own and not isabstract(names[1])})
    exists = f"closed forms of this kernel exist for {', '.join(known)}" if known else "none is known"
    return (
        f"E k has no closed form here for {type(kernel).__name__} under {' and '.join(map(repr, noisy))}; {exists}; "
        f"kernelmean.support() lists all; for explicit Monte Carlo write noise.Sampled({noisy[0]!r}, n_samples=256)"
    )


def check_independent(blocks: Sequence[tuple[int, ...]], *noises: Noise) -> None:
    """Raise when a noise may correlate blocks of columns, whose expectations are multiplied."""
    for noise in noises:
        if len(blocks) > 1 and not noise.is_independent(blocks):
            raise NoClosedFormError(
                f"{noise!r} correlates columns whose expectations are taken apart here, or does not say that they are "
                f"independent; use one in which they are, such as a covariance that is block-diagonal in the same "
                f"columns, or noise.Sampled({noise!r}, n_samples=256)"
            )
