"""Times of ``dependence`` on many columns; prints the table of docs/many-columns.md.

    python benchmarks/many_columns.py [--screen-only]

One thread, adaptive tests of 999 permutations and more where Holm's method needs them. Every cell is a fresh process:
seconds of the processor from the call on (what the library loads when it is called is counted), and its peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd


def weather() -> pd.DataFrame:
    """Return four years of days: times, numbers with many zeros, rounded ones that go with the season, categories."""
    rng, days = np.random.default_rng(0), np.arange(1461)
    season = np.cos(2 * np.pi * days / 365.25)
    rain = np.maximum(rng.gamma(0.5, 8.0, 1461) - 3 + 2 * season, 0.0)
    warmest = 16 - 9 * season + 4 * rng.normal(size=1461) - (rain > 0)
    columns = {
        "date": pd.date_range("2020-01-01", periods=1461),
        "rain": rain.round(1),
        "warmest": warmest.round(1),
        "coldest": (0.6 * warmest - 2 + 2 * rng.normal(size=1461)).round(1),
        "wind": (rng.gamma(4, 0.8, 1461) + (rain > 0)).round(1),
        "weather": np.where(rain > 0, rng.choice(["rain", "rain", "snow"], 1461), rng.choice(["sun", "fog"], 1461)),
    }
    return pd.DataFrame(columns)


def few_rows(dependent: int) -> np.ndarray:
    """Return 50 columns; so many of them depend on the one before."""
    values = np.random.default_rng(0).standard_normal((200, 50))
    for j in range(dependent):
        values[:, 2 * j + 1] += values[:, 2 * j]
    return values


CELLS: dict[str, Callable[[], Any]] = {
    "`dependence`, 1461 × 6 mixed, 15 pairs": weather,
    "`dependence`, 200 × 50, 1,225 pairs, 1 depends": lambda: few_rows(1),
    "`dependence`, 200 × 50, 1,225 pairs, 10 depend": lambda: few_rows(10),
}


def measured(name: str, screen: bool) -> dict[str, float]:
    """Run a cell here and now."""
    import kernelmean as km

    data = CELLS[name]()
    began = time.process_time()
    km.dependence(data, screen=screen)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return {"seconds": time.process_time() - began, "peak": peak}


def child(name: str, screen: bool) -> dict[str, float]:
    command = [sys.executable, __file__, "--cell", name, *([] if screen else ["--all"])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screen-only", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    parser.add_argument("--all", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(measured(options.cell, not options.all)))
        return
    print("| | seconds | without the screen | peak memory, MiB |\n|---|---|---|---|")
    for name in CELLS:
        with_screen = child(name, True)
        without = "" if options.screen_only else f"{child(name, False)['seconds']:.1f}"
        print(f"| {name} | {with_screen['seconds']:.1f} | {without} | {with_screen['peak']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
