"""Every scheme against the definitions, over exactly the permutations that it looks at."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from kernelmean.inference.low_rank_problem import most_rank, split
from kernelmean.inference.permutation_groups import Rotations
from kernelmean.inference.problem import KernelSide, LabelSide, Problem
from kernelmean.inference.resampling_options import Resources, Shape
from kernelmean.inference.schemes import SCHEMES
from kernelmean.inference.schemes.cyclic import factor_sums, tile_sums, worthwhile_rank
from kernelmean.inference.statistics import HSIC, MMD
from kernelmean.kernels import Gaussian, Linear
from nulls import hsic_null, mmd_null, schemes_for

KERNELS = [Gaussian(1.0), Gaussian(0.4)]
TWO_SAMPLES, PAIRS = schemes_for(19, 7), schemes_for(8)


def table(kind, n, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "binary":
        return rng.integers(0, 2, (n, dim)).astype(float)
    X = rng.standard_normal((n, dim))
    return X[rng.integers(0, max(2, n // 2), n)] if kind == "duplicated" else X


@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize("sizes", [(7, 12), (12, 7), (20, 20), (60, 77)])
@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_mmd_is_the_definition_under_every_labeling(brute, scheme, sizes, kind):
    X, Y = table("normal", sizes[0]), table("normal", sizes[1], seed=1) + 0.3
    null = mmd_null(X, Y, KERNELS, statistic=kind, scheme=scheme, n_resamples=59, rng=5)
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


@pytest.mark.parametrize("kind", ["u", "v"])
def test_exact_mmd_is_full_enumeration(brute, kind):
    X, Y = table("duplicated", 4), table("duplicated", 5, seed=1)
    pooled = np.vstack([X, Y])
    gram = KERNELS[0](pooled, pooled)
    values = []
    for chosen in combinations(range(9), 4):
        labels = np.zeros(9)
        labels[list(chosen)] = 1
        values.append(brute.mmd(gram, labels, kind))
    null = mmd_null(X, Y, KERNELS[:1], statistic=kind, scheme="exact")
    assert null.values.shape == (1, 126)
    np.testing.assert_allclose(np.sort(null.values[0]), np.sort(values), atol=1e-14)
    assert null.pvalues[0] == brute.pvalue(np.array(values))


@pytest.mark.parametrize("kind", ["u", "v"])
def test_exact_hsic_is_full_enumeration(brute, kind):
    X, Y = table("normal", 6), table("duplicated", 6, 1, seed=1)
    K = KERNELS[0](X, X)
    orders = np.array(list(permutations(range(6))))
    values = np.array([brute.hsic(K, KERNELS[1](Y[order], Y[order]), kind) for order in orders])
    null = hsic_null(X, Y, [tuple(KERNELS)], statistic=kind, scheme="exact")
    np.testing.assert_allclose(null.values[0], values, atol=1e-15)
    assert null.pvalues[0] == brute.pvalue(values)


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


def test_a_large_block_is_cut_into_strips_and_chunks(brute):
    n, rng = 300, np.random.default_rng(0)
    group = Rotations(rng.permutation(n), np.arange(n)[None], 150)
    X = table("normal", n)
    labels = np.repeat([1.0, 0.0], [100, 200])
    problem = Problem(KernelSide(X, tuple(KERNELS)), LabelSide(labels), ((0, 0), (1, 0)), MMD(100, 200))
    values, threaded = (
        problem.statistic(tile_sums(problem.shuffled(group.shuffle), group, Resources(jobs))) for jobs in (1, 3)
    )
    np.testing.assert_array_equal(values, threaded)
    moved = labels[brute.orbit(group, brute.rotate(group))]
    expected = [[brute.mmd(kernel(X, X), row, "u") for row in moved] for kernel in KERNELS]
    np.testing.assert_allclose(values, expected, atol=1e-13)


def test_evaluation_by_factors_and_by_tiles_gives_the_same_p_values():
    X, Y = table("normal", 150), table("normal", 150, seed=1)
    pairs = [(KERNELS[0], KERNELS[0]), (KERNELS[1], KERNELS[0])]
    assert worthwhile_rank(Shape(150, 299)) == 0
    tiles, factors = (
        hsic_null(X, Y, pairs, scheme=name, n_resamples=299, rng=1) for name in ("cyclic", "cyclic-low-rank")
    )
    np.testing.assert_allclose(factors.values, tiles.values, rtol=1e-8)
    np.testing.assert_array_equal(factors.pvalues, tiles.pvalues)


def test_some_kernels_by_factors_and_some_by_tiles_keep_their_places(monkeypatch):
    X, Y = table("normal", 120, 1), table("normal", 120, 1, seed=1)
    wide, narrow = Gaussian(2.0), Gaussian(0.01)
    pairs = [(narrow, wide), (wide, wide), (wide, narrow), (wide, wide)]
    tiles = hsic_null(X, Y, pairs, scheme="cyclic", n_resamples=199, rng=1)
    monkeypatch.setattr("kernelmean.inference.schemes.cyclic.worthwhile_rank", lambda shape: 40)
    mixed = hsic_null(X, Y, pairs, scheme="cyclic", n_resamples=199, rng=1)
    np.testing.assert_allclose(mixed.values, tiles.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mixed.tolerance, tiles.tolerance, rtol=1e-3)


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "exact"])
def test_threads_do_not_change_a_bit(scheme):
    X, Y = table("normal", 700), table("normal", 700, seed=1)
    of_pairs = scheme not in schemes_for(1400, 700)
    run = hsic_null if of_pairs else mmd_null
    kernels = [(KERNELS[0], KERNELS[1])] if of_pairs else KERNELS[: 1 if scheme == "cyclic-low-rank" else 2]
    X, Y = (X[:60], Y[:60]) if scheme == "gather" else (X, Y)
    nulls = [run(X, Y, kernels, scheme=scheme, n_resamples=99, rng=3, threads=jobs) for jobs in (1, 2)]
    np.testing.assert_array_equal(nulls[0].values, nulls[1].values)


def test_compiled_gather_equals_the_numpy_one(monkeypatch):
    pytest.importorskip("numba")
    X, Y = table("normal", 25), table("normal", 25, seed=1)
    plain = hsic_null(X, Y, [tuple(KERNELS)], scheme="gather", n_resamples=50, rng=3)
    monkeypatch.setattr("kernelmean.inference.schemes.random_pairs._COMPILE_FROM", 1)
    compiled = hsic_null(X, Y, [tuple(KERNELS)], scheme="gather", n_resamples=50, rng=3)
    np.testing.assert_allclose(compiled.values, plain.values, rtol=1e-12)


@pytest.mark.parametrize("scheme", ["cyclic", "cyclic-low-rank"])
@pytest.mark.parametrize("n", [8, 23, 40])
def test_groups_hold_as_many_permutations_as_were_asked_for_and_no_coset_more(scheme, n):
    X, Y = table("normal", n), table("normal", n, 1, seed=1)
    counts = [
        hsic_null(X, Y, [(KERNELS[0], Linear())], scheme=scheme, n_resamples=count - 1, rng=0).values.shape[1]
        for count in (n, n + 1)
    ]
    assert counts == [n, 2 * n]


@pytest.mark.parametrize("scheme", ["gemm", "blocks"])
def test_random_permutations_are_as_many_as_were_asked_for(scheme):
    X, Y = table("normal", 20), table("normal", 30, seed=1)
    for count in (1, 17, 2500):
        assert mmd_null(X, Y, KERNELS, scheme=scheme, n_resamples=count, rng=0).values.shape == (2, count + 1)


def test_factors_are_taken_up_to_a_rank_that_sizes_alone_decide():
    ranks = {
        Shape(150, 999, 50): 0,
        Shape(500, 999): 9,
        Shape(3000, 999): 98,
        Shape(3000, 4999): 69,
        Shape(3000, 999, 1000): 624,
        Shape(20_000, 999, 1000): 1961,
    }
    found = {shape: worthwhile_rank(shape) for shape in ranks}
    assert found == ranks
    sizes = {Shape(600, 999): 600, Shape(50_000, 999): 447, Shape(50_000, 999, 10, (2, 1)): 671}
    assert {shape: most_rank(shape) for shape in sizes} == sizes


@pytest.mark.parametrize(
    ("scheme", "run"),
    [("gather", "hsic"), ("gemm", "mmd"), ("blocks", "mmd")],
)
def test_batches_of_permutations_do_not_change_the_values(monkeypatch, scheme, run):
    def null():
        X, Y = table("normal", 130), table("normal", 130, seed=1)
        if run == "mmd":
            return mmd_null(X, Y, KERNELS, scheme=scheme, n_resamples=200, rng=3)
        pairs = [(KERNELS[0], KERNELS[1]), (KERNELS[1], Linear())]
        return hsic_null(X, Y, pairs, scheme=scheme, n_resamples=200, rng=3)

    whole = null()
    for module, share in (
        ("random_pairs", "BATCH_BYTES"),
        ("random_labels", "LABEL_SHARE"),
    ):
        monkeypatch.setattr(f"kernelmean.inference.schemes.{module}._{share}", 1e-9)
    monkeypatch.setattr("kernelmean.inference.schemes.blocks._LABEL_SHARE", 1e-9)
    monkeypatch.setattr("kernelmean.inference.schemes.random_labels._TILE", 7)
    np.testing.assert_allclose(null().values, whole.values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("order", [5, 12, 43])
def test_strips_and_chunks_of_a_block_add_up(brute, monkeypatch, order):
    monkeypatch.setattr("kernelmean.inference.schemes.cyclic._STRIP", 3)
    monkeypatch.setattr("kernelmean.inference.schemes.cyclic._CHUNK", 4)
    n, rng = 43, np.random.default_rng(0)
    group = Rotations(rng.permutation(n), np.array([np.arange(n), rng.permutation(n)]), order)
    X, Y = table("normal", n), table("normal", n, 1, seed=1)
    sides = KernelSide(X, tuple(KERNELS)), KernelSide(Y, (KERNELS[0], Linear()))
    problem = Problem(*sides, ((0, 0), (1, 1)), HSIC(n, "u")).shuffled(group.shuffle)
    orders = brute.orbit(group, brute.rotate(group))
    kernels = ((KERNELS[0], KERNELS[0]), (KERNELS[1], Linear()))
    expected = [[brute.hsic(k(X, X), z(Y[p], Y[p]), "u") for p in orders] for k, z in kernels]
    np.testing.assert_allclose(problem.statistic(tile_sums(problem, group, Resources(2))), expected, atol=1e-12)


def test_all_permutations_are_counted_up_to_a_limit():
    counts = {
        Shape(9, 9, 4): 126,
        Shape(9, 9, 5): 126,
        Shape(9, 9, 1): 9,
        Shape(6, 9): 720,
        Shape(1, 9): 1,
    }
    for shape, count in counts.items():
        assert shape.count_all(2_000_000) == count
        assert shape.count_all(count) == count
        assert shape.count_all(count - 1) == count
        assert isinstance(shape.count_all(count), int)
    assert [shape.count_all(2_000_000) for shape in (Shape(60, 9, 30), Shape(40, 9))] == [2_000_001] * 2


def test_dense_matrices_are_taken_up_to_5000_rows():
    assert SCHEMES["gather"].obstacle(Shape(5000, 99)) is None
    assert SCHEMES["gather"].obstacle(Shape(5001, 99)) is not None


def test_two_million_permutations_are_enumerated_and_no_more() -> None:
    assert SCHEMES["exact"].obstacle(Shape(2_000_000, 99, 1)) is None
    assert SCHEMES["exact"].obstacle(Shape(2_000_001, 99, 1)) is not None


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_any_number_of_pairs_on_factors_is_what_whole_matrices_are(pairs: int) -> None:
    """Of the unbiased statistic, which needs the diagonals of every pair."""
    X, Y = table("normal", 30), table("normal", 30, 1, seed=1)
    kernels = [(KERNELS[0], KERNELS[1]), (Linear(), Linear()), (KERNELS[1], Linear())][:pairs]
    found, expected = (
        hsic_null(X, Y, kernels, statistic="u", scheme=scheme, n_resamples=19, rng=0).values
        for scheme in ("cyclic-low-rank", "cyclic")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
