"""Times of ``compare`` and ``changes`` on long tables of mixed columns; prints a table of docs/many-columns.md.

    python benchmarks/mixed_tables.py [--beside FOLDER] [--only WORD]

The tables are made up, like those of a business: prices, counts, amounts that are mostly 0, categories, measurements,
blank cells and a date. Every cell is a fresh process, and its time counts from the call on (the command: from its
start on): seconds by the clock / seconds of the processor, of the quickest of two. With --beside, every cell is also
measured with the package in that folder, such as the src of another checkout, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from _timing import machine

BLANK_EVERY, BLANK = 4, 0.05


def orders(rows: int, columns: int) -> pd.DataFrame:
    """Return a table in the order of its dates; every fourth column has blank cells."""
    rng = np.random.default_rng(0)
    kinds = {
        "price": lambda: rng.lognormal(0.0, 1.0, rows).round(2),
        "count": lambda: rng.poisson(3.0, rows).astype(float),
        "region": lambda: rng.choice(list("ABCDEFGH"), rows, p=np.arange(8, 0, -1) / 36),
        "discount": lambda: np.where(rng.random(rows) < 0.8, 0.0, rng.gamma(2.0, 50.0, rows).round()),
        "temperature": lambda: rng.normal(20.0, 5.0, rows).round(1),
        "score": lambda: rng.normal(size=rows),
    }
    days = np.sort(rng.integers(0, 365, rows))
    table: dict[str, Any] = {"date": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")}
    for k in range(columns - 1):
        kind = list(kinds)[k % len(kinds)]
        column = pd.Series(kinds[kind]())
        if k % BLANK_EVERY == 0:
            column[rng.random(rows) < BLANK] = None
        table[f"{kind}_{k}"] = column
    return pd.DataFrame(table)


def two(rows: int, columns: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every other row, and the rest with prices, discounts and temperatures 5 % higher."""
    table = orders(rows, columns)
    first, second = (table[start::2].reset_index(drop=True) for start in (0, 1))
    for name in second:
        if name.startswith(("price", "discount", "temperature")):
            second[name] = (1.05 * second[name]).round(1)
    return first, second


def compared(rows: int, columns: int, threads: int) -> float:
    import kernelmean as km

    tables = two(rows, columns)
    began = time.perf_counter()
    km.compare(*tables, missing="category", plan=km.Plan(threads=threads))
    return time.perf_counter() - began


def changed(rows: int, columns: int, threads: int) -> float:  # noqa: ARG001 (it has no plan)
    import kernelmean as km

    table = orders(rows, columns)
    for name in table:
        if name.startswith("price"):
            table.loc[rows // 2 :, name] = (1.1 * table[name]).round(1)
    began = time.perf_counter()
    km.changes(table, "date", missing="category")
    return time.perf_counter() - began


def commanded(rows: int, columns: int, threads: int) -> float:  # noqa: ARG001 (the command takes all cores)
    with tempfile.TemporaryDirectory() as folder:
        for name, table in zip("ab", two(rows, columns), strict=True):
            table.to_csv(Path(folder, f"{name}.csv"), index=False)
        words = ["compare", "a.csv", "b.csv", "--missing", "category", "--quiet", "--html", "report.html"]
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "kernelmean", *words], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began


CELLS = {
    "`compare`, 7,000 × 47, one thread": (compared, 7000, 47, 1),
    "`compare`, 7,000 × 47, two threads": (compared, 7000, 47, 2),
    "`kernelmean compare … --html`, 7,000 × 47, all cores": (commanded, 7000, 47, 0),
    "`compare`, 19,302 × 12, one thread": (compared, 19302, 12, 1),
    "`compare`, 19,302 × 12, two threads": (compared, 19302, 12, 2),
    "`changes`, 15,402 × 20": (changed, 15402, 20, 1),
}


def measured(name: str) -> tuple[float, float]:
    """Run a cell here and now: seconds by the clock, and of the processor."""
    run, *how = CELLS[name]
    kind = resource.RUSAGE_CHILDREN if run is commanded else resource.RUSAGE_SELF
    if run is not commanded:
        import kernelmean.studies.comparison  # noqa: F401 (what a first call loads does not count)
    before = _processor_seconds(kind)
    clock = run(*how)
    return clock, _processor_seconds(kind) - before


def _processor_seconds(kind: int) -> float:
    usage = resource.getrusage(kind)
    return usage.ru_utime + usage.ru_stime


def child(name: str, source: str | None) -> tuple[float, float]:
    environment = os.environ | ({} if source is None else {"PYTHONPATH": str(Path(source).resolve())})
    command = [sys.executable, __file__, "--cell", name]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    clock, processor = json.loads(shown)
    return clock, processor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", help="a folder with another kernelmean, such as ../base/src")
    parser.add_argument("--only", default="", help="only the cells whose name holds this word")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(measured(options.cell)))
        return
    sources = [None] if options.beside is None else [options.beside, None]
    print(machine(), flush=True)
    print("| | " + "".join("before | " * (len(sources) - 1)) + "now |\n|---|" + "---|" * len(sources))
    for name in (name for name in CELLS if options.only in name):
        turns = [[child(name, source) for source in sources] for _ in range(options.rounds)]
        cells = [tuple(map(min, zip(*column, strict=True))) for column in zip(*turns, strict=True)]
        print(f"| {name} | " + " | ".join(f"{clock:.1f} / {cpu:.1f}" for clock, cpu in cells) + " |", flush=True)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
