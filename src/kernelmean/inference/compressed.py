"""Compress Then Test: two samples of many rows, each block of rows a coreset, and permutations of the blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array, RngLike, as_rng
from ..core.validate import check_integer
from ..embedding.coresets.atoms import Atoms
from ..embedding.coresets.thinning import compressed
from ..estimators import KernelMean
from ..estimators.options import KernelLike
from ..kernels.base import Kernel
from ..plan.plan import DEFAULT, Plan
from ..plan.tiles import serial_blas
from .asked import asked
from .kernel_choice import ESTIMATORS, KernelOf, choose_kernel, median_rows
from .null import Null
from .permutations import RandomPermutations
from .resampling import check_n_resamples
from .result import TestResult
from .samples import check_samples

SCHEME = "compressed blocks"
_BLOCKS, _LEAST_BLOCKS = 64, 16
_DENSE = 2048
_BATCH = 1024


def compress_then_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike | None = None,
    estimator: str | KernelMean | KernelOf | None = None,
    oversampling: int = 2,
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | None = None,
) -> TestResult:
    r"""Test whether two samples come from one law, by coresets of blocks of rows and exact permutations of the blocks.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        Two samples of the same columns, at least 16 rows each; n and m may differ.
    kernel, estimator : as in :func:`kernelmean.mmd_test`
        The estimator is one that only changes the kernel: "kme", "mkme", "mmkme", or a function.
    oversampling : int
        A block of s rows becomes at most ``oversampling`` √s points: more are nearer to the exact test; the cost is
        that of the square.
    n_resamples : int
        Random permutations of the blocks.
    rng : int or Generator
        Deals rows to blocks, thins, and permutes.
    plan : Plan, optional
        Threads.

    Returns
    -------
    TestResult
        Its statistic is the MMD² of the weighted coresets, its scheme "compressed blocks".

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.mmd_test`; and when a sample has fewer than 16 rows.

    Notes
    -----
    Rows are dealt at random to blocks of s = min((n + m)/64, min(n, m)/16) rows, each of one sample, and every block is
    thinned by itself in the same way. Without a difference the thinned blocks are exchangeable, so P(p ≤ α) ≤ α: what
    thinning loses costs power, never the level. A block counts with its share s/n or s/m, and the rows that fill none,
    thinned too, stay in their sample with theirs: so the statistic is MMD² for n ≠ m as well. Domingo-Enrich, Dwivedi
    & Mackey (2023; arXiv 2301.05974), who treat equal shares. O((n + m) s) kernel values for blocks of up to 2048
    rows, near-linear time beyond, then O(c²) for the c points of all coresets.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(3000, 2)), rng.normal(size=(1000, 2)) + 0.2
    >>> result = compress_then_test(X, Y, rng=0)
    >>> result.pvalue, result.scheme
    (0.001, 'compressed blocks')
    """
    wanted = asked(kernel, estimator, ESTIMATORS, adaptive=False)
    check_n_resamples(n_resamples)
    check_integer(oversampling, "oversampling", 1)
    samples = check_samples(X, Y)
    if min(map(len, samples)) < _LEAST_BLOCKS:
        sizes = " and ".join(str(len(sample)) for sample in samples)
        raise ValueError(f"samples of {sizes} rows are too small to be cut into blocks; use mmd_test")
    generator = as_rng(rng)
    pooled = np.concatenate(samples)
    rows = median_rows(len(pooled), generator)
    chosen = choose_kernel(pooled, wanted.one, rows, "the pooled sample")
    size = max(1, min(len(pooled) // _BLOCKS, min(map(len, samples)) // _LEAST_BLOCKS))
    parts = [_dealt(sample, size, generator) for sample in samples]
    full = [block for blocks, _ in parts for block in blocks]
    rest = [left for _, left in parts if len(left)]
    points = max(1, int(np.ceil(oversampling * np.sqrt(size))))
    with serial_blas:
        coresets = [_thinned(chosen.kernel, block, points, generator) for block in [*full, *rest]]
        gram = _gram(coresets, plan or DEFAULT)
        values = _values(gram, _shares(parts), len(full), n_resamples, generator)
    tolerance = np.array([1e-12 * float(np.abs(gram).max())])
    memory = 8.0 * (sum(map(len, coresets)) * (pooled.shape[1] + 2 * len(coresets)) + n_resamples * len(coresets))
    null = Null(values[None], tolerance, "MMD² of coresets", SCHEME, memory)
    own = f"{len(full)} blocks of {size} rows, each {min(points, size)} points"
    return TestResult(
        method="Compress Then Test, maximum mean discrepancy",
        kernel=chosen.kernel,
        noise=chosen.noise,
        sizes=(len(samples[0]), len(samples[1])),
        notes=(*chosen.notes, own),
        **null.outcome(0),
    )


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
