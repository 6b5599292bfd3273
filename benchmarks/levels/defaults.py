"""Null data for the default tests, nothing chosen: distributions, sizes, numbers of columns, designs."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from kernelmean import Design, dhsic_test, hsic_test, k_sample_test, mmd_test
from kernelmean.inference import TestResult

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
import null_data
from null_data import DISCRETE, NullData, points

MANY = 100_000
"""From so many arrangements on, 99 random ones repeat the observed one in less than a test of a thousand."""
MANY_ROWS = 10_000
TESTS = {
    "two samples": mmd_test,
    "several samples": k_sample_test,
    "pairs of samples": partial(mmd_test, design=Design(paired=True)),
    "independence": hsic_test,
    "joint independence": dhsic_test,
}


@dataclass(frozen=True)
class Default(ABC):
    """A test on data of one distribution; subclasses say which data."""

    test: str
    law: str

    @property
    @abstractmethod
    def data(self) -> str:
        """The data in words."""

    @property
    @abstractmethod
    def rows(self) -> tuple[int, ...]:
        """How many there are of every sample, or of all variables."""

    @property
    @abstractmethod
    def arrangements(self) -> int:
        """How many there are, at most."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> NullData:
        """Draw tables."""

    @property
    def key(self) -> str:
        """What results are kept under, and random numbers come from."""
        return " | ".join([self.test, "default", "auto", self.data, "+".join(map(str, self.rows))])

    @property
    def tied(self) -> bool:
        """Whether arrangements may tie: the data are discrete, or the arrangements so few that they are repeated."""
        return self.law in DISCRETE or self.arrangements < MANY

    @property
    def described(self) -> dict[str, object]:
        """What a result says of the case."""
        named = {"test": self.test, "estimator": "default", "scheme": "auto", "law": self.data}
        return {**named, "sizes": list(self.rows), "tied": self.tied}

    @property
    def most(self) -> int:
        """How many data sets there is time for."""
        return 1000 if sum(self.rows) > MANY_ROWS else 2000

    def tested(self, rng: np.random.Generator, n_resamples: int) -> TestResult:
        """Draw data, and return what the test says of them."""
        return self.drawn(rng).result(n_resamples=n_resamples, rng=rng)


@dataclass(frozen=True)
class Plain(Default):
    """A test of samples of so many rows, or of variables of so many columns each."""

    rows: tuple[int, ...] = ()
    dims: tuple[int, ...] = (1,)

    @property
    def data(self) -> str:
        return f"{self.law}, {' and '.join(map(str, self.dims))} column{'s' * (self.dims != (1,))}"

    @property
    def arrangements(self) -> int:
        if self.test == "pairs of samples":
            return 2 ** (self.rows[0] - 1)
        if "independence" in self.test:
            return math.factorial(self.rows[0]) ** (len(self.dims) - 1)
        return math.factorial(sum(self.rows)) // math.prod(map(math.factorial, self.rows))

    def drawn(self, rng: np.random.Generator) -> NullData:
        shapes = [(n, dim) for n in self.rows for dim in self.dims]
        shapes *= 2 if self.test == "pairs of samples" else 1
        return NullData(TESTS[self.test], tuple(points(self.law, n, rng, dim) for n, dim in shapes))


@dataclass(frozen=True)
class InDesign(Default):
    """A test in a design of ``null_data`` of twice its rows or more, which then has many arrangements."""

    design: str
    times: int

    @property
    def data(self) -> str:
        return f"{self.law}, {self.design.replace('_', ' ')}"

    @property
    def rows(self) -> tuple[int, ...]:
        sizes = tuple(map(len, self.drawn(np.random.default_rng(0)).tables))
        return sizes if self.test.endswith(" samples") and self.test != "pairs of samples" else sizes[:1]

    @property
    def arrangements(self) -> int:
        return MANY

    def drawn(self, rng: np.random.Generator) -> NullData:
        draw: Callable[..., NullData] = getattr(null_data, self.design)
        return draw(self.law, rng, self.times)


def _of(test: str, *cells: tuple[str, tuple[int, ...]] | tuple[str, tuple[int, ...], tuple[int, ...]]) -> list[Plain]:
    return [Plain(test, *cell) for cell in cells]


DEFAULTS: list[Default] = [
    *_of(
        "two samples",
        ("normal", (4, 4)),
        ("normal", (5, 3), (2,)),
        ("ties", (4, 4)),
        ("ties", (5, 3), (2,)),
        ("normal", (10, 10)),
        ("normal", (20, 20), (2,)),
        ("normal", (40, 40), (5,)),
        ("normal", (12, 12), (20,)),
        ("normal", (6, 9), (50,)),
        ("normal", (10, 190), (2,)),
        ("normal", (200, 200), (2,)),
        ("autoregressive", (20, 20), (20,)),
        ("heavy tails", (20, 20)),
        ("heavy tails", (60, 60), (2,)),
        ("heavy tails", (5, 95), (5,)),
        ("skewed", (15, 45), (2,)),
        ("ties", (25, 25), (2,)),
        ("binary", (30, 30), (5,)),
        ("mostly zero", (20, 20), (20,)),
        ("repeated rows", (40, 40), (2,)),
        ("a constant column", (15, 20), (3,)),
        ("mixed scales", (20, 20), (3,)),
        ("far clusters", (40, 40), (2,)),
        ("far clusters", (10, 60)),
        ("clusters", (30, 30), (2,)),
        ("normal", (30, 40), (30,)),
        ("heavy tails", (60, 25), (26,)),
        ("binary", (30, 40), (40,)),
    ),
    *_of(
        "independence",
        ("normal", (4,), (1, 1)),
        ("normal", (6,), (2, 1)),
        ("ties", (5,), (1, 1)),
        ("normal", (12,), (1, 1)),
        ("normal", (20,), (2, 1)),
        ("normal", (30,), (5, 5)),
        ("normal", (24,), (20, 2)),
        ("normal", (20,), (40, 1)),
        ("normal", (200,), (2, 2)),
        ("heavy tails", (30,), (1, 1)),
        ("heavy tails", (70,), (2, 1)),
        ("ties", (25,), (2, 1)),
        ("binary", (30,), (1, 1)),
        ("repeated rows", (70,), (1, 2)),
        ("a constant column", (20,), (3, 2)),
        ("mixed scales", (20,), (3, 3)),
        ("far clusters", (80,), (1, 1)),
    ),
    *_of(
        "pairs of samples",
        ("normal", (4,)),
        ("normal", (20,), (2,)),
        ("heavy tails", (40,), (2,)),
        ("ties", (25,)),
    ),
    *_of("several samples", ("normal", (4, 2, 3), (2,)), ("ties", (8, 8, 8)), ("heavy tails", (10, 20, 70), (2,))),
    *_of("joint independence", ("normal", (12,), (1, 2, 1)), ("heavy tails", (40,), (1, 1, 1, 1))),
    InDesign("two samples", "normal", "strata", 2),
    InDesign("two samples", "heavy tails", "strata", 4),
    InDesign("two samples", "normal", "clusters", 2),
    InDesign("two samples", "ties", "weights", 2),
    InDesign("two samples", "normal", "strata_of_clusters", 2),
    InDesign("pairs of samples", "far clusters", "paired", 3),
    InDesign("independence", "normal", "pair_strata", 2),
    InDesign("independence", "heavy tails", "pair_clusters", 3),
    *_of("two samples", ("normal", (60, 140), (100,)), ("normal", (10_000, 10_000))),
    InDesign("two samples", "idle columns", "strata", 2),
    InDesign("two samples", "idle columns", "clusters", 2),
    *_of("several samples", ("idle columns", (8, 8, 8), (3,))),
    *(
        InDesign(test, law, design, times)
        for test, law, design, few, many in (
            ("two samples", "heavy tails", "strata", 12, 1154),
            ("two samples", "normal", "clusters", 9, 938),
            ("two samples", "heavy tails", "weights", 14, 1364),
            ("two samples", "normal", "strata_of_clusters", 8, 750),
            ("pairs of samples", "normal", "paired", 25, 2500),
            ("several samples", "normal", "k_strata", 15, 1500),
            ("independence", "normal", "pair_strata", 18, 1765),
            ("independence", "normal", "pair_clusters", 12, 1250),
            ("independence", "heavy tails", "pair_weights", 21, 2143),
            ("two samples", "normal", "unequal_shares", 6, 600),
            ("two samples", "normal", "wide_weights", 10, 1000),
            ("two samples", "normal", "unequal_clusters", 4, 416),
        )
        for times in (few, many)
    ),
    InDesign("two samples", "normal", "many_strata", 4),
]
"""Sixty-six, one of many rows, twelve designs of about 300 and of about 30,000 rows, in bins, and joined strata."""
assert len(DEFAULTS) == 92
