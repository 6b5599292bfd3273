"""A test in bins of rows in this process: lengths, a pilot, one pass that adds up, and permutations of the sums."""

from __future__ import annotations

from contextlib import closing
from itertools import zip_longest
from typing import Any

from ...core.array import Array
from ...core.table import Table
from ...core.words import count, passed
from ...plan.plan import Plan, serial_blas
from ...tables.batchwise import readable
from ...tables.prefetch import ahead
from ..adaptive.coordinates import Columns, block_pairs
from ..designs.design import Design
from ..questions import Question, TwoSamples
from ..request import Request
from ..result import TestResult
from ..rotations.stripes import StripeSums
from ..rotations.windows import Windows, rotations
from ..units.dealing import deal
from .fitting import Fitted, fitted
from .reading import Two, batches, length, matched, taken, unequal, windows
from .request import BinnedTest, Reason
from .sample_sums import SampleSums, TwoSums
from .two_samples import Bins, binned_null

_LEAST = 4
"""Pairs."""


def binned_test(kind: type[Question], sources: Two, request: Request, plan: Plan, reason: Reason) -> TestResult:
    """Return the result of a test whose rows are added up in bins.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when columns of samples or lengths of variables differ, there are too few rows,
        or an option does not work with bins.
    """
    test = BinnedTest.of(kind, request, reason)
    sources = matched(*sources) if kind is TwoSamples else sources
    run = _samples if kind is TwoSamples else _pairs
    with serial_blas, readable(sources[0]) as first, readable(sources[1]) as second:
        return reason.noted(run((first, second), test, plan))


def pilot_question(test: BinnedTest, sources: Any, rows: tuple[Array, Array]) -> Question:
    """Return the question of a test about the rows of a pilot."""
    tables = [Table(own, source.names, named=source.named) for own, source in zip(rows, sources, strict=True)]
    return test.question.of(tables, Design())


# -- two samples ------------------------------------------------------------------------------------------------------


def _samples(sources: Two, test: BinnedTest, plan: Plan) -> TestResult:
    n, m = map(length, sources)
    deals = deal(n, m, test.seed)
    pilot = taken(sources[0], deals[0].fitted_to), taken(sources[1], deals[1].fitted_to)
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n, m), test.seed)
    both = TwoSums(*(SampleSums(fit.columns[0], own) for own in deals))
    with closing(ahead(zip_longest(*map(batches, sources)))) as found:
        for batch in found:
            both.add(batch, plan)
    return of_samples(test, fit, *both.bins())


def of_samples(test: BinnedTest, fit: Fitted, first: Bins, second: Bins, *notes: str) -> TestResult:
    """Return the result of two samples from their sums."""
    null = binned_null(fit.columns[0], (first, second), test.request.statistic, fit.how)
    bins = f"permutations of {len(first.full)} and {len(second.full)} bins of {count(first.size, 'row')}"
    rest = [own.n - len(own.full) * own.size for own in (first, second)]
    if any(rest):
        bins += f" (the other {' and '.join(f'{own:,}' for own in rest)} count too, and stay in their table)"
    return fit.result(null, (first.n, second.n), bins, *notes)


# -- two variables ----------------------------------------------------------------------------------------------------


def _pairs(sources: Two, test: BinnedTest, plan: Plan) -> TestResult:
    n = length(sources[0])
    if n != length(sources[1]):
        raise unequal(*sources)
    stripes = Windows(rotations(n, test.request.n_resamples), test.seed)
    numbers = stripes.pilot(n)
    pilot = taken(sources[0], numbers), taken(sources[1], numbers)
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n,), test.seed)
    sums = pair_sums(fit.columns, fit.kernels, stripes)
    rows = batches(sources[0]), batches(sources[1])
    with closing(ahead(windows(rows, sources, stripes.rows))) as read:
        for number, both in enumerate(read):
            stripes.add(sums, number, *both, plan)
    return of_pairs(fit, stripes, sums, n)


def pair_sums(columns: tuple[Columns, ...], kernels: list[Any], stripes: Windows) -> StripeSums:
    """Return the sums of no pairs."""
    x, y = columns
    return StripeSums(x, y, block_pairs(x, y, kernels), (stripes.length,))


def of_pairs(fit: Fitted, stripes: Windows, sums: StripeSums, n: int, *notes: str) -> TestResult:
    """Return the result of ``n`` pairs from their sums."""
    if n < _LEAST:
        raise ValueError(f"{passed(n, 'pair')}, at least {_LEAST} are needed")
    if sums.rows != n:
        raise ValueError(f"{sums.rows:,} pairs were read of {n:,}; rows must stay as they are meanwhile")
    many = stripes.length
    rotated = f"{many} rotations, of stripes of that many pairs; pairs are shuffled within {stripes.rows:,}"
    few = (f"{many} pairs have {many} rotations: no p-value is below 1/{many}",) if many <= fit.how.n_resamples else ()
    return fit.result(sums.null(), (n,), rotated, *few, *notes)
