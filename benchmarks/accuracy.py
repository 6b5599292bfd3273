"""How many digits every closed form keeps, against the same numbers with 50 to 450 digits.

``python benchmarks/accuracy.py`` draws 100 cases of every form of tests/precision/forms.py (``--cases N`` others), from
the seed 0 (``--seed``), and prints the largest error of each. ``--write`` puts the table into
docs/evidence/accuracy.md and draws docs/figures/accuracy.svg. Needs the group "test"; some five minutes of one core.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "precision"))
from forms import AXIS_KERNELS, FORMS, SIDES  # noqa: E402

PAGE, FIGURE = ROOT / "docs" / "evidence" / "accuracy.md", ROOT / "docs" / "figures" / "accuracy.svg"
BLOCK = re.compile(r"(?<=<!-- accuracy -->\n).*?(?=<!-- /accuracy -->)", flags=re.DOTALL)
Row = tuple[str, str, int, int, float, float]


def measure(seed: int, cases: int) -> list[Row]:
    """Return for every form: kernel, noise, numbers compared, cases refused, and the median and largest error."""
    rows = []
    for form in FORMS:
        errors, refused = form.errors(seed, cases)
        rows.append((form.kernel, form.noise, len(errors), refused, float(np.median(errors)), max(errors)))
        print(line(rows[-1]), flush=True)
    return rows


def line(row: Row) -> str:
    kernel, noise, count, refused, median, largest = row
    return f"| {kernel} | {noise} | {count} | {refused} | {median:.0e} | {largest:.1e} |"


def table(rows: list[Row]) -> str:
    heads = "| form | noise | numbers | refused | median error | largest error |\n|---|---|---|---|---|---|"
    return "\n".join([heads, *map(line, rows)]) + "\n"


def draw(rows: list[Row]) -> None:
    """Draw the largest errors of kernels on axes under noise on axes; the table has the others too."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "kernelmean", "svg.fonttype": "none"})
    kernels, noises = list(AXIS_KERNELS), [*SIDES, "Blankout, both"]
    largest = {row[:2]: row[5] for row in rows}
    grid = np.array([[math.log10(largest.get((a, b), np.nan)) for b in noises] for a in kernels])
    figure = Figure(figsize=(8.6, 4.2), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(grid, cmap="Blues", vmin=-17, vmax=-9, aspect="auto")
    for (i, j), value in np.ndenumerate(grid):
        axes.text(j, i, "none" if np.isnan(value) else f"{value:.1f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(noises)), [name.replace(", ", "\n").replace(" ", "\n") for name in noises])
    axes.set_yticks(range(len(kernels)), kernels)
    axes.tick_params(labelsize=8, length=0)
    figure.colorbar(picture, label="log₁₀ of the largest error")
    figure.savefig(FIGURE, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = measure(options.seed, options.cases)
    if options.write:
        PAGE.write_text(BLOCK.sub(table(found), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        draw(found)
    worst = max(found, key=lambda row: row[5])
    print(f"{sum(row[2] for row in found):,} numbers of {len(found)} forms; largest error {worst[5]:.1e}, {worst[:2]}")
