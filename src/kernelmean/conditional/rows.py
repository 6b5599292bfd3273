"""The rows of a fit: read in blocks as often as it needs them, from anything; some are kept, dealt into folds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from ..core.array import Array, IntArray, as_host
from ..core.frozen import Frozen
from ..core.validate import check_points, check_range, check_spread, name_columns, validated
from ..tables import limits
from ..tables.batchwise import paired, to_be_held
from ..tables.drawn import Overview, hashes_of
from ..tables.read import is_in_memory
from ..tables.source import in_blocks, side_by_side

FOLDS = 2
_BLOCK, _KEPT = 4096, 5000


@final
@dataclass(frozen=True, eq=False)
class ScaledColumns(Frozen):
    """Columns about their means, in units of their deviations; constant ones are left out."""

    center: Array
    scale: Array
    varying: IntArray
    """The numbers of the columns that vary."""

    def __call__(self, Z: Array) -> Array:
        """Return scaled rows, shape (n, columns that vary)."""
        return np.asarray((Z[:, self.varying] - self.center) / self.scale)


@final
@dataclass(frozen=True, eq=False)
class DealtRows:
    """Scaled rows of a fit, dealt into folds, in a random order."""

    rows: Array
    order: IntArray
    """The numbers of the rows in a random order."""
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


class Targets(NamedTuple):
    """What regressions predict at some rows of a fit, and what they are means of."""

    values: Array
    """Shape (n, q)."""
    sources: Array
    """What the regressions are means of, at the same rows: the values, or these with noise, or those of units."""
    mean: Array
    """Of the sources of all rows of the fit, shape (q,)."""
    n_rows: int
    """Of the fit."""

    @classmethod
    def of(cls, values: Array) -> Targets:
        """Return the values of all rows of a fit as targets."""
        return cls(values, values, values.mean(axis=0), len(values))

    def at(self, some: slice | IntArray) -> Targets:
        """Return the targets at some of the rows."""
        return Targets(self.values[some], self.sources[some], self.mean, self.n_rows)

    def constant_errors(self) -> Array:
        """Return the leave-one-out errors of the mean of the sources, shape (n, q)."""
        return np.asarray(self.values - (self.n_rows * self.mean - self.sources) / (self.n_rows - 1.0))


@final
@dataclass(frozen=True, eq=False)
class FitRows:
    """All rows of a fit, X and y side by side, and those that are kept: all, or 5,000 drawn at random of many."""

    read: Callable[[], Iterator[Array]]
    """Starts to read them."""
    split: int
    """The columns of X."""
    overview: Overview
    """Of all rows, and those that are kept."""
    seed: int

    def scaling(self, *, plain: bool) -> ScaledColumns:
        """Return what scales the columns of X that vary; ``plain`` leaves them all as they are."""
        if plain:
            return ScaledColumns(np.zeros(self.split), np.ones(self.split), np.arange(self.split))
        low, high = self.overview.limits[:, : self.split]
        varying = np.flatnonzero(high - low > 1e-12 * np.maximum(np.abs(low), np.abs(high)))
        return ScaledColumns(self.overview.mean[varying], np.sqrt(self.overview.variance[varying]), varying)

    def targets(self, rows: Array) -> Targets:
        """Return the outcomes of some rows as targets."""
        values = rows[:, self.split :]
        return Targets(values, values, self.overview.mean[self.split :], self.overview.n)

    def dealt(self, scaling: ScaledColumns, rng: np.random.Generator) -> DealtRows:
        """Return the rows of X that are kept, scaled and dealt."""
        dealt = self._dealt(self.overview.rows, self.overview.hashes, scaling)
        return dealt if dealt.drawn else DealtRows.of(dealt.rows, self.overview.rows[:, self.split :], rng)

    def blocks(self, scaling: ScaledColumns) -> Iterator[tuple[DealtRows, Targets]]:
        """Yield all rows, X scaled."""
        start = 0
        for block in self.read():
            yield self._dealt(block, hashes_of(start, len(block), self.seed), scaling), self.targets(block)
            start += len(block)
        if start != self.overview.n:
            raise ValueError(f"{start:,} rows were read of {self.overview.n:,}; rows must stay as they are meanwhile")

    def _dealt(self, rows: Array, hashes: IntArray, scaling: ScaledColumns) -> DealtRows:
        """Return scaled rows in folds by the hashes of their numbers."""
        folds = (hashes % np.uint64(FOLDS)).astype(np.intp)
        x, ends = (scaling(each[:, : self.split]) for each in (rows, self.overview.limits))
        return DealtRows(x, np.arange(len(rows)), folds, self.overview.n, ends)


@contextmanager
def rows_of(estimator: Any, X: Any, y: Any, seed: int) -> Iterator[tuple[FitRows, bool]]:
    """Yield the rows of X and y for an estimator, and whether there is one outcome a row, without an axis of its own.

    Files, batches and anything else that :func:`kernelmean.read` takes are read side by side.
    """
    if y is None:
        raise ValueError("ConditionalMean requires y to be passed, but the target y is None")
    most, held = sys.maxsize if to_be_held(X, y) else limits.ADAPTIVE_LIMIT, is_in_memory(y)
    if is_in_memory(X):
        X = as_host(validated(estimator, X, ensure_min_samples=2))
    with paired(X, as_host(check_points(y, "y")) if held else y, ("X", "y")) as (first, second):
        if not is_in_memory(X):
            name_columns(estimator, first.names, named=first.named)

        def pairs() -> Iterator[Array]:
            return in_blocks(side_by_side((iter(first), iter(second)), (first, second)), _BLOCK)

        rows = FitRows(pairs, len(first.names), Overview.of(pairs(), most, _KEPT, seed), seed)
        if rows.overview.n < 2:
            raise ValueError("X has 1 row; pass at least 2")
        check_range(np.abs(rows.overview.limits[:, : rows.split]).max(axis=0), "X holds values up to")
        check_spread(rows.overview.limits[:, rows.split :], "y")
        yield rows, np.asarray(y).ndim == 1 if held else len(second.names) == 1
