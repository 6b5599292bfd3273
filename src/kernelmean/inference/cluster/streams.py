"""Many rows on a cluster: workers add up features of their rows, for tests and fits, and only sums come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ...core.array import Array, slices
from ...core.words import count
from ...embedding.embedding import Embedding
from ...embedding.features import FeatureMap, Landmarks, embed, pooled
from ...estimators import KernelMean
from ...estimators.by_features import BatchedRows, drawn_numbers, features_for, fit_sums
from ...noise.base import Noise
from ...plan.plan import Plan
from ..adaptive.coordinates import Columns, PairDifferences
from ..bins.answering import designed_pairs, of_pairs, pair_sums
from ..bins.fitting import fitted
from ..bins.request import BinnedTest
from ..bins.samples import PairsInUnits, SamplesInUnits, pilot_question
from ..result import TestResult
from ..rotations.windows import StripeWindows, rotations
from ..units.unit_sums import RowUnits, Summed, UnitSums
from .rows import Rows
from .running import folded, gathered, task

_ALONE = Plan(threads=1)


def feature_embedding(
    X: Rows, features: FeatureMap, weights: Rows | None = None, noise: Noise | None = None, moments: bool = False
) -> Embedding:
    """Return the mean of features of all rows, in one pass; only its sums come back."""
    columns = [None] * len(X.parts) if weights is None else weights.cut(X.starts.tolist())
    parts = [task(_embedded, part, features, w, noise, moments) for part, w in zip(X.parts, columns, strict=True)]
    (embedding,) = gathered(X.client, [folded(_pooled, parts)])
    if embedding is None:
        raise ValueError("all weights are 0; weights of a mean are not negative and not all zero")
    return embedding


def fit_by_features(estimator: KernelMean, X: Rows) -> None:
    """Fit to sums of features: landmarks from rows drawn at random, then one pass over all rows."""
    (drawn,) = gathered(X.client, [X.take(drawn_numbers(len(X)))])
    features = features_for(estimator, BatchedRows(lambda: iter(()), True, drawn))
    mu = feature_embedding(X, features, moments=isinstance(features, Landmarks))
    fit = fit_sums(mu, estimator.options(features.kernel), drawn, None, _ALONE)
    estimator.name_columns(X.names, named=X.named)
    estimator.adopt(fit)


def samples(tables: Sequence[Rows], test: BinnedTest) -> TestResult:
    """Test samples by sums over units."""
    client, made = tables[0].client, SamplesInUnits.of(test, [*map(len, tables)])
    pilot = gathered(client, [rows.take(numbers) for rows, numbers in zip(tables, made.pilot, strict=True)])
    fit = made.fitted(tables, pilot)
    sums = UnitSums(fit.columns[0], made.rows)
    parts = [
        task(_summed, part, sums.columns, made.rows.only(sample, start, start + many), sample, start)
        for sample, rows in enumerate(tables)
        for part, start, many in zip(rows.parts, rows.starts.tolist(), rows.lengths, strict=False)
    ]
    (state,) = gathered(client, [folded(_merged, parts)])
    sums.restore(state)
    return made.result(fit, sums, _note(*tables))


def paired(X: Rows, Y: Rows, test: BinnedTest) -> TestResult:
    """Test pairs of rows of two samples by sums over bins of their differences."""
    made = PairsInUnits.of(test, [len(X), len(Y)])
    pilot = gathered(X.client, [rows.take(numbers) for rows, numbers in zip((X, Y), made.pilot, strict=True)])
    fit = made.fitted((X, Y), pilot)
    sums = UnitSums(PairDifferences(fit.columns[0]), made.rows)
    starts = X.starts.tolist()
    parts = [
        task(_of_pairs, x, y, sums.columns, made.rows, start)
        for x, y, start in zip(X.parts, Y.cut(starts), starts, strict=False)
    ]
    (state,) = gathered(X.client, [folded(_merged, parts)])
    sums.restore(state)
    return made.result(fit, sums, _note(X, Y))


def pairs(X: Rows, Y: Rows, test: BinnedTest) -> TestResult:
    """Test pairs by sums over windows of rows, into which partitions are cut.

    With a design the rows that meet are in different partitions: partitions come here, one after the other.
    """
    n = len(X)
    if test.request.design.says_more:
        return designed_pairs((X, Y), n, lambda: _here(X, Y), test, _ALONE, _note(X, Y))
    stripes = StripeWindows(rotations(n, test.request.n_resamples), test.seed)
    numbers = stripes.pilot(n)
    pilot = gathered(X.client, [rows.take(numbers) for rows in (X, Y)])
    fit = fitted(pilot_question(test, (X, Y), (pilot[0], pilot[1])), test.request, (n,), test.seed)
    cuts = {end // stripes.rows * stripes.rows for end in X.starts[1:-1].tolist()}
    bounds = [0, *sorted(bound for bound in cuts if 0 < bound < n), n]
    parts = [
        task(_paired, fit.columns, fit.kernels, stripes, start // stripes.rows, x, y)
        for start, x, y in zip(bounds, X.cut(bounds), Y.cut(bounds), strict=False)
    ]
    sums = pair_sums(fit.columns, fit.kernels, stripes)
    (state,) = gathered(X.client, [folded(_merged, parts)])
    sums.restore(state)
    return of_pairs(fit, stripes, sums, n, _note(X, Y))


def _here(X: Rows, Y: Rows) -> Iterator[Array]:
    """Yield the rows of both tables, a partition of X at a time."""
    for parts in zip(X.parts, Y.cut(X.starts.tolist()), strict=True):
        yield np.hstack(gathered(X.client, parts))


def _note(*tables: Rows) -> str:
    return f"on a Dask cluster: sums over {count(sum(len(rows.parts) for rows in tables), 'partition')}"


# -- on the workers ---------------------------------------------------------------------------------------------------


def _embedded(
    X: Array, features: FeatureMap, weights: Array | None, noise: Noise | None, moments: bool
) -> Embedding | None:
    if weights is not None and not weights.any():
        return None
    weights = None if weights is None else weights[:, 0]
    return embed(X, features, weights=weights, noise=noise, plan=_ALONE, moments=moments)


def _summed(X: Array, columns: Summed, units: RowUnits, sample: int, start: int) -> list[Array]:
    """Return the sums over units of the rows of a part; ``start`` is the number of its first row in its sample."""
    sums = UnitSums(columns, units)
    sums.add(X, sample, _ALONE, start=start)
    return sums.state()


def _of_pairs(X: Array, Y: Array, columns: PairDifferences, units: RowUnits, start: int) -> list[Any]:
    """Return the sums over units of some pairs; ``start`` is the number of the first."""
    return _summed(np.hstack([X, Y]), columns, units, 0, start)


def _paired(
    columns: tuple[Columns, ...], kernels: list[Any], stripes: StripeWindows, first: int, X: Array, Y: Array
) -> list[Array]:
    """Return the sums over some windows, given the number of the first one."""
    sums = pair_sums(columns, kernels, stripes)
    for number, window in enumerate(slices(len(X), stripes.rows), start=first):
        stripes.add(sums, number, X[window], Y[window], _ALONE)
    return sums.state()


def _pooled(*means: Embedding | None) -> Embedding | None:
    """Return the mean of all rows; None stands for rows without weight."""
    known = [mean for mean in means if mean is not None]
    return pooled(*known) if known else None


def _merged(*states: list[Array]) -> list[Array]:
    """Return the sums over the rows of all."""
    return [reduce(add, arrays) for arrays in zip(*states, strict=True)]
