"""Conditional means of many rows: the same numbers wherever the rows are, exact weights of units, clear errors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.conditional import rows as fit_rows
from kernelmean.conditional import units as fit_units
from kernelmean.conditional.ridge import STRENGTHS
from kernelmean.kernels import Gaussian
from kernelmean.noise import Dirac
from kernelmean.tables import limits


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rows are those beyond 300: 120 are kept, in 40 units, and read 70 at a time."""
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 300)
    monkeypatch.setattr(fit_rows, "_KEPT", 120)
    monkeypatch.setattr(fit_rows, "_BLOCK", 70)
    monkeypatch.setattr(fit_units, "_MOST", 40)


def fan(n: int = 500, d: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + (0.2 + 0.3 * np.abs(X[:, -1])) * rng.normal(size=n)


def cut(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


class Again:
    """Batches that are made every time they are read."""

    def __init__(self, rows: np.ndarray, size: int) -> None:
        self.rows, self.size = rows, size

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(cut(self.rows, self.size))


def held(kind: str, X: np.ndarray, y: np.ndarray, folder: Path) -> tuple[Any, Any]:
    """The same rows in another place."""
    names, column = [f"c{j}" for j in range(X.shape[1])], y[:, None]
    if kind == "one batch":
        return [X], [column]
    if kind == "batches of other sizes":
        return cut(X, 37), cut(column, 101)
    if kind == "iterators":
        return iter(cut(X, 64)), iter(cut(column, 64))
    if kind == "made again":
        return Again(X, 11), Again(column, 500)
    if kind == "frames":
        frame = pd.DataFrame(X, columns=names)
        return [frame[:50], frame[50:]], [pd.DataFrame({"y": y})]
    if kind == "an array beside batches":
        return cut(X, 90), y
    pd.DataFrame(X, columns=names).assign(y=y).to_csv(folder / "rows.csv", index=False, float_format="%.17g")
    return km.read(folder / "rows.csv", drop=["y"]), km.read(folder / "rows.csv", columns=["y"])


PLACES = [
    "one batch",
    "batches of other sizes",
    "iterators",
    "made again",
    "frames",
    "an array beside batches",
    "a file",
]


@pytest.mark.usefixtures("few")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("n", [90, 500])
@pytest.mark.parametrize("kind", PLACES)
def test_the_numbers_depend_on_the_rows_and_not_on_what_holds_them(kind: str, n: int, tmp_path: Path) -> None:
    X, y = fan(n)
    expected = km.ConditionalMean().fit(X, y)
    model = km.ConditionalMean().fit(*held(kind, X, y, tmp_path))
    assert len(expected.points_) == (40 if n == 500 else 90)
    for call in (
        lambda each: each.predict(X[:5]),
        lambda each: each.predict(X[:5], lambda values: values**2),
        lambda each: each.weights(X[:5]),
        lambda each: each.quantiles(X[:5], [0.1, 0.9]),
        lambda each: each.sample(X[:5], 3, random_state=0),
        lambda each: each.points_,
        lambda each: [each.loocv_, each.r2_, *each.r2_mean_, *each.kinds_.values()],
    ):
        np.testing.assert_array_equal(call(model), call(expected))
    assert model.notes_ == expected.notes_
    assert model.n_features_in_ == 2


def by_definition(model: km.ConditionalMean, X: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The weights of all rows in memory: w(x) of every kind by its normal equations, as the class defines it."""
    rows, at, n = model.scaling_(X), model.scaling_(new), len(X)
    found = np.full((len(new), n), model.stack_.weights[-1, 0] / n)
    low, high = rows.min(axis=0), rows.max(axis=0)
    for ridge, chosen, weights in zip(model.stack_.ridges, model.stack_.chosen, model.stack_.weights, strict=False):
        features = ridge.features(rows)
        center = features.mean(axis=0)
        gram = (features - center).T @ (features - center)
        penalty = STRENGTHS[chosen[0]] * np.linalg.eigvalsh(gram)[-1]
        slopes = np.linalg.solve(gram + penalty * np.eye(len(gram)), (features - center).T)
        share = 1.0 if ridge.fold is None else 0.5
        own = (ridge.features(np.clip(at, low, high)) - center) @ slopes + 1.0 / n
        found += share * weights[0] * own
    return found


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("about_mean", [False, True])
def test_the_weight_of_a_unit_is_the_sum_of_the_weights_of_its_rows(about_mean: bool) -> None:
    X, y = fan()
    model = km.ConditionalMean(about_mean=about_mean).fit(X, y)
    new = np.array([[0.0, 0.0], [1.0, -1.0], [9.0, 0.0]])
    weights = by_definition(model, X, new)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    values = _left(model, X, y) if about_mean else y
    cells = _cells(model, values)
    expected = np.stack([np.bincount(cells, each, len(model.points_)) for each in weights])
    np.testing.assert_allclose(model.weights(new), expected, atol=1e-10)
    sizes = np.bincount(cells, minlength=len(model.points_))
    means = np.bincount(cells, values) / np.maximum(sizes, 1)
    np.testing.assert_allclose(model.points_[sizes > 0, 0], means[sizes > 0], atol=1e-10)
    np.testing.assert_array_equal(model.units_.sizes, sizes)


def _left(model: km.ConditionalMean, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What the predicted mean leaves of every row without it, by refits of the mean's regressions: their definition."""
    rows, n, stack = model.scaling_(X), len(X), model.mean_stack_
    folds = fit_rows.hashes_of(0, n, _seed(model)) % np.uint64(2)
    found = stack.weights[-1, 0] * (y - y.mean()) * n / (n - 1)
    for ridge, chosen, weights in zip(stack.ridges, stack.chosen, stack.weights, strict=False):
        features = ridge.features(rows)
        centered = features - features.mean(axis=0)
        penalty = STRENGTHS[chosen[0]] * np.linalg.eigvalsh(centered.T @ centered)[-1]
        for i in np.flatnonzero(weights[0] * ((ridge.fold is None) | (folds == ridge.fold))):
            rest = np.arange(n) != i
            center = features[rest].mean(axis=0)
            F = features[rest] - center
            slope = np.linalg.solve(F.T @ F + penalty * np.eye(F.shape[1]), F.T @ (y[rest] - y[rest].mean()))
            found[i] += weights[0] * (y[i] - y[rest].mean() - (features[i] - center) @ slope)
    return found


def _seed(model: km.ConditionalMean) -> int:
    rng = np.random.default_rng(np.random.RandomState(model.random_state).randint(2**31, size=4))
    return int(rng.spawn(1)[0].integers(2**31))


def _cells(model: km.ConditionalMean, values: np.ndarray) -> np.ndarray:
    """The nearest of the first 40 different outcomes in the order of the draw."""
    order = np.argsort(fit_rows.hashes_of(0, len(values), _seed(model)), kind="stable")[:120]
    centers = values[order][:40]
    return np.abs(values[:, None] - centers).argmin(axis=1)


@pytest.mark.usefixtures("few")
def test_predicted_means_are_those_of_all_rows() -> None:
    X, y = fan()
    model = km.ConditionalMean().fit(X, y)
    stack = model.mean_stack_
    expected = by_definition_of_mean(model, X, y)
    np.testing.assert_allclose(model.predict(X[:20]), expected, atol=1e-9)
    assert stack.mean[0] == pytest.approx(y.mean(), abs=1e-12)


def by_definition_of_mean(model: km.ConditionalMean, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    rows, stack = model.scaling_(X), model.mean_stack_
    found = np.full(20, y.mean())
    for ridge, chosen, weights in zip(stack.ridges, stack.chosen, stack.weights, strict=False):
        features = ridge.features(rows)
        center = features.mean(axis=0)
        F = features - center
        penalty = STRENGTHS[chosen[0]] * np.linalg.eigvalsh(F.T @ F)[-1]
        slope = np.linalg.solve(F.T @ F + penalty * np.eye(F.shape[1]), F.T @ (y - y.mean()))
        found += (1.0 if ridge.fold is None else 0.5) * weights[0] * (F[:20] @ slope)
    return found


def test_if_every_row_is_a_unit_and_kept_the_score_is_that_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel of x, so that nothing but the landmarks depends on the order of the draw."""
    X, y = fan(80, 1)
    options = {"kernel_y": Gaussian(0.5), "kernel_x": Gaussian(1.0), "about_mean": False}
    expected = km.ConditionalMean(**options).fit(X, y)
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 79)
    monkeypatch.setattr(fit_rows, "_KEPT", 79)
    monkeypatch.setattr(fit_rows, "_BLOCK", 33)
    model = km.ConditionalMean(**options).fit(X, y)
    assert len(model.points_) == 79  # one row joins its neighbor
    assert model.loocv_ == pytest.approx(expected.loocv_, rel=0.02)
    np.testing.assert_allclose(model.quantiles(X, [0.2, 0.8]), expected.quantiles(X, [0.2, 0.8]), atol=0.2)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=0.05)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("estimator", ["kme", "mmkme"])
def test_leave_one_out_takes_a_row_out_of_its_unit(estimator: str) -> None:
    """By refits: the row is left out, its unit keeps its place."""
    X, y = fan()
    model = km.ConditionalMean(Gaussian(0.7), estimator=estimator, about_mean=False).fit(X, y)
    order = np.argsort(fit_rows.hashes_of(0, 500, _seed(model)), kind="stable")[:120]
    folds = fit_rows.hashes_of(0, 500, _seed(model)) % np.uint64(2)
    rows, cells, errors = model.scaling_(X), _cells(model, y), []
    for i in order[:10]:
        rest = np.arange(500) != i
        weights = np.full(499, model.stack_.weights[-1, 0] / 499)
        for ridge, chosen, own in zip(model.stack_.ridges, model.stack_.chosen, model.stack_.weights, strict=False):
            if ridge.fold not in (None, folds[i]):
                continue
            features = ridge.features(rows)
            everything = features - features.mean(axis=0)
            penalty = STRENGTHS[chosen[0]] * np.linalg.eigvalsh(everything.T @ everything)[-1]
            center = features[rest].mean(axis=0)
            F = features[rest] - center
            row = (features[i] - center) @ np.linalg.solve(F.T @ F + penalty * np.eye(F.shape[1]), F.T)
            weights = weights + own[0] * (row + 1.0 / 499)
        mu = km.embed(model.points_[cells[rest]], model.kernel_, weights=weights, noise=model.noise_)
        errors.append((mu - km.embed(y[[i], None], model.kernel_)).norm() ** 2)
    found = _scores(model, X, y, order[:10])
    np.testing.assert_allclose(found, errors, atol=1e-6)
    assert (model.noise_ == Dirac()) or estimator == "mmkme"


def _scores(model: km.ConditionalMean, X: np.ndarray, y: np.ndarray, some: np.ndarray) -> list[float]:
    """The scores of some kept rows as the model computes them."""
    from kernelmean.conditional.outcomes import OutcomeFeatures, landmarks_of

    dealt = model.dealt_
    order = np.argsort(fit_rows.hashes_of(0, len(X), _seed(model)), kind="stable")[:120]
    values = y[order][:, None]
    outcomes = OutcomeFeatures(values, landmarks_of(model.kernel_, values, dealt), model.units_, model.stack_.ridges)
    targets, _ = outcomes.with_noise(model.noise_)
    errors = model.stack_.errors(dealt, targets)
    outside = model.kernel_.diag(values) - (targets.values**2).sum(axis=1)
    scores = (errors**2).sum(axis=1) + outside
    assert scores.mean() == pytest.approx(model.loocv_)
    places = {int(number): place for place, number in enumerate(order)}
    return [float(scores[places[int(i)]]) for i in some]


@pytest.mark.usefixtures("few")
def test_several_outcomes_and_categories() -> None:
    X, y = fan()
    two = km.ConditionalMean().fit(cut(X, 100), cut(np.column_stack([y, X[:, 1] + y]), 90))
    assert two.predict(X[:3]).shape == (3, 2)
    assert two.quantiles(X[:3], [0.1, 0.5, 0.9]).shape == (3, 3, 2)
    assert two.sample(X[:3], 4, random_state=0).shape == (3, 4, 2)
    outcomes = np.column_stack([y, X[:, 1] + y])
    drawn = km.ConditionalMean(about_mean=False).fit(X, outcomes).sample(X[:3], 50, random_state=0).reshape(-1, 2)
    assert (drawn[:, None] == outcomes).all(axis=2).any(axis=1).all()  # not means of units
    np.testing.assert_allclose(two.probabilities(X[:3]).sum(axis=1), 1.0)
    kinds = km.ConditionalMean(about_mean=False).fit(X, np.where(y > 0.5, 0.1, 0.7))
    assert sorted(kinds.points_.ravel()) == [0.1, 0.7]
    assert set(kinds.sample(X[:5], 20, random_state=0).ravel()) == {0.1, 0.7}
    shares = kinds.predict(X[:20], lambda outcomes: outcomes == 0.1)
    np.testing.assert_allclose(kinds.weights(X[:20])[:, kinds.points_.ravel() == 0.1].ravel(), shares, atol=0.2)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("options", [{}, {"kernel_x": Gaussian(1.0), "estimator": "mkme"}, {"about_mean": False}])
def test_files_and_pickles_keep_the_fit(options: dict[str, Any], tmp_path: Path) -> None:
    X, y = fan()
    model = km.ConditionalMean(**options).fit(cut(X, 100), cut(y[:, None], 100))
    km.save(model, tmp_path / "model.npz")
    for other in (km.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        for call in (
            lambda each: each.predict(X[:9]),
            lambda each: each.predict(X[:9], np.abs),
            lambda each: each.weights(X[:9]),
            lambda each: each.interval(X[:9]),
        ):
            assert np.array_equal(call(other), call(model))
        assert other.notes_ == model.notes_


@pytest.mark.usefixtures("few")
def test_rows_that_are_to_be_held_are_units_of_their_own() -> None:
    X, y = fan()
    model = km.ConditionalMean().fit(km.read(cut(X, 100), in_memory=True), cut(y[:, None], 100))
    assert len(model.points_) == 500
    assert "units" not in " ".join(model.notes_)
    limited = km.ConditionalMean().fit(X, y)
    assert "40 units stand for 500 rows" in limited.notes_[1]
    assert "over 120 rows drawn at random" in limited.notes_[1]
    np.testing.assert_allclose(model.quantiles(X[:50], [0.1, 0.9]), limited.quantiles(X[:50], [0.1, 0.9]), atol=0.8)
    assert np.abs(model.predict(X) - limited.predict(X)).mean() < 0.1


@pytest.mark.usefixtures("few")
def test_a_column_that_hardly_varies_is_seen_in_all_rows() -> None:
    X, y = fan()
    rare = np.zeros(500)
    rare[[3, 77, 450]] = 1.0
    model = km.ConditionalMean().fit(np.column_stack([X, rare, np.ones(500)]), y)
    assert model.scaling_.varying.tolist() == [0, 1, 2]


def test_sorted_rows_are_drawn_at_random() -> None:
    X = np.arange(25_000.0)[:, None]
    model = km.ConditionalMean().fit(cut(X, 4000), cut(np.sin(X / 4000.0), 6000))
    assert abs(np.mean(model.dealt_.rows)) < 0.1
    assert abs(np.mean(model.dealt_.folds) - 0.5) < 0.05
    assert np.abs(model.predict(X)[::100] - np.sin(X[::100, 0] / 4000.0)).max() < 0.05
    assert len(model.points_) == 2000


class Shrinking:
    """Batches of which there are fewer the second time; read asks for the first one twice."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.read = rows, 0

    def __iter__(self) -> Iterator[np.ndarray]:
        self.read += 1
        return iter(cut(self.rows, 100)[: 5 if self.read < 4 else 4])


BAD: dict[str, tuple[Any, str]] = {
    "NaN": (lambda X, y: (cut(np.where(X > 2.2, np.nan, X), 100), cut(y, 100)), "NaN or infinite"),
    "infinite": (lambda X, y: (cut(X, 100), cut(np.where(y > 1.5, np.inf, y), 100)), "NaN or infinite"),
    "text": (lambda X, y: ([X, X.astype(str)], cut(y, 100)), "numbers are needed"),
    "another column": (lambda X, y: ([X, np.hstack([X, X])], [y, y]), "batch 2 has the columns x0, x1, x2, x3"),
    "an empty batch": (lambda X, y: ([X, X[:0]], [y]), "at least one row"),
    "no batches": (lambda X, y: (iter([]), [y]), "at least one batch is needed"),
    "one row": (lambda X, y: ([X[:1]], [y[:1]]), "pass at least 2"),
    "fewer outcomes": (lambda X, y: (cut(X, 100), cut(y[:-1], 100)), "X and y have different numbers of rows"),
    "more outcomes": (lambda X, y: (cut(X[:-1], 100), cut(y, 100)), "X and y have different numbers of rows"),
    "one iterator": (lambda X, y: ((rows := iter(cut(X, 100))), rows), "one iterator or reader was passed for two"),
    "dropped rows": (lambda X, y: (km.read(pd.DataFrame(X), missing="drop"), y), "leaves out rows with blank cells"),
    "huge": (lambda X, y: (cut(1e200 * X, 100), cut(y, 100)), "X holds values up to"),
    "huge outcomes": (lambda X, y: (cut(X, 100), cut(1e200 * y, 100)), "y holds values up to"),
    "constant": (lambda X, y: (cut(X, 100), cut(np.ones_like(y), 100)), "equal"),
    "no outcomes": (lambda X, y: (cut(X, 100), None), "requires y"),
    "a path": (lambda X, y: ("no such file.csv", y), "no such file"),
    "other rows the second time": (lambda X, y: (Shrinking(X), Shrinking(y)), "rows must stay as they are"),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused(name: str) -> None:
    make, message = BAD[name]
    X, y = fan()
    X, y = make(X, y[:, None])
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        km.ConditionalMean().fit(X, y)


def test_dask_tables_are_read_in_parts() -> None:
    arrays, frames = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    X, y = fan(200)
    expected = km.ConditionalMean().fit(X, y).predict(X[:5])
    series = frames.from_pandas(pd.Series(y, name="y"), npartitions=3)
    for own in (arrays.from_array(y, chunks=70), arrays.from_array(y[:, None], chunks=70), series):
        model = km.ConditionalMean().fit(arrays.from_array(X, chunks=60), own)
        np.testing.assert_array_equal(model.predict(X[:5]), expected)
