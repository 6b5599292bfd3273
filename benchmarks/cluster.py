"""Tests on a Dask cluster of two processes on this machine, beside one process: time, p-values, what travels.

``python benchmarks/cluster.py`` takes some minutes and writes docs/evidence/cluster.md and benchmarks/cluster.json. One
process and the cluster take turns; processor time is that of the process, or of both workers together, so it can be
compared on a machine that does other things too. ``--quick`` takes a minute and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 (after the numbers of threads)

import kernelmean as km  # noqa: E402 (after the numbers of threads)
from _timing import Machine, machine, markdown, write_json  # noqa: E402 (after the numbers of threads)

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "evidence" / "cluster.md"
RESULTS = HERE / "cluster.json"
BLOCK = 32_768


@dataclass(frozen=True)
class Case:
    """One test, as it runs in one process and on a cluster."""

    name: str
    sizes: tuple[int, int]
    dim: int
    run: Callable[..., Any]


@dataclass(frozen=True)
class Found:
    """What one case gave."""

    name: str
    rows: str
    scheme: str
    pvalues: tuple[float, float]
    seconds: tuple[float, float]
    processor: tuple[float, float]
    data: int
    gathered: int

    @property
    def ratio(self) -> float:
        return self.seconds[0] / self.seconds[1]


def block(start: int, stop: int, seed: int, dim: int, shift: float, client: int) -> np.ndarray:
    """Rows that the process of the client must not make."""
    if os.getpid() == client:
        raise RuntimeError("a partition was made on the client")
    return np.random.default_rng([seed, start]).normal(shift, 1.0, size=(stop - start, dim))


def starts(n: int) -> list[tuple[int, int]]:
    return [(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def there(n: int, seed: int, dim: int, shift: float) -> Any:
    """A dask array of unknown lengths, whose partitions workers make."""
    import dask.array as da
    from dask import delayed

    parts = [delayed(block)(*ends, seed, dim, shift, os.getpid()) for ends in starts(n)]
    return da.concatenate([da.from_delayed(part, (np.nan, dim), meta=np.empty((0, dim))) for part in parts])


def here(n: int, seed: int, dim: int, shift: float) -> np.ndarray:
    return np.concatenate([block(*ends, seed, dim, shift, -1) for ends in starts(n)])


def cases(quick: bool) -> list[Case]:
    def mmd(X: Any, Y: Any, **where: Any) -> Any:
        return km.mmd_test(X, Y, rng=0, kernel=km.kernels.Gaussian(3.0), scheme="bins", **where)

    n = 4 if quick else 1
    return [Case("mmd_test, in bins", (600_000 // n, 500_000 // n), 10, mmd)]


def processor_seconds(client: Any) -> float:
    """Processor time of all workers so far."""
    return sum(client.run(lambda: sum(os.times()[:2])).values())


def measured(case: Case, client: Any, rounds: int) -> Found:
    """Let one process and the cluster take turns."""
    plan = km.DaskPlan(client)
    ends = ((case.sizes[0], 1, case.dim, 0.0), (case.sizes[1], 2, case.dim, 0.02))
    near, far = [here(*one) for one in ends], [there(*one) for one in ends]
    timed, weighed = [], Weighed()
    for _ in range(rounds):
        clock, own = time.perf_counter(), time.process_time()
        alone = case.run(*near)
        timed.append([time.perf_counter() - clock, time.process_time() - own])
        before, clock = processor_seconds(client), time.perf_counter()
        with weighed:
            shared = case.run(*far, plan=plan)
        timed[-1] += [time.perf_counter() - clock, processor_seconds(client) - before]
    least = [float(min(column)) for column in zip(*timed, strict=True)]
    rows = " and ".join(f"{size:,}" for size in case.sizes)
    data = sum(array.nbytes for array in near)
    pvalues = alone.pvalue, shared.pvalue
    return Found(
        case.name,
        f"{rows} × {case.dim}",
        shared.scheme,
        pvalues,
        (least[0], least[2]),
        (least[1], least[3]),
        data,
        weighed.bytes,
    )


class Weighed:
    """Weighs all that the client gathers."""

    def __init__(self) -> None:
        from distributed import Client

        self.cls, self.gather, self.bytes = Client, Client.gather, 0

    def __enter__(self) -> None:
        self.bytes, gather = 0, self.gather

        def weighed(client: Any, *args: Any, **options: Any) -> Any:
            values = gather(client, *args, **options)
            self.bytes += len(pickle.dumps(values))
            return values

        self.cls.gather = weighed

    def __exit__(self, *_: object) -> None:
        self.cls.gather = self.gather


def row(found: Found) -> list[Any]:
    pvalues = (f"{p:.4g}" for p in found.pvalues)
    shared = 2 * found.processor[0] / found.processor[1]
    return [found.name, found.rows, found.scheme, *pvalues, *found.seconds, found.ratio, *found.processor, shared]


def page(found: list[Found], where: Any) -> str:
    head = ["test", "rows × columns", "scheme", "p, one process", "p, cluster", "seconds", "on the cluster", "ratio"]
    head += ["processor seconds", "on the cluster", "per worker", "data, MB", "comes back, MB"]
    table = [[*row(each), each.data / 1e6, each.gathered / 1e6] for each in found]
    return f"""# A cluster of two processes

Written by `python benchmarks/cluster.py`. {where}.

This page compares a Dask cluster of two workers, with one thread each, on the machine of the client, with one
process that has one thread and already holds the data. They took turns, and the table gives the fewest seconds of
each. On the cluster the workers make partitions of {BLOCK} rows, more than once; the client makes none. "Comes
back" is all that the client gathers. "Ratio" is the ratio of the seconds, on a machine whose two cores others used
too (its load is above). "Per worker" is the processor time of one process over half of that of both workers. That
would be the ratio if both cores were idle and no step waited for another.

{markdown(head, table)}
"""


def main() -> None:
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small tests, one round; prints and writes nothing")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write the page again from what was measured")
    options = parser.parse_args()
    if options.page:
        kept = json.loads(RESULTS.read_text(encoding="utf-8"))
        results = kept["results"]
        found = [Found(**each) for each in results["tests"]]
        PAGE.write_text(page(found, Machine(**kept["machine"])), encoding="utf-8")
        return
    every = cases(options.quick)
    limits = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**limits) as cluster, Client(cluster, set_as_default=False) as client:
        list(km.DaskPlan(client).map(abs, range(8)))  # workers are awake
        found = [measured(case, client, 1 if options.quick else options.rounds) for case in every]
    where = machine()
    text = page(found, where)
    print(text)
    if not options.quick:
        PAGE.write_text(text, encoding="utf-8")
        write_json(RESULTS, where, {"tests": [asdict(each) for each in found]})


if __name__ == "__main__":
    main()
