"""Pairs of columns that go together differently in two tables: named, with Spearman's correlations, and on the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr

import kernelmean as km
from kernelmean.core.words import percent
from kernelmean.studies.comparison.relations import not_looked_at, relations
from kernelmean.studies.designs import TableDesign
from kernelmean.studies.pages import gather
from kernelmean.studies.pages.overview import of_comparison
from kernelmean.tables.columns import Encoding, encode


def table(rng: np.random.Generator, slope: float, n: int = 300) -> pd.DataFrame:
    x, y, z = rng.normal(size=(3, n))
    label = rng.choice(["u", "v", "w"], n)
    return pd.DataFrame({"x": x, "word": label, "y": slope * x + (1 - slope**2) ** 0.5 * y, "z": np.exp(z)})


@pytest.fixture(scope="module")
def broken() -> km.Comparison:
    rng = np.random.default_rng(0)
    return km.compare(table(rng, 0.8), table(rng, 0.1), names=("old", "new"), n_resamples=199, rng=0)


def test_a_broken_relation_is_named_wherever_a_result_is_shown(broken: km.Comparison) -> None:
    (found,) = broken.relations
    assert found.columns == ("x", "y")
    first, second = (spearmanr(frame["x"], frame["y"])[0] for frame in broken.encoded.frames)
    assert found.correlations == pytest.approx((first, second), abs=1e-9)
    said = f"x and y: rank correlation {first:.2f} in old, {second:.2f} in new"
    assert said in " ".join(broken.summary().split())
    assert broken.to_dict()["relations"][0]["columns"] == ("x", "y")
    overview = dict(of_comparison(broken, gather(broken).effect))
    assert overview["Pairs of columns that go together differently, by approximate p-values"] == (said,)
    advice = " ".join(overview["What to do next"])
    assert "the rank correlation of x and y went from" in advice
    assert "look at the pairs of columns named above" in advice


def test_all_pairs_of_numbers_are_ordered_and_adjusted(broken: km.Comparison) -> None:
    found = relations(encode([frame.select(drop=["word"]) for frame in broken.encoded.frames], ("A", "B"), Encoding()))
    assert {own.columns for own in found} == {("x", "y"), ("x", "z"), ("y", "z")}
    pvalues = [own.pvalue for own in found]
    assert pvalues == sorted(pvalues)
    assert [own.adjusted for own in found] == pytest.approx(
        np.maximum.accumulate(np.minimum(1, pvalues * np.r_[3:0:-1]))
    )
    first, second = np.arctanh(found[0].correlations)
    assert norm.isf(found[0].pvalue / 2) == pytest.approx(abs(first - second) / (2 / 300) ** 0.5, rel=0.25)


def test_no_pair_is_named_for_chance_or_under_a_design(broken: km.Comparison) -> None:
    rng = np.random.default_rng(1)
    alike = [relations(encode([table(rng, 0.5, 120), table(rng, 0.5, 120)], ("A", "B"), Encoding())) for _ in range(40)]
    assert np.mean([found[0].adjusted <= 0.05 for found in alike]) <= 0.125
    assert km.compare(table(rng, 0.5), table(rng, 0.5), n_resamples=99, rng=0).relations == ()
    assert replace(broken, design=TableDesign(strata="word")).relations == ()


def test_ranks_that_depend_on_other_rows_keep_the_level_of_a_curve() -> None:
    """As if ranks were fixed, .19 of these sets would have p at most .05."""
    rng = np.random.default_rng(3)

    def drawn() -> np.ndarray:
        x = rng.random(150)
        return np.c_[x, np.abs(x - 0.3) + 0.05 * rng.normal(size=150)]

    found = [relations(encode([drawn(), drawn()], ("A", "B"), Encoding()))[0].pvalue for _ in range(300)]
    assert 0.02 <= np.mean(np.array(found) <= 0.05) <= 0.09  # exact binomial bounds at 1e-3 on either side


def test_two_values_are_in_pairs_with_the_one_that_counts_1() -> None:
    rng = np.random.default_rng(5)

    def drawn(slope: float) -> pd.DataFrame:
        x = rng.normal(size=300)
        return pd.DataFrame({"x": x, "smoker": np.where(slope * x + rng.normal(size=300) > 0, "yes", "no")})

    old, new = drawn(2.0), drawn(0.0)
    (found,) = relations(encode((old, new), ("old", "new"), Encoding()))
    assert (found.columns, found.labels) == (("x", "smoker"), ("x", "smoker=yes"))
    assert found.pvalue < 1e-6
    expected = [spearmanr(frame["x"], frame["smoker"] == "yes")[0] for frame in (old, new)]
    assert found.correlations == pytest.approx(expected, abs=1e-9)


def test_columns_that_hardly_vary_in_a_table_are_in_no_pair() -> None:
    rng = np.random.default_rng(4)
    tables = [np.c_[rng.normal(size=n) + (n < 200), rng.random((n, 8)) < 0.03, rng.normal(size=n)] for n in (150, 1000)]
    found = relations(encode(tables, ("A", "B"), Encoding()))
    assert {name for pair in found for name in pair.columns} == {"x0", "x9"}
    x = rng.normal(size=120)
    assert (
        relations(encode([np.c_[x, np.zeros(120)], np.c_[x, x + rng.normal(size=120)]], ("A", "B"), Encoding())) == ()
    )


def test_a_column_says_what_changed_of_it_without_an_extreme_cell() -> None:
    rng = np.random.default_rng(2)
    first, second = ({"a": rng.normal(size=400), "b": rng.normal(10.0, s, 400)} for s in (1.0, 1.5))
    second["b"][7] = 1000.0
    result = km.compare(pd.DataFrame(first), pd.DataFrame(second), names=("old", "new"), n_resamples=199, rng=0)
    effect = gather(result).effect
    (line,) = dict(of_comparison(result, effect))["The columns that matter most"]
    spreads = first["b"].std(), second["b"].std(), np.delete(second["b"], 7).std()
    assert line == (
        f"b: standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new ({spreads[2]:.4g} without its most "
        "extreme value, 1000)"
    )
    assert ("spread", line) in result.facts()
    assert "over all columns" in dict(of_comparison(result, effect))["How large"][0]


def test_a_small_change_of_spread_is_named_where_it_is_clear() -> None:
    """Standard deviations of 1 and 1.12 are told of 3000 rows each; the same ratio may be chance in 60 rows."""
    rng = np.random.default_rng(5)
    named = []
    for n in (3000, 60):
        first, second = (
            np.c_[rng.normal(size=n) * s, rng.normal(size=n) + shift] for s, shift in ((1.0, 0), (1.12, 2))
        )
        result = km.compare(first, second, n_resamples=199, rng=0)
        columns = [replace(own, adjusted=0.01) for own in result.columns]
        named.append(dict(replace(result, columns=tuple(columns)).facts()).get("spread", ""))
    assert named[0].startswith("x0: standard deviation ")
    assert named[1] == ""


def test_dates_that_differ_are_told_with_what_to_leave_out() -> None:
    rng = np.random.default_rng(5)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 200)
    first, second = (
        pd.DataFrame({"day": days + np.timedelta64(shift, "D"), "x": rng.normal(size=200)}) for shift in (0, 90)
    )
    said = dict(km.compare(first, second, n_resamples=199, rng=0).facts())["dates"]
    assert said.startswith(
        "day holds dates, and the test of all columns counts it: if the tables are of different times"
    )
    assert "leave it out before (pandas or read_frame: drop(columns=['day']))" in said
    assert "dates" not in dict(km.compare(first, first.assign(x=first["x"] + 2.0), n_resamples=99, rng=0).facts())


def test_a_mean_that_moved_is_told_with_the_most_extreme_value_beside_it() -> None:
    rng = np.random.default_rng(2)
    first, second = ({"a": rng.normal(size=60), "b": rng.normal(m, 1.0, 60)} for m in (0.0, 1.2))
    second["b"][7] = 9.0
    result = km.compare(pd.DataFrame(first), pd.DataFrame(second), names=("old", "new"), n_resamples=199, rng=0)
    (line,) = dict(of_comparison(result, gather(result).effect))["The columns that matter most"]
    assert line.endswith(" standard deviations within the tables); the most extreme value in new is 9")
    assert "spread" not in dict(result.facts())


def test_no_heading_says_that_columns_differ_where_none_does(broken: km.Comparison) -> None:
    assert broken.grid().title.startswith("Columns, none of which is shown to differ (gap")
    shifted = km.compare(np.eye(12), np.eye(12) + 5.0, n_resamples=99, rng=0)
    assert shifted.grid().title.startswith("Columns that differ most (gap")


def test_the_first_screen_names_blanks_new_categories_and_columns_that_say_the_table() -> None:
    rng = np.random.default_rng(6)

    def drawn(blank: float, levels: str, year: int) -> pd.DataFrame:
        n = 300
        dates = pd.Timestamp(f"{year}-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
        income = np.where(rng.random(n) < blank, np.nan, rng.normal(size=n))
        return pd.DataFrame({"income": income, "region": rng.choice([*levels], n), "date": dates})

    old, new = drawn(0.05, "ab", 2024), drawn(0.4, "abc", 2025)
    result = km.compare(old, new, names=("old", "new"), missing="category", n_resamples=199, rng=0)
    overview = dict(of_comparison(result, None))
    lines = overview["The columns that matter most"]
    blank = [percent(frame["income"].isna().mean()) for frame in (old, new)]
    assert f"income: {blank[0]} of the cells blank in old, {blank[1]} in new" in lines
    assert f"region: c only in new, {percent((new['region'] == 'c').mean())}; no row of old" in lines
    header = result.grid().table().header
    assert header[:2] == ("column", "differs")


def test_a_relation_is_named_where_one_of_its_columns_has_blank_cells() -> None:
    rng = np.random.default_rng(8)
    old, new = table(rng, 0.8, 600), table(rng, 0.1, 600)
    for frame in (old, new):
        frame.loc[rng.random(600) < 0.1, "y"] = np.nan
    result = km.compare(old, new, names=("old", "new"), missing="category", n_resamples=199, rng=0)
    (found,) = result.relations
    complete = [frame.dropna() for frame in (old, new)]
    assert found.columns == ("x", "y")
    assert found.correlations == pytest.approx([spearmanr(own["x"], own["y"])[0] for own in complete], abs=1e-9)
    (dropped,) = km.compare(old, new, missing="drop", n_resamples=199, rng=0).relations
    assert found.pvalue == pytest.approx(dropped.pvalue, rel=1e-6)


def people(rng: np.random.Generator, n: int, *, broken: bool = False) -> pd.DataFrame:
    income = rng.lognormal(size=n)
    segment = np.select([income > 1.5, income > 0.7], ["high", "mid"], "low")
    city = rng.choice([*"abcdef"], n, p=[0.4, 0.25, 0.2, 0.1, 0.03, 0.02])
    region = np.where(rng.random(n) < 0.7, np.isin(city, ["a", "b"]), rng.random(n) < 0.5).astype(str)
    if broken:
        segment, city = rng.permutation(segment), rng.permutation(city)
    return pd.DataFrame({"income": income, "segment": segment, "city": city, "region": region})


def test_relations_of_categories_are_named_by_their_clearest_levels() -> None:
    rng = np.random.default_rng(9)
    old, new = people(rng, 800), people(rng, 900, broken=True)
    result = km.compare(old, new, names=("old", "new"), n_resamples=199, rng=0)
    first, second = result.relations
    assert {first.columns, second.columns} == {("income", "segment"), ("city", "region")}
    (numbers,) = (own for own in (first, second) if own.columns == ("income", "segment"))
    level = numbers.labels[1].removeprefix("segment=")
    expected = [spearmanr(frame["income"], frame["segment"] == level)[0] for frame in (old, new)]
    assert numbers.correlations == pytest.approx(expected, abs=1e-9)
    every = relations(result.encoded)
    assert len(every) == len({own.columns for own in every}) == 6
    assert numbers.adjusted > 6 * numbers.pvalue  # several levels of a column count several times


def test_relations_of_categories_keep_their_level() -> None:
    rng = np.random.default_rng(10)
    found = [relations(encode([people(rng, n), people(rng, 400)], ("A", "B"), Encoding())) for n in (60, 150, 400) * 40]
    assert np.mean([own[:1] != () and own[0].adjusted <= 0.05 for own in found]) <= 0.12  # exact binomial bound at 1e-3
    assert not any(label in ("city=e", "city=f") for own in found for pair in own for label in pair.labels)


def test_no_pairs_are_named_where_the_joint_test_finds_nothing() -> None:
    rng = np.random.default_rng(11)
    result = km.compare(people(rng, 300), people(rng, 300, broken=True), names=("old", "new"), n_resamples=99, rng=0)
    assert result.relations
    quiet = replace(result, test=replace(result.test, pvalue=0.4))
    assert quiet.relations == ()
    assert "pairs" not in dict(quiet.facts())
    assert "Still" not in str(quiet)


def test_a_reason_is_given_where_pairs_are_not_looked_at() -> None:
    rng = np.random.default_rng(12)
    few = km.compare(table(rng, 0.95, 45), table(rng, -0.9, 60), names=("old", "new"), n_resamples=199, rng=0)
    assert (few.together, few.relations) == (True, ())
    said = "not looked at: fewer than 50 rows in a table"
    assert dict(few.facts())["pairs"] == said
    assert said in [text for _, texts in of_comparison(few, None) for text in texts]
    wide = [
        frame.assign(**{f"c{k}": rng.choice([*"abcde"], 300) for k in range(14)})
        for frame in (table(rng, 0.5), table(rng, 0.5))
    ]
    encoded = encode(wide, ("A", "B"), Encoding())
    assert not_looked_at(encoded) == "not all looked at: more than 64 columns and categories"
    assert {own.columns for own in relations(encoded)} == {("x", "y"), ("x", "z"), ("y", "z")}


def test_a_pair_is_told_first_where_how_columns_go_together_is_the_main_kind() -> None:
    rng = np.random.default_rng(13)
    old, new = table(rng, 0.9, 500), table(rng, -0.2, 500)
    new["z"] += 1.0
    result = km.compare(old, new, names=("old", "new"), n_resamples=199, rng=0)
    assert result.test.kind is not None
    assert result.test.kind.name == "columns together"
    effect = gather(result).effect
    assert effect is not None
    small = replace(effect, explained=replace(effect.explained, value=0.001))
    advice = dict(of_comparison(result, small))["What to do next"]
    assert "but the rank correlation of x and y went from" in advice[0]
    assert "Look at x and y together, in either table: how they go together has changed." in advice


@pytest.mark.parametrize("sign", [1, -1])
def test_approximate_pvalues_of_pairs_follow_what_the_two_rows_of_a_pair_share(sign: int) -> None:
    """As if tables were independent, none (sign 1) and .15 (sign -1) of these sets would have p at most .05."""
    rng = np.random.default_rng(14)

    def drawn() -> list[np.ndarray]:
        x, y = rng.normal(size=(2, 150))
        other = rng.normal(size=(2, 150))
        return [np.c_[x, y], np.c_[x, sign * y] + 0.2 * other.T]

    found = [relations(encode(drawn(), ("A", "B"), Encoding()), paired=True)[0].pvalue for _ in range(300)]
    assert 0.02 <= np.mean(np.array(found) <= 0.05) <= 0.09


def test_pairs_are_described_as_two_tables_are() -> None:
    rng = np.random.default_rng(15)
    old = table(rng, 0.9)
    new = old.assign(y=rng.permutation(old["y"]), z=3 * (old["z"] - old["z"].mean()) + old["z"].mean())
    result = km.compare(old, new, names=("old", "new"), paired=True, n_resamples=199, rng=0)
    spreads = [frame["z"].std(ddof=0) for frame in (old, new)]
    said = f"z: standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new"
    assert dict(result.facts())["spread"] == said
    assert result.test.kind is not None
    assert {"spread", "columns together"} <= {*result.test.kind.kinds}
    assert result.relations[0].columns == ("x", "y")


def test_standard_deviations_are_weighted_as_the_means() -> None:
    rng = np.random.default_rng(16)
    old, new = ({"z": rng.normal(0.0, s, 300), "w": rng.integers(0, 3, 300)} for s in (1.0, 2.5))
    frames = [pd.DataFrame(own).astype(float) for own in (old, new)]
    result = km.compare(*frames, names=("old", "new"), weights="w", n_resamples=199, rng=0)
    spreads = [np.repeat(own["z"], own["w"]).std() for own in (old, new)]
    said = f"z: weighted standard deviation {spreads[0]:.4g} in old, {spreads[1]:.4g} in new"
    assert dict(result.facts())["spread"] == said


def with_blank_columns(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """Beside both are 30 columns, each with blank cells in rows of its own, so that not all rows are looked at."""
    others = np.where(rng.random((len(x), 30)) < 0.1, np.nan, rng.normal(size=(len(x), 30)))
    return pd.DataFrame({"x": x, "y": y, **{f"c{k}": own for k, own in enumerate(others.T)}})


def correlated(rng: np.random.Generator, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = rng.normal(size=(2, len(slope)))
    return x, slope * x + (1 - slope**2) ** 0.5 * y


@pytest.fixture
def few_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows be drawn where there are a tenth of those of which some are drawn otherwise."""
    monkeypatch.setattr("kernelmean.studies.comparison.relations._MOST_CELLS", 1_000_000)
    monkeypatch.setattr("kernelmean.studies.comparison.relations._ALWAYS_KEPT", 400)


@pytest.mark.usefixtures("few_looked_at")
@pytest.mark.parametrize("paired", [False, True])
def test_no_pair_is_named_where_rows_of_two_sensors_take_turns_in_one_table_only(paired: bool) -> None:
    """Every second row would be one sensor in the one table, and both in the other."""
    rng = np.random.default_rng(17)
    turns = np.resize([0.9, -0.9], 700)
    tables = [with_blank_columns(rng, *correlated(rng, own)) for own in (turns, rng.permutation(turns))]
    first, *_ = relations(encode(tables, ("A", "B"), Encoding(missing="category")), paired=paired)
    assert first.adjusted > 0.05


@pytest.mark.usefixtures("few_looked_at")
def test_a_pair_is_named_where_only_the_other_table_has_more_rows_than_are_looked_at() -> None:
    rng = np.random.default_rng(18)
    tables = [with_blank_columns(rng, *correlated(rng, np.full(n, r))) for n, r in ((90, 0.95), (1_200, -0.95))]
    first, *_ = relations(encode(tables, ("A", "B"), Encoding(missing="category")))
    assert first.columns == ("x", "y")
    assert first.adjusted < 1e-6
    assert first.correlations[0] == pytest.approx(spearmanr(tables[0]["x"], tables[0]["y"])[0], abs=1e-9)
    assert first.correlations[1] == pytest.approx(spearmanr(tables[1]["x"], tables[1]["y"])[0], abs=0.01)
