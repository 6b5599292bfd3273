"""What the screen of ``dependence`` costs in power, and whether families keep their level under it.

``python benchmarks/power/screen.py`` takes about half an hour and appends to results/screen.jsonl what is not there
yet; ``--quick`` takes a minute and writes nothing; ``--report`` prints the figures of docs/many-columns.md from what is
there.

*One test*: data sets of one pair of columns with one kind of dependence. The full test's p
and the screen's evidence say which data sets are found at .05, and at the smallest p-value of 499 permutations, and how
many of these the screen drops under the limits for 45 to 300 tests (.2), 600 (.1), and 1,200 or more (.05).

*Families*: whole tables by ``dependence`` with and without the screen, by the same seed: how many true
dependences Holm's method finds, and in how many tables without any it finds one.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402 (after the numbers of threads)
import pandas as pd  # noqa: E402 (after the numbers of threads)
from scipy.stats import beta  # noqa: E402 (after the numbers of threads)

import kernelmean as km  # noqa: E402 (after the numbers of threads)
from kernelmean.studies.many_tests import Contrasts  # noqa: E402 (after the numbers of threads)
from kernelmean.tables import Encoding, encode  # noqa: E402 (after the numbers of threads)

RESULTS = Path(__file__).parent / "results" / "screen.jsonl"
LIMITS = (0.2, 0.1, 0.05)
SMALLEST = 1 / 500

Rng = np.random.Generator
Sample = Callable[[Rng, int], np.ndarray]


def normal(shift: float = 0.0, scale: float = 1.0) -> Sample:
    return lambda rng, n: rng.normal(shift, scale, n)


def student(freedom: float, shift: float = 0.0) -> Sample:
    return lambda rng, n: rng.standard_t(freedom, n) + shift


def waves(frequency: float, size: float) -> Sample:
    """Return values on [0, 1] whose density has so many waves."""

    def draw(rng: Rng, n: int) -> np.ndarray:
        values = rng.random(8 * n + 64)
        kept = rng.random(len(values)) * (1 + size) < 1 + size * np.sin(2 * np.pi * frequency * values)
        return values[kept][:n]

    return draw


def zeros(share: float) -> Sample:
    return lambda rng, n: np.where(rng.random(n) < share, 0.0, rng.gamma(2.0, 1.0, n))


def letters(*shares: float) -> Sample:
    return lambda rng, n: rng.choice(list("abcdefghij")[: len(shares)], n, p=np.array(shares) / sum(shares))


def joined(draw: Callable[[Rng, np.ndarray], np.ndarray], of: Sample | None = None) -> Sample:
    """Return pairs, shape (n, 2): a variable, normal unless said, and another that may depend on it."""

    def pairs(rng: Rng, n: int) -> np.ndarray:
        x = (of or normal())(rng, n)
        return np.column_stack([x, draw(rng, x)])

    return pairs


def noise(rng: Rng, x: np.ndarray) -> np.ndarray:
    return rng.normal(size=len(x))


def ring(rng: Rng, n: int) -> np.ndarray:
    angle, radius = 2 * np.pi * rng.random(n), 1 + 0.35 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def common_tails(rng: Rng, n: int) -> np.ndarray:
    return rng.normal(size=(n, 2)) / np.sqrt(rng.chisquare(3, n))[:, None]


def checkers(rng: Rng, n: int) -> np.ndarray:
    points = rng.random((8 * n, 2))
    height = 1 + 0.8 * np.prod(np.sin(4 * np.pi * points), axis=1)
    return points[rng.random(8 * n) * 1.8 < height][:n]


PAIRS: dict[str, tuple[int, Sample]] = {
    "independent": (200, joined(noise)),
    "linear": (200, joined(lambda rng, x: 0.24 * x + noise(rng, x))),
    "linear, 25 rows": (25, joined(lambda rng, x: 0.75 * x + noise(rng, x))),
    "square": (200, joined(lambda rng, x: 0.25 * x**2 + noise(rng, x))),
    "two waves": (200, joined(lambda rng, x: 0.5 * np.sin(4 * np.pi * x) + noise(rng, x), waves(1, 0.0))),
    "five waves": (200, joined(lambda rng, x: 0.6 * np.sin(10 * np.pi * x) + noise(rng, x), waves(1, 0.0))),
    "ring": (200, ring),
    "spread": (200, joined(lambda rng, x: noise(rng, x) * np.exp(0.24 * x))),
    "Cauchy": (200, joined(lambda rng, x: 0.3 * np.arctan(x) + noise(rng, x), student(1))),
    "common tails": (200, common_tails),
    "signs": (200, joined(lambda rng, x: np.abs(noise(rng, x)) * np.sign(x) * rng.choice([-1, 1, 1], len(x)))),
    "one of five levels": (
        200,
        joined(lambda rng, x: 0.7 * (x == 2) + noise(rng, x), lambda rng, n: rng.integers(0, 5, n).astype(float)),
    ),
    "spike": (200, joined(lambda rng, x: 1.3 * (np.abs(x - 0.6) < 0.05) + noise(rng, x), waves(1, 0.0))),
    "zeros": (200, joined(lambda rng, x: 0.5 * (x == 0) + noise(rng, x), zeros(0.4))),
    "checkers": (200, checkers),
    "local": (200, joined(lambda rng, x: np.where((np.abs(x) < 0.3) & (rng.random(len(x)) < 0.6), x, noise(rng, x)))),
    "letters": (200, joined(lambda rng, x: 0.55 * (x == "b") + noise(rng, x), letters(4, 3, 2, 1))),
}


def generator(name: str, trial: int) -> Rng:
    return np.random.default_rng([zlib.crc32(name.encode()), trial])


# -- one test ----------------------------------------------------------------------------------------------------------


def frame_of(values: np.ndarray) -> pd.DataFrame:
    """Return columns, numbers as numbers."""
    columns = values.reshape(len(values), -1)
    return pd.DataFrame({f"x{j}": pd.Series(list(columns[:, j])) for j in range(columns.shape[1])}).infer_objects()


def of_pairs(name: str, trial: int, resamples: int) -> tuple[float, float]:
    """Return the p-value of the full test, and the evidence of the screen."""
    rows, draw = PAIRS[name]
    drawn = frame_of(draw(generator(name, trial), rows))
    if name == "letters":
        drawn["x1"] = drawn["x1"].astype(float)
    encoded = encode([drawn], ("A",), Encoding())
    points = [encoded.points((column,))[0] for column in encoded.names]
    found = km.hsic_test(*points, estimator="adaptive", n_resamples=resamples, rng=trial)
    first, second = (Contrasts.of(*of) for of in zip(encoded.codings, points, strict=True))
    return found.pvalue, first.with_partner(second)


def one_test(name: str, trials: int, resamples: int) -> dict[str, Any]:
    """Return how often the full test rejects, and how often it would have, had the screen not dropped the data set."""
    p, evidence = np.array([of_pairs(name, trial, resamples) for trial in range(trials)]).T
    found = {"05": p <= 0.05 + 1e-12, "smallest": p <= max(SMALLEST, 1 / (resamples + 1)) + 1e-12}
    lost = {key: [int((own & (evidence > limit)).sum()) for limit in LIMITS] for key, own in found.items()}
    kept = [int((evidence <= limit).sum()) for limit in LIMITS]
    return {"trials": trials, "found": {k: int(v.sum()) for k, v in found.items()}, "lost": lost, "kept": kept}


# -- families ----------------------------------------------------------------------------------------------------------


def one_table(rng: Rng, rows: int, columns: int, dependent: int) -> pd.DataFrame:
    """Return a table in which the columns 0 and 1, 2 and 3, … depend on each other, as many pairs as asked for."""
    kinds = [name for name, (least, _) in PAIRS.items() if least == 200 and name != "independent"]
    drawn: dict[str, Any] = {}
    for j in range(columns // 2):
        pairs = frame_of(PAIRS[kinds[j % len(kinds)]][1](rng, rows))
        second = pairs["x1"].astype(float)
        drawn[f"x{2 * j}"] = pairs["x0"]
        drawn[f"x{2 * j + 1}"] = second if j < dependent else rng.permutation(second)
    return pd.DataFrame(drawn)


def dependences(drawn: Rng, size: tuple[int, int, int], **options: Any) -> dict[str, float]:
    rows, columns, dependent = size
    result = km.dependence(one_table(drawn, rows, columns, dependent), **options)
    return {" ".join(sorted((pair.x, pair.y), key=lambda x: int(x[1:]))): pair.adjusted for pair in result.pairs}


FAMILIES: dict[str, tuple[Any, tuple[int, int, int], str, int, int]] = {
    "dependence 24 columns, 12 pairs depend": (dependences, (350, 24, 12), "adaptive", 999, 3),
    "dependence 10 columns, none depends": (dependences, (20, 10, 0), "kme", 999, 600),
}
"""What is run, its rows, columns and true findings, the estimator, the permutations, and how many tables."""


def truth(name: str) -> set[str]:
    """Return the true findings of a family."""
    _, (_, _, many), *_ = FAMILIES[name]
    return {f"x{2 * j} x{2 * j + 1}" for j in range(many)}


def one_family(name: str, trial: int) -> dict[str, Any]:
    """Return the true and false findings at .05, with the screen, and for the same seed without where some are true."""
    run, size, estimator, resamples, _ = FAMILIES[name]
    found: dict[str, Any] = {"trials": 1}
    for screen in (True, False) if size[2] else (True,):
        began = time.process_time()
        options = {"estimator": estimator, "n_resamples": resamples, "rng": trial, "screen": screen}
        adjusted = run(generator(name, trial), size, **options)
        at = {key for key, own in adjusted.items() if own <= 0.05 + 1e-12}
        key = "screened" if screen else "all tested"
        found[key] = {
            "true": len(at & truth(name)),
            "false": len(at - truth(name)),
            "seconds": round(time.process_time() - began, 2),
        }
    return found


# -- running and reporting ---------------------------------------------------------------------------------------------


def read() -> list[dict[str, Any]]:
    return list(map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())) if RESULTS.exists() else []


def append(row: dict[str, Any]) -> None:
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def run(options: argparse.Namespace) -> None:
    """Run what is not there yet."""
    done = {(row["case"], row["kind"], row.get("trial")) for row in read()}
    began = time.perf_counter()
    for name in PAIRS:
        if (name, "independence", None) not in done and time.perf_counter() - began < options.seconds:
            append({"case": name, "kind": "independence"} | one_test(name, options.trials, 499))
    for trial in range(max(many for *_, many in FAMILIES.values())):
        for name, (*_, many) in FAMILIES.items():
            if trial < many and (name, "family", trial) not in done and time.perf_counter() - began < options.seconds:
                append({"case": name, "kind": "family", "trial": trial} | one_family(name, trial))


def bounds(hits: int, trials: int) -> str:
    """Return the exact 99 percent interval of a share."""
    low = beta.ppf(0.005, hits, trials - hits + 1) if hits else 0.0
    high = beta.ppf(0.995, hits + 1, trials - hits) if hits < trials else 1.0
    return f"{hits / trials:.3f} ({low:.3f} to {high:.3f})"


def report() -> None:
    """Print the tables."""
    rows = read()
    print(f"| independence | found at .05 | lost, limit .2 | found at .002 | lost, .2 | .1 | .05 |\n|{'---|' * 7}")
    for row in rows:
        if row["kind"] == "independence":
            share = [row["found"]["05"], row["lost"]["05"][0], row["found"]["smallest"], *row["lost"]["smallest"]]
            print(f"| {row['case']} | " + " | ".join(f"{own / row['trials']:.3f}" for own in share) + " |")
    for name in FAMILIES:
        own = [row for row in rows if row["case"] == name]
        for way in ("all tested", "screened"):
            parts = [row[way] for row in own if way in row]
            if parts:
                true, seconds = (sum(part[key] for part in parts) for key in ("true", "seconds"))
                wrong = bounds(sum(part["false"] > 0 for part in parts), len(parts))
                known = max(1, len(truth(name)) * len(parts))
                print(
                    f"{name}, {way}: {len(parts)} tables, true findings {true} of {known}, a false one in {wrong}, "
                    f"{seconds / len(parts):.1f} s each"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    parser.add_argument("--quick", action="store_true", help="a few trials of everything, which are only printed")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.quick:
        for name in PAIRS:
            print(name, one_test(name, 10, 99), flush=True)
        for name, (_, (*_, many), *_) in FAMILIES.items():
            if not many:
                print(name, one_family(name, 0), flush=True)
    elif options.report:
        report()
    else:
        run(options)


if __name__ == "__main__":
    main()
