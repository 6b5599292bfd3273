"""Draw the pictures of the README: kernel means of few rows, and the top of the report of the README's own command.

    python docs/picture.py

Needs the extras ``cli`` and ``plot``, and a Chromium. The report is the file that the command writes, as it is.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PICTURE = DOCS / "figures" / "report.png"
MEANS = DOCS / "figures" / "kernel_mean.png"
COMMAND = re.compile(r"^\$ kernelmean (.*)$", flags=re.MULTILINE)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (1280, 720)


def write_report(page: Path) -> None:
    """Run the command of the README with ``--html``."""
    found = COMMAND.search((DOCS.parent / "README.md").read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(
            "README.md has no line that begins with '$ kernelmean': write one, the picture is of its report"
        )
    command = [sys.executable, "-m", "kernelmean", *shlex.split(found[1]), "--html", str(page)]
    subprocess.run(command, check=True, capture_output=True)


def photograph(page: Path, picture: Path) -> None:
    """Write what a browser shows of the top of a page.

    Raises
    ------
    FileNotFoundError
        When no browser is installed.
    """
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        raise FileNotFoundError(f"a browser is needed, one of {', '.join(BROWSERS)}")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE[0]},{SIZE[1]}"]
    command = [browser, *options, f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def draw_means(picture: Path) -> None:
    """Draw the kernel mean of a mixture and its estimates from 20 rows, and where two tables of 60 rows differ."""
    import matplotlib.pyplot as plt
    import numpy as np

    import kernelmean as km

    kernel, grid = km.kernels.Gaussian(0.5), np.linspace(-4, 5, 400)[:, None]
    first, second = (
        km.embed([[-1.5], [place]], kernel, noise=km.noise.Normal.isotropic(0.6), weights=[0.6, 0.4])
        for place in (1.5, 2.5)
    )
    few = first.sample(20, rng=1)
    plain, marginalized = (make(kernel).fit(few).embedding_ for make in (km.KME, km.MKME))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharex=True)
    left.fill_between(grid[:, 0], first(grid), color="0.87", label="kernel mean of the distribution, exact")
    for mean, color, label in ((plain, "tab:orange", "of 20 rows"), (marginalized, "tab:blue", "of 20 rows, MKME")):
        loss = (mean - first).norm() ** 2
        left.plot(grid, mean(grid), color=color, label=f"{label}: squared distance {loss:.3f}")
    left.plot(few, np.full(20, -0.02), "|", color="black", markersize=9)
    left.set_title("A distribution, estimated from 20 rows")
    tables = first.sample(60, rng=1), second.sample(60, rng=2)
    result = km.mmd_test(*tables, kernel=kernel, rng=0)
    right.plot(grid, result.witness()(grid), color="tab:purple", label="difference of the kernel means")
    low, high = right.get_ylim()
    for rows, height, color, label in zip(
        tables, (high, low), ("tab:blue", "tab:red"), ("one table", "the other"), strict=True
    ):
        right.plot(rows, np.full(60, 1.1 * height), "|", color=color, markersize=9, label=label)
    right.axhline(0.0, color="0.6", linewidth=0.8)
    right.set_title(f"Do two tables of 60 rows differ, and where? p = {result.pvalue:.3f}")
    for axes in (left, right):
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3 if axes is right else 1)
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(picture, dpi=110)
    plt.close(figure)


def main() -> None:
    """Write the report to a temporary folder and its picture beside the other figures."""
    draw_means(MEANS)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        write_report(page)
        photograph(page, PICTURE)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
