"""Power of ``dependence`` in batches beside ``dependence`` in memory, on the same tables, shape by shape.

    python benchmarks/dependence_batches.py run [--trials 200] [--only TEXT]    # resumable, one line a batch
    python benchmarks/dependence_batches.py report                              # the table of docs/scale.md
    python benchmarks/dependence_batches.py verify                              # repeats a fifth of the trials

The shapes are those of the simulations of Vogelstein et al. (2019, eLife 8:e41690, "Discovering and deciphering
relationships across disparate data modalities"), in one dimension and without noise; they took no part in the design
of what batches see. In a table of 4,000 rows a share of them has the shape and the others have independent columns with
the same two distributions. The share is the one of a grid for which the test in memory finds about half of 20 tables
that are not counted.
"""

# ruff: noqa: ARG005 (shapes that need no more random numbers)
from __future__ import annotations

import argparse
import json
import os
import zlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 (after the numbers of threads)

import kernelmean as km  # noqa: E402
from kernelmean.tables import limits  # noqa: E402

RESULTS = Path(__file__).with_name("dependence_batches.jsonl")
ROWS, BATCH, LEVEL, TUNED_ON = 4000, 20, 0.05, 20
SHARES = tuple(round(0.01 * 1.25**step, 4) for step in range(20))
Pair = tuple[np.ndarray, np.ndarray]
Shape = Callable[[np.random.Generator, np.ndarray], Pair]


def turned(rng: np.random.Generator, u: np.ndarray, angle: float) -> Pair:
    v = rng.uniform(-1, 1, len(u))
    return u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)


def signs(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], n)


# u is uniform on [-1, 1]
SHAPES: dict[str, Shape] = {
    "linear": lambda r, u: (u, u),
    "exponential": lambda r, u: (1.5 * (u + 1), np.exp(1.5 * (u + 1))),
    "cubic": lambda r, u: (u, 128 * (u - 1 / 3) ** 3 + 48 * (u - 1 / 3) ** 2 - 12 * (u - 1 / 3)),
    "joint normal": lambda r, u: tuple(r.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], len(u)).T),
    "step": lambda r, u: (u, (u > 0).astype(float)),
    "quadratic": lambda r, u: (u, u**2),
    "W": lambda r, u: (u, 4 * ((u**2 - 0.5) ** 2 + r.uniform(size=len(u)) / 500)),
    "spiral": lambda r, u: (
        2.5 * (u + 1) * np.cos(2.5 * np.pi * (u + 1)),
        2.5 * (u + 1) * np.sin(2.5 * np.pi * (u + 1)),
    ),
    "Bernoulli": lambda r, u: (x := (u > 0).astype(float), signs(r, len(u)) * x),
    "logarithm": lambda r, u: (x := r.standard_normal(len(u)), np.log(np.abs(x))),
    "fourth root": lambda r, u: (u, np.abs(u) ** 0.25),
    "sine, 4π": lambda r, u: (u, np.sin(4 * np.pi * u)),
    "sine, 16π": lambda r, u: (u, np.sin(16 * np.pi * u)),
    "square": lambda r, u: turned(r, u, -np.pi / 8),
    "diamond": lambda r, u: turned(r, u, -np.pi / 4),
    "two parabolas": lambda r, u: (u, signs(r, len(u)) * u**2),
    "circle": lambda r, u: (np.cos(np.pi * u), np.sin(np.pi * u)),
    "ellipse": lambda r, u: (5 * np.cos(np.pi * u), np.sin(np.pi * u)),
    "multiplicative": lambda r, u: (x := r.standard_normal(len(u)), x * r.standard_normal(len(u))),
    "independent": lambda r, u: (u, r.uniform(-1, 1, len(u))),
}


def table(shape: str, share: float, trial: int) -> np.ndarray:
    """Return rows of which a share has the shape."""
    rng = np.random.default_rng([zlib.crc32(shape.encode()), trial])
    x, y = SHAPES[shape](rng, rng.uniform(-1, 1, ROWS))
    others = np.flatnonzero(rng.random(ROWS) >= share)
    y = np.array(y)
    y[others] = y[rng.permutation(others)]
    return np.column_stack([x, y])


def rejected(rows: np.ndarray, trial: int, in_memory: bool) -> int:
    limits.ADAPTIVE_LIMIT = ROWS if in_memory else 0
    return int(km.dependence(rows, rng=trial).pairs[0].pvalue <= LEVEL)


def tuned(shape: str) -> float:
    """Return the share for which the test in memory finds about half, by tables that are not counted."""
    if shape == "independent":
        return 0.0
    low, high = 0, len(SHARES) - 1
    while low < high:
        middle = (low + high) // 2
        found = sum(rejected(table(shape, SHARES[middle], 10**6 + own), own, True) for own in range(TUNED_ON))
        low, high = (low, middle) if 2 * found >= TUNED_ON else (middle + 1, high)
    return SHARES[low]


def read() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()] if RESULTS.exists() else []


def batch(shape: str, share: float, first: int) -> list[list[int]]:
    tables = ((trial, table(shape, share, trial)) for trial in range(first, first + BATCH))
    return [[rejected(rows, trial, True), rejected(rows, trial, False)] for trial, rows in tables]


def verify(only: str) -> None:
    """Repeat the first tables of every shape, and count the decisions that differ from the stored ones."""
    different = many = 0
    for row in (row for row in read() if row["first"] == 0 and only in row["shape"]):
        gaps = np.array(batch(row["shape"], row["share"], 0)) != row["rejected"]
        different, many = different + int(gaps.sum()), many + gaps.size
        print(f"{row['shape']}: {gaps.sum()} of {gaps.size} decisions differ", flush=True)
    print(f"{different} of {many} decisions differ")


def run(trials: int, only: str) -> None:
    done = {(row["shape"], row["first"]) for row in read()}
    shares = {row["shape"]: row["share"] for row in read()}
    for first in range(0, trials, BATCH):
        for shape in SHAPES:
            if only not in shape or (shape, first) in done:
                continue
            share = shares[shape] = shares[shape] if shape in shares else tuned(shape)
            line = {"shape": shape, "share": share, "first": first, "rejected": batch(shape, share, first)}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def report() -> None:
    found: dict[str, list] = defaultdict(list)
    shares: dict[str, float] = {}
    for row in read():
        found[row["shape"]] += row["rejected"]
        shares[row["shape"]] = row["share"]
    print("| shape | share of rows | tables | in memory | in batches | batches less memory (s.e.) |")
    print("|---|---|---|---|---|---|")
    for shape in (name for name in SHAPES if name in found):
        print(line(shape, f"{shares[shape]:.3g}", np.array(found[shape])))
    least = min(len(own) for name, own in found.items() if name != "independent")
    together = [own[:least] for name, own in found.items() if name != "independent"]
    print(line("**mean of the dependent ones**", "", np.concatenate(together)))


def line(name: str, share: str, own: np.ndarray) -> str:
    gap = own[:, 1] - own[:, 0]
    error = gap.std() / len(own) ** 0.5
    memory, batches = own.mean(axis=0)
    return f"| {name} | {share} | {len(own)} | {memory:.3f} | {batches:.3f} | {gap.mean():+.3f} ({error:.3f}) |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report", "verify"])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--only", default="", help="shapes whose name holds this")
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.trials, arguments.only)
    elif arguments.what == "verify":
        verify(arguments.only)
    else:
        report()
