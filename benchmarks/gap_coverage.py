"""Coverage of the intervals of differences of means with strata and weights, written into docs/designs.md.

Run ``python benchmarks/gap_coverage.py`` (ten minutes on one core; ``--runs 200`` for a look). Two tables have the
strata in different shares. A stratum moves the values by its number, the difference between the tables grows from
stratum to stratum by half a standard deviation of the first, and the second varies twice as much. The exact value is
the mean of the differences within strata, each counted by the sums of weights of its rows, as in the tests.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np

from kernelmean import Design
from kernelmean.studies.comparison.mean_gaps import GapsOfMeans
from kernelmean.studies.comparison.row_weights import RowWeights

DOCUMENT = Path(__file__).parents[1] / "docs" / "designs.md"
BEGIN, END = "<!-- gaps: begin -->", "<!-- gaps: end -->"
LEAST = 400
"""Intervals from which on a coverage is shown."""
SIZES = [(30, 30), (20, 100), (100, 100), (250, 250)]
SHARES = {
    "2": ((0.8, 0.2), (0.3, 0.7)),
    "4": ((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)),
    "8, one rare": ((0.05, *[0.95 / 7] * 7), (0.05, *np.arange(1, 8) * 0.95 / 28)),
}
Draw = Callable[[np.random.Generator, int], np.ndarray]
WEIGHTS: dict[str, Draw] = {
    "none": lambda _, n: np.ones(n),
    "1 to 10": lambda rng, n: rng.uniform(1.0, 10.0, n),
    "1 or 10": lambda rng, n: rng.choice([1.0, 10.0], n, p=[0.8, 0.2]),
}
VALUES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
}


def drawn(
    rng: np.random.Generator, sizes: tuple[int, int], shares: tuple, weigh: Draw, draw: Draw
) -> tuple[Design, list[np.ndarray], float]:
    """Return a design, the values of both tables, and the exact difference."""
    strata = [rng.choice(len(own), n, p=own) for own, n in zip(shares, sizes, strict=True)]
    weights = [weigh(rng, n) for n in sizes]
    values = [(1.0 + k) * draw(rng, n) + own for k, (own, n) in enumerate(zip(strata, sizes, strict=True))]
    values[0] = values[0] + 0.5 * strata[0]
    first, second = (np.bincount(own, mass, len(shares[0])) for own, mass in zip(strata, weights, strict=True))
    counted = np.divide(first * second, first + second, out=np.zeros(len(first)), where=first * second > 0.0)
    exact = float(0.5 * counted @ np.arange(len(first)) / counted.sum())
    return Design(strata=tuple(strata), weights=tuple(weights)), values, exact


def covered(runs: int, sizes: tuple[int, int], shares: tuple, weigh: Draw, draw: Draw) -> tuple[int, int]:
    """Return how many intervals hold the exact value, and how many there are."""
    held, given = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng([98, seed, *sizes])
        design, values, exact = drawn(rng, sizes, shares, weigh, draw)
        low, high = GapsOfMeans(design, RowWeights.of(design), sizes).interval(values)
        held, given = held + (low <= exact <= high), given + bool(np.isfinite(low))
    return held, given


def report(runs: int) -> str:
    """Return the table in Markdown."""
    lines = [
        f"{runs} pairs of tables a cell, 95 % intervals; the standard error of a share of .95 is "
        f"{np.sqrt(0.95 * 0.05 / runs):.3f}. A dash: fewer than {LEAST} of them have an interval.",
        "",
        f"| values | strata | rows | {' | '.join(f'weights {name} | no interval' for name in WEIGHTS)} |",
        f"|---|---|---|{'---|' * 2 * len(WEIGHTS)}",
    ]
    for (values, draw), (strata, shares), sizes in product(VALUES.items(), SHARES.items(), SIZES):
        cells = []
        for weigh in WEIGHTS.values():
            held, given = covered(runs, sizes, shares, weigh, draw)
            cells += [f"{held / given:.3f}" if given >= LEAST else "–", f"{1.0 - given / runs:.3f}"]
        lines.append(f"| {values} | {strata} | {sizes[0]}, {sizes[1]} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    measured = report(parser.parse_args().runs)
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{measured}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
