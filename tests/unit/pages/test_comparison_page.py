"""The page of a comparison says what the numbers say, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from explained import effect_size, witness_bands
from kernelmean import compare
from kernelmean.report import Bars, Panel, Section
from kernelmean.studies import Comparison, comparison_page, gather

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = RNG.normal([0.0, 1.5, 0.0], size=(50, 3))
QUICK = {"estimator": "kme", "n_resamples": 99}


@pytest.fixture(scope="module")
def differing() -> Comparison:
    return compare(X, Y, names=("before", "after"), **QUICK)


@pytest.fixture(scope="module")
def alike() -> Comparison:
    return compare(X[:30], X[30:], names=("before", "after"), **QUICK)


def with_pvalues(result: Comparison, joint: float, *alone: float) -> Comparison:
    """Return a comparison with other p-values, of the joint test and, adjusted, of the columns."""
    columns = tuple(replace(column, adjusted=p) for column, p in zip(result.columns, alone, strict=True))
    return replace(result, test=replace(result.test, pvalue=joint), columns=columns)


def sections(result: Comparison, **options: object) -> dict[str, Section]:
    result = replace(result, **options)
    return {one.title: one for one in comparison_page(result, gather(result)).sections}


class TestWords:
    def test_the_verdict_is_the_headline(self, differing: Comparison, alike: Comparison) -> None:
        page = comparison_page(differing, gather(differing))
        assert page.title == "before and after compared"
        p = differing.test.pvalue
        assert page.headline == f"before and after differ: p = {p:.3g}, at most 0.05."
        same = comparison_page(alike, gather(alike))
        assert same.headline.startswith(
            "No difference between before and after was found, all columns taken together: p = 0."
        )
        assert same.headline.endswith("That does not show that there is none.")

    @pytest.mark.parametrize(("p", "differ"), [(0.0499, True), (0.05, True), (0.0501, False), (1.0, False)])
    def test_a_tie_with_the_level_is_a_difference(self, differing: Comparison, p: float, differ: bool) -> None:
        one = with_pvalues(differing, p, 1.0, 1.0, 1.0)
        assert comparison_page(one, gather(one)).headline.startswith("before and after differ") is differ

    def test_the_level_is_the_readers(self, differing: Comparison) -> None:
        one = replace(with_pvalues(differing, 0.03, 0.02, 0.2, 0.2), level=0.016)
        strict = comparison_page(one, gather(one))
        assert strict.headline.startswith("No difference")
        assert strict.sections[0].paragraphs[0] == "None of the 3 columns is shown to differ on its own."
        assert "Which rows stand out" not in [section.title for section in strict.sections]

    @pytest.mark.parametrize(
        ("joint", "alone", "words"),
        [
            (0.01, (0.01, 1.0, 1.0), "One of 3 columns differs on its own: x1."),
            (0.01, (0.01, 0.05, 1.0), "2 of 3 columns differ on their own: x1, "),
            (0.01, (0.06, 1.0, 1.0), "None of the 3 columns is shown to differ on its own: the difference may lie"),
            (0.5, (1.0, 1.0, 1.0), "None of the 3 columns is shown to differ on its own."),
            (0.5, (0.04, 1.0, 1.0), "One of 3 columns differs on its own: x1."),
        ],
    )
    def test_columns_beside_the_joint_test(
        self, differing: Comparison, joint: float, alone: tuple[float, ...], words: str
    ) -> None:
        one = with_pvalues(differing, joint, *alone)
        assert comparison_page(one, gather(one)).sections[0].paragraphs[0].startswith(words)

    def test_one_column_has_one_pvalue(self) -> None:
        result = compare(X[:, [1]], Y[:, [1]], **QUICK)
        odd = with_pvalues(result, 0.04, 0.06)
        page = comparison_page(odd, gather(odd))
        assert page.sections[0].paragraphs[0] == "x0 is the only column, so the test of both tables is the test of it."
        (table,) = page.sections[0].tables
        assert table.header[:3] == ("column", "adjusted p", "gap/sd")  # with the distributions in sight on a phone
        assert (*table.rows[0][:2], table.rows[0][-2]) == ("x0", "0.04", "0.04")
        assert not any("single columns" in item for item in page.sections[-1].items)

    def test_the_effect_is_that_of_the_library(self, differing: Comparison, alike: Comparison) -> None:
        ours = gather(differing, rng=3).effect
        theirs = effect_size(*differing.encoded.points(), differing.test.kernel, rng=3)
        assert ours == theirs
        words, _ = dict(comparison_page(differing, gather(differing, rng=3)).overview)["How large"]
        assert f"explains {100 * ours.explained.value:.2g} %" in words or f"{100 * ours.explained.value:.0f} %" in words
        assert words.startswith("Which table a row comes from explains ")
        missed, most = dict(comparison_page(alike, gather(alike)).overview)["How large"]
        assert missed == "How large a difference may have been missed?"
        assert "explains at most" in most

    def test_what_was_noted_is_told_once(self, differing: Comparison) -> None:
        noted = ("read as text", "read as text", "constant, so left out: z")
        items = sections(replace(differing, notes=noted))
        found = items["What to keep in mind"].items
        assert found[-2:] == ("Read as text.", "Constant, so left out: z.")

    def test_tables_of_one_name_are_told_apart(self) -> None:
        result = compare(X, Y, names=("old/data.csv", "new/data.csv"), **QUICK)
        page = comparison_page(result, gather(result))
        assert page.headline.startswith("old/data.csv and new/data.csv differ")
        panel = page.sections[0].tables[0].sketches[0].pictures[0]
        assert isinstance(panel, Panel)
        assert [one.label for one in panel.steps] == ["old/data.csv", "new/data.csv"]


class TestNumbers:
    def test_the_table_has_the_numbers_of_the_columns(self, differing: Comparison) -> None:
        table, folded = sections(differing)["Which columns differ"].tables
        first, second = differing.columns[0], differing.columns[-1]
        assert table.rows[0][:2] == (first.name, f"{first.adjusted:.2g}")
        assert folded.rows[-1][1] == f"{second.adjusted:.2g}"
        assert table.rows[0][3] == f"{first.means[0]:.4g}".replace("-", "−")
        assert table.emphasis == {(k, 0) for k, one in enumerate(differing.columns) if one.adjusted <= 0.05}
        assert not folded.emphasis

    def test_columns_that_do_not_differ_are_folded(self, differing: Comparison) -> None:
        one = with_pvalues(differing, 0.01, 1.0, 0.01, 1.0)
        table, folded = sections(one)["Which columns differ"].tables
        assert ([row[0] for row in table.rows], table.folded) == ([one.columns[1].name], "")
        assert [row[0] for row in folded.rows] == [one.columns[0].name, one.columns[2].name]
        assert folded.folded == "2 columns not shown to differ"
        for part in (table, folded):
            for pictures in part.sketches:
                assert [picture.title.split(":")[0] for picture in pictures.pictures if picture] == [
                    row[0] for row in part.rows
                ]
        (nearest,) = sections(with_pvalues(differing, 0.5, 1.0, 1.0, 1.0))["Which columns differ"].tables
        assert len(nearest.rows) == 3

    def test_a_distribution_opens_in_full_without_a_script(self, differing: Comparison) -> None:
        page = differing.to_html()
        assert page.count('<details class="drawn"><summary><svg class="sketch"') == len(differing.columns)
        assert page.count('<svg class="full"') == len(differing.columns)
        assert "<details><summary>2 columns not shown to differ</summary><div" in page

    def test_rows_are_named_by_their_numbers_in_the_source(self) -> None:
        frame = pd.DataFrame(X, columns=list("abc"))
        holes = pd.concat([pd.DataFrame({"a": [np.nan], "b": [0.0], "c": [0.0]}), frame])
        plain, moved = (
            gather(compare(one, pd.DataFrame(Y, columns=list("abc")), missing="drop", **QUICK))
            for one in (frame, holes)
        )
        numbers = [[row.row for row in one.rows if row.table == 0] for one in (plain, moved)]
        assert [k + 1 for k in numbers[0]] == numbers[1]

    def test_the_witness_is_that_of_the_library(self, differing: Comparison) -> None:
        found = gather(differing, rng=0).witnesses["x1"]
        again = witness_bands(X[:, [1]], Y[:, [1]], found.points, rng=5)
        np.testing.assert_allclose(found.values, again.values)
        chart = sections(differing)["Where they differ"].charts[0]
        chance, first, second = chart.panels[0].strips
        assert chance.quiet
        np.testing.assert_allclose(np.array(first.high) + np.array(second.low), found.values)
        assert "drawn for 1 column with many values, and leaves the grey strip of chance in x1." in chart.text

    def test_the_pvalue_follows_from_the_arrangements(self, differing: Comparison, alike: Comparison) -> None:
        for result in (differing, alike):
            section = sections(result)["The test"]
            reached = np.count_nonzero(result.test.null_distribution >= result.test.statistic - result.test.tolerance)
            assert (
                f"p = (1 + {reached}) / (1 + {result.test.n_resamples}) = {result.test.pvalue:.3g}"
                in section.paragraphs[0]
            )
            (panel,) = section.charts[0].panels
            assert sum(panel.steps[0].heights) == pytest.approx(1.0)
            assert panel.marks[0][1] == result.test.statistic


@pytest.fixture(scope="module")
def mixed() -> Comparison:
    def table(n: int, shift: float) -> pd.DataFrame:
        rng = np.random.default_rng(n)
        days = pd.to_timedelta(rng.integers(0, 500, n), "D")
        frame = pd.DataFrame(
            {
                "age": rng.normal(40 + 20 * shift, 10, n),
                "city": rng.choice(["Rome", "Oslo", "Lima"], n, p=[0.6 - shift / 2, 0.2 + shift / 2, 0.2]),
                "smoker": rng.random(n) < 0.2 + shift,
                "joined": pd.Timestamp("2020-01-01") + days + pd.Timedelta(300 * shift, "D"),
                "size": pd.Categorical(
                    rng.choice(list("SML"), n, p=[0.6 - shift, 0.2, 0.2 + shift]), list("SML"), ordered=True
                ),
            }
        )
        frame.loc[0, "age"] = np.nan
        return frame

    return compare(table(80, 0.0), table(70, 0.5), names=("a", "b"), missing={"age": "category"}, **QUICK)


class TestKinds:
    def test_categories_are_shares_and_times_have_a_unit(self, mixed: Comparison) -> None:
        found = gather(replace(mixed, level=1.0))
        panels = dict(zip(found.columns, found.marginals, strict=True))
        assert set(panels) == {"age", "city", "smoker", "joined", "size"}
        assert isinstance(panels["city"], Bars)
        assert panels["size"].names == ("S", "M", "L")
        assert set(panels["smoker"].names) == {"True", "False"}
        shares = dict(panels["smoker"].series)["b"]
        means = next(column.means for column in mixed.columns if column.name == "smoker")
        assert shares[panels["smoker"].names.index("True")] == pytest.approx(means[1])
        assert isinstance(panels["joined"], Panel)
        assert panels["joined"].x_label.startswith("joined, days after 2020-01-0")
        assert panels["age"].blank == (1 / 80, 1 / 70)
        assert set(found.witnesses) == {"age", "joined"}


def test_where_blank_cells_alone_differ_there_is_no_witness() -> None:
    draws = np.random.default_rng(0)
    first, second = ({"x": draws.normal(size=200), "y": draws.normal(shift, 1.0, 200)} for shift in (0.0, 1.0))
    second["x"][:80] = np.nan
    result = compare(pd.DataFrame(first), pd.DataFrame(second), missing={"x": "category"}, **QUICK)
    found = gather(result)
    assert set(found.columns) == {"x", "y"}
    assert found.marginals[found.columns.index("x")].blank == (0.0, 0.4)
    assert set(found.witnesses) == {"y"}


def test_the_same_seed_makes_the_same_page(differing: Comparison) -> None:
    first, second = (comparison_page(differing, gather(differing, rng=1)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("design", [{"strata": "s"}, {"weights": "w"}, {"clusters": "user"}])
def test_witnesses_follow_a_design(design: dict[str, str]) -> None:
    """Of one stratum, equal weights and clusters of copies it is the witness of rows, with bands of so many units."""
    rng = np.random.default_rng(0)
    before, after = (np.repeat(rng.normal(level, size=60), 4) for level in (0.0, 1.0))
    labels = {"s": np.zeros(240), "w": np.full(240, 2.0), "user": np.arange(240) // 4}
    (column,) = design.values()
    tables = [
        pd.DataFrame({"x": values, column: labels[column] + number * (column == "user")})
        for number, values in ((0, before), (1000, after))
    ]
    result = compare(*tables, **design, estimator="kme", n_resamples=99)
    found = gather(result).witnesses["x"]
    plain = gather(compare(*(table[["x"]] for table in tables), estimator="kme", n_resamples=99)).witnesses["x"]
    np.testing.assert_allclose(found.points, plain.points)
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-9, atol=1e-12)
    wider = np.median(found.halfwidth / plain.halfwidth)
    assert (1.7 < wider < 2.4) if column == "user" else (0.8 < wider < 1.25)
    assert "Where they differ" in result.to_html()


def in_design(name: str, rows: int, shift: float = 1.0) -> Comparison:
    """Return a comparison of one column, of a design that says nothing, or of pairs of independent rows."""
    rng = np.random.default_rng(0)
    column = {"strata": np.zeros(rows), "weights": np.full(rows, 2.0), "clusters": np.arange(rows)}.get(name)
    tables = [pd.DataFrame({"x": rng.normal(level, size=rows)}) for level in (0.0, shift)]
    if column is None:
        return compare(*tables, **({"paired": True} if name else {}), **QUICK)
    for number, table in enumerate(tables):
        table["own"] = column + number * rows * (name == "clusters")
    return compare(*tables, **{name: "own"}, **QUICK)


@pytest.mark.parametrize("design", ["strata", "weights", "clusters"])
def test_effect_sizes_follow_a_design(design: str) -> None:
    """One stratum, equal weights and clusters of one row change nothing."""
    found, plain = (gather(in_design(name, 60)).effect for name in (design, ""))
    assert found is not None
    assert plain is not None
    assert found.explained.value == pytest.approx(plain.explained.value, rel=1e-9)
    assert found.explained.low == pytest.approx(plain.explained.low, rel=0.3)
    page = comparison_page(in_design(design, 60), gather(in_design(design, 60)))
    assert "How large" in dict(page.overview)
    assert "variation between the tables" in dict(page.strip)
    said = " ".join(page.sections[-1].items)
    assert "With the design it is of the means as the tests compare them" in said


@pytest.mark.parametrize("design", ["strata", "clusters", "paired"])
def test_effect_sizes_of_many_rows_are_of_some_with_their_design(design: str) -> None:
    result = in_design(design, 1500, 0.3)
    found = gather(result)
    assert found.effect is not None
    assert found.effect.sizes == (1000, 1000)
    said = result.to_html()
    assert "The effect size rests on at most 1,000 rows of each table, drawn at random" in said
    assert ("whole clusters at a time" in said) == (design == "clusters")


def test_whole_clusters_are_drawn() -> None:
    user = np.arange(1600) // 7
    tables = [pd.DataFrame({"x": RNG.normal(size=1600), "user": user + 1000 * k}) for k in (0, 1)]
    effect = gather(compare(*tables, clusters="user", **QUICK)).effect
    assert effect is not None
    assert all(990 < size <= 1000 for size in effect.sizes)


def test_why_there_is_no_effect_size_is_said() -> None:
    tables = [pd.DataFrame({"x": RNG.normal(size=9), "s": [0, 1, 1, 2, 2, 2, 3, 3, 3]}) for _ in range(2)]
    result = compare(*tables, strata="s", **QUICK)
    assert gather(result).effect is None
    assert "There is no effect size: some of 4 strata have rows of a sample that are worth" in result.to_html()
    saved = replace(result, test=replace(result.test, question=None))
    assert "There is no effect size: with a design it needs rows in memory" in saved.to_html()


def test_witnesses_of_pairs_are_those_of_their_differences() -> None:
    rng = np.random.default_rng(0)
    before = rng.normal(size=(80, 1))
    after = before + 0.1 * rng.normal(size=(80, 1)) + 0.3
    found = gather(compare(before, after, paired=True, **QUICK)).witnesses["x0"]
    plain = gather(compare(before, after, **QUICK)).witnesses["x0"]
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-9, atol=1e-12)
    assert np.median(found.halfwidth / plain.halfwidth) < 0.5
    assert len(found.outside) > len(plain.outside)


def test_columns_with_blank_cells_have_no_witness_under_a_design() -> None:
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"x": rng.normal(level, size=60), "s": np.arange(60) % 2}) for level in (0.0, 2.0)]
    tables[0].loc[3, "x"] = np.nan
    found = gather(compare(*tables, strata="s", missing="category", **QUICK))
    assert found.columns == ("x",)
    assert found.witnesses == {}
