"""The witness against its definition, and its bands against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import kernelmean as km
from explained import contributions, witness, witness_bands
from kernelmean.kernels import Gaussian, Laplacian, Linear


def samples(n=6, m=9, dim=2):
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, dim)), rng.normal(1.0, size=(m, dim))


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(1.0)], ids=repr)
def test_values_by_definition(kernel):
    X, Y = samples()
    places = np.random.default_rng(0).normal(size=(5, 2))
    w = witness(X, Y, kernel)
    raw = kernel(places, X).mean(axis=1) - kernel(places, Y).mean(axis=1)
    squared = kernel(X, X).mean() + kernel(Y, Y).mean() - 2 * kernel(X, Y).mean()
    assert w.norm == pytest.approx(np.sqrt(squared), rel=1e-12)
    np.testing.assert_allclose(w(places), raw / np.sqrt(squared), rtol=0, atol=1e-13)
    np.testing.assert_allclose(witness(Y, X, kernel)(places), -w(places), rtol=0, atol=1e-13)
    assert w.function.norm() == pytest.approx(1.0, rel=1e-12)


def test_at_the_rows_it_is_what_contributions_say():
    X, Y = samples()
    w = witness(X, Y, Gaussian(1.0))
    found = contributions(X, Y, Gaussian(1.0), statistic="v")
    np.testing.assert_allclose(w.norm * w(np.concatenate([X, Y])), found.witness, rtol=0, atol=1e-14)


def test_grids():
    X, Y = samples(dim=3)
    w = witness(X, Y)
    (x,), line = w.grid((1,), size=7, margin=0.0)
    pooled = np.concatenate([X, Y])
    assert (x[0], x[-1]) == (pooled[:, 1].min(), pooled[:, 1].max())
    point = np.median(pooled, axis=0)
    point[1] = x[2]
    assert line[2] == pytest.approx(w(point[None])[0], rel=1e-12)
    (a, b), surface = w.grid((2, 0), size=4, at=[0.1, 0.2, 0.3])
    assert surface.shape == (4, 4)
    assert surface[1, 3] == pytest.approx(w([[b[3], 0.2, a[1]]])[0], rel=1e-12)
    for columns in ((), (0, 0), (0, 1, 2), (3,), (-1,)):
        with pytest.raises(ValueError, match="one or two different numbers"):
            w.grid(columns)
    with pytest.raises(ValueError, match="equal"):
        witness(X, X)


def test_bands_by_enumeration():
    X, Y = samples(4, 5)
    kernel, places = Gaussian(1.0), np.random.default_rng(1).normal(0.5, size=(6, 2))
    pooled = np.concatenate([X, Y])
    values = []
    for first in combinations(range(9), 4):
        weights = np.full(9, -1 / 5)
        weights[list(first)] = 1 / 4
        values.append(kernel(places, pooled) @ weights)
    values = np.array(values)
    deviation = values.std(axis=0)
    relative = np.abs(values) / deviation
    largest = relative.max(axis=1)
    found = witness_bands(X, Y, places, kernel, level=0.8)
    assert found.n_resamples == 125
    np.testing.assert_allclose(found.values, values[0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.halfwidth, np.sort(largest)[int(np.ceil(0.8 * 126)) - 1] * deviation, rtol=1e-10)
    expected = [(largest >= own - 1e-9).mean() for own in relative[0]]
    np.testing.assert_allclose(found.adjusted, expected, rtol=0, atol=1e-12)
    assert (np.abs(found.values) <= found.halfwidth * (1 + 1e-9)).all() == (not len(found.outside))


def test_points_outside_are_those_beyond_the_band():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 1)), rng.normal(1.5, size=(40, 1))
    found = witness_bands(X, Y, np.linspace(-3, 5, 33)[:, None], rng=0)
    beyond = np.flatnonzero(np.abs(found.values) > found.halfwidth)
    np.testing.assert_array_equal(found.outside, beyond)
    assert 5 < len(beyond) < 33
    assert found.adjusted.min() == pytest.approx(1 / 1000)


def test_where_nothing_can_be_seen_nothing_is_found():
    X, Y = samples()
    found = witness_bands(X, Y, [[1e6, 0.0]], Gaussian(1.0), rng=0, n_resamples=99)
    assert (found.values[0], found.halfwidth[0], found.adjusted[0]) == (0.0, 0.0, 1.0)
    constant = witness_bands(np.ones((4, 1)), np.ones((5, 1)))
    assert (constant.adjusted == 1.0).all()
    assert not len(constant.outside)
    with pytest.raises(ValueError, match=r"such as 0\.95"):
        witness_bands(X, Y, level=1.0)
    with pytest.raises(ValueError, match="columns"):
        witness_bands(X, Y, [[1.0]])


OPTIONS = {
    "s-kmse": {"filter": "scale"},
    "f-kmse": {"filter": "ridge"},
    "mkme": {"noise": "isotropic"},
    "mmkme": {"noise": "diagonal"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_estimator_is_weights_and_noise(name):
    X, Y = samples(12, 9)
    places = np.random.default_rng(0).normal(size=(4, 2))
    kernel = Gaussian(1.0)
    w = witness(X, Y, kernel, estimator=name)
    if name in ("s-kmse", "f-kmse"):
        make = {"s-kmse": km.estimators.SKMSE, "f-kmse": km.estimators.FKMSE}[name]
        first, second = (kernel(places, Z) @ make(kernel).fit(Z).weights_ for Z in (X, Y))
    else:
        noise = {"mkme": km.MKME, "mmkme": km.MMKME}[name](kernel).fit(np.concatenate([X, Y])).noise_
        wide = 1.0 + np.broadcast_to(noise.covariance, 2)  # θ² + σ² of both columns
        gaps = [np.square(places[:, None] - Z) / wide for Z in (X, Y)]
        first, second = (np.exp(-gap.sum(axis=2) / 2).mean(axis=1) / np.sqrt(wide.prod()) for gap in gaps)
    np.testing.assert_allclose(w.norm * w(places), first - second, rtol=0, atol=1e-12)
    given = km.KernelMean(kernel, **OPTIONS[name])
    np.testing.assert_allclose(witness(X, Y, estimator=given)(places), w(places), rtol=0, atol=1e-12)


def test_embeddings_are_taken_as_they_are():
    X, Y = samples()
    kernel = Gaussian(1.0)
    mu = km.embed(X, kernel, weights=np.linspace(-0.1, 0.5, 6), noise=km.noise.Normal(0.3))
    nu = km.embed(Y, kernel)
    places = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(witness(mu, nu)(places), (mu - nu)(places) / (mu - nu).norm(), rtol=1e-13)
    with pytest.raises(TypeError, match="ndarray is no Embedding"):
        witness(mu, Y)
    with pytest.raises(ValueError, match="different spaces"):
        witness(mu, km.embed(Y, Gaussian(2.0)))


def test_many_rows_are_seen_by_the_kernel_of_the_test():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(900, 2)), rng.normal(1.0, size=(700, 2))
    first, second = (km.mmd_test(*samples, n_resamples=1, rng=0, estimator="kme") for samples in ((X, Y), (Y, X)))
    assert first.witness().function.kernel == first.kernel
    assert second.witness().function.kernel == first.kernel


COMPARED = {
    "kme": "kme",
    "mkme": "mkme",
    "rule": km.KernelMean(Laplacian("median") + Gaussian("median")),
    "fixed noise": km.KernelMean(noise=km.noise.Normal(0.3)),
    "s-kmse": "s-kmse",
    "f-kmse": "f-kmse",
    "fixed scale": km.estimators.SKMSE(strength=0.3),
    "fixed ridge": km.estimators.FKMSE(strength=0.1),
    "scale and noise": km.KernelMean(noise="isotropic", filter="scale"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_the_witness_is_of_the_means_that_were_compared(name):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(24, 2)), rng.normal(0.3, 1.3, size=(18, 2))
    for samples in ((X, Y), (Y, X)):
        result = km.mmd_test(*samples, estimator=COMPARED[name], statistic="v", n_resamples=1, rng=3)
        assert result.witness().norm ** 2 == pytest.approx(result.statistic, rel=1e-6)


@pytest.mark.parametrize("estimator", ["kme", "mkme", "s-kmse"])
def test_the_witness_of_many_rows_has_the_kernel_of_the_test(estimator):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(700, 2)), rng.normal(size=(600, 2)) * 1.3  # the seed draws the rows that rules look at
    result = km.mmd_test(X, Y, estimator=estimator, statistic="v", n_resamples=19, rng=3)
    assert result.witness().norm ** 2 == pytest.approx(result.statistic, rel=1e-9)


def test_a_mean_that_is_shrunk_to_nothing_has_no_witness():
    X = np.random.default_rng(0).normal(size=(20, 2))
    result = km.mmd_test(X, -X, estimator=km.estimators.SKMSE(Linear(), strength=1e300), rng=0)
    with pytest.raises(ValueError, match="the two embeddings are equal"):
        result.witness()
