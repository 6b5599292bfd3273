"""What an adaptive test looks at: views of the rows, and kernels on them."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from kernelmean.inference import Adaptive, Member, hsic_test
from kernelmean.inference.adaptive.members import independence_members
from kernelmean.inference.adaptive.views import VIEWS, Views, ViewSource, available, view, whitened
from kernelmean.kernels import DistanceInduced, Wendland, median_bandwidth
from nulls import hsic_null, mmd_null


def test_views():
    points = np.random.default_rng(12).normal(size=(200, 3)) @ np.diag([1.0, 10.0, 1000.0])
    white = whitened(view(points, "scores"))
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=0.02)
    np.testing.assert_array_equal(view(points, "scores"), view(np.exp(points / 1000), "scores"))
    of_one_column = {"data", "near", "nearest", "blocks", "scores", "ranks", "order", "radius", "spread", "squares"}
    assert set(available(50, 1)) == of_one_column
    assert available(24, 3) == tuple(name for name in VIEWS if name != "order")
    assert available(25, 3) == tuple(name for name in VIEWS if name not in ("order", "volume"))
    assert "products" not in available(5000, 24)
    assert "white" not in available(11, 3)
    assert "axes" in available(5000, 2048)
    assert "axes" not in available(5000, 2049)
    assert np.isfinite(view(np.full((4, 2), 1e300), "radius")).all()
    scores = view(points, "scores")
    np.testing.assert_array_equal(view(points, "order")[:, 2], stats.rankdata(points[:, 2]))
    np.testing.assert_allclose(view(points, "spread")[:, 0] ** 2, (scores**2).sum(1), rtol=1e-12, atol=1e-12)
    products = np.column_stack([scores[:, i] * scores[:, j] for i, j in combinations(range(3), 2)])
    np.testing.assert_allclose(view(points, "products"), products - products.mean(0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(view(points, "squares"), scores**2 - (scores**2).mean(0), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(view(points, "square axes"), view(points, "squares"))
    for like_data in ("near", "nearest", "blocks", "volume"):
        np.testing.assert_array_equal(view(points, like_data), view(points, "data"))
    order = Member("order", Wendland(0, 2.0))
    assert Views.of(ViewSource(points), [order], np.arange(9), np.arange(9)).table.max() == 200


@pytest.mark.parametrize("swapped", [False, True])
def test_one_neighbor_is_the_numerator_of_xi_under_all_permutations(swapped):
    n, rng = 6, np.random.default_rng(15)
    x, y = rng.normal(size=(2, n, 1))
    members = Member("order", Wendland(0, 2.0)), Member("ranks", DistanceInduced())
    everything = np.arange(n)
    views = [Views.of(ViewSource(own), [m], everything, everything) for own, m in zip((x, y), members, strict=True)]
    sides = [(v.table, v.kernels[m][0]) for v, m in zip(views, members, strict=True)][:: 1 - 2 * swapped]
    found = hsic_null(sides[0][0], sides[1][0], [(sides[0][1], sides[1][1])], n_resamples=999, rng=0)
    assert found.scheme == "exact"

    def gaps(ranks):  # Σ |r_{i+1} - r_i| with the rows in the order of x; centering adds the two ends
        ends = np.abs(ranks[[0, -1], None] - ranks).mean(1)
        return np.abs(np.diff(ranks)).sum() + ends.sum()

    distances = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    constant = (2 * n * distances.mean() - (n - 1) * distances.mean()) + n * distances.mean()
    expected = [constant - gaps(np.array(order)) for order in permutations(range(n))]
    unit = 2 * n**2 * n * float(median_bandwidth(view(y, "ranks")))
    np.testing.assert_allclose(np.sort(unit * found.values[0]), np.sort(expected), atol=1e-9)
    observed = stats.rankdata(y[:, 0])[np.argsort(x[:, 0])]
    assert unit * found.values[0, 0] == pytest.approx(constant - gaps(observed))
    xi = 1 - 3 * np.abs(np.diff(observed)).sum() / (n**2 - 1)
    if hasattr(stats, "chatterjeexi"):  # of SciPy 1.15
        assert xi == pytest.approx(stats.chatterjeexi(x[:, 0], y[:, 0], y_continuous=True).statistic)


def test_distance_induced_kernel_is_half_the_energy_distance():
    rng = np.random.default_rng(14)
    X, Y = rng.normal(size=(9, 2)), rng.normal(size=(7, 2)) + 1
    distance = lambda A, B: np.linalg.norm(A[:, None] - B[None], axis=2).mean()  # noqa: E731
    energy = 2 * distance(X, Y) - distance(X, X) - distance(Y, Y)
    value = mmd_null(X, Y, [DistanceInduced()], statistic="v", n_resamples=1, rng=0).values[0, 0]
    assert value == pytest.approx(energy / 2, rel=1e-12)
    gram = DistanceInduced(0.5)(X, X)
    assert np.linalg.eigvalsh(gram).min() > -1e-12
    np.testing.assert_allclose(DistanceInduced(0.5).diag(X), np.diag(gram))
    with pytest.raises(ValueError, match="between 0 and 2"):
        DistanceInduced(2.0)


@pytest.mark.parametrize("n", [12, 30, 45])
def test_rows_of_one_length_are_told_apart_by_nothing(n):
    identifiers = np.eye(n) / 3.0  # every row a category of its own: any pairing of two such columns is alike
    assert np.ptp(view(identifiers, "radius")) == np.ptp(view(identifiers, "spread")) == 0.0
    result = hsic_test(identifiers, identifiers[::-1], estimator="adaptive", n_resamples=49, rng=0)
    assert {member.pvalue for member in result.members if "axes" not in member.label} == {1.0}
    kept = [pair for pair in independence_members(n) if pair.x.view != "axes"]  # columns differ by the drawn orders
    assert hsic_test(identifiers, identifiers[::-1], estimator=Adaptive(members=kept), rng=0).pvalue == 1.0


@pytest.mark.parametrize("n", [4, 5, 6])
def test_identifiers_are_alike_over_all_permutations(n):
    identifiers = np.eye(n)
    result = hsic_test(identifiers, identifiers[::-1], estimator="adaptive", n_resamples=999, rng=0)
    assert result.scheme == "exact"
    assert {member.pvalue for member in result.members} == {1.0}
    assert result.pvalue == 1.0
