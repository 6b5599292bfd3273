"""How well conditional means predict: means beside kernel ridge, quantiles beside a forest, few rows beside the truth.

    python benchmarks/conditional_mean.py run [--runs 20] [--only TEXT]    # goes on where it was stopped
    python benchmarks/conditional_mean.py report > docs/evidence/conditional-mean.md

The sets are those that scikit-learn holds or makes; the forest is that of the package quantile-forest, if it is there.
Errors are of a fifth of the rows, held out at random, in units of the deviation of the others.
"""

from __future__ import annotations

import argparse
import json
import textwrap
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    load_linnerud,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_regression,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelmean as km

try:
    from quantile_forest import RandomForestQuantileRegressor
except ImportError:
    RandomForestQuantileRegressor = None

RESULTS = Path(__file__).with_suffix(".jsonl")
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
GRID = {"kernelridge__alpha": 10.0 ** np.arange(-3, 2), "kernelridge__gamma": 10.0 ** np.arange(-3, 1)}


def fan(rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """The mean depends on one column, the spread on another."""
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + (0.2 + 0.5 * np.abs(X[:, 1])) * rng.normal(size=n)


def skewed(rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """What is left is exponential, with a spread that depends on a column."""
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, X[:, 0] + np.exp(X[:, 1] / 2) * rng.exponential(size=n)


def two_peaks(rng: np.random.Generator, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Two peaks, whose shares depend on a column."""
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.where(rng.uniform(size=n) < 0.5 + 0.2 * X[:, 0], 2.0, -2.0) + 0.3 * rng.normal(size=n)


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "linnerud": lambda: load_linnerud(return_X_y=True),
    "friedman1": lambda: make_friedman1(400, noise=1.0, random_state=0),
    "friedman2": lambda: make_friedman2(400, noise=100.0, random_state=0),
    "friedman3": lambda: make_friedman3(400, noise=0.1, random_state=0),
    "regression": lambda: make_regression(400, 10, n_informative=5, noise=20.0, random_state=0),
}
"""The six sets of the comparison with kernel ridge regression."""
DRAWS = {"spread": fan, "skewed": skewed, "two peaks": two_peaks}
SPREADS = {name: lambda draw=draw: draw(np.random.default_rng(0)) for name, draw in DRAWS.items()}
"""More sets, for quantiles."""
LAWS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray], int]] = {
    "line": (lambda X: X[:, 0], lambda X: np.full(len(X), 0.5), 1),
    "sine": (lambda X: np.sin(2 * X[:, 0]), lambda X: np.full(len(X), 0.3), 1),
    "spread": (lambda X: X[:, 0], lambda X: 0.2 + 0.4 * np.abs(X[:, 0]), 1),
    "three columns": (lambda X: np.cos(X[:, 0]) + X[:, 1], lambda X: np.full(len(X), 0.5), 3),
}
"""Mean and deviation of normal outcomes, and the number of columns, uniform in [-2, 2]."""
CELLS = {f"{law}, n {n}": (law, n) for law in LAWS for n in (15, 25, 50)}
ROWS, LONG, UNITS = (200, 1000, 10_000, 100_000), (100_000, 1_000_000), 30_000


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and the seconds of one processor that it took."""
    start = time.process_time()
    return make(), time.process_time() - start


def pinball(quantiles: np.ndarray, y: np.ndarray) -> float:
    """Return the mean pinball loss over the levels."""
    gaps, levels = y[:, None] - quantiles, np.array(LEVELS)
    return float(np.maximum(levels * gaps, (levels - 1.0) * gaps).mean())


def of_a_set(name: str, number: int) -> dict[str, float]:
    """Return errors, losses, shares of outcomes in 90 % intervals, and seconds on one split."""
    X, y = {**SETS, **SPREADS}[name]()
    train, test = train_test_split(np.arange(len(X)), test_size=0.2, random_state=number)
    y = (y - y[train].mean(axis=0)) / y[train].std(axis=0)
    X_train, y_train, X_test, y_test = X[train], y[train], X[test], y[test]
    ridge = GridSearchCV(make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), GRID)
    found: dict[str, float] = {}
    model, found["seconds"] = timed(lambda: km.ConditionalMean().fit(X_train, y_train))
    ridge, found["seconds of ridge"] = timed(lambda: ridge.fit(X_train, y_train))
    for label, each in (("error", model), ("error of ridge", ridge)):
        found[label] = float(((each.predict(X_test) - y_test) ** 2).mean())
    if y.ndim == 1:
        quantiles = {"": model.quantiles(X_test, LEVELS)}
        if RandomForestQuantileRegressor is not None:
            forest = RandomForestQuantileRegressor(n_estimators=100, random_state=0)
            _, found["seconds of forest"] = timed(lambda: forest.fit(X_train, y_train))
            quantiles[" of forest"] = forest.predict(X_test, quantiles=list(LEVELS))
        for label, each in quantiles.items():
            found[f"loss{label}"] = pinball(each, y_test)
            found[f"covered{label}"] = float(np.mean((each[:, 0] <= y_test) & (y_test <= each[:, -1])))
    return found


def of_few_rows(law: str, n: int, number: int) -> dict[str, float]:
    """Return the squared distances in the RKHS from the exact conditional embeddings, at 40 new rows."""
    mean, deviation, columns = LAWS[law]
    rng = np.random.default_rng([zlib.crc32(law.encode()), n, number])
    X, new = rng.uniform(-2, 2, size=(n, columns)), rng.uniform(-2, 2, size=(40, columns))
    y = mean(X) + deviation(X) * rng.normal(size=n)
    found = {}
    for name in ("kme", "mkme"):
        model = km.ConditionalMean(estimator=name).fit(X, y)
        true = [
            km.embed([[m]], model.kernel_, noise=km.noise.Normal(float(s) ** 2))
            for m, s in zip(mean(new), deviation(new), strict=True)
        ]
        found[name] = float(np.mean([(model.embedding(x) - t).norm() ** 2 for x, t in zip(new, true, strict=True)]))
    return found


def of_rows(n: int, number: int) -> dict[str, float]:
    """Return the seconds of a fit of n rows of five columns."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * rng.normal(size=n)
    return {"seconds": timed(lambda: km.ConditionalMean().fit(X, y))[1]}


def of_units(name: str, number: int) -> dict[str, float]:
    """Return the losses of quantiles of fits whose rows are units, and in units of rows, of the same rows."""
    X, y = DRAWS[name](np.random.default_rng([number, 0]), UNITS)
    new, outcomes = DRAWS[name](np.random.default_rng([number, 1]), 500)
    rows, units = km.ConditionalMean().fit(km.read(X, in_memory=True), y), km.ConditionalMean().fit(X, y)
    return {key: pinball(model.quantiles(new, LEVELS), outcomes) for key, model in (("rows", rows), ("units", units))}


def of_five_outcomes(number: int) -> dict[str, float]:
    """Return the variances of samples of five outcomes, mean over columns and rows; the true one is 1."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(UNITS, 2))
    Y, new = X[:, [0]] + rng.normal(size=(UNITS, 5)), rng.normal(size=(100, 2))
    rows, units = km.ConditionalMean().fit(km.read(X, in_memory=True), Y), km.ConditionalMean().fit(X, Y)
    return {
        key: float(model.sample(new, 200, random_state=0).var(axis=1).mean())
        for key, model in (("rows", rows), ("units", units))
    }


class Batches:
    """Rows of five columns, or their outcomes, that are drawn again every time they are read, 10,000 at a time."""

    def __init__(self, n: int, number: int, *, outcomes: bool) -> None:
        self.n, self.number, self.outcomes = n, number, outcomes

    def __iter__(self) -> Iterator[np.ndarray]:
        for start in range(0, self.n, 10_000):
            rng = np.random.default_rng([self.number, start])
            X = rng.normal(size=(min(10_000, self.n - start), 5))
            y = np.sin(X[:, 0]) + X[:, 1] * rng.normal(size=len(X))
            yield y[:, None] if self.outcomes else X


def memory() -> float:
    """Return the most memory that this process has held so far, in MiB; Linux says it."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def alone(n: int, number: int) -> dict[str, float]:
    """Fit rows in batches; return the seconds, and the MiB beyond those of a process that has made a small fit."""
    of_rows(1000, 0)
    before = memory()
    X, y = Batches(n, number, outcomes=False), Batches(n, number, outcomes=True)
    _, seconds = timed(lambda: km.ConditionalMean().fit(X, y))
    return {"seconds": seconds, "MiB": memory() - before}


def of_batches(n: int, number: int) -> dict[str, float]:
    """Return the seconds and the memory of a fit of n rows in batches, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(alone, n, number).result()


CASES: dict[str, Callable[[int], dict[str, float]]] = {
    **{f"set: {name}": lambda number, name=name: of_a_set(name, number) for name in (*SETS, *SPREADS)},
    **{f"few: {name}": lambda number, cell=cell: of_few_rows(*cell, number) for name, cell in CELLS.items()},
    **{f"units: {name}": lambda number, name=name: of_units(name, number) for name in DRAWS},
    "units: five outcomes": of_five_outcomes,
    **{f"rows: {n}": lambda number, n=n: of_rows(n, number) for n in ROWS},
    **{f"rows in batches: {n}": lambda number, n=n: of_batches(n, number) for n in LONG},
}


def run(runs: int, only: str) -> None:
    """Measure what is not measured yet."""
    done = {(row["case"], row["run"]) for row in read()}
    for name, measure in CASES.items():
        for number in range(
            min(runs, 3) if name.startswith("rows") else min(runs, 6) if name.startswith("units") else runs
        ):
            if only in name and (name, number) not in done:
                with RESULTS.open("a") as file:
                    file.write(json.dumps({"case": name, "run": number, **measure(number)}) + "\n")


def read() -> list[dict]:
    return list(map(json.loads, RESULTS.read_text().splitlines())) if RESULTS.exists() else []


def measured(case: str, key: str) -> np.ndarray:
    """Return the values of one case, of all runs."""
    return np.array([row[key] for row in read() if row["case"] == case and key in row])


def cell(case: str, key: str, digits: int = 4) -> str:
    """Return a mean with its standard error."""
    values = measured(case, key)
    if len(values) < 2:
        return "-"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(" ".join(text.split()), 115, break_on_hyphens=False) + "\n")


def table(*columns: str) -> None:
    """Print the head of a table."""
    print("|", " | ".join(columns), "|")
    print("|---" * len(columns) + "|")


def report() -> None:
    """Print the page."""
    print("# Conditional means\n")
    say(
        """`python benchmarks/conditional_mean.py report` writes this page. Errors are of a fifth of the rows, held
        out at random, in units of the deviation of the others; ± is the standard error over splits, which share rows.
        Seconds are those of one processor, shared with other work."""
    )
    report_means()
    report_quantiles()
    report_few_rows()
    report_units()
    print("## Many rows\n")
    table("rows", "seconds of a fit")
    for n in ROWS:
        print(f"| {n:,} | {measured(f'rows: {n}', 'seconds').min():.2g} |")
    print()
    say(
        """Rows of five columns in batches of 10,000, which are drawn again every time they are read; memory is the most
        that a process of its own holds, beyond what it held after a fit of 1,000 rows."""
    )
    table("rows in batches", "seconds of a fit", "MiB")
    for n in LONG:
        case = f"rows in batches: {n}"
        print(f"| {n:,} | {measured(case, 'seconds').min():.2g} | {measured(case, 'MiB').max():.0f} |")


def report_means() -> None:
    """Print the errors beside those of kernel ridge regression."""
    print("## Means, beside kernel ridge regression\n")
    say(
        f"""The mean squared error of `ConditionalMean().predict`, and of scikit-learn's `KernelRidge` with a Gaussian
        kernel, whose two parameters are searched on a grid of {np.prod([len(v) for v in GRID.values()])} by
        cross-validation. Six sets that need no download."""
    )
    table("set", "splits", "ConditionalMean", "KernelRidge", "difference", "seconds", "seconds of KernelRidge")
    for name in SETS:
        case = f"set: {name}"
        gap = measured(case, "error") - measured(case, "error of ridge")
        print(
            f"| {name} | {len(gap)} | {cell(case, 'error')} | {cell(case, 'error of ridge')} "
            f"| {gap.mean():+.4f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.4f} "
            f"| {np.median(measured(case, 'seconds')):.3f} | {np.median(measured(case, 'seconds of ridge')):.2f} |"
        )

    ratios = [
        np.median(measured(f"set: {name}", "seconds")) / np.median(measured(f"set: {name}", "seconds of ridge"))
        for name in SETS
    ]
    print()
    say(
        f"""A fit takes {min(ratios):.2f} to {max(ratios):.2f} of the time of the search, and gives the whole
        distribution besides."""
    )


def report_quantiles() -> None:
    """Print the losses of quantiles beside those of a forest."""
    print("## Quantiles, beside a forest\n")
    say(
        """The mean pinball loss at the levels 0.05, 0.25, 0.5, 0.75 and 0.95, and the share of outcomes between the
        outer two, which should be 0.90. The forest is `RandomForestQuantileRegressor` of quantile-forest 1.4.2 with
        100 trees. In the last three sets, the spread, or the shares of two peaks, depend on a column."""
    )
    table("set", "loss", "of the forest", "covered", "by the forest", "seconds", "of the forest")
    for name in (*SETS, *SPREADS):
        case = f"set: {name}"
        if len(measured(case, "loss")):
            shares = [f"{measured(case, key).mean():.3f}" for key in ("covered", "covered of forest")]
            seconds = [f"{np.median(measured(case, key)):.3f}" for key in ("seconds", "seconds of forest")]
            losses = [cell(case, key) for key in ("loss", "loss of forest")]
            print(f"| {name} |", " | ".join([*losses, *shares, *seconds]), "|")


def report_few_rows() -> None:
    """Print the losses with and without noise."""
    print("\n## Few rows, with and without noise\n")
    say(
        """The mean squared distance in the RKHS from the exact embedding of the normal distribution of the outcome, at
        40 new rows. With noise the outcomes are marginalized, as in Xia et al. (2021)."""
    )
    table("outcomes", "runs", "without noise (kme)", "isotropic noise (mkme)", "mkme relative to kme")
    better = 0
    for name in CELLS:
        case = f"few: {name}"
        ratio = measured(case, "mkme").mean() / measured(case, "kme").mean()
        better += bool(ratio < 1.0)
        print(f"| {name} | {len(measured(case, 'kme'))} | {cell(case, 'kme')} | {cell(case, 'mkme')} | {ratio:.3f} |")
    print()
    say(f"Noise is nearer to the truth in {better} of {len(CELLS)} cases; its gain is small beside that of more rows.")


def report_units() -> None:
    """Print the losses of units of rows beside those of rows."""
    print("## Units of rows, beside rows\n")
    say(
        f"""Beyond 20,000 rows, units of rows have weights instead. The mean pinball loss at 500 new rows after a fit
        of {UNITS:,}, as units and with every row held, `km.read(X, in_memory=True)`; and the variance of samples of
        five normal outcomes, which is 1."""
    )
    table("outcomes", "runs", "rows", "units", "units less rows")
    for name in (*DRAWS, "five outcomes"):
        case = f"units: {name}"
        gap = measured(case, "units") - measured(case, "rows")
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        print(
            f"| {name} | {len(gap)} | {cell(case, 'rows')} | {cell(case, 'units')} | {gap.mean():+.4f} ± {error:.4f} |"
        )
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    arguments = parser.parse_args()
    run(arguments.runs, arguments.only) if arguments.what == "run" else report()
