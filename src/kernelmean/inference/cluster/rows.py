"""A table whose rows stay on the workers of a cluster: checked in one pass, then cut as sums need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NoReturn, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Table, as_table, named_frame, numbered_frame
from ...core.validate import check_points
from ...core.words import count, listed
from .running import gathered, task
from .sources import partitions


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """A table of finite numbers on a cluster."""

    source: str
    """Its name in errors."""
    names: tuple[str, ...]
    """The columns."""
    parts: tuple[Any, ...]
    """Each makes a float64 array (k, d) of consecutive rows, k ≥ 1."""
    lengths: tuple[int, ...]
    """The rows of every part."""
    client: Any
    """A ``distributed.Client``."""
    named: bool = True
    """Whether columns are matched by name; not for a dask array."""

    @classmethod
    def of(cls, client: Any, X: Any, name: str) -> Rows:
        """Check a table on the cluster: its rows, its columns, and that all cells are finite numbers.

        Raises
        ------
        TypeError
            When the data are in this process, or a column does not hold numbers.
        ValueError
            When there are no rows, partitions differ in their columns, or a cell is missing or infinite.
        """
        if isinstance(X, Rows):
            return X
        raw = partitions(client, X, name)
        looks = gathered(client, [task(_look, part, name, at) for at, part in enumerate(raw, start=1)])
        kept = [at for at, look in enumerate(looks) if look.rows]
        if not kept:
            raise ValueError(f"{name} has no rows")
        names = looks[kept[0]].names
        _check_columns(looks, names, name)
        _check_cells(looks, names, name)
        parts = tuple(task(_numbers, raw[at], names, looks[at].rows, name) for at in kept)
        return cls(name, names, parts, tuple(looks[at].rows for at in kept), client, looks[kept[0]].named)

    def __len__(self) -> int:
        return sum(self.lengths)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), len(self.names)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"the {count(len(self), 'row')} of {self.source} are on a cluster, and this needs them in this process; "
            "take a part of them, such as X.sample(...).compute()"
        )

    def here(self) -> Table:
        """Return all rows, brought to this process."""
        return Table(np.concatenate(gathered(self.client, self.parts)), self.names, self.named)

    @property
    def starts(self) -> IntArray:
        """The number of the first row of every part, and at the end the number of rows."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def reordered(self, names: tuple[str, ...]) -> Rows:
        """Return the table with its columns in another order."""
        if names == self.names:
            return self
        index = [self.names.index(name) for name in names]
        return replace(self, names=names, parts=tuple(task(_columns, part, index) for part in self.parts))

    def cut(self, bounds: Sequence[int]) -> list[Any]:
        """Return tasks that make the rows from every bound to the next, whatever their partitions."""
        return [task(_joined, self._slices(start, stop)) for start, stop in pairwise(bounds)]

    def _slices(self, start: int, stop: int) -> list[Any]:
        """Return the parts of some rows; a part is cut on its own worker."""
        starts = self.starts
        first, last = np.searchsorted(starts, start, "right") - 1, np.searchsorted(starts, stop, "left")
        parts = []
        for at in range(int(first), int(last)):
            low, high = max(start - int(starts[at]), 0), min(stop - int(starts[at]), self.lengths[at])
            whole = (low, high) == (0, self.lengths[at])
            parts.append(self.parts[at] if whole else task(_slice, self.parts[at], low, high))
        return parts

    def take(self, numbers: IntArray) -> Any:
        """Return the task that makes the rows of these numbers, in this order."""
        part = np.searchsorted(self.starts, numbers, "right") - 1
        order = np.argsort(part, kind="stable")
        chosen = [
            task(_taken, self.parts[at], numbers[part == at] - self.starts[at]) for at in np.unique(part).tolist()
        ]
        return task(_put_back, chosen, np.argsort(order, kind="stable"))


@dataclass(frozen=True)
class _Look:
    """The facts of a partition: its rows, its columns, and per column the number of bad cells and the first one."""

    rows: int
    names: tuple[str, ...]
    missing: tuple[int, ...]
    infinite: tuple[int, ...]
    first: tuple[int, ...]
    named: bool = True


def _look(part: Any, name: str, position: int) -> _Look:
    """Check one partition, on its worker."""
    if not len(part):
        return _Look(0, tuple(map(str, getattr(part, "columns", ()))), (), (), ())
    frame = named_frame(part, name)
    frame = numbered_frame(check_points(part, name, finite=False), name) if frame is None else frame
    if any(cells.dtype != np.float64 for cells in frame.cells.values()):
        replace(frame, source=f"partition {position} of {name}").to_table()  # says which columns, and what is in them
    values = np.column_stack(list(frame.cells.values()))
    missing, infinite = np.isnan(values), np.isinf(values)
    bad = missing | infinite
    missing_cells, infinite_cells, first = (
        tuple(map(int, cells)) for cells in (missing.sum(axis=0), infinite.sum(axis=0), bad.argmax(axis=0))
    )
    return _Look(len(values), frame.names, missing_cells, infinite_cells, first, frame.named)


def _check_columns(looks: Sequence[_Look], names: tuple[str, ...], source: str) -> None:
    for at, look in enumerate(looks, start=1):
        if look.rows and set(look.names) != set(names):
            raise ValueError(
                f"partition {at} of {source} has the columns {listed(look.names)}, another one {listed(names)}; "
                "all partitions need the same columns"
            )


def _check_cells(looks: Sequence[_Look], names: tuple[str, ...], source: str) -> None:
    """Raise when a cell is missing or infinite, with the columns, how many cells, and the row of the first one."""
    start, first, counts = 0, None, dict.fromkeys(names, 0)
    for look in looks:
        for name, missing, infinite, row in zip(look.names, look.missing, look.infinite, look.first, strict=False):
            counts[name] += missing + infinite
            if missing + infinite and (first is None or start + row < first[0]):
                first = (start + row, name, missing > 0)
        start += look.rows
    if first is not None:
        row, name, missing = first
        cells = listed(f"{many:,} in {name!r}" for name, many in counts.items() if many)
        raise ValueError(
            f"{source}: row {row + 1}, column {name!r} is {'blank or NaN' if missing else 'infinite'} "
            f"({count(sum(counts.values()), 'such cell')} in all: {cells}); drop such rows or fill them first"
        )


def _numbers(part: Any, names: tuple[str, ...], rows: int, source: str) -> Array:
    """Return a partition as numbers; it must have the rows that were checked."""
    table = as_table(part, source)
    if len(table) != rows:
        raise ValueError(
            f"a partition of {source} had {rows} rows and now has {len(table)}: it is not computed alike twice; write "
            f"{source} = {source}.persist() first"
        )
    return np.ascontiguousarray(table.columns([table.names.index(name) for name in names]).values)


def _columns(part: Array, index: list[int]) -> Array:
    return np.ascontiguousarray(part[:, index])


def _slice(part: Array, low: int, high: int) -> Array:
    return part[low:high].copy()


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _taken(part: Array, numbers: IntArray) -> Array:
    return part[numbers]


def _put_back(parts: list[Array], order: IntArray) -> Array:
    return np.concatenate(parts)[order]


def headed(rows: Rows) -> Table:
    """Return a table with the columns of another one and no rows, for checks of columns."""
    return Table(np.empty((0, len(rows.names))), rows.names, rows.named)
