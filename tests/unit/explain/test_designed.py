"""What explains a test of two samples with a design: by definition, and by all permutations of the design."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from designs_of_parts import InBoth

KERNEL = km.kernels.Gaussian(1.0)
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(24, 2)), rng.normal([0.0, 1.0], size=(24, 2))
STRATA = np.arange(24) % 3, np.concatenate([np.arange(20) % 2, [7, 7, 7, 7]])
CLUSTERS = np.arange(24) // 3, np.arange(24) // 3 + 100
WEIGHTS = rng.random(24) + 0.2, rng.random(24) + 0.2


DESIGNS: dict[str, Any] = {
    "strata": km.Design(strata=STRATA),
    "clusters": km.Design(clusters=CLUSTERS),
    "clusters in both": InBoth(),
    "weights": km.Design(weights=WEIGHTS),
    "strata and weights": km.Design(strata=STRATA, weights=WEIGHTS),
    "pairs": km.Design(paired=True),
}


def the_test(design: Any, first: Any = X, second: Any = Y, **options: Any) -> km.TestResult:
    options = {"statistic": "v", "kernel": KERNEL, "n_resamples": 199, "rng": 0, **options}
    return km.mmd_test(first, second, design=design, **options)


def difference_within_strata(places: Any, weights: Any) -> Any:
    """Return Σ c_s (μ_X,s - μ_Y,s) at places, from its definition."""
    found, total = np.zeros(len(places)), 0.0
    for stratum in set(STRATA[0]) & set(STRATA[1]):
        own, other = STRATA[0] == stratum, STRATA[1] == stratum
        a, b = weights[0][own], weights[1][other]
        share = a.sum() * b.sum() / (a.sum() + b.sum())
        total += share
        found += share * (KERNEL(places, X[own]) @ a / a.sum() - KERNEL(places, Y[other]) @ b / b.sum())
    return found / total


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
@pytest.mark.parametrize(("first", "second"), [(X, Y), (Y, X)])
def test_what_rows_add_sums_to_the_statistic(design: Any, first: Any, second: Any) -> None:
    swapped = first is Y and isinstance(design, km.Design) and not design.paired
    if swapped:
        both = {name: getattr(design, name) for name in ("strata", "clusters", "weights")}
        design = km.Design(**{name: None if part is None else part[::-1] for name, part in both.items()})
    result = the_test(design, first, second)
    found = result.contributions()
    assert found.values.shape == (48,)
    np.testing.assert_allclose(found.values.sum(), result.statistic, rtol=1e-10)
    witness = result.witness()
    np.testing.assert_allclose(witness.norm**2, result.statistic, rtol=1e-10)
    np.testing.assert_allclose(witness(first) * witness.norm, found.witness[:24], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_witness_is_the_mean_difference_within_strata(weighted: bool) -> None:
    weights = WEIGHTS if weighted else (np.ones(24), np.ones(24))
    result = the_test(km.Design(strata=STRATA, weights=WEIGHTS if weighted else None))
    places, witness = rng.normal(size=(9, 2)), result.witness()
    np.testing.assert_allclose(witness(places) * witness.norm, difference_within_strata(places, weights), rtol=1e-10)
    bands = result.witness(places, n_resamples=99, rng=0)
    np.testing.assert_allclose(bands.values, difference_within_strata(places, weights), rtol=1e-10)
    alone = result.contributions().by_sample
    assert (alone[0][STRATA[0] == 2] == 0.0).all()  # a stratum of X only
    assert (alone[1][STRATA[1] == 7] == 0.0).all()


def test_bands_within_strata_are_of_all_permutations() -> None:
    strata = np.array([0, 0, 0, 1, 1, 1])
    first, second = X[:6], Y[:6] + 0.8
    result = the_test(km.Design(strata=(strata, strata)), first, second)
    place = np.array([[0.0, 1.5]])
    bands = result.witness(place, n_resamples=999, rng=0)
    heights = [KERNEL(place, np.concatenate([first[s], second[s]]))[0] for s in (slice(0, 3), slice(3, 6))]

    def gap(values: Any, chosen: tuple[int, ...]) -> float:
        mine = np.isin(np.arange(6), chosen)
        return float(values[mine].mean() - values[~mine].mean())

    every = [
        sum(gap(values, chosen) for values, chosen in zip(heights, both, strict=True)) / 2
        for both in product(combinations(range(6), 3), repeat=2)
    ]
    np.testing.assert_allclose(bands.values[0], every[0], rtol=1e-10)
    reached = np.mean(np.abs(every) >= abs(every[0]) * (1 - 1e-9))
    assert bands.n_resamples == len(every) - 1
    assert bands.adjusted[0] == pytest.approx(reached)
    np.testing.assert_allclose(bands.halfwidth[0], np.sort(np.abs(every))[int(np.ceil(0.95 * len(every))) - 1])


def test_bands_of_pairs_are_of_all_flips() -> None:
    first, second, place = X[:8], Y[:8] + 0.5, np.array([[0.0, 1.5]])
    bands = the_test(km.Design(paired=True), first, second).witness(place, rng=0)
    gaps = (KERNEL(place, first) - KERNEL(place, second))[0]
    every = np.array(list(product([1.0, -1.0], repeat=8))) @ gaps / 8
    np.testing.assert_allclose(bands.values[0], gaps.mean(), rtol=1e-10)
    assert bands.adjusted[0] == pytest.approx(np.mean(np.abs(every) >= abs(gaps.mean()) * (1 - 1e-9)))


@pytest.mark.parametrize("name", DESIGNS)
def test_bands_at_many_points_leave_out_what_permutations_do_not_reach(name: str) -> None:
    far = Y + np.array([0.0, 2.0])
    result = the_test(DESIGNS[name], X, far)
    bands = result.witness(np.concatenate([X, far]), rng=0, n_resamples=299)
    assert bands.values.shape == bands.halfwidth.shape == (48,)
    assert len(bands.outside)
    np.testing.assert_allclose(bands.values, result.contributions().witness, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-14, 1e9])
def test_bands_do_not_depend_on_the_unit_of_a_kernel_without_bandwidth(unit: float) -> None:
    found, other = (
        the_test(DESIGNS["strata"], X * one, Y * one, kernel=km.kernels.Linear()).witness(X[:5] * one, rng=0)
        for one in (1.0, unit)
    )
    assert (found.halfwidth > 0.0).all()
    assert found.adjusted.min() < 0.9
    np.testing.assert_allclose(other.adjusted, found.adjusted, atol=1e-12)
    np.testing.assert_allclose(other.halfwidth / unit**2, found.halfwidth, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_rounding_of_equal_rows_is_no_band(unit: float) -> None:
    rows = np.full((24, 1), unit)
    found = the_test(DESIGNS["weights"], rows, rows, kernel=km.kernels.Linear()).witness(rows[:2] * [[1.0], [0.3]])
    np.testing.assert_array_equal(found.halfwidth, 0.0)
    np.testing.assert_array_equal(found.adjusted, 1.0)


@pytest.mark.parametrize("name", DESIGNS)
def test_columns_have_the_p_values_of_their_own_tests(name: str) -> None:
    design = DESIGNS[name]
    result = the_test(design)
    found = {column.name: column for column in result.attribute(kernel=KERNEL, rng=3, n_resamples=199).columns}
    for column in (0, 1):
        alone = the_test(design, X[:, [column]], Y[:, [column]], rng=3)
        np.testing.assert_allclose(found[f"x{column}"].statistic, alone.statistic, rtol=1e-9)
        other = the_test(design, X[:, [1 - column]], Y[:, [1 - column]])
        np.testing.assert_allclose(found[f"x{column}"].drop, result.statistic - other.statistic, rtol=1e-8)
    assert 0.0 < found["x1"].effect < 1.0
    assert found["x1"].adjusted >= found["x1"].pvalue * 0.999


def test_columns_by_all_permutations_have_exactly_the_p_values_of_their_own_tests() -> None:
    strata = np.array([0, 0, 0, 1, 1, 1])
    design, first, second = km.Design(strata=(strata, strata)), X[:6], Y[:6]
    columns = the_test(design, first, second, n_resamples=999).attribute(kernel=KERNEL, n_resamples=999).columns
    for column in columns:
        own = int(str(column.name)[1:])
        alone = the_test(design, first[:, [own]], second[:, [own]], n_resamples=999)
        assert (alone.n_resamples, column.pvalue) == (399, alone.pvalue)


def test_adaptive_tests_explain_themselves_with_a_design() -> None:
    for name, design in DESIGNS.items():
        result = km.mmd_test(X, Y, design=design, n_resamples=99, rng=0)
        values = result.contributions().values
        assert values.sum() > 0.0, name
        assert {column.name for column in result.attribute(n_resamples=99, rng=0).columns} == {"x0", "x1"}


def test_series_and_unbiased_contributions_are_refused() -> None:
    series = km.mmd_test(X, Y, design=km.Design(series=3.0), rng=0, n_resamples=99)
    with pytest.raises(ValueError, match="this test was of series"):
        series.witness()
    with pytest.raises(ValueError, match="no unbiased statistic"):
        the_test(DESIGNS["weights"]).contributions("u")


@pytest.mark.parametrize("kind", ["strata", "clusters", "paired"])
def test_many_rows_are_permuted_in_bins_and_have_the_same_witness(kind: str) -> None:
    many = np.random.default_rng(1)
    first, second = many.normal(size=(1500, 1)), many.normal(0.3, size=(1500, 1))
    labels = (np.arange(1500) % 3,) * 2 if kind == "strata" else (np.arange(1500), np.arange(1500, 3000))
    design = km.Design(paired=True) if kind == "paired" else km.Design(**{kind: labels})
    result = the_test(design, first, second, n_resamples=99)
    bands = result.witness(first[:5], n_resamples=99, rng=0)
    plain = KERNEL(first[:5], first).mean(axis=1) - KERNEL(first[:5], second).mean(axis=1)
    np.testing.assert_allclose(bands.values, plain, rtol=1e-9, atol=1e-12)
    assert (bands.halfwidth > 0.0).all()
