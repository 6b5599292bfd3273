"""A test that nobody chose a kernel for tells when columns spread so differently that it sees one of them only."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

rng = np.random.default_rng(0)
A, B, C = (
    pd.DataFrame({"age": rng.normal(40, 1, 320), "grams": rng.normal(0, 1000, 320), "cm": rng.normal(0, 30, 320)})
    for _ in range(3)
)
TESTS: dict[str, Callable[..., Any]] = {
    "k_sample_test": lambda *T, **o: km.k_sample_test(*T, n_resamples=19, rng=0, **o),
    "paired_mmd_test": lambda *T, **o: km.paired_mmd_test(*T, n_resamples=19, rng=0, **o),
    "dhsic_test": lambda *T, **o: km.dhsic_test(*T, n_resamples=19, rng=0, **o),
    "wild_mmd_test": lambda *T, **o: km.wild_mmd_test(*T, block_length=2.0, n_resamples=19, rng=0, **o),
    "wild_hsic_test": lambda *T, **o: km.wild_hsic_test(*T, block_length=2.0, n_resamples=19, rng=0, **o),
}
ADAPTIVE = ("k_sample_test", "paired_mmd_test", "dhsic_test")


@pytest.fixture(autouse=True)
def many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let these be so many rows that the test nobody chose has one kernel."""
    monkeypatch.setattr(km.tables.limits, "ADAPTIVE_LIMIT", 10)


def test_the_adaptive_test_needs_no_such_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(km.tables.limits, "ADAPTIVE_LIMIT", 320)
    for name in ADAPTIVE[:2]:
        assert not notes(TESTS[name](A, B))


def test_in_bins_the_default_is_adaptive() -> None:
    for test in (km.mmd_test, km.hsic_test):
        result = test(A, B, n_resamples=19, rng=0)
        assert result.scheme == "bins"
        assert not notes(result)


def notes(result: Any) -> list[str]:
    return [note for note in result.notes if "spreads" in note]


@pytest.mark.parametrize("name", TESTS)
def test_the_columns_of_largest_and_smallest_spread_are_named_with_what_to_write(name: str) -> None:
    result = TESTS[name](A, B)
    found = notes(result)
    assert len(found) == (2 if "hsic" in name else 1)
    for note in found:
        assert "'grams' spreads " in note
        assert "'age'" in note
        assert ("kernelmean.dependence" if "hsic" in name else "kernelmean.compare") in note
        assert ("estimator='adaptive'" in note) == (name in ADAPTIVE)
        assert note in " ".join(str(result).split())
        assert note in " ".join(result.summary().split())


@pytest.mark.parametrize("name", TESTS)
def test_nothing_is_told_where_something_was_asked_for_or_spreads_are_alike(name: str) -> None:
    test = TESTS[name]
    assert not notes(test(A, B, estimator="kme"))
    assert not notes(test(A, B, kernel=km.kernels.Gaussian(3.0)))
    assert not notes(test(A[["age"]], B[["age"]]))
    assert not notes(test(*(table.assign(age=table["age"] * 200, cm=table["cm"] * 10) for table in (A, B))))


def test_arrays_have_numbers_and_reordered_tables_are_matched_first() -> None:
    assert "'x1' spreads" in notes(km.paired_mmd_test(A.to_numpy(), B.to_numpy(), n_resamples=19))[0]
    found = km.paired_mmd_test(A, B[["cm", "age", "grams"]], n_resamples=19, rng=0)
    assert notes(found) == notes(TESTS["paired_mmd_test"](A, B))


def test_constant_columns_have_no_unit() -> None:
    X = np.column_stack([rng.normal(size=30), np.ones(30)])
    assert not notes(km.paired_mmd_test(X, X[::-1], n_resamples=19))
