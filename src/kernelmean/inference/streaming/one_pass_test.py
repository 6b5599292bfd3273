"""A test in one pass: a look at a few rows, sums of features of all of them, and permutations of the sums."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from numbers import Integral
from typing import cast, final

import numpy as np

from ...core.array import Array
from ...core.points import column_order
from ...core.table import Table
from ...core.words import listed
from ...embedding.features import FeatureMap, Fourier
from ...plan.plan import Plan
from ...tables.batchwise import read_together
from ...tables.source import Source, split_rows
from ..digest import RowDigest
from ..questions import Question, TwoSamples
from ..request import Request
from ..result import TestResult
from ..units import units_notes
from .checkpoint import Checkpoint, Saving
from .one_pass_request import Reason, StreamTest
from .pilot import check_left, drawn_rows, kept_note, left_out_note, pilot_rows
from .shifts import PairStream, pair_stream
from .two_sample import TwoSampleStream, two_sample_stream

Batches = tuple[Array | None, Array | None]
Rows = tuple[Iterator[Array], Iterator[Array]]
Two = tuple[Source, Source]


@final
@dataclass(frozen=True, eq=False)
class Pass:
    """Sums before the pass."""

    stream: TwoSampleStream | PairStream
    """The sums so far."""
    batches: Iterable[Batches]
    """The rows that are left; None where a sample has no more."""
    notes: tuple[str, ...]
    saving: Saving | None = None
    """What saves the sums on the way."""

    def filled(self, plan: Plan) -> TwoSampleStream | PairStream:
        """Return the sums of all rows."""
        stream, saving = self.stream, self.saving
        for batches in self.batches:
            stream.partial_fit(*batches, plan=plan)
            if saving is not None:
                saving.added(stream, batches)
        if saving is not None:
            saving.finish(stream)
        return stream


def one_pass(question: type[Question], sources: Two, request: Request, plan: Plan, reason: Reason) -> TestResult:
    """Return the result of a test of rows that are read once.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when columns of samples or lengths of variables differ, there are too few rows
        for the pilot and the test, an option does not go with one pass, or a checkpoint is of other rows or options.
    """
    test = StreamTest.of(question, request, reason)
    passes, path = read_together(*sources)
    if passes == 2:
        raise ValueError(
            "two passes find the scale of columns first, and a test of numbers has none; leave passes= out"
        )
    if question is TwoSamples:
        samples = matched(*sources)
        begun = _samples(samples, test, plan, None if path is None else _kept(path, samples, test, request))
    elif path is None:
        begun = _pairs(*sources, test)
    else:
        raise ValueError("the one-pass test of independence saves no sums; leave checkpoint= out")
    return reason.noted(test.result(begun.filled(plan), begun.notes))


def _units_notes(rows: Sequence[Array], sources: Sequence[Source], study: str) -> tuple[str, ...]:
    """Return what to tell of the spreads of columns, as some rows of one sample or of several show them."""
    tables = [Table(own, source.names) for own, source in zip(rows, sources, strict=True)]
    return units_notes(*tables, study=study, adaptive=False)


# -- two samples ------------------------------------------------------------------------------------------------------


def matched(first: Source, second: Source) -> Two:
    """Return two tables of the same variables; columns with names are matched by name."""
    order = column_order(first, second)
    if order is None:
        raise ValueError(
            f"the samples have different columns: {first.source} has {listed(first.names)}, {second.source} has "
            f"{listed(second.names)}; choose the same ones with kernelmean.read(..., columns=...)"
        )
    return first, second if order == list(range(len(order))) else second.reordered(first.names)


@dataclass(frozen=True)
class _Looked:
    """Features, the rows that move and their numbers (None where unknown), those that stay, what to tell the reader."""

    features: FeatureMap
    sizes: tuple[int, int] | None
    rows: Rows
    notes: tuple[str, ...] = ()
    stay: tuple[Array, Array] | None = None


def _samples(samples: Two, test: StreamTest, plan: Plan, kept: Checkpoint | None) -> Pass:
    """Return sums over bins; rows that a rule looked at are added to them already."""
    looked = _looked(samples, test)
    stream, notes = two_sample_stream(looked.features, sizes=looked.sizes, seed=test.seed), looked.notes
    if looked.stay is not None:
        stream.keep(*looked.stay, plan=plan)
        notes = (*notes, kept_note(sum(map(len, looked.stay))))
        notes += _units_notes(looked.stay, samples, "compare") if test.default else ()
    if kept is None:
        return Pass(stream, zip_longest(*looked.rows), notes)
    stream, rows, digests = _resumed(stream, looked, kept, samples)
    return Pass(stream, zip_longest(*rows), notes, Saving(kept, digests))


def _looked(samples: Two, test: StreamTest) -> _Looked:
    """Look at a few rows, and keep them apart where a rule chose a bandwidth by them."""
    first, second = samples
    sizes = None if first.n_rows is None or second.n_rows is None else (first.n_rows, second.n_rows)
    if test.options.features is not None:
        return _Looked(test.options.features, sizes, (iter(first), iter(second)))
    looks, taken = test.looks(len(first.names)), pilot_rows((first.n_rows, second.n_rows), test.options.pilot)
    if looks and sizes is not None:
        check_left(sizes, taken)
        drawn = enumerate(zip(samples, sizes, taken, strict=True))
        (head, left), (other, right) = (drawn_rows(*own, test.seed + k) for k, own in drawn)
        sizes = sizes[0] - taken[0], sizes[1] - taken[1]
    else:
        (head, left), (other, right) = (_first_rows(source, many) for source, many in zip(samples, taken, strict=True))
    features, notes = test.features(np.concatenate([head, other]))
    if looks:
        return _Looked(features, sizes, (left, right), notes, (head, other))
    return _Looked(features, sizes, (chain([head], left), chain([other], right)), notes)


def _first_rows(batches: Source, many: int) -> tuple[Array, Iterator[Array]]:
    head, rest = split_rows(iter(batches), many)
    if head is None:
        raise ValueError(f"{batches.source} has no rows")
    return head, rest


def _kept(path: str | os.PathLike[str], samples: Two, test: StreamTest, request: Request) -> Checkpoint:
    """Return the file that sums are saved to, and what it holds already of these columns and options."""
    if not isinstance(request.rng, Integral):
        raise TypeError(f"rng is {request.rng!r}; sums that are saved go on with one seed, so write an integer")
    return Checkpoint(path, {"columns": [list(source.names) for source in samples], **test.record()}, TwoSampleStream)


def _resumed(
    stream: TwoSampleStream, looked: _Looked, kept: Checkpoint, samples: Two
) -> tuple[TwoSampleStream, Rows, tuple[RowDigest, RowDigest]]:
    """Return the sums so far, the rows that are left, and the digests of those that were added."""
    sources = f"X ({samples[0].source})", f"Y ({samples[1].source})"
    pilot, digests = RowDigest(), (RowDigest(), RowDigest())
    for rows in looked.stay or ():
        pilot.add(rows)
    kept.check_pilot(pilot.text, *sources)
    found, record = kept.found, kept.record
    if found is None or record is None:
        return stream, looked.rows, digests
    same = (found.first.stop, found.second.stop) == record.rows
    if not same or found.features != stream.features or found.deal != stream.deal:
        raise kept.of_other_data(*sources)
    left, right = (kept.after(rows, k, digests[k], sources[k]) for k, rows in enumerate(looked.rows))
    return found, (left, right), digests


# -- two variables ----------------------------------------------------------------------------------------------------


def _pairs(first: Source, second: Source, test: StreamTest) -> Pass:
    """Return sums over groups of pairs; pairs that a rule looked at are left out."""
    if None not in (first.n_rows, second.n_rows) and first.n_rows != second.n_rows:
        raise _unequal(first, second)
    (taken,) = pilot_rows((first.n_rows,), test.options.pilot)
    head, rest = split_rows(_side_by_side(first, second), taken)
    if head is None:
        raise ValueError(f"{first.source} has no rows")
    split = len(first.names)
    variables = head[:, :split], head[:, split:]
    features, notes = test.features(*variables)
    stream = pair_stream(cast("Fourier", features))
    batches = ((rows[:, :split], rows[:, split:]) for rows in rest)
    if not test.looks(split, len(second.names)):
        return Pass(stream, chain([variables], batches), notes)
    notes = (*notes, left_out_note(len(head)))
    for rows, source in zip(variables, (first, second), strict=True) if test.default else ():
        notes += _units_notes((rows,), (source,), "dependence")
    return Pass(stream, batches, notes)


def _side_by_side(first: Source, second: Source) -> Iterator[Array]:
    """Yield the columns of both side by side, in batches of whatever size both can give."""
    others = iter(second)
    for batch in first:
        head, others = split_rows(others, len(batch))
        if head is None or len(head) < len(batch):
            raise _unequal(first, second)
        yield np.hstack([batch, head])
    if next(others, None) is not None:
        raise _unequal(first, second)


def _unequal(first: Source, second: Source) -> ValueError:
    return ValueError(
        f"{first.source} and {second.source} have different numbers of rows; row i of X and row i of Y must be one "
        "observation"
    )
