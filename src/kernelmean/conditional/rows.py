"""The rows of a fit: read in blocks as often as it needs them, from anything; some are kept, dealt into folds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, final

import numpy as np

from ..core.array import Array, IntArray, as_host, slices
from ..core.frozen import Frozen
from ..core.validate import check_points, check_range, check_spread, name_columns, validated
from ..core.words import count
from ..tables import limits
from ..tables.batchwise import readable, to_be_held
from ..tables.read import is_in_memory, read
from ..tables.shuffle import hashed
from ..tables.source import in_blocks, refuse_dropped, side_by_side, split_rows

FOLDS = 2
KEPT = 5000
"""The rows that are kept of more than 20,000: a fit chooses by their leave-one-out errors."""
_BLOCK = 4096


@final
@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What is known of the columns of rows that are added up."""

    n: int
    mean: Array
    variance: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, rows: Array) -> Self:
        """Return the sums of some rows."""
        with np.errstate(over="ignore", invalid="ignore"):  # of columns that are refused for it, at the end
            return cls(len(rows), rows.mean(axis=0), rows.var(axis=0), rows.min(axis=0), rows.max(axis=0))

    def plus(self, other: Self) -> Self:
        """Chan, Golub & LeVeque (1979)."""
        n, share = self.n + other.n, other.n / (self.n + other.n)
        with np.errstate(over="ignore", invalid="ignore"):
            gap = other.mean - self.mean
            variance = (1.0 - share) * self.variance + share * other.variance + share * (1.0 - share) * gap**2
            mean = self.mean + share * gap
        return type(self)(n, mean, variance, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def part(self, columns: slice) -> Self:
        """Return the sums of some columns."""
        fields = self.mean[columns], self.variance[columns], self.low[columns], self.high[columns]
        return type(self)(self.n, *fields)

    @property
    def limits(self) -> Array:
        """The least and the largest of every column, shape (2, columns)."""
        return np.stack([self.low, self.high])


@final
@dataclass(frozen=True, eq=False)
class ScaledColumns(Frozen):
    """Columns about their means, in units of their deviations; constant ones are left out."""

    center: Array
    scale: Array
    varying: IntArray
    """The numbers of the columns that vary."""

    @classmethod
    def of(cls, columns: ColumnSums) -> ScaledColumns:
        """Return the scaling of a table."""
        varying = np.flatnonzero(columns.high - columns.low > 1e-12 * np.abs(columns.limits).max(axis=0))
        return cls(columns.mean[varying], np.sqrt(columns.variance[varying]), varying)

    @classmethod
    def none(cls, columns: ColumnSums) -> ScaledColumns:
        """Return what leaves a table as it is."""
        d = len(columns.mean)
        return cls(np.zeros(d), np.ones(d), np.arange(d))

    def __call__(self, Z: Array) -> Array:
        """Return scaled rows, shape (n, columns that vary)."""
        return np.asarray((Z[:, self.varying] - self.center) / self.scale)


@final
@dataclass(frozen=True, eq=False)
class DealtRows:
    """Scaled rows of a fit, dealt into folds, in a random order."""

    rows: Array
    order: IntArray
    folds: IntArray
    """The fold of every row, shape (n,)."""
    n_rows: int
    """Of the fit, of which these may be some."""
    limits: Array
    """The least and the largest of every column of the fit, shape (2, d)."""

    @classmethod
    def of(cls, rows: Array, targets: Array, rng: np.random.Generator) -> DealtRows:
        """Deal all rows of a fit, in a way that does not depend on their order: by random sums of their numbers."""
        keys = [(each * rng.normal(size=each.shape[1])).sum(axis=1) for each in (targets, rows)]
        places, folds = np.lexsort(keys), np.empty(len(rows), dtype=np.intp)
        folds[places] = rng.permutation(len(rows)) % FOLDS
        ends = np.stack([rows.min(axis=0), rows.max(axis=0)])
        return cls(rows, places[rng.permutation(len(rows))], folds, len(rows), ends)

    @property
    def drawn(self) -> bool:
        """Whether these are some rows of the fit only."""
        return len(self.rows) < self.n_rows

    def first(self, size: int) -> IntArray:
        """Return the numbers of some rows drawn at random: all, if they are that few."""
        return self.order[:size]


@final
@dataclass(frozen=True, eq=False)
class FitRows:
    """All rows of a fit, and those that are kept: all, or 5000 of more than 20,000, drawn at random."""

    read: Callable[[], Iterator[Array]]
    """Starts to read X and y, side by side."""
    split: int
    """The columns of X."""
    kept: Array
    columns: ColumnSums
    seed: np.uint64 | None = None
    """Of the draw and the folds, None where all rows are kept."""
    folds: IntArray | None = None
    """Of the rows that are kept, where these were drawn."""

    @classmethod
    def of(cls, read: Callable[[], Iterator[Array]], split: int, most: int, rng: np.random.Generator) -> FitRows:
        """Read rows for the first time: keep them up to a number, of more draw those whose numbers hash to the least.

        Rows whose hashes are even are one fold. All of this depends on the numbers of the rows, never on batches.
        """
        head, rest = split_rows(read(), most)
        if head is None or len(head) < 2:
            raise ValueError(f"X has {count(0 if head is None else 1, 'row')}, at least 2 are needed")
        more = next(rest, None)
        if more is None:
            return cls(lambda: (head[block] for block in slices(len(head), _BLOCK)), split, head, ColumnSums.of(head))
        seed = rng.integers(0, 2**64, dtype=np.uint64)
        kept, hashes, columns = head, _hashes(0, len(head), seed), ColumnSums.of(head)
        for block in chain([more], rest):
            hashes = np.concatenate([hashes, _hashes(columns.n, len(block), seed)])
            best = np.argsort(hashes, kind="stable")[:KEPT]
            kept, hashes = np.concatenate([kept, block])[best], hashes[best]
            columns = columns.plus(ColumnSums.of(block))
        return cls(read, split, kept, columns, seed, (hashes % FOLDS).astype(np.intp))

    def check(self) -> None:
        """Raise where squares of numbers would overflow or vanish."""
        check_range(np.abs(self.of_x.limits).max(axis=0), "X holds values up to")
        check_spread(self.of_y.limits, "y")

    @property
    def of_x(self) -> ColumnSums:
        """What is known of the columns of X over all rows."""
        return self.columns.part(slice(self.split))

    @property
    def of_y(self) -> ColumnSums:
        """What is known of the columns of y over all rows."""
        return self.columns.part(slice(self.split, None))

    @property
    def outcomes(self) -> Array:
        """The rows of y that are kept."""
        return np.ascontiguousarray(self.kept[:, self.split :])

    def dealt(self, scaling: ScaledColumns, rng: np.random.Generator) -> DealtRows:
        """Return the rows of X that are kept, scaled and dealt."""
        rows = scaling(self.kept[:, : self.split])
        if self.folds is None:
            return DealtRows.of(rows, self.outcomes, rng)
        return DealtRows(rows, np.arange(len(rows)), self.folds, self.columns.n, scaling(self.of_x.limits))

    def blocks(self) -> Iterator[tuple[Array, Array, IntArray]]:
        """Yield all rows of X and of y, and the folds of those that are read batch by batch."""
        start = 0
        for block in self.read():
            folds = (_hashes(start, len(block), self.seed or np.uint64(0)) % FOLDS).astype(np.intp)
            start += len(block)
            yield block[:, : self.split], block[:, self.split :], folds
        if start != self.columns.n:
            raise ValueError(f"{start:,} rows were read of {self.columns.n:,}; rows must stay as they are meanwhile")


def _hashes(start: int, rows: int, seed: np.uint64) -> Array:
    """Return the hashes of the numbers of consecutive rows."""
    return hashed(np.arange(start, start + rows).astype(np.uint64) ^ seed)


@contextmanager
def rows_of(estimator: Any, X: Any, y: Any, rng: np.random.Generator) -> Iterator[tuple[FitRows, bool]]:
    """Yield the rows of X and of y for an estimator, and whether there is one outcome a row, without an axis of its own.

    Files, batches and anything else that :func:`kernelmean.read` takes are read side by side; what can be read once
    only is put into a temporary file.
    """
    if y is None:
        raise ValueError("ConditionalMean requires y to be passed, but the target y is None")
    most = sys.maxsize if to_be_held(X, y) else limits.ADAPTIVE_LIMIT
    if is_in_memory(X) and is_in_memory(y):
        points = as_host(validated(estimator, X, ensure_min_samples=2))
        outcomes = as_host(check_points(y, "y"))
        if len(outcomes) != len(points):
            raise ValueError(
                f"y has {count(len(outcomes), 'row')}, and X has {len(points):,}; pass one outcome for each row"
            )
        parts = slices(len(points), _BLOCK)
        both = lambda: (np.hstack([points[part], outcomes[part]]) for part in parts)  # noqa: E731
        yield FitRows.of(both, points.shape[1], most, rng), np.asarray(y).ndim == 1
        return
    with ExitStack() as opened:
        sources = [refuse_dropped(read(table)) for table in (X, y)]
        first, second = (opened.enter_context(readable(source)) for source in sources)
        name_columns(estimator, first.names, named=first.named)
        pairs = lambda: in_blocks(side_by_side((iter(first), iter(second)), (first, second)), _BLOCK)  # noqa: E731
        single = np.ndim(y) == 1 if is_in_memory(y) else len(second.names) == 1
        yield FitRows.of(pairs, len(first.names), most, rng), single
