"""Which rows of a long table change partners under permutations: all of them, or those that a design allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.words import count
from ...inference import Design, TestResult
from ...inference.bins.fitting import Fitted
from ...inference.designs.independence import PairDesign
from ...inference.products import Within
from ...inference.questions.many_pairs import ManyPairs, Placed
from ...inference.resampling import Resampling
from ...inference.rotations.few_units import UnitProducts
from ...inference.rotations.stripes import BlockPair, StripeSums, turns_of
from ...inference.rotations.windows import Stripes
from ...plan.plan import Plan
from ...tables.prefetch import ahead
from ..rows.first_look import Learnt
from .column_features import ColumnFeatures

Sums = StripeSums | UnitProducts
Batches = Callable[[], Iterator[Array]]
"""Starts to read the coordinates of all rows."""


class Partners(Protocol):
    """Rows that change partners."""

    @property
    def pilot(self) -> Array:
        """The rows that features are fitted to: permutations only exchange them."""

    @property
    def numbers(self) -> int:
        """How many numbers are held for the product of two columns."""

    def chance(self, columns: Sequence[ColumnFeatures], sums: Sums) -> list[float]:
        """Return numbers of the columns of sums: their products are the means of HSIC over permutations."""

    def empty(self, x: Placed, y: Placed, blocks: Sequence[BlockPair]) -> Sums:
        """Return sums over no rows."""

    def filled(self, *every: Sums) -> Iterator[int]:
        """Add all rows to some sums, and yield how many were added."""

    def arrangements(self, n_resamples: int, rng: np.random.Generator) -> Any:
        """Return permutations of which sums make values."""

    def joint(self, fit: Fitted, x: Placed, y: Placed, sums: Sums) -> TestResult:
        """Return the test of two groups of columns from the sums of all rows."""

    def notes(self, n_resamples: int) -> tuple[str, ...]:
        """Return notes on what so many permutations permute."""


@final
@dataclass(frozen=True, eq=False)
class WithoutDesign:
    """All rows may change partners: nothing is stored of them."""

    stripes: Stripes
    pilot: Array
    batches: Batches
    plan: Plan

    @classmethod
    def of(cls, learnt: Learnt, seed: int, batches: Batches, plan: Plan) -> Self:
        """Cut the rows of a table of known length into stripes."""
        dim = sum(len(coding.names) for coding in learnt.codings)
        stripes = Stripes.of(learnt.rows[0], dim, learnt.numbers[0], seed)
        pilot = learnt.coordinates(learnt.drawn[0].take(slice(0, len(stripes.drawn))))
        return cls(stripes, pilot, batches, plan)

    @property
    def numbers(self) -> int:
        """How many numbers are held for the product of two columns."""
        return sum(self.stripes.halves)

    def chance(self, columns: Sequence[ColumnFeatures], sums: Sums) -> list[float]:
        """Return numbers of the columns of sums: their products are the means of HSIC over permutations."""
        del sums
        return [column.trace / np.sqrt(max(self.stripes.n - 1, 1)) for column in columns]

    def empty(self, x: Placed, y: Placed, blocks: Sequence[BlockPair]) -> StripeSums:
        """Return sums over no rows."""
        return StripeSums(x, y, blocks, self.stripes.halves)

    def filled(self, *every: Sums) -> Iterator[int]:
        """Add all rows to some sums, and yield how many were added."""
        with closing(ahead(self.stripes.dealt(self.pilot, self.batches()))) as parts:
            added = 0
            for rows in parts:
                for sums in every:
                    assert isinstance(sums, StripeSums), "stripes have no other sums"
                    sums.add(rows, rows, self.plan)
                added += len(rows)
                yield added

    def arrangements(self, n_resamples: int, rng: np.random.Generator) -> IntArray:
        """Return turns of both halves of the stripes."""
        return turns_of(n_resamples, self.stripes.halves, rng)

    def joint(self, fit: Fitted, x: Placed, y: Placed, sums: Sums) -> TestResult:
        """Return the test of two groups of columns from the sums of all rows."""
        del x, y
        assert isinstance(sums, StripeSums), "stripes have no other sums"
        rotated = f"{sums.lengths[0]} rotations of either half of the stripes of so many rows"
        null = sums.null(self.arrangements(fit.how.n_resamples, fit.how.rng))
        return fit.result(null, (sums.rows,), rotated)

    def notes(self, n_resamples: int) -> tuple[str, ...]:
        """Return a note if there are few arrangements."""
        many = self.stripes.rotations**2
        few = f"{count(self.stripes.n, 'row')} have {many:,} arrangements: p-values are hardly below {1 / many:.2g}"
        return (few,) if n_resamples > many else ()


@final
@dataclass(frozen=True, eq=False)
class WithinDesign:
    """Rows change partners within strata, or as clusters, or have weights."""

    design: PairDesign
    rows: ManyPairs

    @classmethod
    def of(cls, n: int, design: Design, n_resamples: int, seed: int, batches: Batches, plan: Plan) -> Self:
        """Draw permutations of ``n`` rows, enough for every test."""
        within = design.of_pairs(n)
        how = Resampling.of("auto", n_resamples, np.random.default_rng([seed, 3]))
        return cls(within, ManyPairs.of(within, n, batches, how, plan))

    @property
    def pilot(self) -> Array:
        """The rows that features are fitted to."""
        return self.rows.pilot

    @property
    def numbers(self) -> int:
        """How many numbers are held for the product of two columns."""
        return self.rows.numbers

    def chance(self, columns: Sequence[ColumnFeatures], sums: Sums) -> list[float]:
        """Return numbers of the columns of sums: their products are about the means of HSIC over permutations."""
        assert isinstance(sums.x, Placed), "it is centered"
        added = np.sqrt(Within.of(self.design.layout).chance()[-1].sum())
        ends = np.cumsum([len(column.smooth) for column in columns])[:-1]
        variances = np.split(self.rows.variances(sums.x), ends)
        return [column.smooth @ within * added for column, within in zip(columns, variances, strict=True)]

    def empty(self, x: Placed, y: Placed, blocks: Sequence[BlockPair]) -> Sums:
        """Return sums over no rows, with x centered in strata and weighted."""
        return self.rows.empty(x, y, blocks)

    def filled(self, *every: Sums) -> Iterator[int]:
        """Add all rows to some sums, and yield how many were added."""
        yield from self.rows.filled(*every)

    def arrangements(self, n_resamples: int, rng: np.random.Generator) -> Any:
        """Return turns of wheels, or permutations of units."""
        return self.rows.again(n_resamples, rng).arrangements

    def joint(self, fit: Fitted, x: Placed, y: Placed, sums: Sums) -> TestResult:
        """Return the test of two groups of columns from the sums of all rows."""
        again = self.rows.again(fit.how.n_resamples, fit.how.rng)
        return fit.within(self.design).result(
            again.null_of(sums, x, y, fit.kernels), (self.rows.n,), *self.design.notes
        )

    def notes(self, n_resamples: int) -> tuple[str, ...]:
        """Return what a reader should know of the design; a joint test has it too."""
        del n_resamples
        return self.design.notes
