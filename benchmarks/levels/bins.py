"""Null data for tests in bins: orders of the rows, ties, heavy tails, mixed columns, unequal samples, remainders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernelmean import hsic_test, mmd_test
from kernelmean.inference import TestResult

Draw = Callable[[np.random.Generator, int], np.ndarray]


def mixed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a number, a rare indicator and a count."""
    return np.column_stack([rng.standard_normal(n), rng.random(n) < 0.02, rng.poisson(1.0, n)]).astype(float)


LAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.standard_normal((n, 2)),
    "normal, 1 column": lambda rng, n: rng.standard_normal((n, 1)),
    "normal, 12 columns": lambda rng, n: rng.standard_normal((n, 12)),
    "normal, 30 columns": lambda rng, n: rng.standard_normal((n, 30)),
    "rounded": lambda rng, n: np.round(rng.standard_normal((n, 2))),
    "two values": lambda rng, n: (rng.random((n, 1)) < 0.1).astype(float),
    "Cauchy": lambda rng, n: rng.standard_cauchy((n, 2)),
    "mixed": mixed,
    "far clusters": lambda rng, n: rng.choice([-20.0, 20.0], (n, 2)) + rng.standard_normal((n, 2)),
}
ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "random": lambda rows: rows,
    "sorted": lambda rows: rows[np.argsort(rows[:, 0])],
    "drifting": lambda rows: rows + np.linspace(0.0, 2.0, len(rows))[:, None],
}


@dataclass(frozen=True)
class Binned:
    """A test in bins on data of one distribution, in an order."""

    test: str
    law: str
    order: str
    sizes: tuple[int, ...]

    most: ClassVar[int] = 2000
    """Data sets."""

    @property
    def rows(self) -> tuple[int, ...]:
        """How many there are of every sample, or pairs."""
        return self.sizes

    @property
    def tied(self) -> bool:
        """Whether p-values may be larger than uniform ones: of ties, and of rows that drift alike in both samples."""
        return self.law in ("rounded", "two values") or self.order == "drifting"

    @property
    def key(self) -> str:
        """What results are kept under, and random numbers come from."""
        return " | ".join([self.test, "default", "bins", f"{self.law}, {self.order}", "+".join(map(str, self.sizes))])

    @property
    def described(self) -> dict[str, object]:
        """What a result says of the case."""
        named = {"test": self.test, "estimator": "default", "scheme": "bins", "law": f"{self.law}, {self.order}"}
        return {**named, "sizes": list(self.sizes), "tied": self.tied}

    def tested(self, rng: np.random.Generator, n_resamples: int) -> TestResult:
        """Draw data, and test them."""
        drawn = [ORDERS[self.order](LAWS[self.law](rng, n)) for n in self.sizes]
        how = {"scheme": "bins", "n_resamples": n_resamples, "rng": int(rng.integers(2**31))}
        if self.test == "two samples":
            return mmd_test(*drawn, **how)
        (n,) = self.sizes
        other = LAWS[self.law](rng, n)  # in random order: rows of y that drift with x depend on it
        return hsic_test(drawn[0], other, **how)


BINNED = tuple(
    [
        Binned("two samples", law, order, sizes)
        for law, order, sizes in (
            ("normal", "random", (400, 400)),
            ("normal", "random", (1291, 1033)),
            ("normal", "sorted", (700, 500)),
            ("normal", "drifting", (600, 600)),
            ("normal", "random", (3000, 40)),
            ("normal", "random", (100_000, 300)),
            ("normal, 1 column", "sorted", (1500, 1100)),
            ("normal, 1 column", "random", (2, 300)),
            ("normal, 12 columns", "random", (517, 260)),
            ("normal, 12 columns", "sorted", (517, 260)),
            ("normal, 30 columns", "random", (517, 260)),
            ("rounded", "random", (900, 800)),
            ("rounded", "sorted", (900, 257)),
            ("two values", "random", (2049, 1000)),
            ("Cauchy", "random", (1000, 1000)),
            ("Cauchy", "sorted", (3000, 200)),
            ("mixed", "random", (700, 900)),
            ("mixed", "sorted", (1400, 300)),
            ("far clusters", "random", (800, 600)),
        )
    ]
    + [
        Binned("independence", law, order, sizes)
        for law, order, sizes in (
            ("normal", "random", (128,)),
            ("normal", "random", (400,)),
            ("normal", "sorted", (1291,)),
            ("normal", "drifting", (700,)),
            ("normal, 1 column", "sorted", (9000,)),
            ("normal, 12 columns", "random", (300,)),
            ("rounded", "random", (900,)),
            ("two values", "sorted", (515,)),
            ("Cauchy", "random", (1000,)),
            ("Cauchy", "sorted", (640,)),
            ("mixed", "random", (777,)),
            ("far clusters", "random", (512,)),
        )
    ]
)
