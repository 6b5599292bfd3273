"""The pass over two tables that sums their features: its state, how that is saved, and how it resumes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Self, TypeAlias, final

import numpy as np

from ...core.array import Array, Progress, slices
from ...core.table import Frame
from ...embedding.features.base import Summary
from ...inference.bins.checkpoint import Checkpoint, Record
from ...inference.bins.sample_sums import TwoSums
from ...inference.bins.state import BinState
from ...inference.digest import RowDigest
from ...plan.plan import Plan
from ...tables.columns.column_codings import Coding, coordinates_of
from ...tables.columns.kinds import ColumnType
from ...tables.columns.missing import rules_for, sifted
from ...tables.prefetch import ahead
from ...tables.readers import Widened
from ...tables.source import Source
from .first_look import Learnt

SECONDS = 60.0  # between two checkpoints
LABEL = "sums of features"
_BATCH_NUMBERS = 2**22
Digests: TypeAlias = tuple[RowDigest, RowDigest]


@final
@dataclass(eq=False)
class TablePass(Summary):
    """Sums over bins of the rows so far, and how many rows of each table were read.

    ``learnt`` is what the first pass found, as :func:`kernelmean.studies.comparison.first_look_file.packed` returns it.
    """

    sums: BinState
    read: Array
    learnt: dict[str, Any]

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        counted = isinstance(self.read, np.ndarray) and self.read.shape == (2,) and (self.read >= 0).all()
        if not (counted and isinstance(self.sums, BinState)):
            raise ValueError("sums, and the rows that were read, do not go together")
        if not isinstance(self.learnt, dict):
            raise TypeError("what a first pass found is no dictionary")

    def __add__(self, other: TablePass) -> TablePass:
        """Return the sums over the rows of both."""
        return TablePass(self.sums + other.sums, self.read + other.read, self.learnt)


@dataclass(frozen=True)
class CoordinateBatch:
    """Coordinates of the used rows of a batch, the rows read up to its end, and their digest."""

    rows: Array
    read: int
    digest: RowDigest | None


@final
class Adding:
    """Sums of two tables while their rows are read.

    Parameters
    ----------
    sums : TwoSums
        Sums of no rows.
    found : dict
        What the first pass found, for the checkpoint.
    """

    def __init__(self, sums: TwoSums, found: dict[str, Any]) -> None:
        self.sums, self.found = sums, found
        self.read = np.zeros(2)

    def state(self) -> TablePass:
        """Return the state that a file holds."""
        return TablePass(BinState(tuple(self.sums.state())), self.read.copy(), self.found)

    def restore(self, kept: Checkpoint, sources: Sequence[str]) -> None:
        """Resume from a checkpoint, which must hold features of the same form."""
        arrays = list(kept.found.sums.arrays)
        same = [own.shape for own in arrays] == [own.shape for own in self.sums.state()]
        if kept.record is None or not same or kept.found.read.tolist() != list(kept.record.rows):
            raise kept.of_other_data(*sources)
        self.sums.restore(arrays)
        self.read = kept.found.read

    def add(self, batches: tuple[CoordinateBatch | None, CoordinateBatch | None], plan: Plan) -> None:
        """Add one batch of each table."""
        self.sums.add((None if own is None else own.rows for own in batches), plan)
        for k, own in enumerate(batches):
            if own is not None:
                self.read[k] = own.read


def run_pass(
    adding: Adding,
    tables: tuple[Source, Source],
    learnt: Learnt,
    plan: Plan,
    kept: Checkpoint | None,
    digests: Digests,
    progress: Progress,
) -> None:
    """Add the rows of both tables, from where a checkpoint was saved or from the first row.

    ``digests`` are those of the rows in the checkpoint, as :func:`verified` returns them. ``progress`` is called
    between two batches; if it raises, the state is saved first.
    """
    if kept is not None and kept.record is not None and kept.record.finished:
        return
    if kept is not None and kept.record is None:
        kept.save(adding.state(), digests)
    watched = digests if kept is not None else (None, None)
    parts = [coordinate_batches(table, learnt, int(adding.read[k]), watched[k]) for k, table in enumerate(tables)]
    saved, total = time.monotonic(), sum(learnt.rows) + sum(learnt.missing.rows)
    with closing(ahead(parts[0])) as first, closing(ahead(parts[1])) as second:
        whole = True
        try:
            for batches in zip_longest(first, second):
                whole = False
                adding.add(batches, plan)
                digests = _of_both(digests, batches)
                whole = True
                if kept is not None and time.monotonic() - saved >= SECONDS:
                    kept.save(adding.state(), digests)
                    saved = time.monotonic()
                done = int(adding.read.sum())
                progress(LABEL, done, max(total, done))
        except BaseException:
            if kept is not None and whole:
                kept.save(adding.state(), digests)
            raise
    if kept is not None:
        kept.check_whole(digests, *(table.source for table in tables))
        kept.save(adding.state(), digests, finished=True)


def _of_both(digests: Digests, batches: tuple[CoordinateBatch | None, CoordinateBatch | None]) -> Digests:
    """Return the digests of all rows to the ends of two batches."""
    first, second = (
        old if batch is None or batch.digest is None else batch.digest
        for old, batch in zip(digests, batches, strict=True)
    )
    return first, second


def coordinate_batches(
    frames: Source, learnt: Learnt, read: int = 0, digest: RowDigest | None = None
) -> Iterator[CoordinateBatch]:
    """Yield the coordinates of all used rows after the first ``read`` rows.

    ``digest``, if given, is that of the first rows, and is continued with the rows of every batch.
    """
    used = UsedRows.of(learnt)
    for frame in frames.after(read):
        for rows in used.parts(frame):
            if digest is not None:
                digest = digest.copy()
                digest.add(rows)
            yield CoordinateBatch(used.coordinates(rows), int(rows.row_numbers()[-1]), digest)


@final
@dataclass(frozen=True, eq=False)
class UsedRows:
    """How rows become coordinates: those with missing cells are left out where the rule of a column says so."""

    codings: tuple[Coding, ...]
    types: dict[str, ColumnType]
    rules: dict[str, str]

    @classmethod
    def of(cls, learnt: Learnt) -> Self:
        """Return what a first pass found."""
        types = {column.name: column.type for column in learnt.seen.columns}
        return cls(learnt.codings, types, rules_for(learnt.missing.rule, list(types)))

    def parts(self, frame: Frame) -> Iterator[Frame]:
        """Yield the rows in parts whose coordinates fit in memory."""
        many = max(1, sum(len(coding.names) for coding in self.codings))
        return (frame.take(part) for part in slices(len(frame), max(1, _BATCH_NUMBERS // many)))

    def coordinates(self, rows: Frame) -> Array:
        """Return the coordinates of the rows used."""
        return coordinates_of(self.codings, sifted(rows, self.types, self.rules)[0])


def verified(kept: Checkpoint | None, tables: tuple[Source, Source], progress: Progress) -> Digests:
    """Read the rows that a checkpoint holds again, and return their digests.

    Raises
    ------
    ValueError
        When these rows have changed, or any row if the digest of all rows is known.
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
    """Return the digests of the first rows of a table, and of all rows read; ``to_end`` reads the whole table."""
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
        progress(f"{table.source}: checked against the checkpoint", digest.rows, max(digest.rows, table.n_rows or rows))
    return read, digest
