"""Balanced halving: sums and means of weights are kept, the norm is the true one, errors cancel."""

import numpy as np
import pytest

from kernelmean.embedding import coresets
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal


def atoms(n, seed=0, weights=None, noise=None):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    made = coresets.Atoms.sample(Gaussian(1.0), X)
    return coresets.Atoms(made.kernel, X, noise or made.noise, made.weights if weights is None else np.asarray(weights))


def distance(whole, rows, weights):
    change = whole.weights.copy()
    np.subtract.at(change, rows, weights)
    everything = slice(None)
    return np.sqrt(max(change @ whole.blocks()(everything, everything) @ change, 0.0))


@pytest.mark.parametrize(("n", "size"), [(600, 300), (601, 301), (601, 450), (5, 3), (2, 1), (3, 3)])
@pytest.mark.parametrize("noise", [None, Normal(0.3)])
def test_the_norm_is_that_of_the_change_and_the_sum_of_weights_stays(n, size, noise):
    whole = atoms(n, noise=noise, weights=np.random.default_rng(1).uniform(0.1, 1.0, n))
    rows, weights, norm = coresets.halve(whole, size, np.random.default_rng(2))
    assert len(rows) == len(np.unique(rows)) == size
    assert weights.sum() == pytest.approx(whole.weights.sum(), rel=1e-12)
    assert norm == pytest.approx(distance(whole, rows, weights), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n", "size"), [(8, 4), (7, 4), (7, 2), (9, 5), (11, 3)])
def test_every_point_keeps_its_weight_on_average_for_any_sizes(n, size):
    whole, total, runs = atoms(n), np.zeros(n), 1200
    squares = np.zeros(n)
    for seed in range(runs):
        last = coresets.split(whole, size, np.random.default_rng(seed))[-1]
        found = np.zeros(n)
        found[last.rows] = last.weights
        total += found
        squares += found**2
    mean = total / runs
    error = np.sqrt((squares / runs - mean**2) / runs)
    assert (np.abs(mean - 1 / n) < 4.5 * error).all()
    assert error.max() < 0.05 / n * np.sqrt(n)


def test_errors_cancel():
    whole = atoms(512)
    balanced = [coresets.split(whole, 64, np.random.default_rng(seed))[-1] for seed in range(10)]
    mean = np.mean([distance(whole, each.rows, each.weights) for each in balanced])
    rng = np.random.default_rng(3)
    random = np.mean([distance(whole, rng.choice(512, 64, replace=False), np.full(64, 1 / 64)) for _ in range(10)])
    assert mean < 0.6 * random


def test_a_heavy_point_stays():
    weights = np.array([100.0, *[1.0] * 9])
    for seed in range(20):
        last = coresets.split(atoms(10, weights=weights), 3, np.random.default_rng(seed))[-1]
        assert 0 in last.rows
        assert last.weights[last.rows == 0] >= 100.0


def test_equal_points_cost_nothing():
    same = coresets.Atoms.sample(Gaussian(1.0), np.ones((16, 2)))
    assert coresets.split(same, 3, np.random.default_rng(0))[-1].moved == 0.0


def test_compress_moves_no_further_than_it_says_and_keeps_the_sum():
    whole = atoms(3000, weights=np.random.default_rng(4).uniform(0.5, 1.0, 3000))
    stages = coresets.compressed(whole, 30, np.random.default_rng(5), dense=1000)
    sizes = [len(stage.rows) for stage in stages]
    assert sizes[0] == 3000
    assert 30 < sizes[1] < 1600
    assert sizes[-1] == 30
    for stage in stages:
        assert stage.weights.sum() == pytest.approx(whole.weights.sum(), rel=1e-12)
        assert distance(whole, stage.rows, stage.weights) <= stage.moved * (1 + 1e-9) + 1e-6
