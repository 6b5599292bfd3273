"""Rows that repeat another one, counted against the definition: a set of the rows as texts."""

import numpy as np
import pytest

from kernelmean.core.table import Frame
from kernelmean.tables.columns.copies import repeated_cells, repeated_rows


def table(rng: np.random.Generator, n: int, copied: int) -> Frame:
    """Return columns of every kind with blank cells, of which so many rows are copies of others."""
    rows = np.r_[np.arange(n - copied), np.arange(copied)]
    numbers, whole = rng.normal(size=n), rng.integers(0, 9, n) * 1.0
    numbers[1::7] = np.nan
    days = np.datetime64("2024-01-01") + rng.integers(0, 99, n)
    days[2::9] = np.datetime64("NaT")
    texts = np.array([*"abcd", None], dtype=object)[rng.integers(0, 5, n)]
    columns = {"numbers": numbers, "whole": whole, "days": days, "texts": texts}
    return Frame({name: own[rows] for name, own in columns.items()}, "t")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("copied", [0, 1, 9, 10, 11, 40, 100])
def test_note_counts_the_rows_that_are_in_a_set_already(seed: int, copied: int) -> None:
    frame = table(np.random.default_rng(seed), 200, copied)
    repeated = len(frame) - len(set(zip(*(map(str, frame[name]) for name in frame.names), strict=True)))
    note = repeated_cells(frame)
    assert bool(note) == (repeated >= 0.05 * len(frame))
    assert not note or note[0].startswith(f"{repeated} of 200 rows repeat another row")


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_both_zeros_are_one_cell(zero: float) -> None:
    rng = np.random.default_rng(0)
    points = np.tile(np.column_stack([rng.normal(size=(20, 2)), np.zeros(20)]), (2, 1))
    points[20:, 2] = zero
    (note,) = repeated_rows(points, [(0,), (1,), (2,)])
    assert note.startswith("20 of 40 rows repeat")
    assert repeated_cells(Frame(dict(zip("xyz", points.T, strict=True)), "t")) == (note,)


def test_copies_are_found_by_the_text_of_objects_that_cannot_be_keys() -> None:
    cells = np.empty(40, dtype=object)
    cells[:] = [[k % 20] for k in range(40)]
    (note,) = repeated_cells(Frame({"x": np.tile(np.arange(20.0), 2), "y": cells, "lists": cells}, "t"))
    assert note.startswith("20 of 40 rows repeat")
