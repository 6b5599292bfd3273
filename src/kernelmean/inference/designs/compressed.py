"""Two samples of many rows, each block of rows a coreset: the blocks change places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from ...core.array import Array
from ...core.validate import check_integer
from ...embedding.coresets.atoms import Atoms
from ...embedding.coresets.thinning import compressed
from ...kernels.base import Kernel
from ...plan.plan import Plan
from ...plan.tiles import serial_blas
from ..engine import check_memory
from ..null import Null
from ..permutations import RandomPermutations
from ..resampling_options import Resampling
from ..statistics import StatisticForm
from .design import only

SCHEME = "compressed blocks"
_BLOCKS, _LEAST_BLOCKS = 64, 16
_DENSE = 2048
_BATCH = 1024


@final
@dataclass(frozen=True)
class CompressedSamples:
    """Two samples whose rows are dealt to blocks, and these thinned."""

    samples: tuple[Array, Array]
    """As they were passed."""
    oversampling: int
    """A block of s rows becomes at most ``oversampling`` √s points."""
    plan: Plan
    """How the inner products of the coresets are summed."""

    methods: ClassVar[tuple[str, str]] = ("Compress Then Test, maximum mean discrepancy", "")
    plain_only: ClassVar[str | None] = "blocks that are thinned under one kernel"
    pool: ClassVar[str] = "the pooled sample"

    @classmethod
    def of(cls, samples: tuple[Array, Array], oversampling: int, plan: Plan | None) -> Self:
        """Check that the samples are large enough to be cut into blocks."""
        check_integer(oversampling, "oversampling", 1)
        if min(map(len, samples)) < _LEAST_BLOCKS:
            sizes = " and ".join(str(len(sample)) for sample in samples)
            raise ValueError(f"samples of {sizes} rows are too small to be cut into blocks; use mmd_test")
        return cls(samples, oversampling, plan or Plan(threads=1))

    @property
    def size(self) -> int:
        """Return the rows of a block."""
        sizes = [len(sample) for sample in self.samples]
        return max(1, min(sum(sizes) // _BLOCKS, min(sizes) // _LEAST_BLOCKS))

    @property
    def points(self) -> int:
        """Return to how many points a block is thinned at most."""
        return max(1, int(np.ceil(self.oversampling * np.sqrt(self.size))))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how many blocks there are."""
        blocks = sum(len(sample) // self.size for sample in self.samples)
        return (f"{blocks} blocks of {self.size} rows, each {min(self.points, self.size)} points",)

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return MMD² of the coresets of the one kernel under permutations of the blocks."""
        del statistic  # which is "v": weighted coresets have no other
        kernel, (pooled,), rng = only(kernels), tables, how.rng
        parts = [_dealt(sample, self.size, rng) for sample in np.split(pooled, [len(self.samples[0])])]
        full = [block for blocks, _ in parts for block in blocks]
        rest = [left for _, left in parts if len(left)]
        with serial_blas:
            coresets = [_thinned(kernel, block, self.points, rng) for block in [*full, *rest]]
            points, count = sum(map(len, coresets)), len(coresets)
            memory = 8.0 * (points * (pooled.shape[1] + 2 * count) + how.n_resamples * count)
            check_memory(memory, how.resources, "the test", len(pooled))
            gram = _gram(coresets, self.plan)
            values = _values(gram, _shares(parts), len(full), how.n_resamples, rng)
        tolerance = np.array([1e-12 * float(np.abs(gram).max())])
        return Null(values[None], tolerance, "MMD² of coresets", SCHEME, memory)


def _dealt(sample: Array, size: int, rng: np.random.Generator) -> tuple[list[Array], Array]:
    """Return random blocks of ``size`` rows, and the rows that fill none."""
    shuffled = rng.permutation(sample)
    cut = len(sample) // size * size
    return list(shuffled[:cut].reshape(-1, size, sample.shape[1])), shuffled[cut:]


def _shares(parts: list[tuple[list[Array], Array]]) -> Array:
    """Return the part that every block has in its sample, negative in the second: blocks, then what is left over."""
    blocks, rest = [], []
    for sign, (full, left) in zip((1.0, -1.0), parts, strict=True):
        n = sum(map(len, full)) + len(left)
        blocks += [sign * len(block) / n for block in full]
        rest += [sign * len(left) / n] if len(left) else []
    return np.array(blocks + rest)


def _thinned(kernel: Kernel, rows: Array, points: int, rng: np.random.Generator) -> Atoms:
    """Return the coreset of a block: so many points, or all rows where there are no more, of weight 1 together."""
    atoms = Atoms.sample(kernel, rows)
    last = compressed(atoms, min(points, len(rows)), rng, _DENSE)[-1]
    return atoms.take(last.rows).weighted(last.weights)


def _gram(coresets: list[Atoms], plan: Plan) -> Array:
    """Return the inner products of the means of all coresets."""
    points = np.concatenate([each.points for each in coresets])
    weights = np.zeros((len(points), len(coresets)))
    ends = np.cumsum([len(each) for each in coresets])
    for column, (end, each) in enumerate(zip(ends, coresets, strict=True)):
        weights[end - len(each) : end, column] = each.weights
    blocks = coresets[0].kernel.blocks(points, points)
    return np.asarray(weights.T @ plan.matmul(blocks, len(points), len(points), weights, symmetric=True))


def _values(gram: Array, signed: Array, movable: int, n_resamples: int, rng: np.random.Generator) -> Array:
    """Return |Σ_b u_b μ_b|² for permutations of the weights u of the movable blocks, the observed one first."""
    draws = RandomPermutations(movable, n_resamples + 1, rng)
    found = []
    for batch in draws.batches(_BATCH):
        weights = np.tile(signed, (len(batch), 1))
        weights[:, :movable] = signed[batch]
        found.append(np.einsum("pb,pb->p", weights @ gram, weights))
    return np.concatenate(found)
