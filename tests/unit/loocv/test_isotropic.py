import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kernelmean.estimators import loocv

binned, isotropic = loocv.binned, loocv.isotropic


def points(n=40, dim=3):
    return np.random.default_rng(0).normal(size=(n, dim))


@pytest.mark.parametrize("s", [1.0, 3.7, 1e4])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 40.0])
def test_laplace_is_the_mean_and_its_derivative(s, unit):
    Y = unit * points()
    t = pdist(Y, "sqeuclidean")
    log_mean, slope = isotropic.Distances(Y).laplace(s)
    shifted = np.exp(-0.5 * (t - t.min()) / s)
    assert log_mean == pytest.approx(np.log(shifted.mean()) - 0.5 * t.min() / s, rel=1e-13)
    assert slope == pytest.approx(0.5 * np.average(t, weights=shifted) / s**2, rel=1e-12)


def test_tiles_give_what_stored_distances_give(monkeypatch):
    Y = points(1100, 2)
    stored = isotropic.Distances(Y)
    monkeypatch.setattr(loocv.isotropic, "STORE_UP_TO", 10)
    tiled = isotropic.Distances(Y)
    for s in (0.3, 40.0):
        np.testing.assert_allclose(tiled.laplace(s), stored.laplace(s), rtol=1e-12)
        np.testing.assert_allclose(tiled.sketch().laplace(s), stored.sketch().laplace(s), rtol=1e-12)
    assert stored.largest <= tiled.largest < 4 * stored.largest


@pytest.mark.parametrize("s", [1.0, 10.0, 1e3])
def test_the_sketch_is_near_and_counts_everything(s):
    Y = 5 * points(300)
    Y[100:] = Y[:200]  # repeated points: distances 0
    distances = isotropic.Distances(Y)
    assert distances.sketch().laplace(s) == pytest.approx(distances.laplace(s), rel=1e-4)


@pytest.fixture
def small(monkeypatch):
    """Make thirty points many: none of their distances is stored, tiles have eight rows."""
    for name, value in {"STORE_UP_TO": 10, "SUM_UP_TO": 10, "_TILE": 8, "_CHUNK": 7}.items():
        monkeypatch.setattr(loocv.isotropic, name, value)


def slow(Y, s):
    t = pdist(Y, "sqeuclidean")
    weights = np.exp(-0.5 * t / s)
    return np.log(weights.mean()), 0.5 * np.average(t, weights=weights) / s**2


def test_distances_in_other_units_are_those_of_scaled_points(small):
    Y = points(20)
    scaled, plain = (
        isotropic.ScaledDistances(isotropic.Distances(Y), 2.5),
        isotropic.Distances(np.sqrt(2.5) * Y),
    )
    assert scaled.largest == pytest.approx(plain.largest)
    assert scaled.dim == 3
    np.testing.assert_allclose(scaled.laplace(1.3), plain.laplace(1.3), rtol=1e-11)
    np.testing.assert_allclose(scaled.sketch().laplace(1.3), plain.sketch().laplace(1.3), rtol=1e-2)
    pairs = isotropic.PairDistances(Y, 0.5)
    for bandwidth in (0.5, 2.0):
        np.testing.assert_allclose(pairs.under(bandwidth).laplace(1.3), slow(Y / bandwidth, 1.3), rtol=1e-11)
        np.testing.assert_allclose(
            pairs.leading(9).under(bandwidth).laplace(1.3), slow(Y[:9] / bandwidth, 1.3), rtol=1e-11
        )
