"""Every pair of options of the public functions: both have an effect, or the pair is refused."""

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import features, kernels, noise

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(40, 2)) * [1, 3], rng.normal(size=(36, 2)) * [1, 3] + 0.4
Z = X + rng.normal(size=(40, 2)) * 0.8 + 0.3
LONG = np.repeat(X, 10, axis=0), np.repeat(Y, 10, axis=0), np.repeat(Z, 10, axis=0)
LAPLACE, GAUSS = kernels.Laplacian(1.0), kernels.Gaussian(2.0)
KERNEL: dict[str, tuple[Any, ...]] = {"kernel": (LAPLACE,), "bandwidth": (0.5,)}
OWN = km.MMKME(GAUSS)
WAVES = features.fourier(GAUSS, 2, 32, rng=0)
PAIR_WAVES = features.fourier(kernels.TensorProduct((GAUSS, GAUSS), ((0, 1), (2, 3))), 4, 32, rng=0)
STARTS = X[:2], np.ones(2)

QUICK = {"rng": 0, "n_resamples": 49}


def test_of(test: Callable[..., Any], *tables: Any, **always: Any) -> Callable[..., str]:
    def run(**options: Any) -> str:
        found = test(*tables, **(always | options))
        return repr((found.statistic, found.pvalue, found.kernel, found.scheme))

    return run


test_of.__test__ = False  # type: ignore[attr-defined]


def fitted(cls: Any, *names: str, **always: Any) -> Callable[..., str]:
    def run(**options: Any) -> str:
        model = cls(**(always | options)).fit(X)
        return repr([getattr(model, name) for name in names])

    return run


def explained(function: Callable[..., Any], *tables: Any, show: Any = repr, **always: Any) -> Callable[..., str]:
    return lambda **options: repr(show(function(*tables, **(always | options))))


SEARCHING: dict[str, tuple[Any, ...]] = {**KERNEL, "estimator": ("mkme", OWN)}
CASES: dict[str, tuple[Callable[..., str], dict[str, tuple[Any, ...]]]] = {
    "mmd_test": (
        test_of(km.mmd_test, X, Y, **QUICK),
        {**KERNEL, "estimator": ("mkme", "adaptive", OWN), "fit": ("each",), "statistic": ("v",)},
    ),
    "hsic_test": (test_of(km.hsic_test, X, Z, **QUICK), {**SEARCHING, "fit": ("joint",), "statistic": ("u",)}),
    "k_sample_test": (test_of(km.k_sample_test, X, Y, Z, **QUICK), {**SEARCHING, "statistic": ("v",)}),
    "paired_mmd_test": (test_of(km.paired_mmd_test, X, Z, **QUICK), {**SEARCHING, "statistic": ("v",)}),
    "dhsic_test": (test_of(km.dhsic_test, X, Z, **QUICK), SEARCHING),
    "wild_mmd_test": (test_of(km.wild_mmd_test, X, Y, block_length=2.0, **QUICK), SEARCHING),
    "wild_hsic_test": (test_of(km.wild_hsic_test, X, Z, block_length=2.0, **QUICK), SEARCHING),
    "compress_then_test": (test_of(km.compress_then_test, *LONG[:2], **QUICK), {**KERNEL, "estimator": (OWN,)}),
    "mmd_stream_test": (
        test_of(km.mmd_stream_test, *LONG[:2], n_resamples=49),
        {**KERNEL, "features": (WAVES,), "n_frequencies": (16,), "design": ("plain",), "dtype": ("float64",)},
    ),
    "hsic_stream_test": (
        test_of(km.hsic_stream_test, LONG[0], LONG[2], n_resamples=49),
        {**KERNEL, "features": (PAIR_WAVES,), "n_frequencies": (16,), "design": ("plain",), "dtype": ("float64",)},
    ),
    "effect_size": (explained(km.effect_size, X, Y, **QUICK), {**SEARCHING, "level": (0.8,)}),
    "equivalence_test": (
        explained(km.equivalence_test, X, Y, 0.3, rng=None),
        {"method": ("bound",), "level": (0.8,), "n_resamples": (49,), "unit": ("explained",)},
    ),
    "witness": (
        explained(km.witness, X, Y, show=lambda found: found(X[:3])),
        {**KERNEL, "estimator": ("mkme", "f-kmse", OWN, km.FKMSE(GAUSS))},
    ),
    "witness_bands": (explained(km.witness_bands, X, Y, X[:3], **QUICK), SEARCHING),
    "contributions": (
        explained(km.contributions, X, Y, show=lambda found: found.values[:3]),
        {**SEARCHING, "statistic": ("v",)},
    ),
    "attribute": (explained(km.attribute, X, Y, **QUICK), {**SEARCHING, "names": (["a", "b"],)}),
    "dependence_effect_size": (explained(km.dependence_effect_size, X, Z, **QUICK), SEARCHING),
    "KernelMean": (
        fitted(km.KernelMean, "weights_", "kernel_", "noise_", "criterion_"),
        {**KERNEL, "noise": (noise.Normal(0.1),), "filter": ("scale", "ridge"), "strength": (0.5,)},
    ),
    "BayesianKernelMean": (fitted(km.BayesianKernelMean, "weights_"), {**KERNEL, "smoothing": (0.2,)}),
    "MedianOfMeans": (fitted(km.MedianOfMeans, "weights_", random_state=0), {**KERNEL, "n_blocks": (4,)}),
    "KernelMeanMatching": (
        fitted(km.KernelMeanMatching, "weights_", "means_", "kernel_", random_state=0, max_iter=20),
        {
            "kernel": (GAUSS,),
            "bandwidth": (1.5,),
            "bandwidth_factors": ((1.0, 2.0),),
            "prototypes": (STARTS,),
            "n_components": (3,),
            "pooling": (0.5,),
            "ridge": (0.1,),
            "pool_over": ("data",),
        },
    ),
    "DriftMonitor": (
        lambda **options: repr(km.DriftMonitor(X, **options).update(Y)),
        {**KERNEL, "n_frequencies": (16,), "recycle": (False,), "shuffle": (False,), "scale": (False,)},
    ),
    "compare": (
        lambda **options: (lambda found: repr((found.test.statistic, found.columns)))(
            km.compare(X, Y, **QUICK | options)
        ),
        {"estimator": ("kme", "mkme"), "bandwidth": (0.5,), "scale": (False,), "categorical": (["x1"],)},
    ),
    "read_batches": (
        lambda **options: repr(
            [batch.tolist() for batch in km.read_batches(km.read_batches(pd.DataFrame(X)), **options)]
        ),
        {"columns": (["0"],), "drop": (["1"],), "missing": ("drop",), "batch_rows": (3,)},
    ),
}
MATCHING = "the validation that factors take part in may choose the same bandwidth"
EXCEPTIONS = {
    ("KernelMeanMatching", "bandwidth_factors", "n_components"): MATCHING,
    ("KernelMeanMatching", "bandwidth_factors", "ridge"): MATCHING,
    ("KernelMeanMatching", "bandwidth_factors", "pool_over"): MATCHING,
    ("KernelMeanMatching", "bandwidth_factors", "pooling"): MATCHING,
}
"""Pairs of which one may by chance leave the other without effect on these data, and why."""


def outcome(run: Callable[..., str], **options: Any) -> str | None:
    """Return what came out, None where the options are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(**options)
        except (ValueError, TypeError):
            return None


@pytest.mark.parametrize("name", CASES)
def test_both_of_two_options_have_an_effect_or_the_pair_is_refused(name: str) -> None:
    run, options = CASES[name]
    plain = outcome(run)
    silent = []
    for first, second in itertools.combinations(options, 2):
        if (name, second, first) in EXCEPTIONS or (name, first, second) in EXCEPTIONS:
            continue
        for u, v in itertools.product(options[first], options[second]):
            both = outcome(run, **{first: u, second: v})
            alone = {first: outcome(run, **{first: u}), second: outcome(run, **{second: v})}
            for own, other in ((first, second), (second, first)):
                if both is not None and both == alone[other] and alone[own] != plain:
                    silent.append(f"{own} beside {other}={({first: u} | {second: v})[other]!r}")
    assert not silent


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: km.mmd_test(X, Y, kernel=LAPLACE, estimator=km.MKME(GAUSS)), "leave kernel= out"),
        (lambda: km.mmd_test(X, Y, bandwidth=2.0, estimator=km.MKME()), "leave bandwidth= out"),
        (lambda: km.mmd_test(X, Y, kernel=LAPLACE, bandwidth=2.0), "leave bandwidth= out"),
        (lambda: km.mmd_test(X, Y, estimator="kme", fit="each"), "leave fit= out"),
        (lambda: km.KME(LAPLACE, bandwidth=2.0).fit(X), "leave bandwidth= out"),
        (lambda: km.mmd_stream_test(X, Y, features=WAVES, n_frequencies=3), "leave n_frequencies= out"),
        (lambda: km.mmd_stream_test(X, Y, features=WAVES, pilot=30, kernel=GAUSS), "leave kernel= and pilot= out"),
        (lambda: km.KernelMeanMatching(kernel=GAUSS, bandwidth=1.0).fit(X), "leave bandwidth= out"),
        (lambda: km.read_batches(km.read_batches(X), columns=["x0"]), "leave columns= out"),
    ],
)
def test_a_refusal_names_the_option_that_has_no_effect(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_options_that_were_left_at_their_defaults_never_raise() -> None:
    mean = km.MKME(LAPLACE)
    assert km.mmd_test(X, Y, estimator=mean, kernel="gaussian", bandwidth="median", fit="auto", **QUICK).pvalue > 0
    assert km.witness(X, Y, estimator=mean).norm > 0


def test_the_searched_kernel_of_an_estimator_is_used_whatever_its_bandwidth_was() -> None:
    assert km.mmd_test(X, Y, estimator=km.FKMSE(bandwidth=2.0), **QUICK).kernel == GAUSS
    assert km.witness(X, Y, estimator=km.MMKME(bandwidth=2.0)).function.kernel == GAUSS
