"""Losses of the variance-preserving estimator beside KME and MKME, on a grid: writes docs/evidence/vpmkme.md.

    python benchmarks/vpmkme_grid.py [--seeds 60] [--out docs/evidence/vpmkme.md]

Mixtures of Gaussians, exact losses, both bandwidth conventions. About ten minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from _timing import markdown
from kernelmean.estimators import KME, MKME, VPMKME
from kernelmean_paper.mixtures import Drawn

SIZES, DIMENSIONS = (10, 20, 50, 100), (5, 20, 50)
MAKERS = {
    "KME": KME,
    "MKME": MKME,
    "VPMKME": VPMKME,
    "VPMKME tied": lambda kernel: VPMKME(kernel, contraction="tied"),
}

HEADER = """# The variance-preserving marginalized estimator, measured

Marginalizing adds noise to every point, and with it variance to the estimate. VPMKME first pulls the points towards
their mean, x̃ = x̄ + r (x - x̄) + ε with ε ~ N(0, σ²I), and chooses (r, σ²) by the exact leave-one-out score. The *tied*
form gives back just the variance that the contraction took, σ² = (1 - r²) v.

The tables have mean losses |μ̂ - μ|² over {seeds} random mixtures of Gaussians (four components, means uniform on
[-10, 10]^d, Wishart covariances with 7 degrees of freedom). The mean of a mixture is known exactly, so the losses
have no Monte Carlo error. "Change" is the mean loss relative to that of MKME, ± one standard error of the paired
differences. Regenerate with `python benchmarks/vpmkme_grid.py --seeds {seeds}`.
"""


@dataclass(frozen=True)
class Cell:
    """The losses (seeds, estimators) at one size, dimension and bandwidth convention."""

    squared: bool
    n: int
    dim: int
    losses: np.ndarray

    def change(self, name: str) -> tuple[float, float]:
        """The relative change of the mean loss from MKME's, and its standard error."""
        names = list(MAKERS)
        base, other = self.losses[:, names.index("MKME")], self.losses[:, names.index(name)]
        gap = other - base
        return gap.mean() / base.mean(), gap.std(ddof=1) / np.sqrt(len(gap)) / base.mean()

    def row(self) -> list[str]:
        means = [f"{mean:.5f}" for mean in self.losses.mean(axis=0)]
        changes = ["{:+.1%} ± {:.1%}".format(*self.change(name)) for name in ("VPMKME", "VPMKME tied")]
        return [str(self.n), str(self.dim), *means, *changes]


def loss(seed: int, n: int, dim: int, squared: bool) -> list[float]:
    rng = np.random.default_rng([seed, n, dim])
    drawn = Drawn.random(n, dim, "median" if squared else "median-unsquared", rng)
    return [drawn.loss(make(drawn.kernel).fit(drawn.X).embedding_) for make in MAKERS.values()]


def cells(seeds: int) -> Iterator[Cell]:
    for squared in (True, False):
        for dim in DIMENSIONS:
            for n in SIZES:
                yield Cell(squared, n, dim, np.array([loss(seed, n, dim, squared) for seed in range(seeds)]))


def summary(found: list[Cell], name: str) -> str:
    """The mean over the grid of the relative change, the worst cell, and how many cells improve."""
    changes = np.array([cell.change(name)[0] for cell in found])
    total = np.mean([cell.losses.mean(axis=0) for cell in found], axis=0)
    names = list(MAKERS)
    overall = total[names.index(name)] / total[names.index("MKME")] - 1
    return (
        f"{name}: mean loss over the grid {overall:+.1%}, mean change of a cell {changes.mean():+.1%}, worst cell "
        f"{changes.max():+.1%}, below MKME in {int((changes < 0).sum())} of {len(changes)} cells."
    )


def report(found: list[Cell], seeds: int) -> str:
    parts = [HEADER.format(seeds=seeds)]
    columns = ["n", "d", *MAKERS, "change, VPMKME", "change, tied"]
    for squared, title in ((True, "θ² = median of squared distances"), (False, "θ² = median of distances")):
        mine = [cell for cell in found if cell.squared is squared]
        parts.append(f"## {title}\n\n" + markdown(columns, [cell.row() for cell in mine]) + "\n")
        parts.append("\n\n".join(summary(mine, name) for name in ("VPMKME", "VPMKME tied")) + "\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "evidence" / "vpmkme.md")
    options = parser.parse_args()
    options.out.write_text(report(list(cells(options.seeds)), options.seeds), encoding="utf-8")
    print(options.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
