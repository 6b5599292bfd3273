"""Tables with missing cells under mixed rules, and what their kernel is by a slow definition.

The definition knows no coordinates: of every column it has the squared distances of all rows and the variance of the
noise of each row, and the kernel is the product over columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

KINDS = ("numeric", "boolean", "categorical", "ordinal", "datetime", "duration")
NOISY = ("numeric", "datetime", "duration")
RULES = ("category", "noise", "drop")
LEVELS = ["low", "mid", "high"]
SIZES = (13, 10)
Spec = tuple[str, str]
"""The kind of a column, and its rule."""
ALL = [(kind, rule) for kind, rule in product(KINDS, RULES) if rule != "noise" or kind in NOISY]
PARTNERS: list[Spec] = [
    ("numeric", "category"),
    ("numeric", "noise"),
    ("datetime", "category"),
    ("duration", "noise"),
    ("categorical", "category"),
    ("ordinal", "drop"),
]


def cells(kind: str, rng: np.random.Generator, n: int) -> Any:
    """Draw a column without missing cells."""
    match kind:
        case "numeric":
            return rng.standard_t(2, n) * 7.0 + 30.0
        case "boolean":
            return pd.array(np.arange(n) % 3 == rng.integers(2), dtype="boolean")
        case "categorical":
            return np.array(["p", "q", "r", "q"], dtype=object)[np.arange(n) % 4]
        case "ordinal":
            return pd.Categorical(np.array(LEVELS)[np.arange(n) % 3], LEVELS, ordered=True)
        case "datetime":
            return pd.Timestamp("2025-06-01") + pd.to_timedelta(rng.integers(1, 10**6, n), "s")
        case _:
            return pd.to_timedelta(rng.exponential(1e4, n).round(), "s")


@dataclass(frozen=True)
class Tables:
    """Two tables of columns u, v, … of given kinds and rules, with missing cells, and one complete column."""

    specs: tuple[Spec, ...]
    seed: int = 0

    @property
    def rules(self) -> dict[str, str]:
        return {name: rule for name, (_, rule) in zip("uvw", self.specs, strict=False)}

    @property
    def kinds(self) -> dict[str, str]:
        return {name: kind for name, (kind, _) in zip("uvw", self.specs, strict=False)} | {"e": "numeric"}

    @property
    def frames(self) -> list[pd.DataFrame]:
        rng = np.random.default_rng([self.seed, len(self.specs)])
        return [self._frame(rng, n, k) for k, n in enumerate(SIZES)]

    def _frame(self, rng: np.random.Generator, n: int, k: int) -> pd.DataFrame:
        frame = pd.DataFrame({name: cells(kind, rng, n) for name, kind in self.kinds.items()})
        for j, name in enumerate(self.rules):
            frame[name] = frame[name].mask((np.arange(n) + k) % (4 + j) == 1)
        return frame


@dataclass(frozen=True)
class Slow:
    """Of every column the squared distances of all rows, in its unit, and the variances of their noise."""

    sizes: tuple[int, ...]
    squared: dict[str, np.ndarray]
    variances: dict[str, np.ndarray]

    @classmethod
    def of(cls, frames: Sequence[pd.DataFrame], kinds: dict[str, str], rules: dict[str, str]) -> Slow:
        names = list(frames[0])
        dropped = [name for name in names if rules.get(name) == "drop"]
        kept = [frame.dropna(subset=dropped) for frame in frames]
        pooled = pd.concat(kept, ignore_index=True)
        found = {name: column(pooled[name], kinds[name], rules.get(name, "error")) for name in names}
        return cls(
            tuple(map(len, kept)),
            {name: d for name, (d, _) in found.items()},
            {name: e for name, (_, e) in found.items()},
        )

    def bandwidth(self, names: Sequence[str]) -> float:
        """Return the root of the median squared distance of two rows, of those that differ where it is 0."""
        total = np.sum([self.squared[name] for name in names], axis=0)
        distances = total[np.triu_indices(len(total), 1)]
        return float(np.sqrt(np.median(distances) or np.median(distances[distances > 0.0])))

    def gram(self, names: Sequence[str], theta: float) -> np.ndarray:
        out = np.ones((sum(self.sizes),) * 2)
        for name in names:
            width = theta**2 + self.variances[name][:, None] + self.variances[name]
            out *= np.sqrt(theta**2 / width) * np.exp(-self.squared[name] / (2.0 * width))
        return out

    def mmd(self, names: Sequence[str]) -> float:
        """Return the unbiased MMD² at the median bandwidth."""
        n, m = self.sizes
        K = self.gram(names, self.bandwidth(names))
        within = [(block.sum() - np.trace(block)) / (k * (k - 1)) for block, k in ((K[:n, :n], n), (K[n:, n:], m))]
        return float(sum(within) - 2.0 * K[:n, n:].mean())

    def hsic(self, x: Sequence[str], y: Sequence[str]) -> float:
        """Return tr(HKHL) / n²."""
        n = self.sizes[0]
        H = np.eye(n) - 1.0 / n
        K, L = (self.gram(names, self.bandwidth(names)) for names in (x, y))
        return float(np.trace(H @ K @ H @ L)) / n**2

    def strength(self, a: str, b: str) -> float:
        """Return the normalised, unbiased HSIC of Song et al. (2012), eq. (5)."""
        n = self.sizes[0]

        def unbiased(first: str, second: str) -> float:
            K, L = (self.gram([name], self.bandwidth([name])) * (1.0 - np.eye(n)) for name in (first, second))
            inner = np.trace(K @ L) + K.sum() * L.sum() / ((n - 1) * (n - 2)) - 2.0 * (K @ L).sum() / (n - 2)
            return float(inner / (n * (n - 3)))

        scale = np.sqrt(max(unbiased(a, a), 0.0) * max(unbiased(b, b), 0.0))
        return min(unbiased(a, b) / float(scale), 1.0) if scale else 0.0


def column(values: pd.Series, kind: str, rule: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared distances of all rows in a column, and the variances of their noise."""
    absent, none = values.isna().to_numpy(), np.zeros(len(values))
    if kind in ("boolean", "categorical"):
        labels = values.astype(object).where(~absent, "missing").astype(str).to_numpy()
        shares = np.unique(labels, return_counts=True)[1] / len(labels)
        return 2.0 / (1.0 - np.square(shares).sum()) * (labels[:, None] != labels), none
    numbers = values.cat.codes if kind == "ordinal" else values.astype("int64") if kind != "numeric" else values
    known = numbers.to_numpy(dtype=float)[~absent]
    z = none.copy()
    z[~absent] = (known - known.mean()) / known.std()
    squared = np.square(z[:, None] - z)
    if rule == "category" and absent.any():
        squared = squared + (absent[:, None] != absent) / (1.0 - absent.mean())
    return squared, absent.astype(float) if rule == "noise" else none


def tables() -> list[Tables]:
    """Return every kind and rule beside every partner, and some tables of three."""
    threes = zip(PARTNERS, PARTNERS[1:], PARTNERS[2:], strict=False)
    return [Tables(specs, seed) for seed, specs in enumerate([*product(ALL, PARTNERS), *threes])]
