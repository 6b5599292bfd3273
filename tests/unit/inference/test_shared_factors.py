"""Kernels over some of the columns that others look at share the work, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference import HSIC, MMD, Coordinates, KernelSide, LabelSide, Problem, Resampling, permutation_null

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
@pytest.mark.parametrize("scheme", ["cyclic", "low-rank"])
@pytest.mark.parametrize("pairs", [None, tuple((i, j) for i in range(6) for j in range(6))], ids=["mmd", "hsic"])
def test_shared_columns_give_what_every_kernel_gives_alone(pairs, scheme, order):
    how = Resampling.of(n_resamples=99, scheme=scheme, rng=0)
    together = permutation_null(problem(KERNELS, pairs, order), how.repeated(scheme)).values
    for number, (i, j) in enumerate(pairs or [(k, 0) for k in range(6)]):
        alone = problem(KERNELS, ((i, j),) if pairs else None, order)
        found = permutation_null(alone.restricted([0 if pairs else number]), how.repeated(scheme)).values
        np.testing.assert_allclose(together[number], found[0], rtol=1e-12, atol=1e-12 * np.abs(found).max())


@pytest.mark.parametrize("scheme", ["cyclic", "low-rank"])
def test_the_rows_that_were_passed_are_left_as_they_are(scheme):
    own = problem(KERNELS, None, "F")
    permutation_null(own, Resampling.of(n_resamples=99, scheme=scheme, rng=0))
    np.testing.assert_array_equal(own.left.points, table())
