"""Values keep arrays of their own: nothing that a caller changes afterwards, or is handed, changes them."""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import features
from kernelmean.kernels import (
    Gaussian,
    QuadraticGaussian,
)
from kernelmean.noise import Blankout, Normal, Uniform

K = Gaussian(1.0)
SPOT = np.array([[0.1, -0.2], [0.7, 0.4], [-0.5, 1.1]])


def _rows(seed=0, n=30, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def _spd(n=None):
    base = np.array([[0.5, 0.1], [0.1, 0.4]])
    return base if n is None else np.repeat(base[None], n, axis=0)


@dataclass
class Case:
    """What makes a value of arrays, what the value says, and the arrays that it hands out."""

    inputs: Any
    make: Any
    says: Any
    hands: Any = lambda value: ()


def _embedding(mu):
    return [mu.norm(), mu(SPOT), mu.points.copy(), mu.weights.copy()]


def _handed(mu):
    return [mu.points, mu.weights, mu.parts[0].points, mu.parts[0].weights]


def _noise(make, shape):
    inputs = lambda: {"level": np.full(shape, 0.3) if shape != "spd" else _spd(), "X": _rows(n=4)}  # noqa: E731
    says = lambda noise: [np.asarray(noise.variances(2)) if hasattr(noise, "variances") else 0.0, repr(noise)]  # noqa: E731
    hands = lambda noise: [noise.covariance, noise.variances(2), noise.matrices(2)] if isinstance(noise, Normal) else []  # noqa: E731
    return Case(inputs, lambda level, X: make(level), says, hands)


def _kernel(make, value):
    return Case(
        lambda: {"value": np.array(value)},
        lambda **given: make(*given.values()),
        lambda kernel: [kernel(SPOT, SPOT), repr(kernel)],
    )


def _estimator(estimator):
    def says(fitted):
        return [*_embedding(fitted.embedding_), fitted.weights_.copy(), fitted.evaluate(SPOT), repr(fitted.noise_)]

    return Case(
        lambda: {"X": _rows()},
        lambda X: copy.deepcopy(estimator).fit(X),
        says,
        lambda fitted: [fitted.weights_, *_handed(fitted.embedding_), getattr(fitted.noise_, "covariance", SPOT[:0])],
    )


def _mixture(mix):
    return [
        mix.score_samples(SPOT),
        mix.means_.copy(),
        mix.weights_.copy(),
        mix.covariances_.copy(),
        mix.target_.norm(),
    ]


def _mixture_arrays(mix):
    whole = mix.mixture
    own = [mix.weights_, mix.means_, mix.covariances_, mix.objective_path_]
    return [*own, whole.weights, whole.means, whole.covariances, *_handed(mix.target_)]


def _matching(**options):
    prototypes = options.pop("prototypes", False)
    make = lambda X, means, variances: km.KernelMeanMatching(  # noqa: E731
        random_state=0, **({"prototypes": (means, variances)} if prototypes else {"n_components": 2}), **options
    ).fit(X)
    inputs = lambda: {"X": _rows(), "means": np.array([[0.0, 1.0], [1.0, 0.0]]), "variances": np.ones(2)}  # noqa: E731
    return Case(inputs, make, _mixture, _mixture_arrays)


def _samples():
    return {"X": _rows(0), "Y": _rows(1) + 0.5}


def _frames():
    made = _samples()
    return {name: pd.DataFrame(rows, columns=["a", "b"]) for name, rows in made.items()}


def _compared(result):
    table = [frame[name].copy() for frame in result.encoded.frames for name in ("a", "b")]
    return [result.test.pvalue, *(tables.copy() for tables in result.encoded.tables), *table]


def _compared_arrays(result):
    cells = [frame[name] for frame in result.encoded.frames for name in ("a", "b")]
    return [result.test.null_distribution, *result.encoded.tables, *cells]


CASES = {
    "embed, weights": Case(
        lambda: {"X": _rows(), "w": np.full(30, 1 / 30)}, lambda X, w: km.embed(X, K, weights=w), _embedding, _handed
    ),
    "embed, noise of every point": Case(
        lambda: {"X": _rows(), "C": _spd(30)}, lambda X, C: km.embed(X, K, noise=Normal(C)), _embedding, _handed
    ),
    "Normal": _noise(Normal, "spd"),
    "Normal.diagonal": _noise(Normal.diagonal, (2,)),
    "Uniform": _noise(Uniform, (2,)),
    "Blankout": _noise(lambda p: Blankout(p, p), (2,)),
    "Gaussian": _kernel(Gaussian, [1.0, 2.0]),
    "QuadraticGaussian": _kernel(QuadraticGaussian, _spd()),
    "MKME": _estimator(km.MKME(bandwidth=1.0)),
    "KernelMean, a noise object": _estimator(km.KernelMean(noise=Normal(_spd()), bandwidth=1.0)),
    "KernelMeanMatching, weights of prototypes": _matching(prototypes=True, update="weights", kernel=K),
    "fourier": Case(
        lambda: {"X": _rows(), "o": np.zeros(2)},
        lambda X, o: features.embed(X, features.fourier(K, 2, 64, origin=o)),
        lambda mu: [mu.norm(), mu(SPOT), mu.parts[0].vector, mu.features(SPOT)],
        lambda mu: [
            mu.parts[0].vector,
            mu.parts[0].terms[0].sums.high,
            mu.parts[0].terms[0].sums.low,
            mu.features.frequencies,
            mu.features.origin,
            mu.features.weights,
        ],
    ),
    "nystrom": Case(
        lambda: {"X": _rows(), "w": np.ones(30)},
        lambda X, w: features.embed(X, features.nystrom(K, X, 8), weights=w),
        lambda mu: [mu.norm(), mu(SPOT), mu.features(SPOT)],
        lambda mu: [mu.features.points, mu.features.triangle, mu.parts[0].terms[0].sums.high],
    ),
    "DriftMonitor": Case(
        lambda: {"X": _rows(n=60), "Y": _rows(1)},
        lambda X, Y: (monitor := km.DriftMonitor(X, seed=0), monitor.update(Y))[0],
        lambda monitor: [copy.deepcopy(monitor).update(_rows(3) + 1.0).pvalue, monitor.to_json()],
    ),
    "TableEncoder": Case(
        lambda: {"X": _rows()},
        lambda X: km.TableEncoder().fit(X),
        lambda encoder: [encoder.transform(SPOT)],
    ),
    "mmd_test": Case(
        _samples,
        lambda X, Y: km.mmd_test(X, Y, n_resamples=99, rng=0),
        lambda result: [*result, result.null_distribution.copy(), result.summary()],
        lambda result: [result.null_distribution],
    ),
    "compare, frames": Case(
        _frames, lambda X, Y: km.compare(X, Y, estimator="kme", n_resamples=99), _compared, _compared_arrays
    ),
    "dependence": Case(
        _frames,
        lambda X, Y: km.dependence(X, n_resamples=99),
        lambda found: [found.matrix(), *(frame["a"].copy() for frame in found.encoded.frames)],
        lambda found: [*found.encoded.tables, *(frame["a"] for frame in found.encoded.frames)],
    ),
}
BY_NAME = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def _spoil(value):
    """Write other numbers into an array, a data frame or a list of arrays, where it lets us."""
    if isinstance(value, list):
        for item in value:
            _spoil(item)
    elif isinstance(value, np.ndarray):
        value[...] = 97.0
    else:
        value.loc[:, :] = 97.0


def _same(one, other):
    assert len(one) == len(other)
    for first, second in zip(one, other, strict=True):
        if isinstance(first, str):
            assert first == second
        else:
            np.testing.assert_array_equal(first, second)


@BY_NAME
def test_what_is_passed_may_be_changed_afterwards(case):
    inputs = case.inputs()
    value = case.make(**inputs)
    before = case.says(value)
    for each in inputs.values():
        _spoil(each)
    _same(case.says(value), before)


@BY_NAME
def test_what_is_handed_out_changes_nothing(case):
    value = case.make(**case.inputs())
    before = case.says(value)
    for array in map(np.asarray, case.hands(value)):
        try:
            array.flags.writeable = True
        except ValueError:
            assert not array.flags.writeable
        else:
            array[...] = 97.0
    _same(case.says(value), before)


def test_a_read_only_view_of_what_the_caller_can_write_is_copied():
    X = _rows()
    view = X.view()
    view.flags.writeable = False
    mu = km.embed(view, K)
    before = mu.norm()
    X[:] = 0.0
    assert mu.norm() == before


def test_a_memory_map_is_copied(tmp_path):
    X = np.memmap(tmp_path / "rows", np.float64, "w+", shape=(30, 2))
    X[:] = _rows()
    for mode in ("r+", "r", "c"):
        mu = km.embed(np.memmap(tmp_path / "rows", np.float64, mode, shape=(30, 2)), K)
        before = mu.norm()
        X[:] = 0.0
        assert mu.norm() == before
        X[:] = _rows()


def test_a_data_frame_is_copied_on_write_or_not():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(_rows(), columns=["a", "b"])
    mu, fitted = km.embed(frame, K), km.MKME().fit(frame)
    before = mu.norm(), fitted.embedding_.norm()
    frame.iloc[:, :] = 0.0
    frame.to_numpy(copy=False)
    assert (mu.norm(), fitted.embedding_.norm()) == before


def test_tensors_are_copied_both_ways():
    torch = pytest.importorskip("torch")
    X, w = torch.tensor(_rows()), torch.full((30,), 1 / 30, dtype=torch.float64)
    mu, fitted = km.embed(X, K, weights=w), km.MKME(bandwidth=1.0).fit(X)
    before = mu.norm(), fitted.embedding_.norm()
    X[:], w[:] = 0.0, 0.0
    mu.points[:], mu.weights[:] = 0.0, 0.0
    fitted.embedding_.points[:], fitted.weights_[:] = 0.0, 0.0
    assert (mu.norm(), fitted.embedding_.norm()) == before


def test_options_of_a_table_may_be_changed_afterwards():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": [0.0, 1.0, None, 3.0] * 20, "b": ["low", "high"] * 40})
    missing, ordinal = {"a": "category"}, {"b": ["low", "high"]}
    monitor = km.DriftMonitor(table, missing=missing, ordinal=ordinal, seed=0)
    missing["a"] = "error"
    ordinal["b"].clear()
    assert monitor.update(table).n_rows == 80


def test_masked_arrays_are_refused_as_they_were():
    with pytest.raises(ValueError, match="masked cells"):
        km.embed(np.ma.masked_greater(_rows(), 1.0), K)
