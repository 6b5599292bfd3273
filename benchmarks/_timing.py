"""What all benchmarks share: alternating rounds, memory, the speed of the machine itself, tables.

Other programs disturb a measurement in one direction only, so minima are quoted; candidates take turns within every
round, so that a slow minute hits all of them. A ratio of two minima of one run means more than seconds do.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

Candidate = Callable[[], Any]


@dataclass(frozen=True)
class Timing:
    """Seconds of one candidate over all rounds."""

    minimum: float
    median: float
    rounds: tuple[float, ...]


def seconds(candidate: Candidate) -> float:
    start = time.perf_counter()
    candidate()
    return time.perf_counter() - start


def alternate(candidates: Mapping[str, Candidate], rounds: int = 5, warm_up: bool = True) -> dict[str, Timing]:
    """Run all candidates in turn, round by round; the warm-up (compilation, caches) is not counted."""
    if warm_up:
        for candidate in candidates.values():
            candidate()
    table = [{name: seconds(candidate) for name, candidate in candidates.items()} for _ in range(rounds)]
    taken = {name: tuple(row[name] for row in table) for name in candidates}
    return {name: Timing(min(times), statistics.median(times), times) for name, times in taken.items()}


def best(candidate: Candidate, rounds: int = 7) -> float:
    """The fewest seconds of some rounds."""
    return alternate({"it": candidate}, rounds)["it"].minimum


def traced_peak(candidate: Candidate) -> int:
    """The peak of the bytes that Python and numpy allocate while a candidate runs (numpy's arrays included)."""
    tracemalloc.start()
    try:
        candidate()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def child_peak(code: str) -> int:
    """The largest resident set of a fresh interpreter that runs ``code``, in bytes: compiled libraries included."""
    child = subprocess.Popen([sys.executable, "-c", code])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"the child ended with {child.returncode}; its message is above")
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@dataclass(frozen=True)
class Machine:
    """What one core does without us, measured in the same run: the yardstick for nanoseconds."""

    processor: str
    cores: int
    load: float
    python: str
    numpy: str
    blas: str
    exp64_ns: float
    exp32_ns: float
    gemm64_gflops: float
    gemm32_gflops: float

    def __str__(self) -> str:
        return (
            f"{self.processor}, {self.cores} cores (load {self.load:.1f}), Python {self.python}, numpy {self.numpy}, "
            f"{self.blas}; one thread: exp {self.exp64_ns:.2f} / {self.exp32_ns:.2f} ns, "
            f"GEMM {self.gemm64_gflops:.0f} / {self.gemm32_gflops:.0f} GFLOP/s (float64 / float32)"
        )


def machine() -> Machine:
    """Measure numpy's exp within the second-level cache, and a square matrix product, on one thread."""
    blas = next((info for info in threadpool_info() if info["user_api"] == "blas"), {})
    with threadpool_limits(1):
        exp64, exp32 = (_exp_ns(dtype) for dtype in (np.float64, np.float32))
        gemm64, gemm32 = (_gemm_gflops(dtype) for dtype in (np.float64, np.float32))
    name = f"{blas.get('internal_api', 'BLAS unknown')} {blas.get('version', '')} {blas.get('architecture', '')}"
    versions = platform.python_version(), np.__version__, name.strip()
    return Machine(_processor(), os.cpu_count() or 1, os.getloadavg()[0], *versions, exp64, exp32, gemm64, gemm32)


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _exp_ns(dtype: type) -> float:
    numbers = np.linspace(-5.0, 0.0, 2**15).astype(dtype)
    out = np.empty_like(numbers)
    return best(lambda: [np.exp(numbers, out=out) for _ in range(50)]) / 50 / numbers.size * 1e9


def _gemm_gflops(dtype: type) -> float:
    square = np.random.default_rng(0).standard_normal((768, 768)).astype(dtype)
    return 2 * 768**3 / best(lambda: square @ square) / 1e9


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table, floats with two digits behind the point."""
    cells = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_json(path: Path, yardstick: Machine, results: Any) -> None:
    """Keep the figures with the machine that they were measured on."""
    path.write_text(json.dumps({"machine": asdict(yardstick), "results": results}, indent=2) + "\n")
