"""Sums over groups of rows: those of other libraries are those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.core.sums import RowGroups

strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")


@pytest.mark.parametrize(
    "starts",
    [[0], [0, 1], [0, 31, 32, 63], [0, 32, 64], [0, 33, 198, 199], list(range(200))],
    ids=["one", "one row", "pieces", "full pieces", "many pieces", "single rows"],
)
def test_groups_of_any_length_have_the_sums_of_numpy(starts: list[int]) -> None:
    rng = np.random.default_rng(0)
    values, table, places = rng.normal(size=(3, 200)), rng.normal(size=(9, 2)), rng.integers(0, 9, size=200)
    exact = RowGroups(np.array(starts), values.T)
    found = RowGroups(np.array(starts), strict.asarray(values.T))
    sums = np.asarray(found.sums(strict.asarray(values)))
    np.testing.assert_allclose(sums, np.add.reduceat(values, starts, axis=1), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(exact.sums(values), np.add.reduceat(values, starts, axis=1))
    looked_up = np.add.reduceat(table[places], starts, axis=0)
    np.testing.assert_allclose(found.sums_at(strict.asarray(places), table), looked_up, rtol=0, atol=1e-13)
    np.testing.assert_allclose(exact.sums_at(places, table), looked_up, rtol=0, atol=1e-13)


def test_runs_of_groups_of_one_size_have_the_sums_of_numpy() -> None:
    rng = np.random.default_rng(0)
    starts = np.array([*range(0, 400, 2), *range(400, 1900, 15), 1900])
    values, weights = rng.normal(size=(3, 2000)), rng.uniform(size=2000)
    for columns in (values, np.asfortranarray(values)):
        found = RowGroups(starts, values.T, weights).sums(columns)
        np.testing.assert_allclose(found, np.add.reduceat(values * weights, starts, axis=1), rtol=0, atol=1e-13)
