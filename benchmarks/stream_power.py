"""Level and power of the tests in one pass beside the exact tests, on the cases of the power study.

``python benchmarks/stream_power.py --trials 300`` runs trials and appends them to the results beside it (what is there
already is not run again, so an interrupted run is continued by the same command); ``--report`` prints the table that
docs/scale.md holds. Both tests see the same samples and the same kernel, so that features and bins are what differs.

Cases have tens of rows, streams millions. Every case is therefore also run with ten times its rows, each of which comes
from the case with probability 1/√10 and else from the distribution without difference: n MMD² and n HSIC stay what they
were.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zlib
from collections import defaultdict
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).parent / "power"))

import numpy as np  # noqa: E402 (after the numbers of threads)
from cases import CASES, Case, Data  # noqa: E402 (of the power study)
from scipy import stats  # noqa: E402

import kernelmean as km  # noqa: E402

RESULTS = Path(__file__).with_name("stream_power.jsonl")
BATCH, RESAMPLES, LEVEL = 25, 999, 0.05
PLAN = km.Plan(threads=1)
LEAST_PAIRS = 150
"""Shifts within groups of 16 pairs need some groups; with fewer pairs there is nothing to pass over."""


def data(case: Case, trial: int, times: int) -> Data:
    """Return the samples of a trial, or as many times as many rows of which a part is as in the case."""
    if times == 1:
        return case.data(trial)
    rng = np.random.default_rng([zlib.crc32(case.name.encode()), trial, times])
    draws = [case.draw(rng) for _ in range(times)]
    first, second = (np.concatenate([draw[side] for draw in draws]) for side in (0, 1))
    if case.null:
        return first, second
    others = [case.draw(rng) for _ in range(times * (1 + len(second) // len(first)))]
    plain = np.concatenate([draw[1 if case.kind == "independence" else 0] for draw in others])
    kept = rng.random(len(second)) < times**-0.5
    return first, np.where(kept[:, None], second, plain[: len(second)])


def theta(*samples: np.ndarray) -> float:
    return float(km.median_bandwidth(np.concatenate(samples)))


def pvalues(case: Case, x: np.ndarray, y: np.ndarray, seed: int) -> dict[str, float]:
    if case.kind == "two samples":
        kernel = km.kernels.Gaussian(theta(x, y))
        exact = {"n_resamples": RESAMPLES, "rng": seed, "plan": PLAN}
        stream = {**exact, "scheme": "one-pass"}
        return {
            "exact": km.mmd_test(x, y, kernel=kernel, **exact).pvalue,
            "one pass": km.mmd_test(x, y, kernel=kernel, **stream).pvalue,
            "exact mkme": km.mmd_test(x, y, estimator=km.MKME(kernel), **exact).pvalue,
            "one pass mkme": km.mmd_test(x, y, estimator=km.MKME(kernel), **stream).pvalue,
        }
    kernels = km.kernels.Gaussian(theta(x)), km.kernels.Gaussian(theta(y))
    options = {"kernel": kernels, "n_resamples": RESAMPLES, "rng": seed, "plan": PLAN}
    exact, stream = km.hsic_test(x, y, **options), km.hsic_test(x, y, scheme="one-pass", **options)
    return {"exact": exact.pvalue, "one pass": stream.pvalue}


def jobs(start: int, trials: int, null: bool, only: str) -> list[tuple[Case, int, int]]:
    """Return (case, times, first trial), such that an interrupted run has as many trials of every case."""
    cases = [case for case in CASES.values() if (case.null or not null) and only in f"{case.kind} | {case.name}"]
    cells = [(case, times) for case in cases for times in (1, 10)]
    kept = [
        (case, times)
        for case, times in cells
        if case.kind == "two samples" or len(data(case, 0, times)[0]) >= LEAST_PAIRS
    ]
    return [(case, times, first) for first in range(start, trials, BATCH) for case, times in kept]


def run(start: int, trials: int, null: bool, only: str) -> None:
    done = {(row["case"], row["times"], row["first"]) for row in read()}
    for case, times, first in jobs(start, trials, null, only):
        if (case.name, times, first) in done:
            continue
        found: dict[str, str] = defaultdict(str)
        for trial in range(first, first + BATCH):
            for method, p in pvalues(case, *data(case, trial, times), trial).items():
                found[method] += str(int(p <= LEVEL))
        row = {"case": case.name, "times": times, "first": first, "rejected": found}
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def read() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()] if RESULTS.exists() else []


def rejections() -> dict[tuple[str, int, str], np.ndarray]:
    found: dict[tuple[str, int, str], str] = defaultdict(str)
    for row in sorted(read(), key=lambda row: row["first"]):
        for method, bits in row["rejected"].items():
            found[row["case"], row["times"], method] += bits
    return {key: np.array([bit == "1" for bit in bits]) for key, bits in found.items()}


def power_rows(found: dict, kind: str, times: int, suffix: str) -> list[tuple[str, int, float, float, float, float]]:
    """Return case, trials, powers of the exact test and in one pass, their paired difference and its error."""
    rows = []
    for case in CASES.values():
        key = case.name, times
        if case.kind != kind or case.null or (*key, "exact" + suffix) not in found:
            continue
        exact, stream = found[*key, "exact" + suffix], found[*key, "one pass" + suffix]
        gap = stream.astype(float) - exact
        rows.append((case.name, len(gap), exact.mean(), stream.mean(), gap.mean(), gap.std() / len(gap) ** 0.5))
    return rows


def report() -> None:
    found = rejections()
    print("| test | rows | cases | trials each | exact | one pass | mean loss | largest loss |\n" + "|---" * 8 + "|")
    for kind, times, suffix in (
        ("two samples", 1, ""),
        ("two samples", 10, ""),
        ("two samples", 1, " mkme"),
        ("two samples", 10, " mkme"),
        ("independence", 10, ""),
    ):
        rows = power_rows(found, kind, times, suffix)
        if not rows:
            continue
        exact, stream, gap = (np.mean([row[k] for row in rows]) for k in (2, 3, 4))
        worst = min(rows, key=lambda row: row[4])
        trials = sorted({row[1] for row in rows})
        print(
            f"| {kind}{suffix or ' kme'} | × {times} | {len(rows)} | {trials[0]} to {trials[-1]} | {exact:.3f} | "
            f"{stream:.3f} | {-gap:+.3f} | {-worst[4]:+.3f} ± {worst[5]:.3f} ({worst[0]}) |"
        )
    print("\n| no difference | rows | test | trials | rejected at .05 | 99 % of exact tests |\n" + "|---" * 6 + "|")
    for (name, times, method), bits in found.items():
        if CASES[name].null and method.startswith("one pass"):
            low, high = stats.binom.interval(0.99, len(bits), LEVEL)
            share = f"{low / len(bits):.3f} to {high / len(bits):.3f}"
            print(f"| {name} | × {times} | {method} | {len(bits)} | {bits.mean():.3f} | {share} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--start", type=int, default=0, help="the first trial, for a second process beside another")
    parser.add_argument("--null", action="store_true", help="only cases without difference, for the level")
    parser.add_argument(
        "--only", default="", help="cases of which 'independence | NAME' or 'two samples | NAME' holds this"
    )
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    report() if arguments.report else run(arguments.start, arguments.trials, arguments.null, arguments.only)
