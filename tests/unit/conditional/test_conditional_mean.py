"""Conditional means: leave-one-out by its definition, the exact embedding approached, quantiles, samples, files."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernelmean as km
from kernelmean.conditional.outcomes import noisy_quantiles, rising_steps
from kernelmean.kernels import Gaussian, Laplacian, Polynomial
from kernelmean.noise import Dirac, Normal


def _fan(n=120, seed=0):
    """One column, a mean and a spread that depend on it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 1))
    return X, np.sin(X[:, 0]) + (0.2 + 0.2 * np.abs(X[:, 0])) * rng.normal(size=n)


FAN = km.ConditionalMean().fit(*_fan())


@parametrize_with_checks([km.ConditionalMean(kernel_x=Gaussian(1.0), about_mean=False)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("about_mean", [False, True])
@pytest.mark.parametrize("estimator", ["kme", "mkme"])
def test_the_leave_one_out_score_is_that_of_fits_without_the_row(estimator, about_mean):
    """With one kernel of x, all of it: kernel ridge regression without row i by its normal equations."""
    X, y = _fan(20)
    kernel = Gaussian(1.0)
    model = km.ConditionalMean(Gaussian(0.3), kernel_x=kernel, estimator=estimator, about_mean=about_mean)
    model.fit(X, y)
    points = model.points_
    assert np.allclose(points[:, 0], y) != about_mean
    (ridge,) = model.stack_.ridges
    number = int(model.stack_.chosen[0, 0])
    penalty = 1.0 / ridge.shrunk(np.array([number]))[0, 0] - ridge.values[0]
    features = ridge.features(X) - ridge.center
    share = model.stack_.weights[0, 0]
    found = []
    for i in range(20):
        rest = np.arange(20) != i
        centre = features[rest].mean(axis=0)
        F = features[rest] - centre
        inverse = np.linalg.inv(F.T @ F + penalty * np.eye(F.shape[1]))
        weights = share * (features[i] - centre) @ inverse @ F.T + 1.0 / 19
        mu = km.embed(points[rest], model.kernel_, weights=weights, noise=model.noise_)
        point = km.embed(points[[i]], model.kernel_)
        found.append((mu - point).norm() ** 2)
    assert abs(np.mean(found) - model.loocv_) < 1e-9 * max(1.0, np.abs(ridge.moments).max())
    assert (model.noise_ == Dirac()) == (estimator == "kme")


def test_the_chosen_strength_has_the_smallest_score():
    X, y = _fan(40)
    model = km.ConditionalMean(Gaussian(0.7), kernel_x=Gaussian(1.0)).fit(X, y)
    assert 0 < model.r2_ < 1
    assert set(model.kinds_) == {"kernel", "constant"}
    assert model.loocv_ < km.ConditionalMean(Gaussian(0.7), kernel_x=Gaussian(1e-3)).fit(X, y).loocv_


def _loss(model, mean, deviation):
    """The mean squared distance from the exact embedding, over some x."""
    total = 0.0
    for x in np.linspace(-1.5, 1.5, 7):
        truth = km.embed([[mean(x)]], model.kernel_, noise=Normal(float(deviation(x) ** 2)))
        total += (model.embedding([x]) - truth).norm() ** 2 / 7
    return total


def test_the_embedding_is_near_the_exact_one():
    assert _loss(km.ConditionalMean().fit(*_fan(600)), np.sin, lambda x: 0.2 + 0.2 * abs(x)) < 0.01


def test_noise_helps_few_rows():
    losses = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2, 2, size=(15, 1))
        y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=15)
        models = [km.ConditionalMean(estimator=name).fit(X, y) for name in ("kme", "mkme")]
        losses.append([_loss(model, lambda x: np.sin(2 * x), lambda x: 0.3) for model in models])
    plain, noisy = np.mean(losses, axis=0)
    assert noisy < plain


def test_weights_sum_to_one_and_give_means_of_functions():
    new = np.linspace(-3, 3, 7)[:, None]
    weights = FAN.weights(new)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    mu = FAN.embedding(new[3])
    np.testing.assert_allclose(mu.weights, weights[3], atol=1e-12)
    np.testing.assert_allclose(FAN.predict(new, lambda y: y), FAN.predict(new), atol=0.05)
    np.testing.assert_allclose(FAN.predict(new, lambda y: 0 * y + 2.0), 2.0)
    squares = FAN.predict(new[2:5], lambda y: np.column_stack([y, y**2]))
    assert squares.shape == (3, 2)
    assert (squares[:, 1] > squares[:, 0] ** 2).all()
    assert np.abs(FAN.predict(new[2:5]) - np.sin(new[2:5, 0])).max() < 0.25


@pytest.mark.parametrize("estimator", ["kme", "mkme"])
@pytest.mark.parametrize("columns", [1, 2])
def test_means_of_functions_are_those_of_what_is_sampled(columns, estimator):
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, size=(60, 1))
    y = np.sin(X) + (0.1 + 0.2 * np.abs(X)) * rng.normal(size=(60, columns))
    model = km.ConditionalMean(estimator=estimator, about_mean=estimator == "kme").fit(X, y if columns > 1 else y[:, 0])
    assert (model.noise_ == Dirac()) == (estimator == "kme")
    new = np.linspace(-3, 3, 9)[:, None]
    drawn = model.sample(new, 4000, random_state=0).reshape(9, 4000, columns)

    def f(outcomes):
        first = outcomes.reshape(-1, columns)[:, 0]
        return np.column_stack([first > 0.5, first, first**2])

    share, mean, square = found = model.predict(new, f).T
    assert ((share >= 0) & (share <= 1)).all()
    assert (square > mean**2).all()
    expected = [f(each).mean(axis=0) for each in drawn]
    np.testing.assert_allclose(found.T, expected, atol=0.05)


def test_weights_are_those_of_points_about_the_predicted_mean():
    new = np.array([[-1.0], [1.0]])
    for row, weights, mean in zip(new, FAN.weights(new), FAN.predict(new), strict=True):
        mu = FAN.embedding(row)
        np.testing.assert_allclose(mu.points, mean + FAN.points_)
        np.testing.assert_allclose(mu.weights, weights, atol=1e-12)


def test_functions_see_only_outcomes_that_may_occur():
    X, y = _fan(60)
    model = km.ConditionalMean(about_mean=False).fit(X, np.where(X[:, 0] > 0.0, np.abs(y), np.abs(y) + 1.0))
    seen = []
    model.predict([[1.9]], lambda outcomes: (seen.extend(outcomes), np.log(outcomes))[1])
    assert set(seen) <= set(model.points_[model.probabilities([[1.9]])[0] > 0.0, 0])


def test_quantiles_and_intervals_hold_the_outcomes():
    X, y = _fan(800, seed=1)
    ends = FAN.interval(X, 0.9)
    assert ends.shape == (800, 2)
    assert 0.84 < np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) < 0.95
    quantiles = FAN.quantiles(X, [0.1, 0.5, 0.9])
    assert (np.diff(quantiles, axis=1) >= 0).all()
    wide, narrow = FAN.interval([[2.0], [0.0]])
    assert np.ptp(wide) > np.ptp(narrow)


def test_quantiles_of_noisy_outcomes_are_those_of_the_mixture():
    values, weights = np.array([0.0, 1.0, 5.0]), np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    found = noisy_quantiles(values, weights, 0.5, np.array([0.1, 0.9]))
    levels = [[w @ norm.cdf(q, values, 0.5) for q in row] for w, row in zip(weights, found, strict=True)]
    np.testing.assert_allclose(levels, [[0.1, 0.9], [0.1, 0.9]], atol=1e-10)
    model = km.ConditionalMean(estimator="mmkme").fit(*_fan(30))
    if model.noise_ != Dirac():
        assert np.isfinite(model.quantiles([[0.0]], [0.5])).all()


def test_weights_become_probabilities():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(5, 30))
    weights += (1.0 - weights.sum(axis=1, keepdims=True)) / 30
    found = rising_steps(weights)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    given = rng.dirichlet(np.ones(30), size=3)
    np.testing.assert_allclose(rising_steps(given), given, atol=1e-12)


def test_probabilities_of_several_outcomes_are_the_nearest_ones():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2))
    Y = np.column_stack([X[:, 0], X[:, 1] ** 2]) + 0.2 * rng.normal(size=(150, 2))
    model = km.ConditionalMean(about_mean=False).fit(X, Y)
    weights, found = model.weights(X[:5]), model.probabilities(X[:5])
    assert (weights < 0).any()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for other in rng.dirichlet(np.ones(150), size=50):
        assert (((other - weights) ** 2).sum(axis=1) >= ((found - weights) ** 2).sum(axis=1)).all()


def test_samples_and_densities_follow_the_row():
    drawn = FAN.sample([[-1.5], [1.5]], 400, random_state=0)
    assert drawn.shape == (2, 400)
    assert abs(drawn[0].mean() + 1.0) < 0.3
    assert abs(drawn[1].mean() - 1.0) < 0.3
    assert np.array_equal(drawn, FAN.sample([[-1.5], [1.5]], 400, random_state=0))
    density = FAN.density([1.5], n_components=4)
    assert density.score_samples([[1.0]])[0] > density.score_samples([[-1.0]])[0] + 1.0


def test_outcomes_of_several_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2))
    Y = np.column_stack([X[:, 0], X[:, 1] ** 2]) + 0.2 * rng.normal(size=(150, 2))
    model = km.ConditionalMean(estimator="mmkme").fit(X, Y)
    assert model.predict(X).shape == (150, 2)
    assert (model.r2_mean_ > 0.8).all()
    assert model.quantiles(X[:3], [0.1, 0.9]).shape == (3, 2, 2)
    assert model.sample(X[:3], 5, random_state=0).shape == (3, 5, 2)
    assert model.embedding(X[0]).shape == (150, 2)
    np.testing.assert_allclose(model.probabilities(X[:4]).sum(axis=1), 1.0)


def test_noise_of_x_widens_the_kernel_of_x():
    X, y = _fan(40)
    model = km.ConditionalMean(kernel_x=Laplacian(1.0), noise_x=Normal(0.1)).fit(X, y)
    assert not np.allclose(model.predict(X), km.ConditionalMean(kernel_x=Laplacian(1.0)).fit(X, y).predict(X))


def test_mixed_columns_by_an_encoder():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dose": rng.uniform(size=90), "arm": rng.choice(["a", "b"], size=90)})
    y = (table["arm"] == "a") * 2.0 + table["dose"] + 0.1 * rng.normal(size=90)
    model = make_pipeline(km.TableEncoder(), km.ConditionalMean()).fit(table, y)
    assert model.score(table, y) > 0.95


@pytest.mark.parametrize("options", [{}, {"kernel_x": Gaussian(1.0), "noise_x": Normal(0.1), "estimator": "mkme"}])
def test_files_and_pickles_keep_the_fit(options, tmp_path):
    X, y = _fan(40)
    X = np.hstack([X, X**2])
    model = km.ConditionalMean(**options).fit(X, y)
    km.save(model, tmp_path / "model.npz")
    for other in (km.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict(X), model.predict(X))
        np.testing.assert_allclose(other.weights(X), model.weights(X), atol=1e-12)
        assert other.loocv_ == model.loocv_
        assert other.kinds_ == model.kinds_


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_few_rows(n):
    X, y = _fan(n)
    model = km.ConditionalMean(estimator="mkme").fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.loocv_)
    assert "too short" in model.notes_[-1]


def test_a_constant_row_predictor_and_offsets():
    X, y = _fan(50)
    assert np.allclose(km.ConditionalMean().fit(np.ones((50, 1)), y).predict([[1.0]]), y.mean())
    model = km.ConditionalMean().fit(X + 1e6, y + 1e6)
    np.testing.assert_allclose(model.predict(X + 1e6) - 1e6, km.ConditionalMean().fit(X, y).predict(X), atol=1e-3)


def test_order_and_units_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(110, 2))
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]]) + 0.3 * rng.normal(size=(110, 2))
    expected = km.ConditionalMean().fit(X, Y).quantiles(X[:5], [0.1, 0.9])
    order = rng.permutation(110)
    for factor in (1e-9, 1e9):
        model = km.ConditionalMean().fit(factor * X[order], factor * Y[order])
        np.testing.assert_allclose(model.quantiles(factor * X[:5], [0.1, 0.9]) / factor, expected, atol=1e-4)


def test_nothing_is_said_by_a_constant_row_predictor():
    y = _fan(10)[1]
    for estimator in ("kme", "mkme", "mmkme"):
        assert km.ConditionalMean(estimator=estimator).fit(np.ones((10, 1)), y).r2_ == pytest.approx(0.0, abs=1e-9)


def test_far_from_the_rows_weights_are_those_at_the_limit():
    """The mean goes on, the spread does not: weights along a line would leave an interval without any width."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2, 2, size=(300, 1))
    model = km.ConditionalMean().fit(X, X[:, 0] + (0.5 + 0.2 * X[:, 0]) * rng.normal(size=300))
    assert model.kinds_["linear"] > 0.5
    near, far = np.array([[X.max()], [1e6]])
    np.testing.assert_allclose(model.weights([far]), model.weights([near]))
    np.testing.assert_allclose(np.diff(model.interval([far])), np.diff(model.interval([near])), rtol=1e-6)
    assert model.predict([far])[0] > 1e5


def test_a_constant_column_of_outcomes_is_predicted():
    X, y = _fan(40)
    model = km.ConditionalMean(estimator="mmkme").fit(X, np.column_stack([y, np.full(40, 7.0)]))
    np.testing.assert_allclose(model.predict(X)[:, 1], 7.0)
    assert np.isfinite(model.quantiles(X, [0.5])).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: km.ConditionalMean(estimator="s-kmse").fit(X, y), "write one of 'kme', 'mkme', 'mmkme'"),
        (lambda X, y: km.ConditionalMean(about_mean="yes").fit(X, y), "write 'loocv', True or False"),
        (lambda X, y: km.ConditionalMean(Polynomial(2), about_mean=True).fit(X, y), "no kernel of differences"),
        (lambda X, y: km.ConditionalMean(noise_x=Normal(1.0)).fit(X, y), "pass kernel_x="),
        (lambda X, y: km.ConditionalMean(kernel_x="gaussian").fit(X, y), "pass a kernel such as"),
        (lambda X, y: km.ConditionalMean().fit(X, y[:-1]), r"X \(30\) and y \(29\) have different numbers of rows"),
        (lambda X, y: km.ConditionalMean().fit(X, np.ones(len(X))), "y"),
        (lambda X, y: km.ConditionalMean().fit(X, np.where(y > 0, np.nan, y)), "y"),
        (lambda X, y: km.ConditionalMean().fit(X, np.array(["a"] * len(X))), "y"),
        (lambda X, y: FAN.embedding(X), "an embedding is that of one"),
        (lambda X, y: FAN.embedding(0.0), "2D"),
        (lambda X, y: FAN.sample(X, 0), "n_samples is 0, an integer ≥ 1"),
        (lambda X, y: FAN.quantiles(X, [0.0, 0.5]), "between 0 and 1"),
        (lambda X, y: FAN.quantiles(X, []), "levels is empty"),
        (lambda X, y: FAN.quantiles(X, ["a"]), "numbers are needed"),
        (lambda X, y: FAN.interval(X, 95), "between 0 and 1"),
        (lambda X, y: FAN.predict(X, lambda y: 1.0), "a row for each outcome"),
        (lambda X, y: FAN.predict(X, lambda y: y / 0.0), "finite"),
        (lambda X, y: FAN.predict(np.hstack([X, X])), "features"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_input_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(*_fan(30))


def test_what_moves_with_x_is_told_from_what_does_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(200, 1))
    moving = 3.0 * X[:, 0] + 0.2 * rng.normal(size=200)
    two = np.where(rng.uniform(size=200) < 0.5 + 0.2 * X[:, 0], 2.0, -2.0)
    model = km.ConditionalMean().fit(X, moving)
    assert model.about_mean_
    np.testing.assert_allclose(model.embedding([1.0]).points - model.points_, model.predict([[1.0]])[0])
    assert not km.ConditionalMean().fit(X, two).about_mean_
    assert set(np.unique(km.ConditionalMean().fit(X, two).sample(X, random_state=0))) == {-2.0, 2.0}
    assert not km.ConditionalMean(Polynomial(2)).fit(X, moving).about_mean_
    one, other = (km.ConditionalMean(about_mean=about).fit(X, moving).loocv_ for about in (True, False))
    assert model.loocv_ == min(one, other)
    drawn = model.sample([[1.0]], 300, random_state=0)
    assert abs(drawn.mean() - 3.0) < 0.1
    assert abs(drawn.std() - 0.2) < 0.05
