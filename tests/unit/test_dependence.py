"""Dependence between groups of columns, and between all pairs."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean import dependence
from kernelmean.inference import holm
from kernelmean.kernels import Gaussian
from kernelmean.studies import Dependence, Strengths
from kernelmean.tables import Encoding, Table, encode

RNG = np.random.default_rng(3)
A, B, NOISE = RNG.normal(size=(3, 40))
TABLE = Table(np.column_stack([A, 100.0 * B, A**2, NOISE]), ("a", "b", "square", "noise"))


def quick(table=TABLE, *groups, **options) -> Dependence:
    return dependence(table, *groups, **{"estimator": "kme", "n_resamples": 99, **options})


def test_all_pairs_are_tested_and_the_dependent_one_comes_first() -> None:
    result = quick()
    assert len(result.pairs) == 6
    assert (result.pairs[0].x, result.pairs[0].y) == ("a", "square")
    assert [(pair.x, pair.y) for pair in result.dependent()] == [("a", "square")]
    assert result.test is None
    assert result.verdict().startswith("1 of 6 pairs of columns depends on each other")


def test_pvalues_are_those_of_the_test_and_are_adjusted_over_all_pairs() -> None:
    result = quick(n_resamples=999)
    streams = np.random.default_rng(0).spawn(7)
    columns = TABLE.values / TABLE.values.std(axis=0)
    first, second = sorted(("a", "b"), key=result.encoded.names.index)  # one way round, wherever they stand
    X, Y = (columns[:, [TABLE.names.index(name)]] for name in (first, second))
    expected = km.hsic_test(X, Y, n_resamples=999, rng=streams[1], estimator="kme").pvalue
    found = {(pair.x, pair.y): pair for pair in result.pairs}
    assert found["a", "b"].pvalue == expected
    np.testing.assert_allclose([p.adjusted for p in result.pairs], holm([p.pvalue for p in result.pairs]))


def many_columns(rows: int) -> Table:
    """Seven columns, so 21 pairs; the first two depend on each other."""
    values = np.random.default_rng(5).normal(size=(rows, 7))
    values[:, 1] += values[:, 0]
    return Table(values, tuple("abcdefg"))


@pytest.mark.parametrize("rows", [60, 210])
def test_pairs_that_come_out_small_are_tested_again_with_enough_permutations_for_holm(rows: int) -> None:
    table = many_columns(rows)
    result = quick(table)
    stream = np.random.default_rng(0).spawn(2)[1]
    again, columns, first_tests = stream.spawn(1)[0], table.values / table.values.std(axis=0), {}
    assert {pair.n_resamples > 1000 for pair in result.pairs} == {True, False}
    for pair in result.pairs:
        names = sorted((pair.x, pair.y), key=result.encoded.names.index)
        X, Y = (columns[:, [table.names.index(name)]] for name in names)
        first = first_tests[pair] = km.hsic_test(X, Y, n_resamples=99, rng=copy.deepcopy(stream), estimator="kme")
        options = {"estimator": "kme", "n_resamples": 21 * 50 - 1, "rng": copy.deepcopy(again)}
        small = round(first.pvalue * (first.n_resamples + 1)) <= 10
        expected = km.hsic_test(X, Y, **options) if small else first
        assert (pair.pvalue, pair.n_resamples) == (expected.pvalue, expected.n_resamples)
    assert (result.pairs[0].x, result.pairs[0].y) == ("a", "b")
    assert result.pairs[0].adjusted <= 0.02


def test_strength_is_the_unbiased_normalised_hsic() -> None:
    def centered(x):
        """Return the U-centered Gram matrix of Székely & Rizzo (2014), whose products are unbiased."""
        n = len(x)
        gram = Gaussian(km.median_bandwidth(x))(x, x)
        np.fill_diagonal(gram, 0.0)
        rows = gram.sum(0) / (n - 2)
        gram = gram - rows - rows[:, None] + gram.sum() / ((n - 1) * (n - 2))
        np.fill_diagonal(gram, 0.0)
        return gram

    k, h = centered(A[:, None]), centered(TABLE.values[:, [2]])
    literal = (k * h).sum() / np.sqrt((k * k).sum() * (h * h).sum())
    assert Strengths(encode((TABLE,), ("table",), Encoding())).of("a", "square") == pytest.approx(literal, rel=1e-9)


def test_two_groups_have_a_joint_test_and_the_pairs_across() -> None:
    result = quick(TABLE, ["a", "b"], ["square"])
    values = TABLE.values / TABLE.values.std(axis=0)
    joint = km.hsic_test(
        values[:, :2], values[:, [2]], n_resamples=99, rng=np.random.default_rng(0).spawn(3)[0], estimator="kme"
    )
    assert tuple(result.test) == pytest.approx(tuple(joint), rel=1e-12)
    assert {(pair.x, pair.y) for pair in result.pairs} == {("a", "square"), ("b", "square")}
    result = replace(result, at_least=0.1)
    found = (
        "square depends on 1 of 2 columns with a strength of at least 0.1 (adjusted p at most 0.05): a. All together"
    )
    assert result.verdict() == f"{found}: p = {joint.pvalue:.3g}, at most 0.05."
    assert result.matrix().shape == (2, 1)


def test_one_pair_is_tested_once() -> None:
    result = quick(TABLE, ["a"], ["b"])
    assert result.pairs[0].pvalue == result.pairs[0].adjusted == result.test.pvalue
    assert "does not show that there is none" in result.verdict()


def test_without_y_all_other_columns_are_y() -> None:
    assert quick(TABLE, ["a"]).y == ("b", "square", "noise")
    assert quick(TABLE, [], ["a"]).x == ("b", "square", "noise")


def test_matrix_is_symmetric_with_a_column_fully_dependent_on_itself() -> None:
    result = quick()
    np.testing.assert_array_equal(result.matrix(), result.matrix().T)
    np.testing.assert_array_equal(np.diag(result.matrix()), 1.0)
    np.testing.assert_array_equal(np.diag(result.matrix("adjusted")), 0.0)


def test_unknown_measures_are_refused() -> None:
    with pytest.raises(ValueError, match="one of strength, pvalue, adjusted"):
        quick().matrix("power")


def test_units_and_seeds() -> None:
    scaled = Table(TABLE.values * [1e-3, 1e3, 1.0, 7.0] + 5.0, TABLE.names)
    for one, other in zip(quick().pairs, quick(scaled).pairs, strict=True):
        assert (one.x, one.y, one.pvalue) == (other.x, other.y, other.pvalue)
        assert one.strength == pytest.approx(other.strength, abs=1e-9)
    assert quick(rng=1).to_dict() == quick(rng=1).to_dict()


def test_constant_columns_are_left_out_and_told() -> None:
    table = Table(np.column_stack([A, B, np.full(40, 2.0)]), ("a", "b", "c"))
    result = quick(table)
    assert [(pair.x, pair.y) for pair in result.pairs] == [("a", "b")]
    assert result.notes[0] == "constant, so left out: c"


@pytest.mark.slow
def test_independent_columns_are_rarely_called_dependent() -> None:
    wrong = sum(bool(quick(RNG.normal(size=(20, 3)), rng=k).dependent(0.1)) for k in range(50))
    assert wrong <= 14  # binomial(50, 0.1): more has probability 7e-5


def test_result_as_json() -> None:
    content = json.loads(json.dumps(quick(TABLE, ["a"], ["square", "b"]).to_dict(), allow_nan=False))
    assert content["rows"] == 40
    assert content["test"]["pvalue"] < 0.05
    assert len(content["pairs"]) == 2


@pytest.mark.parametrize(
    ("table", "x", "y", "message"),
    [
        (TABLE, ["c"], [], "there is no column 'c'"),
        (TABLE, ["a"], ["a"], "a stands in x and in y"),
        (TABLE.take(slice(3)), [], [], "3 rows; a test of independence needs at least 4"),
        (Table(np.ones((9, 2)), ("a", "b")), [], [], "no two varying columns"),
        (TABLE.columns([0]), [], [], "one column only, 'a'; a test of dependence needs two"),
        (TABLE, [], ["squar"], r"no column 'squar' \(did you mean 'square'\?\)"),
    ],
    ids=["unknown", "both", "rows", "constant", "one column", "misspelt"],
)
def test_refusals(table, x, y, message) -> None:
    with pytest.raises(ValueError, match=message):
        dependence(table, x, y)


@pytest.mark.parametrize(("pvalue", "words"), [(0.05, "p = 0.05, at most 0.05"), (0.051, "p = 0.051, above 0.05")])
def test_the_verdict_is_true_of_a_pvalue_at_the_level(pvalue: float, words: str) -> None:
    rows = np.random.default_rng(0).normal(size=(8, 2))
    result = dependence(rows, "x0", "x1", estimator="kme", n_resamples=19)
    assert result.test is not None
    assert words in replace(result, test=replace(result.test, pvalue=pvalue)).verdict(0.05)


class TestWorthALook:
    """Strengths: intervals, and the pairs that are listed and counted."""

    rng = np.random.default_rng(8)
    a = rng.normal(size=80)
    table = pd.DataFrame({"a": a, "b": a + 0.1 * rng.normal(size=80), "c": 0.6 * a + rng.normal(size=80)})
    table["d"] = rng.normal(size=80)
    found = dependence(table, estimator="kme", n_resamples=199)

    def test_weaker_pairs_are_neither_listed_nor_counted(self) -> None:
        strong = replace(self.found, at_least=0.3)
        assert [(pair.x, pair.y) for pair in strong.worth_a_look()] == [("a", "b")]
        assert [row[:2] for row in strong.grid().rows] == [("a", "b")]
        assert strong.verdict() == (
            "1 of 6 pairs of columns depends on each other with a strength of at least 0.3 (adjusted p at most 0.05), "
            f"most of all a and b (strength {strong.pairs[0].strength:.2f})."
        )
        assert ("listed", "1 of 6 pairs, those with a strength of at least 0.3") in strong.facts()
        assert strong.pairs == self.found.pairs, "all are tested, and none is lost"
        assert len(strong.to_dict()["pairs"]) == 6
        assert replace(self.found, at_least=1.0).verdict().startswith("No dependence with a strength of at least 1 was")

    def test_intervals_are_those_of_the_effect_size(self) -> None:
        told = self.found.with_intervals(most=2, rng=3)
        first, second = told.listed()[:2]
        assert None not in (first.interval, second.interval)
        assert [pair.interval for pair in told.listed()[2:]] == [None] * 4
        names = sorted((first.x, first.y), key=told.encoded.names.index)
        x, y = (told.encoded.points((name,))[0] for name in names)
        size = km.hsic_test(x, y, kernel="gaussian", n_resamples=199).effect_size(n_resamples=199, rng=3)
        assert first.strength == pytest.approx(size.alignment.value, rel=1e-9)
        assert first.interval == pytest.approx((size.alignment.low, size.alignment.high), rel=1e-6)
        assert first.interval[0] < first.strength < first.interval[1]
        assert told.grid().header[:6] == ("column", "column", "strength", "adjusted p", "p", "interval")
        assert "interval" not in self.found.grid().header
        assert dict(told.facts())["strength"].endswith(
            "the intervals are approximate, 95 % each, not adjusted for their number"
        )

    def test_intervals_need_independent_rows_in_memory(self) -> None:
        grouped = dependence(self.table.assign(g=np.repeat([0, 1], 40)), strata="g", estimator="kme", n_resamples=99)
        with pytest.raises(ValueError, match="intervals are of independent rows, and this study had strata="):
            grouped.with_intervals()
        long = pd.concat([self.table] * 40)
        with every_table_is_long():
            read = dependence(long, estimator="kme", n_resamples=99)
        with pytest.raises(ValueError, match="intervals need all rows in memory, and 3,200 were read batch by batch"):
            read.with_intervals()


class TestOneTarget:
    """Which columns a target depends on."""

    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(80, 11)), columns=[f"x{k}" for k in range(11)])
    table["y"] = table["x3"] ** 2 + 0.1 * rng.normal(size=80)

    def test_the_verdict_names_only_columns_that_were_found(self) -> None:
        result = dependence(self.table, y="y", n_resamples=199)
        p = result.joint.pvalue
        assert result.verdict().startswith(
            "y depends on 1 of 11 columns (adjusted p at most 0.05): x3. All together: p = "
        )
        assert f"{p:.3g}" in result.verdict()
        assert [panel.x_label for panel in result.document().sections[0].charts[0].panels] == ["x3"]


class TestNotes:
    """Rows that repeat each other, and dependence on blank cells."""

    rng = np.random.default_rng(4)

    def test_doubled_rows_are_noted_first(self) -> None:
        rows = self.rng.normal(size=(30, 3))
        doubled = quick(np.concatenate([rows, rows]))
        assert doubled.notes[0].startswith(
            "30 of 60 rows repeat another row; rows should be independent: keep one of each"
        )
        assert not quick(rows).notes
        clustered = pd.DataFrame(np.concatenate([rows, rows])).assign(who=[*range(30)] * 2)
        assert not any("repeat" in note for note in quick(clustered, clusters="who").notes)

    def test_a_dependence_on_blank_cells_only_is_noted(self) -> None:
        rng = np.random.default_rng(4)
        hour = rng.uniform(0.0, 24.0, 200)
        table = pd.DataFrame({"hour": hour, "score": rng.normal(size=200), "load": hour + rng.normal(size=200)})
        table.loc[hour > 16.0, ["score", "load"]] = np.nan
        result = dependence(table, n_resamples=199, missing="category")
        assert {pair.adjusted <= 0.05 for pair in result.pairs} == {True}
        (note,) = (note for note in result.notes if note.startswith("blank cells"))
        complete = table.dropna()
        assert "between hour and score (p = " in note
        assert float(note.rsplit(" = ", 1)[1].rstrip(")")) > 0.05
        assert "hour and load" not in note
        assert dependence(complete, "hour", "score", n_resamples=199).joint.pvalue > 0.05


# -- what a reader sees ------------------------------------------------------------------------------------------------


def cohort(rows: int = 300) -> pd.DataFrame:
    """A straight line, a parabola, blanks that depend on x although the values do not, and noise."""
    rng = np.random.default_rng(1)
    x, value, noise = rng.normal(size=(3, rows))
    blank = np.where(rng.random(rows) < np.where(x > 0.0, 0.6, 0.1), np.nan, value)
    return pd.DataFrame({"x": x, "line": x + 0.3 * noise, "parabola": x**2 + 0.3 * noise, "blank": blank})


def kind_of(result: Dependence, *names: str) -> str:
    row = next(row for row in result.rows() if {row["x"], row["y"]} == {*names})
    return str(row["kind"])


def test_every_pair_that_depends_says_in_what_way() -> None:
    table = cohort()[["x", "line", "parabola"]]
    result = dependence(table, n_resamples=199)
    assert (kind_of(result, "x", "line"), kind_of(result, "x", "parabola")) == ("trend", "curve")
    assert [row[-1] for row in result.grid().rows if {*row[:2]} == {"x", "parabola"}] == ["curve"]
    pair = next(pair for pair in result.to_dict()["pairs"] if {pair["x"], pair["y"]} == {"x", "line"})
    assert pair["kind"]["name"] == "trend"
    assert "kind" not in dependence(table, n_resamples=199, estimator="kme").grid().header


@pytest.mark.parametrize("design", [{}, {"strata": "center"}])
def test_a_pair_that_depends_only_in_its_blank_cells_is_marked_wherever_it_is_listed(design: dict[str, str]) -> None:
    table = cohort()[["x", "blank"]].assign(center=np.arange(300) % 2, line=cohort()["line"])
    table = table if design else table.drop(columns="center")
    result = dependence(table, y="x", missing="category", n_resamples=199, **design)
    assert {pair.x: pair.blanks_only for pair in result.pairs} == {"line": False, "blank": True}
    assert "line, blank (only in which cells are blank)." in result.verdict()
    assert kind_of(result, "x", "blank") == "blank cells only"
    (note,) = [note for note in result.notes if note.startswith("blank cells are a category; where both")]
    assert "between blank and x (p = " in note
    shown = dict(result.document().overview)["The strongest pairs"]
    assert shown[1].endswith(" (only in which cells are blank)")


def test_the_kind_of_a_pair_is_that_of_the_rows_where_both_are_known() -> None:
    table = cohort()[["x", "parabola"]]
    table.loc[np.arange(300) % 20 == 0, "parabola"] = np.nan
    result = dependence(table, y="parabola", missing="category", n_resamples=199)
    assert kind_of(result, "x", "parabola") == "curve"
    assert dict(result.facts())["kind"] == (
        "in a curve that turns, or a spread that grows, the simplest kind that explains the evidence; a description, "
        "not a test"
    )


def test_blank_rows_without_partners_in_their_stratum_show_no_dependence() -> None:
    table = cohort()[["x", "blank"]].assign(center=np.arange(300))
    table.loc[table["blank"].isna(), "center"] = 0
    result = dependence(table, missing="category", n_resamples=99, strata="center")
    assert not any(pair.adjusted <= 0.05 and not pair.blanks_only for pair in result.pairs)
