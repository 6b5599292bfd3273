"""Dependence in tables of any length: the pairs of all rows, batch by batch, with exact p-values."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.cli import main
from kernelmean.inference.designs import independence
from kernelmean.inference.permutations import Expanded
from kernelmean.inference.questions import many_pairs
from kernelmean.inference.questions.many_pairs import ManyPairs
from kernelmean.inference.rotations import wheels, windows
from kernelmean.inference.rotations.stripes import turns_of
from kernelmean.inference.rotations.windows import Stripes
from kernelmean.studies import Dependence, Strengths
from kernelmean.studies.dependence import batches, partners
from kernelmean.tables import Encoding, encode

Array = np.ndarray[Any, Any]
CELLS = 0.001
"""The probability that a count leaves its bounds."""


@pytest.fixture
def short_stripes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stripes of few rows, of which some are the pilot."""
    monkeypatch.setattr(windows, "ROTATIONS", 50)
    monkeypatch.setattr(windows, "PILOT", 200)


def mixed(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return independent columns: sorted with heavy tails, with ties, categories of which one is rare, with blanks."""
    skewed = np.exp(2 * rng.normal(size=n))
    skewed[rng.random(n) < 0.05] = np.nan
    kinds = rng.choice(np.array(["u", "v", "w", "x"], dtype=object), n, p=[0.6, 0.3, 0.08, 0.02])
    tails = np.sort(rng.standard_cauchy(n))
    return pd.DataFrame({"tails": tails, "ties": np.round(rng.normal(size=n)), "kind": kinds, "skewed": skewed})


def long(table: Any, *groups: Any, **options: Any) -> Dependence:
    options = {"n_resamples": 99, "missing": "category", **options}
    with every_table_is_long():
        return km.dependence(table, *groups, **options)


def pvalues(result: Dependence) -> dict[tuple[str, str], float]:
    return {(pair.x, pair.y): pair.pvalue for pair in result.pairs}


# -- exactness ---------------------------------------------------------------------------------------------------------


def arranged(deal: Stripes, n: int) -> list[Array]:
    """Return the numbers of the rows of every stripe, first those that were drawn."""
    numbers = np.arange(n, dtype=float)[:, None]
    found = list(deal.dealt(numbers[deal.drawn], [numbers]))
    rows = np.concatenate(found)[:, 0].astype(int)
    assert sorted(rows) == list(range(n))
    whole = n // deal.rotations * deal.rotations
    return list(rows[:whole].reshape(-1, deal.rotations))


@pytest.mark.parametrize("groups", [(), (["a"], ["b"])])
def test_pvalues_over_an_orbit_are_all_ranks_once(groups: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever arrangement is the observed one: features, the pilot and the other arrangements are the same ones.

    Some rows are not of the pilot, and some fill no stripe.
    """
    n, rotations = 20, 3
    for name, value in (("ROTATIONS", rotations), ("PILOT", 7)):
        monkeypatch.setattr(windows, name, value)
    dealt: list[Stripes] = []
    monkeypatch.setattr(partners, "turns_of", lambda *_: np.array(list(product(range(rotations), repeat=2))))
    made = Stripes.of
    monkeypatch.setattr(Stripes, "of", lambda *how: dealt.append(made(*how)) or dealt[-1])
    rng = np.random.default_rng(5)
    x = rng.standard_t(2, n)
    y = 0.5 * x + rng.normal(size=n)

    def found(values: Array) -> float:
        result = long(np.column_stack([x, values]), *([f"x{'ab'.index(own[0])}"] for own in groups), n_resamples=8)
        return result.pvalue if groups else result.pairs[0].pvalue

    found(y)
    rows = arranged(dealt[0], n)
    assert (len(dealt[0].drawn), len(rows)) == (9, 6)
    seen = []
    for first, second in product(range(rotations), repeat=2):
        turned = y.copy()
        for number, stripe in enumerate(rows):
            turned[stripe] = y[np.roll(stripe, -(first, second)[number % 2])]
        seen.append(found(turned))
    np.testing.assert_allclose(sorted(seen), np.arange(1, 10) / 9)


DESIGNS: dict[str, dict[str, Any]] = {
    "strata": {"s": [0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1]},
    "weights": {"w": [1.0, 2, 9, 4, 1, 1, 3, 1, 7, 1, 2, 2, 1]},
    "clusters": {"c": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]},
}


@pytest.mark.parametrize("part", ["strata", "weights", pytest.param("clusters", marks=pytest.mark.slow)])
def test_pvalues_over_the_orbit_of_a_design_are_exact(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four clusters are permuted in all 24 ways; stripes of rows turn in all ways."""
    monkeypatch.setattr(independence, "_FEW", 4)
    monkeypatch.setattr(many_pairs, "PILOT", 8)
    for name, value in (("_CAPS", (3,)), ("_ENOUGH", 0), ("_MOST_WHEELS", 2), ("PILOT", 8)):
        monkeypatch.setattr(wheels, name, value)
    for room in (wheels, many_pairs):
        monkeypatch.setattr(room, "turns_of", lambda _, lengths, __: np.array(list(product(*map(range, lengths)))))
    drawn: list[Any] = []
    made = ManyPairs.of
    monkeypatch.setattr(ManyPairs, "of", lambda *how: drawn.append(made(*how)) or drawn[-1])
    rng = np.random.default_rng(5)
    x = rng.standard_t(2, 13)
    y = 0.5 * x + rng.normal(size=13)
    ((column, labels),) = DESIGNS[part].items()

    def found(values: Array) -> tuple[float, float]:
        table = pd.DataFrame({"a": x, "b": values, column: labels})
        alone = long(table, n_resamples=24, **{part: column})
        joint = long(table, "a", "b", n_resamples=24, **{part: column})
        assert joint.pairs[0].strength == pytest.approx(alone.pairs[0].strength)
        return alone.pairs[0].pvalue, joint.pvalue

    found(y)
    rows, permutations = drawn[0].design.rows, drawn[0].permutations
    if part == "clusters":
        permutations = Expanded(permutations, drawn[0].design.layout.sizes)
    orbit = np.concatenate(list(permutations.batches(50)))
    assert len(orbit) == {"strata": 9, "weights": 9, "clusters": 24}[part]
    pvalues = []
    for order in orbit:
        moved = y.copy()
        moved[rows] = y[rows][order]
        pvalues.append(found(moved))
    for own in np.array(pvalues).T:
        np.testing.assert_allclose(sorted(own), np.arange(1, len(orbit) + 1) / len(orbit))


def test_what_a_design_explains_does_not_depend_in_batches_either() -> None:
    """Within centers nothing goes together, and the region of a center does not vary."""
    rng = np.random.default_rng(0)
    center = rng.integers(0, 6, 900)
    x, y = rng.normal(size=(2, 900)) + center
    table = pd.DataFrame({"x": x, "y": y, "region": center % 2, "center": center, "w": rng.integers(0, 3, 900)})
    found = long(table, strata="center", weights="w")
    assert len(found.pairs) == 3
    assert [pvalue for pair, pvalue in pvalues(found).items() if "region" in pair] == [1.0, 1.0]
    assert pvalues(found)["x", "y"] > 0.05 > pvalues(long(table[["x", "y"]]))["x", "y"]
    held = km.dependence(table, strata="center", weights="w", estimator="kme", n_resamples=99)
    assert found.n_rows == held.n_rows == np.count_nonzero(table.w)
    for pair, other in product(found.pairs, held.pairs):
        if {pair.x, pair.y} == {other.x, other.y}:
            assert pair.strength == pytest.approx(other.strength, abs=0.004)
    assert {*held.notes} <= {*found.notes}
    with pytest.raises(ValueError, match=r"no column 'centre', which strata= names \(did you mean 'center'"):
        long(table, strata="centre")


def count_rejections(trials: int, rows: int) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for seed in range(trials):
        table = mixed(rows, np.random.default_rng([seed, 99]))
        for pair, pvalue in pvalues(long(table, rng=seed)).items():
            found.setdefault(pair, []).append(pvalue)
    return found


def check_levels(found: dict[tuple[str, str], list[float]]) -> None:
    for pair, own in found.items():
        for level in (0.05, 0.2):
            rejected = np.count_nonzero(np.array(own) <= level + 1e-12)
            low, high = binom.ppf([CELLS / 2, 1 - CELLS / 2], len(own), level)
            assert rejected <= high, (pair, level, rejected)
            assert rejected >= low or {"ties", "kind"} & set(pair), (pair, level, rejected)


@pytest.mark.usefixtures("short_stripes")
def test_independent_columns_are_rejected_as_often_as_the_level_says() -> None:
    check_levels(count_rejections(10, 420))


@pytest.mark.slow
@pytest.mark.usefixtures("short_stripes")
def test_independent_columns_are_rejected_as_often_as_the_level_says_on_many_data_sets() -> None:
    check_levels(count_rejections(1000, 900))


# -- what is found -----------------------------------------------------------------------------------------------------


def telling(n: int = 2100) -> pd.DataFrame:
    """Return a table in which three columns go together, sorted by the first one."""
    rng = np.random.default_rng(2)
    dose = np.sort(rng.normal(size=n))
    arm = np.where(rng.random(n) < 0.5 + 0.1 * np.tanh(dose), "b", "a")
    return pd.DataFrame({"dose": dose, "arm": arm, "bowl": dose**2 / 4 + rng.normal(size=n), "alone": rng.random(n)})


def test_pairs_that_depend_are_found_whatever_they_hold() -> None:
    result = long(telling(), n_resamples=199)
    assert {frozenset((pair.x, pair.y)) for pair in result.dependent()} == {
        frozenset(("dose", "arm")),
        frozenset(("dose", "bowl")),
    }
    assert result.pairs[0].n_resamples == 299, "more of them where Holm's method needs it"
    assert (result.n_rows, result.test, len(result.encoded.frames[0])) == (2100, None, 2000)
    assert any("fitted to 2,100 rows drawn from all" in note for note in result.notes)
    assert result.to_dict()["pairs"][0]["pvalue"] == result.pairs[0].pvalue
    assert "dose" in result.to_html()


def test_strengths_are_those_of_all_rows_in_memory() -> None:
    table = telling(900)
    encoded = encode((table,), ("the table",), Encoding())
    expected = Strengths(encoded)
    for pair in long(table).pairs:
        assert pair.strength == pytest.approx(expected.of(pair.x, pair.y), abs=0.004)


def test_two_groups_have_a_joint_test_which_is_that_of_their_only_pair() -> None:
    result = long(telling(), "dose", ["bowl", "alone"])
    assert (result.test.scheme, result.test.pvalue, result.x, result.y) == (
        "bins",
        0.01,
        ("dose",),
        ("bowl", "alone"),
    )
    only = long(telling(600), "dose", "bowl", estimator="kme")
    assert only.pairs[0].pvalue == only.pvalue


def test_pairs_are_tested_alike_in_one_pass_and_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    table = telling(600)
    passes: list[str] = []
    once = long(table)
    monkeypatch.setattr(batches, "_MEMORY", 1)
    many = long(table, progress=lambda label, *_: passes.append(label))
    assert once.pairs == many.pairs
    assert "sums of features, pass 6 of 6" in passes


# -- where rows come from ----------------------------------------------------------------------------------------------


def csv(folder: Path, table: pd.DataFrame) -> Any:
    table.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def folder_of_parquet(folder: Path, table: pd.DataFrame) -> Any:
    (folder / "parts").mkdir()
    for number, start in enumerate(range(0, len(table), 250)):
        table[start : start + 250].to_parquet(folder / "parts" / f"{number}.parquet")
    return folder / "parts"


def partitions(_: Path, table: pd.DataFrame) -> Any:
    dask = pytest.importorskip("dask.dataframe")
    return dask.from_pandas(table, npartitions=3)


SOURCES: dict[str, Callable[[Path, pd.DataFrame], Any]] = {
    "csv": csv,
    "folder": folder_of_parquet,
    "list": lambda _, table: [table[:100], table[100:130], table[130:]],
    "generator": lambda _, table: (table[start : start + 70] for start in range(0, len(table), 70)),
    "dask": partitions,
}


@pytest.mark.parametrize("place", SOURCES)
def test_more_rows_than_the_limit_are_read_batch_by_batch_wherever_they_are(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = telling(600)
    expected = long(table, missing="error")
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 599)
    found = km.dependence(SOURCES[place](tmp_path, table), n_resamples=99)
    assert pvalues(found) == pvalues(expected)
    assert np.abs(found.matrix() - expected.matrix()).max() < 1e-10


def test_as_many_rows_as_the_limit_are_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 60)
    table = telling(60)
    held = km.dependence(table, n_resamples=19)
    assert not any("batch by batch" in note for note in held.notes)
    assert km.dependence([table[:20], table[20:]], n_resamples=19).pairs == held.pairs


def test_rows_with_blanks_are_left_out_before_they_are_dealt() -> None:
    table = telling(600)
    blank = table.assign(bowl=table["bowl"].where(np.arange(600) % 3 > 0))
    dropped = long(blank, missing="drop")
    assert dropped.n_rows == 400
    assert dropped.pairs == long(blank.dropna()).pairs
    assert dropped.missing.rows == (200,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: long(telling(60), missing="noise", estimator="kme"), "needs all rows in memory"),
        (lambda: long(telling(60), "dose", "dose"), "stands in x and in y"),
        (lambda: long(telling(60)[["dose"]]), "one column only, 'dose'"),
        (lambda: long(telling(3)), "at least 4"),
    ],
)
def test_what_batches_do_not_have_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def run(words: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        main(words)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_command_uses_all_rows_above_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, out = telling(600), tmp_path / "out.json"
    path = csv(tmp_path, table)
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 599)
    words = ["dependence", str(path), "--resamples", "99", "--quiet", "--json", str(out)]
    assert run(words) == 0
    found = json.loads(out.read_text())
    expected = long(table, missing="error")
    assert [pair["pvalue"] for pair in found["pairs"]] == [pair.pvalue for pair in expected.pairs]
    assert found["rows"] == 600
    out.unlink()
    assert run([*words, "--max-rows", "500"]) == 0
    assert json.loads(out.read_text())["rows"] == 500


def test_few_rows_say_how_small_a_pvalue_can_be() -> None:
    result = long(telling(20))
    assert any("20 rows have 100 arrangements" in note for note in result.notes)
    assert turns_of(5, (20, 20), np.random.default_rng(0))[0].tolist() == [0, 0]
