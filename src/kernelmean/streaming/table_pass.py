"""The pass over two tables that adds up their features: what it keeps, how it is saved, and how it goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

import numpy as np

from .._array import Array, Progress, slices
from ..columns.encoded import Encoding
from ..columns.missing import sifted
from ..features.base import Summary
from ..io import load, save
from ..plan import Plan
from .ahead import ahead
from .frames import Frames
from .learn import Learnt
from .mmd import not_of_this
from .scan import Scanner
from .seen import TablesSeen
from .two_sample import TwoSampleStream

SECONDS = 60.0  # between two checkpoints
LABEL = "sums of features"
_BATCH_NUMBERS = 2**22


@final
@dataclass(eq=False)
class TablePass(Summary):
    """Sums of features of the rows so far, what their columns are like, and how many rows of either table were read.

    ``learnt`` is what a first pass found, as :func:`kernelmean.streaming.kept.packed` returns it.
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
    """Coordinates of rows that move, what all rows of the batch are like, and how many were read to its end."""

    rows: Array
    seen: TablesSeen | None
    read: int


def run_pass(
    state: TablePass,
    tables: tuple[Frames, Frames],
    learnt: Learnt,
    encoding: Encoding,
    plan: Plan,
    checkpoint: str | os.PathLike[str] | None,
    progress: Progress,
    saved_state: TablePass | None = None,
) -> TablePass:
    """Add the rows of both tables, from where a checkpoint was saved or from the first one.

    ``progress`` is called between two batches; when it raises, the state is saved before that goes on.
    """
    if saved_state is not None and checkpoint is not None:
        state = _fitting(saved_state, state, checkpoint)
    elif checkpoint is not None:
        save(state, checkpoint)
    parts = [_batches(table, k, learnt, encoding, int(state.read[k])) for k, table in enumerate(tables)]
    saved, total = time.monotonic(), sum(learnt.rows) + sum(learnt.missing.rows)
    with closing(ahead(parts[0])) as first, closing(ahead(parts[1])) as second:
        whole = True
        try:
            for batches in zip_longest(first, second):
                whole = False
                _add(state, batches, plan)
                whole = True
                if checkpoint is not None and time.monotonic() - saved >= SECONDS:
                    save(state, checkpoint)
                    saved = time.monotonic()
                done = int(state.read.sum())
                progress(LABEL, done, max(total, done))
        except BaseException:
            if checkpoint is not None and whole:
                save(state, checkpoint)
            raise
    if checkpoint is not None:
        save(state, checkpoint)
    return state


def _add(state: TablePass, batches: tuple[_Batch | None, _Batch | None], plan: Plan) -> None:
    """Add one batch of either table."""
    X, Y = (batch.rows if batch is not None and len(batch.rows) else None for batch in batches)
    state.stream.partial_fit(X, Y, plan=plan)
    for k, batch in enumerate(batches):
        if batch is not None:
            state.seen = state.seen if batch.seen is None else state.seen + batch.seen
            state.read[k] = batch.read


def _batches(frames: Frames, table: int, learnt: Learnt, encoding: Encoding, read: int) -> Iterator[_Batch]:
    """Yield the coordinates of all rows but those of the pilot, after some that were read before."""
    names = [*frames.names]
    scanner = Scanner(names, encoding) if learnt.seen is None else None
    types = {} if learnt.seen is None else {column.name: column.type for column in learnt.seen.columns}
    rules = Scanner(names, encoding).rules
    pilot = np.sort(learnt.pilot(table).row_numbers())
    most = max(1, _BATCH_NUMBERS // max(1, sum(len(coding.names) for coding in learnt.codings)))
    for frame in frames.after(read):
        for part in slices(len(frame), most):
            rows, seen = frame.take(part), None
            stop = int(rows.row_numbers()[-1])
            if scanner is None:
                rows = sifted(rows, types, rules)[0]
            else:
                scanner.seen = seen = TablesSeen.start(names)
                rows = scanner.add(rows, table)
            moved = rows.take(~np.isin(rows.row_numbers(), pilot)) if len(rows) else rows
            none = np.empty((0, 0))
            yield _Batch(learnt.coordinates(moved) if len(moved) else none, seen, stop)


def saved_pass(checkpoint: str | os.PathLike[str] | None) -> TablePass | None:
    """Return what a checkpoint holds, None where there is none."""
    if checkpoint is None or not os.path.exists(checkpoint):
        return None
    found = load(checkpoint)
    if not isinstance(found, TablePass):
        raise not_of_this(checkpoint)
    return found


def _fitting(found: TablePass, state: TablePass, checkpoint: str | os.PathLike[str]) -> TablePass:
    """Return what was saved, when it is of the same comparison."""
    same = [each.name for each in found.seen.columns] == [each.name for each in state.seen.columns]
    if not same or found.stream.features != state.stream.features or found.stream.deal != state.stream.deal:
        raise not_of_this(checkpoint)
    return found
