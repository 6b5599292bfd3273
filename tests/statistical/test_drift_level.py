"""A monitor that is looked at after every row is wrongly alarmed with probability α at most, for any law."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from kernelmean import DriftMonitor


def mixed(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return a heavy column with blanks, rare categories, and a rare truth value."""
    shares = np.r_[0.6, 0.3, np.full(8, 0.0125)]
    wait = np.where(rng.random(n) < 0.05, np.nan, rng.standard_cauchy(n))
    return pd.DataFrame(
        {"wait": wait, "city": rng.choice(list("abcdefghij"), n, p=shares), "new": rng.random(n) < 0.02}
    )


LAWS = {
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "heavy": lambda rng, n: rng.standard_cauchy(size=(n, 2)),
    "tied": lambda rng, n: rng.integers(0, 3, size=(n, 2)).astype(float),
    "mixed": mixed,
}


def least_pvalues(law: str, streams: int, seed: int) -> np.ndarray:
    """Return the smallest p-value of every stream: 200 rows of reference and 400 new ones."""
    found = []
    for stream in range(streams):
        rng = np.random.default_rng([seed, stream])
        reference, new = LAWS[law](rng, 200), LAWS[law](rng, 400)
        found.append(DriftMonitor(reference, missing="category", seed=stream).update(new).pvalue)
    return np.array(found)


def check(pvalues: np.ndarray, law: str) -> None:
    for alpha in (0.01, 0.05, 0.1):
        alarms = int((pvalues <= alpha).sum())
        most = int(binom.ppf(0.999, len(pvalues), alpha))
        print(f"{law}: {alarms} of {len(pvalues)} streams reach 1/{alpha:g}, at most {most} may")
        assert alarms <= most


@pytest.mark.parametrize("law", list(LAWS))
def test_few_of_40_streams_ever_alarm(law: str) -> None:
    check(least_pvalues(law, 40, 3), law)


@pytest.mark.slow
@pytest.mark.parametrize("law", list(LAWS))
def test_few_of_2000_streams_ever_alarm(law: str) -> None:
    check(least_pvalues(law, 2000, 4), law)
