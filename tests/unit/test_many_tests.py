"""Many columns and pairs: the screen of pairs, the permutations that grow, and the time that is told."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, hypergeom

import kernelmean as km
from kernelmean.inference import holm
from kernelmean.studies.many_tests import LEFT, SCREENED, Contrasts, ManyTests, OneTest, Run, runs
from kernelmean.tables.columns import Encoding, encode

ROWS, COLUMNS, TELLING = 60, 45, 3
RNG = np.random.default_rng(11)
A, B = RNG.normal(size=(2, ROWS, COLUMNS))
B[:, 7] += 3.0
B[:, 19] *= 4.0


def quick(first: Any = A, second: Any = B, **options: Any) -> km.studies.Comparison:
    return km.compare(first, second, **{"estimator": "kme", "n_resamples": 99, **options})


TESTED = quick()


def by_name(result: km.studies.Comparison) -> dict[str, Any]:
    return {column.name: column for column in result.columns}


def test_what_differs_stands_first() -> None:
    assert {column.name for column in TESTED.columns[:2]} == {"x7", "x19"}
    assert TESTED.columns[1].adjusted <= 0.05


def test_holm_is_over_all_columns() -> None:
    columns = TESTED.columns
    np.testing.assert_allclose([each.adjusted for each in columns], holm([each.pvalue for each in columns]))
    assert min(each.adjusted for each in columns) == COLUMNS * min(each.pvalue for each in columns)


def test_few_columns_have_equally_many_permutations() -> None:
    result = quick(A[:, :40], B[:, :40])
    assert {column.n_resamples for column in result.columns} == {result.columns[0].n_resamples}


def test_wrong_options_are_refused_before_a_screen() -> None:
    same = np.tile(np.arange(10.0)[:, None], (1, COLUMNS))
    for wrong in ({"estimator": "median"}, {"n_resamples": 0}):
        with pytest.raises(ValueError, match=r"estimator is|n_resamples is"):
            km.compare(same, same, **wrong)
        with pytest.raises(ValueError, match=r"estimator is|n_resamples is"):
            km.dependence(same[:, :20] ** np.arange(1, 21), **wrong)


def mixed(rows: int, shift: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return 44 columns: numbers with many ties or blank cells, and categories, of which every tenth differs."""
    columns: dict[str, Any] = {}
    for j in range(11):
        own = shift if j == 5 else 0.0
        numbers = rng.normal(size=rows) + own
        columns[f"round{j}"] = np.round(numbers)
        columns[f"blank{j}"] = np.where(rng.random(rows) < 0.2 + own / 4, np.nan, rng.normal(size=rows))
        columns[f"letter{j}"] = rng.choice(list("abcd"), rows, p=np.array([4 - own, 3, 2, 1 + own]) / 10)
        columns[f"flag{j}"] = rng.random(rows) < 0.3 + own / 4
    return pd.DataFrame(columns)


def test_categories_blank_cells_and_truth_values_that_differ_are_found() -> None:
    rng = np.random.default_rng(5)
    result = quick(mixed(90, 0.0, rng), mixed(90, 2.0, rng), missing="category")
    differing = {column.name for column in result.columns if column.adjusted <= 0.05}
    assert differing == {"round5", "blank5", "letter5", "flag5"}


def many_pairs() -> np.ndarray:
    """Return ten columns, so 45 pairs; two of them depend on each other without correlation, two with it."""
    values = np.random.default_rng(8).normal(size=(80, 10))
    values[:, 3] = values[:, 0] ** 2 + 0.2 * values[:, 3]
    values[:, 8] += values[:, 5]
    return values


def test_pairs_without_evidence_have_p_one_and_the_others_the_test_they_would_have_had() -> None:
    options: dict[str, Any] = {"estimator": "kme", "n_resamples": 199}
    result, full = (km.dependence(many_pairs(), screen=screen, **options) for screen in (True, False))
    whole = {(pair.x, pair.y): pair for pair in full.pairs}
    assert 10 < sum(pair.screened for pair in result.pairs) < 45
    for pair in result.pairs:
        own = whole[pair.x, pair.y]
        assert pair.strength == own.strength
        expected = (1.0, 0) if pair.screened else (own.pvalue, own.n_resamples)
        assert (pair.pvalue, pair.n_resamples) == expected
    assert {(pair.x, pair.y) for pair in result.dependent()} == {("x0", "x3"), ("x5", "x8")}
    assert any(note.startswith("screened: ") and "of 45 pairs" in note for note in result.notes)
    np.testing.assert_allclose([p.adjusted for p in result.pairs], holm([p.pvalue for p in result.pairs]))
    assert SCREENED in {cell for row in result.grid().rows for cell in row}


def stop_after(tests: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come while the test after so many tests runs."""
    test, left = ManyTests._one, [tests]

    def one(self: ManyTests[Any], *given: Any) -> OneTest:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return test(self, *given)

    monkeypatch.setattr(ManyTests, "_one", one)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stopped_run_keeps_finished_pairs_and_adjusts_for_all(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"estimator": "kme", "n_resamples": 199, "plan": km.Plan(threads=threads)}
    whole = {(pair.x, pair.y): pair for pair in km.dependence(many_pairs(), **options).pairs}
    kept = sum(not pair.screened for pair in whole.values())
    stop_after(8, monkeypatch)
    result = km.dependence(many_pairs(), keep_finished=True, **options)
    assert sum(pair.stopped for pair in result.pairs) == kept - 8
    for pair in result.pairs:
        own = whole[pair.x, pair.y]
        assert (pair.strength, pair.screened) == (own.strength, own.screened)
        assert (pair.pvalue, pair.n_resamples) == ((1.0, 0) if pair.stopped else (own.pvalue, own.n_resamples))
        assert pair.adjusted >= own.adjusted
    np.testing.assert_allclose([p.adjusted for p in result.pairs], holm([p.pvalue for p in result.pairs]))
    stopped, screened = (
        next(note for note in result.notes if note.startswith(word)) for word in ("stopped", "screened")
    )
    assert stopped.startswith(f"stopped: {kept - 8} of 45 pairs were not tested, with p = 1; ")
    assert screened.startswith(f"screened: {kept} of 45 pairs were to be tested in full; ")
    assert result.verdict().endswith(f" Stopped early: {kept - 8} of 45 pairs were not tested.")
    assert [LEFT in row for row in result.grid().rows] == sorted(pair.stopped for pair in result.pairs)
    assert result.limits() == ()
    assert sum(pair["stopped"] for pair in result.to_dict()["pairs"]) == kept - 8


@pytest.mark.parametrize(("finished", "keep"), [(0, True), (8, False)])
def test_a_stop_is_one_unless_asked_and_something_is_finished(
    finished: int, keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(finished, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        km.dependence(many_pairs(), keep_finished=keep, estimator="kme", n_resamples=19)


# -- permutations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_resamples", "tests", "expected"),
    [
        (999, 20, [999]),
        (999, 21, [999, 1049]),
        (99, 21, [99, 1049]),
        (999, 40, [999, 1999]),
        (999, 41, [999, 8199]),
        (999, 260, [999, 9990, 51_999]),
        (999, 1225, [999, 9990, 100_000]),
        (99, 1225, [99, 990, 9900, 100_000]),
        (9999, 1225, [9999, 100_000]),
        (99_999, 260, [9999, 99_999]),
        (999_999, 260, [99_999, 999_999]),
        (99_999, 40, [99_999]),
    ],
)
def test_permutations_grow_to_what_holm_needs(n_resamples: int, tests: int, expected: list[int]) -> None:
    assert list(runs(n_resamples, tests)) == list(enumerate(expected))


@pytest.mark.parametrize(("level", "tests"), [(0.05, 13), (0.01, 13), (0.001, 7), (0.2, 3)])
def test_holm_has_room_at_the_level_that_is_asked(level: float, tests: int) -> None:
    most = runs(99, tests, level)[-1].n_resamples
    assert 0.3 * level < tests / (1 + most) <= 0.4 * level or most == 99


def test_two_values_have_one_contrast_in_any_share() -> None:
    """Cosines that are equal at both values are rounding once they are centered, not contrasts."""
    rng = np.random.default_rng(0)
    found = []
    for share in np.linspace(0.02, 0.5, 100):
        frame = pd.DataFrame({"x": rng.choice(["no", "yes"], 1000, p=[1.0 - share, share])})
        encoded = encode((frame,), ("t",), Encoding())
        contrasts = Contrasts.of(encoded.codings[0], encoded.coordinates(("x",))[0])
        assert [len(own) for own in contrasts.sequences] == [1, 1]
        found.append(contrasts.of_samples(500))
    assert 0.0 < np.mean(np.array(found) <= 0.05) < 0.15


def test_the_evidence_of_few_rows_is_confirmed_by_permutations() -> None:
    rng = np.random.default_rng(0)
    few = np.append(np.repeat(["a", "b"], 250), ["b"] * 6)
    encoded = encode((pd.DataFrame({"x": few}),), ("t",), Encoding())
    contrasts = Contrasts.of(encoded.codings[0], encoded.coordinates(("x",))[0])
    exact = hypergeom.sf(5, 506, 256, 6) + hypergeom.cdf(0, 506, 256, 6)
    assert contrasts.permuted(500, 1999, rng) == pytest.approx(exact, abs=0.015)


def family(items: Sequence[int], pvalues: dict[int, list[float]], **options: Any) -> ManyTests[int]:
    """Return tests whose p-value in every run is given."""

    def test(item: int, planned: Run) -> OneTest:
        return OneTest(0.0, pvalues[item][planned.number], planned.n_resamples)

    given: dict[str, Any] = {"progress": lambda *_: None, "steps": len(items), **options}
    return ManyTests(items, str, "column", test, **given)


def test_only_what_comes_out_small_is_run_again_and_the_last_run_counts() -> None:
    planned = (Run(0, 99), Run(1, 999), Run(2, 9999))
    pvalues = {0: [0.11], 1: [0.1, 0.011], 2: [0.01, 0.002, 0.7], 3: [0.02, 0.01, 0.0001]}
    found = family(range(4), pvalues).tested(range(4), planned)
    outcome = {item: (tested.pvalue, tested.n_resamples) for item, tested in found.items()}
    assert outcome == {0: (0.11, 99), 1: (0.011, 999), 2: (0.7, 9999), 3: (0.0001, 9999)}


def test_runs_that_grow_hold_their_level_at_every_alpha() -> None:
    """Each p-value is uniform on k / P; the rule's probability to be at most α is found from all combinations."""
    first, second, third = 20, 60, 120
    rows = np.arange(1, first + 1) / first, np.arange(1, second + 1) / second, np.arange(1, third + 1) / third
    p1, p2, p3 = np.meshgrid(*rows, indexing="ij")
    result = np.where(p1 > 10 / first, p1, np.where(p2 > 10 / second, p2, p3))
    for alpha in np.arange(1, 241) / 240:
        assert (result <= alpha + 1e-12).mean() <= alpha + 1e-12


def test_columns_that_are_run_again_have_the_pvalue_of_a_test_with_more_permutations() -> None:
    result = quick(n_resamples=99)
    streams = np.random.default_rng(0).spawn(2)
    again = streams[1].spawn(2)[1]
    pooled = np.concatenate([A, B])
    shift = by_name(result)["x7"]
    first, second = (table[:, [7]] / pooled[:, 7].std() for table in (A, B))
    expected = km.mmd_test(first, second, estimator="kme", n_resamples=45 * 200 - 1, rng=copy.deepcopy(again))
    assert (shift.pvalue, shift.n_resamples) == (expected.pvalue, expected.n_resamples)
    assert {column.n_resamples >= 45 * 200 - 1 for column in result.columns} == {True, False}


# -- time --------------------------------------------------------------------------------------------------------------


def test_the_evidence_of_samples_keeps_its_level() -> None:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(200):
        encoded = encode((pd.DataFrame({"x": rng.normal(size=90)}),), ("t",), Encoding())
        contrasts = Contrasts.of(encoded.codings[0], encoded.coordinates(("x",))[0])
        found.append(contrasts.of_samples(20, 50))
    assert 0.1 < np.mean(np.array(found) <= 0.2) < 0.3


def test_benjamini_and_hochberg_bound_the_share_of_false_findings() -> None:
    result = quick(adjustment="bh")
    for name, column in by_name(result).items():
        assert column.pvalue == by_name(TESTED)[name].pvalue
    expected = false_discovery_control([column.pvalue for column in result.columns])
    np.testing.assert_allclose([column.adjusted for column in result.columns], expected)
    assert (result.adjustment, result.to_dict()["adjustment"]) == ("bh", "bh")
    pairs = km.dependence(many_pairs(), estimator="kme", n_resamples=99, adjustment="bh")
    expected = false_discovery_control([pair.pvalue for pair in pairs.pairs])
    np.testing.assert_allclose([pair.adjusted for pair in pairs.pairs], expected)
    for found in (result, pairs):
        assert "the Benjamini-Hochberg method over 45" in " ".join(found.summary().split())
    with pytest.raises(ValueError, match=r"adjustment is 'fdr'; write 'holm', or 'bh'"):
        quick(adjustment="fdr")
    with pytest.raises(ValueError, match=r"adjustment is 'fdr'; write 'holm', or 'bh'"):
        km.dependence(many_pairs(), adjustment="fdr")


def test_a_result_names_the_adjustment_its_permutations_and_close_calls() -> None:
    (words,) = (text for name, text in TESTED.facts() if name == "adjusted p")
    assert words == "Holm's method over 45 columns, 119 to 8,999 permutations each"
    close = replace(TESTED.columns[0], pvalue=0.001, adjusted=0.045)
    (words,) = (
        text for name, text in replace(TESTED, columns=(close, *TESTED.columns[1:])).facts() if name == "adjusted p"
    )
    error = 45 * np.sqrt(0.05 / 45 * (1 - 0.05 / 45) / (1 + close.n_resamples))
    assert words.endswith(
        "close call, so that another seed may decide otherwise (± by the choice of permutations): "
        f"{close.name} 0.045 ± {error:.2g}"
    )
    assert not [name for name, _ in quick(A[:, :1], B[:, :1]).facts() if name == "adjusted p"]


@pytest.mark.parametrize(("estimator", "in_memory", "rows"), [("adaptive", True, 60), ("kme", False, 1000)])
def test_order_units_and_names_of_columns_and_the_order_of_tables_change_nothing(
    estimator: str, in_memory: bool, rows: int
) -> None:
    values = np.random.default_rng(1).gamma(2.0, size=(2, rows, 5)) ** np.arange(1, 6)
    frames = [pd.DataFrame(table).add_prefix("x") for table in values]
    others = {name: f"{9 - place} {name}" for place, name in enumerate(frames[0])}

    def numbers(*tables: pd.DataFrame) -> dict[str, float]:
        found = quick(*(km.read(table, in_memory=in_memory) for table in tables), estimator=estimator)
        each = {name.split()[-1]: column.pvalue for name, column in by_name(found).items()}
        return {**each, "p": found.pvalue, "statistic": found.statistic}

    found = pytest.approx(numbers(*frames), rel=1e-10)
    assert numbers(*(frame[frame.columns[::-1]] * 1024.0 for frame in frames)) == found
    assert numbers(*(frame.rename(columns=others) for frame in frames)) == found
    assert numbers(*frames[::-1]) == found
