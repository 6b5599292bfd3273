"""Null tables with missing cells under mixed rules, for the level study of ``compare`` and ``dependence``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kernelmean import compare, dependence

Draw = Callable[[np.random.Generator, int], Any]
LEVELS = ["low", "mid", "high"]
COLUMNS: dict[str, tuple[str, Draw]] = {
    "a": ("two bumps", lambda rng, n: rng.choice([-1.0, 1.0], n) + 0.1 * rng.normal(size=n)),
    "b": ("Cauchy's distribution cubed", lambda rng, n: rng.standard_cauchy(n) ** 3),
    "e": ("Student's t with 3 degrees of freedom", lambda rng, n: rng.standard_t(3, n)),
    "f": ("a sign", lambda rng, n: rng.choice([-1.0, 1.0], n)),
    "t": ("a time of a year", lambda rng, n: np.datetime64("2025-01-01", "s") + rng.integers(0, 31_536_000, n)),
    "w": ("an exponential waiting time", lambda rng, n: (1e6 * rng.exponential(size=n)).astype("timedelta64[ms]")),
    "c": ("four categories", lambda rng, n: rng.choice(["p", "q", "r", "s"], n, p=[0.4, 0.3, 0.2, 0.1])),
    "s": ("three levels", lambda rng, n: pd.Categorical(rng.choice(LEVELS, n), LEVELS, ordered=True)),
    "g": ("a truth value", lambda rng, n: pd.array(rng.random(n) < 0.3, dtype="boolean")),
}
"""Names of columns, their distributions in words, and draws; all are independent, and so are missing cells."""


@dataclass(frozen=True)
class Case:
    """One test of a table of some columns, of which shares of the cells are missing, each column with its rule."""

    test: str
    estimator: str
    sizes: tuple[int, ...]
    rules: dict[str, tuple[str, float]]
    others: str = ""
    x: str = ""
    y: str = ""
    order: str = field(default="", kw_only=True)

    @property
    def key(self) -> str:
        """What results are kept under, and random numbers come from."""
        return " | ".join([self.test, self.estimator, "auto", self.law, "+".join(map(str, self.sizes))])

    @property
    def described(self) -> dict[str, object]:
        """What a result says of the case."""
        named = {"test": self.test, "estimator": self.estimator, "scheme": "auto", "law": self.law}
        return {**named, "sizes": list(self.sizes)}

    @property
    def law(self) -> str:
        """What the data are, in words: "a noise .4, b category .2, e"."""
        rules = [f"{name} {rule} {share:g}" for name, (rule, share) in self.rules.items()]
        groups = f"; {' '.join(self.x)} with {' '.join(self.y)}" if self.x else ""
        return ", ".join([*rules, *self.others]) + groups

    def table(self, rng: np.random.Generator, n: int) -> pd.DataFrame:
        """Draw a table; its columns stand in the order of ``order``."""
        drawn = pd.DataFrame({name: COLUMNS[name][1](rng, n) for name in (*self.rules, *self.others)})
        for name, (_, share) in self.rules.items():
            drawn[name] = drawn[name].mask(rng.random(n) < share)
        return drawn[list(self.order)] if self.order else drawn

    def tested(self, rng: np.random.Generator, n_resamples: int) -> Any:
        """Draw tables of one distribution, and return the joint test."""
        tables = [self.table(rng, n) for n in self.sizes]
        options = {"estimator": self.estimator, "n_resamples": n_resamples, "rng": rng}
        missing = {name: rule for name, (rule, _) in self.rules.items()}
        if self.test == "compare":
            return compare(*tables, missing=missing, **options).test
        return dependence(*tables, list(self.x), list(self.y), missing=missing, **options).test


CASES = [
    Case("compare", "kme", (12, 12), {"a": ("noise", 0.4), "b": ("category", 0.2)}, "e"),
    Case("compare", "kme", (7, 20), {"a": ("category", 0.4), "b": ("noise", 0.2)}, "e", order="bea"),
    Case("compare", "kme", (12, 12), {"t": ("noise", 0.3), "w": ("category", 0.3)}, "e", order="wte"),
    Case("compare", "kme", (12, 12), {"w": ("noise", 0.1), "c": ("category", 0.3), "s": ("category", 0.3)}),
    Case("compare", "kme", (12, 12), {"a": ("noise", 0.5), "b": ("noise", 0.2), "e": ("noise", 0.1)}),
    Case("compare", "kme", (16, 16), {"a": ("noise", 0.3), "b": ("drop", 0.2), "e": ("category", 0.2)}),
    Case("compare", "adaptive", (12, 12), {"a": ("category", 0.4), "c": ("category", 0.2), "b": ("drop", 0.1)}),
    Case("compare", "adaptive", (12, 12), {"t": ("category", 0.3), "s": ("category", 0.3), "g": ("category", 0.2)}),
    Case("compare", "mkme", (12, 12), {"b": ("category", 0.2), "a": ("category", 0.4)}, "f"),
    Case("dependence", "kme", (80,), {"a": ("noise", 0.4), "b": ("category", 0.2)}, "ef", "a", "e", order="aebf"),
    Case("dependence", "kme", (20,), {"a": ("noise", 0.4), "b": ("category", 0.2)}, "e", "ab", "e"),
    Case(
        "dependence",
        "kme",
        (20,),
        {"a": ("noise", 0.4), "b": ("category", 0.2), "e": ("noise", 0.3)},
        "f",
        "be",
        "af",
        order="bfea",
    ),
    Case("dependence", "kme", (20,), {"t": ("noise", 0.3), "w": ("noise", 0.3), "b": ("category", 0.2)}, "", "tb", "w"),
    Case(
        "dependence", "kme", (20,), {"w": ("noise", 0.2), "c": ("category", 0.3), "s": ("category", 0.3)}, "", "wc", "s"
    ),
    Case("dependence", "kme", (30,), {"a": ("noise", 0.6), "b": ("category", 0.5)}, "", "a", "b"),
    Case("dependence", "kme", (24,), {"a": ("noise", 0.3), "e": ("drop", 0.2), "b": ("category", 0.2)}, "", "a", "eb"),
    Case("dependence", "kme", (20,), {"w": ("category", 0.3), "t": ("noise", 0.3)}, "ce", "wc", "te", order="etcw"),
    Case("dependence", "adaptive", (20,), {"b": ("category", 0.2), "c": ("category", 0.3)}, "e", "bc", "e"),
    Case("dependence", "adaptive", (20,), {"t": ("drop", 0.1), "s": ("category", 0.3)}, "", "t", "s"),
    Case("dependence", "mkme", (20,), {"a": ("category", 0.4), "b": ("category", 0.2)}, "e", "ab", "e"),
]
"""The first of ``dependence`` had .305 of p-values up to .05 at 76d487a, where b's coordinates moved the noise of a."""
