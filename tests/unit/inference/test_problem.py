"""The sides of a test: what is subtracted does not matter, and sums over them are those of the centered matrices."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.permutations import AllLabelings, AllPermutations
from kernelmean.inference.problem import KernelSide, LabelSide, Problem, distinct_side
from kernelmean.inference.resampling_options import Shape
from kernelmean.inference.schemes.base import in_order, upper_tiles
from kernelmean.inference.statistics import HSIC, MMD
from kernelmean.kernels import Gaussian, Laplacian, Linear

KERNELS = (Gaussian(2.0), Linear(), Laplacian(0.5))


def normal(n, dim=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim)) + 0.5


X = normal(9)


def centered(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("shifts", [(), (0.3, -1.7, 5.0)])
def test_diagonals_are_those_of_the_centered_matrices_whatever_was_subtracted(shifts):
    side = KernelSide(X, KERNELS, shifts)
    grams = [kernel(X, X) for kernel in KERNELS]
    rows = np.stack([(gram - shift).sum(axis=1) for gram, shift in zip(grams, side.shifts, strict=True)])
    expected = [np.diag(centered(gram)) for gram in grams]
    np.testing.assert_allclose(side.diagonal(rows), expected, rtol=1e-12)
    np.testing.assert_allclose(side.coupling(rows), expected, rtol=1e-12)
    matrices, diagonals = side.dense()
    np.testing.assert_allclose(matrices, [centered(gram) for gram in grams], atol=1e-13)
    np.testing.assert_allclose(diagonals, expected, rtol=1e-12)
    np.testing.assert_allclose(
        side.gram_diagonal(), [np.diag(g) - s for g, s in zip(grams, side.shifts, strict=True)], rtol=1e-14
    )


def test_what_is_subtracted_is_the_mean_of_every_matrix_or_nothing():
    side = KernelSide(X, KERNELS)
    np.testing.assert_allclose(side.shifts, [kernel(X, X).mean() for kernel in KERNELS], rtol=1e-14)
    assert side.unshifted().shifts == (0.0, 0.0, 0.0)
    rows = normal(700)[np.linspace(0, 699, 256).astype(int)]
    assert KernelSide(normal(700), KERNELS[:1]).shifts == pytest.approx([KERNELS[0](rows, rows).mean()], rel=1e-14)


def test_a_side_is_its_form_for_sums_and_its_tiles():
    side = KernelSide(X, KERNELS, (0.3, -1.7, 5.0))
    left, tiles, right = side.separated()
    i, j = slice(1, 5), slice(3, 9)
    for k, (tile, kernel) in enumerate(zip(tiles(i, j), KERNELS, strict=True)):
        np.testing.assert_allclose(left[k, i, None] * tile * right[k, j], kernel(X[i], X[j]), rtol=1e-12)
        np.testing.assert_allclose(side.tiles()(i, j)[k], kernel(X[i], X[j]), rtol=1e-12)
    assert (left[0] != 1.0).all()
    assert (left[1:] == 1.0).all()
    assert (right[1:] == 1.0).all()
    labels = LabelSide(np.array([1.0, 0.0, 1.0]))
    ones, tiles, same = labels.separated()
    np.testing.assert_array_equal(ones, np.ones((1, 3)))
    np.testing.assert_array_equal(same, np.ones((1, 3)))
    np.testing.assert_array_equal(tiles(slice(0, 3), slice(1, 3))[0], [[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]])


def test_labels_are_a_side_of_rank_one():
    labels = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    side = LabelSide(labels)
    assert (side.n, side.dim, side.count, side.shifts) == (5, 0, 1, (0.0,))
    assert (side.ranks, side.explicit, side.on_device) == ([1], True, False)
    (factor,) = side.factors(0)
    assert (factor.rank, factor.residual) == (1, 0.0)
    np.testing.assert_array_equal(factor.rows, labels[None])
    factor.rows[:] = 7.0
    np.testing.assert_array_equal(side.gram_diagonal(), labels[None])
    np.testing.assert_array_equal(side.coupling(np.zeros((1, 5))), labels[None])
    np.testing.assert_array_equal(side.permuted(np.array([4, 3, 2, 1, 0])).labels, labels[::-1])
    np.testing.assert_allclose(
        side.diagonal(labels.sum() * labels[None]), [np.diag(centered(np.outer(labels, labels)))]
    )


def test_a_problem_knows_its_sizes_and_its_permutations():
    labels = np.repeat([1.0, 0.0], [4, 5])
    samples = Problem(KernelSide(X, KERNELS), LabelSide(labels), ((0, 0), (2, 0)), MMD(4, 5))
    pairs = Problem(KernelSide(X, KERNELS), KernelSide(X[:, :1], KERNELS[:2]), ((0, 1), (2, 0)), HSIC(9))
    assert samples.shape(99) == Shape(9, 99, 4, (3, 1))
    assert pairs.shape(99) == Shape(9, 99, None, (3, 2))
    assert (samples.everything(), pairs.everything()) == (AllLabelings(4, 5), AllPermutations(9))
    assert (samples.two_samples, pairs.two_samples) == (True, False)
    some = pairs.some(99, np.random.default_rng(0))
    assert (some.n, some.count) == (9, 100)
    np.testing.assert_array_equal(pairs.index, [[0, 2], [1, 0]])
    np.testing.assert_array_equal(samples.labels, labels)
    with pytest.raises(AssertionError, match=r"^a scheme for two samples met an independence test$"):
        _ = pairs.labels


def test_some_of_the_pairs_take_only_the_kernels_that_they_need():
    right = KernelSide(X[:, :1], KERNELS, (1.0, 2.0, 3.0))
    pairs = Problem(KernelSide(X, KERNELS, (4.0, 5.0, 6.0)), right, ((2, 0), (0, 1), (2, 2), (1, 0)), HSIC(9))
    few = pairs.restricted([2, 0])
    assert few.pairs == ((0, 1), (0, 0))
    assert (few.left.kernels, few.left.shifts) == (KERNELS[2:], (6.0,))
    assert (few.right.kernels, few.right.shifts) == ((KERNELS[0], KERNELS[2]), (1.0, 3.0))
    labels = LabelSide(np.repeat([1.0, 0.0], [4, 5]))
    samples = Problem(pairs.left, labels, ((2, 0), (0, 0)), MMD(4, 5)).restricted([0])
    assert (samples.right, samples.pairs, samples.left.kernels) == (labels, ((0, 0),), KERNELS[2:])


def test_the_same_kernel_is_evaluated_once():
    first, second = KERNELS[:2]
    side, served = distinct_side(X, [first, second, first, Gaussian(2.0)])
    assert (side.kernels, served) == ((first, second, Gaussian(2.0)), [0, 1, 0, 2])


def test_shuffled_sides_keep_what_is_subtracted():
    order = np.random.default_rng(1).permutation(9)
    pairs = Problem(KernelSide(X, KERNELS), KernelSide(X[:, :1], KERNELS), ((0, 0),), HSIC(9))
    moved = pairs.shuffled(order)
    np.testing.assert_array_equal(moved.left.points, X[order])
    np.testing.assert_array_equal(moved.right.points, X[order, :1])
    assert (moved.left.shifts, moved.right.shifts) == (pairs.left.shifts, pairs.right.shifts)


def test_sums_of_two_samples_are_those_of_the_centered_matrix_and_its_level():
    labels = np.repeat([1.0, 0.0], [4, 5])
    orders = np.array([np.arange(9), np.random.default_rng(2).permutation(9)])
    problem = Problem(KernelSide(X, KERNELS, (0.3, -1.7, 5.0)), LabelSide(labels), ((2, 0), (0, 0)), MMD(4, 5))
    shifted = [kernel(X, X) - shift for kernel, shift in zip(KERNELS, problem.left.shifts, strict=True)]
    rows = np.stack([gram.sum(axis=1) for gram in shifted]), 4.0 * labels[None]
    moved = labels[orders]
    raw = np.stack([np.einsum("pi,ij,pj->p", moved, shifted[k], moved) for k in (2, 0)])
    linear = np.stack([4.0 * moved @ rows[0][k] for k in (2, 0)])
    diagonal = np.array([[1.0, 2.0], [3.0, 4.0]])
    sums = problem.centered_sums(raw, linear, diagonal, rows)
    grams = [KERNELS[k](X, X) for k in (2, 0)]
    np.testing.assert_allclose(sums.pairs, [np.einsum("pi,ij,pj->p", moved, centered(g), moved) for g in grams])
    np.testing.assert_allclose(sums.left_trace, [np.trace(centered(gram)) for gram in grams])
    np.testing.assert_allclose(sums.right_trace, [4 * 5 / 9] * 2)
    np.testing.assert_allclose(sums.level.rows, [moved @ gram.mean(axis=1) for gram in grams])
    np.testing.assert_allclose(sums.level.mean, [gram.mean() for gram in grams])
    assert sums.diagonal is diagonal


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert list(in_order(lambda x: x**2, iter(range(20)), n_jobs)) == [x**2 for x in range(20)]


def test_tiles_cover_a_symmetric_matrix_once():
    rows = [slice(0, 3), slice(3, 7), slice(7, 8)]
    seen = np.zeros((8, 8), dtype=int)
    for i, j in upper_tiles(rows):
        seen[i, j] += 1
        if i != j:
            seen[j, i] += 1
    assert (seen == 1).all()
    assert all(i.start <= j.start for i, j in upper_tiles(rows))
