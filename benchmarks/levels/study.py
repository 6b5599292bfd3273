"""The level of every test: estimator × scheme × distribution and size of the data, 2,000 null data sets a cell.

Beside these there are the default tests, of which nothing is chosen, on many more distributions and in designs
(defaults.py) and in bins (bins.py), and ``compare`` and ``dependence`` on tables with missing cells (missing.py).

python benchmarks/levels/study.py run [--trials 2000] [--only TEXT] [--jobs 2]  # goes on where it was stopped
python benchmarks/levels/report.py > docs/evidence/levels.md               # what was found, with a verdict
"""

from __future__ import annotations

import argparse
import json
import os
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from bins import BINNED, Binned  # noqa: E402 (after the numbers of threads)
from defaults import DEFAULTS, Default  # noqa: E402
from missing import CASES, Case  # noqa: E402

from kernelmean import Design  # noqa: E402
from kernelmean.inference import Resampling, TestResult  # noqa: E402
from kernelmean.inference.questions import Pairs, TwoSamples  # noqa: E402
from kernelmean.inference.request import asked  # noqa: E402

RESULTS = Path(__file__).parent / "results.jsonl"
PART, TOGETHER = RESULTS.with_name("unfinished.jsonl"), 100
"""Of a cell that is not finished, the p-values of every hundred data sets, so that it can go on from there."""
LEVELS, RESAMPLES = (0.01, 0.05, 0.1), 99
STEPS = 20
"""Of the p-values' distribution so many steps are kept, beside the three levels."""
LAWS = {
    "normal": lambda rng, n: rng.standard_normal((n, 2)),
    "binary": lambda rng, n: rng.integers(0, 2, (n, 2)).astype(float),
    "heavy": lambda rng, n: rng.standard_t(1.0, (n, 1)),
}
TIES = ("binary",)
CONDITIONS = {
    "two samples": {
        "continuous": ("normal", (12, 12)),
        "heavy ties": ("binary", (12, 12)),
        "unbalanced": ("normal", (5, 27)),
        "heavy tails": ("heavy", (12, 12)),
        "tiny": ("normal", (5, 5)),
        "a hundred": ("normal", (50, 50)),
    },
    "independence": {
        "continuous": ("normal", (14,)),
        "heavy ties": ("binary", (14,)),
        "heavy tails": ("heavy", (14,)),
        "tiny": ("normal", (5,)),
        "a hundred": ("normal", (100,)),
    },
}
SCHEMES = {
    "two samples": ["auto"],
    "independence": ["auto", "random"],
}
ESTIMATORS = {
    "two samples": ["kme", "s-kmse", "f-kmse", "mkme", "mmkme", "adaptive", "log-mean-exp", "aggregate"],
    "independence": ["kme", "mkme", "mmkme", "scose", "fcose", "adaptive", "log-mean-exp", "aggregate"],
}
LISTED_ONLY = ("f-kmse", "fcose")
"""Estimators that are solved for under every permutation: no scheme but a list serves them."""


@dataclass(frozen=True)
class Cell:
    """One test on one distribution."""

    test: str
    estimator: str
    scheme: str
    law: str
    sizes: tuple[int, ...]

    @property
    def key(self) -> str:
        return " | ".join([self.test, self.estimator, self.scheme, self.law, "+".join(map(str, self.sizes))])

    @property
    def described(self) -> dict[str, object]:
        return asdict(self)

    def tested(self, rng: np.random.Generator, n_resamples: int) -> TestResult:
        two = self.test == "two samples"
        kind, sizes = (TwoSamples, self.sizes) if two else (Pairs, self.sizes * 2)
        question = kind.of([LAWS[self.law](rng, n) for n in sizes], Design())
        wanted = asked(None, self.estimator, question.known(Design()), 1 if two else 2)
        how = Resampling.of(self.scheme, n_resamples, rng)
        return TestResult(**question.outcome(wanted, "u" if two else "v", how))


AnyCell = Cell | Default | Case | Binned


def pvalue(cell: AnyCell, trial: int) -> tuple[float, int]:
    """Return the p-value of one null data set, and the number of arrangements it comes from."""
    result = cell.tested(np.random.default_rng([zlib.crc32(cell.key.encode()), trial]), RESAMPLES)
    return result.pvalue, result.n_resamples + 1


def pvalues_in(cell: AnyCell, trials: range) -> list[tuple[float, int]]:
    return [pvalue(cell, trial) for trial in trials]


def cells() -> Iterator[AnyCell]:
    yield from DEFAULTS
    for test, conditions in CONDITIONS.items():
        for estimator in ESTIMATORS[test]:
            for scheme in SCHEMES[test][: 1 if estimator in LISTED_ONLY else None]:
                yield from (Cell(test, estimator, scheme, *condition) for condition in conditions.values())
    yield from CASES
    yield from BINNED


def measured(cell: AnyCell, trials: int, pool: ProcessPoolExecutor) -> dict[str, object] | None:
    """Return the counts of one cell, None where the scheme does not serve it."""
    start = time.perf_counter()
    try:
        found = pvalues_of(cell, trials, pool)
    except ValueError as error:
        if "does not fit" in str(error) or "LowRank" in type(error).__name__:
            return None
        raise
    pvalues, totals = map(np.array, zip(*found, strict=True))
    counts = {str(level): reached(level, pvalues) for level in LEVELS}
    attained = {str(level): attainable(level, totals) for level in LEVELS}
    steps = [step / STEPS for step in range(1, STEPS)]
    cumulated = [[reached(step, pvalues) for step in steps], [attainable(step, totals) for step in steps]]
    measurements = {"counts": counts, "attained": attained, "cumulated": cumulated}
    return {**cell.described, "trials": trials, **measurements, "seconds": round(time.perf_counter() - start, 2)}


def unfinished() -> list[dict]:
    return list(map(json.loads, PART.read_text().splitlines())) if PART.exists() else []


def forget(cell: AnyCell) -> None:
    """Drop what was kept of a cell that is finished."""
    PART.write_text("".join(json.dumps(row) + "\n" for row in unfinished() if row["key"] != cell.key))


def pvalues_of(cell: AnyCell, trials: int, pool: ProcessPoolExecutor) -> list[tuple[float, int]]:
    """Return the p-values of null data sets, beginning with those that an earlier run left."""
    left = [row["found"] for row in unfinished() if row["key"] == cell.key]
    found = [(p, total) for part in left for p, total in part][:trials]
    todo = range(len(found), trials)
    parts = [todo[first : first + TOGETHER] for first in range(0, len(todo), TOGETHER)]
    for part in pool.map(partial(pvalues_in, cell), parts):
        found += part
        with PART.open("a") as file:
            file.write(json.dumps({"key": cell.key, "found": part}) + "\n")
    return found


def reached(level: float, pvalues: np.ndarray) -> int:
    """Return how many p-values are up to a level."""
    return int((pvalues <= level + 1e-12).sum())


def attainable(level: float, totals: np.ndarray) -> float:
    """Return the share that is up to a level when all arrangements are equally likely and none are tied."""
    return float(np.mean(np.floor(level * totals + 1e-9) / totals))


def run(trials: int, only: str, jobs: int) -> None:
    done = {row["key"] for row in read() if not row.get("dated")}
    todo = [cell for cell in cells() if cell.key not in done and only in cell.key]
    with ProcessPoolExecutor(jobs) as pool:
        for number, cell in enumerate(todo, 1):
            row = measured(cell, min(trials, getattr(cell, "most", trials)), pool) or {"served": False}
            with RESULTS.open("a") as file:
                file.write(json.dumps({"key": cell.key, **row}) + "\n")
            forget(cell)
            print(f"{number}/{len(todo)} {cell.key}: {row.get('counts', 'not served')}", flush=True)


def read() -> list[dict]:
    """Return one row for every cell: the last one, which stands for those that are dated."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return list({row["key"]: row for row in map(json.loads, lines)}.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run"])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--only", default="", help="cells whose name holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    arguments = parser.parse_args()
    run(arguments.trials, arguments.only, arguments.jobs)
