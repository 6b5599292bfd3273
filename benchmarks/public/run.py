"""Power on public benchmarks: the default test, tests of other authors that can be run here, and published figures.

python benchmarks/public/run.py --keep [--trials 200] [--first 0] [--methods NAME ...] [--settings TEXT]
python benchmarks/public/run.py --check     # the rebuilt tests against powers that their authors published
python benchmarks/public/run.py --verify    # every stored batch again: is the default still as stored?
python benchmarks/public/run.py --page > docs/evidence/public-benchmarks.md

Results go to results.jsonl, batch by batch; what is there is not run again. Other libraries run where they can be
imported: start this in an interpreter that has them, with ``--methods``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from methods import CHECKS, METHODS, OURS  # noqa: E402 (after the numbers of threads)
from settings import SETTINGS  # noqa: E402

RESULTS = Path(__file__).with_name("results.jsonl")
LEVEL = 0.05


def rejections(name: str, method: str, first: int, trials: int) -> int | None:
    """Return how many trials reject, or None where the method does not serve the data."""
    setting, test = SETTINGS[name], METHODS[method][1]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in range(first, first + trials):
            p = test(setting, *setting.data(name, trial), trial)
            if p is None:
                return None
            found.append(p <= LEVEL + 1e-12)
    return sum(found)


def read() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def batch(name: str, method: str, first: int, trials: int, keep: bool) -> None:
    """Run some trials and print what is found; keep it if asked."""
    start = time.perf_counter()
    found = rejections(name, method, first, trials)
    if found is None:
        return
    seconds = round(time.perf_counter() - start, 1)
    row = {"setting": name, "method": method, "first": first, "trials": trials, "rejections": found, "seconds": seconds}
    print(json.dumps(row), flush=True)
    if keep:
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")


def jobs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return settings and methods that go together and were asked for."""
    if options.check:
        return [(name, method) for method, names in CHECKS.items() for name in names]
    return [
        (name, method)
        for name, setting in SETTINGS.items()
        for method in options.methods
        if options.settings in name and METHODS[method][0] in ("", setting.question)
    ]


def verify(part: str) -> None:
    """Print whether the default still rejects as often as is stored, batch by batch."""
    stored = [row for row in read() if row["method"] == OURS and part in row["setting"]]
    differ = 0
    for row in stored:
        count = rejections(row["setting"], OURS, row["first"], row["trials"])
        differ += count != row["rejections"]
        label = f"{row['setting']}, from trial {row['first']}"
        print(f"{label}: {count} of {row['trials']} reject, {row['rejections']} stored", flush=True)
    print(f"{differ} of {len(stored)} batches differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first trial")
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--methods", nargs="*", default=[OURS], choices=METHODS, metavar="NAME")
    parser.add_argument("--settings", default="", help="a part of the name")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop after a batch once so much has passed"
    )
    parser.add_argument("--keep", action="store_true", help="add what is found to results.jsonl")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        from page import page

        print(page(read()))
        return
    if options.verify:
        verify(options.settings)
        return
    keep, start = options.keep or options.check, time.perf_counter()
    there = {(row["setting"], row["method"], row["first"]) for row in read()} if keep else set()
    last = options.first + options.trials
    for first in range(options.first, last, options.batch):
        for name, method in jobs(options):
            if time.perf_counter() - start > options.seconds:
                print("time is up; the same command continues", file=sys.stderr)
                return
            if (name, method, first) not in there:
                batch(name, method, first, min(options.batch, last - first), keep)
    if options.check:
        from page import check_table

        print("\n".join(check_table(read())))


if __name__ == "__main__":
    main()
