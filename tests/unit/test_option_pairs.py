"""What refusals of pairs of options say; every pair is tried in test_option_pairs_everywhere.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import explained
import kernelmean as km
from kernelmean import features, kernels

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(40, 2)) * [1, 3], rng.normal(size=(36, 2)) * [1, 3] + 0.4
LAPLACE, GAUSS = kernels.Laplacian(1.0), kernels.Gaussian(2.0)
WAVES = features.fourier(GAUSS, 2, 32, rng=0)
QUICK = {"rng": 0, "n_resamples": 49}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: km.mmd_test(X, Y, kernel=LAPLACE, estimator=km.MKME(GAUSS)), "leave one of the two out"),
        (lambda: km.mmd_test(X, Y, kernel=GAUSS, estimator="mkme"), r"such as estimator=MKME\(kernel\)"),
        (lambda: km.mmd_test(X, Y, estimator=km.KME(LAPLACE, bandwidth=2.0)), "leave bandwidth= out"),
        (lambda: km.KME(LAPLACE, bandwidth=2.0).fit(X), "leave bandwidth= out"),
        (lambda: km.mmd_test(km.read(X, in_memory=True), Y, scheme="bins"), "leave one of the two out"),
        (lambda: km.KernelMeanMatching(update="weights", max_iter=9).fit(X), "leave max_iter= out"),
        (lambda: km.read(km.read(X), columns=["x0"]), "leave columns= out"),
    ],
)
def test_a_refusal_names_the_option_that_has_no_effect(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_options_that_were_left_at_their_defaults_never_raise() -> None:
    mean = km.MKME(LAPLACE)
    assert km.mmd_test(X, Y, estimator=mean, kernel=None, design=None, plan=None, **QUICK).pvalue > 0
    assert explained.witness(X, Y, estimator=mean).norm > 0


def test_the_searched_kernel_of_an_estimator_is_used_whatever_its_bandwidth_was() -> None:
    assert km.mmd_test(X, Y, estimator=km.FKMSE(bandwidth=2.0), **QUICK).kernel == GAUSS
    assert explained.witness(X, Y, estimator=km.MMKME(bandwidth=2.0)).function.kernel == GAUSS
