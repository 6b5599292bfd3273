"""Kernel mean matching on fifteen data sets and on t-distributions: held-out negative log-likelihoods.

Every repetition is one line of a results file, and what is there is not run again. Nothing is chosen on test rows.

    python benchmarks/matching_uci.py run joint --data DIR --results FILE
    python benchmarks/matching_uci.py table --results FILE > docs/evidence/density.md
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KernelDensity

from kernelmean.density import KernelMeanMatching, settings
from kernelmean_paper.density_tasks import (
    FOLDS,
    TARGETS,
    Fit,
    Fits,
    StudentT,
    Task,
    cross_validated,
    quietly,
    reference,
    standardized_split,
)
from kernelmean_paper.density_tasks import PROTOCOLS as MATCHING

SETS = (
    *("australian", "bodyfat", "bupa", "flag", "glass", "hayes", "housing", "ionosphere"),
    *("lymphography", "primary", "sonar", "specft", "svmguide2", "wbdc", "wine"),
)
SIZES = (15, 30, 60, 90, 120, 150)
DIM, FREEDOM = 10, 5


def uci(data: Path, name: str, repetition: int) -> Task:
    """Split a data set: 30 % test rows, z-scored by training rows; constant columns and incomplete rows are dropped."""
    table = np.genfromtxt(data / f"{name}.csv", delimiter=",", skip_header=1)[:, :-1]
    return standardized_split(table, np.random.default_rng([SETS.index(name), repetition]), repetition)


def t_rows(n: int, repetition: int) -> Task:
    """Draw n training rows and 1,000 test rows of a t-distribution."""
    rng = np.random.default_rng([n, repetition])
    return StudentT.random(DIM, FREEDOM, rng).task(n, 1000, rng, repetition)


def protocol_best(task: Task) -> Fits:
    """The settings of ``kernelmean density``, Gaussian mixtures and kernel densities, each chosen by five folds."""
    yield from reference(task)
    yield "kde", cross_validated(task, KernelDensity(), {"bandwidth": list(np.logspace(-1.5, 0.5, 25))})
    folds = KFold(FOLDS, shuffle=True, random_state=task.seed)
    search = GridSearchCV(KernelMeanMatching(random_state=task.seed), settings(task.train), cv=folds).fit(task.train)
    chosen = {name: str(value) for name, value in search.best_params_.items()}
    yield "matching", Fit(-float(search.score(task.test)), {"chosen": chosen})


PROTOCOLS: dict[str, Callable[[Task], Fits]] = {**MATCHING, "best": protocol_best, "t": MATCHING["stopped"]}


def run(protocol: str, data: Path | None, results: Path, names: list[str], repetitions: int, seconds: float) -> None:
    """Run what is missing and append it, until done or out of time."""
    done = {(row["protocol"], row["set"], row["repetition"]) for row in read(results)}
    end = time.monotonic() + seconds
    for repetition in range(repetitions):
        for name in names:
            if (protocol, name, repetition) in done or time.monotonic() > end:
                continue
            task = t_rows(int(name[1:]), repetition) if protocol == "t" else uci(data, name, repetition)
            began = time.perf_counter()
            fits = quietly(PROTOCOLS[protocol], task)
            methods = {method: {"nll": fit.nll, **fit.notes} for method, fit in fits.items()}
            row = {"protocol": protocol, "set": name, "repetition": repetition, "n": len(task.train)}
            row |= {"d": task.train.shape[1], "seconds": round(time.perf_counter() - began, 2), "methods": methods}
            with results.open("a") as file:
                file.write(json.dumps(row) + "\n")


def read(results: Path) -> list[dict]:
    """Return the rows of a results file."""
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


class Results:
    """Held-out negative log-likelihoods: protocol, set, method to the values of the repetitions."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows
        self.values: dict[tuple[str, str], dict[str, list[float]]] = {}
        for row in sorted(rows, key=lambda row: row["repetition"]):
            cell = self.values.setdefault((row["protocol"], row["set"]), {})
            for method, found in row["methods"].items():
                cell.setdefault(method, []).append(found["nll"])

    def names(self, protocol: str) -> list[str]:
        """Return the sets of a protocol, in the order of the tables."""
        known = [*SETS, *(f"t{n}" for n in SIZES)]
        return [name for name in known if (protocol, name) in self.values]

    def mean(self, protocol: str, name: str, method: str) -> float:
        """Return the mean over repetitions."""
        return float(np.mean(self.values[protocol, name][method]))

    def gap(self, protocol: str, name: str, first: str, second: str) -> tuple[float, float]:
        """Return the mean of first - second over paired repetitions, and its standard error."""
        cell = self.values[protocol, name]
        differences = np.subtract(cell[first], cell[second])
        return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))

    def below(self, protocol: str, first: str, second: str, errors: float) -> tuple[int, int]:
        """Count the sets where first is below, and above, second by so many standard errors."""
        gaps = [self.gap(protocol, name, first, second) for name in self.names(protocol)]
        return sum(g < -errors * e for g, e in gaps), sum(g > errors * e for g, e in gaps)


def table(results: Results, protocol: str, methods: list[str], pairs: list[tuple[str, str]]) -> str:
    """Return a table of means, and of paired differences with their standard errors."""
    header = ["set", "n", "d", *methods, *(f"{a} - {b}" for a, b in pairs)]
    lines = [header, ["---"] * len(header)]
    for name in results.names(protocol):
        row = next(row for row in results.rows if (row["protocol"], row["set"]) == (protocol, name))
        means = [f"{results.mean(protocol, name, method):.2f}" for method in methods]
        gaps = ["{:+.2f} ± {:.2f}".format(*results.gap(protocol, name, a, b)) for a, b in pairs]
        lines.append([name, str(row["n"]), str(row["d"]), *means, *gaps])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def report(results: Results) -> str:
    """Return the page with all tables and what they say."""
    sections = [_INTRODUCTION]
    for protocol, (title, methods, pairs, verdict) in _PAGES.items():
        if results.names(protocol):
            body = table(results, protocol, methods, pairs)
            counts = {len(results.values[protocol, name][methods[0]]) for name in results.names(protocol)}
            times = "-".join(str(count) for count in sorted({min(counts), max(counts)}))
            sections.append(f"## {title}\n\n{times} repetitions. {verdict(results)}\n\n{body}")
    return "\n\n".join(sections) + "\n"


_INTRODUCTION = """# Density estimation by kernel mean matching: what was measured

How well does a mixture fitted by kernel mean matching describe new rows? The tables have the mean negative
log-likelihood of held-out rows; smaller is better. Differences are paired over repetitions, with one standard error.
There are fifteen data sets with 30 % test rows, z-scored by the training rows. Constant columns and incomplete rows are
dropped, and codes of categories are used as numbers. Unless a section says otherwise, a mixture has ten components with
one variance each and a floor of 0.01. Nothing is chosen on test rows. These commands make the page:

    python benchmarks/matching_uci.py run PROTOCOL --data DIR --results FILE
    python benchmarks/matching_uci.py table --results FILE > docs/evidence/density.md"""


def _joint_verdict(results: Results) -> str:
    common, own = results.below("joint", "mkme", "kme", 2), results.below("joint", "mkme own", "kme own", 2)
    count = len(results.names("joint"))
    return (
        f"MKME is below KME by two standard errors on {common[0]} of {count} sets and above on {common[1]}; with a "
        f"separate θ for every target, on {own[0]} and {own[1]}. θ² is one of 0.1, 0.3, 1, 3 × the median: the best on "
        "20 % of the training rows, summed over the five targets or (own) for each. A separate choice adds noise to "
        "the differences, but no trend."
    )


def _stopped_verdict(results: Results) -> str:
    worst = max(
        results.gap("stopped", name, target, "start")[0] for name in results.names("stopped") for target in TARGETS
    )
    return f"On average, no target is more than {worst:.2f} nats above its k-means start on any set."


def _t_verdict(results: Results) -> str:
    others = max(results.mean("t", "t15", target) for target in TARGETS[1:])
    return (
        f"At n = 15 KME is {results.mean('t', 't15', 'kme') - others:.1f} nats worse than the worst of the four others."
    )


def _best_verdict(results: Results) -> str:
    count = len(results.names("best"))
    _, above = results.below("best", "matching", "gmm", 1)
    gaps = [results.gap("best", name, "matching", "kde")[0] for name in results.names("best")]
    return (
        f"Matching is within one standard error of the Gaussian mixture or better on {count - above} of {count} sets, "
        f"and better than the kernel density on {sum(gap < 0 for gap in gaps)}. All three are chosen by five folds of "
        "the training rows: the mixture among 1 to 20 components, four covariance types and reg_covar .01, .1; the "
        "kernel density among 25 bandwidths; matching among `kernelmean.density.settings`: a "
        "first list without ridges reached 7 sets against the mixture, this one was made looking at another split "
        "(repetition 100) of eight of the sets."
    )


def _weights_verdict(results: Results) -> str:
    spread = max(
        max(cell) - min(cell)
        for name in results.names("weights")
        for cell in [[results.mean("weights", name, target) for target in TARGETS]]
    )
    return f"The five targets differ by at most {spread:.2f} nats on any set."


_PAGES: dict[str, tuple[str, list[str], list[tuple[str, str]], Callable[[Results], str]]] = {
    "joint": ("Joint, not stopped", list(TARGETS), [("mkme", "kme"), ("mkme own", "kme own")], _joint_verdict),
    "stopped": ("Joint, stopped early", [*TARGETS, "start"], [("mkme", "start"), ("kme", "start")], _stopped_verdict),
    "weights": ("Weights only", list(TARGETS), [("mkme", "kme")], _weights_verdict),
    "t": (
        "t-distribution, d = 10, 5 degrees of freedom, stopped early",
        [*TARGETS, "start"],
        [("mkme", "kme")],
        _t_verdict,
    ),
    "best": ("Best density", ["matching", "gmm", "kde"], [("matching", "gmm"), ("matching", "kde")], _best_verdict),
}


def main() -> None:
    """Run a protocol or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("protocol", nargs="?", choices=list(PROTOCOLS))
    parser.add_argument("--data", type=Path, help="folder with the fifteen CSV files")
    parser.add_argument("--results", type=Path, default=Path("matching_uci.jsonl"))
    parser.add_argument("--sets", help="comma-separated names (t15, t30 … for the t-distributions)")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start nothing new after so long")
    arguments = parser.parse_args()
    if arguments.command == "table":
        print(report(Results(read(arguments.results))), end="")
        return
    default = [f"t{n}" for n in SIZES] if arguments.protocol == "t" else SETS
    names = arguments.sets.split(",") if arguments.sets else list(default)
    run(arguments.protocol, arguments.data, arguments.results, names, arguments.repetitions, arguments.seconds)


if __name__ == "__main__":
    main()
