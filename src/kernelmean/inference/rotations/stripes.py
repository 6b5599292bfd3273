r"""Rotations within stripes of pairs, added up batch by batch, in memory that does not grow with the rows.

Rotation by k places pairs x number i of a stripe with y number i + k. The stripes of a *wheel* have one length and turn
together, and every wheel turns on its own. All rotations of the wheels are a group of permutations of the rows of Y, so
the p-value is exact, with the whole group or with any number of arrangements drawn from it, the observed one first.

For every pair of columns and every wheel the sums of products over all stripes are held as Fourier transforms. With
these, for all pairs of kernels and all arrangements π,

.. math:: \mathrm{HSIC}(π) = Σ_{rq} v_r w_q \Big( \frac 1n Σ_i φ_r(x_i) ψ_q(y_{π(i)}) - \bar φ_r \bar ψ_q \Big)^2 .
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from ...core.array import Array, IntArray, in_host_memory, namespace, slices, to_numpy
from ...core.sums import conjugate, stripe_products, stripe_transforms, turned
from ...plan.plan import DEFAULT, Plan
from ..low_rank_problem import weighted_norms
from ..null import Null
from ..permutations import BINS
from ..statistics import HSIC, Sums
from ..units.kernel_sums import Block

_AT_ONCE, _ON_A_DEVICE = 2**14, 2**16
"""Rows whose transforms are held at a time,"""
_MOST_NUMBERS = 2**24
"""and the most of their features."""
_ENTRIES = 2**17
"""Sums of products under all arrangements at a time: they stay in the cache of a processor."""

Complex = npt.NDArray[np.complex128]


class Featured(Protocol):
    """Columns of some rows, block by block."""

    @property
    def size(self) -> int:
        """The number of columns."""

    @property
    def blocks(self) -> Sequence[Block]:
        """Which of them belong together."""

    def at(self, rows: Any) -> Iterator[tuple[Block, Array]]:
        """Yield the columns of any rows, block by block, shape (columns, n): points (n, d), or numbers of rows."""


@final
@dataclass(frozen=True)
class BlockPair:
    """Columns of X and columns of Y whose products are needed, and the pairs of kernels on them.

    They are the first columns of their blocks, as many as there are weights.
    """

    left: int
    """Which block of X."""
    right: int
    numbers: IntArray
    """The positions of the pairs of kernels among all, shape (k,)."""
    weights: tuple[Array, Array]
    """The weights of the columns, shapes (k, columns of X) and (k, columns of Y)."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of columns of X and of Y."""
        left, right = self.weights
        return left.shape[1], right.shape[1]


def memory_of(pairs: Sequence[BlockPair], numbers: int) -> float:
    """Return the bytes of sums that hold so many numbers for the product of two columns."""
    return 8.0 * numbers * sum(left * right for left, right in (pair.shape for pair in pairs))


def turns_of(n_resamples: int, lengths: Sequence[int], rng: np.random.Generator) -> IntArray:
    """Return random rotations of every wheel after the observed arrangement, shape (n_resamples + 1, wheels)."""
    turns = rng.integers(np.array(lengths), size=(n_resamples + 1, len(lengths)))
    turns[0] = 0
    return turns


@final
@dataclass(eq=False)
class StripeSums:
    """Sums over the rows of X and of Y that belong together; of no rows at first."""

    x: Featured
    y: Featured
    """The same object as ``x`` if columns of one table meet each other: their features are then computed once."""
    pairs: Sequence[BlockPair]
    lengths: tuple[int, ...]
    """The rows of a stripe of every wheel."""
    rows: int = 0
    """How many rows were added."""
    products: list[list[Complex]] = field(init=False)
    """For every wheel and pair of blocks the transforms of the sums, shape (length // 2 + 1, r, q)."""
    fixed: list[Array] = field(init=False)
    """Sums over rows outside all stripes, shape (r, q)."""
    margins: tuple[Array, Array] = field(init=False)
    """The sums of the columns of X and of Y."""
    _stripes: int = 0

    def __post_init__(self) -> None:
        shapes = [pair.shape for pair in self.pairs]
        self.products = [
            [np.zeros((length // 2 + 1, *shape), np.complex128) for shape in shapes] for length in self.lengths
        ]
        self.fixed = [np.zeros(shape) for shape in shapes]
        margins = np.zeros(self.x.size)
        self.margins = margins, margins if self.y is self.x else np.zeros(self.y.size)

    def state(self) -> list[Array]:
        """Return all that was added up."""
        waves = [products.view(np.float64) for wheel in self.products for products in wheel]
        return [np.array([self.rows]), *self.margins, *self.fixed, *waves]

    def restore(self, arrays: list[Array]) -> None:
        """Continue from what was added up elsewhere."""
        rows, x, y, *sums = arrays
        self.rows, self.margins, count = int(rows[0]), (x, y), len(self.pairs)
        self.fixed = sums[:count]
        waves = [np.ascontiguousarray(products).view(np.complex128) for products in sums[count:]]
        self.products = [waves[part] for part in slices(len(waves), count)]

    def __add__(self, other: StripeSums) -> StripeSums:
        """Return the sums over the rows of both, which are different rows of two variables."""
        merged = StripeSums(self.x, self.y, self.pairs, self.lengths)
        merged.restore([one + two for one, two in zip(self.state(), other.state(), strict=True)])
        return merged

    # -- adding rows --------------------------------------------------------------------------------------------------

    def add(self, X: Array, Y: Array, plan: Plan = DEFAULT) -> None:
        """Add whole stripes, in turn to every wheel, and at the end fewer rows, which keep their partners.

        All wheels have one length.
        """
        length, wheels, rows = self.lengths[0], len(self.lengths), X.shape[0]
        whole = rows // length * length
        most = _AT_ONCE if in_host_memory(X) else _ON_A_DEVICE
        numbers = max(1, self.x.size if self.y is self.x else self.x.size + self.y.size)
        at_once = wheels * max(1, min(most, _MOST_NUMBERS // numbers) // (wheels * length))
        for part in slices(whole, at_once * length):
            for wheel in range(wheels):
                first = (wheel - self._stripes) % wheels
                left = _every(X[part, :], length, first, wheels)
                right = left if Y is X else _every(Y[part, :], length, first, wheels)
                if left.shape[0]:
                    self.add_stripes(wheel, left, right, plan)
            self._stripes += (part.stop - part.start) // length
        if whole < rows:
            left = X[whole:, :]
            self.add_fixed(left, left if Y is X else Y[whole:, :])

    def add_stripes(self, wheel: int, X: Any, Y: Any, plan: Plan = DEFAULT) -> None:
        """Add rows that are whole stripes of a wheel, one after the other."""
        self.rows += X.shape[0]
        length = self.lengths[wheel]
        right = [stripe_transforms(values, length) for values in self._summed(self.y, Y, 1)]
        if self._alike(X, Y):
            left = [conjugate(transforms.copy()) for transforms in right]
        else:
            left = [conjugate(stripe_transforms(values, length)) for values in self._summed(self.x, X, 0)]

        def add(job: tuple[BlockPair, Complex]) -> None:
            pair, products = job
            r, q = pair.shape
            products += to_numpy(stripe_products(left[pair.left][:, :, :r], right[pair.right][:, :, :q]))

        for _ in plan.map(add, list(zip(self.pairs, self.products[wheel], strict=True)), X.shape[0] * self.x.size):
            pass

    def add_group(self, number: int, rows: Any, plan: Plan = DEFAULT) -> None:
        """Add rows that meet: whole stripes of the wheel with a number, or behind the last wheel rows alone."""
        if number < len(self.lengths):
            self.add_stripes(number, rows, rows, plan)
        else:
            self.add_fixed(rows, rows)

    def add_fixed(self, X: Any, Y: Any) -> None:
        """Add rows outside all stripes."""
        self.rows += X.shape[0]
        right = list(self._summed(self.y, Y, 1))
        left = right if self._alike(X, Y) else list(self._summed(self.x, X, 0))
        for pair, sums in zip(self.pairs, self.fixed, strict=True):
            r, q = pair.shape
            np.add(sums, to_numpy(left[pair.left][:r] @ right[pair.right][:q].T), out=sums)

    def _alike(self, X: Any, Y: Any) -> bool:
        """Whether X and Y are the same columns of the same rows."""
        return self.x is self.y and X is Y

    def _summed(self, columns: Featured, rows: Any, side: int) -> Iterator[Array]:
        """Yield the columns of every block, and add them to the margins."""
        for block, values in columns.at(rows):
            self.margins[side][block.place] += to_numpy(namespace(values).sum(values, axis=1))
            yield values

    # -- statistics ---------------------------------------------------------------------------------------------------

    def null(self, turns: IntArray | None = None, numbers: Sequence[int] | None = None) -> Null:
        """Return the V-statistics of HSIC of all pairs of kernels, the observed arrangement first.

        A kernel with columns in several blocks has the sum of what these add.

        Parameters
        ----------
        turns : array of int, shape (P, wheels), optional
            How many places every wheel turns in each arrangement; by default all rotations of a single wheel.
        numbers : sequence of int, optional
            Some of the pairs of blocks, all by default.
        """
        numbers = range(len(self.pairs)) if numbers is None else numbers
        count = 1 + max(int(self.pairs[number].numbers.max()) for number in numbers)
        values = np.zeros((count, self.lengths[0] if turns is None else len(turns)))
        for number in numbers:
            values[self.pairs[number].numbers] += self._norms(number, turns, values.shape[1])
        measure = HSIC(self.rows, "v")
        sums = Sums(values, values, values.max(axis=1) * self.rows, np.ones(len(values)))
        return Null(values, measure.tolerance(values, sums), measure.name, BINS)

    def values(self, turns: IntArray, numbers: Sequence[int] | None = None) -> Array:
        """Return these statistics, shape (k, P)."""
        return self.null(turns, numbers).values

    def _norms(self, number: int, turns: IntArray | None, count: int) -> Array:
        """Return Σ_rq v_r w_q E_rq² of the covariances E of a pair of blocks under all arrangements, shape (k, P)."""
        pair, (r, q) = self.pairs[number], self.pairs[number].shape
        left = self.margins[0][self.x.blocks[pair.left].place][:r] / self.rows
        right = self.margins[1][self.y.blocks[pair.right].place][:q] / self.rows
        norms = np.zeros((len(pair.numbers), count))
        for part in slices(r, max(1, _ENTRIES // (q * count))):
            covariances = self._sums_of_products(number, part, turns)
            covariances /= self.rows
            covariances -= np.multiply.outer(left[part], right)[:, :, None]
            norms += weighted_norms(pair.weights, covariances, part)
        return norms

    def _sums_of_products(self, number: int, part: slice, turns: IntArray | None) -> Array:
        """Return the sums of products of some columns of X with all of Y in a pair of blocks, shape (r, q, P)."""
        total: Any = self.fixed[number][part][:, :, None]
        for wheel, length in enumerate(self.lengths):
            sums = turned(self.products[wheel][number][:, part], length)
            total = total + (sums if turns is None else sums.take(turns[:, wheel], axis=2))
        return np.asarray(total)


def _every(rows: Array, length: int, first: int, step: int) -> Array:
    """Return every so many stripes of some rows."""
    if step == 1:
        return rows
    return rows.reshape(-1, length, rows.shape[1])[first::step].reshape(-1, rows.shape[1])
