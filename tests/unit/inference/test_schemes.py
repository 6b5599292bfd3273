"""Every scheme against the definitions, over exactly the permutations that it looks at."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.low_rank_problem import split
from kernelmean.inference.permutation_groups import Rotations
from kernelmean.inference.problem import KernelSide, Problem, Shape
from kernelmean.inference.resampling import Resources
from kernelmean.inference.rotations import factors
from kernelmean.inference.rotations.factors import factor_sums, worthwhile_rank
from kernelmean.inference.rotations.tiles import tile_sums
from kernelmean.inference.statistics import HSIC
from kernelmean.kernels import Gaussian, Linear
from nulls import PAIRS, TWO_SAMPLES, hsic_null, mmd_null

KERNELS = [Gaussian(1.0), Gaussian(0.4)]


def table(kind, n, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "binary":
        return rng.integers(0, 2, (n, dim)).astype(float)
    X = rng.standard_normal((n, dim))
    return X[rng.integers(0, max(2, n // 2), n)] if kind == "duplicated" else X


@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize(
    ("scheme", "sizes"),
    [
        ("random", (7, 12)),
        ("random", (20, 20)),
        ("rotations", (7, 12)),
        ("rotations", (60, 77)),
        ("binned rows", (63, 75)),
    ],
)
def test_mmd_is_the_definition_under_every_labeling(brute, scheme, sizes, kind):
    X, Y = table("normal", sizes[0]), table("normal", sizes[1], seed=1) + 0.3
    null = mmd_null(X, Y, KERNELS, statistic=kind, scheme=scheme, n_resamples=59, rng=5)
    assert null.scheme == scheme.replace("binned rows", "bins")
    labelings = brute.labelings_of(scheme, sizes, 59, 5)
    pooled = np.vstack([X, Y])
    expected = [[brute.mmd(kernel(pooled, pooled), labels, kind) for labels in labelings] for kernel in KERNELS]
    np.testing.assert_allclose(null.values, expected, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(null.pvalues, [brute.pvalue(row) for row in np.array(expected)])


@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize("n", [8, 19, 41])
@pytest.mark.parametrize("scheme", PAIRS)
def test_hsic_is_the_definition_under_every_permutation(brute, scheme, n, kind):
    X, Y = table("normal", n), table("normal", n, 1, seed=1)
    pairs = [(KERNELS[0], KERNELS[1]), (KERNELS[0], Linear()), (KERNELS[1], KERNELS[1])]
    null = hsic_null(X, Y, pairs, statistic=kind, scheme=scheme, n_resamples=39, rng=5)
    orders = brute.permutations_of(scheme, n, 39, 5)
    expected = [[brute.hsic(k(X, X), z(Y[order], Y[order]), kind) for order in orders] for k, z in pairs]
    np.testing.assert_allclose(null.values, expected, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(null.pvalues, [brute.pvalue(row) for row in np.array(expected)])


@pytest.mark.parametrize("data", ["binary", "duplicated"])
@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_ties_of_two_samples_are_counted_as_in_exact_arithmetic(brute, scheme, data):
    X, Y = table(data, 9, 1), table(data, 14, 1, seed=3)
    null = mmd_null(X, Y, [KERNELS[0]], statistic="v", scheme=scheme, n_resamples=79, rng=2)
    pooled = np.vstack([X, Y])
    codes = np.unique(pooled)  # MMD² is a function of how often each value occurs in the first sample
    counts = [
        [(pooled[labels == 1, 0] == code).sum() for code in codes]
        for labels in brute.labelings_of(scheme, (9, 14), 79, 2)
    ]
    gram, total = KERNELS[0](codes[:, None], codes[:, None]), (pooled == codes).sum(axis=0)
    weights = np.array(counts) / 9 - (total - np.array(counts)) / 14
    rounded = np.round(np.einsum("pi,ij,pj->p", weights, gram, weights), 11)
    assert null.pvalues[0] == np.mean(rounded >= rounded[0])


@pytest.mark.parametrize("scheme", PAIRS)
def test_ties_of_pairs_are_counted_as_in_exact_arithmetic(brute, scheme):
    X, Y = table("binary", 12, 1), table("binary", 12, 1, seed=4)
    null = hsic_null(X, Y, [(KERNELS[0], KERNELS[1])], scheme=scheme, n_resamples=99, rng=2)
    orders = brute.permutations_of(scheme, 12, 99, 2)
    both = np.array([(X[:, 0] * Y[order, 0]).sum() for order in orders])  # of two binary variables, HSIC is a function
    squared = np.square(12 * both - X.sum() * Y.sum())  # of the squared covariance
    assert null.pvalues[0] == np.mean(squared >= squared[0])
    assert null.pvalues[0] > 1 / len(orders)


def test_a_scheme_whose_permutations_are_unknown_is_told(brute):
    with pytest.raises(ValueError, match="permutations of scheme 'new'"):
        brute.permutations_of("new", 19, 39, 5)


@pytest.mark.parametrize("order", [4, 5, 13, 14])
@pytest.mark.parametrize("evaluate", ["tiles", "factors"])
def test_rotations_of_several_blocks_with_rows_left_over(brute, evaluate, order):
    n, rng = 43, np.random.default_rng(0)
    cosets = np.array([np.arange(n), rng.permutation(n)])
    group = Rotations(rng.permutation(n), cosets, order)
    assert group.blocks > 2
    X, Y = table("normal", n), table("normal", n, 1, seed=1)
    sides = KernelSide(X, tuple(KERNELS)), KernelSide(Y, (KERNELS[0], Linear()))
    problem = Problem(*sides, ((0, 0), (1, 1)), HSIC(n, "u")).shuffled(group.shuffle)
    if evaluate == "tiles":
        sums = tile_sums(problem, group, Resources(1))
    else:
        factored, _, others = split(problem, n)
        assert not others
        sums = factor_sums(factored, group)
    grams = [[k(P, P) for k in ks] for P, ks in ((X, KERNELS), (Y, (KERNELS[0], Linear())))]
    orders = brute.orbit(group, brute.rotate(group))
    expected = [[brute.hsic(grams[0][i], grams[1][i][np.ix_(p, p)], "u") for p in orders] for i in (0, 1)]
    np.testing.assert_allclose(problem.statistic(sums), expected, atol=1e-12)


@pytest.fixture
def of_any_rank(monkeypatch):
    """Return a null of pairs that is evaluated on factors, however high their rank."""

    def null(*args, **options):
        with monkeypatch.context() as patch:
            patch.setattr(factors, "worthwhile_rank", lambda shape: shape.n)
            return hsic_null(*args, scheme="rotations", **options)

    return null


def test_evaluation_by_factors_and_by_tiles_gives_the_same_p_values(of_any_rank):
    X, Y = table("normal", 150), table("normal", 150, seed=1)
    pairs = [(KERNELS[0], KERNELS[0]), (KERNELS[1], KERNELS[0])]
    assert worthwhile_rank(Shape(150, 299)) == 0
    tiles = hsic_null(X, Y, pairs, scheme="rotations", n_resamples=299, rng=1)
    factors = of_any_rank(X, Y, pairs, n_resamples=299, rng=1)
    np.testing.assert_allclose(factors.values, tiles.values, rtol=1e-8)
    np.testing.assert_array_equal(factors.pvalues, tiles.pvalues)


@pytest.mark.parametrize(
    ("null", "n", "kernels", "scheme"),
    [
        (mmd_null, 700, [KERNELS[0], Gaussian(0.001)], "auto"),
        (mmd_null, 400, [KERNELS[0], Gaussian(0.001)], "random"),
        (hsic_null, 700, [tuple(KERNELS)], "rotations"),
        (hsic_null, 60, [tuple(KERNELS)], "random"),
    ],
)
def test_threads_do_not_change_a_bit(null, n, kernels, scheme):
    X, Y = table("normal", n), table("normal", n, seed=1)
    nulls = [null(X, Y, kernels, scheme=scheme, n_resamples=99, rng=3, threads=jobs) for jobs in (1, 2)]
    np.testing.assert_array_equal(nulls[0].values, nulls[1].values)


def test_compiled_gather_equals_the_numpy_one(monkeypatch):
    pytest.importorskip("numba")
    X, Y = table("normal", 25), table("normal", 25, seed=1)
    plain = hsic_null(X, Y, [tuple(KERNELS)], scheme="random", n_resamples=50, rng=3)
    monkeypatch.setattr("kernelmean.inference.rotations.gathered._COMPILE_FROM", 1)
    compiled = hsic_null(X, Y, [tuple(KERNELS)], scheme="random", n_resamples=50, rng=3)
    np.testing.assert_allclose(compiled.values, plain.values, rtol=1e-12)


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_any_number_of_pairs_on_factors_is_what_whole_matrices_are(pairs, of_any_rank):
    """Of the unbiased statistic, which needs the diagonals of every pair."""
    X, Y = table("normal", 30), table("normal", 30, 1, seed=1)
    kernels = [(KERNELS[0], KERNELS[1]), (Linear(), Linear()), (KERNELS[1], Linear())][:pairs]
    how = {"statistic": "u", "n_resamples": 19, "rng": 0}
    found = of_any_rank(X, Y, kernels, **how).values
    expected = hsic_null(X, Y, kernels, scheme="rotations", **how).values
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
