"""The data of the recorded calls: drawn by NumPy from fixed seeds, or made by arithmetic; nothing is read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

LEVELS = ("low", "mid", "high")


def normal(seed: int, n: int, d: int = 2, *, shift: float = 0.0, spread: float = 1.0) -> np.ndarray:
    """Return n rows of d normal columns."""
    return np.random.default_rng([17, seed]).normal(shift, spread, size=(n, d))


X, Y = normal(0, 40), normal(1, 30, shift=0.4, spread=1.2)
"""Two samples of different sizes that differ a little."""

GRID = np.linspace(-2.0, 2.0, 10).reshape(5, 2)
"""Places at which functions are evaluated."""

WEIGHTS = (1.0 + np.arange(40) % 3) / 79.0
"""Weights of the rows of X, of sum one."""

SIGNED = np.cos(np.arange(40.0)) / 10.0
"""Weights of the rows of X of both signs."""

CODES = np.stack([np.arange(12) % 3, np.arange(12) // 4, (np.arange(12) * 5) % 3], axis=1).astype(float)
"""Codes of categories, three levels each."""


def pairs(n: int = 40, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return two variables of n rows, the second one depending on the square of the first."""
    first = normal(seed, n, 2)
    second = np.stack([first[:, 0] ** 2, first[:, 1]], axis=1) * 0.7 + normal(seed + 100, n, 2)
    return first, second


def triple(n: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three variables of which any two are nearly independent and all three are not."""
    first, second = normal(3, n, 1), normal(4, n, 1)
    return first, second, np.sign(first * second) * np.abs(normal(5, n, 1))


def series(seed: int, n: int = 60) -> np.ndarray:
    """Return n steps of an autoregressive series."""
    steps = normal(seed, n, 1)
    values = np.zeros_like(steps)
    for t in range(1, n):
        values[t] = 0.5 * values[t - 1] + steps[t]
    return values


def paired(n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Return two measurements of the same n subjects."""
    subject = normal(6, n, 2)
    return subject + 0.3 * normal(7, n, 2), 0.9 * subject + 0.3 * normal(8, n, 2) + 0.15


def strata(n: int, of: int = 3) -> np.ndarray:
    """Return which of some strata each row is in."""
    return (np.arange(n) * 7) % of


def clusters(n: int, size: int = 2) -> np.ndarray:
    """Return to which cluster of some rows each row belongs."""
    return np.arange(n) // size


def survey(n: int) -> np.ndarray:
    """Return weights as of a survey."""
    return 0.5 + (np.arange(n) * 3 % 5) / 4.0


def blobs(n: int = 60) -> np.ndarray:
    """Return three groups of rows that lie well apart."""
    centers = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    return centers[np.arange(n) % 3] + 0.5 * normal(9, n, 2)


def numbers(seed: int, n: int, shift: float = 0.0) -> pd.DataFrame:
    """Return a table of three columns of numbers with two decimals, which text files keep."""
    return pd.DataFrame(np.round(normal(seed, n, 3, shift=shift), 2), columns=["a", "b", "c"])


def mixed(seed: int, n: int, *, blank: bool = False, tilt: float = 0.5) -> pd.DataFrame:
    """Return a table of numbers, text, levels, truth values and times; with ``blank`` some cells are missing."""
    rng = np.random.default_rng([19, seed])
    age = np.round(rng.normal(50.0 + 4 * tilt, 10.0, n), 1)
    city = rng.choice(["Lima", "Oslo", "Rome"], n, p=[tilt, (1 - tilt) / 2, (1 - tilt) / 2])
    size = [LEVELS[k] for k in rng.integers(0, 3, n)]
    flag = rng.random(n) < tilt
    when = [datetime(2024, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 300, n)]
    amount = np.round(np.abs(rng.normal(5.0, 2.0, n)) + 0.05 * age, 2)
    frame = pd.DataFrame({"age": age, "city": city, "size": size, "flag": flag, "when": when, "amount": amount})
    if blank:
        frame.loc[np.arange(n) % 7 == 3, "age"] = np.nan
        frame["city"] = frame["city"].astype(object).where(np.arange(n) % 6 != 2, None)
    return frame


ORDER = {"size": LEVELS}
"""The levels of the column ``size`` of :func:`mixed`, lowest first."""


def batches(values: Any, rows: int = 17) -> list[Any]:
    """Return an array or a data frame cut into batches."""
    return [values[start : start + rows] for start in range(0, len(values), rows)]
