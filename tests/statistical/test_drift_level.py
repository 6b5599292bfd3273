"""What a monitor promises: a level at any time, a run length, and that the change is where it says; for any law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from checkered import mostly_slow
from kernelmean import DriftMonitor

pytestmark = pytest.mark.slow


def mixed(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return a heavy column with blanks, rare categories, and a rare truth value."""
    shares = np.r_[0.6, 0.3, np.full(8, 0.0125)]
    wait = np.where(rng.random(n) < 0.05, np.nan, rng.standard_cauchy(n))
    return pd.DataFrame(
        {"wait": wait, "city": rng.choice(list("abcdefghij"), n, p=shares), "new": rng.random(n) < 0.02}
    )


LAWS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "heavy": lambda rng, n: rng.standard_cauchy(size=(n, 2)),
    "tied": lambda rng, n: rng.integers(0, 3, size=(n, 2)).astype(float),
    "mixed": mixed,
}
LENGTH = 200
CHANGES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "half a deviation": lambda rng, n: rng.normal([0.5, 0.0], 1.0, size=(n, 2)),
    "two deviations": lambda rng, n: rng.normal([2.0, 0.0], 1.0, size=(n, 2)),
    "spread": lambda rng, n: rng.normal(0.0, 1.5, size=(n, 2)),
    "clusters": lambda rng, n: rng.choice([-0.95, 0.95], (n, 1)) + rng.normal(0.0, 0.31, (n, 2)),
}


def least_pvalues(law: str, streams: int, seed: int) -> np.ndarray:
    """Return the smallest p-value of every stream: 200 rows of reference and 400 new ones."""
    found = []
    for stream in range(streams):
        rng = np.random.default_rng([seed, stream])
        reference, new = LAWS[law](rng, 200), LAWS[law](rng, 400)
        found.append(DriftMonitor(reference, missing="category", seed=stream).update(new).pvalue)
    return np.array(found)


def check_level(pvalues: np.ndarray, law: str) -> None:
    for alpha in (0.01, 0.05, 0.1):
        few(int((pvalues <= alpha).sum()), len(pvalues), alpha, f"{law}: streams that reach 1/{alpha:g}")


def few(found: int, n: int, share: float, what: str) -> None:
    """Hold a count to the largest that a share allows in 99.9 % of all cases."""
    most = int(binom.ppf(0.999, n, share))
    print(f"{what}: {found} of {n}, at most {most} may")
    assert found <= most


def check_run_lengths(law: str, streams: int, seed: int) -> None:
    """Hold the rows of first alarms to P(by row n) ≤ n/(2A), of which a mean of A is the sum."""
    rows = np.full(streams, np.inf)
    for stream in range(streams):
        rng = np.random.default_rng([seed, stream])
        reference, new = LAWS[law](rng, 200), LAWS[law](rng, 2 * LENGTH)
        own = DriftMonitor(reference, missing="category", average_run_length=LENGTH, seed=stream, shuffle=False)
        rows[stream] = own.update(new).detected_at or np.inf
    for n in (20, 50, 100, 200, 300):
        few(int((rows <= n).sum()), streams, n / (2 * LENGTH), f"{law}: first alarms by row {n}")
    mean = np.minimum(rows, 2 * LENGTH).mean()
    print(f"{law}: mean row of the first alarm, {2 * LENGTH} where there was none: {mean:.0f}, {LENGTH} were promised")
    assert mean >= LENGTH


def check_change(change: str, streams: int, seed: int, *, shuffle: bool, calm: int | None = None) -> None:
    """Hold the rows between which the change is named to 95 %, right after the alarm and 200 rows later.

    Before the change are so many rows, by default up to 199.
    """
    missed, widths = np.zeros(2, dtype=int), []
    for stream in range(streams):
        rng = np.random.default_rng([seed, stream])
        own = DriftMonitor(rng.normal(size=(300, 2)), seed=stream, shuffle=shuffle)
        drawn = int(rng.integers(0, 200))
        before = drawn if calm is None else calm
        for part in np.array_split(np.concatenate([rng.normal(size=(before, 2)), CHANGES[change](rng, 400)]), 40):
            if own.update(part).drift:
                break
        after = [own.changed_between()]
        own.update(CHANGES[change](rng, 200))
        after.append(own.changed_between())
        if own.state.detected_at is None or own.state.detected_at <= before:
            continue
        inside = [found is not None and found[0] <= before + 1 <= found[1] for found in after]
        missed += ~np.array(inside)
        widths.append([np.inf if found is None else found[1] - found[0] + 1 for found in after])
    print(f"{change}: {len(widths)} alarms after the change, median rows in the interval {np.median(widths, axis=0)}")
    assert len(widths) > streams / 2
    for count, when in zip(missed.tolist(), ("at the alarm", "200 rows later"), strict=True):
        few(count, streams, 0.05, f"{change}, {when}: intervals that miss the change")


@pytest.mark.parametrize("law", mostly_slow(LAWS, "tied"))
def test_few_of_20_streams_ever_alarm(law: str) -> None:
    check_level(least_pvalues(law, 20, 3), law)


@pytest.mark.parametrize("law", mostly_slow(LAWS, "heavy"))
def test_run_lengths_of_30_streams(law: str) -> None:
    check_run_lengths(law, 30, 5)


@pytest.mark.parametrize("change", mostly_slow(CHANGES, "two deviations"))
def test_the_change_is_where_it_is_said_in_12_streams(change: str) -> None:
    check_change(change, 12, 7, shuffle=change == "clusters")


@pytest.mark.slow
@pytest.mark.parametrize("law", list(LAWS))
def test_few_of_2000_streams_ever_alarm(law: str) -> None:
    check_level(least_pvalues(law, 2000, 4), law)


@pytest.mark.slow
@pytest.mark.parametrize("law", list(LAWS))
def test_run_lengths_of_2000_streams(law: str) -> None:
    check_run_lengths(law, 2000, 6)


@pytest.mark.slow
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("change", list(CHANGES))
def test_the_change_is_where_it_is_said_in_1000_streams(change: str, shuffle: bool) -> None:
    check_change(change, 1000, 8, shuffle=shuffle)


@pytest.mark.slow
@pytest.mark.parametrize("change", list(CHANGES))
def test_a_change_at_row_301_is_where_it_is_said_in_1000_streams(change: str) -> None:
    check_change(change, 1000, 9, shuffle=False, calm=300)
