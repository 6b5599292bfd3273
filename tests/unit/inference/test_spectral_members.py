"""Spectral members against their definition: filters, features, and every default member over all permutations."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from scipy import stats

from dense_members import (
    all_orders,
    combined,
    filtered,
    independence_values,
    labelings,
    rank,
    two_sample_values,
    viewed,
)
from kernelmean.inference import Adaptive, Member, hsic_test, mmd_test
from kernelmean.inference.adaptive.candidates import candidates
from kernelmean.kernels import DistanceInduced, Gaussian, Laplacian, Linear, Polynomial

RIDGES = None, 0.1, 0.01, 0.001
KERNELS = {
    "wide Gaussian": ("data", Gaussian(2.0)),
    "narrow Gaussian": ("data", Gaussian(0.25)),
    "energy": ("data", DistanceInduced()),
    "energy of ranks": ("ranks", DistanceInduced()),
    "Laplacian": ("blocks", Laplacian(0.5)),
    "linear": ("data", Linear()),
    "quadratic": ("data", Polynomial(2, 0.0)),
    "near": ("near", Gaussian(2.0)),
    "nearest": ("nearest", Gaussian(1.0)),
    "products": ("products", DistanceInduced()),
    "white": ("white", Linear()),
}


def rows_of(kind, n=24):
    """Rows to look at, by kind."""
    rng = np.random.default_rng(len(kind) + n)
    normal = rng.normal(size=(n, 2))
    return {
        "normal": normal,
        "ties": rng.integers(0, 3, (n, 2)).astype(float),
        "repeated rows": np.repeat(normal[: n // 3], 3, axis=0),
        "rank-deficient": np.column_stack([normal, normal.sum(1)]),
        "a constant column": np.column_stack([normal, np.full(n, 7.0)]),
        "heavy tails": rng.standard_cauchy((n, 2)),
    }[kind]


def made(points, *members, size=20.0):
    """The Gram matrices of members as the package has them, one for every kernel."""
    found = candidates(Adaptive(members=members), (points,), size, np.random.default_rng(0))
    return [kernel(found.tables[0], found.tables[0]) for own in found.kernels for kernel in own]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "kind", ["normal", "ties", "repeated rows", "rank-deficient", "a constant column", "heavy tails"]
)
def test_filters_are_functions_of_the_spectrum_of_the_centered_gram_matrix(kernel, kind):
    points, (view, own) = rows_of(kind), KERNELS[kernel]
    members = [Member(view, own, ridge=ridge) for ridge in RIDGES]
    table = viewed(points, view)
    for gram, member in zip(made(points, *members), members, strict=True):
        expected = filtered(own(table, table), member.ridge)
        np.testing.assert_allclose(gram, expected, atol=1e-6 * np.abs(expected).max())


def two(kind, sizes, dim):
    """Two small samples."""
    rng = np.random.default_rng(sum(sizes) + 10 * dim + len(kind))
    X, Y = rng.normal(size=(sizes[0], dim)), 1.3 * rng.normal(size=(sizes[1], dim)) + 0.4
    if kind == "ties":
        return np.round(X), np.round(Y)
    if kind == "repeated rows":
        Y[:2], X[-1] = X[:2], X[0]
    if kind == "outlier":
        Y[-1] = 1e4
    return X, Y


@pytest.mark.parametrize("kind", ["normal", "ties", "repeated rows", "outlier"])
@pytest.mark.parametrize(("sizes", "dim"), [((4, 4), 2), ((3, 5), 1), ((5, 4), 3), ((2, 6), 2), ((3, 6), 1)])
def test_every_default_member_and_the_whole_equal_the_definition_over_all_labelings(kind, sizes, dim):
    X, Y = two(kind, sizes, dim)
    pooled, size = np.vstack(sorted([X, Y], key=len)), 2 / (1 / len(X) + 1 / len(Y))
    result = mmd_test(X, Y, estimator="adaptive", n_resamples=999, rng=0)
    members = candidates(Adaptive(), (pooled,), size, np.random.default_rng(0)).members
    labels = labelings(len(pooled), min(sizes))
    values = np.array([two_sample_values(pooled, labels, member) for member in members])
    assert result.scheme == "exact"
    assert result.n_resamples + 1 == len(labels)
    assert [own.label for own in result.members] == [member.label for member in members]
    compare(result, values)


@pytest.mark.parametrize("kind", ["normal", "ties", "repeated rows", "outlier"])
@pytest.mark.parametrize(("n", "dims"), [(4, (1, 1)), (5, (2, 1)), (5, (1, 1)), (5, (2, 3)), (6, (1, 2))])
def test_every_default_pair_and_the_whole_equal_the_definition_over_all_permutations(kind, n, dims):
    X, Y = two(kind, (n, n), max(dims))
    X, Y = X[:, : dims[0]], Y[:, : dims[1]] + np.round(X[:, :1])
    result = hsic_test(X, Y, estimator="adaptive", n_resamples=999, rng=0)
    pairs = candidates(Adaptive(), (X, Y), n, np.random.default_rng(0)).members
    values = np.array([independence_values(X, Y, all_orders(n), pair) for pair in pairs])
    assert result.scheme == "exact"
    assert [own.label for own in result.members] == [pair.label for pair in pairs]
    compare(result, values)


def compare(result, values):
    """Hold all members and the whole to values of every member under all permutations."""
    for own, row in zip(result.members, values, strict=True):
        assert own.statistic == pytest.approx(row[0], rel=1e-6, abs=1e-7 * np.abs(row).max() + 1e-14), own.label
        if "axes" not in own.label:
            assert own.pvalue == rank(row), own.label
    varies = np.ptp(values, axis=1) > 1e-9
    if not varies.any():
        assert result.pvalue == 1.0
        return
    expected = combined(values[varies], np.array([own.weight for own in result.members])[varies])
    assert result.statistic == pytest.approx(expected[0], abs=1e-6)
    assert result.pvalue == rank(expected)


def test_maxima_over_columns_that_tie_are_ties():
    X, Y = two("outlier", (4, 4), 2)
    result = mmd_test(X, Y, estimator=Adaptive(members=[Member("square axes", Linear())]), n_resamples=999, rng=0)
    values = two_sample_values(np.vstack([X, Y]), labelings(8, 4), Member("square axes", Linear()))
    assert result.members[0].pvalue == rank(values)


def mirrored_pair(n, rng, dim=24):
    """Normal columns, two of which go together, and the same with the sign of one of them turned."""
    X, Y = rng.normal(size=(2, n, dim))
    X[:, 1] += X[:, 0]
    Y[:, 1] -= Y[:, 0]
    return X, Y


def test_one_pair_of_columns_among_many_counts_on_its_own():
    X, Y = mirrored_pair(150, np.random.default_rng(3))
    found = mmd_test(X, Y, n_resamples=199, rng=0)
    by_view = {own.label.split(" on ")[1]: own for own in found.members}
    assert "products" not in by_view
    together = by_view["product axes"]
    assert max(found.pvalue, together.pvalue) < 0.01
    assert together.group == "columns together"
    assert [own.label for own in found.members if own.evidence > together.evidence] == []
    ranked = stats.norm.ppf((stats.rankdata(np.vstack([X, Y]), axis=0) - 0.5) / 300)
    products = np.stack([ranked[:, i] * ranked[:, j] for i in range(24) for j in range(i + 1, 24)], axis=1)
    in_units = (products - products.mean(0)) / products.std(0)
    gaps = in_units[:150].mean(0) - in_units[150:].mean(0)
    assert np.square(gaps).argmax() == 0  # the first two columns


def test_decompositions_that_do_not_converge_are_found_otherwise(monkeypatch):
    X, Y = two("normal", (12, 9), 2)
    expected = mmd_test(X, Y, n_resamples=99, rng=0)

    def fails(matrix):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(np.linalg, "eigh", fails)
    found = mmd_test(X, Y, n_resamples=99, rng=0)
    assert found.pvalue == expected.pvalue
    np.testing.assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-6)


def test_skewed_rows_on_which_divide_and_conquer_does_not_converge():
    rng = np.random.default_rng([crc32(b"two samples | default | auto | skewed, 2 columns | 15+45"), 1187])
    X, Y = (np.exp(1.5 * rng.standard_normal((n, 2))) for n in (15, 45))
    assert 0.05 < mmd_test(X, Y, n_resamples=99, rng=0).pvalue < 0.5
