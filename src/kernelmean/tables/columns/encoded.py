"""Tables of mixed columns as coordinates for a kernel, with the columns that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import getitem
from typing import Any, final

import numpy as np

from ...core.array import Array, BoolArray, IntArray
from ...core.cached import cached_property
from ...core.cells import Declared
from ...core.frozen import Frozen, sealed
from ...core.number_marks import NumberMarks
from ...core.table import Frame, Table, check_size, to_frame
from ...core.words import listed
from ...kernels import Gaussian, Kernel
from .copies import repeated_rows
from .encoding import Encoding
from .kinds import Coding
from .matching import match_columns
from .missing import MissingCells, MissingColumn
from .noisy import NoisyRows
from .scan import TableScan


@final
@dataclass(frozen=True, eq=False)
class Encoded(Frozen):
    """Tables as coordinates: one block for every column that varies."""

    codings: tuple[Coding, ...]
    """The columns that vary, in an order that depends only on their values, not on their positions."""
    tables: tuple[Array, ...]
    """The coordinates, shape (n, D)."""
    variances: tuple[Array, ...] | None
    """The variances of the noise of the coordinates, shape (n, D); None when no cell is noisy."""
    frames: tuple[Frame, ...]
    """The rows that are used."""
    constant: tuple[str, ...]
    """The columns that were left out because they are constant."""
    missing: MissingCells
    remarks: tuple[str, ...] = ()
    """Notes on columns that may be meant differently."""

    def __post_init__(self) -> None:
        """Freeze, and check that the variances have the shapes of the coordinates."""
        super().__post_init__()
        object.__setattr__(self, "frames", tuple(frame.frozen() for frame in self.frames))
        shapes = [table.shape for table in self.tables]
        if self.variances is not None and [each.shape for each in self.variances] != shapes:
            raise AssertionError(f"coordinates of {shapes} have variances of {[each.shape for each in self.variances]}")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        object.__setattr__(self, "frames", tuple(frame.frozen() for frame in self.frames))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of their coordinates."""
        return tuple(coding.name for coding in self.codings)

    def in_table_order(self) -> tuple[str, ...]:
        """Return the columns in the order of the first table."""
        return tuple(name for name in self.frames[0].names if name in self.groups)

    @cached_property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The positions of the coordinates of every column."""
        return groups_of(self.codings)

    def coordinates(self, names: Iterable[str] | None = None) -> tuple[Array, ...]:
        """Return the coordinates of some columns in every table, in the order of ``self.names``."""
        return tuple(table[:, self._index(names)] for table in self.tables)

    def points(self, names: Iterable[str] | None = None) -> tuple[Array, ...]:
        """Return the rows for :meth:`kernel`: the coordinates, followed by their variances if cells are noisy."""
        if self.variances is None:
            return self.coordinates(names)
        index = self._index(names)
        return tuple(
            np.concatenate([table[:, index], noise[:, index]], axis=1)
            for table, noise in zip(self.tables, self.variances, strict=True)
        )

    def kernel(self, kernel: Gaussian) -> Kernel:
        """Return the kernel between rows of :meth:`points`: the kernel of the coordinates, or its expectation."""
        return kernel if self.variances is None else NoisyRows(kernel)

    def check_noise(self, estimator: str) -> None:
        """Raise if missing cells are noise, and a test has no exact kernel for them."""
        if self.variances is not None and estimator != "kme":
            raise ValueError(
                f"missing='noise' has an exact kernel for estimator='kme' only, not for {estimator!r}; write "
                "estimator='kme', or missing='category' or 'drop', which serve every estimator"
            )

    def where(self, masks: Sequence[BoolArray]) -> Encoded:
        """Return the same coordinates of some rows of every table."""
        parts = [None if each is None else tuple(map(getitem, each, masks)) for each in (self.tables, self.variances)]
        frames = tuple(frame.take(mask) for frame, mask in zip(self.frames, masks, strict=True))
        return replace(self, tables=parts[0] or (), variances=parts[1], frames=frames)

    def called(self, names: Sequence[str]) -> Encoded:
        """Return the same with other names of the tables in notes."""
        frames = [replace(frame, source=name) for frame, name in zip(self.frames, names, strict=True)]
        return replace(self, frames=tuple(frames))

    def notes(self, where: str = "", rows: Sequence[int] = ()) -> tuple[str, ...]:
        """Return notes for the reader; ``rows`` are those that were used, if the frames hold only some of them."""
        constant = (f"constant{where}, so left out: {listed(self.constant)}",) if self.constant else ()
        missing = self.missing.notes([frame.source for frame in self.frames], rows or tuple(map(len, self.frames)))
        return (*missing, *constant, *notes_on(self.codings, where), *self.remarks)

    def repeated(self, clusters: Sequence[IntArray] | None = None) -> tuple[str, ...]:
        """Return a note if many rows are copies of another one, with ``clusters`` of one in another cluster."""
        units = None if clusters is None else np.concatenate(clusters)
        return repeated_rows(np.concatenate(self.points()), list(self.groups.values()), units)

    def _index(self, names: Iterable[str] | None) -> IntArray:
        blocks = sorted(self.groups[name] for name in (self.groups if names is None else names))
        return np.array([j for block in blocks for j in block], dtype=np.intp)


ENCODED: tuple[type[Any], ...] = (
    Encoded,
    Frame,
    Declared,
    NumberMarks,
    MissingCells,
    MissingColumn,
)
"""What files of results may hold about the tables behind them, beside kinds of columns and their codings."""


def encode(tables: Sequence[Any], names: Sequence[str], encoding: Encoding) -> Encoded:
    """Return tables as coordinates; columns are matched by name, and their order does not matter.

    Raises
    ------
    ValueError
        When the tables differ in their columns or their types, a cell is missing without a rule or is infinite, or a
        column has too many categories or looks like an identifier.
    TypeError
        When a column holds anything but numbers, categories and times, or holds numbers or times as unread text.
    """
    return encoded_and_seen(as_frames(tables, names), encoding)[0]


def encoded_and_seen(frames: Sequence[Frame], encoding: Encoding) -> tuple[Encoded, TableScan]:
    """Return tables with the same columns as coordinates, and what was seen of their columns."""
    remarks = encoding.inspect(frames)
    scan, kept = TableScan.of(frames, encoding)
    codings, missing = scan.codings(), scan.missing
    if sum(map(len, kept)) < sum(map(len, frames)):
        encoding.inspect(kept)  # a column of too many categories may be one of few, all different, in the rows left
    varying = [coding for coding in codings if coding.varies]
    blocks = [[coding.coordinates(frame) for frame in kept] for coding in varying]
    order = by_shape(varying, blocks)
    chosen = tuple(varying[k] for k in order)
    encoded = Encoded(
        codings=chosen,
        tables=tuple(
            sealed(side_by_side(chosen, [blocks[k][t] for k in order], len(frame))) for t, frame in enumerate(kept)
        ),
        variances=_variances(chosen, kept),
        frames=kept,
        constant=tuple(coding.name for coding in codings if not coding.varies),
        missing=missing,
        remarks=(*missing.costly(map(len, kept)), *remarks),
    )
    return encoded, scan


def by_shape(codings: Sequence[Coding], blocks: Sequence[Sequence[Array]]) -> list[int]:
    """Return the positions of columns in an order that depends neither on theirs in the table, nor on their units.

    ``blocks`` are the coordinates of every column in every table. Names decide between columns of one shape only.
    """
    return sorted(range(len(codings)), key=lambda k: (_shape(np.concatenate(blocks[k])), codings[k].name))


def as_frames(tables: Sequence[Any], names: Sequence[str]) -> tuple[Frame, ...]:
    """Return tables as frames with the columns in the order of the first; arrays take the names of other tables."""
    frames = [to_frame(table, name) for table, name in zip(tables, names, strict=True)]
    for frame in frames:
        check_size(frame)
    named = next((frame for frame in frames if frame.named), frames[0])
    first = frames[0] if frames[0].named else match_columns(named, frames[0])[0]
    return (first, *(match_columns(first, frame)[0] for frame in frames[1:]))


def coordinates_of(codings: Sequence[Coding], frame: Frame) -> Array:
    """Return the coordinates of several columns side by side, shape (n, D)."""
    return side_by_side(codings, [coding.coordinates(frame) for coding in codings], len(frame))


def named(codings: Iterable[Coding], samples: Sequence[Array]) -> list[Any]:
    """Return coordinates with their names, or as they are where two of them are called the same."""
    labels = tuple(label for coding in codings for label in coding.names)
    return [Table(sealed(sample), labels) for sample in samples] if len({*labels}) == len(labels) else [*samples]


def variances_of(codings: Sequence[Coding], frame: Frame) -> Array:
    """Return the variances of the noise of :func:`coordinates_of`, shape (n, D)."""
    return side_by_side(codings, [coding.variances(frame) for coding in codings], len(frame))


def side_by_side(codings: Sequence[Coding], blocks: Sequence[Array], n: int) -> Array:
    """Return the blocks of all columns as one array, after checking their shapes against the names of coordinates."""
    for coding, block in zip(codings, blocks, strict=True):
        if block.shape != (n, len(coding.names)):
            raise AssertionError(f"{coding.name!r} has the coordinates {coding.names}, not a block of {block.shape}")
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((n, 0))


def notes_on(codings: Iterable[Coding], where: str = "") -> tuple[str, ...]:
    """Return notes on how columns are encoded."""
    return tuple(note for coding in codings if (note := coding.note(where)) is not None)


def groups_of(codings: Iterable[Coding]) -> dict[str, tuple[int, ...]]:
    """Return the positions of the coordinates of every column."""
    groups, start = {}, 0
    for coding in codings:
        width = len(coding.names)
        groups[coding.name] = tuple(range(start, start + width))
        start += width
    return groups


def _variances(codings: Sequence[Coding], frames: Sequence[Frame]) -> tuple[Array, ...] | None:
    """Return the variances of the coordinates of every table, None where no cell is noisy."""
    if not any(coding.variance_of_missing for coding in codings):
        return None
    variances = tuple(sealed(variances_of(codings, frame)) for frame in frames)
    return variances if any(noise.any() for noise in variances) else None


def _shape(block: Array) -> float:
    """Return the mean distance of a column's rows from their mean, in standard deviations of the column.

    It does not depend on the order of rows or columns, nor on the unit. It is rounded to nine digits, beyond which the
    order of summation would show.
    """
    distances = np.sort(np.linalg.norm(block - block.mean(axis=0), axis=1))
    unit = distances.max()
    if unit == 0.0:
        return 0.0
    scaled = distances / unit
    return round(float(scaled.mean() / np.sqrt(np.square(scaled).mean())), 9)
