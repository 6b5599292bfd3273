"""What of a result is recorded: numbers that say all of it, in few lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Values = dict[str, Any]


def plain(value: Any) -> Any:
    """Return a number or a list of numbers as Python has them."""
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    return array.item() if array.ndim == 0 else array.tolist()


def array(name: str, values: Any) -> Values:
    """Return an array of any size: whole where it is short, else its first entries, last entry, sum and length."""
    flat = np.asarray(values, dtype=float)
    if flat.size <= 8:
        return {name: plain(flat)}
    ends = [*flat.ravel()[:4].tolist(), float(flat.ravel()[-1])]
    shape = {f"{name} shape": list(flat.shape)}
    return {
        **shape,
        f"{name} ends": ends,
        f"{name} sum": float(flat.sum()),
        f"{name} norm": float(np.sqrt((flat**2).sum())),
    }


def embedding(mu: Any, places: Any) -> Values:
    """Return the norm of an embedding, its weights, and its values at some places."""
    return {"norm": mu.norm(), **array("weights", mu.weights), "values": plain(np.asarray(mu(places)))}


def test(result: Any) -> Values:
    """Return what a test found: statistic, p-value, null distribution, and what stands behind them."""
    null = np.asarray(result.null_distribution)
    found = {
        "statistic": float(result.statistic),
        "pvalue": float(result.pvalue),
        "null": [float(np.min(null)), float(np.median(null)), float(np.max(null))],
        "null spread": float(np.std(null)),
        "resamples": int(result.n_resamples),
        "scheme": result.scheme,
        "sizes": list(result.sizes),
    }
    if result.members:
        found["members' weights"] = [member.weight for member in result.members]
        found["members' statistics"] = [member.statistic for member in result.members]
        found["members' pvalues"] = [member.pvalue for member in result.members]
    if result.pairs:
        found["pairs' statistics"] = [pair.statistic for pair in result.pairs]
        found["pairs' pvalues"] = [pair.pvalue for pair in result.pairs]
        found["pairs' adjusted pvalues"] = [pair.adjusted for pair in result.pairs]
    return found


def estimate(name: str, value: Any) -> Values:
    """Return an estimate with its interval."""
    return {name: [value.value, value.low, value.high]}


def flat(content: Any, *, without: tuple[str, ...] = (), prefix: str = "") -> Values:
    """Return what a command wrote as JSON under flat names, without prose."""
    if isinstance(content, Mapping):
        parts = ((f"{prefix}{key}", value) for key, value in content.items() if key not in without)
    elif isinstance(content, list) and any(isinstance(item, Mapping | list) for item in content):
        parts = ((f"{prefix}{number}", value) for number, value in enumerate(content))
    else:
        return {prefix.removesuffix(" "): content}
    return {name: of for key, value in parts for name, of in flat(value, without=without, prefix=f"{key} ").items()}
