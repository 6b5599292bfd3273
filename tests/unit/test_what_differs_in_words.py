"""What a comparison says of columns beside means: categories of one table, blank cells, spreads, dates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import kernelmean as km

QUICK: dict[str, Any] = {"n_resamples": 99, "rng": 0}


def table(rng: np.random.Generator, slope: float, n: int = 300) -> pd.DataFrame:
    x, y, z = rng.normal(size=(3, n))
    label = rng.choice(["u", "v", "w"], n)
    return pd.DataFrame({"x": x, "word": label, "y": slope * x + (1 - slope**2) ** 0.5 * y, "z": np.exp(z)})


def customers(seed: int, n: int, legacy: float = 0.0, blank: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    plan = rng.choice(["basic", "pro", "team", "legacy"], n, p=[0.35, 0.35, 0.3 - legacy, legacy]).astype(object)
    score = rng.normal(600.0, 90.0, n)
    score[rng.random(n) < blank] = np.nan
    return pd.DataFrame({"plan": plan, "score": score, "income": rng.normal(size=n)})


def test_shares_of_blank_cells_are_shown_where_they_are_the_difference() -> None:
    A, B = customers(0, 1500, blank=0.05), customers(1, 1000, blank=0.15)
    result = km.compare(A, B, missing="category", **QUICK)
    rows = {row[0]: row for row in result.grid().rows}
    shares = [f"{100 * own.score.isna().mean():.2g} % blank" for own in (A, B)]
    assert [cell.partition(", ")[2] for cell in rows["score"][4:6]] == shares
    assert "blank" not in " ".join(rows["income"])
    cells = [
        f"{own.score.isna().sum()} ({share.removesuffix(' blank')})" for own, share in zip((A, B), shares, strict=True)
    ]
    assert f"missing cells in A and B: {' and '.join(cells)} of score (a category of its own)" in result.notes


def test_pairs_are_described_as_two_tables_are() -> None:
    rng = np.random.default_rng(15)
    old = table(rng, 0.9)
    new = old.assign(y=rng.permutation(old["y"]), z=3 * (old["z"] - old["z"].mean()) + old["z"].mean())
    result = km.compare(old, new, names=("old", "new"), paired=True, n_resamples=199, rng=0)
    spreads = [frame["z"].std() for frame in (old, new)]
    said = f"z: standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new"
    assert dict(result.facts())["spread"] == f"changed more than the mean in {said}; a description, not a test"


def test_of_many_changed_spreads_it_is_said_how_many_there_are() -> None:
    old, new = (pd.DataFrame(np.random.default_rng(17).normal(0.0, s, (300, 5)), columns=list("abcde")) for s in (1, 3))
    said = dict(km.compare(old, new, names=("old", "new"), n_resamples=199, rng=0).facts())["spread"]
    assert said.count("standard deviation") == 3
    assert said.endswith("; 2 more columns; a description, not a test")


def test_standard_deviations_are_weighted_as_the_means() -> None:
    rng = np.random.default_rng(16)
    old, new = ({"z": rng.normal(0.0, s, 300), "w": rng.integers(0, 3, 300)} for s in (1.0, 2.5))
    frames = [pd.DataFrame(own).astype(float) for own in (old, new)]
    result = km.compare(*frames, names=("old", "new"), weights="w", n_resamples=199, rng=0)
    rows = [own["w"].sum() ** 2 / (own["w"] ** 2).sum() for own in (old, new)]  # of equal weight, worth as much
    variances = [np.repeat(own["z"], own["w"]).var() * n / (n - 1) for own, n in zip((old, new), rows, strict=True)]
    spreads = np.sqrt(variances)
    said = f"z: weighted standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new"
    assert dict(result.facts())["spread"] == f"changed more than the mean in {said}; a description, not a test"


def test_a_spread_that_chance_explains_is_not_named() -> None:
    """The rows of both are lognormal but for a shift, and their deviations differ by a factor beyond 1.22 by chance."""
    draws = np.random.default_rng(0)
    first, second = draws.lognormal(0.0, 1.2, 200) + 0.6, draws.lognormal(0.0, 1.2, 200)
    assert abs(np.log(first.std() / second.std())) > 0.2
    result = km.compare(first[:, None], second[:, None], estimator="kme", n_resamples=99, rng=0)
    assert result.pvalue <= 0.05
    assert "spread" not in dict(result.facts())
