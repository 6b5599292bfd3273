"""Comparisons and dependence with strata, clusters, weights and pairs: p-values of the tests with the same design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.kernels import Gaussian

RNG = np.random.default_rng(11)
CENTER = np.repeat(["Oslo", "Rome"], 30)
PATIENT = np.arange(60) // 2
FIRST = np.repeat(RNG.random(30) < np.where(CENTER[::2] == "Oslo", 0.7, 0.3), 2)
TABLE = pd.DataFrame(RNG.normal(size=(60, 2)) + 4.0 * (CENTER == "Rome")[:, None], columns=["a", "b"])
TABLE = TABLE.assign(center=CENTER, patient=PATIENT, w=RNG.uniform(0.5, 2.0, 60))
A, B = TABLE[FIRST], TABLE[~FIRST]
DESIGNS: dict[str, dict[str, Any]] = {
    "strata": {"strata": "center"},
    "clusters": {"clusters": "patient"},
    "weights": {"weights": "w"},
    "all": {"strata": "center", "clusters": "patient", "weights": "w"},
}


def streams(seed: int) -> list[np.random.Generator]:
    return list(np.random.default_rng(seed).spawn(2))


def without(table: pd.DataFrame, columns: Any) -> pd.DataFrame:
    return table[["a", "b", *columns]]


@pytest.mark.parametrize("name", DESIGNS)
def test_pvalues_of_a_comparison_are_those_of_the_test_with_the_design(name: str) -> None:
    said = DESIGNS[name]
    columns = said.values()
    how: dict[str, Any] = {"estimator": "kme", "bandwidth": 1.5, "scale": False, "n_resamples": 199, "rng": 4}
    found = km.compare(without(A, columns), without(B, columns), **said, **how)
    design = km.Design(**{part: (A[column], B[column]) for part, column in said.items()})
    options = {"kernel": Gaussian(1.5), "design": design, "n_resamples": 199}
    joint = km.mmd_test(A[["a", "b"]], B[["a", "b"]], rng=streams(4)[0], **options)
    assert found.pvalue == joint.pvalue
    assert found.statistic == pytest.approx(joint.statistic, rel=1e-9)
    assert {column.name for column in found.columns} == {"a", "b"}
    for column in found.columns:
        alone = km.mmd_test(A[[column.name]], B[[column.name]], rng=streams(4)[1], **options)
        assert column.pvalue == alone.pvalue
        assert column.statistic == pytest.approx(alone.statistic, rel=1e-9)


@pytest.mark.parametrize("name", DESIGNS)
def test_adaptive_tests_have_the_design_too(name: str) -> None:
    said = DESIGNS[name]
    columns = said.values()
    found = km.compare(without(A, columns), without(B, columns), **said, n_resamples=99, rng=4)
    design = km.Design(**{part: (A[column], B[column]) for part, column in said.items()})
    first, second = found.encoded.points()
    joint = km.mmd_test(first, second, estimator="adaptive", design=design, n_resamples=99, rng=streams(4)[0])
    assert found.pvalue == joint.pvalue
    for column in found.columns:
        own = found.encoded.points((column.name,))
        alone = km.mmd_test(*own, estimator="kme", design=design, n_resamples=9, rng=0)
        assert column.statistic == pytest.approx(alone.statistic, rel=0.02)


@pytest.mark.parametrize("name", DESIGNS)
def test_pvalues_of_dependence_are_those_of_the_test_with_the_design(name: str) -> None:
    said = DESIGNS[name]
    table = without(TABLE, said.values()).assign(c=RNG.normal(size=60))
    found = km.dependence(table, "a", **said, estimator="kme", scale=False, n_resamples=199, rng=2)
    design = km.Design(**{part: TABLE[column] for part, column in said.items()})
    how = {"estimator": "kme", "design": design, "n_resamples": 199}
    assert found.pvalue == km.hsic_test(table[["a"]], table[["b", "c"]], rng=streams(2)[0], **how).pvalue
    assert {pair.y for pair in found.pairs} == {"b", "c"}
    for pair in found.pairs:
        ordered = sorted((pair.x, pair.y), key=found.encoded.names.index)
        assert pair.pvalue == km.hsic_test(*(table[[each]] for each in ordered), rng=streams(2)[1], **how).pvalue


def test_pairs() -> None:
    before = pd.DataFrame(RNG.normal(size=(30, 2)), columns=["a", "b"])
    after = before + RNG.normal([0.2, 0.0], 0.1, (30, 2))
    how: dict[str, Any] = {"n_resamples": 199, "rng": 1, "estimator": "kme", "bandwidth": 1.0, "scale": False}
    found = km.compare(before, after, paired=True, **how)
    test = km.mmd_test(
        before, after, kernel=Gaussian(1.0), design=km.Design(paired=True), n_resamples=199, rng=streams(1)[0]
    )
    assert found.pvalue == test.pvalue <= 0.01
    assert km.compare(before, after, **how).pvalue > 0.1
    assert found.columns[0].name == "a"
    assert found.columns[1].pvalue > 0.05


def test_a_difference_between_strata_is_none_between_tables() -> None:
    confounded = km.compare(without(A, ()), without(B, ()), n_resamples=199)
    assert confounded.differ()
    stratified = km.compare(without(A, ["center"]), without(B, ["center"]), strata="center", n_resamples=199)
    assert not stratified.differ()
    assert ("design", "rows are exchangeable within strata of center") in stratified.facts()
    assert stratified.to_dict()["design"]["strata"] == "center"
    assert confounded.to_dict()["design"] is None


def test_blank_cells_take_their_labels_with_them() -> None:
    first, second = without(A, ["center"]).copy(), without(B, ["center"])
    first.iloc[3, 0] = np.nan
    kept = first.drop(index=first.index[3])
    how: dict[str, Any] = {"strata": "center", "estimator": "kme", "n_resamples": 99}
    one, other = km.compare(first, second, missing="drop", **how), km.compare(kept, second, **how)
    assert (one.pvalue, one.statistic) == (other.pvalue, other.statistic)
    table = without(TABLE, ["center"]).copy()
    table.iloc[5, 1] = np.nan
    whole = table.drop(index=5)
    found = [km.dependence(each, missing="drop", **how) for each in (table, whole)]
    assert found[0].pairs == found[1].pairs


def test_a_pair_goes_where_one_of_its_rows_has_a_blank_cell() -> None:
    before = pd.DataFrame(RNG.normal(size=(20, 2)), columns=["a", "b"])
    after = before + 0.2
    holes = before.copy()
    holes.iloc[4, 1] = np.nan
    how: dict[str, Any] = {"paired": True, "estimator": "kme", "n_resamples": 99}
    found = km.compare(holes, after, missing="drop", **how)
    assert found.sizes == (19, 19)
    assert "1 pair with blank cells left out" in found.notes
    assert found.pvalue == km.compare(before.drop(index=4), after.drop(index=4), **how).pvalue


def test_strata_of_matched_sets_have_the_test_of_the_rows() -> None:
    sets = np.repeat(np.arange(15), 2)
    first = pd.DataFrame({"a": RNG.normal(size=30), "set": sets})
    second = pd.DataFrame({"a": RNG.normal(1.0, size=15), "set": np.arange(15)})
    how: dict[str, Any] = {"estimator": "kme", "bandwidth": 1.0, "scale": False, "n_resamples": 99}
    found = km.compare(first, second, strata="set", **how)
    design = km.Design(strata=(first["set"], second["set"]))
    test = km.mmd_test(
        first[["a"]], second[["a"]], kernel=Gaussian(1.0), design=design, n_resamples=99, rng=streams(0)[0]
    )  # fmt: skip
    assert found.pvalue == test.pvalue


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown column": ({"strata": "centre"}, r"no column 'centre', which strata= names \(did you mean 'center'\?\)"),
    "pairs with strata": ({"paired": True, "strata": "center"}, "paired=True goes without strata="),
    "one column twice": (
        {"strata": "center", "clusters": "center"},
        "strata= and clusters= name the same column, 'center'",
    ),
    "unequal pairs": ({"paired": True}, r"has \d+ rows and .* has \d+; pairs need as many of both"),
    "text as weights": ({"weights": "center"}, "'center' holds no numbers, but weights are numbers"),
    "an estimator that is fitted anew": (
        {"strata": "center", "estimator": "s-kmse"},
        "'s-kmse' does not go with strata=; write one of kme, mkme, mmkme",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    options, text = REFUSED[name]
    with pytest.raises(ValueError, match=text):
        km.compare(A, B, **options)


def test_blank_labels_and_columns_in_groups_are_refused() -> None:
    holes = A.assign(center=np.where(np.arange(len(A)) == 2, None, A.center))
    with pytest.raises(ValueError, match=r"row 3 has no value in 'center', the column of the strata \(1 such row"):
        km.compare(holes, B, strata="center")
    with pytest.raises(ValueError, match="'center' stands in x or in y, and strata= names it"):
        km.dependence(TABLE, "a", "center", strata="center")
    with pytest.raises(ValueError, match="'scose' does not go with clusters="):
        km.dependence(TABLE, clusters="patient", estimator="scose")
    with pytest.raises(ValueError, match="has no column beside 'center'"):
        km.dependence(TABLE[["center"]], strata="center")


@pytest.mark.parametrize("in_memory", [True, False])
def test_tables_without_rows_or_without_a_row_to_use_are_refused(in_memory: bool) -> None:
    first, second = (table[["a", "center"]] for table in (A, B))
    cases = {"A has no rows": first[:0], "A: every row has a blank cell": first.assign(a=np.nan)}
    for text, table in cases.items():
        sides = [km.read(own, in_memory=in_memory) for own in (table, second)]
        with pytest.raises(ValueError, match=text):
            km.compare(*sides, strata="center", missing="drop")


def test_negative_weights_and_weights_that_are_all_zero_are_refused_with_the_row_of_the_table() -> None:
    with pytest.raises(ValueError, match=r"row 2 has the weight -1 in 'w' \(1 such row in all\)"):
        km.compare(A, B.assign(w=np.where(np.arange(len(B)) == 1, -1.0, B.w)), weights="w")
    with pytest.raises(ValueError, match="all weights in 'w' are zero"):
        km.dependence(TABLE.assign(w=0.0), weights="w")


# -- rows that come from several files ---------------------------------------------------------------------------------


NAMED = pd.DataFrame({"a": RNG.normal(size=60), "id": [f"p{k}" for k in range(60)]})
GONE = NAMED.a.mask(np.arange(60) < 30), NAMED.a.mask(np.arange(60) >= 30)
BAD_PAIRS = {
    "of which none is complete": (
        (NAMED.assign(a=GONE[0]), NAMED.assign(a=GONE[1])),
        r"no pair of A and B is complete: .*; write missing='category', or leave",
    ),
    "in another order": ((NAMED, NAMED[::-1]), "B has the values of 'id' in another order than A, and row i of one"),
    "without partners": (
        (NAMED, NAMED[1:]),
        "pairs need as many of both, .*; 'id' names them: write strata='id'",
    ),
    "of which one is left": ((NAMED[:1], NAMED[:1]), "A has 1 row; a comparison needs at least 2 in each table"),
    "none": ((NAMED[:0], NAMED[:0]), "A has no rows"),
}


@pytest.mark.parametrize("batch_rows", [None, 7])
@pytest.mark.parametrize("name", BAD_PAIRS)
def test_pairs_that_are_none_are_refused(name: str, batch_rows: int | None) -> None:
    tables, text = BAD_PAIRS[name]
    if batch_rows is not None:
        tables = tuple(km.read(table, batch_rows=batch_rows + k) for k, table in enumerate(tables))
    with pytest.raises(ValueError, match=text), every_table_is_long(None if batch_rows is None else 0):
        km.compare(*tables, paired=True, missing="drop")


def test_many_pairs_whose_indexes_have_another_order_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 50)
    with pytest.raises(ValueError, match="row i of A and row i of B are one unit, and their indexes differ"):
        km.compare(NAMED[["a"]], NAMED[["a"]][::-1], paired=True)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"strata": 5}, "strata is 5; pass the name of a column"),
        ({"clusters": ["center"]}, "clusters is a list; pass the name .*; to cross several, make one column of them"),
        ({"paired": "yes"}, "paired is 'yes'; pass True or False"),
    ],
    ids=str,
)
def test_designs_of_other_types_are_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        km.compare(A, B, **said)


def test_clusters_whose_names_start_again_in_every_stratum_are_to_be_combined_with_it() -> None:
    rng = np.random.default_rng(0)
    patients = pd.DataFrame({"center": np.repeat(["Oslo", "Rome"], 24), "patient": np.tile(np.repeat(range(12), 2), 2)})
    patients["x"] = rng.normal(size=48)
    treated = patients.patient % 2 == 0
    tables = patients[treated], patients[~treated]
    with pytest.raises(ValueError, match=r"in more than one stratum.*combine both columns.*such as 'Oslo 1'"):
        km.compare(*tables, strata="center", clusters="patient", n_resamples=19)
    both = [own.assign(patient=own.center + " " + own.patient.astype(str)) for own in tables]
    found = km.compare(*both, strata="center", clusters="patient", n_resamples=19)
    assert any(note.startswith("24 clusters are permuted, whole, whatever their sizes") for note in found.notes)


# -- what stands beside the tests: means within strata, notes, pages ---------------------------------------------------


def mean_within(first: pd.DataFrame, second: pd.DataFrame, of: str, strata: str | None, weight: str | None) -> Any:
    """The means of both tables and their difference, by loops over strata."""
    means, rows = [], []
    for s in [None] if strata is None else sorted({*first[strata], *second[strata]}):
        parts = [t if s is None else t[t[strata] == s] for t in (first, second)]
        parts = [t[t[of].notna()] for t in parts]
        if all(map(len, parts)):
            means.append([np.average(t[of], weights=None if weight is None else t[weight]) for t in parts])
            masses = [len(t) if weight is None else t[weight].sum() for t in parts]
            rows.append(np.prod(masses) / sum(masses))  # as the tests: Cochran, Mantel, Haenszel
    return np.average(means, axis=0, weights=rows)


def within_tables(first: pd.DataFrame, second: pd.DataFrame, of: str, strata: str | None, weight: str | None) -> float:
    """The standard deviation within tables and strata by loops: weighted squares over what weights alike would give."""
    squares, share = 0.0, 0.0
    for s in [None] if strata is None else sorted({*first[strata], *second[strata]}):
        parts = [t if s is None else t[t[strata] == s] for t in (first, second)]
        parts = [t[t[of].notna()] for t in parts]
        if all(map(len, parts)):
            weights = [np.ones(len(t)) if weight is None else t[weight].to_numpy() for t in parts]
            counted = np.prod([own.sum() for own in weights]) / np.concatenate(weights).sum() ** 2
            for t, own in zip(parts, weights, strict=True):
                scaled = counted * own
                squares += scaled @ np.square(t[of].to_numpy() - np.average(t[of], weights=own))
                share += scaled.sum() - np.square(scaled).sum() / scaled.sum()
    return float(np.sqrt(squares / share))


@pytest.mark.parametrize("blank", [False, True], ids=["whole", "blank cells"])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("strata", [None, "center"])
def test_means_and_gaps_are_within_strata_and_weighted(strata: str | None, weight: str | None, *, blank: bool) -> None:
    table = TABLE.assign(c=TABLE.a > np.median(TABLE.a), d=np.where(TABLE.b > 1.0, "high", "low"))
    table = pd.concat([table, table.iloc[:1].assign(center="Bern")]).reset_index(drop=True)  # of one table only
    if blank:
        table.loc[::7, "a"] = np.nan
    first, second = table[[*FIRST, True]], table[[*~FIRST, False]]
    said = {"strata": strata, "weights": weight}
    kept = ["a", "b", "c", "d", *filter(None, said.values())]
    how: dict[str, Any] = {"n_resamples": 19, "missing": {"a": "category"} if blank else "error"}
    found = km.compare(first[kept], second[kept], **said, **how)
    by_name = {column.name: column for column in found.columns}
    for name in ("a", "b", "c"):
        expected = mean_within(*(t.astype({"c": float}) for t in (first, second)), name, strata, weight)
        assert by_name[name].means == pytest.approx(tuple(expected))
        deviation = within_tables(*(t.astype({"c": float}) for t in (first, second)), name, strata, weight)
        gap = (expected[0] - expected[1]) / deviation if deviation else np.nan
        assert by_name[name].gap == pytest.approx(gap, nan_ok=True)
    shares = {share.category: share.shares for share in by_name["d"].shares}
    highs = [t.assign(d=(t.d == "high") * 1.0) for t in (first, second)]
    assert shares["high"] == pytest.approx(tuple(mean_within(*highs, "d", strata, weight)))
    assert shares["low"] == pytest.approx(tuple(1.0 - share for share in shares["high"]))


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_rows_that_take_no_part_do_not_count(estimator: str) -> None:
    options: dict[str, Any] = {"strata": "center", "weights": "w", "estimator": estimator, "n_resamples": 99, "rng": 1}
    outlying = A.assign(a=A.a.to_numpy() * 1e6)
    weightless, alone = outlying[:4].assign(w=0.0), outlying[:5].assign(center="Bonn")
    found = km.compare(pd.concat([weightless.assign(b=1e9), A, alone.assign(b=-1e9)]), B, **options)
    alike = km.compare(A, B, **options)
    assert (found.pvalue, found.test.statistic) == (alike.pvalue, alike.test.statistic)
    assert found.sizes == alike.sizes == (len(A), len(B))
    assert found.notes[:2] == (
        "4 rows of weight zero left out",
        "60 of 65 rows take part: the others are in strata of one sample only, 'Bonn'",
    )
    assert [row.pvalue for row in found.columns] == [row.pvalue for row in alike.columns]


def test_pairs_without_weight_do_not_count() -> None:
    without_weight = TABLE[:7].assign(a=1e9, w=0.0)
    options: dict[str, Any] = {"weights": "w", "n_resamples": 99, "rng": 1}
    found = km.dependence(pd.concat([TABLE, without_weight])[["a", "b", "w"]], ["a"], ["b"], **options)
    alike = km.dependence(TABLE[["a", "b", "w"]], ["a"], ["b"], **options)
    assert (found.pvalue, found.n_rows) == (alike.pvalue, 60)
    assert "7 rows of weight zero left out" in found.notes
    assert found.pairs[0].strength == alike.pairs[0].strength


@pytest.mark.parametrize("limit", [20_000, 599])
def test_strengths_of_a_dependence_are_within_strata(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory and in batches: what strata explain is no strength, what remains is that of the rows within."""
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", limit)
    rng = np.random.default_rng(0)
    center = rng.integers(0, 4, 600)
    x, y, e = rng.normal(size=(3, 600)) + 4.0 * center
    table = pd.DataFrame({"x": x, "y": y, "z": x + e - 4.0 * center, "k": center % 2, "center": center})
    found = km.dependence(table, strata="center", n_resamples=99)
    assert found.notes.count("strengths are within strata of center: every stratum counts as much as in the tests") == 1
    within, of_all = (
        {frozenset((pair.x, pair.y)): pair.strength for pair in own.pairs}
        for own in (found, km.dependence(table.drop(columns="center"), n_resamples=99))
    )
    assert abs(within[frozenset("xy")]) < 0.01 < 0.8 < of_all[frozenset("xy")]
    assert within[frozenset("xk")] == 0.0 < 0.05 < of_all[frozenset("xk")]
    assert 0.2 < within[frozenset("xz")] < of_all[frozenset("xz")]
    one = km.dependence(table[["x", "z"]].assign(center=1), strata="center", n_resamples=99)
    assert one.pairs[0].strength == pytest.approx(of_all[frozenset("xz")], rel=1e-3 if limit < 600 else 1e-12)


def test_a_dict_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"B is a dict, and this takes rows; pass pandas.DataFrame\(B\)"):
        km.compare(A[["a"]], {"a": [1.0, 2.0]})


@pytest.mark.parametrize("call", [km.mmd_test, km.compare, km.hsic_test, lambda X, _: km.KernelMean().fit(X)])
def test_what_has_no_rows_is_refused_by_name(call: Any) -> None:
    rows = pl.DataFrame({"a": [1.0, 2.0, 4.0]}).lazy()
    with pytest.raises(TypeError, match=r"is a LazyFrame, a query that has not run; pass what collect\(\) returns"):
        call(rows, rows)
    with pytest.raises(TypeError, match="is None, and this takes rows: an array or a data frame"):
        call(None, None)


def in_files(folder: Path, table: pd.DataFrame, rows: int) -> Any:
    """Return a table in files of so many rows, each of which counts its rows from 1."""
    folder.mkdir()
    for number, start in enumerate(range(0, len(table), rows)):
        table[start : start + rows].to_parquet(folder / f"part-{number}.parquet", index=False)
    return km.read(folder, in_memory=True)


@pytest.mark.parametrize("said", [{"strata": "center"}, {"clusters": "patient"}, {"weights": "w"}], ids=str)
@pytest.mark.parametrize("rows", [7, 2])
def test_rows_of_several_files_keep_their_labels(tmp_path: Path, said: dict[str, str], rows: int) -> None:
    how: dict[str, Any] = {"estimator": "kme", "n_resamples": 99, "rng": 4, **said}
    (column,) = said.values()
    whole, files = without(A, [column]), in_files(tmp_path / "a", without(A, [column]), rows)
    assert tuple(km.compare(files, without(B, [column]), **how).test) == tuple(
        km.compare(whole, without(B, [column]), **how).test
    )
    assert tuple(km.dependence(files, "a", "b", **how).test) == tuple(km.dependence(whole, "a", "b", **how).test)


def test_pairs_in_more_than_ten_files_are_met_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    before = TABLE[["a", "b"]]
    after = before + 0.2
    how: dict[str, Any] = {"estimator": "kme", "n_resamples": 99, "rng": 4, "paired": True}
    files = in_files(tmp_path / "a", before, 5)
    assert tuple(km.compare(files, after, **how).test) == tuple(km.compare(before, after, **how).test)


def test_rows_of_a_folder_are_named_by_the_folder(tmp_path: Path) -> None:
    for number, weights in enumerate([[1.0, 2.0], [3.0, np.nan]]):
        pd.DataFrame({"x": [0.0, 1.0], "y": [1.0, 3.0], "w": weights}).to_parquet(tmp_path / f"{number}.parquet")
    with pytest.raises(ValueError, match=rf"{tmp_path.name}: row 4 has no value in 'w'"), every_table_is_long():
        km.dependence(tmp_path, weights="w")
