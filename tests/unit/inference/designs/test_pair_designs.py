"""hsic_test with strata, clusters and weights, held to full enumeration of the permitted permutations."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean import KME, Design
from kernelmean.inference import Adaptive, hsic_test
from kernelmean.inference.adaptive.default_members import independence_members
from kernelmean.kernels import Gaussian
from nulls import packed

KERNEL = Gaussian(1.0)

# strata, clusters, weights
DESIGNS = {
    "weights": ([0] * 6, range(6), [1, 2, 0.5, 1, 3, 1]),
    "strata": ([0, 1, 1, 0, 0, 0, 1], range(7), [1] * 7),
    "clusters": ([0] * 8, [0, 0, 1, 1, 2, 2, 3, 3], [1] * 8),
    "uneven clusters": ([0] * 9, [0, 0, 1, 1, 2, 2, 3, 4, 4], [1] * 9),
    "all": ([0] * 6 + [1] * 4, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 1, 2, 3, 4, 1, 1, 2]),
}


def keywords(strata, unit, weights):
    columns = {"strata": strata, "clusters": list(unit), "weights": weights}
    plain = {"strata": 1, "clusters": len(strata), "weights": 1}
    return {name: column for name, column in columns.items() if len(set(column)) != plain[name]}


def draw(n, seed=0, ties=False):
    pair = np.random.default_rng(seed).standard_normal((2, n, 2))
    return np.round(pair) if ties else pair


def criterion(K, Z, weights, strata):
    """Σ p_i p_j K̄_ij Z̄_ij with the means over strata taken out of both, by plain matrices."""
    shares, strata = np.array(weights) / np.sum(weights), np.array(strata)
    center = np.eye(len(K))
    for s in set(strata.tolist()):
        inside = np.flatnonzero(strata == s)
        center[np.ix_(inside, inside)] -= shares[inside] / shares[inside].sum()
    return shares @ ((center @ K @ center.T) * (center @ Z @ center.T)) @ shares


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("name", DESIGNS)
def test_statistic_and_p_value_are_those_of_full_enumeration(oracle, name, ties):
    strata, unit, weights = DESIGNS[name]
    X, Y = draw(len(strata), len(name), ties)
    K, Z = KERNEL(X, X), KERNEL(Y, Y)
    orders = oracle.restricted(strata, list(unit))
    values = [criterion(K, Z[np.ix_(order, order)], weights, strata) for order in orders]
    result = hsic_test(X, Y, kernel=KERNEL, n_resamples=800, **packed(**keywords(*DESIGNS[name])))
    assert (result.scheme, result.n_resamples + 1) == ("exact", len(values))
    assert result.statistic == pytest.approx(values[0], rel=1e-10, abs=1e-16)
    assert result.pvalue == pytest.approx(oracle.pvalue(values), rel=1e-12)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values[1:]), rtol=1e-9, atol=1e-16)
    sampled = hsic_test(
        X, Y, kernel=KERNEL, scheme="random", n_resamples=3000, rng=0, **packed(**keywords(*DESIGNS[name]))
    )
    assert set(np.round(sampled.null_distribution, 10)) <= set(np.round(values, 10))
    assert sampled.pvalue == pytest.approx(result.pvalue, abs=4 * 0.5 / np.sqrt(3000))


@pytest.mark.parametrize("name", ["strata", "clusters", "weights"])
def test_all_members_see_the_same_permutations(name):
    X, Y = draw(40)
    columns = {"strata": np.arange(40) % 3, "clusters": np.arange(40) // 2, "weights": 1.0 + np.arange(40) % 5}
    how = {"design": Design(**{name: columns[name]}), "n_resamples": 99}
    members = independence_members(40)
    together = hsic_test(X, Y, estimator=Adaptive("max", members=members), rng=0, **how)
    for member, found in zip(members, together.members, strict=True):
        alone = hsic_test(X, Y, estimator=Adaptive("max", members=[member]), rng=0, **how)
        assert (found.label, found.pvalue) == (member.label, alone.pvalue)


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, Y = draw(12)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 12)
    weights[[0, 7]] = 0.0
    with_zeros = hsic_test(X, Y, design=Design(weights=weights), rng=0, n_resamples=99, estimator="kme")
    without = hsic_test(
        X[weights > 0],
        Y[weights > 0],
        design=Design(weights=weights[weights > 0]),
        rng=0,
        n_resamples=99,
        estimator="kme",
    )
    np.testing.assert_array_equal(with_zeros.null_distribution, without.null_distribution)
    assert (with_zeros.statistic, with_zeros.sizes) == (without.statistic, (12,))


def test_variables_that_depend_on_one_another_through_the_stratum_only():
    center = np.repeat(np.arange(4), 15)
    X, Y = draw(60, 1) + 5.0 * center[:, None]
    assert hsic_test(X, Y, rng=0, estimator="kme").pvalue <= 0.001
    assert hsic_test(X, Y, design=Design(strata=center), rng=0, estimator="kme").pvalue > 0.05
    assert hsic_test(X, X + Y, design=Design(strata=center), estimator=KME(bandwidth=2.0), rng=0).pvalue <= 0.01


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"strata": range(6)}, ValueError, "nothing can be permuted: no two rows"),
        ({"strata": [0] * 5}, ValueError, r"strata has shape \(5,\)"),
        ({"clusters": [0, 1, 1, 2, 2, 2]}, ValueError, "nothing can be permuted: no two clusters"),
        (
            {"clusters": [0, 0, 1, 1, 2, 2], "strata": [0, 1, 1, 1, 1, 1]},
            ValueError,
            "1 of 3 clusters has rows in more than one stratum, such as 0 in 0 and 1",
        ),
        ({"weights": [1] * 5 + [-2]}, ValueError, "row 6 of weights is -2"),
        ({"weights": [0] * 6}, ValueError, "weights are all zero"),
        ({"strata": [0, 0, 0, 1, 1, 1], "statistic": "u"}, ValueError, "statistic='v'"),
        ({"strata": [0, 0, 0, 1, 1, None]}, ValueError, "no label in row 6"),
        ({"strata": np.array([0, 0, 0, 1, 1, "a"], dtype=object)}, TypeError, "mixes labels that do not compare"),
        ({"weights": [1] * 6, "scheme": "rotations"}, ValueError, "'auto', 'exact', 'random'"),
    ],
)
def test_what_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        hsic_test(*draw(6), **packed(**options))
