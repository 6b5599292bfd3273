"""The permutations that a test may look at: all of them, or a random batch; the observed one comes first.

Which of them it takes is decided in ``permuted_pairs.py`` for pairs, in ``units/permuted_labels.py`` for samples.

Those that respect a design stay within cells, move whole units, or flip the signs of pairs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, combinations, islice, permutations, product
from typing import ClassVar, final

import numpy as np
from scipy.special import gammaln

from ..core.array import Array, IntArray

EXACT, RANDOM, ROTATIONS, BINS = "exact", "random", "rotations", "bins"
DRAWS, BOOTSTRAP = "drawn samples", "parametric bootstrap"
DRAWN = DRAWS, BOOTSTRAP
"""The schemes of tests of fit: to a known distribution, and to one that is fitted, whose p-value is not exact."""
SUMMARIES = {
    DRAWS: "samples drawn from the distribution",
    BOOTSTRAP: "samples drawn from the fitted distribution, which is fitted again to each",
    EXACT: "all distinct permutations enumerated",
    RANDOM: "independent random permutations",
    ROTATIONS: "rotations of shuffled rows",
    BINS: "permutations of bins of rows",
}
"""The schemes in results, in words."""
OFFERED = ("auto", EXACT, RANDOM)
"""What ``scheme=`` takes, besides "bins": how they are evaluated is decided by the sizes."""


class Permutations(ABC):
    """A list of permutations π of range(n), the identity first, handed out in batches of rows."""

    n: int
    count: int
    scheme: ClassVar[str] = EXACT
    """The scheme in results: all permutations, or random ones."""

    @abstractmethod
    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield arrays of shape (b, n), b ≤ ``size``, in an order that does not depend on ``size``."""


@final
@dataclass(frozen=True)
class AllPermutations(Permutations):
    """Every permutation of range(n), in lexicographic order."""

    n: int

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return n!."""
        return math.factorial(self.n)

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield them in arrays of shape (b, n)."""
        yield from in_batches(permutations(range(self.n)), self.n, size)


@final
@dataclass(frozen=True)
class AllLabelings(Permutations):
    """One permutation for every choice of the ``n_first`` pooled rows that form the first sample."""

    n_first: int
    n_second: int

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of pooled rows."""
        return self.n_first + self.n_second

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the binomial coefficient."""
        return math.comb(self.n, self.n_first)

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield permutations π under which exactly the chosen rows i have π(i) < n_first."""
        for chosen in in_batches(combinations(range(self.n), self.n_first), self.n_first, size):
            inside = np.zeros((len(chosen), self.n), dtype=bool)
            np.put_along_axis(inside, chosen, True, axis=1)
            first, second = np.cumsum(inside, axis=1) - 1, np.cumsum(~inside, axis=1) - 1
            yield np.where(inside, first, self.n_first + second)


class Redrawn:
    """What a generator draws, the same every time, also in threads: only the first time does the generator go on."""

    rng: np.random.Generator

    def generator(self) -> np.random.Generator:
        """Return the generator, and from the second time on a copy in the state of the first time."""
        kept = self.__dict__  # whose methods no other thread interrupts
        start = kept.setdefault("_start", deepcopy(self.rng))
        first = kept.setdefault("_first", [self.rng])
        try:
            return first.pop()
        except IndexError:
            return deepcopy(start)


@final
@dataclass(frozen=True)
class RandomPermutations(Redrawn, Permutations):
    """The identity and ``count - 1`` independent uniform permutations."""

    n: int
    count: int
    rng: np.random.Generator

    scheme: ClassVar[str] = RANDOM

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield them in arrays of shape (b, n); the stream of the generator is read row by row."""
        identity, rng = np.arange(self.n), self.generator()
        for start in range(0, self.count, size):
            batch = np.tile(identity, (min(size, self.count - start), 1))
            drawn = batch[1:] if start == 0 else batch
            rng.permuted(drawn, axis=1, out=drawn)
            yield batch


def in_batches(tuples: Iterator[Iterable[int]], width: int, size: int) -> Iterator[IntArray]:
    """Collect rows of one width into integer arrays of at most ``size`` rows."""
    while True:
        flat = np.fromiter(chain.from_iterable(islice(tuples, size)), dtype=np.intp)
        if not flat.size:
            return
        yield flat.reshape(-1, width)


_MOST = 2 * 10**6


class OfCells(Permutations):
    """Permutations that leave every unit in its cell; ``cells`` (n,) are whole numbers from 0, in ascending order."""

    cells: IntArray

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of units."""
        return len(self.cells)


@final
@dataclass(frozen=True)
class WithinCells(Redrawn, OfCells):
    """The identity and ``count - 1`` independent uniform permutations within cells."""

    cells: IntArray
    count: int
    rng: np.random.Generator

    scheme: ClassVar[str] = RANDOM

    def batches(self, size: int) -> Iterator[IntArray]:
        """Shuffle all units, then sort them by cell, which keeps the random order within cells."""
        narrow = self.cells.astype(np.min_scalar_type(int(self.cells[-1])))  # small integers sort in linear time
        for batch in RandomPermutations(self.n, self.count, self.generator()).batches(size):
            order = np.argsort(narrow[batch], axis=1, kind="stable")  # which leaves the identity as it is
            yield np.take_along_axis(batch, order, axis=1)


@final
@dataclass(frozen=True)
class AllWithinCells(OfCells):
    """Every permutation within cells."""

    cells: IntArray

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the product of the factorials of the sizes of the cells."""
        return math.prod(math.factorial(int(size)) for size in np.bincount(self.cells))

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield all combinations of the permutations of the cells."""
        members = (np.flatnonzero(self.cells == cell).tolist() for cell in range(int(self.cells[-1]) + 1))
        combined = product(*(list(permutations(cell)) for cell in members))
        yield from in_batches((chain(*parts) for parts in combined), self.n, size)


@final
@dataclass(frozen=True)
class Expanded(Permutations):
    """Permutations of units as permutations of their rows, which move along and keep their order.

    ``sizes`` (units,) are the numbers of consecutive rows; ``units`` exchange places with units of the same size only.
    """

    units: Permutations
    sizes: IntArray

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of rows."""
        return int(self.sizes.sum())

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of permutations of the units."""
        return self.units.count

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield permutations of the rows."""
        starts = np.cumsum(self.sizes) - self.sizes
        unit = np.repeat(np.arange(len(self.sizes)), self.sizes)
        offset = np.arange(self.n) - starts[unit]
        for batch in self.units.batches(size):
            yield starts[batch][:, unit] + offset


def takes_all(logarithm: float, count: Callable[[], int], n_resamples: int, scheme: str) -> bool:
    """Say whether to take all of so many: they are few enough, or asked for; raise if that is too many."""
    check_scheme(scheme)
    if scheme == RANDOM:
        return False
    limit = _MOST if scheme == EXACT else n_resamples + 1
    few = logarithm <= np.log(limit) + 0.5  # otherwise the count may have a million digits
    if few and count() <= limit:
        return True
    if scheme == EXACT:
        raise too_many()
    return False


def within_cells(cells: IntArray, n_resamples: int, rng: np.random.Generator, scheme: str = "auto") -> Permutations:
    """Return all permutations within cells if there are at most n_resamples + 1, otherwise random ones.

    ``scheme`` "exact" or "random" overrules this.
    """
    everything = AllWithinCells(cells)
    if takes_all(log_count(cells), lambda: everything.count, n_resamples, scheme):
        return everything
    return WithinCells(cells, n_resamples + 1, rng)


def labelings(n: int, m: int, limit: int) -> int:
    """Return in how many ways n + m rows can be divided into n and m, or ``limit`` + 1 if there are more."""
    if gammaln(n + m + 1) - gammaln(n + 1) - gammaln(m + 1) > np.log(limit) + 0.5:
        return limit + 1
    return min(math.comb(n + m, n), limit + 1)


def log_count(cells: IntArray) -> float:
    """Return the logarithm of the number of permutations within cells, or of labels within cells and samples."""
    return float(gammaln(np.bincount(cells) + 1).sum())


@final
@dataclass(frozen=True)
class SignFlips(Redrawn):
    """Signs ±1 of n pairs, all +1 first: every sign of all but the first pair, or random ones.

    s and -s give a quadratic form the same value, so half of the 2ⁿ flips suffice.
    """

    n: int
    count: int
    exact: bool
    rng: np.random.Generator

    @classmethod
    def choose(cls, n: int, n_resamples: int, rng: np.random.Generator, scheme: str = "auto") -> SignFlips:
        """Return all flips if there are at most n_resamples + 1, otherwise random ones; ``scheme`` overrules this."""
        check_scheme(scheme)
        everything = 2 ** (n - 1)
        if scheme == EXACT and everything > _MOST:
            raise too_many()
        exact = scheme == EXACT or (scheme == "auto" and everything <= n_resamples + 1)
        return cls(n, everything if exact else n_resamples + 1, exact, rng)

    def batches(self, size: int) -> Iterator[Array]:
        """Yield arrays of shape (n, b)."""
        rng = self.generator()
        for start in range(0, self.count, size):
            numbers = np.arange(start, min(start + size, self.count))
            if self.exact:
                flipped = numbers >> np.arange(self.n)[::-1, None] & 1
            else:
                flipped = rng.integers(0, 2, (len(numbers), self.n)).T
                flipped[:, numbers == 0] = 0
            yield 1.0 - 2.0 * flipped


def check_scheme(scheme: str) -> None:
    """Raise for another scheme than those that are offered."""
    if scheme not in OFFERED:
        raise ValueError(f"scheme is {scheme!r}; pass one of {', '.join(map(repr, (*OFFERED, 'bins')))}")


def too_many() -> ValueError:
    """Return the error that enumeration would take too long."""
    return ValueError(f"there are more than {_MOST:,} permutations to enumerate; use scheme='auto'")
