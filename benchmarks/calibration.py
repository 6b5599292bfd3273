"""Every interval and bound that the library states, and how often it misses the truth.

    python benchmarks/calibration.py [--runs 1000] [--only TEXT]    # resumable: a finished row is one line of a file
    python benchmarks/calibration.py --write                        # the table into docs/evidence/calibration.md

A row counts how often a statement fails, of ``--runs`` independent data sets, beside the share that may fail. The
interval is the exact one (Clopper and Pearson) at 99.9 %; a row is too often wrong when the probability of so many
misses, Holm-adjusted for the number of rows, is below 0.01. The distributions and their exact values are those of
explain_coverage.py, which has more sizes. About ten minutes of one core.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binom, binomtest

from explain_coverage import KERNEL, LAWS, PAIRS, SERIAL, judged, misses, samples, truth, variables
from kernelmean import embed, features
from kernelmean.embedding.features import Landmarks
from kernelmean.inference.null import holm

FOLDER = Path(__file__).parent
RESULTS, PAGE = FOLDER / "calibration.jsonl", FOLDER.parent / "docs" / "evidence" / "calibration.md"
BLOCK = re.compile(r"(?<=<!-- coverage -->\n).*?(?=<!-- /coverage -->)", flags=re.DOTALL)
LIMIT = 0.01
TWO_SAMPLES = {f"{first.name}, {second.name}": (first, second) for first, second in LAWS}
DEPENDENT = {name: (sample, exact) for name, sample, exact in PAIRS}
OPTIONS = {"n_resamples": 199, "plan": SERIAL}
Draw = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Statement:
    """Statements of one function on one distribution: names, the shares that may fail, and which failed."""

    function: str
    law: str
    names: tuple[str, ...]
    share: float
    failed: Draw

    @property
    def key(self) -> str:
        return f"{self.function} | {self.law}"


def rng_of(seed: int, *own: int) -> np.random.Generator:
    return np.random.default_rng([801, seed, *own])


def sizes(names: str, n: int, m: int) -> Statement:
    first, second = TWO_SAMPLES[names]
    exact = truth(first, second)

    def failed(seed: int) -> np.ndarray:
        X, Y = pair(first, second, seed, n, m)
        size = samples(X, Y).effect_size(level=0.9, rng=seed, **OPTIONS)
        return misses([[size.distance, size.explained]], exact)

    ends = ("MMD too high", "MMD too low", "explained too high", "explained too low")
    return Statement("effect_size", f"{names}; {n} and {m} rows", ends, 0.05, failed)


def pair(first, second, seed: int, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two samples that are not all one value."""
    rng = rng_of(seed, n, m)
    while True:
        X, Y = first.sample(rng, n)[:, None], second.sample(rng, m)[:, None]
        if not ((X[0] == X).all() and (X[0] == Y).all()):
            return X, Y


def dependences(name: str, n: int) -> Statement:
    sample, exact = DEPENDENT[name]

    def failed(seed: int) -> np.ndarray:
        Z = both_vary(sample, seed, n)
        size = variables(Z[:, :1], Z[:, 1:]).effect_size(level=0.9, rng=seed, **OPTIONS)
        return misses([[size.distance, size.alignment]], exact)

    ends = ("√HSIC too high", "√HSIC too low", "alignment too high", "alignment too low")
    return Statement("dependence_effect_size", f"{name}; {n} rows", ends, 0.05, failed)


def both_vary(sample, seed: int, n: int) -> np.ndarray:
    rng = rng_of(seed, n)
    while True:
        Z = sample(rng, n)
        if not (Z[0] == Z).all(axis=0).any():
            return Z


def equivalences(names: str, n: int, m: int, unit: str) -> Statement:
    first, second = TWO_SAMPLES[names]
    margin = truth(first, second)[unit == "explained"]

    def failed(seed: int) -> np.ndarray:
        X, Y = pair(first, second, seed, n, m)
        return np.array([samples(X, Y).equivalence(margin, unit=unit, rng=seed, **OPTIONS).pvalue <= 0.05])

    law = f"{names}; {n} and {m} rows"
    return Statement("equivalence_test", law, (f"claimed at the margin, {unit}",), 0.05, failed)


def dependence_equivalences(name: str, n: int) -> Statement:
    sample, exact = DEPENDENT[name]

    def failed(seed: int) -> np.ndarray:
        Z = both_vary(sample, seed, n)
        result = variables(Z[:, :1], Z[:, 1:]).equivalence(exact[0], unit="distance", rng=seed, **OPTIONS)
        return np.array([result.pvalue <= 0.05])

    return Statement("dependence_equivalence_test", f"{name}; {n} rows", ("claimed at the margin",), 0.05, failed)


def bands(names: str, n: int, m: int) -> Statement:
    first, second = TWO_SAMPLES[names]
    places = np.linspace(-2, 3, 9)[:, None]

    def failed(seed: int) -> np.ndarray:
        X, Y = pair(first, second, seed, n, m)
        found = samples(X, Y).witness(places, level=0.9, n_resamples=99, rng=seed, plan=SERIAL)
        return np.array([len(found.outside) > 0])

    law = f"{names}; {n} and {m} rows"
    return Statement("witness_bands", law, ("outside somewhere, though the distributions are equal",), 0.1, failed)


def columns(adjustment: str, shift: float) -> Statement:
    mix = np.array([[1.0, 0.9, 0.0, 0.0], [0.0, 0.4, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.8]])
    right = {"x0"} if shift else set()

    def failed(seed: int) -> np.ndarray:
        pooled = rng_of(seed).standard_t(3, size=(36, 4)) @ mix
        pooled[:12, 0] += shift
        own = {"n_resamples": 99, "rng": seed, "adjustment": adjustment, "plan": SERIAL}
        return judged(samples(pooled[:12], pooled[12:]).attribute(**own).differing(), right)[:1]

    law = f"4 correlated t₃ columns, {'one shifted' if shift else 'none differs'}; {adjustment}"
    return Statement("attribute", law, ("a wrong column named",), 0.05, failed)


def pairs(adjustment: str) -> Statement:
    def failed(seed: int) -> np.ndarray:
        rng = rng_of(seed)
        X, Y = rng.standard_t(3, size=(30, 2)), rng.integers(0, 3, size=(30, 2)).astype(float)
        own = {"n_resamples": 99, "rng": seed, "adjustment": adjustment, "plan": SERIAL}
        return judged(variables(X, Y).attribute(**own).differing(), set())[:1]

    return Statement(
        "dependence_attribute", f"2 × 2 independent columns; {adjustment}", ("a pair named",), 0.05, failed
    )


def feature_bounds(design: str) -> Statement:
    def failed(seed: int) -> np.ndarray:
        rng = rng_of(seed)
        X, Y = rng.normal(size=(20, 3)), rng.normal(rng.uniform(0, 2), size=(20, 3))
        phi = features.fourier(KERNEL, 3, 128, design=design, rng=rng)
        mu, nu = (features.embed(Z, phi) for Z in (X, Y))
        first, second = embed(X, KERNEL), embed(Y, KERNEL)
        exact = (first @ second, (first - second).norm() ** 2)
        gap = mu - nu
        return outside((features.inner(mu, nu), features.inner(gap, gap)), exact)

    names = ("⟨μ, ν⟩ beyond its bound", "MMD² beyond its bound")
    return Statement("features.fourier", f"{design} frequencies, 128", names, 0.01, failed)


def outside(estimates, exact) -> np.ndarray:
    return np.array([abs(one.value - value) > one.bound + 1e-13 for one, value in zip(estimates, exact, strict=True)])


def landmark_bounds(name: str) -> Statement:
    make: Callable[..., Landmarks] = getattr(features, name)

    def failed(seed: int) -> np.ndarray:
        rng = rng_of(seed)
        X, Y = rng.normal(size=(20, 2)), rng.normal(rng.uniform(0, 2), size=(20, 2))
        phi = make(KERNEL, X, 6, rng=rng)
        mu, nu = (features.embed(Z, phi) for Z in (X, Y))
        first, second = embed(X, KERNEL), embed(Y, KERNEL)
        gap = mu - nu
        return outside(
            (features.inner(mu, nu), features.inner(gap, gap)), (first @ second, (first - second).norm() ** 2)
        )

    names = ("⟨μ, ν⟩ beyond its bound", "MMD² beyond its bound")
    return Statement(f"features.{name}", "6 landmarks of 20", names, 0.0, failed)


def statements() -> Iterator[Statement]:
    for names in ("normal(0), normal(0)", "normal(0), normal(0.5)", "normal(0), normal(1.5)", "Cauchy(0), Cauchy(1)"):
        yield sizes(names, 20, 20)
    yield sizes("coin(.3), coin(.5)", 20, 20)
    yield sizes("coin(.05), coin(.2)", 10, 100)
    for name in ("binormal, ρ = 0", "binormal, ρ = 0.4", "coins, dependent", "rare coins, independent"):
        yield dependences(name, 50)
    yield equivalences("normal(0), normal(0.5)", 20, 20, "distance")
    yield equivalences("t₃(0), t₃(1)", 60, 40, "explained")
    yield equivalences("coin(.3), coin(.5)", 20, 20, "distance")
    yield dependence_equivalences("binormal, ρ = 0.4", 50)
    yield dependence_equivalences("coins, dependent", 50)
    yield from (bands(names, 12, 25) for names in ("normal(0), normal(0)", "coin(½), coin(½)", "Cauchy(0), Cauchy(0)"))
    yield from (columns(adjustment, shift) for adjustment in ("max-t", "holm") for shift in (0.0, 2.0))
    yield from (pairs(adjustment) for adjustment in ("max-t", "holm"))
    yield from (feature_bounds(design) for design in ("plain", "orthogonal", "quasi"))
    yield from (landmark_bounds(name) for name in ("nystrom", "random_cholesky"))


def measure(runs: int, only: str) -> None:
    done = {row["key"] for row in read()}
    for one in statements():
        if one.key in done or only not in one.key:
            continue
        start = time.process_time()
        counts = np.sum([one.failed(seed) for seed in range(runs)], axis=0)
        row = {"key": one.key, "function": one.function, "law": one.law, "names": one.names, "share": one.share}
        row |= {"runs": runs, "counts": counts.tolist(), "seconds": round(time.process_time() - start, 1)}
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(one.key, row["counts"], row["seconds"], flush=True)


def read() -> list[dict]:
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


def report(rows: list[dict]) -> str:
    """The verdict and the table in Markdown."""
    checks = [(row, name, int(count)) for row in rows for name, count in zip(row["names"], row["counts"], strict=True)]
    tails = [float(binom.sf(count - 1, row["runs"], row["share"])) for row, _, count in checks]
    adjusted = holm(tails)
    worst = int(np.argmin(tails))
    wrong = sum(p < LIMIT for p in adjusted)
    lines = [
        f"{len(checks)} statements, at least {min(row['runs'] for row in rows)} data sets each. Too often wrong, after "
        f"Holm's adjustment for their number: **{wrong}**. The smallest adjusted probability is {adjusted[worst]:.2g} "
        f"({checks[worst][0]['function']}, {checks[worst][0]['law']}: {checks[worst][1]}).",
        "",
        "| function | distribution | what fails | may fail | fails | 99.9 % interval | |",
        "|---|---|---|---|---|---|---|",
    ]
    for (row, name, count), p in zip(checks, adjusted, strict=True):
        interval = binomtest(count, row["runs"]).proportion_ci(0.999)
        verdict = "too often" if p < LIMIT else "holds"
        share = f"{count / row['runs']:.4f} | {interval.low:.4f} to {interval.high:.4f}"
        lines.append(f"| `{row['function']}` | {row['law']} | {name} | {row['share']:g} | {share} | {verdict} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        PAGE.write_text(BLOCK.sub(lambda _: report(read()), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        measure(options.runs, options.only)
        print(report(read()))
