"""An error about memory asks for enough of it, also where more memory is used if there is more."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import kernelmean as km

N = 6000
X, Y = np.random.default_rng(0).normal(size=(2, N, 1))
HALF = np.arange(N) % 2
FEW = {"rng": 0, "n_resamples": 19}
RUNS: dict[str, Callable[[km.Plan], object]] = {
    "wild hsic": lambda plan: km.wild_hsic_test(X, Y, block_length=20, plan=plan, **FEW),
    "wild mmd": lambda plan: km.wild_mmd_test(X, Y, block_length=20, plan=plan, **FEW),
    "paired": lambda plan: km.paired_mmd_test(X, Y, estimator="kme", plan=plan, **FEW),
    "strata": lambda plan: km.mmd_test(X, Y, estimator="kme", design=km.Design(groups=(HALF, HALF)), plan=plan, **FEW),
    "pairs in strata": lambda plan: km.hsic_test(
        X, Y, estimator="kme", design=km.Design(groups=HALF), statistic="v", plan=plan, **FEW
    ),
    "several samples": lambda plan: km.k_sample_test(*np.array_split(X, 3), estimator="kme", plan=plan, **FEW),
}


def advised(run: Callable[[km.Plan], object], limit: int) -> list[int]:
    """Return what errors ask for, until a run has enough."""
    asked = [limit]
    while len(asked) < 4:
        try:
            run(km.Plan(memory=asked[-1]))
        except MemoryError as error:
            asked += map(int, re.findall(r"Plan\(memory=(\d+)\)", str(error)))
        else:
            break
    return asked[1:]


@pytest.mark.parametrize("name", RUNS)
def test_the_memory_that_an_error_asks_for_is_enough(name: str) -> None:
    assert len(advised(RUNS[name], 1_000_000)) == 1
