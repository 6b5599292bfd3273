"""How much nearer the means of fifty groups come to the truth when groups share, beside rivals and bounds.

    python benchmarks/many_means.py run [--runs 60] [--only TEXT]    # goes on where it was stopped
    python benchmarks/many_means.py report > docs/evidence/many-means.md

Losses are exact: squared distances in the RKHS from the kernel means of the normal distributions that rows are drawn
from. Every figure is relative to the loss of the plain means of the same rows.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import kernelmean as km
from kernelmean.estimators import SKMSE, VPMKME

RESULTS = Path(__file__).with_suffix(".jsonl")
GROUPS = 50
TIGHT, WIDE = 2.25, 10.0
"""Width of the kernel on the toy of Marienwald, Fermanian & Blanchard (2021), and the larger variance of its groups."""
THRESHOLDS, OWN = (0.5, 1.0, 2.0, 4.0), (0.0, 0.2, 0.5)
"""The parameters of averages over similar groups: how far is similar, and the weight of the own mean."""


def clusters(many: int, rows: int, columns: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of every group (T, n, d), means and covariances; groups have ``many`` different means."""
    means = (3.0 * rng.normal(size=(many, columns)))[np.arange(GROUPS) % many]
    X = means[:, None] + rng.normal(size=(GROUPS, rows, columns))
    return X, means, np.repeat(np.eye(columns)[None], GROUPS, axis=0)


def unequal(many: int, apart: float, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return groups of 3 to 300 rows in five columns."""
    means = (apart * rng.normal(size=(many, 5)))[np.arange(GROUPS) % many]
    sizes = rng.permutation(np.round(np.geomspace(3, 300, GROUPS)).astype(int))
    X = [mean + rng.normal(size=(size, 5)) for mean, size in zip(means, sizes, strict=True)]
    return X, means, np.repeat(np.eye(5)[None], GROUPS, axis=0)


def toy(radius: float, rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return groups around five centres on a circle, whose covariances are turned by up to 45 degrees."""
    angles = 2.0 * np.pi * (np.arange(GROUPS) % 5) / 5
    means = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    turn = rng.uniform(-np.pi / 4, np.pi / 4, GROUPS)
    axes = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], axis=1).reshape(-1, 2, 2)
    X = means[:, None] + np.einsum("tij,tnj->tni", axes, rng.normal(size=(GROUPS, rows, 2)) * np.sqrt([1.0, WIDE]))
    return X, means, axes @ np.diag([1.0, WIDE]) @ axes.transpose(0, 2, 1)


CASES = {
    **{
        f"{many} clusters, d {columns}, n {rows}": (lambda rng, a=(many, rows, columns): clusters(*a, rng), many, goal)
        for many, goal in ((5, 0.15), (20, 0.45))
        for columns in (5, 20)
        for rows in (10, 100)
    },
    **{
        f"toy, radius {radius}, n {rows}": (lambda rng, a=(radius, rows): toy(*a, rng), 5, goal)
        for rows in (10, 50)
        for radius, goal in ((0, 0.30), (1, 0.60), (2.5, 0.50), (5, 0.50))
    },
    **{
        f"50 different groups, d {columns}, n 10": (lambda rng, d=columns: clusters(GROUPS, 10, d, rng), GROUPS, 1.0)
        for columns in (5, 20)
    },
    **{
        f"{many} {what}, d 5, n 3 to 300": (lambda rng, a=(many, apart): unequal(*a, rng), many, 1.0)
        for many, what, apart in ((5, "clusters", 3.0), (20, "clusters", 3.0), (GROUPS, "means near one another", 0.3))
    },
}
"""Each: how rows are drawn, how many of the groups have different centres, and the loss to reach."""


ALONE = 3
PRESERVED = f"each by VPMKME, {ALONE} runs"
"""Fifty searches of their own take most of the time, so fewer runs have them."""


def losses(name: str, run: int) -> dict[str, float]:
    """Return the loss of every estimator on one draw, relative to plain means."""
    draw, many, _ = CASES[name]
    X, means, covariances = draw(np.random.default_rng([zlib.crc32(name.encode()), run]))
    sizes, pooled = np.array(list(map(len, X))), np.concatenate(list(X))
    labels = np.repeat(np.arange(GROUPS), sizes)
    bandwidth = TIGHT if name.startswith("toy") else km.median_bandwidth(pooled)
    kernel = km.kernels.Gaussian(float(bandwidth))

    def loss(weights: np.ndarray, noise: float = 0.0) -> float:
        gram, cross = products(kernel, X, means, covariances, noise)
        squares = np.einsum("ts,su,tu->t", weights, gram, weights)
        return float((squares - 2.0 * (weights * cross.T).sum(axis=1)).mean() + length)

    truth = [embedded(kernel, mean, covariance) for mean, covariance in zip(means, covariances, strict=True)]
    length = float(np.mean([mu @ mu for mu in truth]))
    gram = products(kernel, X, means, covariances, 0.0)[0]
    alike = (np.arange(GROUPS)[:, None] % many == np.arange(GROUPS) % many) * sizes
    shrunk = np.diag([SKMSE(kernel).fit(rows).weights_.sum() for rows in X])
    found = {
        "true clusters pooled": loss(alike / alike.sum(axis=1, keepdims=True)),
        "similar groups averaged, in hindsight": min(map(loss, averages(gram, sizes))),
        "each shrunk": loss(shrunk),
    }
    if run < ALONE:
        fits = [VPMKME(kernel).fit(rows).embedding_ for rows in X]
        found[PRESERVED] = float(np.mean([(fit - mu).norm() ** 2 for fit, mu in zip(fits, truth, strict=True)]))
    for estimator in ("kme", "mkme"):
        start = time.process_time()
        fit = km.GroupMeans(kernel, estimator=estimator).fit(pooled, groups=labels)
        seconds = time.process_time() - start
        noise = 0.0 if isinstance(fit.noise_, km.noise.Dirac) else float(fit.noise_.covariance)
        found[f"GroupMeans, {estimator}"] = loss(fit.weights_, noise)
    base = loss(np.eye(GROUPS))
    return {key: value / base for key, value in found.items()} | {"seconds": seconds}


def embedded(kernel: km.kernels.Gaussian, mean: np.ndarray, covariance: np.ndarray) -> km.embedding.embedding.Embedding:
    """Return the kernel mean of a normal distribution."""
    return km.embed(mean[None], kernel, noise=km.noise.Normal(covariance))


def products(
    kernel: km.kernels.Gaussian, X: Sequence[np.ndarray], means: np.ndarray, covariances: np.ndarray, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner products of the means of groups under a noise, and of these with the true means, (T, T) each."""
    pooled, sizes = np.concatenate(list(X)), np.array(list(map(len, X)))
    starts = np.cumsum(sizes) - sizes
    added = km.noise.Normal(noise) if noise else km.noise.Dirac()
    values = np.add.reduceat(np.add.reduceat(km.expected(kernel, pooled, pooled, added, added), starts), starts, axis=1)
    wider = covariances + noise * np.eye(pooled.shape[1])
    true = [embedded(kernel, *pair)(pooled) for pair in zip(means, wider, strict=True)]
    return values / np.outer(sizes, sizes), np.add.reduceat(np.stack(true, axis=1), starts) / sizes[:, None]


def averages(gram: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """Return the weights of averages over similar groups, Marienwald et al. (2021), under all their parameters."""
    lengths = np.diag(gram)
    inside = (rows * lengths - 1.0) / (rows - 1.0)  # k(x, x) = 1
    noise = (1.0 - inside) / rows
    apart = inside[:, None] + inside - 2.0 * gram
    found = []
    for threshold in THRESHOLDS:
        similar = (apart <= threshold * (noise[:, None] + noise)) | np.eye(GROUPS, dtype=bool)
        mean = similar * rows / (similar * rows).sum(axis=1, keepdims=True)
        found += [own * np.eye(GROUPS) + (1.0 - own) * mean for own in OWN]
    return found


def run(runs: int, only: str) -> None:
    """Measure what is not measured yet."""
    done = {(row["case"], row["run"]) for row in read()}
    for name in CASES:
        for number in range(runs):
            if only in name and (name, number) not in done:
                with RESULTS.open("a") as file:
                    file.write(json.dumps({"case": name, "run": number, **losses(name, number)}) + "\n")


def read() -> list[dict]:
    return list(map(json.loads, RESULTS.read_text().splitlines())) if RESULTS.exists() else []


def report() -> None:
    """Print the page."""
    rows = read()
    names = [key for key in rows[0] if key not in ("case", "run", "seconds")]
    print("# Many means at once\n")
    print(
        "How far the estimated kernel means of fifty groups are from the truth, relative to the plain mean of every\n"
        "group: `python benchmarks/many_means.py report` writes this page. Losses are exact. `GroupMeans` chooses all\n"
        "that it needs by leaving rows out. The average over similar groups (Marienwald, Fermanian & Blanchard 2021)\n"
        f"has the best of {len(THRESHOLDS) * len(OWN)} parameters, chosen run by run with the truth in hand, and the\n"
        "pooled clusters know which groups have the same centre (on the toy their covariances differ, so that pooling\n"
        "is wrong). Where groups have 3 to 300 rows, averages count every row the same, and losses are means over\n"
        "groups, most of which come from the small ones.\n"
    )
    print("| groups | runs |", " | ".join(names), "| goal |")
    print("|---" * (len(names) + 3) + "|")
    for case, (_, _, goal) in CASES.items():
        mine = [row for row in rows if row["case"] == case]
        if mine:
            columns = [np.array([row[name] for row in mine if name in row]) for name in names]
            cells = [f"{own.mean():.3f} ± {own.std(ddof=1) / np.sqrt(len(own)):.3f}" for own in columns]
            print(f"| {case} | {len(mine)} |", " | ".join(cells), f"| {goal:.2f} |")
    print(
        f"\n`GroupMeans` with noise takes {np.median([row['seconds'] for row in rows]):.2g} s of one processor in the"
    )
    print("median of these cases.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    arguments = parser.parse_args()
    run(arguments.runs, arguments.only) if arguments.what == "run" else report()
