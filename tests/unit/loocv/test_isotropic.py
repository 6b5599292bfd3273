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


def test_two_points():
    distances = isotropic.Distances(np.array([[0.0], [2.0]]))
    assert distances.laplace(1.0) == pytest.approx((-2.0, 2.0))


@pytest.mark.parametrize("store_up_to", [10, 350, 5000])  # nothing stored, the first rows, all
@pytest.mark.parametrize("bandwidth", [0.5, 3.0])
def test_pairs_made_once_serve_every_bandwidth_the_whole_sample_and_its_first_rows(monkeypatch, store_up_to, bandwidth):
    monkeypatch.setattr(loocv.isotropic, "STORE_UP_TO", store_up_to)
    monkeypatch.setattr(loocv.isotropic, "SUM_UP_TO", 100)
    monkeypatch.setattr(loocv.isotropic, "_TILE", 64)
    X = np.random.default_rng(1).normal(size=(500, 3)) + 7.0
    pairs = isotropic.PairDistances(X, 0.7)
    for shared, rows in ((pairs, X), (pairs.leading(333), X[:333])):
        alone, under = isotropic.Distances((rows - rows.mean(axis=0)) / bandwidth), shared.under(bandwidth)
        assert under.largest >= (1 - 1e-12) * pdist(rows / bandwidth, "sqeuclidean").max()
        for s in (1.0, 2.5):
            np.testing.assert_allclose(under.laplace(s), alone.laplace(s), rtol=1e-11)
            np.testing.assert_allclose(under.sketch().laplace(s), alone.sketch().laplace(s), rtol=1e-2)


@pytest.fixture
def small(monkeypatch):
    """Make thirty points many: none of their distances is stored, tiles have eight rows."""
    for name, value in {"STORE_UP_TO": 10, "SUM_UP_TO": 10, "_TILE": 8, "_CHUNK": 7}.items():
        monkeypatch.setattr(loocv.isotropic, name, value)


def test_tiles_hold_every_pair_once(small):
    Y = points(31)
    distances = isotropic.Distances(Y)
    t, largest = pdist(Y, "sqeuclidean"), distances.largest
    whole = binned.gathered([t], largest)
    np.testing.assert_allclose(distances.moments(), whole, rtol=1e-9, atol=1e-12)
    assert distances.count == 31 * 30 // 2
    assert isinstance(distances.count, int)
    np.testing.assert_allclose(distances.laplace(1.3), slow(Y, 1.3), rtol=1e-11)
    np.testing.assert_allclose(distances._summed(1.3), slow(Y, 1.3), rtol=1e-12)
    assert distances.sketch().laplace(1.3) == pytest.approx(slow(Y, 1.3), rel=1e-3)


def slow(Y, s):
    t = pdist(Y, "sqeuclidean")
    weights = np.exp(-0.5 * t / s)
    return np.log(weights.mean()), 0.5 * np.average(t, weights=weights) / s**2


def test_distances_that_are_not_stored_are_at_most_twice_the_farthest_point_from_the_mean(small):
    Y = np.concatenate([np.tile([[9.0, -1.0], [11.0, 1.0]], (8, 1)), np.tile([[10.0, 0.0]], (4, 1))])
    assert isotropic.Distances(Y).largest == pytest.approx(8.0)
    assert isotropic.Distances(Y[:10]).largest == 8.0
    assert loocv.SummedDistances(Y, Y).largest == pytest.approx(8.0)


def test_stored_distances_are_taken_up_to_a_number_of_points(small):
    assert isotropic.Distances(points(10))._stored is not None
    assert isotropic.Distances(points(11))._stored is None


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


def test_sums_of_points_elsewhere_are_the_same(small):
    Y = points(20)
    np.testing.assert_allclose(loocv.SummedDistances(Y, Y).laplace(1.3), slow(Y, 1.3), rtol=1e-12)
    assert loocv.SummedDistances(Y, Y[:5]).sketch().laplace(1.3) == pytest.approx(slow(Y[:5], 1.3), rel=1e-2)
    assert loocv.SummedDistances(Y, Y).dim == 3


def test_the_sketch_has_128_bins_for_every_power_of_two_and_one_for_what_is_tiny():
    bins = isotropic.leading_bits(np.array([0.0, 1e-30, 2.0**-64, 2.0**-63, 1.0, 1.5, 1.5 + 1 / 128, 1.999, 2.0]))
    np.testing.assert_array_equal(bins, [0, 0, 0, 128, 8192, 8256, 8257, 8319, 8320])
    short, long = (np.array([1.0, 2.0]), np.array([3.0, 4.0])), (np.array([10.0, 0.0, 5.0]), np.array([1.0, 1.0, 7.0]))
    for parts in ((short, long), (long, short)):
        np.testing.assert_array_equal(isotropic._sketched(iter(parts)), [[11.0, 2.0, 5.0], [4.0, 5.0, 7.0]])
    counts, sums = isotropic._binned(np.array([1.0, 1.001, 1.5]), np.array([2.0, 3.0, 4.0]))
    assert (counts[8192], counts[8256], counts.sum()) == (5.0, 4.0, 9.0)
    np.testing.assert_allclose([sums[8192], sums[8256]], [2.0 + 3.003, 6.0])
    counts, sums = isotropic._binned(np.array([1.0, 1.001, 1.5]), None)
    assert (counts[8192], sums[8192], counts.dtype, sums.dtype) == (2.0, 2.001, np.float64, np.float64)


def test_points_by_themselves_have_no_tile():
    rows = [slice(0, 2), slice(2, 4), slice(4, 5)]
    strips = list(isotropic._strips(rows))
    assert strips == [[(rows[0], rows[k]) for k in range(3)], [(rows[1], rows[1]), (rows[1], rows[2])], []]
