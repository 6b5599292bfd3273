"""Random cases of everything that must hold, as many as are asked for.

    python tests/fuzz/run.py --cases 1000000

A finding is printed with the command that repeats it. The exit code is 1 when there is one.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

sys.path.append(str(Path(__file__).resolve().parents[1]))  # pytest has it from its settings

from concurrent.futures import ProcessPoolExecutor  # noqa: E402 (after the numbers of threads)

from checks import CHECKS, run  # noqa: E402 (after the numbers of threads)

BLOCK = 200
SLOW = {"anything": 0.3, "data_frames": 0.3}
"""Checks of which a case takes tens of milliseconds, and their number of cases beside that of the others."""


def block(job: tuple[str, int, int, int]) -> tuple[str, int, list[tuple[int, str]]]:
    """Run some cases of one check; return its name, how many, and the findings."""
    name, seed, first, count = job
    found = [(case, text) for case in range(first, first + count) if (text := run(name, seed, case))]
    return name, count, found


def jobs(names: list[str], seed: int, cases: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield blocks of cases, every check in turn."""
    shares = {name: SLOW.get(name, 1.0) for name in names}
    each = {name: math.ceil(cases * share / sum(shares.values())) for name, share in shares.items()}
    for first in range(0, max(each.values()), BLOCK):
        for name in names:
            if first < each[name]:
                yield name, seed, first, min(BLOCK, each[name] - first)


def main() -> int:
    """Run until the cases or the seconds are used up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", choices=list(CHECKS), nargs="*", default=list(CHECKS))
    parser.add_argument("--case", type=int, help="repeat one case of the check named by --only, with its traceback")
    options = parser.parse_args()
    if options.case is not None:
        import numpy as np

        CHECKS[options.only[0]](np.random.default_rng([options.seed, options.case, *options.only[0].encode()]))
        return 0
    start, done, findings = time.monotonic(), Counter[str](), Counter[str]()
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, count, found in pool.map(block, jobs(options.only, options.seed, options.cases)):
            done[name] += count
            findings[name] += len(found)
            for case, text in found[: max(0, 5 - findings[name] + len(found))]:
                again = f"python tests/fuzz/run.py --seed {options.seed} --only {name} --case {case}"
                print(f"{name}: {text[:300]}\n  {again}", flush=True)
            if time.monotonic() - start > options.seconds:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    for name in options.only:
        print(f"{name:22} {done[name]:8,} cases, {findings[name]} findings")
    print(f"{sum(done.values()):,} cases in {time.monotonic() - start:.0f} s")
    return int(any(findings.values()))


if __name__ == "__main__":
    sys.exit(main())
