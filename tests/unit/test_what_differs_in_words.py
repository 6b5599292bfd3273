"""What a comparison says of columns beside means: categories of one table, blank cells, copied rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import kernelmean as km

QUICK: dict[str, Any] = {"n_resamples": 99, "rng": 0}


def customers(seed: int, n: int, legacy: float = 0.0, blank: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    plan = rng.choice(["basic", "pro", "team", "legacy"], n, p=[0.35, 0.35, 0.3 - legacy, legacy]).astype(object)
    score = rng.normal(600.0, 90.0, n)
    score[rng.random(n) < blank] = np.nan
    return pd.DataFrame({"plan": plan, "score": score, "income": rng.normal(size=n)})


def test_a_category_that_vanished_is_named_before_one_whose_share_moved_a_little() -> None:
    A, B = customers(0, 1500, legacy=0.02), customers(1, 1000)
    result = km.compare(A[["plan"]], B[["plan"]], **QUICK)
    share = f"{(A.plan == 'legacy').mean():.1%}"
    assert result.columns[0].describe() == (f"{share} legacy", "0.0% legacy")
    (words,) = [words for title, words in result.facts() if title == "categories"]
    assert words == f"plan: legacy only in A, {share.replace('%', ' %')}; no row of B"


def test_a_category_that_is_missing_by_chance_is_not_told() -> None:
    A, B = customers(0, 1500), customers(1, 300)
    B["plan"] = np.where(B.plan == "pro", "basic", B.plan)
    A.loc[0, "plan"] = "legacy"
    result = km.compare(A[["plan"]], B[["plan"]], **QUICK)
    assert [words for title, words in result.facts() if title == "categories"] == [
        f"plan: pro only in A, {100 * (A.plan == 'pro').mean():.0f} %; no row of B"
    ]


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


def test_rows_that_one_table_copies_from_the_other_are_told_above_a_hundredth() -> None:
    A, B = customers(0, 1500), customers(1, 1500)
    copied = pd.concat([B.iloc[:1470], A.iloc[:30]])
    told = (
        "30 rows of B are exact copies of rows of A; tables should be independent: leave such rows out of one of them"
    )
    assert told in km.compare(A, copied, **QUICK).notes
    assert told not in km.compare(A, copied, paired=True, **QUICK).notes
    for first, second in ((A, B), (A[["plan"]], B[["plan"]]), (A.round(0), B.round(0))):
        assert not [note for note in km.compare(first, second, **QUICK).notes if "copies" in note]


def test_rows_of_which_one_column_follows_from_another_are_no_copies_from_the_other_table() -> None:
    def prices(seed: int) -> pd.DataFrame:
        net = np.round(np.random.default_rng(seed).lognormal(6.0, 1.0, 1000), 2)
        return pd.DataFrame({"net": net, "gross": np.round(1.19 * net, 2)})

    A, B = prices(0), prices(1)
    assert len(set(A.net) & set(B.net)) > 10
    assert not [note for note in km.compare(A, B, n_resamples=9).notes if "exact copies" in note]
