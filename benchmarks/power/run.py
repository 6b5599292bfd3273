"""Power and level of this library's tests and of other libraries', on the same data sets.

``python benchmarks/power/run.py --quick`` takes minutes. Results are appended to results/trials.jsonl batch by batch;
what is there already is not run again, so an interrupted run is continued by the same command. ``--verify 25`` runs the
first 25 trials of every case with our tests again, ``--verify 500`` all that were stored, and counts decisions that are
not the stored ones. ``--data`` runs the cases of ``data_cases.py``, data that people have, into results/data.jsonl.
With ``--peer-python PATH`` other libraries run in that interpreter, else where they can be imported here.
``python benchmarks/power/report.py`` writes the tables and figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 (after the numbers of threads)
import peers  # noqa: E402 (after the numbers of threads)
from cases import CASES, Case  # noqa: E402 (after the numbers of threads)
from data_cases import DESIGN, HELD_OUT  # noqa: E402 (after the numbers of threads)
from ours import OURS, offered  # noqa: E402 (after the numbers of threads)

RESULTS, OF_DATA = (Path(__file__).parent / "results" / name for name in ("trials.jsonl", "data.jsonl"))
LEVELS = (0.01, 0.05, 0.1)
RENAMED = {"adaptive MMD, fuse": "adaptive MMD, log-mean-exp", "adaptive HSIC, fuse": "adaptive HSIC, log-mean-exp"}
"""Methods by the names under which stored trials were run."""
SLOW = ("hyppo MMD", "hyppo MGC", "hyppo MGC two-sample", "hyppo Hsic")
"""Peers that take seconds for one data set: fewer trials."""


@dataclass(frozen=True)
class Job:
    """Some trials of one method on one case."""

    case: Case
    method: str
    first: int
    trials: int
    resamples: int

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.case.name, self.method, self.first, self.resamples

    @property
    def batch(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        return [(trial, *self.case.data(trial)) for trial in range(self.first, self.first + self.trials)]

    def pvalues(self, python: str | None) -> list[float | None]:
        if self.method in OURS:
            test = OURS[self.method][1]
            return [test(x, y, self.resamples, trial) for trial, x, y in self.batch]
        if python is None:
            return peers.evaluate(self.method, self.batch, self.resamples)
        return in_child(python, self.method, self.batch, self.resamples)


def in_child(python: str, method: str, batch: list, resamples: int) -> list[float | None]:
    """Run a peer in another interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.npz"), Path(folder, "out.json")
        arrays = {f"{side}{trial}": value for trial, x, y in batch for side, value in (("x", x), ("y", y))}
        np.savez(source, trials=[trial for trial, _, _ in batch], **arrays)
        script = Path(peers.__file__)
        subprocess.run([python, script, method, source, target, str(resamples)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(target.read_text(encoding="utf-8"))


def known_peers(python: str | None) -> list[str]:
    if python is None:
        return peers.available()
    listed = subprocess.run([python, peers.__file__], check=True, capture_output=True, text=True)
    return json.loads(listed.stdout)


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield all jobs, first batches of everything first."""
    kinds = {name: kind for name, (kind, _) in OURS.items() if offered(name)}
    kinds |= {name: peers.PEERS[name][0] for name in known_peers(options.peer_python)}
    for first in range(options.first, options.trials, options.batch):
        for case in (DESIGN | HELD_OUT if options.data else CASES).values():
            for method, kind in kinds.items():
                wanted = options.slow_trials if method in SLOW else options.trials
                listed = not options.methods or method in options.methods
                if (
                    kind == case.kind
                    and listed
                    and first < wanted
                    and (not options.cases or case.name in options.cases)
                ):
                    yield Job(case, method, first, min(options.batch, wanted - first), options.resamples)


def record(pvalues: list[float | None], seconds: float) -> dict:
    """Return what is kept of a batch: counts at every level, and the decisions at 0.05 as bits."""
    if None in pvalues:
        return {"applies": False}
    p = np.array(pvalues, dtype=float)
    bits = "".join("1" if reject else "0" for reject in p <= 0.05 + 1e-12)
    counts = {str(level): int((p <= level + 1e-12).sum()) for level in LEVELS}
    return {"trials": len(p), "rejections": counts, "decisions": f"{int(bits, 2):x}", "seconds": round(seconds, 3)}


def done(results: Path) -> set[tuple[str, str, int, int]]:
    return {(row["case"], row["method"], row["first"], row["resamples"]) for row in read(results)}


def read(results: Path = RESULTS) -> list[dict]:
    """Return the stored batches, their methods under the names that these have now."""
    if not results.exists():
        return []
    rows = map(json.loads, results.read_text(encoding="utf-8").splitlines())
    return [row | {"method": RENAMED.get(row["method"], row["method"])} for row in rows]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first trial; from 500 on the report repeats cases")
    parser.add_argument("--slow-trials", type=int, default=100, help="for peers that take seconds a trial")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=199)
    parser.add_argument("--cases", nargs="*")
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--peer-python", metavar="PATH")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop after a batch once so much has passed"
    )
    parser.add_argument("--verify", type=int, metavar="N", help="compare N trials of every case with what is stored")
    parser.add_argument("--data", action="store_true", help="data that people have, instead of the cases of the study")
    parser.add_argument("--quick", action="store_true", help="20 trials, 99 resamples, no slow peers")
    options = parser.parse_args()
    if options.quick:
        options.trials, options.slow_trials, options.batch, options.resamples = 20, 0, 20, 99
    return options


def verified(stored: dict, most: int) -> tuple[int, int]:
    """Run the trials of a stored batch that are below ``most`` again; return how many decisions differ, of how many."""
    trials = min(most - stored["first"], stored["trials"])
    case = (CASES | DESIGN | HELD_OUT)[stored["case"]]
    pvalues = Job(case, stored["method"], stored["first"], trials, stored["resamples"]).pvalues(None)
    before = f"{int(stored['decisions'], 16):0{stored['trials']}b}"
    return sum((p <= 0.05 + 1e-12) != (bit == "1") for p, bit in zip(pvalues, before, strict=False)), trials


def verify(most: int, methods: Iterable[str], results: Path) -> None:
    """Print how many decisions of our tests are no longer those that are stored."""
    stored = [row for row in read(results) if row["first"] < most and row.get("applies", True)]
    for method in methods:
        batches = [row for row in stored if row["method"] == method]
        differ = trials = 0
        for row in batches:
            changed, number = verified(row, most)
            differ, trials = differ + changed, trials + number
            if changed:
                print(f"  {row['case']}, from trial {row['first']}: {changed} of {number} differ", flush=True)
        if batches:
            print(f"{method}: {differ} of {trials} decisions in {len(batches)} batches differ", flush=True)


def main() -> None:
    options, start = arguments(), time.perf_counter()
    results = OF_DATA if options.data else RESULTS
    if options.verify:
        verify(options.verify, options.methods or OURS, results)
        return
    results.parent.mkdir(exist_ok=True)
    finished = done(results)
    for job in jobs(options):
        if job.key in finished:
            continue
        if time.perf_counter() - start > options.seconds:
            print("time is up; the same command continues", file=sys.stderr)
            return
        began = time.perf_counter()
        pvalues = job.pvalues(options.peer_python)
        found = record(pvalues, time.perf_counter() - began)
        case, method, first, resamples = job.key
        with results.open("a", encoding="utf-8") as file:
            file.write(
                json.dumps({"case": case, "method": method, "first": first, "resamples": resamples} | found) + "\n"
            )


if __name__ == "__main__":
    main()
