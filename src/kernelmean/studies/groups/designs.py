"""The tests of several groups with a design: of all rows together, and of the rows of every pair of groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ...core.words import listed
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
    asked: Testing
    unusable: dict[Pair, str] = field(default_factory=dict)
    """Pairs of groups that cannot be tested with the design, and why."""

    def of_all(self) -> TableTest:
        """Return the test of all groups."""
        return TableTest(self.asked, self.taken.of(self.encoded.frames))

    def tested(self, pair: Pair, rng: np.random.Generator, n_resamples: int) -> OneTest:
        """Return the test of two groups; one that the design forbids has p = 1 and no permutations."""
        order = self.encoded.in_table_order()
        try:
            own = self.taken.only(pair).of([self.encoded.frames[k] for k in pair])
            found, _ = TableTest(self.asked, own).run(self.encoded, order, rng, n_resamples, pair)
        except DesignError as error:
            self.unusable[pair] = str(error).partition(";")[0]
            return OneTest(math.nan, 1.0, 0)
        return OneTest(found.statistic, found.pvalue, found.n_resamples)

    def notes(self, names: tuple[str, ...]) -> Iterator[str]:
        """Yield what the design does not show, and which pairs could not be tested."""
        if not self.taken.design:
            return
        yield from self.taken.design.notes(STRENGTHS)
        if self.unusable:
            those = listed(f"{names[i]} and {names[j]} ({why})" for (i, j), why in sorted(self.unusable.items()))
            yield f"cannot be tested with this design, so p = 1: {those}"
