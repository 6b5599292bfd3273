"""One-pass tests on a cluster: workers add up features of their rows, the sums merge, the test is that of streams."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from ...core.array import Array, IntArray
from ...core.words import count
from ...embedding.embedding import Embedding
from ...embedding.features import FeatureMap, Fourier, embed, pooled
from ...noise.base import Noise
from ...plan.plan import Plan
from .. import TestResult
from ..streaming.bins import BinSums
from ..streaming.one_pass_request import StreamTest
from ..streaming.pilot import check_left, drawn_numbers, kept_note, left_out_note, pilot_rows
from ..streaming.shifts import BINS, GROUP, PairStream, pair_stream
from ..streaming.two_sample import TwoSampleStream, two_sample_stream
from .rows import Rows
from .running import folded, gathered, task

Deal = tuple[int | None, int, int]  # of bins: the rows of the sample, those of a bin, and the seed

_ALONE = Plan(threads=1)
_STEP = BINS * GROUP  # pairs after which groups begin with the first bin again


def feature_embedding(
    X: Rows, features: FeatureMap, own: Rows | None = None, noise: Noise | None = None, moments: bool = False
) -> Embedding:
    """Return the mean of features of all rows: one pass, and only its sums come back."""
    weights = [None] * len(X.parts) if own is None else own.cut(X.starts.tolist())
    parts = [task(_embedded, part, features, w, noise, moments) for part, w in zip(X.parts, weights, strict=True)]
    (found,) = gathered(X.client, [folded(_pooled, parts)])
    if found is None:
        raise ValueError("all weights are 0; weights of a mean are not negative and not all zero")
    return found


def two_samples(X: Rows, Y: Rows, test: StreamTest) -> TestResult:
    """Test two samples by sums over bins."""
    samples = X, Y
    features, drawn, notes = _looked(samples, test)
    sizes = len(X) - len(drawn[0]), len(Y) - len(drawn[1])
    empty = two_sample_stream(features, sizes=sizes, seed=test.seed)
    sides = zip(samples, (empty.first, empty.second), drawn, strict=True)
    sums = [folded(_merged, _binned(rows, features, (own.n_rows, own.size, own.seed), out)) for rows, own, out in sides]
    first, second = gathered(X.client, sums)
    return test.result(TwoSampleStream(features, first, second), (*notes, _note(*samples)))


def _looked(samples: tuple[Rows, Rows], test: StreamTest) -> tuple[FeatureMap, list[IntArray], tuple[str, ...]]:
    """Return the features, the numbers of the rows that a rule looked at, and what to tell the reader."""
    nothing: list[IntArray] = [np.empty(0, np.intp)] * 2
    if test.options.features is not None:
        return test.options.features, nothing, ()
    sizes, looks = [len(rows) for rows in samples], test.looks(len(samples[0].names))
    taken = pilot_rows(sizes, test.options.pilot)
    if looks:
        check_left(sizes, taken)
    sized = enumerate(zip(sizes, taken, strict=True))
    numbers: list[IntArray] = [drawn_numbers(*one, test.seed + k) if looks else np.arange(min(one)) for k, one in sized]
    heads = [rows.take(own) for rows, own in zip(samples, numbers, strict=True)]
    features, notes = gathered(samples[0].client, [task(_features, test, [heads])])[0]
    return (features, numbers, (*notes, kept_note(sum(map(len, numbers))))) if looks else (features, nothing, notes)


def _binned(rows: Rows, features: FeatureMap, deal: Deal, out: IntArray) -> list[Any]:
    """Return the tasks that add up the bins of every part, and keep the rows of some ascending numbers."""
    tasks = []
    for part, (start, stop) in zip(rows.parts, pairwise(rows.starts.tolist()), strict=True):
        low, high = np.searchsorted(out, [start, stop])
        tasks.append(task(_bins, part, out[low:high] - start, features, deal, start - int(low)))
    return tasks


def pairs(X: Rows, Y: Rows, test: StreamTest) -> TestResult:
    """Test pairs by sums over groups of them.

    Partitions are cut where groups of pairs begin with the first bin, so that merged sums are those of one stream.
    """
    n, start = len(X), 0
    head = np.arange(min(pilot_rows((n,), test.options.pilot)[0], n))
    features, notes = gathered(X.client, [task(_features, test, [[rows.take(head)] for rows in (X, Y)])])[0]
    if test.looks(len(X.names), len(Y.names)):
        start, notes = len(head), (*notes, left_out_note(len(head)))
    inner = {start + (end - start) // _STEP * _STEP for end in X.starts[1:-1].tolist()}
    bounds = [start, *sorted(bound for bound in inner if start < bound < n), n]
    parts = [task(_paired, features, x, y) for x, y in zip(X.cut(bounds), Y.cut(bounds), strict=True)]
    (stream,) = gathered(X.client, [folded(_merged, parts)])
    return test.result(stream, (*notes, _note(X, Y)))


def _note(*tables: Rows) -> str:
    return f"on a Dask cluster: one pass over {count(sum(len(rows.parts) for rows in tables), 'partition')}"


# -- on the workers ---------------------------------------------------------------------------------------------------


def _embedded(
    X: Array, features: FeatureMap, weights: Array | None, noise: Noise | None, moments: bool
) -> Embedding | None:
    if weights is not None and not weights.any():
        return None
    own = None if weights is None else weights[:, 0]
    return embed(X, features, weights=own, noise=noise, plan=_ALONE, moments=moments)


def _features(test: StreamTest, heads: list[list[Array]]) -> tuple[FeatureMap, tuple[str, ...]]:
    """Return features for rows like these: those of all samples together, or those of every variable."""
    return test.features(*map(np.concatenate, heads))


def _bins(X: Array, out: IntArray, features: FeatureMap, deal: Deal, start: int) -> BinSums:
    """Return the sums over bins of the rows of a part, whose first row that a bin takes has this number there.

    Those that no bin takes, since a rule looked at them, are kept besides.
    """
    n_rows, size, seed = deal
    bins = BinSums.empty(features, seed, n_rows=n_rows, size=size)
    dealt = np.delete(X, out, axis=0) if len(out) else X
    if len(dealt):
        bins.add(features, dealt, start, _ALONE)
    if len(out):
        bins.keep(features, X[out], _ALONE)
    return bins


def _paired(features: Fourier, X: Array, Y: Array) -> PairStream:
    return pair_stream(features).partial_fit(X, Y, plan=_ALONE)


def _pooled(*means: Embedding | None) -> Embedding | None:
    """Return the mean of all rows; None is one of rows that count nothing."""
    known = [mean for mean in means if mean is not None]
    return pooled(*known) if known else None


def _merged(*summaries: Any) -> Any:
    """Return the sum of summaries that merge."""
    return reduce(add, summaries)
