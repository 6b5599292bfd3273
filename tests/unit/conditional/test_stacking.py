"""Stacked regressions: leave-one-out errors are those of fits without the row; every kind is found where it fits."""

from dataclasses import dataclass

import numpy as np
import pytest

from kernelmean.conditional.candidates import Curves, GaussianFeatures, PlainColumns, Quadratic, Radial, candidates
from kernelmean.conditional.ridge import STRENGTHS, ridges_of
from kernelmean.conditional.rows import DealtRows, ScaledColumns, Targets
from kernelmean.conditional.stacking import Stack, best_stack, kinds_of, learned_axes, r2_of


@dataclass
class Fit:
    """A stack, and its leave-one-out errors."""

    stack: Stack
    scaling: ScaledColumns
    residuals: np.ndarray
    r2: np.ndarray

    @property
    def weights(self):
        return self.stack.weights

    @property
    def names(self):
        return [*(ridge.features.name for ridge in self.stack.ridges), "constant"]

    def predict(self, Z):
        return self.stack.predict(self.scaling(Z))


def scaled(Z):
    varying = np.flatnonzero(np.ptp(Z, axis=0))
    return ScaledColumns(Z[:, varying].mean(axis=0), Z[:, varying].std(axis=0), varying)


def ridges(dealt, targets, kinds=None):
    kinds = kinds_of(dealt, targets) if kinds is None else kinds
    return ridges_of(kinds, [(dealt.rows, targets)], targets.mean(axis=0))


def ridge_of(features, rows, targets):
    return ridges_of([(features, None)], [(rows, targets)], targets.mean(axis=0))[0]


def stacked(Z, targets, rng=0):
    scaling = scaled(Z)
    dealt = DealtRows.of(scaling(Z), targets, np.random.default_rng(rng))
    every = Targets.of(targets)
    stack = best_stack(ridges(dealt, targets), dealt, every, np.ones(targets.shape[1]))
    residuals = stack.errors(dealt, every)
    return Fit(stack, scaling, residuals, r2_of(residuals, every))


def _data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng


def _refitted(ridge, features, targets, chosen, row):
    """The error of the row by its definition: the ridge normal equations with an intercept, without the row."""
    others = np.arange(len(features)) != row
    F, Y = features[others], targets[others]
    error = np.empty(targets.shape[1])
    for j, number in enumerate(chosen):
        ones = np.column_stack([np.ones(len(F)), F])
        penalty = STRENGTHS[number] * ridge.values.max() * np.diag([0.0] + [1.0] * F.shape[1])
        solution = np.linalg.solve(ones.T @ ones + penalty, ones.T @ Y[:, j])
        error[j] = targets[row, j] - np.r_[1.0, features[row]] @ solution
    return error


@pytest.mark.parametrize("name", ["linear", "degree 2", "additive", "Gaussian, width 1"])
def test_leave_one_out_errors_are_those_of_fits_without_the_row(name):
    Z, rng = _data(30, 3)
    targets = np.column_stack([np.sin(Z[:, 0]), Z[:, 1] * Z[:, 2]]) + 0.1 * rng.normal(size=(30, 2)) + 1e3
    candidate = next(each for each in candidates(Z, Z[:12]) if each.name == name)
    ridge = ridge_of(candidate, Z, targets)
    chosen = np.array([2, 4])
    errors = ridge.errors(ridge.scores(Z), Targets.of(targets), chosen)
    expected = [_refitted(ridge, candidate(Z) - candidate(Z).mean(axis=0), targets, chosen, i) for i in range(30)]
    np.testing.assert_allclose(errors, expected, rtol=0, atol=1e-10 * 1e3)


def test_the_errors_of_a_stack_are_the_weighted_errors_of_its_kinds_and_its_weights_minimize_them():
    Z, rng = _data(120, 2)
    targets = np.column_stack([Z[:, 0], np.sin(3 * Z[:, 1]), rng.normal(size=120)]) + 0.2 * rng.normal(size=(120, 3))
    fit = stacked(Z, targets)
    dealt = DealtRows.of(fit.scaling(Z), targets, np.random.default_rng(0))
    kinds = {}
    for ridge, chosen, weights in zip(fit.stack.ridges, fit.stack.chosen, fit.weights, strict=False):
        errors, kept = kinds.setdefault(ridge.features.name, (np.empty(targets.shape), weights))
        here = np.flatnonzero(dealt.folds == ridge.fold) if ridge.fold is not None else np.arange(120)
        errors[here] = ridge.errors(ridge.scores(dealt.rows[here]), Targets.of(targets).at(here), chosen)
        assert (kept == weights).all()  # those of a kind, for every fold
    kinds["constant"] = ((targets - targets.mean(axis=0)) * 120 / 119, fit.weights[-1])
    each, weights = (np.stack(part) for part in zip(*kinds.values(), strict=True))
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    assert (weights >= 0).all()
    np.testing.assert_allclose(fit.residuals, np.einsum("kq,knq->nq", weights, each), atol=1e-12)
    assert (fit.residuals**2).sum() <= min((errors**2).sum() for errors in each) * 1.002  # of all but a thousandth
    assert fit.r2[0] > 0.9
    assert fit.r2[1] > 0.7
    assert fit.r2[2] < 0.1


def test_errors_of_a_stack_are_those_of_refits_of_all_kinds_without_the_row():
    n = 24
    Z, rng = _data(n, 3)
    targets = (np.sin(Z[:, 0]) + 0.2 * rng.normal(size=n))[:, None]
    fit = stacked(Z, targets)
    dealt = DealtRows.of(fit.scaling(Z), targets, np.random.default_rng(0))
    for i in (0, 7, 23):
        rest = np.arange(n) != i
        prediction = fit.weights[-1, 0] * targets[rest].mean()
        for ridge, chosen, weight in zip(fit.stack.ridges, fit.stack.chosen, fit.weights[:, 0], strict=False):
            if ridge.fold not in (None, dealt.folds[i]):
                continue
            features = ridge.features(dealt.rows) - ridge.center
            error = _refitted(ridge, features, targets, chosen, i)
            prediction += weight * (targets[i, 0] - error[0])
        assert abs(targets[i, 0] - prediction - fit.residuals[i, 0]) < 1e-9


def test_predictions_without_a_row_are_close_to_those_of_a_fit_without_it():
    Z, rng = _data(200, 2)
    targets = np.sin(2 * Z[:, :1]) + 0.1 * rng.normal(size=(200, 1))
    fit = stacked(Z[:150], targets[:150])
    held = ((targets[150:] - fit.predict(Z[150:])) ** 2).mean()
    assert held < 1.6 * (fit.residuals**2).mean()


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda Z: Z @ [1.0, 2, 0, 0, 1, 0], "linear"),
        (lambda Z: Z[:, 0] * Z[:, 1], "degree 2"),
        (lambda Z: np.sin(6 * Z[:, 0]), "additive, learned"),
        (lambda Z: np.cos(2 * Z @ [0.6, 0.8, 0, 0, 0, 0]), "learned axes"),
    ],
)
def test_every_kind_is_found_where_it_fits(function, name):
    Z, rng = _data(400, 6)
    fit = stacked(Z, (function(Z) + 0.1 * rng.normal(size=400))[:, None])
    assert fit.names[np.argmax(fit.weights[:, 0])] == name
    assert fit.r2[0] > 0.4


def test_learned_axes_and_curves_point_where_the_target_changes():
    Z, _ = _data(300, 4)
    axes = learned_axes(Z, np.sin(Z[:, :1])).axes
    assert np.abs(axes[0]).max() > 5 * np.abs(axes[1:]).max()
    targets = np.sin(4 * Z[:, :1])
    learned = [each for each, _ in kinds_of(DealtRows.of(Z, targets, np.random.default_rng(0)), targets)]
    for curves in (each for each in learned if each.name == "additive, learned"):
        assert curves.factors[0] > 3 * curves.factors[1:].max()


def test_gradients_are_those_of_finite_differences():
    Z, rng = _data(6, 3)
    kind = Radial(GaussianFeatures.of(1.5, rng.normal(size=(5, 3))), rng.normal(size=(3, 3)), "test")
    coefficients = rng.normal(size=(kind.landmarks.points.shape[0], 2))
    step = 1e-5 * np.eye(3)
    slopes = np.stack([(kind(Z + s) - kind(Z - s)) @ coefficients / 2e-5 for s in step], axis=2)
    expected = np.einsum("nqd,nqe->de", slopes, slopes)
    np.testing.assert_allclose(kind.moment(Z, coefficients), expected, rtol=1e-7)


def test_feature_maps_are_what_they_say():
    Z, _ = _data(7, 2)
    assert np.array_equal(PlainColumns()(Z), Z)
    assert Quadratic()(Z).shape == (7, 5)
    curves = Curves(GaussianFeatures.of(1.0, np.linspace(-2, 2, 4)[:, None]), np.array([1.0, 0.5]), "test")
    gram = curves(Z) @ curves(Z).T
    one = curves.landmarks(Z[:, :1]) @ curves.landmarks(Z[:, :1]).T
    other = curves.landmarks(Z[:, 1:]) @ curves.landmarks(Z[:, 1:]).T
    np.testing.assert_allclose(gram, one + 0.25 * other, atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 12])
def test_few_rows_have_finite_answers(n):
    Z, rng = _data(n, 2)
    fit = stacked(Z, rng.normal(size=(n, 2)))
    assert np.isfinite(fit.residuals).all()
    assert np.isfinite(fit.predict(Z)).all()


@pytest.mark.parametrize("Z", [np.ones((20, 2)), np.column_stack([np.ones(20), np.arange(20.0)]), np.zeros((20, 1))])
def test_constant_columns_are_left_out(Z):
    fit = stacked(Z, np.arange(20.0)[:, None])
    assert np.isfinite(fit.residuals).all()
    assert (fit.r2[0] > 0.9) == (np.ptp(Z) > 0)


def test_units_offsets_and_constant_targets_do_not_matter():
    Z, rng = _data(60, 2)
    targets = np.column_stack([np.sin(Z[:, 0]) + 0.1 * rng.normal(size=60), np.full(60, 3.0)])
    fit = stacked(Z, targets)
    other = stacked(Z * [1e4, 1e-4] + [1e6, 0.0], targets)
    np.testing.assert_allclose(fit.residuals, other.residuals, atol=1e-3)
    assert not fit.residuals[:, 1].any()
    assert fit.r2[1] == 0.0


def test_all_targets_can_share_strengths_and_weights():
    Z, rng = _data(80, 2)
    targets = np.column_stack([np.sin(Z[:, 0]), rng.normal(size=80)])
    dealt = DealtRows.of(Z, targets, rng)
    stack = best_stack(ridges(dealt, targets), dealt, Targets.of(targets), np.array([1.0, 0.0]))
    assert (stack.weights == stack.weights[:, :1]).all()
    assert (stack.chosen == stack.chosen[:, :1]).all()
    kinds = [(ridge.features, ridge.fold) for ridge in stack.ridges]
    alone = best_stack(ridges(dealt, targets[:, :1], kinds), dealt, Targets.of(targets[:, :1]), np.ones(1))
    np.testing.assert_allclose(alone.weights, stack.weights[:, :1], atol=0.01)


def test_a_smoother_gives_the_predictions():
    Z, rng = _data(60, 2)
    targets = np.sin(Z[:, :1]) + 0.1 * rng.normal(size=(60, 1))
    dealt = DealtRows.of(Z, targets, rng)
    stack = best_stack(ridges(dealt, targets), dealt, Targets.of(targets), np.ones(1))
    new = 2.0 * rng.normal(size=(9, 2))
    weights = stack.smoother(new, dealt, np.full(60, 1.0 / 60))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    within = np.clip(new, Z.min(axis=0), Z.max(axis=0))
    assert (within != new).any()
    np.testing.assert_allclose(weights @ targets, stack.predict(within), atol=1e-8)


def test_sources_are_left_out_instead_of_targets():
    Z, rng = _data(25, 2)
    targets, sources = rng.normal(size=(2, 25, 2))
    features = Quadratic()
    ridge = ridge_of(features, Z, sources)
    chosen, mean = np.array([1, 3]), sources.mean(axis=0)
    fitted = targets - ridge.errors(ridge.scores(Z), Targets(targets, sources, mean, 25), chosen)
    alone = sources - ridge.errors(ridge.scores(Z), Targets.of(sources), chosen)
    np.testing.assert_allclose(fitted, alone, atol=1e-12)


def test_nothing_that_was_passed_is_changed_and_seeds_are_honoured():
    Z, rng = _data(700, 2)
    targets = rng.normal(size=(700, 1))
    before = Z.copy(), targets.copy()
    first, second, third = (stacked(Z, targets, rng=seed).residuals for seed in (1, 1, 2))
    assert np.array_equal(before[0], Z)
    assert np.array_equal(before[1], targets)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_the_order_of_rows_does_not_matter():
    Z, rng = _data(200, 3)
    Z[:, 2] = Z[:, 2] > 0
    Z[100:] = Z[:100]  # each row twice, with other targets
    targets = np.sin(Z[:, :1]) + 0.3 * rng.normal(size=(200, 1))
    order = rng.permutation(200)
    first, second = stacked(Z, targets).residuals, stacked(Z[order], targets[order]).residuals
    np.testing.assert_allclose(first[order], second, atol=1e-4)


def test_rows_beyond_a_block_are_added_up():
    Z, rng = _data(5000, 2)
    targets = np.sin(Z[:, :1]) + 0.1 * rng.normal(size=(5000, 1))
    candidate = candidates(Z[:100], Z[:50])[-1]
    features = candidate(Z) - candidate(Z).mean(axis=0)
    blocks = ((Z[start : start + 700], targets[start : start + 700]) for start in range(0, 5000, 700))
    (ridge,) = ridges_of([(candidate, None)], blocks, targets.mean(axis=0))
    np.testing.assert_allclose((ridge.axes * ridge.values) @ ridge.axes.T, features.T @ features, atol=1e-8)
