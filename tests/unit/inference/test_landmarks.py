"""What rows say of themselves: views, landmarks and features on them, ranks, L-moments, the weights of members."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from dense_members import viewed
from kernelmean.inference import Adaptive, Member, hsic_test, mmd_test
from kernelmean.inference.adaptive.candidates import candidates
from kernelmean.inference.adaptive.columns import DIRECT, Whitening
from kernelmean.inference.adaptive.coordinates import Columns
from kernelmean.inference.adaptive.views import VIEWS, Views, ViewSource, available, view
from kernelmean.kernels import (
    DistanceInduced,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Wendland,
    median_bandwidth,
)
from nulls import hsic_null, mmd_null

N = 150


def table(kind, n=N, dim=2, seed=0):
    """ViewSource to draw from."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(n, dim))
    return {
        "normal": normal,
        "ties": rng.poisson(2.0, (n, dim)).astype(float),
        "binary": rng.integers(0, 2, (n, dim)).astype(float),
        "repeated rows": np.repeat(normal[: n // 2], 2, axis=0),
        "symmetric": np.vstack([normal[: n // 2], -normal[: n // 2]]),
        "a constant column": np.column_stack([normal[:, 1:], np.ones(n)]),
    }[kind]


KINDS = ["normal", "ties", "binary", "repeated rows", "symmetric", "a constant column"]


def drawn(points, most=20, seed=0):
    """The rows themselves that are drawn, in a fixed order."""
    found = points[ViewSource(points).drawn(most, np.random.default_rng(seed))]
    return found[np.lexsort(found.T)]


@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_do_not_depend_on_the_order_of_rows(kind):
    for dim in (1, 2, 5):
        points = table(kind, dim=dim)
        for order in map(np.random.default_rng(1).permutation, [N] * 5):
            np.testing.assert_array_equal(drawn(points[order]), drawn(points))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("change", ["units", "shift", "monotone"])
def test_landmarks_do_not_depend_on_units(kind, change, dim):
    points = table(kind, dim=dim)
    changed = {
        "units": points * np.array([1e-3, 1e5, 3.0, 7.0, 0.1])[: points.shape[1]],
        "shift": points - 1e3,
        "monotone": np.exp(points),
    }[change]
    numbers = [ViewSource(own).drawn(20, np.random.default_rng(0)) for own in (points, changed)]
    np.testing.assert_array_equal(*numbers)


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("change", ["order", "signs"])
def test_landmarks_do_not_depend_on_the_order_and_the_signs_of_columns(change, dim):
    signs = np.where(np.arange(dim) % 2, 1.0, -1.0)
    for seed in range(60):
        points = table("normal", n=110, dim=dim, seed=seed)
        changed = points[:, ::-1] if change == "order" else points * signs
        numbers = [ViewSource(own).drawn(64, np.random.default_rng(0)) for own in (points, changed)]
        np.testing.assert_array_equal(*numbers)


@pytest.mark.parametrize("kind", ["ties", "binary"])
def test_landmarks_of_tied_columns_do_not_depend_on_their_order(kind):
    points = table(kind, dim=2)
    swapped = drawn(points[:, ::-1])[:, ::-1]
    np.testing.assert_array_equal(swapped[np.lexsort(swapped.T)], drawn(points))


def test_all_rows_are_landmarks_where_they_are_few_and_no_number_is_drawn():
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(ViewSource(table("normal", 64)).drawn(64, rng), np.arange(64))
    assert rng.random() == np.random.default_rng(0).random()


def test_landmarks_of_two_variables_are_not_rows_of_one_number():
    points = table("normal")
    rng = np.random.default_rng(0)
    one, other = (ViewSource(points).drawn(30, rng) for _ in range(2))
    assert len(np.intersect1d(one, other)) < 15


FEATURES = {
    "wide": ("data", Gaussian(2.0)),
    "quarter": ("data", Gaussian(0.25)),
    "energy": ("data", DistanceInduced()),
    "ranks": ("ranks", DistanceInduced()),
    "box": ("blocks", Laplacian(0.5)),
    "linear": ("data", Linear()),
    "quadratic": ("data", Polynomial(2, 0.0)),
}


def nystrom(gram, landmarks):
    """K_nS W⁺ K_Sn, centered."""
    n, between = len(gram), gram[np.ix_(landmarks, landmarks)]
    H = np.eye(n) - 1 / n
    return H @ gram[:, landmarks] @ np.linalg.pinv(between, rcond=1e-10, hermitian=True) @ gram[landmarks] @ H


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("kind", ["normal", "ties", "repeated rows", "a constant column"])
def test_features_are_nystrom_features_without_what_counts_for_a_hundredth(name, kind):
    points, (view, kernel) = table(kind), FEATURES[name]
    members = [Member(view, kernel, ridge=ridge) for ridge in (None, 0.1, 0.001)]
    found = candidates(Adaptive(members=members), (points,), 75.0, np.random.default_rng(0))
    own = viewed(points, view)
    landmarks = ViewSource(points).drawn(64, np.random.default_rng(0))
    values, vectors = np.linalg.eigh(nystrom(kernel(own, own), landmarks))
    total, largest = values.sum(), values.max()
    for member, (made,) in zip(members, found.kernels, strict=True):
        gram = made(found.tables[0], found.tables[0])
        weights = values if member.ridge is None else total * values / (values + member.ridge * total)
        kept = np.linalg.matrix_rank(gram, tol=1e-4 * weights.max(), hermitian=True)
        share = 0.01 * weights.max() / total
        least = 0.01 * largest if member.ridge is None else member.ridge * total * share / (1 - share)
        assert (values >= 2.1 * least).sum() <= kept <= (values >= least / 2.1).sum()
        expected = (vectors[:, -kept:] * weights[-kept:]) @ vectors[:, -kept:].T
        np.testing.assert_allclose(gram, expected, atol=1e-6 * np.abs(expected).max())


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2.0**20, 1e-3, 1e5])
def test_units_of_columns_change_no_p_beyond_the_landmarks(factor):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(90, 2)), 1.2 * rng.normal(size=(75, 2))
    units = np.array([factor, 1.0])
    how = {"estimator": "adaptive", "n_resamples": 199, "rng": 0}
    one, other = mmd_test(X, Y, **how), mmd_test(X * units, Y * units, **how)
    assert one.pvalue == other.pvalue
    assert [own.pvalue for own in one.members] == [own.pvalue for own in other.members]
    assert [own.weight for own in one.members] == pytest.approx([own.weight for own in other.members], rel=1e-9)
    one, other = hsic_test(X[:75], Y, **how), hsic_test(X[:75] * units, Y / units, **how)
    assert one.pvalue == other.pvalue
    assert [own.pvalue for own in one.members] == [own.pvalue for own in other.members]


def test_views():
    points = np.random.default_rng(12).normal(size=(200, 3)) @ np.diag([1.0, 10.0, 1000.0])
    scores = view(points, "scores")
    white = Whitening.of(scores)(scores)
    np.testing.assert_allclose(np.cov(white.T), np.eye(3), atol=0.02)
    np.testing.assert_array_equal(view(points, "scores"), view(np.exp(points / 1000), "scores"))
    of_one_column = {"data", "near", "nearest", "blocks", "scores", "ranks", "order", "radius", "spread", "squares"}
    assert set(available(50, 1)) == of_one_column | {"moment axes", "curve axes"}
    assert available(25, 3) == tuple(name for name in VIEWS if name not in ("order", "product axes"))
    of_pairs = {dim: [name for name in available(5000, dim) if "product" in name] for dim in (1, 23, 24, 46)}
    assert of_pairs == {1: [], 23: ["products"], 24: ["product axes"], 46: []}
    assert ["product axes" in available(n, 45) for n in (4000, 4300)] == [True, False]
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
    np.testing.assert_array_equal(view(points, "product axes"), view(points, "products"))
    for like_data in ("near", "nearest", "blocks"):
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


@pytest.mark.parametrize("n", [4, 5, 6])
def test_identifiers_are_alike_over_all_permutations(n):
    identifiers = np.eye(n)
    result = hsic_test(identifiers, identifiers[::-1], estimator="adaptive", n_resamples=999, rng=0)
    assert result.scheme == "exact"
    assert {member.pvalue for member in result.members} == {1.0}
    assert result.pvalue == 1.0


def fitted(points, name: str) -> tuple[ViewSource, Views]:
    source, everything = ViewSource(points), np.arange(len(points))
    member = Member(name, Gaussian(1.0), ridge=None if name in DIRECT else 0.01)
    return source, Views.of(source, [member], everything, everything[:20])


@pytest.mark.parametrize("name", sorted({*VIEWS} - {"order"}))
@pytest.mark.parametrize("law", ["normal", "ties", "constant"])
def test_rows_look_the_same_whether_a_view_was_fitted_to_them_alone_or_with_others(name: str, law: str):
    points = np.random.default_rng(5).normal(size=(90, 3))
    if law == "ties":
        points = np.round(points)
    elif law == "constant":
        points[:, 1] = 7.0
    source, views = fitted(points, name)
    found = [columns for _, columns in Columns.of(source, views, ()).at(points[::-1])]
    scale = max(1.0, np.abs(views.table).max())
    np.testing.assert_allclose(np.vstack(found).T, views.table[::-1], atol=1e-9 * scale)


def test_rows_beyond_those_that_a_view_was_fitted_to():
    seen = ViewSource(np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    others = ViewSource(np.array([[0.0, -1e300], [1.0, 5.0], [1.5, 5.0], [2.0, 5.5], [9.0, 1e300]]), seen.fits)
    np.testing.assert_array_equal(others.order, [[1.0, 1.0], [1.0, 2.5], [1.5, 2.5], [2.5, 4.0], [4.0, 4.0]])
    np.testing.assert_array_equal(others.scores, ndtri((others.order - 0.5) / 4))
    np.testing.assert_array_equal(others.in_spreads[:, 1], [-1.0, 0.0, 0.0, 1.0, 1.0])
    far = ViewSource(np.array([[1e300, 0.0]]), seen.fits).in_spreads
    assert np.isfinite(far).all()
    assert far[0, 0] > 1e7
