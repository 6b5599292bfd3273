"""Speed and memory of the tests beside what users have today: writes docs/evidence/speed.md and the README's table.

    python benchmarks/speed.py [--peer-python PATH] [--rounds 3] [--quick]
    python benchmarks/speed.py --only PEER [--peer-python PATH] [--rounds 3]
    python benchmarks/speed.py --readme

The second line measures one peer, with ours beside it, and puts its lines into docs/evidence/speed.md. The third
measures nothing; it takes the table of the README from docs/evidence/speed.md.

One thread, 1,000 permutations, standard normal data: the test with one kernel, Gaussian with the median bandwidth, and
the default test, which is adaptive. In every round ours and the peers take turns; medians over the rounds are quoted. A
peer that takes minutes is measured with few permutations and with one, and continued in a straight line. Other
libraries run in a second interpreter, which may be one of another environment; its start and imports are not counted.
Peak memory is that of a fresh process, of the default test.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from unittest import mock

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import kernelmean as km  # noqa: E402 (after the numbers of threads)
import speed_peers  # noqa: E402 (after the numbers of threads)
from _timing import Machine, child_peak, machine, markdown  # noqa: E402 (after the numbers of threads)
from kernelmean.tables import ADAPTIVE_LIMIT  # noqa: E402 (after the numbers of threads)

RESAMPLES = 1000
README, REPORT = (Path(__file__).parents[1] / name for name in ("README.md", "docs/evidence/speed.md"))
BLOCK = re.compile(r"(?<=<!-- speed -->\n).*?(?=<!-- /speed -->)", flags=re.DOTALL)
TESTS = {"MMD": km.mmd_test, "HSIC": km.hsic_test}
GIB = 2.0**30
ADAPTIVE = "MMDAgg"
"""A peer with many kernels, which is compared to the default."""
IN_FULL = (ADAPTIVE, "pted")
"""Peers that are measured with all permutations."""


@dataclass(frozen=True)
class Times:
    """Seconds of the wall clock and of the processor."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.3g} ({self.cpu:.3g})"

    @classmethod
    def middle(cls, rounds: list[Times]) -> Times:
        return cls(median(each.wall for each in rounds), median(each.cpu for each in rounds))


@dataclass(frozen=True)
class Cell:
    """A test at one size, and what is asked of it.

    ``ratios`` says how many times faster than each peer it must be, None where nothing was promised, and
    ``few`` with how many permutations the peers are measured.
    """

    test: str
    n: int
    dim: int
    seconds: float | None = None
    ratios: dict[str, float | None] = field(default_factory=dict)
    few: int = RESAMPLES

    def measured(self, peer: str) -> int:
        """Return with how many permutations a peer is measured."""
        return RESAMPLES if peer in IN_FULL else self.few

    def ours(self, estimator: str = "kme") -> Times:
        x, y = speed_peers.data(self.n, self.dim)
        test = TESTS[self.test]
        times = [
            timed(lambda: test(x, y, estimator=estimator, n_resamples=RESAMPLES, rng=0)) for _ in range(self.repeats)
        ]
        return Times.middle(times)

    @property
    def repeats(self) -> int:
        return 5 if self.n <= 3000 else 1

    @property
    def has_default(self) -> bool:
        """Whether the default holds the rows in memory, as the test of one kernel does."""
        return self.n <= ADAPTIVE_LIMIT

    def scheme(self) -> str:
        """Return the scheme, and whether its dense form (tiles of the Gram matrix, no factors) gives the same p."""
        x, y = speed_peers.data(self.n, self.dim)
        found = TESTS[self.test](x, y, estimator="kme", n_resamples=RESAMPLES, rng=0)
        if self.n > 3000:
            return found.scheme
        with (
            mock.patch("kernelmean.inference.rotations.factors.worthwhile_rank", return_value=0),
            mock.patch("kernelmean.inference.units.kernel_sums.paying_factors", return_value=None),
        ):
            dense = TESTS[self.test](x, y, estimator="kme", n_resamples=RESAMPLES, rng=0)
        return f"{found.scheme}, {'p as dense' if found.pvalue == dense.pvalue else 'p differs from dense ✗'}"

    def peak(self) -> float:
        """Return the largest resident set of a process that runs the default test, in GiB."""
        code = (
            f"import kernelmean as km, numpy as np; x, y = np.random.default_rng([{self.n}, {self.dim}])"
            f".standard_normal((2, {self.n}, {self.dim})); "
            f"km.{TESTS[self.test].__name__}(x, y, n_resamples={RESAMPLES}, rng=0)"
        )
        return child_peak(code) / GIB


def mmd(n: int, dim: int, ratio: float, few: int) -> Cell:
    ratios = {"frouros": ratio, "numpy loop, MMD": None, ADAPTIVE: None, "pted": None}
    return Cell("MMD", n, dim, ratios=ratios, few=few)


def hsic(n: int, dim: int, few: int) -> Cell:
    return Cell("HSIC", n, dim, ratios={"numpy loop, HSIC": 150, "dcor": 80}, few=few)


CELLS = (
    mmd(300, 2, 100, RESAMPLES),
    mmd(1000, 2, 250, 60),
    mmd(3000, 2, 700, 20),
    mmd(1000, 20, 150, 60),
    Cell("MMD", 100_000, 2, seconds=2.0),
    Cell("MMD", 100_000, 20, seconds=40.0),
    hsic(1000, 2, 100),
    hsic(1000, 20, 100),
    hsic(3000, 2, 30),
    hsic(3000, 20, 30),
    Cell("MMD", 10_000, 2, seconds=1.0),
    Cell("HSIC", 10_000, 2, seconds=1.5),
    Cell("HSIC", 10_000, 20, seconds=1.5),
    Cell("HSIC", 100_000, 2, seconds=2.5),
)


class Peers:
    """The worker in the other interpreter."""

    def __init__(self, python: str) -> None:
        self._worker = subprocess.Popen(
            [python, speed_peers.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.known: list[str] = self._ask({"peer": None})

    def _ask(self, request: dict) -> list | dict:
        assert self._worker.stdin is not None
        assert self._worker.stdout is not None
        print(json.dumps(request), file=self._worker.stdin, flush=True)
        answer = self._worker.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker ended at {request}; its message is above")
        return json.loads(answer)

    def times(self, peer: str, cell: Cell) -> Times:
        """Return the seconds for all permutations, continued in a straight line from one and a few."""
        request, few = {"peer": peer, "n": cell.n, "dim": cell.dim}, cell.measured(peer)
        some = Times(**self._ask(request | {"resamples": few}))
        if few == RESAMPLES:
            return some
        one = Times(**self._ask(request | {"resamples": 1}))
        factor = (RESAMPLES - 1) / (few - 1)
        return Times(*(a + max(b - a, 0.0) * factor for a, b in ((one.wall, some.wall), (one.cpu, some.cpu))))


def timed(call: Callable[[], object]) -> Times:
    wall, cpu = speed_peers.time.perf_counter(), speed_peers.cpu()
    call()
    return Times(speed_peers.time.perf_counter() - wall, speed_peers.cpu() - cpu)


@dataclass(frozen=True)
class Found:
    """What came out for one cell."""

    cell: Cell
    ours: Times
    default: Times | None
    """None where there are so many rows that the default adds up features in bins, which benchmarks/scale.py times."""
    peers: dict[str, Times]
    peak: float
    scheme: str

    def rows(self) -> list[list[str]]:
        """Return one row for every peer, or one against the clock."""
        cell = self.cell
        default = "" if self.default is None else str(self.default)
        head = [cell.test, f"{cell.n:,}", str(cell.dim), str(self.ours), default]
        tail = [f"{self.peak:.2f}{'' if self.peak < 1 else ' ✗'}", self.scheme]
        if cell.seconds is not None:
            holds = verdict(self.ours.wall <= cell.seconds, self.ours.cpu <= cell.seconds)
            return [[*head, "", "", f"≤ {cell.seconds} s", f"{self.ours.wall:.3g} s", holds, *tail]]
        return [[*head, *self._against(peer, times), *tail] for peer, times in self.peers.items()]

    def _against(self, peer: str, times: Times) -> list[str]:
        wanted, own = self.cell.ratios[peer], self.default if peer == ADAPTIVE and self.default else self.ours
        wall, cpu = times.wall / own.wall, times.cpu / own.cpu
        few = self.cell.measured(peer)
        mark = "" if few == RESAMPLES else f" from {few}"
        name = peer.partition(",")[0]
        theirs = [f"{name}{mark}", str(times)]
        if wanted is None:
            return [*theirs, "", f"{wall:.0f} × ({cpu:.0f} ×)", ""]
        return [*theirs, f"≥ {wanted:.0f} ×", f"{wall:.0f} × ({cpu:.0f} ×)", verdict(wall >= wanted, cpu >= wanted)]


def verdict(wall: bool, cpu: bool) -> str:
    if wall == cpu:
        return "yes" if wall else "**no**"
    return f"by {'wall clock' if wall else 'processor'} only"


def measure(cell: Cell, peers: Peers, rounds: int, peak: float, only: str | None) -> Found:
    names = [name for name in cell.ratios if name in peers.known and only in (None, name)]
    for estimator in ("kme", "adaptive"):
        Cell(cell.test, min(cell.n, 3000), cell.dim).ours(estimator)  # imports, caches
    for name in names:
        peers.times(name, Cell(cell.test, 50, cell.dim, few=5))
    ours: list[Times] = []
    defaults: list[Times] = []
    theirs: dict[str, list[Times]] = {name: [] for name in names}
    for _ in range(rounds):
        ours.append(cell.ours())
        if cell.has_default:
            defaults.append(cell.ours("adaptive"))
        for name in names:
            theirs[name].append(peers.times(name, cell))
    middle = {name: Times.middle(times) for name, times in theirs.items()}
    default = Times.middle(defaults) if defaults else None
    return Found(cell, Times.middle(ours), default, middle, peak, cell.scheme())


HEADER = (
    "test",
    "n",
    "d",
    "one kernel, s",
    "default, s",
    "peer",
    "peer, s",
    "required",
    "measured",
    "holds",
    "peak, GiB",
    "scheme",
)


def slower(found: list[Found]) -> str:
    """Return how many times as long the default took as the test of one kernel."""
    ratios = [each.default.cpu / each.ours.cpu for each in found if each.default is not None]
    return f"The default took {min(ratios):.1f} to {max(ratios):.1f} times as long as one kernel (processor time)."


INTRODUCTION = f"""A line has n rows per sample, or n pairs of rows, in d columns of standard normal data. There are
{RESAMPLES:,} permutations, on one thread.

- *One kernel* is `estimator="kme"`, Gaussian with the median bandwidth. Ratios to peers are about it.
- *Default* is the test without options, which combines about twenty kernels. Above {ADAPTIVE_LIMIT:,} rows it adds up
  features in bins, and [Data of any length](../scale.md) has its times.
- A *peer* is another library or program. *From 60* means that it was measured with one and with 60 permutations, and
  continued in a straight line to {RESAMPLES:,}. pted tests the energy distance and dcor the distance covariance, both
  with kernels of their own; pted 2.0 is given NumPy arrays. The NumPy loop indexes the Gram matrix again for every
  permutation. MMDAgg is rebuilt from its paper (`benchmarks/rebuilt/`: twenty kernels, 1,000 and 500 copies) and
  compared with the default, which is adaptive too.
- All times are medians of rounds in which kernelmean and the peers take turns: the wall clock, and in brackets the
  processor time, which other programs on the machine disturb less.
- *Peak* is the largest memory of a fresh process, including the interpreter and its libraries.
- *p as dense* means that the p-value equals that from the dense Gram matrix."""


HEAD = f"""# Speed and memory of the tests

Written by `python benchmarks/speed.py --peer-python PATH`; PATH is an interpreter with frouros, dcor and pted.

{INTRODUCTION}
"""


def report(found: list[Found], yardstick: Machine, missing: list[str]) -> str:
    lines = [
        HEAD,
        slower(found),
        "",
        f"Machine: {yardstick}.",
        "",
        markdown(HEADER, [row for each in found for row in each.rows()]),
        "",
    ]
    return "\n".join(lines + ([f"Not installed, so not measured: {', '.join(missing)}.", ""] if missing else []))


def joined(page: str, found: list[Found], peer: str, yardstick: Machine) -> str:
    """Return the page of an earlier run with the lines of one peer, each below the others of its cell."""
    measured = page[page.index("The default took") :]
    lines = [line for line in measured.splitlines() if f"| {peer} |" not in line and f", of {peer}: " not in line]
    for each in found:
        for row in each.rows():
            new = markdown(row, []).splitlines()[0]
            alike = [number for number, line in enumerate(lines) if line.startswith(f"| {' | '.join(row[:3])} |")]
            lines.insert(max(alike) + 1, new)
    above = next(number for number, line in enumerate(lines) if line.startswith("Machine: "))
    lines[above + 1 : above + 1] = ["", f"Measured later, with ours beside it, of {peer}: {yardstick}."]
    return re.sub(r"\n{3,}", "\n\n", "\n".join([HEAD, *lines, ""]))


QUESTIONS = {"MMD": "do two tables differ?", "HSIC": "do two variables depend?"}
IN_SHORT = ("question", "rows", "columns", "kernelmean, s", "other program", "other, s", "times as fast, more than")


def readme(report: str) -> str:
    """Return the table of the README, of the default test: of every cell of the report its fastest peer.

    Cells without a peer, and those that the default answers by another test, are left out.
    """
    lines = [line for line in report.splitlines() if line.startswith("| ")]
    rows = [dict(zip(HEADER, map(str.strip, line.strip("|").split("|")), strict=True)) for line in lines[2:]]
    fastest: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        cell = row["test"], row["n"], row["d"]
        if row["peer"] and (cell not in fastest or _wall(row["peer, s"]) < _wall(fastest[cell]["peer, s"])):
            fastest[cell] = row
    return markdown(IN_SHORT, [_in_short(row) for row in fastest.values() if (row["n"], row["d"]) in SHOWN])


SHOWN = (("1,000", "2"), ("3,000", "2"))
"""The numbers of rows and columns that the README shows."""


def _in_short(row: dict[str, str]) -> list[str]:
    ours, theirs = (_wall(row[name]) for name in ("default, s", "peer, s"))
    peer = row["peer"].partition(" from ")[0].replace("numpy loop", "a loop in NumPy")
    seconds = [f"{ours:.3g}", peer, f"{theirs:.3g}"]
    return [QUESTIONS[row["test"]], row["n"], row["d"], *seconds, f"{_two_digits(theirs / ours):g}"]


def _two_digits(ratio: float) -> float:
    """Return a ratio of at least 1 rounded down to two digits: the seconds of the page are rounded too."""
    if ratio < 10:
        return int(ratio * 10) / 10
    unit = 10 ** (len(str(int(ratio))) - 2)
    return int(ratio // unit) * unit


def _wall(times: str) -> float:
    """Return the seconds of the wall clock of a cell such as "0.0615 (0.0614)"."""
    return float(times.partition(" ")[0])


def write_readme() -> None:
    """Put the table into the README, from docs/evidence/speed.md."""
    table = readme(REPORT.read_text(encoding="utf-8"))
    README.write_text(BLOCK.sub(lambda _: table + "\n", README.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", default=sys.executable, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="n up to 1000, one round, to the screen only")
    parser.add_argument(
        "--only", metavar="PEER", help="measure this peer; the other lines of docs/evidence/speed.md stay"
    )
    parser.add_argument(
        "--readme", action="store_true", help="measure nothing, write the README from docs/evidence/speed.md"
    )
    options = parser.parse_args()
    if options.readme:
        write_readme()
        return
    peers, yardstick = Peers(options.peer_python), machine()
    cells = [cell for cell in CELLS if not options.quick or cell.n <= 1000]
    if options.only is not None:
        cells = [cell for cell in cells if options.only in cell.ratios]
    peaks = [cell.peak() for cell in cells]  # first: a new process begins with the peak of the one that started it
    found = []
    for cell, peak in zip(cells, peaks, strict=True):
        found.append(measure(cell, peers, 1 if options.quick else options.rounds, peak, options.only))
        print(*(" | ".join(row) for row in found[-1].rows()), sep="\n", flush=True)
    if options.only is None:
        missing = sorted({name for cell in cells for name in cell.ratios} - set(peers.known))
        text = report(found, yardstick, missing)
    else:
        text = joined(REPORT.read_text(encoding="utf-8"), found, options.only, yardstick)
    print(text)
    if not options.quick:
        REPORT.write_text(text, encoding="utf-8")
        write_readme()


if __name__ == "__main__":
    main()
