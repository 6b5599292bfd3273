"""A test in bins of rows in this process: lengths, a pilot, one pass that adds up, and permutations of the sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import zip_longest
from typing import Any

import numpy as np

from ...core.array import Array, as_host, check_numpy
from ...core.words import passed
from ...plan.plan import Plan, serial_blas
from ...tables.batchwise import readable
from ...tables.prefetch import ahead
from ...tables.source import unequal
from ..adaptive.coordinates import Columns, PairDifferences, block_pairs
from ..questions import Pairs, Question
from ..questions.many_pairs import ManyPairs, placed_pair
from ..request import Request
from ..resampling import Resampling
from ..result import TestResult
from ..rotations.stripes import StripeSums
from ..rotations.windows import StripeWindows, rotations
from ..units.unit_sums import UnitSums
from .fitting import Fitted, fitted
from .reading import Held, Rows, Two, batches, length, matched, taken, windows
from .request import BinnedTest, Reason
from .samples import PairsInUnits, SamplesInUnits, pilot_question

_PAIRS = 2**16
"""Pairs that are read at a time."""

_LEAST = 4
"""Pairs."""


def binned_test(
    kind: type[Question], sources: Sequence[Rows], request: Request, plan: Plan, reason: Reason
) -> TestResult:
    """Return the result of a test whose rows are added up in bins.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when columns of samples or lengths of variables differ, there are too few rows,
        or an option does not work with bins.
    """
    test = BinnedTest.of(kind, request, reason)
    with serial_blas, ExitStack() as opened:
        if request.design.says_more and isinstance(sources[0], Held):
            check_numpy(sources[0].rows, "strata, clusters and weights")
        if kind is Pairs:
            first, second = (opened.enter_context(readable(source)) for source in sources)
            return reason.noted(_pairs((first, second), test, plan))
        ordered = [matched(sources[0], other) for other in sources[1:]]
        samples = [ordered[0][0], *(other for _, other in ordered)]
        run = _paired if request.design.paired else _samples
        return reason.noted(run([opened.enter_context(readable(sample)) for sample in samples], test, plan))


def _samples(sources: Sequence[Rows], test: BinnedTest, plan: Plan) -> TestResult:
    samples = SamplesInUnits.of(test, [*map(length, sources)])
    pilot = [taken(source, numbers) for source, numbers in zip(sources, samples.pilot, strict=True)]
    fit = samples.fitted(sources, pilot)
    sums = UnitSums(fit.columns[0], samples.rows)
    with closing(ahead(zip_longest(*map(batches, sources)))) as read:
        for parts in read:
            for sample, rows in enumerate(parts):
                if rows is not None and rows.shape[0]:
                    sums.add(rows, sample, plan)
    return samples.result(fit, sums)


def _paired(sources: Sequence[Rows], test: BinnedTest, plan: Plan) -> TestResult:
    both = sources[0], sources[1]
    pairs = PairsInUnits.of(test, [*map(length, both)])
    pilot = [taken(source, numbers) for source, numbers in zip(both, pairs.pilot, strict=True)]
    fit = pairs.fitted(both, pilot)
    sums = UnitSums(PairDifferences(fit.columns[0]), pairs.rows)
    with closing(ahead(windows((batches(both[0]), batches(both[1])), both, _PAIRS))) as read:
        for rows in read:
            sums.add(np.hstack(list(map(as_host, rows))), plan=plan)
    return pairs.result(fit, sums)


# -- two variables ----------------------------------------------------------------------------------------------------


def _pairs(sources: Two, test: BinnedTest, plan: Plan) -> TestResult:
    n = length(sources[0])
    if n != length(sources[1]):
        raise unequal(*sources)
    if test.request.design.says_more:
        return designed_pairs(sources, n, lambda: _side_by_side(sources), test, plan)
    stripes = StripeWindows(rotations(n, test.request.n_resamples), test.seed)
    numbers = stripes.pilot(n)
    pilot = taken(sources[0], numbers), taken(sources[1], numbers)
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n,), test.seed)
    sums = pair_sums(fit.columns, fit.kernels, stripes)
    rows = batches(sources[0]), batches(sources[1])
    with closing(ahead(windows(rows, sources, stripes.rows))) as read:
        for number, both in enumerate(read):
            stripes.add(sums, number, *both, plan)
    return of_pairs(fit, stripes, sums, n)


def _side_by_side(sources: Two) -> Iterator[Array]:
    """Yield the columns of both variables."""
    for rows in windows((batches(sources[0]), batches(sources[1])), sources, _PAIRS):
        yield np.hstack(list(map(as_host, rows)))


def designed_pairs(
    sources: Sequence[Any], n: int, rows: Callable[[], Iterable[Array]], test: BinnedTest, plan: Plan, *notes: str
) -> TestResult:
    """Return the result of ``n`` pairs with strata, clusters or weights; ``rows`` starts to read both variables.

    ``sources`` say what the columns are called.
    """
    design, split = test.request.design.of_pairs(n), len(sources[0].names)
    how = Resampling.of("auto", test.request.n_resamples, np.random.default_rng([test.seed, 3]))
    many = ManyPairs.of(design, n, rows, how, plan)
    pilot = many.pilot[:, :split], many.pilot[:, split:]
    fit = fitted(pilot_question(test, sources, pilot), test.request, (design.layout.n,), test.seed)
    x, y = placed_pair(fit.columns, (split, len(sources[1].names)))
    return fit.within(design).result(many.null(x, y, fit.kernels), (n,), *design.notes, *notes)


def pair_sums(columns: tuple[Columns, ...], kernels: list[Any], stripes: StripeWindows) -> StripeSums:
    """Return the sums of no pairs."""
    x, y = columns
    return StripeSums(x, y, block_pairs(x, y, kernels), (stripes.length,))


def of_pairs(fit: Fitted, stripes: StripeWindows, sums: StripeSums, n: int, *notes: str) -> TestResult:
    """Return the result of ``n`` pairs from their sums."""
    if n < _LEAST:
        raise ValueError(f"{passed(n, 'pair')}, at least {_LEAST} are needed")
    if sums.rows != n:
        raise ValueError(f"{sums.rows:,} pairs were read of {n:,}; rows must stay as they are meanwhile")
    many = stripes.length
    rotated = f"{many} rotations, of stripes of that many pairs; pairs are shuffled within {stripes.rows:,}"
    few = (f"{many} pairs have {many} rotations: no p-value is below 1/{many}",) if many <= fit.how.n_resamples else ()
    return fit.result(sums.null(), (n,), rotated, *few, *notes)
