"""A test in bins of rows in this process: lengths, a pilot, one pass that adds up, and permutations of the sums."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import zip_longest
from numbers import Integral
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.table import Table
from ...core.words import count
from ...plan.plan import Plan, serial_blas
from ...tables.batchwise import read_together, readable
from ...tables.prefetch import ahead
from ...tables.source import Source
from ..designs.design import Design
from ..digest import RowDigest
from ..engine import check_memory
from ..questions import Question, TwoSamples
from ..request import Request
from ..resampling_options import resources_of
from ..result import TestResult
from .checkpoint import Checkpoint, Saving
from .dealing import deal
from .fitting import Fitted, fitted
from .pairs import PairSums, memory_of, pilot_rows, rotations
from .reading import Two, batches, length, matched, taken, unequal, windows
from .request import BinnedTest, Reason
from .sample_sums import SampleSums, TwoSums
from .state import BinState, Resumable
from .two_samples import Bins, binned_null

Rows = tuple[Iterator[Array], Iterator[Array]]


def binned_test(kind: type[Question], sources: Two, request: Request, plan: Plan, reason: Reason) -> TestResult:
    """Return the result of a test whose rows are added up in bins.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when columns of samples or lengths of variables differ, there are too few rows,
        an option does not work with bins, or a checkpoint belongs to other rows or options.
    """
    test = BinnedTest.of(kind, request, reason)
    path = _said(sources)
    sources = matched(*sources) if kind is TwoSamples else sources
    kept = None if path is None else _kept(path, sources, test)
    run = _samples if kind is TwoSamples else _pairs
    with serial_blas, readable(sources[0]) as first, readable(sources[1]) as second:
        return reason.noted(run((first, second), test, plan, kept))


def _said(sources: Two) -> str | os.PathLike[str] | None:
    """Return where sums are saved; None for arrays."""
    first, second = sources
    return read_together(first, second) if isinstance(first, Source) and isinstance(second, Source) else None


def _kept(path: str | os.PathLike[str], sources: Two, test: BinnedTest) -> Checkpoint:
    """Return the file to which sums are saved, with what it already holds for these columns and options."""
    if not isinstance(test.request.rng, Integral):
        raise TypeError(f"rng is {test.request.rng!r}; sums that are saved go on with one seed, so write an integer")
    return Checkpoint(path, {"columns": [list(source.names) for source in sources], **test.record()}, BinState)


def pilot_question(test: BinnedTest, sources: Any, rows: tuple[Array, Array]) -> Question:
    """Return the question of a test about the rows of a pilot."""
    tables = [Table(own, source.names, named=source.named) for own, source in zip(rows, sources, strict=True)]
    return test.question.of(tables, Design())


def _begun(
    kept: Checkpoint | None,
    pilot: tuple[Array, Array],
    rows: Rows,
    sources: Two,
    sums: Resumable,
    sizes: tuple[int, ...],
) -> tuple[Rows, Saving | None]:
    """Return the rows that are still to be added, and the object that saves the sums on the way.

    The number of rows determines the bin or the stripe of every row: a table that has grown is another table.
    """
    if kept is None:
        return rows, None
    names = f"X ({sources[0].source})", f"Y ({sources[1].source})"
    looked_at, digests = RowDigest(), (RowDigest(), RowDigest())
    for own in pilot:
        looked_at.add(own)
    looked_at.add(np.array([sizes], dtype=np.float64))
    kept.check_pilot(looked_at.text, *names)
    if kept.record is None:
        return rows, Saving(kept, digests)
    if [own.shape for own in kept.found.arrays] != [own.shape for own in sums.state()]:
        raise kept.of_other_data(*names)
    sums.restore(list(kept.found.arrays))
    first, second = (kept.after(own, k, digests[k], names[k]) for k, own in enumerate(rows))
    return (first, second), Saving(kept, digests)


# -- two samples ------------------------------------------------------------------------------------------------------


def _samples(sources: Two, test: BinnedTest, plan: Plan, kept: Checkpoint | None) -> TestResult:
    n, m = map(length, sources)
    deals = deal(n, m, test.seed)
    pilot = taken(sources[0], deals[0].fitted_to), taken(sources[1], deals[1].fitted_to)
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n, m), test.seed)
    both = TwoSums(*(SampleSums(fit.columns[0], own) for own in deals))
    rows, saving = _begun(kept, pilot, (batches(sources[0]), batches(sources[1])), sources, both, (n, m))
    with closing(ahead(zip_longest(*rows))) as found:
        for batch in found:
            both.add(batch, plan)
            if saving is not None:
                saving.added(BinState(tuple(both.state())), batch)
    if saving is not None:
        saving.finish(BinState(tuple(both.state())))
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


def _pairs(sources: Two, test: BinnedTest, plan: Plan, kept: Checkpoint | None) -> TestResult:
    n = length(sources[0])
    if n != length(sources[1]):
        raise unequal(*sources)
    many = rotations(n, test.request.n_resamples)
    numbers = pilot_rows(n, many, test.seed)
    pilot = taken(sources[0], numbers), taken(sources[1], numbers)
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n,), test.seed)
    x, y = fit.columns
    sums = PairSums.empty(x, y, fit.kernels, many, test.seed)
    check_memory(memory_of(sums.pairs, many), resources_of(plan), f"{many:,} rotations", n)
    rows, saving = _begun(kept, pilot, (batches(sources[0]), batches(sources[1])), sources, sums, (n,))
    with closing(ahead(windows(rows, sources, sums.window))) as read:
        for both in read:
            sums.add(*both, plan)
            if saving is not None:
                saving.added(BinState(tuple(sums.state())), both)
    if saving is not None:
        saving.finish(BinState(tuple(sums.state())))
    return of_pairs(fit, sums, n)


def of_pairs(fit: Fitted, sums: PairSums, n: int, *notes: str) -> TestResult:
    """Return the result of ``n`` pairs from their sums."""
    many = sums.rotations
    stripes = f"{many} rotations, of stripes of that many pairs; pairs are shuffled within {sums.window:,}"
    few = (f"{many} pairs have {many} rotations: no p-value is below 1/{many}",) if many <= fit.how.n_resamples else ()
    return fit.result(sums.null(n), (n,), stripes, *few, *notes)
