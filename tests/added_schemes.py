"""A scheme that the package lacks, added as anyone may add one: translations i → i xor t of shuffled blocks of rows.

Another group than those of the package, to check them by: its permutations are listed, and summed one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean.inference import SCHEMES, Permutations, Scheme, label_sums, permutation_sums


@dataclass(frozen=True)
class Translations(Permutations):
    """The translations of blocks of ``order`` rows, a power of two, and of smaller ones at the end, over cosets."""

    shuffle: Any
    cosets: Any
    order: int

    @classmethod
    def draw(cls, n: int, count: int, rng: np.random.Generator) -> Translations:
        """Draw the shuffle of the rows and as many cosets as ``count`` permutations need, the group itself first."""
        order = min(1 << max(0, count - 1).bit_length(), 1 << (n.bit_length() - 1))
        cosets = np.tile(np.arange(n), (-(-count // order), 1))
        shuffle = rng.permutation(n)
        rng.permuted(cosets[1:], axis=1, out=cosets[1:])
        return cls(shuffle, cosets, order)

    @property
    def n(self) -> int:
        return len(self.shuffle)

    @property
    def count(self) -> int:
        return len(self.cosets) * self.order

    @property
    def blocks(self) -> list[slice]:
        """The blocks, largest first: t acts on a smaller one by its lower bits, so that no row stays behind."""
        found, start, size = [], 0, self.order
        while start < self.n:
            if size <= self.n - start:
                found.append(slice(start, start + size))
                start += size
            else:
                size //= 2
        return found

    def batches(self, size: int) -> Iterator[Any]:
        rows = np.arange(self.n)
        for start in range(0, self.count, size):
            cosets, t = np.divmod(np.arange(start, min(start + size, self.count))[:, None], self.order)
            moved = np.hstack([b.start + (rows[b] - b.start ^ t % (b.stop - b.start)) for b in self.blocks])
            permutations = np.empty((len(t), self.n), dtype=int)
            permutations[:, self.shuffle] = self.shuffle[self.cosets[cosets, moved]]
            yield permutations


class Xor(Scheme):
    """An exact test over the group of translations, for two samples and for pairs."""

    name = "xor"
    summary = "translations i → i xor t of shuffled blocks of rows"

    def sums(self, problem: Any, n_resamples: int, rng: np.random.Generator, resources: Any) -> Any:
        evaluate = label_sums if problem.two_samples else permutation_sums
        return evaluate(problem, Translations.draw(problem.n, n_resamples + 1, rng), resources)

    def memory(self, shape: Any, resources: Any) -> float:
        return SCHEMES["gather" if shape.first is None else "gemm"].memory(shape, resources)


@contextmanager
def added(scheme: Scheme) -> Iterator[None]:
    """Let calls name a scheme."""
    SCHEMES[scheme.name] = scheme
    try:
        yield
    finally:
        del SCHEMES[scheme.name]
