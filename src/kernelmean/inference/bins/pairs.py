"""Pairs as sums of products of features, under rotations of one variable against the other within stripes of rows.

A stripe has as many consecutive pairs as there are rotations; rotation k pairs x number i of a stripe with y number i +
k. Windows of consecutive rows are shuffled by the seed before they are cut into stripes, so the order of the rows
within a window does not matter. The rotations are a group of permutations of the rows of Y: the p-value is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft, next_fast_len

from ...core.array import Array, IntArray, in_host_memory, namespace, slices, take_rows, to_numpy
from ...core.sums import conjugate_products, stripe_transforms
from ...core.words import passed
from ...kernels import Kernel
from ...plan.plan import DEFAULT, Plan
from ..adaptive.coordinates import Columns, Featured, located
from ..null import Null
from ..permutations import BINS
from ..statistics import HSIC, Sums
from ..units.dealing import PILOT

WINDOW = 64
"""Stripes of a window."""
_AT_ONCE, _ON_A_DEVICE = 2**14, 2**16
"""Rows whose transforms are held at a time."""
_LEAST = 4
_PILOT_WINDOWS = 4

Complex = npt.NDArray[np.complexfloating[Any, Any]]


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

    def statistics(self, gaps: Array) -> Array:
        """Return Σ_rq v_r w_q E_rq² of every pair of kernels, from E of shape (P, r, q), which is overwritten."""
        squares = np.square(gaps, out=gaps).reshape(len(gaps), -1)
        left, right = self.weights
        return np.asarray((left[:, :, None] * right[:, None]).reshape(len(self.numbers), -1) @ squares.T)


def block_pairs(x: Columns, y: Columns, kernels: Sequence[tuple[Kernel, Kernel]]) -> list[BlockPair]:
    """Return which blocks of columns meet for some pairs of kernels."""
    found: dict[tuple[int, int], list[tuple[int, Array, Array]]] = {}
    for number, (left, right) in enumerate(kernels):
        (i, v), (j, w) = located(x.parts, left), located(y.parts, right)
        found.setdefault((i, j), []).append((number, v, w))
    return [
        BlockPair(
            i,
            j,
            np.array([number for number, _, _ in own]),
            (_stacked([v for _, v, _ in own], x, i), _stacked([w for _, _, w in own], y, j)),
        )
        for (i, j), own in found.items()
    ]


def _stacked(weights: Sequence[Array], columns: Columns, block: int) -> Array:
    place = columns.blocks[block].place
    out = np.zeros((len(weights), place.stop - place.start))
    for row, own in zip(out, weights, strict=True):
        row[: len(own)] = own
    return out


def rotations(n: int, n_resamples: int) -> int:
    """Return the number of rotations, the observed one counted: as asked for or a few more, or all rows."""
    return min(n, int(next_fast_len(n_resamples + 1, real=True)))


def memory_of(pairs: Sequence[BlockPair], many: int) -> float:
    """Return the bytes of the sums over ``many`` rotations, and of the statistics made from the largest of them."""
    cells = [left * right for left, right in (pair.shape for pair in pairs)]
    return 8.0 * many * (sum(cells) + 2 * max(cells, default=0))


def pilot_rows(n: int, many: int, seed: int) -> IntArray:
    """Return the ascending numbers of rows that features are fitted to: whole stripes, which rotations keep together.

    They come from four windows up to 4096 rotations, and from fewer beyond that, so that rows may be sorted.
    """
    window = WINDOW * many
    starts = np.arange(0, n - many + 1, window)
    windows = min(_PILOT_WINDOWS, max(1, _PILOT_WINDOWS * PILOT // many))
    chosen = starts[np.unique(np.linspace(0, len(starts) - 1, windows).round().astype(np.intp))]
    each = many * -(-PILOT // (many * len(chosen)))
    orders = [(start, shuffled_window(seed, start // window, min(window, n - start))) for start in chosen.tolist()]
    return np.sort(np.concatenate([start + order[: min(each, len(order) // many * many)] for start, order in orders]))


def shuffled_window(seed: int, number: int, rows: int) -> IntArray:
    """Return the order of the rows of a window before it is cut into stripes."""
    return np.random.default_rng([seed, 1 + number]).permutation(rows)


@final
@dataclass(eq=False)
class PairSums:
    """Sums over the rows of X and of Y that belong together."""

    x: Featured
    y: Featured
    """The same object as ``x`` if columns of one table meet each other: their features are then computed once."""
    pairs: list[BlockPair]
    rotations: int
    seed: int
    products: list[Complex] = field(init=False)
    """For every pair of blocks, Fourier transformed along the rotations, shape (rotations / 2 + 1, r, q)."""
    fixed: list[Array] = field(init=False)
    """The same for rows outside all stripes, which keep their partners, shape (r, q)."""
    margins: tuple[Array, Array] = field(init=False)
    """Sums of the columns of X and of Y."""
    rows: int = 0
    first: int = 0
    """The number of the first window that is added here, if the rows are added in several places."""

    def __post_init__(self) -> None:
        shapes = [pair.shape for pair in self.pairs]
        self.products = [np.zeros((self.rotations // 2 + 1, *shape), np.complex128) for shape in shapes]
        self.fixed = [np.zeros(shape) for shape in shapes]
        margins = np.zeros(self.x.size)
        self.margins = margins, margins if self.y is self.x else np.zeros(self.y.size)

    @classmethod
    def empty(
        cls, x: Columns, y: Columns, kernels: Sequence[tuple[Kernel, Kernel]], many: int, seed: int, first: int = 0
    ) -> Self:
        """Return the sums of no rows, for some pairs of kernels and ``many`` rotations."""
        return cls(x, y, block_pairs(x, y, kernels), many, seed, first=first)

    @staticmethod
    def window_of(many: int) -> int:
        """Return the rows of a window."""
        return WINDOW * many

    @property
    def window(self) -> int:
        """The rows of a window."""
        return self.window_of(self.rotations)

    def state(self) -> list[Array]:
        """Return all that was added up."""
        return [np.array([self.rows]), *self.margins, *self.fixed, *(own.view(np.float64) for own in self.products)]

    def restore(self, arrays: list[Array]) -> None:
        """Continue from what was added up elsewhere."""
        rows, x, y, *sums = arrays
        self.rows, self.margins, count = int(rows[0]), (x, y), len(self.fixed)
        self.fixed = sums[:count]
        self.products = [np.ascontiguousarray(own).view(np.complex128) for own in sums[count:]]

    def __add__(self, other: PairSums) -> PairSums:
        """Return the sums over the rows of both, which are different windows of two variables."""
        merged = PairSums(self.x, self.y, self.pairs, self.rotations, self.seed)
        merged.restore([one + two for one, two in zip(self.state(), other.state(), strict=True)])
        return merged

    def add(self, X: Array, Y: Array, plan: Plan = DEFAULT) -> None:
        """Add the next window of rows; only the very last one may be shorter."""
        order = shuffled_window(self.seed, self.first + self.rows // self.window, X.shape[0])
        whole = len(order) // self.rotations * self.rotations
        most = _AT_ONCE if in_host_memory(X) else _ON_A_DEVICE
        at_once = max(1, most // self.rotations) * self.rotations
        for part in slices(whole, at_once):
            self.add_stripes(take_rows(X, order[part]), take_rows(Y, order[part]), plan)
        if whole < len(order):
            self.add_fixed(take_rows(X, order[whole:]), take_rows(Y, order[whole:]))

    def add_stripes(self, X: Array, Y: Array, plan: Plan = DEFAULT) -> None:
        """Add rows that are whole stripes, one after the other."""
        self.rows += X.shape[0]
        left = self._transformed(self.x, X, 0)
        right = left if self._alike(X, Y) else self._transformed(self.y, Y, 1)

        def add(job: tuple[BlockPair, Complex]) -> None:
            pair, products = job
            r, q = pair.shape
            products += to_numpy(conjugate_products(left[pair.left][:, :, :r], right[pair.right][:, :, :q]))

        for _ in plan.map(add, list(zip(self.pairs, self.products, strict=True)), X.shape[0] * self.x.size):
            pass

    def _alike(self, X: Array, Y: Array) -> bool:
        """Whether X and Y are the same columns of the same rows."""
        return self.x is self.y and X is Y

    def _transformed(self, columns: Featured, rows: Array, side: int) -> list[Complex]:
        """Return the transforms of every block along the stripes, shape (rotations / 2 + 1, stripes, columns)."""
        return [stripe_transforms(values, self.rotations) for values in self._summed(columns, rows, side)]

    def _summed(self, columns: Featured, rows: Array, side: int) -> Iterator[Array]:
        """Yield the columns of every block, and add them to the margins."""
        for block, values in columns.at(rows):
            self.margins[side][block.place] += to_numpy(namespace(values).sum(values, axis=1))
            yield values

    def add_fixed(self, X: Array, Y: Array) -> None:
        """Add rows outside all stripes."""
        self.rows += X.shape[0]
        left = list(self._summed(self.x, X, 0))
        right = left if self._alike(X, Y) else list(self._summed(self.y, Y, 1))
        for pair, sums in zip(self.pairs, self.fixed, strict=True):
            r, q = pair.shape
            np.add(sums, to_numpy(left[pair.left][:r] @ right[pair.right][:q].T), out=sums)

    def null(self, n: int) -> Null:
        r"""Return the statistics of all pairs of kernels under all rotations, the observed arrangement first.

        For ``n`` pairs, :math:`Σ_{rq} v_r w_q (\overline{φ_r ψ_q} - \overline{φ_r} \; \overline{ψ_q})^2`, the
        V-statistic of HSIC.
        """
        if n < _LEAST:
            raise ValueError(f"{passed(n, 'pair')}, at least {_LEAST} are needed")
        if self.rows != n:
            raise ValueError(f"{self.rows:,} pairs were read of {n:,}; rows must stay as they are meanwhile")
        values = np.empty((sum(len(pair.numbers) for pair in self.pairs), self.rotations))
        for number, pair in enumerate(self.pairs):
            gaps = self.rotated(number)
            gaps /= n
            gaps -= np.multiply.outer(*(sums / n for sums in self.margins_of(pair)))
            values[pair.numbers] = pair.statistics(gaps)
        return null_of(values, n)

    def rotated(self, number: int) -> Array:
        """Return the sums of products of a pair of blocks under all rotations, shape (rotations, r, q)."""
        whole = irfft(self.products[number], self.rotations, axis=0)
        whole += self.fixed[number]
        return np.asarray(whole)

    def margins_of(self, pair: BlockPair) -> tuple[Array, Array]:
        """Return the sums of the columns of two blocks, shapes (r,) and (q,)."""
        (left, right), (r, q) = self.margins, pair.shape
        return left[self.x.blocks[pair.left].place][:r], right[self.y.blocks[pair.right].place][:q]


def null_of(values: Array, n: int) -> Null:
    """Return the null of V-statistics of HSIC over ``n`` pairs, one row per pair of kernels, the observed one first."""
    measure = HSIC(n, "v")
    sums = Sums(values, values, values.max(axis=1) * n, np.ones(len(values)))
    return Null(values, measure.tolerance(values, sums), measure.name, BINS)
