"""Coverage of the intervals of ``inference.explain`` and errors of its attributions, written into docs/explain.md.

Run ``python benchmarks/explain_coverage.py`` (about twenty minutes on one core; ``--runs 50`` for a look, ``--part
plain`` or ``--part designs`` for one of both). Every cell counts how often the limits of a 90 % interval miss the exact
value on either side; the upper misses are also the level of the equivalence test at the margin.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.stats import binomtest

from explain_designs import KERNEL, Cell, cells_of_samples, cells_of_variables
from kernelmean import TestResult, embed, hsic_test, mmd_test, noise
from kernelmean.plan import Plan

DOCUMENT = Path(__file__).parents[1] / "docs" / "explain.md"
SERIAL = Plan(threads=1)
OPTIONS = {"level": 0.9, "n_resamples": 199, "plan": SERIAL}


def samples(X: np.ndarray, Y: np.ndarray) -> TestResult:
    """The test of two samples that is explained."""
    return mmd_test(X, Y, kernel=KERNEL, n_resamples=1, rng=0)


def variables(X: np.ndarray, Y: np.ndarray) -> TestResult:
    """The test of two variables that is explained."""
    return hsic_test(X, Y, kernel=KERNEL, n_resamples=1, rng=0)


@dataclass(frozen=True)
class Law:
    """A distribution on the line, as a sampler and either a characteristic function or its atoms."""

    name: str
    sample: Callable[[np.random.Generator, int], np.ndarray]
    characteristic: Callable[[float], complex]


def atoms(name: str, *shares: float) -> Law:
    """The distribution on 0, 1, 2, … with these shares."""
    places = np.arange(len(shares))
    return Law(
        name,
        lambda rng, n: rng.choice(places, size=n, p=shares).astype(float),
        lambda w: complex(np.exp(1j * w * places) @ np.array(shares)),
    )


def normal(shift: float) -> Law:
    return Law(
        f"normal({shift:g})", lambda rng, n: rng.normal(shift, size=n), lambda w: np.exp(1j * w * shift - w * w / 2)
    )


def cauchy(shift: float) -> Law:
    return Law(
        f"Cauchy({shift:g})",
        lambda rng, n: shift + rng.standard_cauchy(size=n),
        lambda w: np.exp(1j * w * shift - abs(w)),
    )


def student(shift: float) -> Law:
    root = np.sqrt(3.0)
    return Law(
        f"t₃({shift:g})",
        lambda rng, n: shift + rng.standard_t(3, size=n),
        lambda w: np.exp(1j * w * shift - root * abs(w)) * (1 + root * abs(w)),
    )


def inner(first: Law, second: Law) -> float:
    """E k(x, y) of the Gaussian kernel with θ = 1, by Bochner's theorem."""

    def integrand(w: float) -> float:
        weight = np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
        return float((first.characteristic(w) * np.conj(second.characteristic(w))).real * weight)

    return 2.0 * quad(integrand, 0.0, 12.0, limit=400)[0]


def truth(first: Law, second: Law) -> tuple[float, float]:
    """The exact MMD and the share of variance that it explains."""
    own, other, cross = inner(first, first), inner(second, second), inner(first, second)
    squared = max(own + other - 2 * cross, 0.0) if first.name != second.name else 0.0
    return float(np.sqrt(squared)), squared / (2 * (2 - own - other) + squared)


LAWS = [
    (normal(0), normal(0)),
    (normal(0), normal(0.5)),
    (normal(0), normal(1.5)),
    (student(0), student(1)),
    (cauchy(0), cauchy(0)),
    (cauchy(0), cauchy(1)),
    (atoms("coin(½)", 0.5, 0.5), atoms("coin(½)", 0.5, 0.5)),
    (atoms("coin(.3)", 0.7, 0.3), atoms("coin(.5)", 0.5, 0.5)),
    (atoms("coin(.05)", 0.95, 0.05), atoms("coin(.2)", 0.8, 0.2)),
    (atoms("coin(.1)", 0.9, 0.1), atoms("coin(.3)", 0.7, 0.3)),
    (atoms("five values", 0.2, 0.2, 0.2, 0.2, 0.2), atoms("uneven", 0.5, 0.2, 0.1, 0.1, 0.1)),
]
SIZES = [(5, 5), (10, 100), (20, 20), (20, 200), (200, 20), (60, 40)]

Misses = tuple[str, str, int, np.ndarray, int]


def two_samples(runs: int) -> Iterator[Misses]:
    for first, second in LAWS:
        exact = truth(first, second)
        for n, m in SIZES:
            found, refused = [], 0
            for seed in range(runs):
                rng = np.random.default_rng([95, seed, n, m])
                X, Y = first.sample(rng, n)[:, None], second.sample(rng, m)[:, None]
                if (X[0] == X).all() and (X[0] == Y).all():
                    refused += 1
                    continue
                size = samples(X, Y).effect_size(rng=seed, **OPTIONS)
                found.append([size.distance, size.explained])
            yield f"{first.name}, {second.name}", f"{n}, {m}", runs, misses(found, exact), refused


def misses(found: list[list], exact: tuple[float, float]) -> np.ndarray:
    """How often either number's lower limit is above, and its upper limit below, the exact value."""
    limits = np.array([[(each.low, each.high) for each in row] for row in found])
    slack = 1e-9 * np.array([[1.0, -1.0]])
    beyond = limits - np.array(exact)[:, None] - slack
    return np.concatenate([(beyond[:, :, 0] > 0).sum(axis=0), (beyond[:, :, 1] < 0).sum(axis=0)])[[0, 2, 1, 3]]


def binormal(correlation: float) -> tuple[str, Callable, tuple[float, float]]:
    apart = embed([[0.0, 0.0]], KERNEL, noise=noise.Normal(1.0))
    joint, alike = (embed([[0.0, 0.0]], KERNEL, noise=noise.Normal([[1.0, r], [r, 1.0]])) for r in (correlation, 1.0))
    squared = (joint - apart).norm() ** 2 if correlation else 0.0
    covariance = [[1.0, correlation], [correlation, 1.0]]
    return (
        f"binormal, ρ = {correlation:g}",
        lambda rng, n: rng.multivariate_normal([0.0, 0.0], covariance, size=n),
        (float(np.sqrt(squared)), squared / (alike - apart).norm() ** 2),
    )


def table(name: str, *rows: tuple[float, ...]) -> tuple[str, Callable, tuple[float, float]]:
    """The distribution of a pair on a grid of whole numbers."""
    joint = np.array(rows)
    grams = [np.exp(-(np.subtract.outer(np.arange(k), np.arange(k)) ** 2) / 2) for k in joint.shape]
    margins = joint.sum(axis=1), joint.sum(axis=0)
    excess = joint - np.outer(*margins)
    squared = float(np.einsum("ij,kl,ik,jl", excess, excess, *grams))
    scales = [own(margin, gram) for margin, gram in zip(margins, grams, strict=True)]

    def sample(rng: np.random.Generator, n: int) -> np.ndarray:
        cells = rng.choice(joint.size, size=n, p=joint.ravel())
        return np.stack(np.divmod(cells, joint.shape[1]), axis=1).astype(float)

    squared = squared if squared > 1e-15 else 0.0
    return name, sample, (float(np.sqrt(squared)), squared / float(np.sqrt(scales[0] * scales[1])))


def own(margin: np.ndarray, gram: np.ndarray) -> float:
    means = gram @ margin
    return float(margin @ np.square(gram - means[:, None] - means + margin @ means) @ margin)


PAIRS = [
    binormal(0.0),
    binormal(0.4),
    binormal(0.9),
    table("coins, independent", (0.25, 0.25), (0.25, 0.25)),
    table("coins, dependent", (0.4, 0.1), (0.1, 0.4)),
    table("rare coins, independent", (0.81, 0.09), (0.09, 0.01)),
    table("rare coins, dependent", (0.85, 0.05), (0.05, 0.05)),
]


def dependence(runs: int) -> Iterator[Misses]:
    for name, sample, exact in PAIRS:
        for n in (10, 20, 50, 200):
            found, refused = [], 0
            for seed in range(runs):
                Z = sample(np.random.default_rng([96, seed, n]), n)
                if (Z[0] == Z).all(axis=0).any():
                    refused += 1
                    continue
                size = variables(Z[:, :1], Z[:, 1:]).effect_size(rng=seed, **OPTIONS)
                found.append([size.distance, size.alignment])
            yield name, f"{n}", runs, misses(found, exact), refused


def families(runs: int) -> Iterator[tuple[str, str, int, int]]:
    """How often a wrong column or pair is named at level 0.05, and how often the right ones are all named."""
    mix = np.array([[1.0, 0.9, 0.0, 0.0], [0.0, 0.4, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.8]])
    for adjustment in ("max-t", "holm"):
        counts = np.zeros((4, 2), dtype=int)
        for seed in range(runs):
            rng = np.random.default_rng([97, seed])
            pooled, X = rng.standard_t(3, size=(36, 4)) @ mix, rng.standard_t(3, size=(40, 2))
            Y = rng.integers(0, 3, size=(40, 2)).astype(float)
            own = {"n_resamples": 199, "rng": seed, "adjustment": adjustment, "plan": SERIAL}
            counts[0] += judged(samples(pooled[:12], pooled[12:]).attribute(**own).differing(), set())
            pooled[:12, 0] += 2.0
            counts[1] += judged(samples(pooled[:12], pooled[12:]).attribute(**own).differing(), {"x0"})
            counts[2] += judged(variables(X, Y).attribute(**own).differing(), set())
            Y[:, 1] += 0.5 * X[:, 0]
            counts[3] += judged(variables(X, Y).attribute(**own).differing(), {("x0", "x1")})
        cases = (
            "4 correlated columns of 12 and 24 rows, t₃: none differs",
            "the same, one shifted by 2",
            "2 × 2 columns, t₃ against 3 values: independent",
            "the same, one pair dependent",
        )
        for case, (wrong, right) in zip(cases, counts, strict=True):
            yield case, adjustment, int(wrong), int(right)


def judged(named: tuple, right: set) -> np.ndarray:
    return np.array([bool(set(named) - right), right <= set(named)])  # the empty set is always named


def with_designs(runs: int) -> Iterator[tuple[Cell, np.ndarray, int]]:
    """Misses of two samples with a design."""
    for cell in cells_of_samples():

        def ask(seed: int, cell: Cell = cell) -> np.ndarray:
            X, Y, design, exact = cell.draw(np.random.default_rng([98, seed]))
            test = mmd_test(X[:, None], Y[:, None], kernel=KERNEL, design=design, n_resamples=1, rng=0)
            size = test.effect_size(rng=seed, **OPTIONS)
            return misses([[size.distance, size.explained]], exact)

        yield cell, *counted(ask, runs)


def dependence_with_designs(runs: int) -> Iterator[tuple[Cell, np.ndarray, int]]:
    """Misses of two variables with a design."""
    for cell in cells_of_variables():

        def ask(seed: int, cell: Cell = cell) -> np.ndarray:
            Z, design, exact = cell.draw(np.random.default_rng([99, seed]))
            test = hsic_test(Z[:, :1], Z[:, 1:], kernel=KERNEL, design=design, n_resamples=1, rng=0)
            size = test.effect_size(rng=seed, **OPTIONS)
            return misses([[size.distance, size.alignment]], exact)

        yield cell, *counted(ask, runs)


def counted(ask: Callable[[int], np.ndarray], runs: int) -> tuple[np.ndarray, int]:
    """The shares of misses among the data sets that are not refused, and how many are."""
    refused, missed = 0, np.zeros(4)
    for seed in range(runs):
        try:
            missed += ask(seed)
        except ValueError:  # too few units, or no values that differ
            refused += 1
    return missed / max(runs - refused, 1), refused


def report_of_designs(runs: int) -> str:
    """The tables of designs in Markdown."""
    head = "| design | distribution | drawn | {} low | high | {} low | high | not counted |\n|" + 8 * "---|"
    lines = [f"{runs} data sets a cell, 90 % intervals, 199 draws; standard error of a share at .05: {se(runs):.3f}."]
    for names, cells in (
        (("MMD:", "explained:"), with_designs(runs)),
        (("√HSIC:", "alignment:"), dependence_with_designs(runs)),
    ):
        lines += ["", head.format(*names)]
        for cell, missed, refused in cells:
            shares = " | ".join(f"{share:.3f}" for share in missed)
            lines.append(f"| {cell.design} | {cell.distributions} | {cell.units} | {shares} | {refused} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def report(runs: int) -> str:
    """The tables in Markdown."""
    names = "| {} | rows | {} low | high | {} low | high | not counted |\n|---|---|---|---|---|---|---|"
    lines = [
        f"{runs} data sets a cell, 90 % intervals, 199 draws; standard error of a share at .05: {se(runs):.3f}.",
        "",
    ]
    for head, cells in (
        (names.format("distributions of X and Y", "MMD:", "explained:"), two_samples(runs)),
        (names.format("distribution of the pair", "√HSIC:", "alignment:"), dependence(runs)),
    ):
        lines.append(head)
        for name, rows, count, missed, refused in cells:
            shares = " | ".join(f"{share / (count - refused):.3f}" for share in missed)
            lines.append(f"| {name} | {rows} | {shares} | {refused} |")
            print(lines[-1], flush=True)
        lines.append("")
    lines += [
        "| attribution at level .05 | method | wrong name (99.9 % interval) | all right names |",
        "|---|---|---|---|",
    ]
    for case, adjustment, wrong, right in families(runs):
        interval = binomtest(wrong, runs).proportion_ci(0.999)
        share = f"{wrong / runs:.3f} ({interval.low:.3f} to {interval.high:.3f})"
        lines.append(f"| {case} | {adjustment} | {share} | {f'{right / runs:.3f}' if right < runs else '–'} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def se(runs: int) -> float:
    return float(np.sqrt(0.05 * 0.95 / runs))


PARTS: dict[str, tuple[str, Callable[[int], str], int]] = {
    "plain": ("measured", report, 400),
    "designs": ("designs", report_of_designs, 500),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, help="data sets a cell; by default 400, and 500 with designs")
    parser.add_argument("--part", choices=PARTS, help="measure this part only")
    given = parser.parse_args()
    for name in [given.part] if given.part else PARTS:
        mark, measure, usual = PARTS[name]
        measured = measure(given.runs or usual)
        begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
        before, rest = DOCUMENT.read_text(encoding="utf-8").split(begin)
        DOCUMENT.write_text(f"{before}{begin}\n{measured}\n{end}{rest.split(end)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
