"""Bags as rows of features: what these are, in pipelines, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import kernelmean as km
from kernelmean.estimators import bags_of
from kernelmean.estimators.directions import Directions, best_directions, errors_along
from kernelmean.estimators.group_rows import GroupedRows
from kernelmean.noise import Dirac

KERNEL = km.kernels.Gaussian(1.5)


def bags(seed=0, many=12, dim=2):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(4, 9), dim)) + 3.0 * (k % 2) for k in range(many)]


def test_plain_means_have_the_inner_products_of_embeddings():
    X = bags()
    features = km.DistributionEncoder(KERNEL, estimator="kme", directions=None).fit_transform(X)
    means = [km.embed(bag, KERNEL) for bag in X]
    np.testing.assert_allclose(features @ features.T, [[mu @ nu for nu in means] for mu in means], atol=1e-8)


def spread(many=40, rows=8, seed=0):
    """Return bags of three columns whose means lie in a plane, and their places in it."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(many, 2)) * [1.0, 0.8]
    return [place @ [[1, 1, 0], [0, 0, 1]] + rng.normal(size=(rows, 3)) for place in places], places


def test_directions_are_the_best_linear_prediction():
    """One direction of linear features, by the definition: eigenvectors of B, and b / (b + w / n)."""
    X, _ = spread(rows=5)
    X[3] = X[3][:2]
    sizes = np.array([*map(len, X)])
    whole = np.concatenate(X)
    found = best_directions(GroupedRows(whole, sizes), whole, 2)
    deviations = np.concatenate([bag - bag.mean(axis=0) for bag in X])
    within = deviations.T @ deviations / (len(whole) - len(X))
    values, axes = np.linalg.eigh(within)
    root = axes / np.sqrt(values + 0.05 * values[-1])
    means = (np.stack([bag.mean(axis=0) for bag in X]) - whole.mean(axis=0)) @ root
    noise = root.T @ within @ root
    signal, vectors = np.linalg.eigh(np.cov(means.T) - noise * np.mean(1 / sizes))
    for j in range(2):
        own, axis = signal[-1 - j], vectors[:, -1 - j]
        wanted = (means - means.mean(axis=0)) @ axis * own / (own + axis @ noise @ axis / sizes)
        seen = found(np.stack([bag.mean(axis=0) for bag in X]), sizes)[:, j]
        np.testing.assert_allclose(seen * np.sign(seen @ wanted), wanted, atol=1e-10)


def test_errors_along_directions_are_unbiased():
    """Its mean over draws of the rows of a bag is the squared distance to the true coordinates, less their square."""
    rng = np.random.default_rng(0)
    found = Directions(np.zeros(2), np.eye(2), np.array([2.0, 0.1]), np.array([1.0, 1.0]))
    truth, sizes = np.array([1.5, -0.2]), np.array([4])
    rows = truth + rng.normal(size=(4_000, 4, 2))
    risks = [errors_along(found, GroupedRows(bag - bag.mean(axis=0), sizes), bag.mean(axis=0)[None]) for bag in rows]
    estimates = found(rows.mean(axis=1), sizes)
    wanted = np.square(estimates - truth).mean(axis=0) - truth**2
    error = np.std(risks, axis=0) / np.sqrt(len(rows)) + np.square(estimates - truth).std(axis=0) / np.sqrt(len(rows))
    assert (np.abs(np.mean(risks, axis=0) - wanted) < 4 * error).all()


def test_directions_are_those_in_which_bags_differ():
    X, _ = spread()
    encoder = km.DistributionEncoder(km.kernels.Gaussian(30.0), directions=2).fit(X)
    new, truth = spread(seed=1)
    assert np.corrcoef(encoder.transform(new)[:, 0], truth[:, 0])[0, 1] ** 2 > 0.8
    assert np.corrcoef(encoder.transform(new)[:, 1], truth[:, 1])[0, 1] ** 2 > 0.7
    assert km.DistributionEncoder(directions=1).fit_transform(X).shape == (40, 1)


def test_a_bag_of_few_rows_is_nearer_to_the_mean_of_all():
    X, _ = spread()
    encoder = km.DistributionEncoder(km.kernels.Gaussian(6.0), directions=1).fit(X)
    bag = X[0]
    many = [np.tile(bag, (times, 1)) for times in (1, 10)]
    few, sure = np.abs(encoder.transform(many)[:, 0])
    assert 0 < few < sure


def test_equal_bags_have_equal_features():
    encoder = km.DistributionEncoder().fit([np.ones((3, 2)) * np.arange(3)[:, None]] * 4)
    assert not encoder.transform([np.zeros((1, 2)), np.ones((2, 2))]).any()


@pytest.mark.parametrize("many", [2, 3, 4])
def test_few_bags(many):
    features = km.DistributionEncoder().fit_transform(bags(many=many))
    assert features.shape[1] < many
    assert np.isfinite(features).all()


def test_noise_is_chosen_when_the_encoder_is_fitted():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(5, 2)) * 5.0 + 40.0 * k for k in range(8)]
    encoder = km.DistributionEncoder(km.kernels.Gaussian(3.0), estimator="mkme", directions=None).fit(X)
    assert not isinstance(encoder.noise_, Dirac)
    smoothed = km.embed(X[0], encoder.map_.kernel, noise=encoder.noise_)
    values = encoder.map_(X[0])
    np.testing.assert_allclose(values @ encoder.transform(X[:1])[0], smoothed(X[0]), atol=1e-6)


def test_slices_have_the_distances_of_quantile_functions():
    """In one dimension with equal numbers of rows: the root of the mean squared difference of sorted values."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(16, 1)) * (1 + k) for k in range(3)]
    encoder = km.DistributionEncoder(features="slices", n_features=16).fit(X)
    features = encoder.transform(X)
    within = np.concatenate([np.square(bag - bag.mean()) for bag in X]).sum() / 45
    wanted = np.mean(np.square(np.sort(X[0][:, 0]) - np.sort(X[2][:, 0]))) / within
    assert np.square(features[0] - features[2]).sum() == pytest.approx(wanted, rel=1e-12)
    assert features.shape == (3, 16)


@pytest.mark.parametrize("features", ["means", "slices"])
def test_pipelines_and_searches(features):
    X, y = bags(many=24), np.arange(24) % 2
    model = make_pipeline(km.DistributionEncoder(features=features, n_features=64), LogisticRegression())
    assert model.fit(X[:16], y[:16]).score(X[16:], y[16:]) == 1.0
    search = GridSearchCV(
        make_pipeline(km.DistributionEncoder(features=features), KernelRidge(kernel="rbf")),
        {"kernelridge__alpha": [1e-3, 1.0], "distributionencoder__n_features": [32]},
        cv=2,
    )
    assert search.fit(X, y.astype(float)).best_score_ > 0.8
    encoder = km.DistributionEncoder(features=features).fit(X)
    assert len(encoder.get_feature_names_out()) == encoder.transform(X[:2]).shape[1]
    np.testing.assert_array_equal(encoder.transform(X), clone(encoder).fit_transform(X))


def test_an_array_of_equal_bags_and_a_table_with_groups():
    X = np.random.default_rng(0).normal(size=(6, 5, 2))
    first = km.DistributionEncoder(directions=None).fit_transform(X)
    np.testing.assert_array_equal(first, km.DistributionEncoder(directions=None).fit_transform(list(X)))
    table = pd.DataFrame(X.reshape(-1, 2), columns=["a", "b"])
    labels, again = bags_of(table, np.repeat(list("fedcba"), 5))
    assert labels.tolist() == list("abcdef")
    np.testing.assert_array_equal(again[0], X[5])


def test_the_order_of_bags_changes_nothing():
    X = bags()
    encoder = km.DistributionEncoder(directions=3).fit(X)
    np.testing.assert_allclose(encoder.transform(X[::-1]), encoder.transform(X)[::-1], rtol=1e-12, atol=1e-14)
    turned = km.DistributionEncoder(directions=3).fit(X[::-1])
    np.testing.assert_allclose(turned.transform(X), encoder.transform(X), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(encoder.transform(X[3:4])[0], encoder.transform(X)[3], rtol=1e-9, atol=1e-12)


def test_bags_whose_rows_are_equal():
    """Rounding is no variance within bags: divided by it, features would be of the size 1e16."""
    X = [np.full((5, 2), value) for value in np.linspace(-1.0, 1.0, 8)]
    assert np.abs(km.DistributionEncoder().fit_transform(X)).max() < 10.0


def test_bags_of_one_row():
    X = [[[0.0, 1.0]], [[2.0, 1.0]], [[5.0, 5.0]]]
    encoder = km.DistributionEncoder().fit(X)
    assert encoder.directions_ is None
    assert np.isfinite(encoder.transform(X)).all()


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([], "no bags"),
        (np.eye(3), r"X has the shape \(3, 3\); pass a list"),
        ([[[1.0], [2.0]]], "X has one bag"),
        ([[[1.0]], [[1.0, 2.0]]], "bag 1 has 2 columns and bag 0 has 1"),
        ({"a": np.eye(3)}, "X is a dict; pass a list"),
        ([pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"b": [1.0, 2.0]})], "the columns of bag 1 are b"),
        ([[[1.0]], [[np.nan]]], "bag 1"),
        ([[[1.0]], np.empty((0, 1))], "bag 1"),
    ],
)
def test_bags_that_are_refused(X, words):
    with pytest.raises(ValueError, match=words):
        km.DistributionEncoder().fit(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": "spectra"}, "features is 'spectra'; write 'means' or 'slices'"),
        ({"n_features": 0}, "n_features"),
        ({"estimator": "f-kmse"}, "means of groups take"),
        ({"directions": "loocv"}, "directions is 'loocv'; write 'cv', a number of directions, or None"),
        ({"directions": np.array([1, 2])}, "directions is array"),
        ({"directions": 0}, "directions is 0, an integer ≥ 1 is needed"),
        ({"features": "slices", "estimator": "mkme"}, "leave estimator= out"),
    ],
)
def test_options_that_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        km.DistributionEncoder(**options).fit(bags())


def test_columns_of_frames_are_matched_by_name():
    named = [pd.DataFrame(bag, columns=["a", "b"]) for bag in bags()]
    turned = [named[0], *(bag[["b", "a"]] for bag in named[1:])]
    encoder, expected = km.DistributionEncoder().fit(turned), km.DistributionEncoder().fit_transform(bags())
    for X in (turned, turned[1:], bags()[1:]):
        np.testing.assert_allclose(encoder.transform(X), expected[-len(X) :])
    with pytest.raises(ValueError, match="the columns of bag 0 are b, those of the fit are a, b"):
        encoder.transform([named[0][["b"]]])


def test_other_columns_than_those_of_the_fit():
    encoder = km.DistributionEncoder().fit(bags())
    with pytest.raises(ValueError, match="the bags have 3 columns, those of the fit had 2"):
        encoder.transform(bags(dim=3))


@pytest.mark.parametrize(
    "options", [{}, {"directions": 2}, {"features": "slices"}, {"estimator": "mkme", "directions": None}]
)
def test_it_comes_back_from_a_file(options, tmp_path):
    encoder = km.DistributionEncoder(**options)
    km.save(encoder, tmp_path / "a.npz")
    assert km.load(tmp_path / "a.npz").get_params() == encoder.get_params()
    km.save(encoder.fit(bags()), tmp_path / "b.npz")
    loaded = km.load(tmp_path / "b.npz")
    assert loaded.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(loaded.transform(bags(1)), encoder.transform(bags(1)))


def test_parts_of_a_file_that_do_not_go_together():
    found = km.DistributionEncoder().fit(bags()).directions_
    with pytest.raises(ValueError, match="do not go together"):
        replace(found, noise=found.noise[1:])
