"""Means of groups that share strength: weights, leave-one-out scores, features, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelmean as km
from kernelmean.embedding.features import random_cholesky
from kernelmean.estimators import group_means, group_rows
from kernelmean.estimators.group_rows import ExactValues, FeatureValues, GroupedRows
from kernelmean.estimators.sharing import Choice, Likeness, weights_of
from kernelmean.noise import Dirac, Normal


def clusters(seed=0, groups=12, clusters=3, n=8, dim=2, spread=4.0):
    """Groups whose means are one of a few centres: rows, labels, centres."""
    rng = np.random.default_rng(seed)
    centres = (spread * rng.normal(size=(clusters, dim)))[np.arange(groups) % clusters]
    labels = np.repeat([f"g{k:02}" for k in range(groups)], n)
    return np.repeat(centres, n, axis=0) + rng.normal(size=(groups * n, dim)), labels, centres


def loss(means, centres):
    """The squared distances from the true means of normal rows with unit covariance."""
    truth = [km.embed(centre[None], means.kernel_, noise=Normal(1.0)) for centre in centres]
    return sum((mu - nu).norm() ** 2 for mu, nu in zip(means.embeddings_, truth, strict=True))


@pytest.mark.parametrize("estimator", sorted(group_means.NAMED))
def test_groups_that_are_alike_share(estimator):
    X, labels, centres = clusters()
    means = km.GroupMeans(estimator=estimator).fit(X, groups=labels)
    apart = km.GroupMeans(kernel=means.kernel_, estimator="kme", sharing=np.inf).fit(X, groups=labels)
    alike = np.arange(12)[:, None] % 3 == np.arange(12) % 3
    np.testing.assert_allclose(means.weights_.sum(axis=1), 1.0, rtol=1e-13)
    assert means.weights_[~alike].max() < 1e-2 < 0.03 < means.weights_[alike].min()
    assert loss(means, centres) < 0.5 * loss(apart, centres)


def test_nothing_is_shared_by_groups_that_have_nothing_in_common():
    X, labels, centres = clusters(clusters=12, spread=8.0)
    means = km.GroupMeans(estimator="kme").fit(X, groups=labels)
    apart = km.GroupMeans(kernel=means.kernel_, estimator="kme", sharing=np.inf).fit(X, groups=labels)
    assert loss(means, centres) <= loss(apart, centres) * (1 + 1e-9)


def test_without_sharing_they_are_the_means_of_each_group():
    X, labels, _ = clusters()
    means = km.GroupMeans(estimator="kme", sharing=np.inf).fit(X, groups=labels)
    for label in means.groups_:
        alone = km.embed(X[labels == label], means.kernel_)
        assert (means.embedding(label) - alone).norm() < 1e-7
    np.testing.assert_array_equal(means.weights_, np.eye(12))


def test_one_mean_for_all():
    X, labels, _ = clusters()
    means = km.GroupMeans(estimator="kme", sharing=0.0).fit(X, groups=labels)
    np.testing.assert_allclose(means.weights_, 1 / 12, rtol=1e-14)
    unequal = km.GroupMeans(estimator="kme", sharing=0.0).fit(X, groups=np.where(labels == "g01", "g00", labels))
    assert (unequal.embeddings_[3] - km.embed(X, means.kernel_)).norm() < 1e-7


def test_a_large_group_takes_little_from_a_small_one_that_is_alike():
    rng = np.random.default_rng(0)
    sizes = np.array([300, 300, 3, 3])
    found = km.GroupMeans(estimator="kme", sharing=1e-9).fit(
        rng.normal(size=(606, 2)), groups=np.arange(4).repeat(sizes)
    )
    np.testing.assert_allclose(found.weights_, np.tile(sizes / 606, (4, 1)), rtol=1e-3)


@pytest.mark.parametrize("noise", [Dirac(), Normal(0.3)], ids=repr)
@pytest.mark.parametrize("strength", [0.0, 0.7, 4.0, np.inf])
def test_the_score_is_that_of_leaving_rows_out(noise, strength):
    """Group by group and row by row: everything of the group is computed again from its other rows."""
    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2, 3], [5, 3, 1, 2])
    X = rng.normal(size=(11, 2)) + 1.5 * (codes > 1)[:, None]
    kernel, rows = km.kernels.Gaussian(1.2), GroupedRows.of(X, codes)
    features = random_cholesky(kernel, X)(X)
    likeness = Likeness.of(rows, features)
    choice = Choice(ExactValues(rows, kernel, km.Plan()), likeness, scaled=False)
    (found,) = choice.scores([strength], [noise])

    def variances(tables):
        return [(np.square(t - t.mean(0)).sum() + likeness.typical) / len(t) ** 2 for t in tables]

    def weights(tables, group):
        v, means = variances(tables), [t.mean(0) for t in tables]
        z = [
            max(np.square(means[group] - mean).sum() - v[group] - own, 0) / (v[group] + own)
            for mean, own in zip(means, v, strict=True)
        ]
        z[group] = 0.0
        w = rows.sizes * np.exp(-strength * np.array(z) ** 1.5) if np.isfinite(strength) else np.eye(4)[group]
        return w / w.sum()

    def estimate(tables, points, group):
        terms = zip(weights(tables, group), points, strict=True)
        return sum((w * km.embed(p, kernel, noise=noise) for w, p in terms if w), start=0.0 * km.embed(X, kernel))

    scores = []
    for group in (0, 1, 3):
        tables = [likeness.table[codes == k] for k in range(4)]
        points = [X[codes == k] for k in range(4)]
        mu = estimate(tables, points, group)
        values = []
        for i in range(len(points[group])):
            left = [np.delete(t, i, axis=0) if k == group else t for k, t in enumerate(tables)]
            rest = [np.delete(p, i, axis=0) if k == group else p for k, p in enumerate(points)]
            values.append(float(estimate(left, rest, group)(points[group][i : i + 1])[0]))
        scores.append(mu @ mu - 2 * np.mean(values))
    assert found.score == pytest.approx(np.mean(scores), rel=1e-10)


def test_many_rows_are_fitted_by_features(monkeypatch):
    X, labels, _ = clusters(n=12)
    exact = km.GroupMeans().fit(X, groups=labels)
    monkeypatch.setattr(group_means, "_EXACT_ROWS", 50)
    some = km.GroupMeans().fit(X, groups=labels)
    assert exact.notes_ == ()
    assert "landmarks" in some.notes_[0]
    assert (some.noise_, some.sharing_) == (exact.noise_, exact.sharing_)
    np.testing.assert_allclose(some.weights_, exact.weights_, rtol=1e-9)
    assert some.loocv_ == pytest.approx(exact.loocv_, rel=1e-6)
    np.testing.assert_allclose(some.embedding("g03")(X[:5]), exact.embedding("g03")(X[:5]), atol=1e-5)


def test_features_of_all_rows_give_the_exact_values():
    X, labels, _ = clusters(n=3)
    codes = np.unique(labels, return_inverse=True)[1]
    kernel, rows = km.kernels.Gaussian(2.0), GroupedRows.of(X, codes)
    exact, some = (
        ExactValues(rows, kernel, km.Plan()),
        FeatureValues(rows, random_cholesky(kernel, X, len(X)), km.Plan()),
    )
    noises, every = (Dirac(), Normal(0.2)), slice(0, len(X))
    for found, wanted in zip(some.at(noises)(every), exact.at(noises)(every), strict=True):
        np.testing.assert_allclose(found[0], wanted[0], atol=1e-6)
        np.testing.assert_allclose(found[1], wanted[1], atol=1e-6)
    np.testing.assert_allclose(some.gram(Dirac()), exact.gram(Dirac()), atol=1e-6)


def test_the_order_of_rows_and_the_names_of_groups_change_nothing():
    X, labels, _ = clusters()
    order = np.random.default_rng(0).permutation(len(X))
    first = km.GroupMeans().fit(X, groups=labels)
    again = km.GroupMeans().fit(pd.DataFrame(X[order], columns=["a", "b"]), groups=labels[order].astype(object))
    np.testing.assert_allclose(again.weights_, first.weights_, rtol=1e-6, atol=1e-12)
    assert again.embedding("g05")(X[:1]) == pytest.approx(first.embedding("g05")(X[:1]), rel=1e-9)


def test_a_group_of_one_row_and_rows_that_are_all_equal():
    X = np.array([[0.0], [0.1], [0.2], [0.15], [9.0], [9.0]])
    means = km.GroupMeans().fit(X, groups=[1, 1, 1, 2, 3, 3])
    assert np.isfinite([*means.weights_.ravel(), means.loocv_]).all()
    assert means.weights_[1, 0] > 0.1 > means.weights_[1, 2]
    still = km.GroupMeans().fit([[0.0], [0.0], [5.0], [5.0]], groups=[0, 0, 1, 1])
    assert np.isfinite(still.loocv_)
    np.testing.assert_allclose(still.weights_, np.eye(2), atol=1e-9)


def test_kernels_without_a_closed_form_take_means_without_noise():
    X, labels, _ = clusters()
    assert km.GroupMeans(km.kernels.Linear(), estimator="kme").fit(X, groups=labels).loocv_ > 0
    with pytest.raises(TypeError, match="closed form"):
        km.GroupMeans(km.kernels.RationalQuadratic(1.0, 1.0)).fit(X, groups=labels)


@pytest.mark.parametrize(
    ("groups", "error", "words"),
    [
        (None, ValueError, "groups is None; one label per row"),
        (["a"] * 5, ValueError, "one label per row"),
        (["a"] * 6, ValueError, "all rows are in the group 'a'"),
        (list("abcdef"), ValueError, "a group of its own"),
        (["a", "a", None, "b", "b", "b"], ValueError, "no label in row 3"),
        (["a", "a", np.nan, "b", "b", "b"], ValueError, "no label in row 3"),
        (["1", "1", 1, 1, "b", "b"], TypeError, "numbers and text"),
        ([1.0, 1.0, np.nan, 2.0, 2.0, 2.0], ValueError, "no label in row 3"),
        (np.array(["a", "a", 1, 1, 2, 2], dtype=object), TypeError, "numbers and text"),
    ],
)
def test_labels_that_are_refused(groups, error, words):
    with pytest.raises(error, match=words):
        km.GroupMeans().fit(np.arange(6.0)[:, None], groups=groups)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": "f-kmse"}, "means of groups take 'kme', 's-kmse', 'mkme', 'mmkme'"),
        ({"sharing": "all"}, "sharing is 'all'"),
        ({"sharing": -1.0}, "sharing"),
        ({"sharing": [0.0, 1.0]}, r"sharing is \[0.0, 1.0\], a single number"),
        ({"bandwidth": True}, "^bandwidth is True"),
    ],
)
def test_options_that_are_refused(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        km.GroupMeans(**options).fit(np.arange(6.0)[:, None], groups=[1, 1, 1, 2, 2, 2])


def test_a_group_that_is_not_there():
    means = km.GroupMeans().fit(np.arange(6.0)[:, None], groups=[1, 1, 1, 2, 2, 2])
    with pytest.raises(ValueError, match="group is 3; there are 1, 2"):
        means.embedding(3)
    with pytest.raises(ValueError, match=r"group is \[1, 2, 3\]; there are 1, 2"):
        means.embedding([1, 2, 3])


def test_saved_and_loaded(tmp_path):
    X, labels, _ = clusters()
    means = km.GroupMeans().fit(X, groups=labels)
    km.save(means, tmp_path / "means.npz")
    again = km.load(tmp_path / "means.npz")
    np.testing.assert_array_equal(again.weights_, means.weights_)
    assert again.embedding("g01")(X[:2]).tolist() == means.embedding("g01")(X[:2]).tolist()
    assert clone(means).get_params() == means.get_params()


def test_weights_of_infinite_distances():
    distances = np.array([[0.0, np.inf, 1.0]])  # to the power of 3/2
    np.testing.assert_allclose(weights_of(distances, 0.0, np.array(0), np.ones(3)), 1 / 3)
    found = weights_of(distances, 1.0, np.array(0), np.array([4, 4, 4]))
    np.testing.assert_allclose(found, [[1 / (1 + np.exp(-1)), 0, 1 / (1 + np.e)]])
    np.testing.assert_allclose(weights_of(distances, 0.0, np.array(0), np.array([1, 2, 5])), [[0.125, 0.25, 0.625]])


@parametrize_with_checks([km.GroupMeans(estimator="kme")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_of_many_rows_some_groups_are_drawn_to_choose_what_all_share(monkeypatch):
    X, labels, centres = clusters(groups=60, n=5)
    monkeypatch.setattr(group_rows, "_SCORED_ROWS", 100)
    rows = GroupedRows.of(X, np.unique(labels, return_inverse=True)[1])
    assert len(rows.scored) == 20
    means = km.GroupMeans().fit(X, groups=labels)
    apart = km.GroupMeans(kernel=means.kernel_, estimator="kme", sharing=np.inf).fit(X, groups=labels)
    assert loss(means, centres) < 0.5 * loss(apart, centres)
