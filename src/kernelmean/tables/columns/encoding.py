"""Tables of mixed columns as coordinates for a kernel, with the columns that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.cached import cached_property
from ...core.cells import Declared, column_name
from ...core.frozen import Frozen, sealed
from ...core.table import Frame, check_size, to_frame
from ...core.validate import check_integer
from ...core.words import EVERY, did_you_mean, listed
from ...kernels import Gaussian, Kernel
from ..limits import MAX_CATEGORIES
from .column_codings import (
    Categories,
    Coding,
    Numbers,
    TooManyCategoriesError,
    pooled_categories,
    side_by_side,
    variances_of,
)
from .copies import repeated_rows
from .inspection import Inspection
from .kinds import ColumnType, Named, agreed_types
from .matching import match_columns
from .missing import BlankCellsError, Missing, MissingCells, MissingColumn, rules_for, settle
from .noisy import NoisyRows


class EncodingOptions(TypedDict, total=False):
    """The options of an :class:`Encoding`, as keywords of functions of whole tables."""

    missing: Missing
    ordinal: Mapping[str, Iterable[Any]] | None
    categorical: str | Iterable[str]
    scale: bool
    keep: str | Iterable[str]
    max_categories: int


@final
@dataclass(frozen=True)
class Encoding:
    """How columns become coordinates: what they hold, and what to do with missing cells.

    Parameters
    ----------
    missing : {"error", "drop", "category", "noise"}, or dict from column to one of them
        What to do with a missing cell: raise an error; leave its row out; take it as a category of its own (for
        numbers: the mean, and an indicator); or take it as a noisy number, N(mean, variance) of the column. With a
        dict, all other columns have the rule under "*", or must be complete.
    ordinal : dict from str to sequence, optional
        The levels of ordinal columns, lowest first. You need not name columns of an ordered categorical type.
    categorical : str or iterable of str
        Columns that hold categories although their cells are numbers or dates, or nearly all different.
    scale : bool
        Divide every column by its standard deviation; categories have that scale in any case.
    max_categories : int
        Of a column with more categories the most frequent ones, so many, are kept, and the others are one category.
        They are counted over all tables, and of equally frequent ones the first by the alphabet is kept.
    keep : str or iterable of str
        Columns of integers to use although they look like identifiers.
    drops : bool
        Whether rows may be left out; if so, errors suggest it.

    Examples
    --------
    >>> Encoding(missing="drop", ordinal={"size": ["low", "high"]}).scale
    True
    """

    missing: Missing = "error"
    ordinal: Mapping[str, Iterable[Any]] | None = None
    categorical: str | Iterable[str] = ()
    scale: bool = True
    max_categories: int = MAX_CATEGORIES
    keep: str | Iterable[str] = field(default=(), repr=False)  # changes no number: a monitor's checkpoint stays valid
    drops: bool = field(default=True, repr=False)  # whether rows may be left out; if so, errors suggest it

    def __post_init__(self) -> None:
        check_integer(self.max_categories, "max_categories", 2)
        kept = (self.keep,) if isinstance(self.keep, str) else self.keep
        object.__setattr__(self, "keep", tuple(map(column_name, kept)))
        for name in ("missing", "ordinal", "categorical"):  # a caller could change them, or read them once only
            said = getattr(self, name)
            if isinstance(said, Mapping):
                said = {column_name(column): said[column] for column in said}
            object.__setattr__(self, name, tuple(said) if isinstance(said, Iterator) else deepcopy(said))

    @classmethod
    def of(cls, encoding: Encoding | None, options: EncodingOptions) -> Encoding:
        """Return the encoding that keywords describe, or the one that was passed instead.

        Raises
        ------
        TypeError
            When a keyword is not in EncodingOptions, or ``encoding`` is not an Encoding.
        ValueError
            When both are passed.
        """
        known = EncodingOptions.__annotations__
        for name in options:
            if name not in known:
                raise TypeError(
                    f"there is no option {name!r}{did_you_mean(name, known)}; the options are {listed(known)}"
                )
        if encoding is None:
            return cls(**options)
        if not isinstance(encoding, Encoding):
            raise TypeError(f"encoding is {encoding!r}; write kernelmean.tables.Encoding(...), or leave it out")
        if options:
            raise ValueError(
                f"encoding= says how columns are read already; write {listed(f'{name}=' for name in options)} in it"
            )
        return encoding

    def options(self) -> dict[str, Any]:
        """Return the options as plain values by name; equal meanings give equal values."""
        return {
            "missing": self.missing if isinstance(self.missing, str) else dict(self.missing),
            "ordinal": dict(self.named.ordinal),
            "categorical": sorted(self.named.categorical),
            "scale": bool(self.scale),
            "max_categories": self.max_categories,
        }

    @property
    def named(self) -> Named:
        """The columns whose kind the user named."""
        return Named.of(self.ordinal, self.categorical)

    def inspection(self, frame: Frame, tables: int) -> Inspection:
        """Return the inspection of tables with the columns of a frame."""
        return Inspection(frame, tables, self.named, tuple(self.keep), max(self.max_categories, MAX_CATEGORIES))

    def inspect(self, frames: Sequence[Frame]) -> tuple[str, ...]:
        """Return notes on columns of whole tables, or raise when one is unusable as it is."""
        found = self.inspection(frames[0], len(frames))
        for table, frame in enumerate(frames):
            found.add(frame, table)
        return found.check()

    def fit(
        self, frames: Sequence[Frame], *, whole: bool = True
    ) -> tuple[tuple[Coding, ...], tuple[Frame, ...], MissingCells]:
        """Return the coding of every column, the frames without rows that are left out, and the missing cells.

        Of ``whole`` tables, columns with many categories are refused if these identify rows.
        """
        types = agreed_types(frames, self.named)
        try:
            kept, rules, missing = settle(frames, types, self.missing, drops=self.drops)
        except BlankCellsError as error:
            raise ValueError(f"{error}{self._wide(types, frames)}") from None
        return tuple(self._codings(types, kept, rules, whole)), kept, missing

    def _wide(self, types: Mapping[str, ColumnType], frames: Sequence[Frame]) -> str:
        """Return what to say of columns with too many categories behind the error that comes before theirs."""
        try:
            list(self._codings(types, frames, dict.fromkeys(types, "category")))
        except ValueError as error:
            return f". Also, {error}" if isinstance(error, TooManyCategoriesError) else ""
        return ""

    def restricted(self, frame: Frame, names: Sequence[str]) -> Encoding:
        """Return the encoding restricted to some columns of a frame, after checking that all columns it names exist."""
        rules_for(self.missing, frame.names)
        frame.select([*self.named.ordinal, *self.named.categorical, *self.keep])
        missing = self.missing if isinstance(self.missing, str) else _of(self.missing, (*names, EVERY))
        ordinal, named = _of(self.named.ordinal, names), self.named.categorical
        categorical, kept = (tuple(name for name in own if name in names) for own in (named, self.keep))
        return replace(self, missing=missing, ordinal=ordinal, categorical=categorical, keep=kept)

    def _codings(
        self, types: Mapping[str, ColumnType], frames: Sequence[Frame], rules: Mapping[str, str], whole: bool = True
    ) -> Iterator[Coding]:
        """Yield the coding of every column; one error names all columns with too many categories."""
        wide: dict[str, str] = {}
        limit = self.max_categories
        for name, column in types.items():
            if column.kind not in ("boolean", "categorical"):
                yield Numbers.fit(name, column, frames, rules[name], self.scale)
                continue
            try:
                yield Categories.fit(name, column, frames, rules[name], self.max_categories, whole=whole)
            except TooManyCategoriesError as error:
                wide |= error.found
                limit = error.most
        if wide:
            raise TooManyCategoriesError(wide, limit)


def _of(said: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name in names}


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

    def notes(self, where: str = "", rows: Sequence[int] = ()) -> tuple[str, ...]:
        """Return notes for the reader; ``rows`` are those that were used, if the frames hold only some of them."""
        constant = (f"constant{where}, so left out: {listed(self.constant)}",) if self.constant else ()
        missing = self.missing.notes([frame.source for frame in self.frames], rows or tuple(map(len, self.frames)))
        pooled = pooled_categories(self.codings, where)
        return (*missing, *constant, *pooled, *self.remarks)

    def repeated(self, clusters: Sequence[IntArray] | None = None) -> tuple[str, ...]:
        """Return a note if many rows are copies of another one, with ``clusters`` of one in another cluster."""
        units = None if clusters is None else np.concatenate(clusters)
        return repeated_rows(np.concatenate(self.points()), list(self.groups.values()), units)

    def _index(self, names: Iterable[str] | None) -> IntArray:
        blocks = sorted(self.groups[name] for name in (self.groups if names is None else names))
        return np.array([j for block in blocks for j in block], dtype=np.intp)


ENCODED: tuple[type[Any], ...] = (
    Encoded,
    Numbers,
    Categories,
    ColumnType,
    Frame,
    Declared,
    MissingCells,
    MissingColumn,
)
"""What files of results may hold about the tables behind them."""


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
    frames = as_frames(tables, names)
    remarks = encoding.inspect(frames)
    codings, kept, missing = encoding.fit(frames)
    if sum(map(len, kept)) < sum(map(len, frames)):
        encoding.inspect(kept)  # a column of too many categories may be one of few, all different, in the rows left
    varying = [coding for coding in codings if coding.varies]
    blocks = [[coding.coordinates(frame) for frame in kept] for coding in varying]
    order = sorted(range(len(varying)), key=lambda k: (_shape(np.concatenate(blocks[k])), varying[k].name))
    chosen = tuple(varying[k] for k in order)
    return Encoded(
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


def as_frames(tables: Sequence[Any], names: Sequence[str]) -> tuple[Frame, ...]:
    """Return tables as frames with the columns in the order of the first; arrays take the names of other tables."""
    frames = [to_frame(table, name) for table, name in zip(tables, names, strict=True)]
    for frame in frames:
        check_size(frame)
    named = next((frame for frame in frames if frame.named), frames[0])
    first = frames[0] if frames[0].named else match_columns(named, frames[0])[0]
    return (first, *(match_columns(first, frame)[0] for frame in frames[1:]))


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
    found = tuple(sealed(variances_of(codings, frame)) for frame in frames)
    return found if any(own.any() for own in found) else None


def _shape(block: Array) -> float:
    """Return the mean distance of a column's rows from their mean, in standard deviations of the column.

    It does not depend on the order of rows or columns, nor on the unit. It is rounded to nine digits, beyond which the
    order of summation would show.
    """
    distances = np.sort(np.linalg.norm(block - block.mean(axis=0), axis=1))
    unit = distances.max()
    scaled = distances / unit
    return round(float(scaled.mean() / np.sqrt(np.square(scaled).mean())), 9)
