"""Values keep arrays of their own: nothing that a caller changes afterwards, or is handed, changes them."""

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import explained
import kernelmean as km
from explained import witness_bands
from kernelmean import estimators, features
from kernelmean.estimators import filters as km_filters
from kernelmean.kernels import (
    Categorical,
    DistanceInduced,
    Gaussian,
    Laplacian,
    Matern,
    Polynomial,
    QuadraticGaussian,
    RationalQuadratic,
    Scaled,
    Wendland,
)
from kernelmean.noise import Blankout, Laplace, Normal, Sampled, Switch, Uniform
from kernelmean.studies import fit_all, fit_densities

K = Gaussian(1.0)
SPOT = np.array([[0.1, -0.2], [0.7, 0.4], [-0.5, 1.1]])


def _rows(seed=0, n=30, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


def _densities(X):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1,))  # the search of a peer takes the time
        patch.setattr("kernelmean.studies.density._FOLDS", 2)
        return fit_densities(X, estimator="mkme", n_components=[2])


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


def _bands(X, Y):
    return witness_bands(X, Y, SPOT if X is None else X, n_resamples=99, rng=0)


CASES = {
    "embed": Case(lambda: {"X": _rows()}, lambda X: km.embed(X, K), _embedding, _handed),
    "embed, Fortran order": Case(
        lambda: {"X": np.asfortranarray(_rows())}, lambda X: km.embed(X, K), _embedding, _handed
    ),
    "embed, float32": Case(lambda: {"X": _rows().astype(np.float32)}, lambda X: km.embed(X, K), _embedding, _handed),
    "embed, a slice": Case(lambda: {"X": _rows(d=4)}, lambda X: km.embed(X[::2, 1:3], K), _embedding, _handed),
    "embed, list of rows": Case(lambda: {"X": list(_rows())}, lambda X: km.embed(X, K), _embedding, _handed),
    "embed, weights": Case(
        lambda: {"X": _rows(), "w": np.full(30, 1 / 30)}, lambda X, w: km.embed(X, K, weights=w), _embedding, _handed
    ),
    "embed, noise of every point": Case(
        lambda: {"X": _rows(), "C": _spd(30)}, lambda X, C: km.embed(X, K, noise=Normal(C)), _embedding, _handed
    ),
    "embed, sums and factors": Case(_samples, lambda X, Y: 2.0 * km.embed(X, K) - km.embed(Y, K), _embedding, _handed),
    "linear form": Case(lambda: {"X": _rows()}, lambda X: km.linear_form(km.embed(X, K)), _embedding, _handed),
    "Normal": _noise(Normal, "spd"),
    "Normal, one number": _noise(Normal, ()),
    "Normal.diagonal": _noise(Normal.diagonal, (2,)),
    "Normal.diagonal, every point": _noise(Normal.diagonal, (4, 2)),
    "Normal.isotropic": _noise(Normal.isotropic, (4,)),
    "Normal, taken": _noise(lambda C: Normal(np.repeat(C[None], 4, axis=0)).take(np.array([0, 2])), "spd"),
    "Normal, columns": _noise(lambda e: Normal.diagonal(e).columns((1, 0)), (2,)),
    "Uniform": _noise(Uniform, (2,)),
    "Laplace": _noise(Laplace, (2,)),
    "Blankout": _noise(lambda p: Blankout(p, p), (2,)),
    "Switch": _noise(lambda p: Switch(p, 3), ()),
    "Sampled": _noise(lambda C: Sampled(Normal(C)), "spd"),
    "Gaussian": _kernel(Gaussian, [1.0, 2.0]),
    "Laplacian": _kernel(Laplacian, [1.0, 2.0]),
    "Matern": _kernel(lambda theta: Matern(1.5, theta), [1.0, 2.0]),
    "Wendland": _kernel(lambda theta: Wendland(2, theta), [1.0, 2.0]),
    "RationalQuadratic": _kernel(lambda value: RationalQuadratic(1.0, value), 0.5),
    "QuadraticGaussian": _kernel(QuadraticGaussian, _spd()),
    "Polynomial": _kernel(lambda value: Polynomial(2, value), 0.5),
    "Scaled": _kernel(lambda value: Scaled(value, K), 0.5),
    "Categorical": _kernel(Categorical, 0.5),
    "DistanceInduced": _kernel(DistanceInduced, 0.5),
    **{
        make.__name__: _estimator(make(bandwidth=1.0))
        for make in (km.KME, km.estimators.SKMSE, km.estimators.FKMSE, km.MKME, km.MMKME, km.estimators.VPMKME)
    },
    "KernelMean, full": _estimator(km.KernelMean(noise="full")),
    "KernelMean, a filter object": _estimator(km.KernelMean(filter=km_filters.Landweber(), bandwidth=1.0)),
    "KernelMean, a noise object": _estimator(km.KernelMean(noise=Normal(_spd()), bandwidth=1.0)),
    "BayesianKernelMean": _estimator(estimators.BayesianKernelMean(bandwidth=1.0)),
    "MedianOfMeans": _estimator(estimators.MedianOfMeans(n_blocks=5, bandwidth=1.0, random_state=0)),
    "KernelMeanMatching": _matching(),
    "KernelMeanMatching, weights of prototypes": _matching(prototypes=True, update="weights", kernel=K),
    "KernelMeanMatching, no steps": _matching(prototypes=True, max_iter=1, kernel=K, estimator="kme"),
    "KernelMeanMatching of an embedding": Case(
        lambda: {"X": _rows()},
        lambda X: km.KernelMeanMatching(2, random_state=0).fit_embedding(km.embed(X, K)),
        _mixture,
        _mixture_arrays,
    ),
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
    "hsic_test": Case(
        _samples,
        lambda X, Y: km.hsic_test(X, Y, n_resamples=99, rng=0),
        lambda result: [*result, result.null_distribution.copy()],
        lambda result: [result.null_distribution],
    ),
    "compare, frames": Case(
        _frames, lambda X, Y: km.compare(X, Y, estimator="kme", n_resamples=99), _compared, _compared_arrays
    ),
    "compare, no scaling": Case(
        _frames,
        lambda X, Y: km.compare(X, Y, estimator="kme", scale=False, n_resamples=99),
        _compared,
        _compared_arrays,
    ),
    "dependence": Case(
        _frames,
        lambda X, Y: km.dependence(X, n_resamples=99),
        lambda found: [found.matrix(), *(frame["a"].copy() for frame in found.encoded.frames)],
        lambda found: [*found.encoded.tables, *(frame["a"] for frame in found.encoded.frames)],
    ),
    "witness": Case(
        _samples,
        lambda X, Y: explained.witness(X, Y, K),
        lambda w: [w(SPOT), w.norm, w.grid(size=3)[1]],
        lambda w: [w.function.points, w.function.weights],
    ),
    "witness bands": Case(
        _samples,
        _bands,
        lambda bands: [bands.points.copy(), bands.values.copy(), bands.outside],
        lambda bands: [bands.points, bands.values, bands.halfwidth, bands.adjusted],
    ),
    "dependence witness": Case(
        _samples, lambda X, Y: explained.dependence_witness(X, Y, bandwidth=1.0), lambda w: [w(SPOT, SPOT), w.norm]
    ),
    "contributions": Case(
        _samples,
        lambda X, Y: explained.contributions(X, Y, K),
        lambda found: [found.values.copy(), found.witness.copy(), found.strongest(3)],
        lambda found: [found.values, found.witness, *found.by_sample],
    ),
    "effect_size": Case(_samples, lambda X, Y: explained.effect_size(X, Y, K), lambda found: [repr(found)]),
    "fit_all": Case(
        lambda: {"X": _rows()[:8].copy()},  # fitted again without each
        lambda **given: fit_all(*given.values()),
        lambda fits: [fits.table.values.copy(), fits.unit.copy(), *_embedding(fits.embedding("mmkme"))],
        lambda fits: [fits.table.values, fits.unit, fits.estimators["mkme"].weights_],
    ),
    "fit_densities": Case(
        lambda: {"X": _rows()},
        _densities,
        lambda fits: [fits.table.values.copy(), fits.mixture().means.copy(), fits.center.copy(), fits.unit.copy()],
        lambda fits: [fits.table.values, fits.center, fits.unit, fits.model.means_, fits.mixture().means],
    ),
    "damping": Case(
        lambda: {"X": _rows()},
        lambda X: estimators.damping(km.estimators.FKMSE(bandwidth=1.0).fit(X)),
        lambda found: [found.places.copy(), found.factors.copy()],
        lambda found: [found.places, found.factors, found.eigenvalues, found.weights],
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


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("name", ["embed, noise of every point", "Normal", "mmd_test", "fourier", "MMKME"])
def test_copies_and_pickles_are_values_too(name, again):
    case = CASES[name]
    value = again(case.make(**case.inputs()))
    _same(case.says(value), case.says(case.make(**case.inputs())))
    for array in case.hands(value):
        assert not array.flags.writeable or not np.shares_memory(array, case.hands(value)[0])


def test_a_loaded_value_hands_out_what_cannot_be_written(tmp_path):
    km.save(km.MMKME().fit(_rows()), tmp_path / "mean.km")
    loaded = km.load(tmp_path / "mean.km")
    for array in (loaded.weights_, *_handed(loaded.embedding_), loaded.noise_.covariance):
        assert not array.flags.writeable


def test_a_read_only_view_of_what_the_caller_can_write_is_copied():
    X = _rows()
    view = X.view()
    view.flags.writeable = False
    mu = km.embed(view, K)
    before = mu.norm()
    X[:] = 0.0
    assert mu.norm() == before


def _frame():
    return pd.DataFrame(_rows(), columns=["a", "b"])


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize(
    ("make", "arrays"),
    [
        (lambda: km.compare(_frame(), _frame() + 1, n_resamples=19), lambda c: _table_arrays(c.encoded)),
        (lambda: km.dependence(_frame(), n_resamples=19), lambda d: _table_arrays(d.encoded)),
        (
            lambda: km.KernelMeanMatching(n_components=2, max_iter=3, random_state=0).fit(_rows()),
            lambda mix: [mix.weights_, mix.means_, mix.covariances_, mix.objective_path_],
        ),
        (lambda: km.MKME().fit(_rows()), lambda mean: [mean.weights_]),
    ],
    ids=["compare", "dependence", "KernelMeanMatching", "MKME"],
)
def test_arrays_of_copied_and_pickled_results_cannot_be_made_writable(make, arrays, again):
    for array in arrays(again(make())):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def _table_arrays(encoded):
    return [*encoded.tables, *(cells for frame in encoded.frames for cells in frame.cells.values())]


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


def test_a_series_of_weights_is_copied():
    pd = pytest.importorskip("pandas")
    weights = pd.Series(np.full(30, 1 / 30))
    mu = km.embed(_rows(), K, weights=weights)
    before = mu.norm()
    weights.iloc[:] = 0.0
    assert mu.norm() == before


def test_tensors_are_copied_both_ways():
    torch = pytest.importorskip("torch")
    X, w = torch.tensor(_rows()), torch.full((30,), 1 / 30, dtype=torch.float64)
    mu, fitted = km.embed(X, K, weights=w), km.MKME(bandwidth=1.0).fit(X)
    before = mu.norm(), fitted.embedding_.norm()
    X[:], w[:] = 0.0, 0.0
    mu.points[:], mu.weights[:] = 0.0, 0.0
    fitted.embedding_.points[:], fitted.weights_[:] = 0.0, 0.0
    assert (mu.norm(), fitted.embedding_.norm()) == before


def test_tensors_share_nothing_with_arrays_of_weights():
    torch = pytest.importorskip("torch")
    w = np.full(30, 1 / 30)
    mu = km.embed(torch.tensor(_rows()), K, weights=w)
    before = mu.norm()
    w[:] = 0.0
    assert mu.norm() == before


def test_a_dask_array_of_one_piece_is_copied():
    da = pytest.importorskip("dask.array")
    X = _rows()
    mu = km.embed(da.from_array(X, chunks=-1), K)
    before = mu.norm()
    X[:] = 0.0
    assert mu.norm() == before


def test_embed_copies_once_and_a_sum_of_embeddings_never():
    X = _rows()
    mu = km.embed(X, K)
    assert mu.points is mu.parts[0].points
    assert not np.shares_memory(mu.points, X)
    assert km.embed(mu.points, K).parts[0].points is mu.points
    assert (mu - mu).parts[1].points is mu.points


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
