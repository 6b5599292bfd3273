"""The pass over two tables that adds up their features: what it keeps, how it is saved, and how it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias, cast, final

import numpy as np

from ...core.array import Array, Progress, slices
from ...embedding.features.base import Summary
from ...plan.plan import Plan
from ...tables.columns.encoding import Encoding
from ...tables.columns.missing import sifted
from ...tables.prefetch import ahead
from ...tables.readers import Widened
from ...tables.source import Source
from ..digest import RowDigest
from .checkpoint import Checkpoint, Record
from .column_summaries import TablesSeen
from .first_look import Learnt
from .scan import Scanner
from .two_sample import TwoSampleStream

SECONDS = 60.0  # between two checkpoints
LABEL = "sums of features"
_BATCH_NUMBERS = 2**22
Digests: TypeAlias = tuple[RowDigest, RowDigest]


@final
@dataclass(eq=False)
class TablePass(Summary):
    """Sums of features of the rows so far, what their columns are like, and how many rows of either table were read.

    ``learnt`` is what a first pass found, as :func:`kernelmean.inference.streaming.first_look_file.packed` returns it.
    """

    stream: TwoSampleStream
    seen: TablesSeen
    read: Array
    learnt: dict[str, Any]

    def __post_init__(self) -> None:
        """Check what files may bring."""
        parts = isinstance(self.stream, TwoSampleStream) and isinstance(self.seen, TablesSeen)
        if not (parts and isinstance(self.read, np.ndarray) and self.read.shape == (2,) and (self.read >= 0).all()):
            raise ValueError("sums, columns and the rows that were read do not go together")
        if not isinstance(self.learnt, dict):
            raise TypeError("what a first pass found is no dictionary")

    def __add__(self, other: TablePass) -> TablePass:
        """Return the sums over the rows of both."""
        return TablePass(self.stream + other.stream, self.seen + other.seen, self.read + other.read, self.learnt)


@dataclass(frozen=True)
class _Batch:
    """Coordinates of rows that move, what all rows of the batch are like, how many were read to its end, and which."""

    rows: Array
    seen: TablesSeen | None
    read: int
    digest: RowDigest | None


def run_pass(
    state: TablePass,
    tables: tuple[Source, Source],
    learnt: Learnt,
    encoding: Encoding,
    plan: Plan,
    kept: Checkpoint | None,
    digests: Digests,
    progress: Progress,
) -> TablePass:
    """Add the rows of both tables, from where a checkpoint was saved or from the first one.

    ``digests`` are of the rows that the checkpoint holds, as :func:`verified` returns them. ``progress`` is called
    between two batches; when it raises, the state is saved before that goes on.
    """
    if kept is not None:
        state = _begun(kept, state, learnt, tables)
        if kept.record is not None and kept.record.finished:
            return state
        if kept.record is None:
            kept.save(state, digests)
    watched = digests if kept is not None else (None, None)
    parts = [_batches(table, k, learnt, encoding, int(state.read[k]), watched[k]) for k, table in enumerate(tables)]
    saved, total = time.monotonic(), sum(learnt.rows) + sum(learnt.missing.rows)
    with closing(ahead(parts[0])) as first, closing(ahead(parts[1])) as second:
        whole = True
        try:
            for batches in zip_longest(first, second):
                whole = False
                _add(state, batches, plan)
                digests = _of_both(digests, batches)
                whole = True
                if kept is not None and time.monotonic() - saved >= SECONDS:
                    kept.save(state, digests)
                    saved = time.monotonic()
                done = int(state.read.sum())
                progress(LABEL, done, max(total, done))
        except BaseException:
            if kept is not None and whole:
                kept.save(state, digests)
            raise
    if kept is not None:
        kept.check_whole(digests, *(table.source for table in tables))
        kept.save(state, digests, finished=True)
    return state


def _of_both(digests: Digests, batches: tuple[_Batch | None, _Batch | None]) -> Digests:
    """Return the digests of all rows to the ends of two batches."""
    first, second = (
        old if batch is None or batch.digest is None else batch.digest
        for old, batch in zip(digests, batches, strict=True)
    )
    return first, second


def _add(state: TablePass, batches: tuple[_Batch | None, _Batch | None], plan: Plan) -> None:
    """Add one batch of either table."""
    X, Y = (batch.rows if batch is not None and len(batch.rows) else None for batch in batches)
    state.stream.partial_fit(X, Y, plan=plan)
    for k, batch in enumerate(batches):
        if batch is not None:
            state.seen = state.seen if batch.seen is None else state.seen + batch.seen
            state.read[k] = batch.read


def _batches(
    frames: Source, table: int, learnt: Learnt, encoding: Encoding, read: int, digest: RowDigest | None
) -> Iterator[_Batch]:
    """Yield the coordinates of all rows but those of the pilot, after some that were read before.

    The digest of these, where there is one, goes on with the rows of every batch.
    """
    names = [*frames.names]
    scanner = Scanner(names, encoding) if learnt.seen is None else None
    types = {} if learnt.seen is None else {column.name: column.type for column in learnt.seen.columns}
    rules = Scanner(names, encoding).rules
    pilot = np.sort(learnt.pilot(table).row_numbers())
    most = max(1, _BATCH_NUMBERS // max(1, sum(len(coding.names) for coding in learnt.codings)))
    for frame in frames.after(read):
        for part in slices(len(frame), most):
            rows, seen = frame.take(part), None
            if digest is not None:
                digest = digest.copy()
                digest.add(rows)
            stop = int(rows.row_numbers()[-1])
            if scanner is None:
                rows = sifted(rows, types, rules)[0]
            else:
                scanner.seen = seen = TablesSeen.start(names)
                rows = scanner.add(rows, table)
            moved = rows.take(~np.isin(rows.row_numbers(), pilot)) if len(rows) else rows
            none = np.empty((0, 0))
            yield _Batch(learnt.coordinates(moved) if len(moved) else none, seen, stop, digest)


def _begun(kept: Checkpoint, state: TablePass, learnt: Learnt, tables: tuple[Source, Source]) -> TablePass:
    """Return the sums to go on from; they must be of the same features, which are chosen by the same rows."""
    pilots = [RowDigest(), RowDigest()]
    for k, digest in enumerate(pilots):
        digest.add(learnt.pilot(k))
    sources = [table.source for table in tables]
    kept.check_pilot(" ".join(digest.text for digest in pilots), *sources)
    kept.whole = learnt.whole or kept.whole
    found, record = kept.found, kept.record
    if found is None or record is None:
        return state
    same = [each.name for each in found.seen.columns] == [each.name for each in state.seen.columns]
    same = same and found.read.tolist() == list(record.rows)
    if not same or found.stream.features != state.stream.features or found.stream.deal != state.stream.deal:
        raise kept.of_other_data(*sources)
    return cast(TablePass, found)


def verified(kept: Checkpoint | None, tables: tuple[Source, Source], progress: Progress) -> Digests:
    """Return the digests of the rows that a checkpoint holds, which are read again.

    Raises
    ------
    ValueError
        When they are others, or any row is where the digest of all is known.
    """
    if kept is None or kept.record is None:
        return RowDigest(), RowDigest()
    first, second = (_verified(kept, kept.record, table, k, progress) for k, table in enumerate(tables))
    return first, second


def _verified(kept: Checkpoint, record: Record, table: Source, k: int, progress: Progress) -> RowDigest:
    while True:
        try:
            read, whole = _read_again(table, record.rows[k], record.whole is not None, progress)
        except Widened:
            continue
        if read.text != record.read[k] or (record.whole is not None and whole.text != record.whole[k]):
            raise kept.of_other_data(table.source)
        return read


def _read_again(table: Source, rows: int, to_end: bool, progress: Progress) -> tuple[RowDigest, RowDigest]:
    """Return the digests of the first rows of a table, and of all that were read: to its end, where it is asked for."""
    digest = RowDigest()
    read = digest.copy()
    for frame in table.frames():
        left = rows - digest.rows
        if left <= 0 and not to_end:
            break
        if left > 0:
            digest.add(frame.take(slice(0, left)))
            read = digest.copy()
        if len(frame) > left:
            digest.add(frame.take(slice(max(left, 0), None)))
        progress(
            f"{table.source}: is it what the checkpoint is of?", digest.rows, max(digest.rows, table.n_rows or rows)
        )
    return read, digest
