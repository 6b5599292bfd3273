"""Batches as one table: a column is of one type in all of them."""

import numpy as np
import pandas as pd
import pytest

import kernelmean as km

NUMBERS = pd.DataFrame({"x": [1.0, 2.0], "c": [1.0, 2.0]})
OTHERS = {"text": ["a", "b"], "times": pd.to_datetime(["2024-01-01", "2024-01-02"])}


@pytest.mark.parametrize("kind", OTHERS)
def test_numbers_beside_other_cells_are_refused_instead_of_lost(kind: str) -> None:
    other = NUMBERS.assign(c=OTHERS[kind])
    for batches in ([NUMBERS, other], [other, NUMBERS]):
        with pytest.raises(
            ValueError, match=f"'c' holds .*({kind}|numbers) in batch 1 and ({kind}|numbers) in batch 2"
        ):
            km.read(batches).whole()


@pytest.mark.parametrize("kind", OTHERS)
def test_a_batch_without_cells_fits_any_other(kind: str) -> None:
    other, blank = NUMBERS.assign(c=OTHERS[kind]), NUMBERS.assign(c=np.nan)
    for batches in ([blank, other, blank], [other, blank]):
        cells = km.read(batches).whole()["c"]
        assert cells.dtype.kind == ("O" if kind == "text" else "M")
        assert int(pd.isna(cells).sum()) == 2 * len(batches) - 2
