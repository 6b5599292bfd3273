"""Levels, power and coverage of the questions about known distributions: `fit_test` and `closer_test`.

    python benchmarks/known.py run [--only TEXT] [--runs N]    # goes on where it was stopped
    python benchmarks/known.py report > docs/evidence/known.md

The samples of a run have the seed of its case and its number; no choice in the library was made on them.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.mixture import GaussianMixture

import kernelmean as km

RESULTS = Path(__file__).with_suffix(".jsonl")
LEVEL, RESAMPLES = 0.05, 99
KERNEL = km.kernels.Gaussian(1.0)

Rows = Callable[[int, np.random.Generator], np.ndarray]


def plane(d: int) -> stats.rv_continuous:
    """Return a normal distribution with correlated columns."""
    return stats.multivariate_normal(np.zeros(d), 0.5 * np.eye(d) + 0.5)


def mixture() -> km.KernelMean:
    """Return a mixture of two normal distributions in the plane, as an embedding."""
    covariances = np.array([np.eye(2), np.diag([0.2, 2.0])])
    return km.embed([[0.0, 0.0], [3.0, 1.0]], KERNEL, weights=[0.7, 0.3], noise=km.noise.Normal(covariances))


# -- fit_test ----------------------------------------------------------------------------------------------------------


def ring(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return points around a circle."""
    rows = rng.normal(size=(n, 2))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) + 0.1 * rng.normal(size=(n, 2))


NULLS = {
    "normal, n 5": (stats.norm(0, 1), 5),
    "normal, n 50": (stats.norm(0, 1), 50),
    "normal, n 500": (stats.norm(0, 1), 500),
    "exponential, n 50": (stats.expon(), 50),
    "Cauchy, n 50": (stats.cauchy(), 50),
    "Poisson(2), n 50": (stats.poisson(2), 50),
    "uniform, n 20": (stats.uniform(), 20),
    "normal of 2 columns, n 20": (plane(2), 20),
    "normal of 5 columns, n 50": (plane(5), 50),
    "normal of 20 columns, n 50": (plane(20), 50),
    "mixture of 2, n 50": (mixture(), 50),
    "function: ring, n 50": (ring, 50),
}


def drawn(distribution: object, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a known distribution."""
    return km.known.KnownDistribution.of(distribution).draw(n, rng)


REFITS = {
    "normal, n 30": (stats.norm(3, 2), lambda rows: stats.norm(rows.mean(), rows.std()), 30),
    "normal, n 100": (stats.norm(3, 2), lambda rows: stats.norm(rows.mean(), rows.std()), 100),
    "exponential, n 100": (stats.expon(scale=2), lambda rows: stats.expon(scale=rows.mean()), 100),
    "normal of 2 columns, n 100": (plane(2), GaussianMixture(1), 100),
}


def waved(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows whose density is that of N(0, 1) times 1 + .7 sin(4 x)."""
    rows = rng.normal(size=8 * n)
    return rows[rng.random(8 * n) * 1.7 < 1.0 + 0.7 * np.sin(4.0 * rows)][:n]


ONE: dict[str, Rows] = {
    "shifted": lambda n, rng: rng.normal(0.25, 1.0, n),
    "wider": lambda n, rng: rng.normal(0.0, 1.25, n),
    "narrower": lambda n, rng: rng.normal(0.0, 0.8, n),
    "skewed": lambda n, rng: (rng.gamma(4.0, size=n) - 4.0) / 2.0,
    "long tails": lambda n, rng: rng.standard_t(3, n) / np.sqrt(3.0),
    "two peaks": lambda n, rng: rng.choice([-0.8, 0.8], n) + 0.6 * rng.normal(size=n),
    "outliers": lambda n, rng: rng.normal(size=n) * np.where(rng.random(n) < 0.04, 4.0, 1.0),
    "a wave": waved,
}
"""Samples of one column, for the normal distribution N(0, 1)."""
FIVE: dict[str, Rows] = {
    "shifted in one column": lambda n, rng: rng.normal(size=(n, 5)) + 0.35 * np.eye(5)[0],
    "shifted in all": lambda n, rng: rng.normal(size=(n, 5)) + 0.15,
    "wider": lambda n, rng: 1.12 * rng.normal(size=(n, 5)),
    "correlated": lambda n, rng: rng.multivariate_normal(np.zeros(5), 0.8 * np.eye(5) + 0.2, n),
    "long tails": lambda n, rng: rng.standard_t(4, (n, 5)) / np.sqrt(2.0),
    "skewed": lambda n, rng: (rng.gamma(4.0, size=(n, 5)) - 4.0) / 2.0,
    "two clusters": lambda n, rng: (
        rng.normal(size=(n, 5)) * [0.5, 1, 1, 1, 1] + rng.choice([-0.85, 0.85], (n, 1)) * np.eye(5)[0]
    ),
    "outliers": lambda n, rng: rng.normal(size=(n, 5)) * np.where(rng.random((n, 1)) < 0.05, 2.5, 1.0),
}
"""Samples of five columns, for N(0, I)."""
N = 100


def anderson_darling(rows: np.ndarray) -> float:
    """Return Anderson and Darling's statistic for N(0, 1)."""
    ordered, odd = np.sort(rows), 2.0 * np.arange(len(rows)) + 1.0
    return float(-len(rows) - np.mean(odd * (stats.norm.logcdf(ordered) + stats.norm.logsf(ordered)[::-1])))


def drawn_null(statistic: Callable[[np.ndarray], float], draw: Rows, seed: int) -> np.ndarray:
    """Return the sorted values of a statistic of 2,000 samples of the null distribution."""
    rng = np.random.default_rng(seed)
    return np.sort([statistic(draw(N, rng)) for _ in range(2000)])


def share_beyond(null: np.ndarray, value: float) -> float:
    """Return the Monte Carlo p-value of a statistic."""
    return float((1 + len(null) - np.searchsorted(null, value)) / (1 + len(null)))


class Energy:
    """The energy test of rows against N(0, I): the mean distance to 4,000 rows of it, less half of their own."""

    def __init__(self) -> None:
        self.reference = np.random.default_rng(1).normal(size=(4000, 5))

    def __call__(self, rows: np.ndarray) -> float:
        """Return the statistic."""
        return float(2.0 * cdist(rows, self.reference).mean() - cdist(rows, rows).mean())


def peers_of_one() -> dict[str, Callable[[np.ndarray], float]]:
    """Return SciPy's tests of one column against N(0, 1); that of Anderson and Darling with simulated p-values."""
    null = drawn_null(anderson_darling, lambda n, rng: rng.normal(size=n), 2)
    return {
        "Kolmogorov": lambda rows: stats.kstest(rows, stats.norm.cdf).pvalue,
        "Anderson-Darling": lambda rows: share_beyond(null, anderson_darling(rows)),
        "Cramér-von Mises": lambda rows: stats.cramervonmises(rows, stats.norm.cdf).pvalue,
    }


def peers_of_five() -> dict[str, Callable[[np.ndarray], float]]:
    """Return the energy test, with p-values of the same kind."""
    energy = Energy()
    null = drawn_null(energy, lambda n, rng: rng.normal(size=(n, 5)), 3)
    return {"energy": lambda rows: share_beyond(null, energy(rows))}


# -- closer_test -------------------------------------------------------------------------------------------------------


def normal(mean: float, variance: float = 1.0, d: int = 1) -> km.KernelMean:
    """Return the embedding of a normal distribution whose first column has this mean."""
    return km.embed([mean * np.eye(d)[0]], KERNEL, noise=km.noise.Normal(variance))


def rows_of(embedding: object, n: int | None, rng: np.random.Generator) -> object:
    """Return n rows of a mixture, or for None the mixture itself."""
    return embedding if n is None else embedding.sample(n, rng)


PAIRS = {
    "sides, rows 100, 100, 100": (0.5, -0.5, (100, 100, 100), 1),
    "sides, rows 400, 100, 200": (0.5, -0.5, (400, 100, 200), 1),
    "sides, rows 100, 400, 50": (0.5, -0.5, (100, 400, 50), 1),
    "sides, both exact, rows 200": (0.5, -0.5, (200, None, None), 1),
    "sides, P exact, rows 200, 200": (0.5, -0.5, (200, None, 200), 1),
    "sides in 5 columns, rows 200, 100, 300": (0.8, -0.8, (200, 100, 300), 5),
    "sides, rows 20, 20, 20": (0.5, -0.5, (20, 20, 20), 1),
    "sides, rows 30, 30, 30": (0.5, -0.5, (30, 30, 30), 1),
    "sides, rows 60, 60, 60": (0.5, -0.5, (60, 60, 60), 1),
    "wide sides, rows 10, 10, 10": (1.0, -1.0, (10, 10, 10), 1),
    "near sides, rows 100, 50, 150": (0.2, -0.2, (100, 50, 150), 1),
    "one model twice, rows 200, 200, 200": (0.7, 0.7, (200, 200, 200), 1),
    "one model twice, rows 200, 100, 400": (0.7, 0.7, (200, 100, 400), 1),
}
"""Means of P and Q, rows of X, P and Q, and columns; X has mean 0: both are equally near."""
UNEQUAL = {
    ".4 and .8, rows 200, 200, 200": (0.4, 0.8, (200, 200, 200), 1),
    ".4 and .8, rows 400, 100, 300": (0.4, 0.8, (400, 100, 300), 1),
    ".4 and .8, both exact, rows 200": (0.4, 0.8, (200, None, None), 1),
    ".1 and .3, rows 50, 100, 150": (0.1, 0.3, (50, 100, 150), 1),
    ".2 and .4, rows 100, 50, 150": (0.2, 0.4, (100, 50, 150), 1),
    ".4 and .6, rows 150, 100, 50": (0.4, 0.6, (150, 100, 50), 1),
    ".4 and .8, rows 15, 30, 10": (0.4, 0.8, (15, 30, 10), 1),
    ".2 and .5, rows 400, 400, 400": (0.2, 0.5, (400, 400, 400), 1),
}


def truth(p: float, q: float, d: int) -> float:
    """Return the exact difference of both squared distances."""
    x, first, second = (normal(mean, 1.0, d) for mean in (0.0, p, q))
    return (x - first) @ (x - first) - (x - second) @ (x - second)


def shared(rng: np.random.Generator) -> dict[str, object]:
    """Return models that share half of their rows, and the labels of rows."""
    common, own, other = rng.normal(0.5, 1.0, (100, 1)), rng.normal(0.5, 1.0, (100, 1)), rng.normal(0.5, 1.0, (100, 1))
    labels = np.arange(200), np.arange(200, 400), np.r_[200:300, 400:500]
    return {"sides": (rng.normal(size=(200, 1)), np.r_[common, own], np.r_[common, other]), "clusters": labels}


def records(rng: np.random.Generator) -> dict[str, object]:
    """Return models that change the records of X, one after another, in opposite directions."""
    X, noise = rng.normal(size=(200, 1)), rng.normal(size=(2, 200, 1))
    return {"sides": (X, X + 0.5 + 0.3 * noise[0], X - 0.5 + 0.3 * noise[1]), "clusters": (np.arange(200),) * 3}


DEPENDENT = {"models that share half of their rows": shared, "models that change the records of X": records}

# -- running -----------------------------------------------------------------------------------------------------------


def jobs() -> dict[str, tuple[Callable[[np.random.Generator, int], dict[str, float]], int]]:
    """Return every case with its runs and their number."""
    found = {}
    for name, (distribution, n) in NULLS.items():
        found[f"level/{name}"] = (_level(distribution, n), 1000)
    for name, (distribution, refit, n) in REFITS.items():
        found[f"refit/{name}"] = (_refitted(distribution, refit, n), 200)
    for group, cases, of, d in (("one", ONE, peers_of_one, 1), ("five", FIVE, peers_of_five, 5)):
        peers = None
        for name, draw in cases.items():
            peers = peers or of()
            found[f"{group}/{name}"] = (_power(draw, peers, d), 50)
    for name, case in (PAIRS | UNEQUAL).items():
        found[f"closer/{name}"] = (_closer(*case), 1000)
    for name, draw in DEPENDENT.items():
        found[f"closer/{name}"] = (_dependent(draw), 1000)
    return found


def _level(distribution: object, n: int) -> Callable[[np.random.Generator, int], dict[str, float]]:
    return lambda rng, seed: {
        "p": km.fit_test(drawn(distribution, n, rng), distribution, n_resamples=RESAMPLES, rng=seed).pvalue
    }


def _refitted(distribution: object, refit: object, n: int) -> Callable[[np.random.Generator, int], dict[str, float]]:
    return lambda rng, seed: {
        "p": km.fit_test(drawn(distribution, n, rng), refit=refit, n_resamples=RESAMPLES, rng=seed).pvalue
    }


def _power(draw: Rows, peers: dict, d: int) -> Callable[[np.random.Generator, int], dict[str, float]]:
    known = stats.norm(0, 1) if d == 1 else stats.multivariate_normal(np.zeros(d), np.eye(d))

    def run(rng: np.random.Generator, seed: int) -> dict[str, float]:
        rows = draw(N, rng)
        return {
            "fit_test": km.fit_test(rows, known, n_resamples=2 * RESAMPLES + 1, rng=seed).pvalue,
            **{name: float(peer(rows)) for name, peer in peers.items()},
        }

    return run


def _closer(p: float, q: float, sizes: tuple, d: int) -> Callable[[np.random.Generator, int], dict[str, float]]:
    exact = truth(p, q, d)

    def run(rng: np.random.Generator, _: int) -> dict[str, float]:
        sides = [rows_of(normal(mean, 1.0, d), n, rng) for mean, n in zip((0.0, p, q), sizes, strict=True)]
        return _covered(km.closer_test(*sides, kernel=KERNEL), exact)

    return run


def _dependent(draw: Callable) -> Callable[[np.random.Generator, int], dict[str, float]]:
    def run(rng: np.random.Generator, _: int) -> dict[str, float]:
        made = draw(rng)
        return _covered(km.closer_test(*made["sides"], kernel=KERNEL, clusters=made["clusters"]), 0.0)

    return run


def _covered(result: km.known.CloserResult, exact: float) -> dict[str, float]:
    return {"p": result.pvalue, "covered": float(result.interval[0] <= exact <= result.interval[1])}


def run(only: str, runs: int | None) -> None:
    """Run what is not yet in the file of results, up to so many runs of every case."""
    done = stored()
    for name, (one, many) in jobs().items():
        entry = done.get(name, {})
        first, last = max((len(of) for of in entry.values() if isinstance(of, list)), default=0), runs or many
        if first >= last or only not in name:
            continue
        start, seed = time.process_time(), zlib.crc32(name.encode())
        answers = [one(np.random.default_rng([seed, k]), k) for k in range(first, last)]
        seconds = (time.process_time() - start) / len(answers)
        columns = {key: entry.get(key, []) + [round(answer[key], 4) for answer in answers] for key in answers[0]}
        done = stored() | {name: {"seconds": round(seconds, 4), **columns}}
        RESULTS.write_text("".join(json.dumps({"case": case, **found}) + "\n" for case, found in done.items()))
        print(name, {key: round(float(np.mean(np.array(of) <= LEVEL)), 3) for key, of in columns.items()}, flush=True)


def stored() -> dict[str, dict]:
    """Return what was found of every case."""
    lines = map(json.loads, RESULTS.read_text().splitlines()) if RESULTS.exists() else ()
    return {line.pop("case"): line for line in lines}


# -- the page ----------------------------------------------------------------------------------------------------------


def rejected(values: list[float]) -> float:
    """Return the share of p-values that reject."""
    return float(np.mean(np.array(values) <= LEVEL))


def report() -> str:
    """Return the page of results."""
    found = {}
    for case, entry in stored().items():
        group, name = case.split("/", 1)
        found.setdefault(group, {})[name] = entry
    runs = min(len(entry["fit_test"]) for group in ("one", "five") for entry in found[group].values())
    return PAGE.format(
        level=levels(found["level"]),
        refit=levels(found["refit"]),
        runs=runs,
        error=0.5 / np.sqrt(runs),
        one=powers(found["one"]),
        five=powers(found["five"]),
        closer=coverages(found["closer"]),
        seconds_one=np.median([entry["seconds"] for entry in found["one"].values()]),
        seconds_five=np.median([entry["seconds"] for entry in found["five"].values()]),
    )


def levels(cases: dict) -> str:
    """Return the table of levels, with the bounds that an exact level keeps in 99.9 % of such studies."""
    lines = ["| distribution | runs | rejected at .05 | exact bounds |", "|---|---|---|---|"]
    for name, entry in cases.items():
        runs = len(entry["p"])
        low, high = (stats.binom.ppf(q, runs, LEVEL) / runs for q in (0.0005, 0.9995))
        lines.append(f"| {name} | {runs} | {rejected(entry['p']):.3f} | {low:.3f} to {high:.3f} |")
    return "\n".join(lines)


def powers(cases: dict) -> str:
    """Return the table of powers, and their means."""
    tests = [name for name in next(iter(cases.values())) if name != "seconds"]
    rows = {name: [rejected(entry[test]) for test in tests] for name, entry in cases.items()}
    rows["**mean**"] = np.mean([*rows.values()], axis=0).tolist()
    lines = [f"| rows are | {' | '.join(tests)} |", "|---" * (1 + len(tests)) + "|"]
    lines += [f"| {name} | {' | '.join(f'{power:.3f}' for power in row)} |" for name, row in rows.items()]
    return "\n".join(lines)


def coverages(cases: dict) -> str:
    """Return the table of levels and coverages of intervals."""
    lines = ["| models | runs | rejected at .05 | intervals that cover |", "|---|---|---|---|"]
    for name, entry in cases.items():
        share = "" if name in UNEQUAL else f"{rejected(entry['p']):.3f}"
        lines.append(f"| {name} | {len(entry['p'])} | {share or '(not equal)'} | {np.mean(entry['covered']):.3f} |")
    return "\n".join(lines)


PAGE = """# Known distributions

`python benchmarks/known.py report` writes this page from `benchmarks/known.jsonl`.

## The level of `fit_test`

The p-value is exact. With 99 drawn samples, samples of the distribution itself are rejected as often as this;
a test of level .05 keeps the bounds with probability .999.

{level}

The parametric bootstrap (`refit=`) is asymptotic:

{refit}

## Its power

Rejections at level .05 of 100 rows, {runs} samples a line (standard errors up to {error:.3f}). In one column the
distribution is N(0, 1), which SciPy's tests know, too: `kstest`, `cramervonmises`, and the Anderson-Darling
statistic with simulated p-values, as `goodness_of_fit` computes them.

{one}

In five columns it is N(0, I), beside the energy test (distances to 4,000 rows, simulated p-values).

{five}

`fit_test` with 199 drawn samples and its peers together take {seconds_one:.2f} s of one processor in one
column and {seconds_five:.2f} s in five. *But* where only a mean moves (by .25
in one column, by .35 in one of five), tests that look for little else find more.

## `closer_test`

X is N(0, 1), P and Q are N(m, 1) in the first column, the kernel is Gaussian(1). On two sides of X, and where
one model is drawn twice, both are equally near: the level should be .05, with a standard error of .007 in
1,000 runs. Intervals have level .95; m of unequal models is given. Where models are near X or share rows, and in
samples of some dozens of rows, the test rejects a little too often.

{closer}
"""


def main() -> None:
    """Run or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "report"])
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int)
    given = parser.parse_args()
    if given.action == "run":
        run(given.only, given.runs)
    else:
        print(report(), end="")


if __name__ == "__main__":
    main()
