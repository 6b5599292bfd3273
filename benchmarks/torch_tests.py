"""Exact permutation tests on torch: seconds on a GPU (or on a processor), beside our own on NumPy.

    python benchmarks/torch_tests.py [--device cuda] [--n 100000] [--dim 20] [--rounds 5] [--numpy] [--loops]
        [--default]

Two samples of n rows each from N(0, I), Gaussian kernel, median bandwidth, 1,000 permutations. Without a GPU a small n
is the default: the figures then say that the path runs, not how fast a GPU is.

One pass over the Gram matrix adds up pairs of bins of rows, about 1,000 in all, and bins are permuted. A pass makes n²
values once; the permutations then cost nothing.

Columns: seconds of the whole call, with the points on the device; the same without what the host does (``pass``);
kernel values per second; the largest memory of the device; the p-value, and whether it is that of NumPy under the same
scheme and seed (``--numpy``, one thread and all cores).

``--default`` measures calls without options instead: the adaptive tests, by rows and in bins, and estimators; beside
NumPy on one thread and on all cores of the same machine, with the largest difference of the statistics.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import kernelmean as km
from _timing import markdown
from kernelmean.core.array import joined
from kernelmean.inference import Resampling
from kernelmean.inference.problem import KernelSide
from kernelmean.inference.questions import TwoSamples
from kernelmean.inference.request import asked
from kernelmean.inference.resampling import Resources
from kernelmean.inference.units.kernel_sums import kernel_sums
from kernelmean.inference.units.layout import Layout

RESAMPLES = 999
SMALL = 4000


@dataclass(frozen=True)
class Row:
    """One call."""

    name: str
    seconds: float
    passed: float
    values: float
    mib: float
    pvalue: float


def on(device: str, points: Any, dtype: str) -> Any:
    return torch.as_tensor(points, dtype=getattr(torch, dtype), device=device)


def seconds(run: Callable[[], Any], device: str, rounds: int) -> float:
    """Return the median of some rounds after a warm-up; a GPU is waited for."""
    taken = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        if device != "cpu":
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken[1:]))


def mmd(X: Any, Y: Any, **options: Any) -> km.TestResult:
    """Return the test by all pairs of rows, however many these are."""
    how = Resampling.of("auto", RESAMPLES, 0, **options)
    question = TwoSamples.of((X, Y), km.Design())
    return km.TestResult(**question.outcome(asked(None, "kme", {"kme": km.KME}), "u", how))


def only_pass(X: Any, Y: Any, kernel: Any) -> Callable[[], Any]:
    """Return the pass over the Gram matrix alone."""
    labels = np.repeat([0, 1], [X.shape[0], Y.shape[0]])
    bins = Layout.of(labels, np.ones(len(labels))).in_bins(np.random.default_rng(0))
    return lambda: kernel_sums(KernelSide(joined([X, Y]), (kernel,)), bins, Resources())


def measured(samples: tuple[Any, Any], device: str, dtype: str, rounds: int) -> Row:
    X, Y = (on(device, sample, dtype) for sample in samples)
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()
    result = mmd(X, Y)
    whole = seconds(lambda: mmd(X, Y), device, rounds)
    passed = seconds(only_pass(X, Y, result.kernel), device, rounds)
    mib = torch.cuda.max_memory_allocated() / 2**20 if device != "cpu" else float("nan")
    n = X.shape[0] + Y.shape[0]
    return Row(f"torch {device} {dtype}", whole, passed, n * (n + 1) / 2 / whole, mib, result.pvalue)


def on_numpy(samples: tuple[Any, Any], threads: int | None) -> Row:
    start = time.perf_counter()
    result = mmd(*samples, plan=km.Plan(threads=threads))
    whole = time.perf_counter() - start
    n = len(samples[0]) + len(samples[1])
    name = f"numpy, {'one thread' if threads == 1 else 'all cores'}"
    return Row(name, whole, float("nan"), n * (n + 1) / 2 / whole, float("nan"), result.pvalue)


def by_hand(samples: tuple[Any, Any], device: str, rounds: int) -> Row:
    """Time what torch users write: blocks of K, and one product with all labels; n limited by the memory it takes."""
    X = torch.cat([on(device, sample, "float32") for sample in samples])
    n, first = len(X), len(samples[0])
    theta = float(km.median_bandwidth(np.concatenate(samples), exact_up_to=1000))

    def run() -> float:
        orders = torch.stack([torch.randperm(n, device=device) for _ in range(RESAMPLES)])
        labels = (torch.cat([torch.arange(n, device=device)[None], orders]) < first).float().T
        forms = torch.zeros(labels.shape[1], device=device, dtype=torch.float64)
        for rows in torch.split(torch.arange(n, device=device), 4096):
            gram = torch.exp(-(torch.cdist(X[rows], X) ** 2) / (2 * theta**2))
            forms += (labels[rows] * (gram @ labels)).sum(0, dtype=torch.float64)
        return float((forms >= forms[0]).double().mean())

    whole = seconds(run, device, rounds)
    return Row(f"torch {device} by hand", whole, float("nan"), n * n / whole, float("nan"), run())


@dataclass(frozen=True)
class Default:
    """A call without options, and the shape of its tables."""

    name: str
    call: Callable[..., Any]
    rows: int
    columns: int

    def tables(self) -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((2, self.rows, self.columns))
        return X, (0.02 * X + Y if "hsic" in self.name else 1.01 * Y)

    def row(self, device: str, rounds: int) -> tuple[Any, ...]:
        """Return the cells of a line: seconds there and on NumPy, how far the results are apart."""
        host = self.tables()
        there = [on(device, table, "float64") for table in host]
        found, takes = self.call(*there, None), seconds(lambda: self.call(*there, None), device, rounds)
        ours = [self.on_numpy(host, km.Plan(threads=threads)) for threads in (1, os.cpu_count())]
        apart = max(abs(float(found[0]) / float(own[0]) - 1.0) for own, _ in ours)
        same = "yes" if all(found[1] == own[1] for own, _ in ours) else "**no**"
        times = [f"{taken:.3g}" for taken in (takes, *(own for _, own in ours))]
        return f"`{self.name}`, {self.rows} × {self.columns}", found[2], *times, f"{apart:.1e}", same

    def on_numpy(self, tables: tuple[Any, Any], plan: km.Plan) -> tuple[tuple[Any, ...], float]:
        """Return what the call gives for arrays of NumPy, and its seconds, after one that is not timed."""
        found = self.call(*tables, plan)
        start = time.perf_counter()
        self.call(*tables, plan)
        return found, time.perf_counter() - start


def tested(test: Any) -> Callable[..., Any]:
    """Return a test as its statistic, p-value and scheme."""

    def call(X: Any, Y: Any, plan: Any) -> tuple[Any, ...]:
        result = test(X, Y, rng=0, plan=plan)
        return result.statistic, result.pvalue, result.scheme

    return call


def fitted(make: Any) -> Callable[..., Any]:
    """Return the fit of an estimator to the first table as its leave-one-out score."""

    def call(X: Any, _: Any, plan: Any) -> tuple[Any, ...]:
        estimate = make().fit(X, **({} if plan is None else {"plan": plan}))
        return estimate.loocv_, None, "rows"

    return call


DEFAULTS = [
    Default("km.mmd_test(X, Y)", tested(km.mmd_test), 1000, 5),
    Default("km.mmd_test(X, Y)", tested(km.mmd_test), 10_000, 5),
    Default("km.mmd_test(X, Y)", tested(km.mmd_test), 100_000, 20),
    Default("km.mmd_test(X, Y)", tested(km.mmd_test), 1_000_000, 10),
    Default("km.hsic_test(X, Y)", tested(km.hsic_test), 1000, 5),
    Default("km.hsic_test(X, Y)", tested(km.hsic_test), 100_000, 2),
    Default("km.MKME().fit(X)", fitted(km.MKME), 2000, 10),
    Default("km.MKME().fit(X)", fitted(km.MKME), 10_000, 10),
]


def defaults(device: str, rounds: int) -> str:
    """Return the table of calls without options."""
    header = ("call", "scheme", "seconds", "NumPy, one core", "NumPy, all cores", "apart", "same p")
    cells = []
    for default in DEFAULTS:
        cells.append(default.row(device, rounds))
        print(*cells[-1], file=sys.stderr, flush=True)
    return markdown(header, cells)


def report(rows: list[Row]) -> str:
    header = ("call", "seconds", "pass", "10⁹ values/s", "MiB", "p")
    cells = [
        (row.name, f"{row.seconds:.4g}", f"{row.passed:.4g}", row.values / 1e9, row.mib, f"{row.pvalue:.4f}")
        for row in rows
    ]
    return markdown(header, cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=default)
    parser.add_argument("--n", type=int, help=f"rows of a sample: 100000 on a GPU, {SMALL} on a processor")
    parser.add_argument("--dim", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--numpy", action="store_true", help="also our own on NumPy, which takes minutes for 100000 rows"
    )
    parser.add_argument("--loops", action="store_true", help="also what torch users write by hand")
    parser.add_argument("--default", action="store_true", help="calls without options, beside NumPy")
    options = parser.parse_args()
    n = options.n or (SMALL if options.device == "cpu" else 100_000)
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((n, options.dim)), rng.standard_normal((n, options.dim)) * 1.002
    device = torch.cuda.get_device_name() if options.device != "cpu" else f"no GPU, {torch.get_num_threads()} threads"
    versions = f"torch {torch.__version__}, Python {platform.python_version()}"
    if options.default:
        print(f"{device}, {os.cpu_count()} cores, {versions}\n")
        print(defaults(options.device, options.rounds))
        return
    print(f"{device}, {versions}; n = {n} a sample, d = {options.dim}\n")
    rows = [measured(samples, options.device, dtype, options.rounds) for dtype in ("float32", "float64")]
    if options.loops:
        rows.append(by_hand(samples, options.device, 1))
    if options.numpy:
        rows += [on_numpy(samples, threads) for threads in (1, None)]
    print(report(rows))
    if options.numpy:
        print(f"\nthe same p-value on NumPy: {rows[1].pvalue == rows[-1].pvalue}; times as fast as NumPy: ", end="")
        print(", ".join(f"{rows[-1].seconds / row.seconds:.1f}" for row in rows[:2]))


if __name__ == "__main__":
    main()
