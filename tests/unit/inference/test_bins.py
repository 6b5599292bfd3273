"""Bins of rows: of one size within either sample, those with the rows left over last, and the sums over them."""

from __future__ import annotations

import numpy as np
import pytest
from kernelmean.inference.schemes.blocks import RowBins

from kernelmean.inference.permutations import RandomPermutations
from kernelmean.inference.problem import KernelSide, LabelSide, Problem
from kernelmean.inference.resampling_options import Resources
from kernelmean.inference.schemes import SCHEMES
from kernelmean.inference.statistics import MMD
from kernelmean.kernels import Gaussian, Linear


def bin_size(*sizes):
    """The rows of the bins that are exchanged."""
    return RowBins.draw(np.repeat([1.0, 0.0], sizes), np.random.default_rng(0)).sizes[0]


def test_the_size_gives_some_512_bins_and_the_smaller_sample_64():
    sizes = {(1, 1): 1, (511, 512): 1, (512, 512): 2, (1000, 2000): 5, (1023, 1): 1}
    sizes |= {(127, 5000): 1, (128, 5000): 2, (1280, 10**5): 20, (10**5, 1280): 20}
    assert {pair: bin_size(*pair) for pair in sizes} == sizes


@pytest.mark.parametrize("sizes", [(7, 12), (301, 803), (640, 701), (1025, 1024)])
def test_every_row_is_in_one_bin_of_its_sample(sizes):
    labels = np.random.default_rng(1).permutation(np.repeat([1.0, 0.0], sizes))
    bins = RowBins.draw(labels, np.random.default_rng(0))
    size = bin_size(*sizes)
    np.testing.assert_array_equal(np.sort(bins.order), np.arange(sum(sizes)))
    assert (bins.edges[0], bins.edges[-1]) == (0, sum(sizes))
    assert bins.movable == sizes[0] // size + sizes[1] // size
    np.testing.assert_array_equal(bins.sizes[: bins.movable], size)
    over = [(rows % size, label) for rows, label in zip(sizes, (1.0, 0.0), strict=True) if rows % size]
    assert list(zip(bins.sizes[bins.movable :], bins.labels[bins.movable :], strict=True)) == over
    np.testing.assert_array_equal(np.repeat(bins.labels, np.diff(bins.edges)), labels[bins.order])
    other = RowBins.draw(labels, np.random.default_rng(5))
    assert (bins.order != other.order).mean() > 0.5
    moved = bins.permuted(np.stack([np.arange(bins.movable), np.arange(bins.movable)[::-1]]))
    np.testing.assert_array_equal(moved[:, 0], bins.labels)
    np.testing.assert_array_equal(moved[: bins.movable, 1], bins.labels[: bins.movable][::-1])
    np.testing.assert_array_equal(moved[bins.movable :, 1], bins.labels[bins.movable :])


@pytest.mark.parametrize("tile", [1, 7, 512])
def test_sums_of_bins_are_those_of_the_centered_matrix(monkeypatch, tile):
    monkeypatch.setattr("kernelmean.inference.schemes.blocks._TILE", tile)
    X = np.random.default_rng(0).standard_normal((23, 2)) + 1.0
    labels = np.repeat([1.0, 0.0], [9, 14])
    order = np.random.default_rng(1).permutation(23)
    order = np.concatenate(
        [np.flatnonzero(labels)[:6], order[order >= 9][:12], np.arange(6, 9), order[order >= 9][12:]]
    )
    bins = RowBins(order, np.array([0, 3, 6, 9, 12, 15, 18, 21, 23]), np.array([1.0, 1, 0, 0, 0, 0, 1, 0]), 6)
    monkeypatch.setattr(RowBins, "draw", classmethod(lambda *_: bins))
    draws = next(RandomPermutations(6, 4, np.random.default_rng(2)).batches(4))
    kernels = (Gaussian(2.0), Linear())
    problem = Problem(KernelSide(X, kernels), LabelSide(labels), ((1, 0), (0, 0)), MMD(9, 14))
    sums = SCHEMES["blocks"].sums(problem, 3, np.random.default_rng(2), Resources())
    moved = np.repeat(bins.permuted(draws), np.diff(bins.edges), axis=0).T
    H = np.eye(23) - 1 / 23
    for p, k in enumerate((1, 0)):
        gram = kernels[k](X[order], X[order])
        C = H @ gram @ H
        np.testing.assert_allclose(sums.pairs[p], np.einsum("pi,ij,pj->p", moved, C, moved), rtol=1e-11)
        np.testing.assert_allclose(sums.diagonal[p], moved @ np.diag(C), rtol=1e-11)
        np.testing.assert_allclose(sums.left_trace[p], np.trace(C), rtol=1e-11)
        np.testing.assert_allclose(sums.level.rows[p], moved @ gram.mean(axis=1), rtol=1e-11)
        np.testing.assert_allclose(sums.level.mean[p], gram.mean(), rtol=1e-11)
    np.testing.assert_allclose(sums.right_trace, [9 * 14 / 23] * 2, rtol=1e-14)
