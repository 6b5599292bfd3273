"""Two samples in pairs, such as before and after: the rows of a pair are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...kernels import Kernel
from ...kernels.distances import Blocks
from ...plan.plan import serial_blas
from ...tables.shuffle import shuffled
from ..low_rank import Coordinates
from ..null import Null
from ..permutations import BINS, EXACT, RANDOM, SignFlips
from ..problem import KernelSide
from ..resampling import Resampling
from ..samples import in_fixed_order
from ..statistics import StatisticForm, check_kind, named, ties
from ..units.dealing import MOST_BINS
from ..units.kernel_sums import KernelSums, kernel_sums
from ..units.layout import Layout

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

    @property
    def in_outline(self) -> Self:
        """Return the same without its rows, for the result of a test that did not hold them."""
        return replace(self, samples=(self.samples[0][:0], self.samples[1][:0]))

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return MMD² of every kernel under the same flips, ``values`` of shape (kernels, P), observed first."""
        (pooled,), n = tables, len(self.samples[0])
        X, Y = pooled[:n], pooled[n:]
        layout = Layout.of(np.zeros(n, dtype=np.intp), np.ones(n))
        if how.scheme == "auto" and n > MOST_BINS:
            dealt = PairRows(n, int(how.rng.integers(2**63)))
            layout = layout.joined(np.argsort(dealt.of(0, 0, n)[0], kind="stable"), dealt.held)
        with serial_blas:
            sums = kernel_sums(_differences(X, Y, kernels), layout, how.resources)
            scale = np.array([(kernel.diag(X) + kernel.diag(Y)).mean() for kernel in kernels])
            return signed_null(sums, scale, statistic, how, binned=layout.binned)


@final
@dataclass(frozen=True)
class PairRows:
    """Pairs that are dealt to bins by their numbers, if they are many: all pairs of a bin are exchanged at a time.

    Such exchanges form a group, so a test by them is exact; bins need not be of one size.
    """

    n: int
    seed: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of pairs."""
        return (self.n,)

    @property
    def count(self) -> int:
        """The number of bins."""
        return min(self.n, MOST_BINS)

    @property
    def held(self) -> IntArray:
        """The pairs of every bin."""
        return np.diff(-(-np.arange(self.count + 1) * self.n // self.count))

    def of(self, sample: int, start: int, stop: int) -> tuple[IntArray, None]:
        """Return the bins of some pairs."""
        del sample
        return shuffled(np.arange(start, stop), self.n, self.seed) * self.count // self.n, None

    def only(self, sample: int, start: int, stop: int) -> PairRows:
        """Return all: it is small."""
        del sample, start, stop
        return self


def signed_null(
    sums: KernelSums, scale: Array, statistic: StatisticForm, how: Resampling, *, binned: bool = True
) -> Null:
    """Return MMD² of pairs from the sums of their differences over units, whose signs change.

    The sums are given less the mean of all differences, which does not cancel and is added to them again. ``scale`` is
    k(x, x) + k(y, y) on average, for rounding errors.
    """
    check_kind(statistic)
    masses, n = sums.masses, round(float(sums.masses.sum()))
    flips = SignFlips.choose(len(masses), how.n_resamples, how.rng, how.scheme)
    toward = sums.means - masses * sums.mean[:, None]

    def squares(signs: Array) -> Array:
        mass = masses @ signs
        return sums.forms.forms(signs) + 2 * mass * (toward @ signs) + mass**2 * sums.mean[:, None]

    raw = np.concatenate([squares(signs) for signs in flips.batches(sums.forms.batch)], axis=1)
    trace = (sums.forms.diagonal + 2 * sums.means).sum(axis=1) - n * sums.mean
    values = raw / n**2 if statistic == "v" else (raw - trace[:, None]) / (n * (n - 1))
    scheme = BINS if binned else EXACT if flips.exact else RANDOM
    return Null(values, ties(values, np.abs(scale)), named("MMD²", statistic), scheme)


def _differences(X: Array, Y: Array, kernels: Sequence[Kernel]) -> KernelSide:
    """Return L; kernels that are sums over columns have it in the differences of the rows."""
    if all(isinstance(kernel, Coordinates) for kernel in kernels):
        return KernelSide(X - Y, tuple(kernels))
    return KernelSide(np.hstack([X, Y]), tuple(PairDifference(kernel, X.shape[1]) for kernel in kernels))
