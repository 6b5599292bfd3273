"""Power of the default above 20,000 rows, by bins, beside the streaming tests of one kernel that were there before.

    git worktree add --detach DIR 76d487a
    python benchmarks/bins_earlier.py run DIR [--rows 20000] [--trials 200] [--only TEXT]   # resumable
    python benchmarks/bins_earlier.py report

The earlier tests (``mmd_stream_test`` and ``hsic_stream_test``, Gaussian kernels at the median bandwidth by Fourier
features) run in a process of their own on the same rows. Cases are those of bins_power.py; differences that are local
are so large that the earlier test finds about a third of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

import kernelmean as km
from bins_power import PAIRS, SAMPLES, read

RESULTS = Path(__file__).with_name("bins_earlier.jsonl")
BATCH, LEVEL = 20, 0.05
LOCAL = {"waves, d = 1": 5.0, "far clusters": 2.6, "a pocket, d = 3": 1.8, "heavy tails": 1.6, "sine": 1.6}
"""Cases of local differences, and how many times as large they are as in bins_power.py."""
CASES = {f"mmd_test: {name}": (km.mmd_test, draw, LOCAL.get(name, 1.0)) for name, draw in SAMPLES.items()}
CASES |= {f"hsic_test: {name}": (km.hsic_test, draw, LOCAL.get(name, 1.0)) for name, draw in PAIRS.items()}
EARLIER = """
import sys
import numpy as np
from kernelmean.streaming import hsic_stream_test, mmd_stream_test

tests = {"mmd_test": mmd_stream_test, "hsic_test": hsic_stream_test}
for line in sys.stdin:
    name, path, seed = line.split()
    rows = np.load(path)
    print(tests[name](rows["X"], rows["Y"], seed=int(seed)).pvalue, flush=True)
"""


class Earlier:
    """The tests of an earlier checkout, in a process of their own."""

    def __init__(self, checkout: str, folder: str) -> None:
        env = {**os.environ, "PYTHONPATH": str(Path(checkout) / "src")}
        command = [sys.executable, "-W", "ignore", "-c", EARLIER]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.path = Path(folder) / "rows.npz"

    def pvalue(self, test: str, X: np.ndarray, Y: np.ndarray, seed: int) -> float:
        np.savez(self.path, X=X, Y=Y)
        self.process.stdin.write(f"{test} {self.path} {seed}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def run(checkout: str, rows: int, trials: int, only: str) -> None:
    done = {(row["case"], row["rows"], row["first"]) for row in read(RESULTS)}
    with tempfile.TemporaryDirectory() as folder:
        earlier = Earlier(checkout, folder)
        for first in range(0, trials, BATCH):
            for case, (test, draw, factor) in CASES.items():
                if only in case and (case, rows, first) not in done:
                    found = []
                    for trial in range(first, first + BATCH):
                        X, Y = draw(np.random.default_rng([23, trial]), rows, factor * (1000 / rows) ** 0.5)
                        before = earlier.pvalue(test.__name__, X, Y, trial)
                        now = test(X, Y, rng=trial, scheme="bins").pvalue
                        found.append([int(before <= LEVEL), int(now <= LEVEL)])
                    with RESULTS.open("a", encoding="utf-8") as file:
                        row = {"case": case, "rows": rows, "first": first, "rejected": found}
                        file.write(json.dumps(row) + "\n")


def report() -> None:
    found: dict[tuple[int, str], list] = defaultdict(list)
    for row in read(RESULTS):
        found[row["rows"], row["case"]] += row["rejected"]
    print("| test: case | rows | trials | one kernel, before | default, in bins | difference (s.e.) |")
    print("|---" * 6 + "|")
    for (rows, case), own in found.items():
        before, now = np.array(own).T
        error = (now - before).std() / len(own) ** 0.5
        local = " (local)" if case.partition(": ")[2] in LOCAL else ""
        gap = f"{now.mean() - before.mean():+.3f} ({error:.3f})"
        print(f"| {case}{local} | {rows:,} | {len(own)} | {before.mean():.3f} | {now.mean():.3f} | {gap} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("checkout", nargs="?", help="a folder with commit 76d487a")
    parser.add_argument("--rows", type=int, default=20_000, help="of a sample")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.checkout, arguments.rows, arguments.trials, arguments.only)
    else:
        report()
