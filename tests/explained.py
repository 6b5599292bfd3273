"""What explains a test, as functions of two tables: the result of a test of one kernel, asked."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import kernelmean as km
from kernelmean.estimators import NAMED
from kernelmean.inference import explain


def estimator_of(kernel: Any = "gaussian", bandwidth: Any = "median", estimator: Any = "kme") -> Any:
    """Return an estimator with its kernel, or one for either variable."""
    if not isinstance(estimator, str):
        return estimator
    if isinstance(kernel, tuple) or isinstance(bandwidth, tuple):
        kernels, widths = (each if isinstance(each, tuple) else (each, each) for each in (kernel, bandwidth))
        return tuple(NAMED[estimator](own, bandwidth=width) for own, width in zip_longest(kernels, widths))
    return NAMED[estimator](kernel, bandwidth=bandwidth)


def asked_of(test: Any, X: Any, Y: Any, given: dict[str, Any]) -> Any:
    """Return the result of a test, with the options that choose its kernel taken out of those given."""
    chosen = {name: given.pop(name) for name in ("kernel", "bandwidth", "estimator") if name in given}
    return test(X, Y, estimator=estimator_of(**chosen), statistic="v", n_resamples=1, rng=0)


def effect_size(X: Any, Y: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return the size of a difference."""
    return asked_of(km.mmd_test, X, Y, given := {"kernel": kernel, **given}).effect_size(**given)


def dependence_effect_size(X: Any, Y: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return the size of a dependence."""
    return asked_of(km.hsic_test, X, Y, given := {"kernel": kernel, **given}).effect_size(**given)


def equivalence_test(X: Any, Y: Any, margin: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Test the hypothesis of a difference."""
    return asked_of(km.mmd_test, X, Y, given := {"kernel": kernel, **given}).equivalence(margin, **given)


def dependence_equivalence_test(X: Any, Y: Any, margin: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Test the hypothesis of a dependence."""
    return asked_of(km.hsic_test, X, Y, given := {"kernel": kernel, **given}).equivalence(margin, **given)


def witness(X: Any, Y: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return the witness of two samples, or of two embeddings."""
    if isinstance(X, km.embedding.Embedding):
        return explain.witness(X, Y)
    return asked_of(km.mmd_test, X, Y, given := {"kernel": kernel, **given}).witness(**given)


def dependence_witness(X: Any, Y: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return the witness of two variables."""
    return asked_of(km.hsic_test, X, Y, given := {"kernel": kernel, **given}).witness(**given)


def witness_bands(X: Any, Y: Any, points: Any = None, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return the difference of the means of two samples at points, by default their rows, with bands."""
    result = asked_of(km.mmd_test, X, Y, given := {"kernel": kernel, **given})
    rows = explain.subject_of(result, km.Plan()).pooled if points is None else points
    return result.witness(rows, **given)


def contributions(X: Any, Y: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return what every observation adds to MMD²."""
    if isinstance(X, km.embedding.Embedding):
        return explain.contributions((X, Y), given.get("statistic", "v"))
    return asked_of(km.mmd_test, X, Y, given := {"kernel": kernel, **given}).contributions(**given)


def dependence_contributions(X: Any, Y: Any, kernel: Any = "gaussian", **given: Any) -> Any:
    """Return what every pair adds to HSIC."""
    return asked_of(km.hsic_test, X, Y, given := {"kernel": kernel, **given}).contributions(**given)


def attribute(X: Any, Y: Any, **given: Any) -> Any:
    """Test every column on its own."""
    return _columns(km.mmd_test, X, Y, given)


def dependence_attribute(X: Any, Y: Any, **given: Any) -> Any:
    """Test every pair of columns on its own."""
    return _columns(km.hsic_test, X, Y, given)


def _columns(test: Any, X: Any, Y: Any, given: dict[str, Any]) -> Any:
    chosen = {name: given.pop(name) for name in ("kernel", "bandwidth", "estimator") if name in given}
    plain = test(X, Y, statistic="v", n_resamples=1, rng=0)
    return plain.attribute(estimator=estimator_of(**chosen), **given)
