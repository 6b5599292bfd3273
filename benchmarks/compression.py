"""How near coresets come: |μ - μ_m| by the number m of points, and what thinning costs for n up to a million.

Prints the tables of docs/scale.md and draws docs/figures/compression.svg. ``python benchmarks/compression.py`` takes
some minutes; ``--largest 100000`` leaves the last row of the second table out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import kernelmean as km
from kernelmean.tables import read_table

IMAGE = Path(__file__).parents[1] / "docs" / "figures" / "compression.svg"
SIZES = (8, 16, 32, 64, 128, 256)
REPEATS = {"random rows": 20, "herding": 1}  # of others 5
Errors = dict[str, list[float]]


def data_sets() -> dict[str, np.ndarray]:
    """Return a simple and a real set, its columns in standard deviations."""
    cancer = read_table("wbdc", drop=["target"])
    return {
        "normal, n = 4096, d = 2": np.random.default_rng(0).normal(size=(4096, 2)),
        "breast cancer, n = 569, d = 30": np.asarray(cancer) / cancer.deviations(),
    }


def drawn(mu: km.Embedding, m: int, seed: int) -> float:
    rows = np.random.default_rng(seed).choice(len(mu.points), m, replace=False)
    return (mu - km.embed(mu.points[rows], mu.kernel)).norm()


METHODS: dict[str, Callable[[km.Embedding, int, int], float]] = {
    "random rows": drawn,
    "herding": lambda mu, m, _: float(mu.herd(m, candidates=mu.points).errors[-1]),
    "halving (split)": lambda mu, m, seed: km.compress(mu, m, method="split", rng=seed).error,
    "kernel thinning": lambda mu, m, seed: km.compress(mu, m, rng=seed).error,
    "thinning, best weights": lambda mu, m, seed: km.compress(mu, m, reweight=True, rng=seed).error,
}


def measured(X: np.ndarray) -> Errors:
    mu = km.embed(X, km.kernels.Gaussian(km.median_bandwidth(X)))
    return {
        name: [float(np.mean([error(mu, m, seed) for seed in range(REPEATS.get(name, 5))])) for m in SIZES]
        for name, error in METHODS.items()
    }


def slope(errors: list[float]) -> float:
    """Return the power of m that the errors fall with."""
    return float(np.polyfit(np.log(SIZES), np.log(errors), 1)[0])


def show(name: str, errors: Errors) -> None:
    print(f"\n| {name} | {' | '.join(f'm = {m}' for m in SIZES)} | power of m |\n|---|{'---|' * (len(SIZES) + 1)}")
    for method, row in errors.items():
        print(f"| {method} | {' | '.join(f'{error:.4f}' for error in row)} | {slope(row):.2f} |", flush=True)


def draw(found: dict[str, Errors]) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(found), figsize=(9, 3.6), layout="constrained", sharey=True)
    for ax, (name, errors) in zip(axes, found.items(), strict=True):
        for (method, row), marker in zip(errors.items(), "osv^D", strict=True):
            ax.loglog(SIZES, row, marker=marker, markersize=4, label=method)
        start = errors["random rows"][0]
        ax.loglog(SIZES, start * np.sqrt(SIZES[0] / np.array(SIZES)), color="0.6", linestyle=":", label="1/√m")
        ax.loglog(SIZES, start * SIZES[0] / np.array(SIZES), color="0.6", linestyle="--", label="1/m")
        ax.set(xlabel="points m", title=name)
    axes[0].set_ylabel("|μ - μ_m|")
    axes[-1].legend(fontsize="small")
    IMAGE.parent.mkdir(exist_ok=True)
    pyplot.rcParams["svg.hashsalt"] = "kernelmean"
    figure.savefig(IMAGE, metadata={"Date": None})


def times(largest: int) -> None:
    print("\n| n | m | seconds of processor | error |\n|---|---|---|---|")
    for n in (1_000, 10_000, 100_000, 1_000_000):
        if n > largest:
            return
        X = np.random.default_rng(0).normal(size=(n, 10))
        mu, m = km.embed(X, km.kernels.Gaussian(3.0), plan=km.Plan(threads=1)), int(np.sqrt(n))
        start = time.process_time()
        few = km.compress(mu, m)
        word = "" if few.error_kind == "exact" else "≤ "
        print(f"| {n:,} | {m} | {time.process_time() - start:.2g} | {word}{few.error:.3g} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    largest = parser.parse_args().largest
    found = {name: measured(X) for name, X in data_sets().items()}
    for name, errors in found.items():
        show(name, errors)
    draw(found)
    times(largest)


if __name__ == "__main__":
    main()
