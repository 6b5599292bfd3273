"""The statistics from their two sums, and what counts as a tie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelmean.inference.statistics import HSIC, MMD, RemovedMeans, Sums

ROUNDING = 1e-9, 2.0**-42
"""What counts as a tie of sums in float64: a share of their range, and one of what they are made of."""
SINGLE = 6e-7, 2.0**-28
"""The same of sums of numbers in float32."""


def centered(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def positive(n, seed):
    A = np.random.default_rng(seed).standard_normal((n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("kind", ["u", "v"])
def test_mmd_from_the_sums_of_a_centered_matrix(brute, kind):
    K, labels = positive(9, 0), np.repeat([1.0, 0.0], [3, 6])
    C = centered(K)
    sums = Sums(
        np.array([[labels @ C @ labels]]), np.array([[labels @ np.diag(C)]]), np.array([np.trace(C)]), np.array([2.0])
    )
    assert MMD(3, 6, kind)(sums)[0, 0] == pytest.approx(brute.mmd(K, labels, kind), rel=1e-12)


@pytest.mark.parametrize("kind", ["u", "v"])
def test_hsic_from_the_sums_of_centered_matrices(brute, kind):
    K, Z = positive(7, 0), positive(7, 1)
    A, B = centered(K), centered(Z)
    sums = Sums(
        np.array([[(A * B).sum()]]),
        np.array([[np.diag(A) @ np.diag(B)]]),
        np.array([np.trace(A)]),
        np.array([np.trace(B)]),
    )
    assert HSIC(7, kind)(sums)[0, 0] == pytest.approx(brute.hsic(K, Z, kind), rel=1e-12)


def test_the_unbiased_statistics_are_unbiased():
    points = np.array([0.0, 1.0, 3.0])  # a law on three points, all samples of a size enumerated
    gram = np.exp(-0.5 * np.subtract.outer(points, points) ** 2)
    grid = np.array(np.meshgrid(*[range(3)] * 5)).reshape(5, -1).T
    values = []
    for draw in grid:
        C = centered(gram[np.ix_(draw, draw)])
        labels = np.repeat([1.0, 0.0], [2, 3])
        sums = Sums(
            *(np.array([[v]]) for v in (labels @ C @ labels, labels @ np.diag(C))), np.array([np.trace(C)]), np.ones(1)
        )
        values.append(MMD(2, 3, "u")(sums)[0, 0])
    assert np.mean(values) == pytest.approx(0.0, abs=1e-15)
    assert np.std(values) > 0.1


def test_samples_too_small_for_the_unbiased_statistic_are_refused():
    with pytest.raises(ValueError, match=r"1 and 5 rows.*statistic='v'"):
        MMD(1, 5, "u")
    with pytest.raises(ValueError, match=r"3 pairs.*at least 4.*statistic='v'"):
        HSIC(3, "u")
    with pytest.raises(ValueError, match=r"1 pair was.*at least 2$"):
        HSIC(1, "v")


def test_a_tie_is_relative_to_the_range_and_to_rounding():
    values = np.array([[1.0, 1.0 + 1e-10, 2.0], [5e-7, 5e-7, 5e-7]])
    statistic = HSIC(7)
    magnitude = np.array([1e-3, 1.0]) / statistic.sensitivity
    sums = replace(some_sums(2, 3), left_trace=magnitude, right_trace=np.ones(2))
    tolerance = statistic.tolerance(values, sums)
    assert tolerance[0] == pytest.approx(1e-9, rel=1e-3)
    assert tolerance[1] == pytest.approx(2.0**-42, rel=1e-14)
    assert sums.rounding == ROUNDING


def some_sums(pairs, permutations, level=True, seed=0):
    rng = np.random.default_rng(seed)
    known = RemovedMeans(rng.random((pairs, permutations)), rng.random(pairs)) if level else None
    return Sums(*rng.random((2, pairs, permutations)), *rng.random((2, pairs)), known)


@pytest.mark.parametrize("statistic", [MMD(3, 5, "u"), MMD(3, 5, "v"), HSIC(7, "u"), HSIC(7, "v")], ids=repr)
def test_the_sensitivity_is_what_one_more_in_the_sum_of_pairs_adds(statistic):
    sums = some_sums(2, 3)
    more = replace(sums, pairs=sums.pairs + 1.0)
    np.testing.assert_allclose(statistic(more) - statistic(sums), statistic.sensitivity, rtol=1e-12)


@pytest.mark.parametrize("rounding", [ROUNDING, SINGLE])
@pytest.mark.parametrize("statistic", [MMD(3, 5, "u"), HSIC(7, "v")], ids=repr)
def test_the_tolerance_of_a_statistic_is_that_of_its_range_and_of_its_traces(statistic, rounding):
    values = np.array([[0.0, 4.0, 1.0], [2.0, 2.0, 2.0]])
    sums = replace(some_sums(2, 3), left_trace=np.array([-2.0, 3.0]), right_trace=np.array([5.0, 7.0]))
    found = statistic.tolerance(values, replace(sums, rounding=rounding))
    magnitude = statistic.sensitivity * np.array([10.0, 21.0])
    np.testing.assert_allclose(found, [4.0, 0.0] * np.array(rounding[0]) + rounding[1] * magnitude, rtol=1e-14)
