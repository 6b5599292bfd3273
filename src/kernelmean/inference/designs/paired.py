"""Two samples in pairs, such as before and after: pairs are exchanged within themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from ...core.array import Array, RngLike, as_rng, slices
from ...estimators import KernelMean
from ...estimators.options import KernelLike
from ...kernels import Kernel
from ...kernels.base import Blocks
from ...plan.tiles import serial_blas
from ..adaptive import Adaptive, as_adaptive
from ..adaptive_mmd import adaptive_mmd
from ..engine import check_memory, check_n_resamples, check_resources
from ..kernel_choice import ESTIMATORS, KernelOf, choose_kernel, median_rows
from ..null import Null
from ..problem import KernelSide
from ..result import TestResult
from ..samples import check_samples, in_fixed_order
from ..statistics import Kind, check_kind, ties
from ..units import is_default, units_notes
from .forms import forms_bytes, gram_forms
from .relabelings import SignFlips

_STRIP = 64


@final
@dataclass(frozen=True)
class PairDifference(Kernel):
    """The kernel ⟨k(x, ·) - k(y, ·), k(x', ·) - k(y', ·)⟩ of pairs, tables of 2d columns: those of x, then those of y.

    Examples
    --------
    >>> from kernelmean.kernels import Linear
    >>> PairDifference(Linear(), 1)(np.array([[1.0, 3.0]]), np.array([[5.0, 0.0]]))
    array([[-10.]])
    """

    kernel: Kernel
    dim: int

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        return self.blocks(X, Y)(slice(None), slice(None))

    def diag(self, X: Array) -> Array:
        """Return k(x, x) + k(y, y) - 2 k(x, y) of every pair, shape (n,)."""
        first, second = X[:, : self.dim], X[:, self.dim :]
        tiles = self.kernel.blocks(first, second)
        cross = [np.diagonal(tiles(rows, rows)) for rows in slices(len(X), _STRIP)]
        return np.asarray(self.kernel.diag(first) + self.kernel.diag(second) - 2 * np.concatenate(cross))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the four Gram matrices of which it is the sum."""
        d, k = self.dim, self.kernel
        xx, yy = k.blocks(X[:, :d], Y[:, :d]), k.blocks(X[:, d:], Y[:, d:])
        xy, yx = k.blocks(X[:, :d], Y[:, d:]), k.blocks(X[:, d:], Y[:, :d])
        return lambda i, j: xx(i, j) + yy(i, j) - xy(i, j) - yx(i, j)


def paired_mmd_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    estimator: str | KernelMean | KernelOf | Adaptive | None = None,
    statistic: Kind = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether the two halves of pairs come from one law, by MMD² and exact exchanges within pairs.

    With :math:`L_{ij} = k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(y_i, x_j)` and signs s,

    .. math:: \mathrm{MMD}_V^2 = s^⊤ L s / n^2, \qquad \mathrm{MMD}_U^2 = (s^⊤ L s - \mathrm{tr} L) / (n (n-1)) ,

    s = 1 as observed; -1 exchanges the two halves of a pair.

    Parameters
    ----------
    X, Y : array of shape (n, d), or data frame
        Row i of X and row i of Y are one pair, such as one patient before and after.
    kernel, bandwidth, estimator
        As in :func:`kernelmean.mmd_test`.
    statistic : {"u", "v"}
        Unbiased for independent pairs, or the V-statistic, which is that of :func:`kernelmean.mmd_test`. Both have
        the same p-value.
    scheme : {"auto", "exact", "random"}
        All 2ⁿ flips, of which s and -s give the same value so that 2ⁿ⁻¹ are enumerated, or random ones; "auto"
        enumerates when there are at most n_resamples + 1.
    n_resamples, rng, n_jobs, memory
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``sizes`` is the number of pairs.

    Raises
    ------
    ValueError
        When the rows or columns differ in number, there are fewer than two pairs, or a value is not finite.
    MemoryError
        When more than ``memory`` is needed.

    Notes
    -----
    Exact where (x, y) and (y, x) have the same law, whatever joins the two; more powerful than the test for two
    samples where the halves of a pair resemble each other. O(n² d) time and one matrix product for all flips, O(n r)
    on low-rank factors; memory never O(n²). Gretton et al. (2012), section 2; Hemerik & Goeman (2018) for groups.

    Examples
    --------
    >>> before = np.random.default_rng(0).standard_normal((30, 1))
    >>> paired_mmd_test(before, before + 0.5, rng=0).pvalue < 0.01
    True
    """
    default = is_default(kernel, bandwidth, estimator)
    notes = units_notes(X, Y) if default else ()
    estimator = "kme" if estimator is None else estimator
    X, Y = check_samples(X, Y)
    if len(X) != len(Y) or len(X) < 2:
        raise ValueError(f"X has {len(X)} rows and Y has {len(Y)}; pairs need as many of both, and two at least")
    check_kind(statistic)
    X, Y = in_fixed_order(X, Y)
    generator = as_rng(rng)
    options: dict[str, Any] = {
        "statistic": statistic,
        "n_resamples": n_resamples,
        "n_jobs": n_jobs,
        "memory": memory,
    }
    adaptive = as_adaptive(estimator, kernel, bandwidth, ESTIMATORS)
    if adaptive is not None:
        found = adaptive_mmd((X, Y), adaptive, partial(paired_null, **options), scheme, generator)
        return replace(found, method="Adaptive paired test, maximum mean discrepancies", sizes=(len(X),))
    assert not isinstance(estimator, Adaptive)  # told apart above; for the type checker
    pooled = np.concatenate([X, Y])
    chosen = choose_kernel(pooled, kernel, bandwidth, estimator, median_rows(len(pooled), generator), "the pairs")
    null = paired_null(X, Y, [chosen.kernel], scheme=scheme, rng=generator, **options)
    return TestResult(
        method="Paired two-sample test by sign flips, maximum mean discrepancy",
        kernel=chosen.kernel,
        noise=chosen.noise,
        sizes=(len(X),),
        notes=chosen.notes + notes,
        **null.outcome(0),
    )


def paired_null(
    X: Array,
    Y: Array,
    kernels: Sequence[Kernel],
    *,
    statistic: Kind = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> Null:
    """Return MMD² of every kernel under the same flips, ``values`` of shape (kernels, P), observed first."""
    n, resources = len(X), check_resources(n_jobs, memory)
    flips = SignFlips.choose(n, check_n_resamples(n_resamples), as_rng(rng), scheme)
    needed = forms_bytes(n, 4 * X.shape[1], flips.count, len(kernels), resources)
    check_memory(needed, resources, "the test", n)
    side = KernelSide(np.hstack([X, Y]), tuple(PairDifference(kernel, X.shape[1]) for kernel in kernels)).unshifted()
    with serial_blas:
        forms = gram_forms(side, resources)
        raw = np.concatenate([forms.forms(signs) for signs in flips.batches(forms.batch)], axis=1)
    trace = forms.diagonal.sum(axis=1)[:, None]
    values = raw / n**2 if statistic == "v" else (raw - trace) / (n * (n - 1))
    scale = np.array([(kernel.diag(X) + kernel.diag(Y)).mean() for kernel in kernels])
    name = "MMD² (unbiased)" if statistic == "u" else "MMD² (V-statistic)"
    return Null(values, ties(values, np.abs(scale)), name, "exact" if flips.exact else "random", needed)
