"""Two samples in pairs, such as before and after: the rows of a pair are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from ...core.array import Array, slices
from ...kernels import Kernel
from ...kernels.distances import Blocks
from ...plan.plan import serial_blas
from ..low_rank import Coordinates
from ..null import Null
from ..permutations import SignFlips
from ..problem import KernelSide
from ..resampling_options import Resampling
from ..samples import in_fixed_order
from ..statistics import StatisticForm, check_kind, named, ties
from ..units.forms import gram_forms

_STRIP = 64


@final
@dataclass(frozen=True)
class PairDifference(Kernel):
    """The kernel ⟨k(x, ·) - k(y, ·), k(x', ·) - k(y', ·)⟩ of pairs, in tables of 2d columns: first x, then y.

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


@final
@dataclass(frozen=True)
class PairedDesign:
    """Two samples in pairs."""

    samples: tuple[Array, Array]
    """In an order that does not depend on which came first."""
    notes: tuple[str, ...] = ()
    """Notes for the reader."""

    methods: ClassVar[tuple[str, str]] = (
        "Paired two-sample test by sign flips, maximum mean discrepancy",
        "Adaptive paired test, maximum mean discrepancies",
    )
    plain_only: ClassVar[str | None] = "pairs"
    pool: ClassVar[str] = "the pairs"

    @classmethod
    def of(cls, samples: tuple[Array, Array]) -> Self:
        """Check that both have equally many rows."""
        X, Y = samples
        if len(X) != len(Y) or len(X) < 2:
            raise ValueError(f"X has {len(X)} rows and Y has {len(Y)}; pairs need as many of both, at least two")
        return cls(in_fixed_order(X, Y))

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return MMD² of every kernel under the same flips, ``values`` of shape (kernels, P), observed first."""
        check_kind(statistic)
        (pooled,), n, resources = tables, len(self.samples[0]), how.resources
        X, Y = pooled[:n], pooled[n:]
        flips = SignFlips.choose(n, how.n_resamples, how.rng, how.scheme)
        side = _differences(X, Y, kernels)
        with serial_blas:
            forms = gram_forms(side.unshifted(), resources)
            raw = np.concatenate([forms.forms(signs) for signs in flips.batches(forms.batch)], axis=1)
        trace = forms.diagonal.sum(axis=1)[:, None]
        values = raw / n**2 if statistic == "v" else (raw - trace) / (n * (n - 1))
        scale = np.array([(kernel.diag(X) + kernel.diag(Y)).mean() for kernel in kernels])
        slack, name = ties(values, np.abs(scale)), named("MMD²", statistic)
        return Null(values, slack, name, "exact" if flips.exact else "random")


def _differences(X: Array, Y: Array, kernels: Sequence[Kernel]) -> KernelSide:
    """Return L; kernels that are sums over columns have it in the differences of the rows."""
    if all(isinstance(kernel, Coordinates) for kernel in kernels):
        return KernelSide(X - Y, tuple(kernels))
    return KernelSide(np.hstack([X, Y]), tuple(PairDifference(kernel, X.shape[1]) for kernel in kernels))
