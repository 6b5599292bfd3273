"""Columns of Python objects: plain numbers are numbers, wherever they come from; None is a missing cell."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import in_batches

NUMBERS: dict[str, list[Any]] = {
    "int": [1, 2, 3] * 20,
    "float": [1.0, 2.5, 3.0] * 20,
    "int and float": [1, 2.5, 3] * 20,
    "int and None": [1, None, 3] * 20,
    "np.int64 and NaN": [np.int64(1), np.nan, np.int64(3)] * 20,
    "np.float32": [*np.array([1, 2, 3] * 20, dtype=np.float32)],
    "Decimal and int": [Decimal("1.5"), 1, None] * 20,
}


def as_objects(cells: list[Any]) -> Any:
    """Return an array of objects with two columns, the second of integers."""
    array = np.empty((len(cells), 2), dtype=object)
    array[:, 0], array[:, 1] = cells, [k % 7 for k in range(len(cells))]
    return array


def as_floats(cells: list[Any]) -> Any:
    values = as_objects(cells)
    return np.array([[np.nan if cell is None else float(cell) for cell in row] for row in values])


@pytest.mark.parametrize("cells", NUMBERS.values(), ids=NUMBERS.keys())
def test_objects_that_are_numbers_are_compared_as_these_numbers(cells: list[Any]) -> None:
    objects, floats = as_objects(cells), as_floats(cells)
    for A, expected in ((objects, floats), (pd.DataFrame(objects), pd.DataFrame(floats))):
        found = km.compare(A[:30], A[30:], missing="drop", n_resamples=99)
        wanted = km.compare(expected[:30], expected[30:], missing="drop", n_resamples=99)
        assert [column.kind for column in found.columns] == ["numeric", "numeric"]
        assert found.pvalue == wanted.pvalue
        assert found.missing == wanted.missing


def test_objects_that_are_numbers_are_rows_of_a_test_and_of_an_embedding() -> None:
    objects, floats = as_objects(NUMBERS["int and float"]), as_floats(NUMBERS["int and float"])
    tested = [km.mmd_test(X[:30], X[30:], n_resamples=99, rng=0).pvalue for X in (objects, floats)]
    assert tested[0] == tested[1]
    kernel = km.kernels.Gaussian(1.0)
    assert km.embed(objects, kernel)(floats[:3]).tolist() == km.embed(floats, kernel)(floats[:3]).tolist()
    series = pd.Series(NUMBERS["int"], dtype=object)
    assert km.mmd_test(series, series[:30] + 1, n_resamples=99).pvalue < 0.05


def test_a_blank_object_is_no_number() -> None:
    with pytest.raises(ValueError, match=r"20 NaN or infinite values \(the first at \(1, 0\)\)"):
        km.mmd_test(as_objects(NUMBERS["int and None"]), as_objects(NUMBERS["int"]))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([1, "a", 2], "holds numbers and text ('a' in row 2)"),
        ([np.int64(1), "a", np.int64(2)], "holds numbers and text ('a' in row 2)"),
        ([True, 2, 3], "holds values of the types bool and int; convert it"),
        ([1 + 2j, 2j, 3j], "holds values of type complex, neither numbers nor texts nor times"),
        ([2**60 + 1, 2, 3], "holds integers beyond 2^53, such as 1152921504606846977"),
        ([np.int64(2**60 + 1), 2, 3], "holds integers beyond 2^53, such as 1152921504606846977"),
    ],
)
def test_mixed_objects_are_refused_with_what_they_are(cells: list[Any], words: str) -> None:
    objects = as_objects(cells * 20)
    with pytest.raises(TypeError) as raised:
        km.compare(pd.DataFrame(objects), pd.DataFrame(objects))
    assert words in str(raised.value)
    with pytest.raises((TypeError, ValueError), match=r"numbers are needed|integers beyond 2\^53"):
        km.mmd_test(objects, objects)


def test_batches_of_integers_beyond_float64_are_refused_with_the_integer(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"{k % 7},{k % 50}\n" for k in range(1000))
    path.write_text(f"x,y\n{rows}3,123456789012345678\n", encoding="utf-8")
    with pytest.raises(TypeError, match=r"'y' holds integers beyond 2\^53, such as 123456789012345678"):
        in_batches(path, path)


def test_an_encoder_refuses_objects_that_float64_would_round() -> None:
    with pytest.raises(ValueError, match=r"integers beyond 2\^53"):
        km.TableEncoder().fit(as_objects([np.int64(2**60 + 1), 2, 3]))
