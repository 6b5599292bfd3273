"""The tests of several groups with a design: of all rows together, and of the rows of every pair of groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ...core.array import IntArray
from ...core.words import listed
from ...inference import Design
from ...inference.units.layout import DesignError
from ...tables.columns import Encoded
from ..comparison.request import Testing
from ..comparison.table_test import TableTest
from ..designs import STRENGTHS, Taken
from ..many_tests import OneTest

Pair = tuple[int, int]


@final
@dataclass(frozen=True)
class GroupDesign:
    """What is known about the rows of several groups, and the tests that follow."""

    taken: Taken
    encoded: Encoded
    options: Testing
    unusable: dict[Pair, str] = field(default_factory=dict)
    """Pairs of groups that cannot be tested with the design, and why."""

    def of_all(self) -> TableTest:
        """Return the test of all groups."""
        return TableTest(self.options, self.taken.of(self.encoded.frames))

    def of_pair(self, pair: Pair, rows: Sequence[IntArray] | None = None) -> Design:
        """Return the design of two groups, or of some of their rows."""
        frames = [self.encoded.frames[k] for k in pair]
        chosen = frames if rows is None else [frame.take(numbers) for frame, numbers in zip(frames, rows, strict=True)]
        return self.taken.only(pair).of(chosen)

    def tested(self, pair: Pair, rng: np.random.Generator, n_resamples: int) -> OneTest:
        """Return the test of two groups; one that the design forbids has p = 1 and no permutations."""
        order = self.encoded.in_table_order()
        try:
            result, _ = TableTest(self.options, self.of_pair(pair)).run(self.encoded, order, rng, n_resamples, pair)
        except DesignError as error:
            self.unusable[pair] = str(error).partition(";")[0]
            return OneTest(math.nan, 1.0, 0)
        return OneTest(result.statistic, result.pvalue, result.n_resamples)

    def notes(self, names: tuple[str, ...]) -> Iterator[str]:
        """Yield what the design does not show, and which pairs could not be tested."""
        if not self.taken.design:
            return
        yield from self.taken.design.notes(STRENGTHS)
        if self.unusable:
            those = listed(f"{names[i]} and {names[j]} ({why})" for (i, j), why in sorted(self.unusable.items()))
            yield f"cannot be tested with this design, so p = 1: {those}"
