"""What ``mmd_test`` and ``kernelmean compare`` cost from 10^5 to 10^8 rows: seconds and memory.

``python benchmarks/scale.py --folder DIR`` writes two Parquet files of ten float32 columns for every size (400 MB
for 10^7 rows), runs each of them in a process of its own, deletes the files, and keeps the figures in scale.json
beside this file; what is there already is left out. ``--what mmd_test`` or ``--what compare`` does one of them only,
``--plot`` draws docs/figures/scale.svg from them, and ``--slice N`` compares the statistic of N rows with that of the
kernel itself, over all pairs of rows.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 (after the numbers of threads)
import pyarrow as pa  # noqa: E402
from pyarrow import parquet  # noqa: E402

import kernelmean as km  # noqa: E402
from kernelmean.kernels import Gaussian  # noqa: E402

RESULTS = Path(__file__).with_name("scale.json")
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "scale.svg"
COLUMNS, GROUP, SHIFT = 10, 2**20, 0.002
SIZES = (10**5, 10**6, 10**7, 10**8)
_PART = 50_000
WHAT = ("mmd_test", "compare")
TEST = """
import json, sys
import kernelmean as km

first, second, out = sys.argv[1:]
result = km.mmd_test(first, second, rng=0)
with open(out, "w") as file:
    json.dump({"pvalue": result.pvalue, "statistic": result.statistic}, file)
"""


def write(path: Path, n: int, seed: int, shift: float) -> None:
    """Write correlated normal columns, the first of them shifted, in row groups of 2^20 rows."""
    mixing = np.linalg.cholesky(0.3 + 0.7 * np.eye(COLUMNS)).astype(np.float32)
    schema = pa.schema([(f"x{j}", pa.float32()) for j in range(COLUMNS)])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for k, start in enumerate(range(0, n, GROUP)):
            rng = np.random.default_rng([seed, k])
            rows = rng.standard_normal((min(GROUP, n - start), COLUMNS), dtype=np.float32) @ mixing.T
            rows[:, 0] += shift
            writer.write_table(pa.table([np.ascontiguousarray(column) for column in rows.T], schema))


def pair(folder: Path, total: int) -> tuple[Path, Path]:
    first, second = folder / "first.parquet", folder / "second.parquet"
    write(first, total // 2, 1, 0.0)
    write(second, total - total // 2, 2, SHIFT)
    return first, second


def measured(code: str, arguments: list[str]) -> dict[str, float]:
    """Run Python in a process of its own: seconds on the wall, of processors, and the largest memory."""
    start = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code, *arguments], dict(os.environ))
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"the command ended with {os.waitstatus_to_exitcode(status)}; its message is above")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "wall": time.perf_counter() - start,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": memory,
    }


def measure(what: str, total: int, folder: Path) -> dict[str, float]:
    first, second = pair(folder, total)
    out = folder / "result.json"
    if what == "compare":
        command = ["compare", str(first), str(second), "--json", str(out), "--quiet"]
        found = measured("from kernelmean.cli import main; main()", command)
    else:
        found = measured(TEST, [str(first), str(second), str(out)])
    result = json.loads(out.read_text())
    return {"what": what, "rows": total, **found, "pvalue": result["pvalue"], "statistic": result["statistic"]}


def read(what: str | None = None) -> list[dict[str, float]]:
    runs = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
    return [row for row in runs if what in (None, row["what"])]


def run(which: list[str], sizes: list[int], parent: Path) -> None:
    for what, total in product(which, sizes):
        if any(row["rows"] == total for row in read(what)):
            continue
        folder = Path(tempfile.mkdtemp(dir=parent))
        try:
            row = measure(what, total, folder)
        finally:
            shutil.rmtree(folder)
        print(row, flush=True)
        runs = sorted([*read(), row], key=lambda one: (one["what"], one["rows"]))
        RESULTS.write_text(json.dumps({"cores": os.cpu_count(), "runs": runs}, indent=2) + "\n")


def line(rows: np.ndarray, cpu: np.ndarray) -> tuple[float, float]:
    """Return the seconds of a start and those of a row, fitted to relative errors."""
    design = np.column_stack([1.0 / cpu, rows / cpu])
    start, slope = np.linalg.lstsq(design, np.ones(len(cpu)), rcond=None)[0]
    return float(start), float(slope)


def plot() -> None:
    """Draw seconds of processors over rows, beside a start and a constant cost a row."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "kernelmean", "svg.fonttype": "none"})
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    for what, color in zip(WHAT, ("#0b5fa5", "#b5530a"), strict=True):
        rows, cpu = (np.array([row[key] for row in read(what)], dtype=float) for key in ("rows", "cpu"))
        start, slope = line(rows, cpu)
        grid = np.geomspace(rows[0], rows[-1], 60)
        fitted = f"{start:.1f} s and {1e6 * slope:.1f} µs a row"
        axes.loglog(grid, start + slope * grid, color=color, alpha=0.5, linestyle="--", label=fitted)
        axes.loglog(rows, cpu, "o", color=color, label=f"{what}, ten columns")
    axes.set(xlabel="rows of both tables", ylabel="seconds of processors")
    axes.grid(True, which="major", color="0.9")
    axes.legend(frameon=False)
    figure.savefig(FIGURE, format="svg", metadata={"Date": None})


def same(total: int, parent: Path) -> None:
    """Print the statistic of one kernel by landmarks, and that of the kernel over all pairs."""
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        first, second = pair(folder, total)
        result = km.compare(first, second, estimator="mkme")
        samples = [np.concatenate(list(km.read(path))) for path in (first, second)]
    finally:
        shutil.rmtree(folder)
    scales = np.array([coding.scale for coding in result.encoded.codings])
    X, Y = (rows / scales for rows in samples)
    exact = all_pairs(X, Y, result.test.kernel)
    print(f"{total:,} rows: by landmarks {result.test.statistic:.6g}, all pairs {exact:.6g}", flush=True)


def all_pairs(X: np.ndarray, Y: np.ndarray, kernel: Gaussian) -> float:
    """Return the unbiased MMD² over all pairs of rows."""
    n, m = len(X), len(Y)
    rows, weights = np.concatenate([X, Y]), np.repeat([1 / n, -1 / m], [n, m])
    plan = km.Plan(dtype="float32")
    whole = plan.bilinear(kernel.blocks(rows, rows), weights, weights, symmetric=True)
    return whole + sum((off_diagonal(one[:_PART], kernel) - 1.0) / len(one) for one in (X, Y))


def off_diagonal(rows: np.ndarray, kernel: Gaussian) -> float:
    """Return the mean of the kernel over pairs of different rows; of some, as it is divided by the number of all."""
    return (km.embed(rows, kernel).norm() ** 2 * len(rows) - 1.0) / (len(rows) - 1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--what", choices=WHAT, help="both by default")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--slice", type=int)
    options = parser.parse_args()
    if options.plot:
        plot()
    elif options.slice:
        same(options.slice, options.folder)
    else:
        which = [options.what] if options.what else list(WHAT)
        run(which, [int(size) for size in options.sizes.split(",")], options.folder)
