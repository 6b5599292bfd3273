"""Kernels over some of the columns that others look at share the work, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference import Resampling
from kernelmean.inference.engine import permutation_null
from kernelmean.inference.low_rank import Coordinates, Factor, widened
from kernelmean.inference.problem import KernelSide, LabelSide, Problem
from kernelmean.inference.resampling_options import Resources
from kernelmean.inference.schemes import SCHEMES
from kernelmean.inference.statistics import HSIC, MMD
from kernelmean.kernels import Gaussian

N = 150
COLUMNS = [((0, 1, 2, 3), (1.0, 2.0, 0.5, 1.0)), ((2, 3), (1.0, 3.0)), ((3,), (1.0,)), ((1, 2), (0.1, 1.0))]
KERNELS = tuple(Coordinates(*own) for own in [*COLUMNS, ((0, 2), (1.0, 1.0)), ((4, 5, 6), (1.0, 0.0, 0.0))])


def table(order="C"):
    return np.asarray(np.random.default_rng(0).standard_normal((N, 7)) ** 3, order=order)


def problem(kernels, pairs, order="C"):
    if pairs is None:
        right = LabelSide(np.repeat([1.0, 0.0], [N // 3, N - N // 3]))
        own = tuple((k, 0) for k in range(len(kernels)))
        return Problem(KernelSide(table(order), kernels), right, own, MMD(N // 3, N - N // 3))
    right = KernelSide(np.roll(table(order), 1, axis=0) ** 2, kernels)
    return Problem(KernelSide(table(order), kernels), right, pairs, HSIC(N))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("scheme", ["cyclic", "cyclic-low-rank"])
@pytest.mark.parametrize("pairs", [None, tuple((i, j) for i in range(6) for j in range(6))], ids=["mmd", "hsic"])
def test_shared_columns_give_what_every_kernel_gives_alone(pairs, scheme, order):
    how = Resampling.of(n_resamples=99, scheme=scheme, rng=0)
    together = permutation_null(problem(KERNELS, pairs, order), how.repeated(scheme)).values
    for number, (i, j) in enumerate(pairs or [(k, 0) for k in range(6)]):
        alone = problem(KERNELS, ((i, j),) if pairs else None, order)
        found = permutation_null(alone.restricted([0 if pairs else number]), how.repeated(scheme)).values
        np.testing.assert_allclose(together[number], found[0], rtol=1e-12, atol=1e-12 * np.abs(found).max())


@pytest.mark.parametrize("scheme", ["cyclic", "cyclic-low-rank"])
def test_the_rows_that_were_passed_are_left_as_they_are(scheme):
    own = problem(KERNELS, None, "F")
    permutation_null(own, Resampling.of(n_resamples=99, scheme=scheme, rng=0))
    np.testing.assert_array_equal(own.left.points, table())


@pytest.mark.parametrize("scheme", ["cyclic", "gemm"])
def test_the_level_of_weighted_columns_is_that_of_their_matrices(scheme: str) -> None:
    own = problem(KERNELS, None)
    level = SCHEMES[scheme].sums(own, 9, np.random.default_rng(0), Resources()).level
    grams = [kernel(table(), table()) for kernel in KERNELS]
    assert level is not None
    np.testing.assert_allclose(level.mean, [gram.mean() for gram in grams], rtol=1e-9)
    np.testing.assert_allclose(level.rows[:, 0], [own.labels @ gram.mean(axis=1) for gram in grams], rtol=1e-9)


def test_a_factor_and_its_weights_are_a_matrix() -> None:
    rows = np.random.default_rng(0).standard_normal((3, 5))
    for weights in (None, np.array([2.0, 0.0, 0.5])):
        factor = Factor(rows, 0.0, weights)
        matrix = rows.T @ np.diag(np.ones(3) if weights is None else weights) @ rows
        np.testing.assert_allclose(rows.T @ factor.times(rows), matrix, atol=1e-14)
        np.testing.assert_allclose(rows.T @ factor.times(rows[:, 1]), matrix[:, 1], atol=1e-14)
        np.testing.assert_allclose(factor.diagonal, np.diag(matrix), atol=1e-14)


def test_neighboring_columns_are_a_slice_and_grow_to_those_of_the_first_wider_kernel() -> None:
    def of(*columns: int) -> Coordinates:
        return Coordinates(columns, tuple(1.0 + column for column in columns))

    assert [of(*own).place for own in [(4,), (2, 3, 4), (2, 4), (3, 2), ()]] == [
        slice(4, 5),
        slice(2, 5),
        [2, 4],
        [3, 2],
        [],
    ]
    kernels = [of(2), of(2, 3, 4), of(4), of(3, 4), of(2, 4), Gaussian(1.0), of(5)]
    found = widened(kernels)
    assert [own.columns for own in found[:4]] == [(2, 3, 4)] * 4
    assert [own.weights for own in found[:4]] == [(3.0, 0.0, 0.0), (3.0, 4.0, 5.0), (0.0, 0.0, 5.0), (0.0, 4.0, 5.0)]
    assert found[4:] == kernels[4:]


def test_a_side_knows_the_columns_of_its_kernels_and_which_of_them_are_factors() -> None:
    own = KernelSide(np.ones((4, 7)), (KERNELS[0], Gaussian(1.0), KERNELS[2]))
    assert (own.ranks, own.widest, own.explicit) == ([4, 7, 1], 7, False)
    assert own.shifts == (0.0, 1.0, 0.0)
    factors = own.known_factors()
    assert [factor.residual for factor in factors] == [0.0, 0.0]
    np.testing.assert_array_equal([factor.diagonal for factor in factors], [[4.5] * 4, [1.0] * 4])


@pytest.mark.parametrize("order", ["C", "F"])
def test_sizes_say_whether_all_kernels_are_sums_over_columns(order: str) -> None:
    own = problem(KERNELS, None, order)
    assert own.shape(9).explicit
    assert not problem((*KERNELS, Gaussian(1.0)), None).shape(9).explicit
    moved = own.shuffled(np.arange(N)[::-1]).left
    assert (moved.points.flags.f_contiguous, moved.points.flags.c_contiguous) == (order == "F", order == "C")
    np.testing.assert_array_equal(moved.points, table()[::-1])
