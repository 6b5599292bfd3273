"""Row sums of a Gaussian Gram matrix, in nanoseconds per kernel value, beside what scikit-learn users have today.

Every row says how one library computes K @ 1 for n points at the median bandwidth: all n² values are counted, also
in the rows marked "half the tiles", which use the symmetry. scikit-learn's ``rbf_kernel`` runs on blocks of rows,
as one must where the Gram matrix does not fit memory; torch and pykeops run where they are installed.

    python benchmarks/kernel_sums.py [--n 10240] [--rounds 7] [--out figures.json]

OpenBLAS may know less of a new processor than it can do: compare with ``OPENBLAS_CORETYPE=SkylakeX`` in the
environment on one with AVX-512 (a choice of the user; the library never sets it).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from _timing import Machine, alternate, machine, markdown, write_json
from kernelmean.kernels import Gaussian
from kernelmean.kernels.bandwidth import median_bandwidth
from kernelmean.plan import Plan

SETTINGS = [(dim, dtype) for dim in (2, 20) for dtype in ("float64", "float32")]


@dataclass(frozen=True)
class Problem:
    """Points, their bandwidth θ, and the type to compute in."""

    X: np.ndarray
    bandwidth: float
    dtype: str

    @property
    def gamma(self) -> float:
        return 0.5 / self.bandwidth**2


def ours(problem: Problem, threads: int, fast: bool, symmetric: bool) -> np.ndarray:
    n = len(problem.X)
    plan = Plan(threads=threads, dtype=problem.dtype, use_fast=fast)
    blocks = Gaussian(problem.bandwidth).blocks(problem.X, problem.X)
    return plan.matmul(blocks, n, n, np.ones(n), symmetric=symmetric)


def scikit_learn(problem: Problem, threads: int) -> np.ndarray:
    X = problem.X.astype(problem.dtype)
    with threadpool_limits(threads):
        parts = [rbf_kernel(X[s : s + 256], X, gamma=problem.gamma).sum(axis=1) for s in range(0, len(X), 256)]
    return np.concatenate(parts)


def torch_blocks(problem: Problem, threads: int) -> np.ndarray:
    import torch

    torch.set_num_threads(threads)
    X = torch.as_tensor(problem.X.astype(problem.dtype))
    parts = [torch.cdist(rows, X).square_().mul_(-problem.gamma).exp_().sum(1) for rows in X.split(256)]
    return torch.cat(parts).numpy()


def pykeops(problem: Problem, threads: int) -> np.ndarray:
    import torch
    from pykeops.torch import LazyTensor

    torch.set_num_threads(threads)
    X = torch.as_tensor(problem.X.astype(problem.dtype))
    gram = (-problem.gamma * ((LazyTensor(X[:, None]) - LazyTensor(X[None])) ** 2).sum(-1)).exp()
    return gram.sum(1).squeeze(-1).numpy()


def candidates(problem: Problem, threads: int) -> dict[str, Callable[[], np.ndarray]]:
    chosen: dict[str, Callable[[], np.ndarray]] = {}
    for symmetric, suffix in ((False, ""), (True, ", half the tiles")):
        chosen[f"numpy tiles{suffix}"] = partial(ours, problem, threads, False, symmetric)
        if find_spec("numba") and problem.X.shape[1] <= 8:
            chosen[f"numba{suffix}"] = partial(ours, problem, threads, True, symmetric)
    chosen["scikit-learn blocks"] = partial(scikit_learn, problem, threads)
    if find_spec("torch"):
        chosen["torch blocks"] = partial(torch_blocks, problem, threads)
    if find_spec("torch") and find_spec("pykeops"):
        chosen["pykeops"] = partial(pykeops, problem, threads)
    return chosen


def check(problem: Problem, chosen: dict[str, Callable[[], np.ndarray]]) -> None:
    """All candidates compute the same sums."""
    truth = scikit_learn(Problem(problem.X, problem.bandwidth, "float64"), 1)
    tolerance = 1e-10 if problem.dtype == "float64" else 1e-4
    for name, candidate in chosen.items():
        np.testing.assert_allclose(candidate(), truth, rtol=tolerance, err_msg=name)


def measure(n: int, rounds: int) -> list[dict[str, Any]]:
    results = []
    for dim, dtype in SETTINGS:
        X = np.random.default_rng(0).standard_normal((n, dim))
        problem = Problem(X, float(median_bandwidth(X)), dtype)
        for threads in (1, 2):
            chosen = candidates(problem, threads)
            check(problem, chosen)
            for method, timing in alternate(chosen, rounds, warm_up=False).items():
                setting = {"d": dim, "dtype": dtype, "threads": threads, "method": method}
                figures = {"ns": timing.minimum / n**2 * 1e9, "median_ns": timing.median / n**2 * 1e9}
                results.append(setting | figures)
    return results


def report(results: list[dict[str, Any]]) -> str:
    """One row a method, one column a setting: one thread / two threads."""
    found = {(r["method"], r["d"], r["dtype"], r["threads"]): r["ns"] for r in results}
    methods = dict.fromkeys(r["method"] for r in results)

    def cell(method: str, dim: int, dtype: str) -> str:
        pair = [found.get((method, dim, dtype, threads)) for threads in (1, 2)]
        times = [rbf / ns for ns, rbf in zip(pair, sklearn(dim, dtype), strict=True) if ns]
        return " / ".join(f"{ns:.2f}" for ns in pair if ns) + (f" ({times[0]:.1f} ×)" if times else "–")

    def sklearn(dim: int, dtype: str) -> list[float]:
        return [found["scikit-learn blocks", dim, dtype, threads] for threads in (1, 2)]

    header = ["ns a kernel value, 1 / 2 threads", *(f"d={dim} {dtype}" for dim, dtype in SETTINGS)]
    return markdown(header, [[method, *(cell(method, *setting) for setting in SETTINGS)] for method in methods])


def bounds(yardstick: Machine) -> str:
    """What numpy's own exp and matrix product of inner size d + 2 would take, and nothing else."""
    exp = {"float64": yardstick.exp64_ns, "float32": yardstick.exp32_ns}
    rate = {"float64": yardstick.gemm64_gflops, "float32": yardstick.gemm32_gflops}
    least = [f"d={dim} {dtype} {exp[dtype] + 2 * (dim + 2) / rate[dtype]:.2f}" for dim, dtype in SETTINGS]
    return "exp and one ideal matrix product alone, 1 thread: " + ", ".join(least) + " ns"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10240)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    yardstick = machine()
    results = measure(options.n, options.rounds)
    print(f"{yardstick}\n{bounds(yardstick)}\nn = {options.n}, the minimum of {options.rounds} rounds\n")
    print(report(results))
    for name in ("numba", "torch", "pykeops"):
        if find_spec(name) is None:
            print(f"({name} is not installed, and left out)")
    if options.out:
        write_json(options.out, yardstick, results)


if __name__ == "__main__":
    main()
