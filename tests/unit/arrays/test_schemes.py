"""The sums of the schemes where the points live: those of NumPy, however small the tiles."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kernelmean.core.array import to_numpy
from kernelmean.inference.engine import permutation_null
from kernelmean.inference.low_rank import Coordinates
from kernelmean.inference.permutation_groups import Rotations
from kernelmean.inference.permutations import AllPermutations
from kernelmean.inference.problem import KernelSide, LabelSide, Problem
from kernelmean.inference.resampling_options import Resources
from kernelmean.inference.schemes import Cyclic, device
from kernelmean.inference.schemes.blocks import BinTiling, RowBins
from kernelmean.inference.schemes.cyclic import tile_sums
from kernelmean.inference.schemes.random_labels import _forms, labelings_at_once
from kernelmean.inference.schemes.random_pairs import _gather
from kernelmean.inference.statistics import HSIC, MMD
from kernelmean.kernels import Gaussian, Linear
from nulls import problem_of, resampling

from .libraries import STRICT, TORCH, Library

RNG = np.random.default_rng(0)
X = RNG.normal(size=(23, 2)) + 0.5
KERNELS = (Gaussian(1.0), Linear())
FLOAT64 = pytest.mark.parametrize("library", [TORCH, STRICT])


def grams() -> list[Any]:
    return [kernel(X, X) for kernel in KERNELS]


@pytest.fixture(autouse=True, params=[(7, 7), (512, 512)], ids=["small tiles", "one tile"])
def _tiles(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_HOST_TILE", request.param)
    monkeypatch.setattr(device, "_TILE_SHARE", 1e-6 if request.param == (7, 7) else 0.5)
    monkeypatch.setattr("kernelmean.inference.schemes.random_labels._TILE", request.param[0])


@FLOAT64
def test_forms_of_labelings_and_row_sums(library: Library) -> None:
    labels = RNG.integers(0, 2, size=(23, 5)).astype(float)
    shifted = [gram - shift for gram, shift in zip(grams(), (0.3, -1.0), strict=True)]
    host = KernelSide(X, KERNELS, (0.3, -1.0))
    elsewhere = KernelSide(library.make(X), KERNELS, (0.3, -1.0))
    for side in (host, elsewhere):
        forms, rows = _forms(side, labels, Resources())
        np.testing.assert_allclose(forms, [np.einsum("ib,ij,jb->b", labels, K, labels) for K in shifted], rtol=1e-11)
        np.testing.assert_allclose(rows, [K.sum(axis=1) for K in shifted], rtol=1e-10, atol=1e-12)


@FLOAT64
@pytest.mark.parametrize("edges", [[0, 3, 6, 9, 12, 15, 18, 21, 23], [0, 4, 8, 12, 16, 20, 22, 23], [0, 9, 18, 23]])
def test_sums_of_bins(library: Library, edges: list[int]) -> None:
    side = KernelSide(library.make(X), KERNELS)
    labels = np.repeat([1.0, 0.0], [12, 11])
    problem = Problem(side, LabelSide(labels), ((0, 0), (1, 0)), MMD(12, 11))
    bins = RowBins(np.arange(23), np.array(edges), np.ones(len(edges) - 1), len(edges) - 2)
    tiling = BinTiling(problem, bins, AllPermutations(1), size=device.tile_side(side, Resources()))
    (found,) = tiling.evaluated()
    member = np.repeat(np.eye(len(edges) - 1), np.diff(edges), axis=0)
    np.testing.assert_allclose(found, [member.T @ gram @ member for gram in grams()], rtol=1e-11)


@FLOAT64
@pytest.mark.parametrize("memory", [1.0, 2.0**30])
def test_permuted_matrices(library: Library, memory: float) -> None:
    left, right = grams()
    orders = np.array([RNG.permutation(23) for _ in range(6)])
    found = device.gatherer(23, Resources(1, memory))(library.make(left), library.make(right), orders)
    np.testing.assert_allclose(found, _gather(left, right, orders), rtol=1e-11)
    np.testing.assert_allclose(found, [np.vdot(left, right[np.ix_(order, order)]) for order in orders], rtol=1e-11)


@FLOAT64
@pytest.mark.parametrize("memory", [1.0, 2.0**30])
@pytest.mark.parametrize("order", [6, 11, 12, 23])
def test_rotations_of_blocks_and_rows_that_stay(library: Library, order: int, memory: float) -> None:
    rotations = Rotations(RNG.permutation(23), np.array([np.arange(23), RNG.permutation(23)]), order)
    pairs = ((0, 1), (1, 1), (0, 0))
    host, elsewhere = (
        Problem(KernelSide(Z, KERNELS, (0.3, -1.0)), KernelSide(Z, KERNELS, (0.1, 2.0)), pairs, HSIC(23, "u"))
        for Z in (X, library.make(X))
    )
    exact = tile_sums(host.shuffled(rotations.shuffle), rotations, Resources())
    found = tile_sums(elsewhere.shuffled(rotations.shuffle), rotations, Resources(1, memory))
    assert found.pairs.shape == (3, 2 * order)
    for name in ("pairs", "diagonal", "left_trace", "right_trace"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), rtol=1e-9, atol=1e-10)


def test_batches_of_labelings_fit_a_quarter_of_the_memory() -> None:
    host, elsewhere = (KernelSide(table, KERNELS) for table in (X, STRICT.values[0].make(X)))
    assert labelings_at_once(host, Resources(1, 2.0**30)) == 2**30 // 4 // (16 * 23)
    assert labelings_at_once(elsewhere, Resources(1, 2.0**30)) == 2**30 // 4 // (24 * 23)
    assert labelings_at_once(host, Resources(1, 1.0)) == 64


@pytest.mark.parametrize("library", [STRICT])
def test_pivots_are_never_sought_where_points_live_elsewhere(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def split(*arguments: Any) -> None:
        pytest.fail("factors were tried")

    cyclic = "kernelmean.inference.schemes.cyclic"
    monkeypatch.setattr(f"{cyclic}.split", split)
    monkeypatch.setattr(f"{cyclic}.worthwhile_rank", lambda shape: 20)
    sides = (KernelSide(library.make(Z), KERNELS[1:]) for Z in (X, X[:, :1]))
    problem = Problem(*sides, ((0, 0),), HSIC(23, "u"))
    found = Cyclic("any").sums(problem, 9, np.random.default_rng(0), Resources())
    assert found.pairs.shape == (1, 23)
    with pytest.raises(ValueError, match="not of low rank"):
        Cyclic("any", tiles=False).sums(problem, 9, np.random.default_rng(0), Resources())


@pytest.mark.parametrize("library", [STRICT])
def test_large_samples_elsewhere_are_summed_in_blocks_at_once(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of NumPy's arrays rotations on factors are tried first."""

    def sums(*arguments: Any) -> Any:
        raise NotImplementedError("rotations were tried")

    monkeypatch.setattr("kernelmean.inference.engine._BLOCKS_ROWS", 40)
    monkeypatch.setattr("kernelmean.inference.engine._GEMM_ROWS", 40)
    monkeypatch.setattr("kernelmean.inference.engine._FIRST_TRIED", SimpleNamespace(sums=sums))
    with pytest.raises(NotImplementedError, match="rotations were tried"):
        permutation_null(problem_of((X, X + 1.0), KERNELS, "u"), resampling(n_resamples=19, rng=0))
    problem = problem_of((library.make(X), library.make(X + 1.0)), KERNELS, "u")
    assert permutation_null(problem, resampling(n_resamples=19, rng=0)).scheme == "blocks"


@FLOAT64
def test_sums_over_a_few_columns(library: Library) -> None:
    kernel, rows = Coordinates((1, 0), (0.5, 3.0)), library.make(X)
    expected = 0.5 * np.outer(X[:, 1], X[:, 1]) + 3.0 * np.outer(X[:, 0], X[:, 0])
    np.testing.assert_allclose(to_numpy(kernel(rows, rows)), expected, rtol=1e-13)
    np.testing.assert_allclose(to_numpy(kernel.diag(rows)), np.diag(expected), rtol=1e-13)
