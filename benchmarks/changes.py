"""How well change points are found: F1 of ``kernelmean.changes`` beside ruptures' kernels and changeforest.

    python benchmarks/changes.py [--series 30] [--resamples 999] [--kinds NAME ...] [--write]

Needs ruptures and changeforest (``pip install ruptures changeforest``), which are no dependencies. Series of 500 or
1,000 rows: those that ruptures makes itself, one after Arlot, Celisse & Harchaoui (2019) with ten changes between seven
distributions, and changes of a mean, a variance, a shape, a tail, a correlation, a short excursion, and none. F1 as in
van den Burg & Williams (2020): the first row counts as a change point, and others are found where they are at most five
rows away.

KernelCPD gets columns in units of their deviation and segments of five rows or more. Its penalty: for the linear kernel
log(n) d σ², as its documentation writes, σ from differences of neighboring rows; besides, for either kernel, that
multiple of log(n) (for the linear kernel d log(n)) which of eight is best on average over all these series, known in
hindsight. changeforest splits as its documentation does, by "random_forest" or "knn" with binary segmentation and its
own defaults, such as a level of 0.02. ``changes`` has level 0.05. It and KernelCPD get the true number of changes, too;
changeforest takes none. ``--write`` puts the table into docs/evidence/changes.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from kernelmean.studies.changes import Search, changes

Series = tuple[np.ndarray, list[int]]
REPORT = Path(__file__).parents[1] / "docs" / "evidence" / "changes.md"
MULTIPLES = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
MARGIN, SHORTEST, ROWS = 5, 5, 500
ARLOT = [100, 130, 220, 320, 370, 520, 620, 740, 790, 870]


def segments(rng: np.random.Generator, changes: int, least: int, draw: Callable[[int, int], Any]) -> Series:
    """Return segments of random lengths; ``draw`` makes the k-th one of so many rows."""
    while True:
        rows = np.sort(rng.choice(np.arange(1, ROWS), changes, replace=False))
        if (np.diff([0, *rows, ROWS]) >= least).all():
            break
    parts = [draw(k, int(n)) for k, n in enumerate(np.diff([0, *rows, ROWS]))]
    return np.concatenate(parts), rows.tolist()


def made_by_ruptures(deviation: float, dim: int) -> Callable[[np.random.Generator], Series]:
    def series(rng: np.random.Generator) -> Series:
        import ruptures

        seed = int(rng.integers(2**31))
        signal, ends = ruptures.pw_constant(ROWS, dim, 4, noise_std=deviation, delta=(1, 5), seed=seed)
        return signal, ends[:-1]

    return series


def pw_normal(rng: np.random.Generator) -> Series:
    import ruptures

    signal, ends = ruptures.pw_normal(ROWS, 4, seed=int(rng.integers(2**31)))
    return signal, ends[:-1]


def variance(rng: np.random.Generator) -> Series:
    return segments(rng, 4, 40, lambda k, n: rng.normal(size=(n, 1)) * (1 + k % 2))


def shape(rng: np.random.Generator) -> Series:
    def draw(k: int, n: int) -> Any:
        two = rng.choice([-0.95, 0.95], size=(n, 1)) + 0.3122 * rng.normal(size=(n, 1))
        return two if k % 2 else rng.normal(size=(n, 1))

    return segments(rng, 3, 40, draw)


def tails(rng: np.random.Generator) -> Series:
    return segments(rng, 3, 80, lambda k, n: 0.6 * rng.standard_t(2.2, (n, 1)) if k % 2 else rng.normal(size=(n, 1)))


def correlation(rng: np.random.Generator) -> Series:
    def draw(k: int, n: int) -> Any:
        rows = rng.normal(size=(n, 3))
        rows[:, 1] = 0.8 * rows[:, 0] + 0.6 * rows[:, 1] if k % 2 else rows[:, 1]
        return rows

    return segments(rng, 3, 60, draw)


def heavy(rng: np.random.Generator) -> Series:
    return segments(rng, 4, 40, lambda k, n: rng.standard_t(1.5, (n, 1)) + 1.5 * (k % 2))


def one_of_ten(rng: np.random.Generator) -> Series:
    return segments(rng, 4, 40, lambda k, n: rng.normal(size=(n, 10)) + 1.2 * (k % 2) * np.eye(10)[0])


def excursion(rng: np.random.Generator) -> Series:
    start, rows = int(rng.integers(60, 400)), rng.normal(size=(ROWS, 1))
    rows[start : start + 40] += 1.2
    return rows, [start, start + 40]


def arlot(rng: np.random.Generator) -> Series:
    laws: list[Callable[[int], Any]] = [
        lambda n: rng.binomial(10, 0.2, n),
        lambda n: rng.negative_binomial(3, 0.7, n),
        lambda n: rng.hypergeometric(10, 5, 2, n),
        lambda n: rng.normal(2.5, 0.5, n),
        lambda n: rng.gamma(0.5, 5.0, n),
        lambda n: 5.0 * rng.weibull(2.0, n),
        lambda n: 1.5 * (rng.pareto(3.0, n) + 1.0),
    ]
    found, law = [], -1
    for n in np.diff([0, *ARLOT, 1000]):
        law = int(rng.choice([k for k in range(len(laws)) if k != law]))
        found.append(laws[law](int(n)))
    return np.concatenate(found)[:, None].astype(float), ARLOT


def nothing(rng: np.random.Generator) -> Series:
    laws = [rng.normal(size=(ROWS, 1)), rng.standard_t(3.0, (ROWS, 2)), rng.exponential(size=(ROWS, 1))]
    return laws[int(rng.integers(len(laws)))], []


KINDS: dict[str, Callable[[np.random.Generator], Series]] = {
    "pw_constant, noise 1": made_by_ruptures(1.0, 1),
    "pw_constant, noise 2": made_by_ruptures(2.0, 1),
    "pw_constant, 5 columns, noise 3": made_by_ruptures(3.0, 5),
    "pw_normal": pw_normal,
    "variance": variance,
    "shape, same mean and variance": shape,
    "tails": tails,
    "correlation": correlation,
    "mean, Student t(1.5)": heavy,
    "mean, 1 of 10 columns": one_of_ten,
    "excursion of 40 rows": excursion,
    "Arlot, Celisse & Harchaoui": arlot,
    "none": nothing,
}


def f1(true: Sequence[int], found: Sequence[int]) -> float:
    left, hits = [0, *found], 0
    for place in (0, *true):
        near = [row for row in left if abs(row - place) <= MARGIN]
        if near:
            left.remove(min(near, key=lambda row: abs(row - place)))
            hits += 1
    precision, recall = hits / (1 + len(found)), hits / (1 + len(true))
    return 2 * precision * recall / (precision + recall)


def ours(rows: np.ndarray, n_resamples: int, number: int | None = None) -> list[int]:
    if number == 0:
        return []
    found = changes(rows, search=Search(n_changes=number, n_resamples=n_resamples))
    return [point.row for point in found.points]


def rivals(rows: np.ndarray, number: int) -> dict[str, list[int]]:
    """Return what KernelCPD finds with every penalty, and with the true number of changes."""
    import ruptures

    scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    n, dim = rows.shape
    noise = np.median(np.abs(np.diff(scaled, axis=0)), axis=0) / 0.6745 / np.sqrt(2.0)
    found = {}
    for kernel, unit in (("linear", dim * np.log(n)), ("rbf", np.log(n))):
        method = ruptures.KernelCPD(kernel=kernel, min_size=SHORTEST).fit(scaled)
        penalties = {f"{kernel} {multiple}": multiple * unit for multiple in MULTIPLES}
        if kernel == "linear":
            penalties["linear as documented"] = unit * float(np.mean(np.square(noise)))
        found |= {name: method.predict(pen=penalty)[:-1] for name, penalty in penalties.items()}
        found[f"{kernel} known"] = method.predict(n_bkps=number)[:-1] if number else []
    return found


def forests(rows: np.ndarray) -> dict[str, list[int]]:
    """Return what changeforest finds, with forests and with nearest neighbors."""
    from changeforest import changeforest

    methods = {"forests": "random_forest", "neighbors": "knn"}
    return {name: changeforest(rows, method, "bs").split_points() for name, method in methods.items()}


def scores(kind: str, series: int, n_resamples: int) -> dict[str, float]:
    """Return the mean F1 of every method, and the seconds of processor time that ours takes."""
    every = []
    for seed in range(series):
        rows, true = KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))
        start = time.process_time()
        found = {"ours": ours(rows, n_resamples)}
        seconds = time.process_time() - start
        found |= {"ours known": ours(rows, 99, len(true)), **rivals(rows, len(true)), **forests(rows)}
        every.append({name: f1(true, places) for name, places in found.items()} | {"seconds": seconds})
    return {name: float(np.mean([each[name] for each in every])) for name in every[0]}


def table(found: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines of a Markdown table."""
    grids = [[f"{kernel} {multiple}" for multiple in MULTIPLES] for kernel in ("linear", "rbf")]
    best = [max(grid, key=lambda name: sum(own[name] for own in found.values())) for grid in grids]
    names = ["ours", "forests", "neighbors", "linear as documented", *best, "ours known", "linear known", "rbf known"]
    header = [
        "kernelmean",
        "changeforest",
        "changeforest, nearest neighbors",
        "linear, penalty as documented",
        *(f"{name.split()[0]}, {name.split()[1]} × its unit" for name in best),
        "kernelmean, number known",
        "linear, number known",
        "rbf, number known",
    ]
    lines = [f"| series | {' | '.join(header)} |", "|---" * (1 + len(names)) + "|"]
    mean = {name: float(np.mean([own[name] for own in found.values()])) for name in names}
    for kind, own in {**found, "mean": mean}.items():
        lines.append(f"| {kind} | {' | '.join(f'{own[name]:.3f}' for name in names)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--series", type=int, default=30)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    found = {}
    for kind in asked.kinds:
        found[kind] = scores(kind, asked.series, asked.resamples)
        print(kind, {name: round(value, 3) for name, value in found[kind].items()}, flush=True)
    seconds = max(own["seconds"] for own in found.values())
    text = "\n".join(
        [
            "# Change points beside ruptures and changeforest",
            "",
            f"Written by `python benchmarks/changes.py --series {asked.series} --resamples {asked.resamples} --write`. "
            f"The table has the mean F1 of {asked.series} series of each kind. A change point counts as "
            f"found if it is at most {MARGIN} rows away. The script says what the series are and how penalties were "
            "chosen.",
            "",
            *table(found),
            "",
            f"ruptures {version('ruptures')}, changeforest {version('changeforest')}. On average over a kind, "
            f"`changes` took at most {seconds:.1f} seconds of processor time per series.",
            "",
        ]
    )
    print(text)
    if asked.write:
        REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
