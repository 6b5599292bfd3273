import math
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kernelmean.estimators import loocv
from kernelmean.plan import Plan

binned, isotropic = loocv.binned, loocv.isotropic


def heavy_tails(n=300, dim=3, unit=1.0):
    rng = np.random.default_rng(0)
    return unit * rng.standard_t(2.5, size=(n, dim))


def slow(distances, s):
    """Return the sum by definition, in extended precision of the weights' exponents."""
    first = distances.min()
    weights = np.exp(-0.5 * (distances - first) / s)
    log_mean = math.log(math.fsum(weights) / len(weights)) - 0.5 * first / s
    return log_mean, 0.5 * math.fsum(weights * distances) / math.fsum(weights) / s**2


@pytest.mark.parametrize("s", [1.0, 1.7, 30.0, 1e5])
@pytest.mark.parametrize("unit", [1e-4, 1.0, 10.0, 1e4])
def test_sums_over_bins_are_sums_over_pairs_to_the_bound(s, unit):
    distances = pdist(heavy_tails(unit=unit), "sqeuclidean")
    bins = binned.DistanceBins(binned.gathered([distances], distances.max()))
    log_mean, slope, error = bins.laplace(s)
    wanted, wanted_slope = slow(distances, s)
    assert abs(log_mean - wanted) <= error + 2e-15 * max(1.0, abs(wanted))
    assert slope == pytest.approx(wanted_slope, rel=1e-13 + 10 * error)
    assert bins.counts.sum() == len(distances)


def test_the_bound_is_above_the_error_where_kernels_are_too_narrow():
    distances = pdist(heavy_tails(), "sqeuclidean") + 150.0  # all far apart: 75 units of the exponent
    log_mean, _, error = binned.DistanceBins(binned.gathered([distances], distances.max())).laplace(1.0)
    gap = abs(log_mean - slow(distances, 1.0)[0])
    assert 1e-12 < gap <= error


@pytest.mark.parametrize("dim", [1, 2, 7])
@pytest.mark.parametrize("cells", [(slice(0, 50), slice(50, 90)), (slice(0, 60), slice(0, 60))])
def test_compiled_moments_are_those_of_the_definition(dim, cells):
    Y = heavy_tails(90, dim)
    compiled = pytest.importorskip(
        "kernelmean.estimators.loocv.compiled", reason="it needs the extra 'fast'", exc_type=ImportError
    )
    i, j = cells
    gaps = np.square(Y[i, None] - Y[j]).sum(axis=2)
    distances = gaps[np.triu_indices(len(gaps), 1)] if i == j else gaps.ravel()
    size = binned.n_bins(4 * np.square(Y).sum(axis=1).max())
    found = compiled.gatherer(Y, size)([(i, j)])
    wanted = binned.gathered([distances], 4 * np.square(Y).sum(axis=1).max())
    assert found[:, 0].sum() == len(distances)
    for s in (1.0, 5.0):
        np.testing.assert_allclose(
            binned.DistanceBins(found).laplace(s)[:2], binned.DistanceBins(wanted).laplace(s)[:2], rtol=1e-13
        )


NUMBA = pytest.mark.skipif(find_spec("numba") is None, reason="it needs the extra 'fast'")


def test_a_kernel_too_narrow_for_the_bins_is_summed_pair_by_pair():
    Y = 40.0 * np.random.default_rng(1).normal(size=(isotropic.SUM_UP_TO + 1, 30))
    distances = isotropic.Distances(Y)
    assert distances._bins.laplace(1.0)[2] > isotropic._PRECISION
    np.testing.assert_allclose(distances.laplace(1.0), slow(pdist(Y, "sqeuclidean"), 1.0), rtol=1e-12)


@pytest.mark.parametrize("use_fast", [pytest.param(True, marks=NUMBA), False])
def test_a_largest_distance_that_rounding_puts_above_its_bound_has_a_bin(monkeypatch, use_fast):
    Y = np.repeat([-1.0, 1.0], isotropic.SUM_UP_TO)[:, None]  # 1 + t = 5 is the edge of a bin
    monkeypatch.setattr(loocv.isotropic, "running", lambda: Plan(use_fast=use_fast))
    monkeypatch.setattr(loocv.isotropic, "STORE_UP_TO", 10)
    distances = isotropic.Distances(Y)
    distances.__dict__["largest"] = 4.0 - 1e-14
    assert binned.index(np.array([4.0]))[0] == binned.index(np.array([4.0 - 1e-14]))[0] + 1
    assert distances._bins.counts.sum() == distances.count
    np.testing.assert_allclose(distances.laplace(1.0), slow(pdist(Y, "sqeuclidean"), 1.0), rtol=1e-13)


def test_the_bound_is_that_of_the_remainders_of_all_bins():
    distances, s = np.random.default_rng(1).gamma(1.0, 3.0, size=400), 0.7
    exponents = np.floor(np.log2(1.0 + distances))
    width = 2.0 ** (exponents - 10)
    center = (np.floor((1.0 + distances) / width) + 0.5) * width - 1.0
    half = width / 2
    remainders = np.exp(-0.5 * (center - half) / s) * (half / (2 * s)) ** 5 / 120
    bins = binned.DistanceBins(binned.gathered([distances[:100], distances[100:]], distances.max()))
    log_mean, slope, error = bins.laplace(s)
    assert error == pytest.approx(remainders.sum() / np.exp(-0.5 * distances / s).sum(), rel=1e-6, abs=0.0)
    np.testing.assert_allclose((log_mean, slope), slow(distances, s), rtol=1e-13)
    assert bins.counts.sum() == 400
    members = [distances[center == c] for c in np.unique(center)]
    np.testing.assert_allclose(bins.centers, np.unique(center), rtol=1e-13)
    np.testing.assert_allclose(bins.means, [part.mean() for part in members], rtol=1e-12)
    np.testing.assert_array_equal(bins.counts, [len(part) for part in members])
    assert binned.n_bins(0.0) == 2
    assert binned.n_bins(3.0) == 2 * 2**10 + 2


@pytest.mark.parametrize("unit", [1e4, 1e6, 1e20])
def test_where_bins_are_far_wider_than_the_kernel_the_bound_says_so_and_every_pair_is_summed(unit):
    """No weight of a bin was left, and the logarithm of 0 was an error."""
    Y = unit * np.random.default_rng(0).normal(size=(isotropic.SUM_UP_TO + 1, 10))
    distances = isotropic.Distances(Y)
    assert distances._bins.laplace(1.0)[2] > 1e6
    np.testing.assert_allclose(distances.laplace(1.0), slow(pdist(Y, "sqeuclidean"), 1.0), rtol=1e-12)
