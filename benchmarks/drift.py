"""How soon a drift is found: the monitor against a fixed-size test that is repeated at a corrected level.

Prints the tables of docs/guides/drift.md: the mean number of drifted rows until the alarm at level .05, over streams,
and the share of streams with one; of the monitor the median as well, in which a stream without an alarm is later than
all others. With ``--late``: delays of late changes, and between which rows the change is named.
``python benchmarks/drift.py --streams 100 --repeated 0`` takes some minutes; the tests that are repeated take longer,
and run on so many of the streams only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean.inference.monitoring import DriftMonitor

LEVEL, REFERENCE, AFTER, BATCH = 0.05, 600, 600, 50
PROMISES: tuple[dict[str, Any], ...] = {"alpha": LEVEL}, {"average_run_length": 10_000}
Rows = Callable[[np.random.Generator, int], np.ndarray]
CHANGES: dict[str, Rows] = {
    "mean of one column + 0.25 sd": lambda rng, n: rng.normal([0.25, 0.0], 1.0, size=(n, 2)),
    "mean of one column + 0.5 sd": lambda rng, n: rng.normal([0.5, 0.0], 1.0, size=(n, 2)),
    "mean of one column + 1 sd": lambda rng, n: rng.normal([1.0, 0.0], 1.0, size=(n, 2)),
    "both sd × 1.5": lambda rng, n: rng.normal(0.0, 1.5, size=(n, 2)),
    "two clusters, same mean and variance": lambda rng, n: (
        rng.choice([-0.95, 0.95], size=(n, 1)) + rng.normal(0.0, np.sqrt(1 - 0.95**2), size=(n, 2))
    ),
}


def monitor(reference: np.ndarray, stream: np.ndarray, seed: int) -> float:
    """Return the row with which the monitor is alarmed, NaN for none."""
    found = DriftMonitor(reference, alpha=LEVEL, seed=seed, shuffle=False).update(stream).detected_at
    return np.nan if found is None else found


def repeated(reference: np.ndarray, stream: np.ndarray, seed: int, last: int | None) -> float:
    """Return the row after which the MMD test of all new rows, or of the last ones, rejects at level .05 / looks."""
    looks = range(BATCH, len(stream) + 1, BATCH)
    for end in looks:
        rows = stream[max(0, end - (last or end)) : end]
        if km.mmd_test(reference, rows, n_resamples=999, rng=seed, estimator="kme").pvalue <= LEVEL / len(looks):
            return end
    return np.nan


def cell(delays: list[float]) -> str:
    """Return the mean delay, rows without an alarm counted in full, and the share of streams that had one."""
    found = np.isfinite(delays)
    if not delays:
        return "not run"
    mean = np.where(found, delays, AFTER).mean()
    return f"{mean:.0f}" if found.all() else f"{mean:.0f} ({found.mean():.0%})"


def late(streams: int) -> None:
    """Print delays by either promise, and the interval of the change 500 rows later, for changes at several rows."""
    print("| change | at row | level 0.05 | run length 10,000 | interval of the change |\n|---|---|---|---|---|")
    for name in ("mean of one column + 0.5 sd", "mean of one column + 1 sd", "both sd × 1.5"):
        for before in (300, 3000):
            delays, ends = np.empty((2, streams)), []
            for seed in range(streams):
                rng = np.random.default_rng([20, seed])
                reference, calm = rng.normal(size=(REFERENCE, 2)), rng.normal(size=(before, 2))
                stream = np.concatenate([calm, CHANGES[name](rng, AFTER)])
                for place, promise in enumerate(PROMISES):
                    own = DriftMonitor(reference, seed=seed, shuffle=False, **promise)
                    delays[place, seed] = (own.update(stream).detected_at or np.nan) - before
                    interval = own.changed_between()
                    ends += [] if place or interval is None or delays[place, seed] <= 0 else [interval]
            low, high = np.median(ends, axis=0) - before
            found = " | ".join(cell(list(np.where(own > 0, own, np.nan))) for own in delays)
            print(f"| {name} | {before + 1} | {found} | {low:+.0f} to {high:+.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--repeated", type=int, help="the streams that the repeated tests see; all by default")
    parser.add_argument("--late", action="store_true")
    options = parser.parse_args()
    if options.late:
        late(options.streams)
        return
    streams = options.streams
    repetitions = streams if options.repeated is None else options.repeated
    names = ("monitor, mean", "monitor, median", "test of all new rows", "test of the last 100 rows")
    print(f"| change | at row | {' | '.join(names)} |", "|---" * 6 + "|", sep="\n")
    for name, draw in CHANGES.items():
        for before in (0, 300):
            delays: list[list[float]] = [[], [], []]
            for seed in range(streams):
                rng = np.random.default_rng([20, seed])
                reference, calm = rng.normal(size=(REFERENCE, 2)), rng.normal(size=(before, 2))
                stream = np.concatenate([calm, draw(rng, AFTER)])
                rows = [monitor(reference, stream, seed)]
                if seed < repetitions:
                    rows += [repeated(reference, stream, seed, last) for last in (None, 100)]
                for own, row in zip(delays, rows, strict=False):
                    own.append(np.nan if row <= before else row - before)
            middle = float(np.median(np.nan_to_num(delays[0], nan=np.inf)))
            median = f"{middle:.0f}" if np.isfinite(middle) else "none"
            cells = [cell(delays[0]), median, *map(cell, delays[1:])]
            print(f"| {name} | {before + 1} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
