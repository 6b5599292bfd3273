"""Dependence between groups of columns, and between all pairs."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import dependence
from kernelmean.inference import holm
from kernelmean.kernels import Gaussian
from kernelmean.studies import Dependence, Strengths
from kernelmean.studies.dependence import PairDependence
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


def test_threads_change_nothing() -> None:
    assert quick(many_columns(60), plan=km.Plan(threads=3)).to_dict() == quick(many_columns(60)).to_dict()


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


def test_one_column_may_be_a_plain_name() -> None:
    assert quick(TABLE, "a", "b").to_dict() == quick(TABLE, ["a"], ["b"]).to_dict()


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


def test_independent_columns_are_rarely_called_dependent() -> None:
    wrong = sum(bool(quick(RNG.normal(size=(20, 3)), rng=k).dependent(0.1)) for k in range(100))
    assert wrong <= 22  # binomial(100, 0.1): more has probability 1e-4


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

    def test_listed_first_are_those_that_depend_by_strength(self) -> None:
        listed = self.found.listed()
        depend = [pair.adjusted <= 0.05 for pair in listed]
        assert depend == sorted(depend, reverse=True)
        for part in (True, False):
            strengths = [pair.strength for pair, own in zip(listed, depend, strict=True) if own == part]
            assert strengths == sorted(strengths, reverse=True)
        assert {*listed} == {*self.found.pairs}

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
        read = dependence(km.read(long, in_memory=False), estimator="kme", n_resamples=99)
        with pytest.raises(ValueError, match="intervals need all rows in memory, and 3,200 were read batch by batch"):
            read.with_intervals()


class TestManyPairs:
    """780 pairs: what is listed, mapped and left out."""

    names = tuple(f"c{k:02}" for k in range(40))
    chain = tuple((f"c{k:02}", f"c{k + 1:02}") for k in range(0, 40, 2))

    def result(self, found: int) -> Dependence:
        """Return a study of which so many pairs were found, the chain first, each weaker than the one before."""
        names, table = self.names, np.random.default_rng(0).normal(size=(30, 40))
        encoded = encode((pd.DataFrame(table, columns=list(names)),), ("t",), Encoding())
        others = [pair for pair in combinations(names, 2) if pair not in self.chain]
        pairs = tuple(
            PairDependence(
                *pair, strength=0.5 - k / 100, pvalue=0.001, adjusted=0.01 if k < found else 1.0, n_resamples=9
            )
            for k, pair in enumerate([*self.chain, *others])
        )
        return Dependence(names, names, 30, None, pairs, "kme", (), encoded.missing, encoded)

    def test_a_weak_pair_is_found_although_its_strength_is_below_zero(self) -> None:
        result = self.result(60)
        assert result.pairs[59].strength < 0.0
        assert len(result.worth_a_look()) == len(result.dependent()) == 60
        assert len(result.grid().rows) == 780
        assert [pair.strength for pair in result.worth_a_look(at_least=0.45)] == [0.5, 0.49, 0.48, 0.47, 0.46, 0.45]
        assert result.verdict().startswith("60 of 780 pairs")

    def test_no_found_pair_is_left_out_of_the_page_and_the_terminal_counts_them(self) -> None:
        result = self.result(60)
        rest = "and 50 pairs more that depend, 720 that were not found to (to_frame() or --json FILE has all)"
        assert rest in " ".join(result.summary().split())
        (section,) = (each for each in result.document().sections if each.title == "Pairs in numbers")
        assert [row[2] for row in section.tables[0].rows] == ["yes"] * 60
        assert section.paragraphs[-1] == "Left out here: 720 pairs more, not found to depend."
        assert "and 1 pair more that depends, 769 that were not found to" in self.result(11).summary()

    def test_the_map_has_both_columns_of_a_pair_and_counts_pairs_outside(self) -> None:
        (section, *_) = self.result(20).document().sections
        (chart,) = section.charts
        shown = chart.panels[0].rows
        assert set(shown) == {name for pair in self.chain[:12] for name in pair}
        assert "Shown are 24 of 40 columns" in chart.text
        assert "Of the pairs that depend on each other 8 stand only in the table below." in chart.text


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
        assert result.document().sections[0].charts[0].panels[0].rows == ("x3",)

    def test_a_long_group_without_a_finding_is_counted(self) -> None:
        result = dependence(self.table.drop(columns="x3"), y="y", n_resamples=99)
        assert not result.dependent()
        assert "between 10 columns together and y was found" in result.verdict()

    @pytest.mark.parametrize("y", [table["x3"], ["y", 3]])
    def test_cells_are_no_names(self, y) -> None:
        with pytest.raises(TypeError, match=r"y takes names of columns of the table: write y='(x3|price)'"):
            dependence(self.table, y=y)

    def test_categories_have_no_trend(self) -> None:
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"group": np.repeat(["a", "b", "c"], 30), "value": rng.normal(size=90)})
        table["value"] += table["group"].map({"a": 0.0, "b": 3.0, "c": 1.0})
        kind = dict(dependence(table, "group", "value", n_resamples=99).facts())["kind"]
        assert "in a mean that differs between categories" in kind
        numbers = table.assign(group=table["value"] + rng.normal(size=90))
        assert (
            "in a trend, rising or falling"
            in dict(dependence(numbers, "group", "value", n_resamples=99).facts())["kind"]
        )


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

    @pytest.mark.parametrize("copied", [False, True])
    def test_rows_of_few_values_repeat_each_other_anyway(self, copied: bool) -> None:
        table = pd.DataFrame(self.rng.choice(list("abc"), size=(60, 2)), columns=["u", "v"])
        table["v"] = table["u"] if copied else table["v"]
        assert not quick(table).notes

    def test_a_dependence_on_blank_cells_only_is_noted(self) -> None:
        hour = self.rng.uniform(0.0, 24.0, 200)
        table = pd.DataFrame(
            {"hour": hour, "score": self.rng.normal(size=200), "load": hour + self.rng.normal(size=200)}
        )
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
    assert dict(result.facts())["kind"] == "in a curve that turns, or a spread that grows; a description, not a test"


def test_the_kind_of_several_columns_says_that_it_is_of_all_together() -> None:
    result = dependence(cohort()[["x", "line", "parabola"]], y="x", n_resamples=199)
    assert (kind_of(result, "x", "line"), kind_of(result, "x", "parabola")) == ("trend", "curve")
    assert dict(result.facts())["kind"].startswith("all columns together: ")


def test_blank_rows_without_partners_in_their_stratum_show_no_dependence() -> None:
    table = cohort()[["x", "blank"]].assign(center=np.arange(300))
    table.loc[table["blank"].isna(), "center"] = 0
    result = dependence(table, missing="category", n_resamples=99, strata="center")
    assert not any(pair.adjusted <= 0.05 and not pair.blanks_only for pair in result.pairs)


def test_notes_say_how_large_strata_are_and_that_single_rows_are_no_clusters() -> None:
    table = cohort().drop(columns="blank").assign(center=np.repeat(["a", "b"], [2, 298]), row=np.arange(300))
    strata = quick(table.drop(columns="row"), strata="center")
    assert "rows are permuted only within their stratum (2 strata of 2 to 298 rows each)" in strata.notes
    alone = quick(table.drop(columns="center"), clusters="row")
    assert "each of the 300 clusters is a single row: clusters change nothing here" in alone.notes


def test_low_strengths_and_smallest_pvalues_are_called_so() -> None:
    found = [PairDependence("a", "b", 0.03, 0.01, 0.03, 99), PairDependence("a", "c", 0.01, 0.01, 0.03, 99)]
    shown = replace(quick(), pairs=tuple(found))
    assert "(adjusted p at most 0.05), all with a strength below 0.05, most of all a and b" in shown.verdict()
    assert dict(shown.facts())["smallest p"].startswith("every pair that depends has the smallest p-value")
    larger = replace(shown, pairs=(*found[:1], replace(found[1], pvalue=0.02)))
    assert "smallest p" not in dict(larger.facts())
    strong = replace(shown, pairs=(replace(found[0], strength=0.3), found[1]))
    assert "all with" not in strong.verdict()


def test_long_work_names_a_faster_way_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.studies.many_tests._LONG", -1.0)
    for name in ("LONG", "_SURE_AFTER", "_SURE_OF_ONE"):
        monkeypatch.setattr(f"kernelmean.core.pace.{name}", -1.0)
    table = cohort(60).drop(columns="blank")
    for options, words in (
        ({}, "; faster: estimator='kme' or y='COLUMN'"),
        ({"y": "x"}, "; faster: estimator='kme'"),
        ({"estimator": "kme"}, "; faster: y='COLUMN'"),
        ({"estimator": "kme", "y": "x"}, " more"),
    ):
        told: list[str] = []
        dependence(table, n_resamples=19, progress=lambda label, *_, told=told: told.append(label), **options)
        (notice,) = [label for label in told if "to test with" in label]
        assert notice.endswith(words)


def test_a_fifth_of_copies_is_told_first() -> None:
    rng = np.random.default_rng(0)
    once = pd.DataFrame({"a": rng.normal(size=80), "b": rng.integers(0, 5, 80), "c": rng.normal(size=80)})
    assert not [note for note in dependence(once, n_resamples=19).notes if "repeat another row" in note]
    copied = dependence(pd.concat([once, once[:20]]), n_resamples=19)
    assert copied.notes[0].startswith("20 of 100 rows repeat another row; rows should be independent")


def test_a_table_without_a_dependence_says_so_and_many_names_take_one_cell() -> None:
    table = np.random.default_rng(2).normal(size=(40, 13))
    table[:, 12] += 3.0 * table[:, 0]
    alone = km.dependence(table[:, 1:4], estimator="kme", n_resamples=199)
    assert alone.grid().title == "Pairs, none of which is shown to depend"
    assert km.dependence(table[:4, 1:4], estimator="kme").grid().title == "Pairs, none of which can be found to depend"
    found = km.dependence(table, y="x12", n_resamples=199).with_intervals(most=2)
    assert (found.rows()[0]["x"], found.rows()[0]["y"]) == ("12 columns", "x12")
    (shown,) = found.describe().grids
    assert shown.title == "Pairs that depend most"
    assert shown.header[-2:] == ("interval", "kind")
    assert shown.rows[0][-1]
