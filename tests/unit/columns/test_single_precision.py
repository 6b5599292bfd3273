"""float32 beside float64: 0.1 is another number there, and every cell of a rounded column would differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.core.cells import as_printed

RNG = np.random.default_rng(0)
FRAMES = [pd.DataFrame({"m": RNG.normal(10.0, 1.0, 300).round(1)}) for _ in range(2)]


@pytest.mark.parametrize("decimals", [0, 1, 3, 6])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_decimals_come_back(decimals: int, scale: float) -> None:
    numbers = (RNG.normal(size=500) * scale).round(decimals)
    numbers = numbers[np.abs(numbers) < 10.0 ** (7 - decimals)]  # more digits than float32 has are lost
    np.testing.assert_array_equal(as_printed(numbers.astype(np.float32).astype(float)), numbers)


def test_no_number_moves_by_more_than_float32_cannot_tell() -> None:
    numbers = np.concatenate([RNG.normal(size=1000) * 10.0**k for k in range(-8, 9)] + [[np.inf, -np.inf, np.nan, 0.0]])
    widened = numbers.astype(np.float32).astype(float)
    np.testing.assert_array_equal(as_printed(widened).astype(np.float32), widened.astype(np.float32))


@pytest.mark.parametrize("first", [lambda frame: frame.astype("float32"), lambda frame: frame.to_numpy(np.float32)])
def test_comparisons_see_the_same_numbers(first: Any) -> None:
    A, B = FRAMES
    same, both = km.compare(A, B, n_resamples=99, rng=0), km.compare(first(A), B, n_resamples=99, rng=0)
    assert both.pvalue == same.pvalue
    assert both.columns[0].pvalue == same.columns[0].pvalue
    assert km.compare(first(A), A, n_resamples=99, rng=0).pvalue == 1.0


def test_tests_see_the_same_numbers() -> None:
    A, B = (frame.to_numpy() for frame in FRAMES)
    for single in ((A.astype(np.float32), B), (A, B.astype(np.float32)), (FRAMES[0].astype("float32"), B)):
        assert tuple(km.mmd_test(*single, n_resamples=99, rng=0)) == tuple(km.mmd_test(A, B, n_resamples=99, rng=0))


def test_batches_see_the_same_numbers() -> None:
    held = [km.read(frame, in_memory=False) for frame in FRAMES]
    single = km.read(FRAMES[0].astype("float32"), in_memory=False)
    assert km.compare(single, held[1], n_resamples=99, rng=0).pvalue == km.compare(*held, n_resamples=99, rng=0).pvalue
