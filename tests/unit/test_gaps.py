"""The median distance of one column: the same number as the median of all distances, to the last bit."""

import time

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import kernelmean as km
from kernelmean.core.array import centered
from kernelmean.kernels.gaps import VANISHING, Gaps


@pytest.fixture(autouse=True)
def rows_are_never_few(monkeypatch):
    """Let few rows go the way of many, so that all distances are quick to compute beside it."""
    monkeypatch.setattr("kernelmean.kernels.bandwidth._FEW_ROWS", 0)


def kinds(rng, n):
    """Yield columns of n numbers: smooth, tied, far apart, too close for their squares, rounded differently."""
    near_minus_one, near_zero = -1 + rng.integers(-5, 5, n) * 2.0**-53, rng.integers(-50, 50, n) * 1e-19
    yield "normal", rng.normal(size=n)
    yield "one decimal", rng.lognormal(size=n).round(1)
    yield "three values", rng.integers(0, 3, n).astype(float)
    yield "mostly zeros", np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n))
    yield "tenths in a row", np.arange(n) * 0.1
    yield "many powers of ten", rng.normal(size=n) * 10.0 ** rng.integers(-200, 1, n)
    yield "two clusters of neighboring floats", np.where(rng.random(n) < 0.5, near_minus_one, near_zero)
    yield "squares that vanish", rng.integers(0, 2, n) * 1e-170 + (rng.random(n) < 0.05)
    yield "squares that are rounded", rng.integers(-3, 3, n) * 2.0**-537.5 + (rng.random(n) < 0.1)
    yield "Cauchy", 1e9 * rng.standard_cauchy(n) ** 3


def brute_force(rows, squared):
    """Return θ from all distances: the median, or of the positive ones where it is 0."""
    table = centered(np.asarray(rows, dtype=float))[0]
    unit = 2.0 ** int(np.frexp(np.abs(table).max())[1])
    distances = pdist(table / unit, "sqeuclidean" if squared else "euclidean")
    median = np.median(distances) or np.median(distances[distances > 0])
    return np.sqrt(median) * (unit if squared else np.sqrt(unit))


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 21, 50, 211, 400])  # odd and even numbers of pairs
def test_one_column_has_the_median_of_all_distances_to_the_last_bit(n, squared):
    rng = np.random.default_rng(n)
    for _ in range(5 if n < 100 else 1):
        for kind, numbers in kinds(rng, n):
            for column in (numbers, 1e150 * numbers, 1e-150 * numbers, numbers + 1e3):
                if np.ptp(column) > 0:
                    theta = km.median_bandwidth(column[:, None], squared=squared)
                    assert float(theta) == brute_force(column[:, None], squared), (kind, column)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 30, 100])
def test_the_middle_distances_are_those_of_the_sorted_ones(n):
    rng = np.random.default_rng(n)
    for kind, numbers in kinds(rng, n):
        distances = np.sort(pdist(numbers[:, None], "cityblock"))
        half, odd = divmod(len(distances), 2)
        assert Gaps.of(numbers).median() == (distances[half - (not odd)], distances[half]), kind


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("n", [5, 8, 21, 50, 211, 400])
def test_rows_that_repeat_have_the_median_of_all_distances_to_the_last_bit(n, squared):
    rng = np.random.default_rng(n)
    categories, rounded = np.eye(4)[rng.integers(0, 4, n)], rng.normal(size=(n, 2)).round()
    blank = rng.random(n) < 0.1
    with_blanks = np.c_[np.where(blank, 0.0, rng.poisson(2.0, n)), blank]
    rare = np.eye(3)[rng.binomial(2, 0.05, n)]  # most distances are 0
    for table in (categories, rounded, with_blanks, rare, 1e-160 * categories):
        if np.ptp(table, axis=0).any():
            assert float(km.median_bandwidth(table, squared=squared)) == brute_force(table, squared)


def test_distances_whose_squares_vanish_are_known():
    assert VANISHING**2 == 0.0
    assert np.nextafter(VANISHING, 1.0) ** 2 > 0.0


def test_the_rule_says_where_distances_of_zero_were_left_out():
    tied = km.median_bandwidth([[0.0]] * 10 + [[3.0], [4.0]])
    assert tied.rule == "median of squared distances that are not 0"
    assert km.median_bandwidth([[0.0], [3.0]]).rule == "median of squared distances"
    with pytest.raises(ValueError, match="all 3 rows are equal"):
        km.median_bandwidth([[0.1]] * 3)


def test_one_column_costs_a_fraction_of_all_its_distances():
    numbers = np.random.default_rng(0).lognormal(size=(5000, 1))
    clocks = []
    for table in (numbers, np.c_[numbers, numbers]):  # two columns need all distances
        began = time.process_time()
        km.median_bandwidth(table)
        clocks.append(time.process_time() - began)
    assert clocks[0] < clocks[1] / 4  # about 1 / 60
