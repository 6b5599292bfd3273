"""Which permutations a test looks at: all of them, or a random batch; the observed one comes first."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice, permutations
from typing import ClassVar, final

import numpy as np

from ..core.array import IntArray

WITHOUT_GRAM = ("auto", "exact", "random")
"""What ``scheme=`` takes where a statistic is no sum over a Gram matrix: designs, weights that are fitted anew."""


class Permutations(ABC):
    """A list of permutations π of range(n), the identity first, handed out in batches of rows."""

    n: int
    count: int
    scheme: ClassVar[str] = "exact"
    """What results say of the list: all there are, or random ones."""

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
        yield from _in_batches(permutations(range(self.n)), self.n, size)


@final
@dataclass(frozen=True)
class AllLabelings(Permutations):
    """One permutation for every way to choose which ``n_first`` of the pooled rows form the first sample."""

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
        for chosen in _in_batches(combinations(range(self.n), self.n_first), self.n_first, size):
            inside = np.zeros((len(chosen), self.n), dtype=bool)
            np.put_along_axis(inside, chosen, True, axis=1)
            first, second = np.cumsum(inside, axis=1) - 1, np.cumsum(~inside, axis=1) - 1
            yield np.where(inside, first, self.n_first + second)


@final
@dataclass(frozen=True)
class RandomPermutations(Permutations):
    """The identity and ``count - 1`` independent uniform permutations."""

    n: int
    count: int
    rng: np.random.Generator

    scheme: ClassVar[str] = "random"

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield them in arrays of shape (b, n); the stream of the generator is read row by row."""
        identity = np.arange(self.n)
        for start in range(0, self.count, size):
            batch = np.tile(identity, (min(size, self.count - start), 1))
            drawn = batch[1:] if start == 0 else batch
            self.rng.permuted(drawn, axis=1, out=drawn)
            yield batch


def _in_batches(tuples: Iterator[tuple[int, ...]], width: int, size: int) -> Iterator[IntArray]:
    """Collect tuples of one width into integer arrays of at most ``size`` rows."""
    while True:
        flat = np.fromiter(chain.from_iterable(islice(tuples, size)), dtype=np.intp)
        if not flat.size:
            return
        yield flat.reshape(-1, width)
