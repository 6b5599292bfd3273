"""Power of the default tests by rows and by bins on the same data, and how often their decisions agree.

    python benchmarks/bins_power.py run [--rows 1000] [--trials 500] [--only TEXT]    # resumable, one line a batch
    python benchmarks/bins_power.py report                                            # the tables of docs/scale.md
    python benchmarks/bins_power.py verify [--only TEXT]                # are the first decisions still those stored?

Differences fade with the rows, so that a case has about the same power at any size. Every data set is tested by rows
with two seeds and by bins with the first: two seeds by rows show how often decisions agree that differ in nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 (after the numbers of threads)

import kernelmean as km  # noqa: E402
from kernelmean.tables import limits  # noqa: E402

RESULTS = Path(__file__).with_name("bins_power.jsonl")
BATCH, LEVEL = 20, 0.05
Draw = Callable[[np.random.Generator, int, float], tuple[np.ndarray, np.ndarray]]


def waves(rng: np.random.Generator, n: int, height: float, turns: int) -> np.ndarray:
    """Return numbers whose density on the unit interval is a wave."""
    x = rng.random((4 * n, 1))
    return x[2.0 * rng.random(4 * n) < 1 + height * np.sin(2 * np.pi * turns * x[:, 0])][:n]


def clusters(rng: np.random.Generator, n: int, spread: float) -> np.ndarray:
    return rng.choice([-20.0, 20.0], (n, 2)) + spread * rng.standard_normal((n, 2))


def with_pocket(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    x = rng.standard_normal((n, 3))
    chosen = rng.random(n) < share
    x[chosen] = 1.5 + 0.2 * rng.standard_normal((chosen.sum(), 3))
    return x


def correlated(rng: np.random.Generator, n: int, dim: int, rho: float) -> np.ndarray:
    x = rng.standard_normal((n, dim))
    x[:, 0] = np.sqrt(1 - rho**2) * x[:, 0] + rho * x[:, 1]
    return x


def normal(rng: np.random.Generator, n: int, dim: int, shift: float = 0.0, spread: float = 1.0) -> np.ndarray:
    x = rng.standard_normal((n, dim))
    x[:, 0] = spread * x[:, 0] + shift
    return x


def curve(rng: np.random.Generator, n: int, slope: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_normal((n, 1))
    return x, slope(x) + rng.standard_normal((n, 1))


# s is sqrt(1000 / n), and so much of a difference is left
SAMPLES: dict[str, Draw] = {
    "shift, d = 3": lambda r, n, s: (normal(r, n, 3), normal(r, n, 3, 0.115 * s)),
    "shift, d = 30": lambda r, n, s: (normal(r, n, 30), normal(r, n, 30, 0.17 * s)),
    "spread, d = 2": lambda r, n, s: (normal(r, n, 2), normal(r, n, 2, spread=1 + 0.1 * s)),
    "correlation, d = 10": lambda r, n, s: (correlated(r, n, 10, 0.0), correlated(r, n, 10, 0.24 * s)),
    "waves, d = 1": lambda r, n, s: (r.random((n, 1)), waves(r, n, min(0.36 * s, 1.0), 8)),
    "far clusters": lambda r, n, s: (clusters(r, n, 1.0), clusters(r, n, 1 - 0.075 * s)),
    "a pocket, d = 3": lambda r, n, s: (with_pocket(r, n, 0.0), with_pocket(r, n, 0.025 * s)),
    "heavy tails": lambda r, n, s: (r.standard_normal((n, 1)), r.standard_t(3 + 5 / s, (n, 1)) * 0.87),
    "rounded, d = 2": lambda r, n, s: (np.round(normal(r, n, 2)), np.round(normal(r, n, 2, 0.13 * s))),
    "n against n / 10": lambda r, n, s: (normal(r, n, 3), normal(r, n // 10, 3, 0.28 * s)),
}
PAIRS: dict[str, Draw] = {
    "line": lambda r, n, s: curve(r, n, lambda x: 0.07 * s * x),
    "parabola": lambda r, n, s: curve(r, n, lambda x: 0.09 * s * (x**2 - 1)),
    "sine": lambda r, n, s: curve(r, n, lambda x: 0.17 * s * np.sin(4 * x)),
    "spread": lambda r, n, s: (x := r.standard_normal((n, 1)), r.standard_normal((n, 1)) * np.exp(0.1 * s * x)),
}
CASES = [(km.mmd_test, name, draw) for name, draw in SAMPLES.items()]
CASES += [(km.hsic_test, name, draw) for name, draw in PAIRS.items()]


def decisions(test: Callable, draw: Draw, rows: int, trial: int) -> tuple[int, int, int]:
    """Return whether rows with one seed, with another, and bins reject."""
    X, Y = draw(np.random.default_rng([17, trial]), rows, (1000 / rows) ** 0.5)
    found = []
    for seed, how in ((trial, {}), (trial + 10**6, {}), (trial, {"scheme": "bins"})):
        limits.ADAPTIVE_LIMIT = 20_000 if how else 10**9
        found.append(int(test(X, Y, estimator="adaptive", rng=seed, **how).pvalue <= LEVEL))
    return tuple(found)


def run(rows: int, trials: int, only: str) -> None:
    done = {(row["case"], row["rows"], row["first"]) for row in read()}
    for first in range(0, trials, BATCH):
        for test, name, draw in CASES:
            case = f"{test.__name__}: {name}"
            if only in case and (case, rows, first) not in done:
                found = [decisions(test, draw, rows, trial) for trial in range(first, first + BATCH)]
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"case": case, "rows": rows, "first": first, "rejected": found}) + "\n")


def verify(only: str) -> None:
    """Print how many decisions of the first batch of every case are no longer those that are stored."""
    tests = {f"{test.__name__}: {name}": (test, draw) for test, name, draw in CASES}
    for row in read():
        if row["first"] == 0 and only in row["case"]:
            found = [decisions(*tests[row["case"]], row["rows"], trial) for trial in range(BATCH)]
            changed = int((np.array(found) != np.array(row["rejected"])).sum())
            print(f"{row['case']}, {row['rows']} rows: {changed} of {3 * BATCH} decisions differ", flush=True)


def read(results: Path = RESULTS) -> list[dict]:
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()] if results.exists() else []


def report() -> None:
    found: dict[tuple[int, str], list] = defaultdict(list)
    for row in read():
        found[row["rows"], row["case"]] += row["rejected"]
    heads = "test: case, rows, trials, by rows, by bins, bins less rows (s.e.), two seeds agree, rows and bins agree"
    print(f"| {' | '.join(heads.split(', '))} |")
    print("|---" * 8 + "|")
    for rows in sorted({rows for rows, _ in found}):
        mine = {case: np.array(own) for (many, case), own in found.items() if many == rows}
        for case, own in mine.items():
            print(line(case, rows, own))
        for test in ("mmd_test", "hsic_test"):
            together = [own for case, own in mine.items() if case.startswith(test)]
            if together:
                least = min(map(len, together))
                print(line(f"**{test}: mean**", rows, np.concatenate([own[:least] for own in together])))


def line(case: str, rows: int, own: np.ndarray) -> str:
    first, second, bins = own.T
    gap = bins - (first + second) / 2
    error = gap.std() / len(own) ** 0.5
    return (
        f"| {case} | {rows:,} | {len(own)} | {(first.mean() + second.mean()) / 2:.3f} | {bins.mean():.3f} | "
        f"{gap.mean():+.3f} ({error:.3f}) | {(first == second).mean():.3f} | {(first == bins).mean():.3f} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report", "verify"])
    parser.add_argument("--rows", type=int, default=1000, help="of a sample")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.rows, arguments.trials, arguments.only)
    elif arguments.what == "verify":
        verify(arguments.only)
    else:
        report()
