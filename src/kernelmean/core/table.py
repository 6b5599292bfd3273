"""Tables with named columns: here data frames, files and arrays become float64."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, final

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt

from .array import Array, IntArray
from .cell_formats import absent_words, is_number, number_format, other_marks
from .cells import Cells, Declared, column_name, is_missing, missing_cells, read_cells
from .frozen import Frozen, owned, sealed
from .number_marks import COMPUTERS, NumberMarks
from .validate import check_points, data_frame
from .words import all_incomplete, count, did_you_mean, drop_rows, leave_out, listed, printable

SMALLEST, LARGEST = 1e-140, 1e140
"""The range of standard deviations and bandwidths: their squares, and products of these, do not overflow or vanish."""


@final
@dataclass(frozen=True, eq=False)
class Table(Frozen):
    """Finite numbers with column names; ``numpy.asarray(table)`` gives the values.

    Examples
    --------
    >>> Table(np.array([[1.0, 2.0]]), ("a", "b"))
    Table(1 row, 2 columns: a, b)
    """

    values: Array
    """Shape (n, d). Finite float64 numbers; copied."""
    names: tuple[str, ...]
    """The names of the columns."""
    named: bool = True
    """Whether columns are matched by name: in a data frame or a file, not in an array or a Series."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise ValueError(f"values of shape {self.values.shape} do not fit {len(self.names)} column names")

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.values if dtype is None else self.values.astype(dtype, copy=False)
        if copy is False and values is not self.values:
            raise ValueError(f"converting float64 values to {values.dtype} needs a copy; leave copy=False out")
        return values.copy() if copy else values

    def __repr__(self) -> str:
        return f"Table({count(len(self), 'row')}, {count(len(self.names), 'column')}: {listed(self.names)})"

    def columns(self, index: Sequence[int] | IntArray) -> Table:
        """Return the table of the columns in ``index``, in that order."""
        return replace(self, values=sealed(self.values[:, list(index)]), names=tuple(self.names[i] for i in index))

    def take(self, rows: Any) -> Table:
        """Return the table of some rows: a slice, indices, or a mask."""
        return replace(self, values=sealed(self.values[rows]))

    def deviations(self) -> Array:
        """Return the standard deviations of the columns, shape (d,).

        Raises
        ------
        ValueError
            When one is so small or large that its square underflows or overflows.
        """
        deviations = deviations_of(self.values)
        for name, deviation in zip(self.names, deviations, strict=True):
            check_deviation(name, deviation)
        return deviations

    def constant(self) -> tuple[IntArray, tuple[str, ...]]:
        """Return the indices of the columns that vary, and the names of those that do not."""
        varies = np.ptp(self.values, axis=0) > 0
        return np.flatnonzero(varies), tuple(name for name, v in zip(self.names, varies, strict=True) if not v)


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A table as it was read: columns of numbers (NaN where missing) and others (None where missing)."""

    cells: Mapping[str, Cells]
    """float64 arrays for numbers, datetime64 or timedelta64 for times, object arrays for anything else, shape (n,)."""
    source: str
    """What errors call the table: a file, a name, or the name of an argument."""
    notes: tuple[str, ...] = ()
    """Notes for the user on what the reader did."""
    rows: IntArray | None = None
    """The row numbers of the source, from 1, for errors, shape (n,); None when no row was left out."""
    declared: Mapping[str, Declared] = field(default_factory=dict)
    """What the types of some columns say beyond their cells; may include columns that were left out."""
    named: bool = True
    """Whether columns are matched by name, as in a :class:`Table`."""
    marks: NumberMarks = COMPUTERS
    """The marks of numbers with which its text was read."""

    def __len__(self) -> int:
        return len(next(iter(self.cells.values()))) if self.cells else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.cells)

    def __getitem__(self, name: str) -> Cells:
        return self.cells[self._known([name])[0]]

    def select(self, columns: Iterable[str] | None = None, drop: Iterable[str] = ()) -> Frame:
        """Return the frame of the chosen ``columns`` (None: all), in this order, without those in ``drop``.

        Raises
        ------
        ValueError
            When a name is unknown.
        """
        left_out = set(self._known(drop))
        chosen = self.names if columns is None else self._known(columns)
        return replace(self, cells={name: self.cells[name] for name in chosen if name not in left_out})

    def drop(self, columns: Iterable[str]) -> Frame:
        """Return the frame without some columns, as pandas does."""
        return self.select(drop=columns)

    def called(self, names: Sequence[str]) -> Frame:
        """Return the frame with other column names."""
        declared = {new: self.declared[old] for old, new in zip(self.names, names, strict=True) if old in self.declared}
        return replace(self, cells=dict(zip(names, self.cells.values(), strict=True)), declared=declared)

    def take(self, rows: Any) -> Frame:
        """Return the frame of some rows: a slice, indices, or a mask."""
        kept = self.row_numbers()[rows]
        return replace(self, cells={name: column[rows] for name, column in self.cells.items()}, rows=kept)

    def frozen(self) -> Frame:
        """Return the frame with its own read-only cells; those of a data frame may be shared."""
        return replace(self, cells={name: owned(column, column) for name, column in self.cells.items()})

    def complete(self) -> npt.NDArray[np.bool_]:
        """Return the mask of the rows without a missing cell, shape (n,)."""
        mask = np.ones(len(self), dtype=bool)
        for column in self.cells.values():
            mask &= ~missing_cells(column)
        return mask

    def to_table(self, missing: str = "error", *, reader: str = "") -> Table:
        """Return the numbers as a `Table`.

        Parameters
        ----------
        missing : {"error", "drop"}
            What to do with rows that hold a blank or NaN cell.
        reader : str
            The function that reads the table with the options ``missing``, ``drop`` and ``columns``, for errors to
            offer; none by default.

        Raises
        ------
        ValueError
            When nothing is left, or a cell is missing or infinite.
        TypeError
            When a column does not hold numbers.
        """
        if missing not in ("error", "drop"):
            raise ValueError(f"missing is {missing!r}; write 'error' or 'drop'")
        check_size(self)
        self._check_numeric(reader)
        values: Array = np.column_stack(list(self.cells.values()))
        self._check_cells(np.isinf(values), "infinite", "replace or remove it first")
        if missing == "drop":
            blank = np.isnan(values)
            values = values[~blank.any(axis=1)]
            if not len(values):
                raise all_incomplete(self.source, self.names[int(blank.sum(axis=0).argmax())], reader)
        self._check_cells(np.isnan(values), "blank or NaN", drop_rows(reader))
        return Table(sealed(np.ascontiguousarray(values)), self.names, self.named)

    def row_numbers(self) -> IntArray:
        """Return the numbers of the rows in the source, from 1."""
        return np.arange(1, len(self) + 1) if self.rows is None else self.rows

    def _check_cells(self, bad: npt.NDArray[np.bool_], what: str, mend: str) -> None:
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            raise ValueError(
                f"{self.source}: row {self.row_numbers()[row]}, column {self.names[column]!r} is {what} "
                f"({count(int(bad.sum()), 'such cell')} in all); {mend}"
            )

    def _known(self, names: Iterable[str]) -> list[str]:
        columns = [name if name in self.cells else column_name(name) for name in names]
        for name in columns:
            if name not in self.cells:
                commas = any("," in each for each in self.names)
                names = map(repr, self.names) if commas else self.names
                raise ValueError(
                    f"{self.source} has no column {name!r}{did_you_mean(name, self.names)}; its columns are "
                    f"{listed(names)}"
                )
        return columns

    def _check_numeric(self, reader: str) -> None:
        """Raise when columns hold anything but numbers, and show one such cell of each."""
        others = [name for name, column in self.cells.items() if column.dtype != np.float64]
        if others:
            examples = listed(f"{name!r} ({_first_other(self.cells[name], self.row_numbers())})" for name in others)
            read = "".join(f"{advice}, " for name in others if (advice := reading_of(self, name)))
            raise TypeError(
                f"{self.source} has columns that are not numbers, or integers beyond 2^53: {examples}; {read}leave "
                f"them out {printable(leave_out(others, reader))}, or encode them as numbers, as "
                "kernelmean.TableEncoder does"
            )


def as_table(X: Any, name: str = "X", *, missing: str = "error", reader: str = "") -> Table:
    """Return numbers with column names from a data frame, an array, or a `Table`.

    Parameters
    ----------
    X : array of shape (n, d), data frame or Series (pandas, polars, pyarrow, modin, ...), or Table
        Columns of a data frame keep their names; those of an array are called x0, x1, …. A Series is one column.
    name : str
        The name of X in errors.
    missing : {"error", "drop"}
        What to do with rows of a data frame that hold a blank or NaN cell. Arrays must be finite.
    reader : str
        As in :meth:`Frame.to_table`.

    Raises
    ------
    ValueError
        When the shape is not (n, d), nothing is left, a cell is missing or infinite, or a column name is used twice.
    TypeError
        When a column does not hold numbers, or holds integers beyond 2⁵³, which float64 cannot tell apart.

    Notes
    -----
    O(n d) time and memory.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4]])
    Table(2 rows, 2 columns: x0, x1)
    """
    if isinstance(X, Table):
        return X
    pair = data_frame(X, name)
    if pair is not None:
        return _as_frame(*pair, name).to_table(missing, reader=reader)
    values = check_points(X, name)
    return Table(owned(values, X), _numbers(values.shape[1]), named=False)


def to_frame(X: Any, name: str) -> Frame:
    """Return the columns of a data frame, an array (NaN is a missing cell), a `Table` or a `Frame`."""
    frame = named_frame(X, name)
    return numbered_frame(check_points(X, name, finite=False), name) if frame is None else frame


def named_frame(X: Any, name: str) -> Frame | None:
    """Return the columns of a data frame, a Series, a `Table` or a `Frame`, None for anything else."""
    if isinstance(X, Frame):
        return X
    if isinstance(X, Table):
        return Frame(dict(zip(X.names, X.values.T, strict=True)), name, named=X.named)
    pair = data_frame(X, name)
    return None if pair is None else _as_frame(*pair, name)


def numbered_frame(values: Array, name: str) -> Frame:
    """Return the columns of an array as x0, x1, …."""
    return Frame(dict(zip(_numbers(values.shape[1]), values.T, strict=True)), name, named=False)


def _numbers(dim: int) -> tuple[str, ...]:
    """Return the names of columns without names."""
    return tuple(f"x{j}" for j in range(dim))


def as_frame(data: Any, source: str, notes: tuple[str, ...] = ()) -> Frame:
    """Return the columns of a data frame as NumPy arrays; all numbers become float64."""
    pair = data_frame(data, source)
    if pair is None:
        raise TypeError(f"{source} is a {type(data).__name__}; a data frame with named columns is needed")
    return _as_frame(*pair, source, notes)


def check_names(names: Sequence[str], source: str) -> None:
    """Raise when a column has no name, or two have the same."""
    known: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            raise ValueError(
                f"{source}: column {position} has no name; name it in the header, or write the file without the row "
                "index (index=False in pandas)"
            )
        if name in known:
            raise ValueError(f"{source} uses the column name {name!r} twice; give every column its own name")
        known.add(name)


def _as_frame(frame: nw.DataFrame[Any], named: bool, source: str, notes: tuple[str, ...] = ()) -> Frame:
    names = list(map(column_name, frame.columns))
    check_names(names, source)
    columns = cast("Iterable[nw.Series[Any]]", frame.iter_columns())  # frame[:, j] looks at all columns every time
    pairs = {name: read_cells(column) for name, column in zip(names, columns, strict=True)}
    declared = {name: kind for name, (_, kind) in pairs.items() if kind is not None}
    cells = {name: values for name, (values, _) in pairs.items()}
    return Frame(cells, source, notes, declared=declared, named=named)


def deviations_of(values: Array) -> Array:
    """Return the standard deviations of the columns, shape (d,); squares neither overflow nor vanish."""
    unit = 2.0 ** np.frexp(np.abs(values).max(axis=0))[1].clip(-1000, 1000)
    return np.asarray((values / unit).std(axis=0) * unit)


def check_deviation(name: str, deviation: float) -> None:
    """Raise when the square of a standard deviation underflows or overflows."""
    if not SMALLEST <= deviation <= LARGEST:
        raise ValueError(
            f"column {name!r} has the standard deviation {deviation:.3g}; one from {SMALLEST:g} to "
            f"{LARGEST:g} is needed, so write it in another unit"
        )


def check_size(frame: Frame) -> None:
    """Raise when a frame has no columns or no rows."""
    if not frame.cells:
        raise ValueError(f"{frame.source} has no columns left; choose at least one")
    if not len(frame):
        raise ValueError(f"{frame.source} has no rows")


def reading_of(frame: Frame, name: str) -> str:
    """Return what reads the text of a column as numbers, or how to write them; nothing for other text."""
    column = frame.cells[name]
    if column.dtype != object:
        return ""
    texts = list(dict.fromkeys(cell for cell in column if isinstance(cell, str)))
    if advice := other_marks(texts, frame.marks) or absent_words(texts, frame.marks)[0]:
        return advice
    form = number_format(texts)
    return "" if form is None else form.advice()


def _first_other(column: Cells, numbers: IntArray) -> str:
    filled = [(row, cell) for row, cell in zip(numbers.tolist(), column, strict=True) if not is_missing(cell)]
    if not filled:
        return "blank in every row"
    row, cell = next(((row, cell) for row, cell in filled if not is_number(cell)), filled[0])
    text = str(cell).replace("\n", " ")
    return f"'{text[:20]}…' in row {row}" if len(text) > 20 else f"'{text}' in row {row}"
