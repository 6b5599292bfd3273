"""The test of joint independence, held to all combinations of permutations."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom

from kernelmean import Design
from kernelmean.inference import dhsic_test, hsic_test
from kernelmean.inference.questions import JointIndependence
from kernelmean.kernels import Gaussian, Laplacian
from nulls import packed

KERNELS = (Gaussian(1.0), Laplacian(1.0), Gaussian(0.5))


def draw(n, widths=(2, 1, 3), seed=0, ties=False):
    rng = np.random.default_rng(seed)
    tables = [rng.standard_normal((n, d)) for d in widths]
    return [np.round(table) for table in tables] if ties else tables


def dhsic(grams):
    """Pfister et al. (2018), definition 2.6, in loops over rows."""
    n = len(grams[0])
    first = sum(np.prod([K[i, j] for K in grams]) for i in range(n) for j in range(n)) / n**2
    second = np.prod([K.mean() for K in grams])
    third = sum(np.prod([K[i].mean() for K in grams]) for i in range(n)) / n
    return first + second - 2 * third


def test_a_list_of_variables_is_refused_by_how_many_there_are():
    with pytest.raises(ValueError, match=r"1 variable was passed, at least two are needed: dhsic_test\(X, Y, Z\)"):
        dhsic_test([np.zeros((5, 1)), np.zeros((5, 1))], estimator="kme")


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
def test_statistic_and_p_value_are_those_of_full_enumeration(oracle, ties):
    tables = draw(4, ties=ties)
    grams = [kernel(table, table) for kernel, table in zip(KERNELS, tables, strict=True)]
    values = [dhsic([grams[0], grams[1][np.ix_(a, a)], grams[2][np.ix_(b, b)]])
              for a, b in product(permutations(range(4)), repeat=2)]  # fmt: skip
    result = dhsic_test(*tables, kernel=KERNELS)
    assert (result.scheme, result.n_resamples + 1) == ("exact", 24**2)
    assert result.statistic == pytest.approx(values[0], rel=1e-10, abs=1e-15)
    assert result.pvalue == pytest.approx(oracle.pvalue(values), rel=1e-12)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values[1:]), rtol=1e-9, atol=1e-15)
    sampled = dhsic_test(*tables, kernel=KERNELS, scheme="random", n_resamples=3000, rng=0)
    assert set(np.round(sampled.null_distribution, 10)) <= set(np.round(values, 10))
    assert sampled.pvalue == pytest.approx(result.pvalue, abs=4 * 0.5 / np.sqrt(3000))


def test_two_variables_are_the_independence_test():
    X, Y = draw(6, (2, 3))
    joint, pair = dhsic_test(X, Y, estimator="kme"), hsic_test(X, Y, estimator="kme")
    assert joint.statistic == pytest.approx(pair.statistic, rel=1e-10)
    assert (joint.pvalue, joint.kernel) == (pair.pvalue, pair.kernel)


def test_rows_are_permuted_and_never_columns():
    """The columns of a variable may depend on one another as they like."""
    rng = np.random.default_rng(0)
    rejected = 0
    for seed in range(100):
        common = rng.standard_normal((15, 1))
        X = common + 0.1 * rng.standard_normal((15, 2))
        Y, Z = rng.standard_normal((15, 1)), rng.standard_normal((15, 2))
        rejected += dhsic_test(X, Y, Z, n_resamples=19, rng=seed, estimator="kme").pvalue <= 0.05
    assert rejected <= binom.ppf(0.9995, 100, 0.05)


def test_dependence_of_three_of_which_any_two_are_independent():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 100, 1))
    z = np.sign(x * y) * rng.exponential(size=(100, 1))
    assert dhsic_test(x, y, z, rng=0, n_resamples=99, estimator="kme").pvalue == 0.01
    for pair in ((x, y), (x, z), (y, z)):
        assert hsic_test(*pair, rng=0, n_resamples=99, estimator="kme").pvalue > 0.05


def test_a_constant_variable_has_p_value_one():
    X, Y, _ = draw(12)
    result = dhsic_test(X, Y, np.full((12, 2), 0.1), rng=0, estimator="kme")
    assert result.pvalue < 1.0  # X and Y still say something
    result = dhsic_test(np.full((12, 2), 0.1), np.full((12, 1), 7.3), Y, rng=0, estimator="kme")
    assert (result.pvalue, result.statistic) == (1.0, pytest.approx(0.0, abs=1e-15))


def test_more_than_two_variables_say_what_to_ask_instead():
    result = dhsic_test(*draw(8), n_resamples=19, rng=0, estimator="kme")
    assert (type(result.question), result.question.sizes) == (JointIndependence, (8,))
    with pytest.raises(ValueError, match=r"two variables, and this test had 3; .* hsic_test\(X, Y\)"):
        result.effect_size()


def test_a_design_is_for_two_variables():
    with pytest.raises(ValueError, match=r"leave design= out, .* hsic_test\(X, Y, design=...\)"):
        dhsic_test(*draw(5), design=Design(strata=[0, 0, 1, 1, 1]), estimator="kme")


@pytest.mark.parametrize(
    ("tables", "options", "error", "words"),
    [
        (draw(5, (1,)), {}, ValueError, "at least two"),
        ([np.zeros((5, 1)), np.zeros((4, 1))], {}, ValueError, r"\[5, 4\] rows"),
        (draw(1), {}, ValueError, "at least two"),
        (draw(5), {"kernel": ("gaussian", "gaussian")}, ValueError, "tuple of 2"),
        (draw(5), {"scheme": "rotations"}, ValueError, "'auto', 'exact', 'random'"),
        (draw(30), {"scheme": "exact"}, ValueError, "more than 2,000,000"),
    ],
    ids=range(6),
)
def test_what_is_refused(tables, options, error, words):
    with pytest.raises(error, match=words):
        dhsic_test(*tables, **packed(**options))
