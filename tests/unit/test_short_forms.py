"""What people write without thinking: one column as plain numbers, a kernel in the first place, a scheme by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import MedianOfMeans
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal

RNG = np.random.default_rng(0)
X, Y, Z = RNG.normal(size=(3, 40))
CALLS: dict[str, Any] = {
    "mmd_test": lambda x, y, _: km.mmd_test(x, y, rng=0).pvalue,
    "hsic_test": lambda x, y, _: km.hsic_test(x, y, rng=0).pvalue,
    "mmd_test of pairs": lambda x, y, _: km.mmd_test(x, y, design=km.Design(paired=True), rng=0).pvalue,
    "k_sample_test": lambda *samples: km.k_sample_test(*samples, rng=0).pvalue,
    "dhsic_test": lambda *variables: km.dhsic_test(*variables, rng=0).pvalue,
    "compare": lambda x, y, _: km.compare(x, y, n_resamples=99).pvalue,
    "changes": lambda x, *_: km.changes(x).summary(),
    "median_bandwidth": lambda x, *_: km.median_bandwidth(x),
    "embed": lambda x, *_: km.embed(x, Gaussian(1.0)).norm(),
}


@pytest.mark.parametrize("form", [np.asarray, list, tuple])
@pytest.mark.parametrize("name", CALLS)
def test_plain_numbers_are_one_column(name: str, form: Any) -> None:
    columns = [own[:, None] for own in (X, Y, Z)]
    assert CALLS[name](*(form(own.tolist()) for own in (X, Y, Z))) == CALLS[name](*columns)


def test_a_single_number_is_no_table() -> None:
    with pytest.raises(TypeError, match=r"X is 3.0, and this takes rows: an array or a data frame"):
        km.mmd_test(3.0, X)
    with pytest.raises(ValueError, match=r"X is a single value, and this takes rows: an array or a data frame"):
        km.median_bandwidth(np.array(3.0))


@pytest.mark.parametrize("call", [km.read, lambda table: km.hsic_test(table, X), km.dependence])
@pytest.mark.parametrize(("rows", "words"), [(lambda: X, "function, .*; pass what it returns"), ({1.0}, "set, .*: an")])
def test_functions_and_sets_are_no_tables(call: Any, rows: Any, words: str) -> None:
    with pytest.raises(TypeError, match=f"is a {words}"):
        call(rows)


def test_the_first_argument_of_every_estimator_is_the_kernel() -> None:
    kernel = Gaussian(0.7)
    assert MedianOfMeans(kernel, n_blocks=4).fit(X[:, None]).kernel_ == kernel
    with pytest.raises(TypeError):
        MedianOfMeans(kernel, 4)  # type: ignore[misc]


def test_the_scheme_random_draws_every_permutation_by_itself() -> None:
    for test in (km.mmd_test, km.hsic_test):
        for estimator in ("adaptive", "kme"):
            assert test(X, Y, scheme="random", estimator=estimator, rng=0).scheme == "random"
    large = np.zeros((5001, 1))
    with pytest.raises(ValueError, match=r"scheme 'random' does not fit: it holds n × n matrices"):
        km.hsic_test(large, large, scheme="random", estimator="kme")


def test_variances_of_rows_and_columns_are_told_their_name() -> None:
    with pytest.raises(ValueError, match=r"not \(2, 3\); for one variance per row and column write Normal.diagonal"):
        Normal(np.ones((2, 3)))
