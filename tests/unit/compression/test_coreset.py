"""Coresets: the error is the distance, swaps are the best ones, errors fall like 1/m, and weights may be anything."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.embedding import coresets
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.noise import Normal
from kernelmean.tables import read_table


def sample(n, seed=0, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def embeddings():
    X, rng = sample(90), np.random.default_rng(1)
    weights = rng.uniform(0.0, 1.0, 90) * (rng.random(90) < 0.8)
    yield km.embed(X, Gaussian(1.0))
    yield km.embed(X, Laplacian(2.0), weights=weights)
    yield km.embed(X, Gaussian(1.0), noise=Normal(0.3), weights=weights / weights.sum())
    yield km.embed(X, Gaussian(1.0), noise=Normal.diagonal(rng.uniform(0.1, 0.5, size=(90, 2))))
    yield 2.0 * km.embed(X[:40], Gaussian(1.0)) + km.embed(X[40:], Gaussian(1.0))


@pytest.mark.parametrize("mu", list(embeddings()), ids=["plain", "weighted", "noisy", "noise per point", "sum"])
@pytest.mark.parametrize("method", ["thinning", "split"])
@pytest.mark.parametrize("reweight", [False, True])
def test_the_error_is_the_distance(mu, method, reweight):
    few = km.compress(mu, 13, method=method, reweight=reweight, rng=3)
    assert few.error_kind == "exact"
    assert few.error == pytest.approx((mu - few.embedding).norm(), rel=1e-6)
    assert len(few) == len(few.weights) == 13
    np.testing.assert_array_equal(few.points, mu.points[few.indices])
    assert few.weights.sum() == pytest.approx(mu.weights.sum(), rel=1e-12)
    assert few.weights.min() >= 0.0
    assert (mu.weights[few.indices] > 0).all()


def test_the_curve_is_that_of_the_halvings():
    mu = km.embed(sample(100), Gaussian(1.0))
    few = km.compress(mu, 10, method="split", rng=0)
    assert few.sizes.tolist() == [100, 50, 25, 13, 10]
    assert few.errors[0] == 0.0
    assert few.errors[-1] == few.error
    assert (np.diff(few.errors) > 0).all()


def test_swaps_and_new_weights_bring_it_nearer():
    mu = km.embed(sample(300), Gaussian(1.0))
    errors = [km.compress(mu, 20, rng=0, **options).error for options in ({"method": "split"}, {}, {"reweight": True})]
    assert errors[0] > 1.5 * errors[1] > 1.6 * errors[2]


def test_every_swap_is_the_best_one():
    whole = coresets.Atoms.sample(Gaussian(1.0), sample(30))
    rows, weights = np.array([3, 8, 8, 20]), np.array([0.2, 0.2, 0.5, 0.1])
    gram = whole.kernel(whole.points, whole.points)

    def error(chosen):
        change = np.full(30, 1 / 30)
        np.subtract.at(change, chosen, weights)
        return change @ gram @ change

    expected = rows.copy()
    for i in range(4):
        trials = [error(np.r_[expected[:i], z, expected[i + 1 :]]) for z in range(30)]
        expected[i] = int(np.argmin(trials))
    np.testing.assert_array_equal(coresets.swapped(whole, whole.values(whole), rows, weights), expected)


def test_new_weights_are_the_best_on_the_simplex():
    mu = km.embed(sample(60), Gaussian(1.0))
    few = km.compress(mu, 6, reweight=True, rng=0)
    gradient = few.embedding(few.points) - mu(few.points)
    used = few.weights > 0
    np.testing.assert_allclose(gradient[used], gradient[used][0], atol=1e-9)
    assert (gradient >= gradient[used][0] - 1e-9).all()


def slope(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


@pytest.mark.parametrize("data", ["normal", "wbdc"])
def test_errors_fall_like_one_over_m_and_those_of_random_points_like_one_over_root_m(data):
    if data == "normal":
        X, theta = sample(1000, seed=5), 1.0
    else:
        X = km.TableEncoder().fit_transform(np.asarray(read_table("wbdc", drop=["target"]))[:, :4])
        theta = km.median_bandwidth(X)
    mu, sizes = km.embed(X, Gaussian(theta)), np.array([8, 16, 32, 64])
    thinned = [np.mean([km.compress(mu, m, rng=r).error for r in range(2)]) for m in sizes]
    rng = np.random.default_rng(6)
    drawn = [
        np.mean([(mu - km.embed(X[rng.choice(len(X), m, replace=False)], mu.kernel)).norm() for _ in range(12)])
        for m in sizes
    ]
    assert slope(sizes, thinned) < -0.85
    assert -0.75 < slope(sizes, drawn) < -0.35
    assert thinned[-1] < 0.3 * drawn[-1]


def test_the_bound_holds_where_the_distance_is_not_computed():
    mu = km.embed(sample(9000, d=1), Gaussian(0.5))
    few = km.compress(mu, 40, exact_up_to=100)
    truth = (mu - few.embedding).norm()
    assert few.error_kind == "bound"
    assert "Compress++" in few.method
    assert truth <= few.error < 12 * truth
    assert truth < 0.02
    assert "at most" in repr(few)


def test_all_points_have_no_error_and_points_without_weight_are_never_chosen():
    X = sample(20)
    whole = km.compress(km.embed(X, Gaussian(1.0)), 20)
    assert (whole.error, sorted(whole.indices)) == (0.0, list(range(20)))
    weights = np.r_[0.0, np.full(19, 1 / 19)]
    assert 0 not in km.compress(km.embed(X, Gaussian(1.0), weights=weights), 19).indices
    one = km.compress(km.embed(X[:1], Gaussian(1.0)), 1)
    assert (one.error, one.indices.tolist(), one.weights.tolist()) == (0.0, [0], [1.0])


def test_the_same_seed_gives_the_same_points_whatever_the_threads():
    X = sample(700)
    found = [km.compress(km.embed(X, Gaussian(1.0), plan=km.Plan(threads=t)), 25, rng=4) for t in (1, 2)]
    np.testing.assert_array_equal(found[0].indices, found[1].indices)
    assert found[0].error == found[1].error
    assert not np.array_equal(found[0].indices, km.compress(km.embed(X, Gaussian(1.0)), 25, rng=5).indices)


def test_refusals_say_what_is_needed():
    X = sample(10)
    mu = km.embed(X, Gaussian(1.0))
    for m in (0, 11, 2.5):
        with pytest.raises(ValueError, match="m is"):
            km.compress(mu, m)
    with pytest.raises(ValueError, match="negative weights"):
        km.compress(mu - mu, 3)
    with pytest.raises(ValueError, match="different noises"):
        km.compress(mu + km.embed(X, Gaussian(1.0), noise=Normal(0.1)), 3)
    with pytest.raises(ValueError, match="method"):
        km.compress(mu, 3, method="herding")
    with pytest.raises(TypeError, match="not an Embedding"):
        km.compress(X, 3)
