"""Random tables as people have them, and as they have them on bad days."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator


def table(rng: Rng, n: int, dim: int, *, unit: float | None = None) -> np.ndarray:
    """Draw n rows: normal, heavy tails, integers, few values, lines, or with copies and an offset, in any unit."""
    kind = rng.integers(7)
    X = rng.standard_normal((n, dim))
    if kind == 1:
        X = rng.standard_t(1.0, (n, dim))
    elif kind == 2:
        X = rng.integers(-3, 4, (n, dim)).astype(float)
    elif kind == 3:
        X = rng.integers(0, 2, (n, dim)).astype(float)
    elif kind == 4:
        X = X[:, :1] @ rng.standard_normal((1, dim))  # all rows on a line
    elif kind == 5:
        X = X[rng.integers(0, max(1, n // 2), n)]  # copies
    elif kind == 6:
        X = X + 10.0 ** rng.uniform(-2, 6) * rng.standard_normal(dim)  # far from the origin
    if rng.random() < 0.1:
        X[:, rng.integers(dim)] = rng.standard_normal()  # a constant column
    return X * (10.0 ** rng.uniform(-6, 6) if unit is None else unit)


def size(rng: Rng, least: int, most: int) -> int:
    """Draw a size, small ones more often."""
    return least + int((most + 1 - least) * rng.random() ** 2)


def disguised(rng: Rng, X: np.ndarray) -> Any:
    """Return the same numbers in another form: strides, byte order, read-only, lists, data frames."""
    form = rng.integers(7)
    if form == 0:
        wide = np.zeros((2 * len(X), X.shape[1] + 3))
        wide[::2, 3:] = X
        return wide[::2, 3:]
    if form == 1:
        return np.asfortranarray(X)
    if form == 2:
        return X.astype(">f8")
    if form == 3:
        copy = X.copy()
        copy.flags.writeable = False
        return copy
    if form == 4:
        return X.tolist()
    if form == 5:
        return X[::-1].copy()[::-1]
    return np.ma.masked_array(X, mask=False)


def spoiled(rng: Rng, X: np.ndarray) -> Any:
    """Return a table that no function may turn into a number."""
    kind = rng.integers(12)
    i, j = rng.integers(len(X)), rng.integers(X.shape[1])
    if kind < 3:
        bad = X.copy()
        bad[i, j] = (np.nan, np.inf, -np.inf)[kind]
        return bad
    if kind == 3:
        cells = X.astype(object)
        cells[i, j] = "a"
        return cells
    if kind == 4:
        cells = X.astype(object)
        cells[i, j] = None
        return cells
    others: tuple[Any, ...] = (
        X[:0],
        X[:, :0],
        X[None],
        X.astype(complex) + 1j,
        X.astype(str),
        [*X[:-1].tolist(), [*X[-1].tolist(), 1.0]],
        np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == int(i) * X.shape[1] + int(j)),
    )
    return others[kind - 5]


def mixed_columns(rng: Rng, n: int, kinds: list[int], missing: bool) -> dict[str, list[Any]]:
    """Draw columns of numbers, integers, truth values, words and days, some with missing cells."""
    day = np.datetime64("2026-01-01")
    makers = (
        lambda: rng.standard_normal(n).tolist(),
        lambda: rng.integers(0, 5, n).tolist(),
        lambda: [bool(share < 0.4) for share in rng.random(n)],
        lambda: rng.choice(["red", "green", "", "a, b", "ä"], n).tolist(),
        lambda: [(day + int(k)).astype("datetime64[us]").item() for k in rng.integers(0, 400, n)],
    )
    columns = {f"{'nibwd'[kind]}{place}": makers[kind]() for place, kind in enumerate(kinds)}
    if missing:
        for cells in columns.values():
            for i in rng.integers(0, n, int(rng.integers(0, 3))):
                cells[i] = None
    return columns
