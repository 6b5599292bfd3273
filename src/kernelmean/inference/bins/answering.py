"""A test in bins of rows in this process: lengths, a pilot, one pass that adds up, and permutations of the sums."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, zip_longest
from numbers import Integral
from typing import Any

from ...core.array import Array
from ...core.table import Table
from ...core.words import count
from ...plan.plan import Plan
from ...plan.tiles import serial_blas
from ...tables.batchwise import read_together
from ...tables.source import Source, split_rows
from ..designs.design import Design
from ..digest import RowDigest
from ..questions import Question, TwoSamples
from ..request import Request
from ..result import TestResult
from ..streaming.checkpoint import Checkpoint, Saving
from .dealing import PILOT, deal
from .fitting import Fitted, fitted
from .pairs import PairSums, pilot_rows, rotations
from .reading import batches, length, matched, side_by_side, taken, unequal, windows
from .request import BinnedTest, Reason
from .sample_sums import DealtSums, RunSums, SampleSums
from .state import BinState, Resumable
from .two_samples import Bins, binned_null

Two = tuple[Source, Source]
Rows = tuple[Iterator[Array], Iterator[Array]]
_SHARE = 10
"""Of a sample that can be read once only, at most one row in so many stays, since features are fitted to it."""
_RUNS_NOTE = (
    "bins are runs of consecutive rows: exact for rows in random order; where rows are sorted, or drift alike in both "
    "samples, p is larger than need be"
)


def binned_test(kind: type[Question], sources: Two, request: Request, plan: Plan, reason: Reason) -> TestResult:
    """Return the result of a test whose rows are added up in bins.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when columns of samples or lengths of variables differ, there are too few rows,
        an option does not go with bins, or a checkpoint is of other rows or options.
    """
    test = BinnedTest.of(kind, request, reason)
    passes, path = read_together(*sources)
    if passes == 2:
        raise ValueError(
            "two passes find the scale of columns first, and a test of numbers has none; leave passes= out"
        )
    sources = matched(*sources) if kind is TwoSamples else sources
    kept = None if path is None else _kept(path, sources, test)
    with serial_blas:
        return reason.noted((_samples if kind is TwoSamples else _pairs)(sources, test, plan, kept))


def _kept(path: str | os.PathLike[str], sources: Two, test: BinnedTest) -> Checkpoint:
    """Return the file that sums are saved to, and what it holds already of these columns and options."""
    if not isinstance(test.request.rng, Integral):
        raise TypeError(f"rng is {test.request.rng!r}; sums that are saved go on with one seed, so write an integer")
    return Checkpoint(path, {"columns": [list(source.names) for source in sources], **test.record()}, BinState)


def pilot_question(test: BinnedTest, sources: Any, rows: tuple[Array, Array]) -> Question:
    """Return the question that a test asks, asked of the rows of a pilot."""
    tables = [Table(own, source.names, named=source.named) for own, source in zip(rows, sources, strict=True)]
    return test.question.of(tables, Design())


def _begun(
    kept: Checkpoint | None, pilot: tuple[Array, Array], rows: Rows, sources: Two, sums: Resumable
) -> tuple[Rows, Saving | None]:
    """Return the rows that are still to be added, and what saves the sums on the way."""
    if kept is None:
        return rows, None
    names = f"X ({sources[0].source})", f"Y ({sources[1].source})"
    looked_at, digests = RowDigest(), (RowDigest(), RowDigest())
    for own in pilot:
        looked_at.add(own)
    kept.check_pilot(looked_at.text, *names)
    if kept.record is None:
        return rows, Saving(kept, digests)
    if [own.shape for own in kept.found.arrays] != [own.shape for own in sums.state()]:
        raise kept.of_other_data(*names)
    sums.restore(list(kept.found.arrays))
    first, second = (kept.after(own, k, digests[k], names[k]) for k, own in enumerate(rows))
    return (first, second), Saving(kept, digests)


# -- two samples ------------------------------------------------------------------------------------------------------


class _Both:
    """The sums of two samples."""

    def __init__(self, first: SampleSums, second: SampleSums) -> None:
        self.each = first, second

    def state(self) -> list[Array]:
        """Return all that was added up."""
        return [array for own in self.each for array in own.state()]

    def restore(self, arrays: list[Array]) -> None:
        """Go on from what was added up elsewhere."""
        split = len(self.each[0].state())
        self.each[0].restore(arrays[:split])
        self.each[1].restore(arrays[split:])

    def fill(self, rows: Rows, saving: Saving | None, plan: Plan) -> None:
        """Add all rows."""
        for both in zip_longest(*rows):
            for own, batch in zip(self.each, both, strict=True):
                if batch is not None:
                    own.add(batch, plan)
            if saving is not None:
                saving.added(BinState(tuple(self.state())), both)
        if saving is not None:
            saving.finish(BinState(tuple(self.state())))


def _samples(sources: Two, test: BinnedTest, plan: Plan, kept: Checkpoint | None) -> TestResult:
    n, m = map(length, sources)
    if n is None or m is None:
        return _runs(sources, (n, m), test, plan, kept)
    deals = deal(n, m, test.seed)
    pilot = taken(sources[0], deals[0].fitted_to), taken(sources[1], deals[1].fitted_to)
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n, m), test.seed)
    first, second = (DealtSums(fit.columns[0], own) for own in deals)
    both = _Both(first, second)
    both.fill(*_begun(kept, pilot, (batches(sources[0]), batches(sources[1])), sources, both), plan)
    return of_samples(test, fit, first.bins(), second.bins())


def of_samples(test: BinnedTest, fit: Fitted, first: Bins, second: Bins, *notes: str) -> TestResult:
    """Return the result of two samples from their sums."""
    null = binned_null(fit.columns[0], (first, second), test.request.statistic, fit.how)
    bins = f"{len(first.full)} and {len(second.full)} bins of {count(first.size, 'row')}"
    return fit.result(null, (first.n, second.n), bins, *notes)


def _runs(
    sources: Two, sizes: tuple[int | None, int | None], test: BinnedTest, plan: Plan, kept: Checkpoint | None
) -> TestResult:
    """Return the result of samples of which one can be read once only."""
    heads: list[tuple[Array, Iterator[Array]]] = []
    for source, n in zip(sources, sizes, strict=True):
        head, rest = split_rows(batches(source), PILOT // 2 if n is None else max(1, min(PILOT // 2, n // _SHARE)))
        if head is None:
            raise ValueError(f"{source.source} has no rows")
        heads.append((head, rest))
    pilot, rows = (heads[0][0], heads[1][0]), (heads[0][1], heads[1][1])
    least = min(PILOT * _SHARE if n is None else n for n in sizes)  # where weights no longer change with the size
    fit = fitted(pilot_question(test, sources, pilot), test.request, (least, least), test.seed)
    first, second = RunSums(fit.columns[0]), RunSums(fit.columns[0])
    first.keep(pilot[0], plan)
    second.keep(pilot[1], plan)
    both = _Both(first, second)
    both.fill(*_begun(kept, pilot, rows, sources, both), plan)
    size = min(first.size, second.size)
    stay = f"{count(sum(map(len, pilot)), 'row')} that features were fitted to stay in their sample"
    return of_samples(test, fit, first.bins(size), second.bins(size), _RUNS_NOTE, stay)


# -- two variables ----------------------------------------------------------------------------------------------------


def _pairs(sources: Two, test: BinnedTest, plan: Plan, kept: Checkpoint | None) -> TestResult:
    n, m = map(length, sources)
    if n != m and None not in (n, m):
        raise unequal(*sources)
    if n is None or m is None:
        return _pairs_once(sources, test, plan, kept)
    many = rotations(n, test.request.n_resamples)
    numbers = pilot_rows(n, many, test.seed)
    pilot = taken(sources[0], numbers), taken(sources[1], numbers)
    sums = _empty(sources, pilot, test, n, many)
    rows, saving = _begun(kept, pilot, (batches(sources[0]), batches(sources[1])), sources, sums[1])
    return _paired(sources, windows(side_by_side(rows, sources), sums[1].window), *sums, saving, plan)


def _pairs_once(sources: Two, test: BinnedTest, plan: Plan, kept: Checkpoint | None) -> TestResult:
    """Return the result of variables of which one can be read once only: features are fitted to its first rows."""
    if kept is not None:
        raise ValueError(
            "pairs that can be read once only save no sums; pass a file, a folder or a list of batches, or leave "
            "checkpoint= out"
        )
    many = rotations(None, test.request.n_resamples)
    split = len(sources[0].names)
    rows = windows(side_by_side((batches(sources[0]), batches(sources[1])), sources), PairSums.window_of(many))
    first = next(rows)
    head = first[pilot_rows(len(first), many, test.seed)]
    sums = _empty(sources, (head[:, :split], head[:, split:]), test, len(first), many)
    return _paired(sources, chain([first], rows), *sums, None, plan)


def _empty(sources: Two, pilot: tuple[Array, Array], test: BinnedTest, n: int, many: int) -> tuple[Fitted, PairSums]:
    fit = fitted(pilot_question(test, sources, pilot), test.request, (n,), test.seed)
    x, y = fit.columns
    return fit, PairSums.empty(x, y, fit.kernels, many, test.seed)


def _paired(
    sources: Two, rows: Iterator[Array], fit: Fitted, sums: PairSums, saving: Saving | None, plan: Plan
) -> TestResult:
    split = len(sources[0].names)
    for window in rows:
        both = window[:, :split], window[:, split:]
        sums.add(*both, plan)
        if saving is not None:
            saving.added(BinState(tuple(sums.state())), both)
    if saving is not None:
        saving.finish(BinState(tuple(sums.state())))
    return of_pairs(fit, sums)


def of_pairs(fit: Fitted, sums: PairSums, *notes: str) -> TestResult:
    """Return the result of two variables from their sums."""
    stripes = f"{sums.rotations} rotations, of stripes of so many pairs; pairs are shuffled within {sums.window:,}"
    return fit.result(sums.null(), (sums.rows,), stripes, *notes)
