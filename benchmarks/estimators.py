"""Seconds of the estimators' searches, beside the paper's own way: full distance matrices and Nelder-Mead.

    python benchmarks/estimators.py [--rounds 5] [--literal-evaluations 4000] [--out figures.json]

The literal search starts from the best common variance, which it is given for nothing, and may evaluate its score as
often as MATLAB's fminsearch does by default, 200 times the number of variables. Its time is measured once, ours is
the minimum over rounds. Both scores are reported: a fast search that ends higher would be no gain.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from _timing import best, machine, markdown, write_json
from kernelmean.estimators import FKMSE, KME, MKME, MMKME, SKMSE, VPMKME, KernelMean
from kernelmean.estimators.loocv import GramSpectrum, ridge_scores
from kernelmean.kernels import Gaussian
from kernelmean.kernels.bandwidth import median_bandwidth


@dataclass(frozen=True)
class Row:
    """One measurement; ``limit`` is what the project asks for."""

    what: str
    seconds: float
    limit: float | None = None
    score: float | None = None

    @property
    def cells(self) -> list[object]:
        limit = "" if self.limit is None else f"{self.limit:g}"
        score = "" if self.score is None else f"{self.score:.15f}"
        return [self.what, f"{self.seconds:.3f}", limit, score]


def sample(n: int, dim: int) -> np.ndarray:
    """Normal data whose columns have different scales, a mixture of two."""
    rng = np.random.default_rng([n, dim])
    return rng.normal(size=(n, dim)) * rng.uniform(0.5, 2.0, size=dim) + 3.0 * (rng.random((n, 1)) < 0.4)


class Literal:
    """The score of eq. (24) from full matrices, one per column, and its search by Nelder and Mead's simplex."""

    def __init__(self, X: np.ndarray, theta: float) -> None:
        self.n, self.dim = X.shape
        self.squares = np.stack([(column[:, None] - column) ** 2 for column in X.T])
        self.theta = theta
        self.evaluations = 0

    def kernel(self, added: np.ndarray) -> np.ndarray:
        """E k with ``added`` variances: θ^d |D + θ²I|^{-1/2} exp(-½ Σ_j (x_j - y_j)²/(e_j + θ²))."""
        s = added + self.theta**2
        return np.prod(self.theta / np.sqrt(s)) * np.exp(-0.5 * np.tensordot(1.0 / s, self.squares, axes=1))

    def score(self, e: np.ndarray) -> float:
        self.evaluations += 1
        e = np.abs(e)
        L, Q = self.kernel(e), self.kernel(2 * e)
        n, total, by_row = self.n, Q.sum(), Q.sum(axis=1)
        linear = 2.0 / (n - 1) * (L.sum(axis=1) - np.diagonal(L))
        quadratic = (total - 2 * by_row + np.diagonal(Q)) / (n - 1) ** 2
        return float(np.mean(1.0 - linear + quadratic))

    def search(self, start: np.ndarray, evaluations: int) -> float:
        options = {"maxfev": evaluations, "xatol": 1e-4, "fatol": 1e-4 * abs(self.score(start))}
        options["fatol"] = 0.0  # the score varies in its 7th digit: MATLAB's 1e-4 would stop at the start
        return float(minimize(self.score, start, method="Nelder-Mead", options=options).fun)


def literal(X: np.ndarray, evaluations: int) -> Row:
    theta = float(median_bandwidth(X))
    start = float(MKME().fit(X).noise_.covariance) * np.ones(X.shape[1])
    begin = time.perf_counter()
    search = Literal(X, theta)
    value = search.search(start, evaluations)
    taken = time.perf_counter() - begin
    return Row(f"literal MMKME, {search.evaluations} evaluations, once", taken, score=value)


def fit(what: str, make: Callable[[], KernelMean], X: np.ndarray, rounds: int, limit: float | None = None) -> Row:
    theta = float(median_bandwidth(X))
    estimator = make().set_params(bandwidth=theta)
    return Row(what, best(lambda: estimator.fit(X), rounds), limit, estimator.loocv_)


def ridge_path(rounds: int) -> Row:
    X = sample(1000, 20)
    kernel = Gaussian(float(median_bandwidth(X)))

    def path() -> None:
        ridge_scores(GramSpectrum.of(kernel(X, X), 1.0), np.geomspace(1e-6, 1e6, 50))

    return Row("F-KMSE path of 50 λ, n=1000, d=20", best(path, rounds), 1.0)


def measure(rounds: int, evaluations: int) -> list[Row]:
    X, large = sample(1000, 20), sample(5000, 10)
    rows = [
        fit("MMKME, n=1000, d=20", MMKME, X, rounds, 0.6),
        fit("MKME, n=5000, d=10", MKME, large, rounds, 1.5),
        ridge_path(rounds),
        fit("KME, n=1000, d=20", KME, X, rounds),
        fit("S-KMSE, n=1000, d=20", SKMSE, X, rounds),
        fit("F-KMSE, n=1000, d=20", FKMSE, X, rounds),
        fit("MKME, n=1000, d=20", MKME, X, rounds),
        fit("full covariance, n=1000, d=20", lambda: KernelMean(noise="full"), X, rounds),
        fit("VPMKME tied, n=1000, d=20", lambda: VPMKME(contraction="tied"), X, rounds),
        fit("VPMKME free, n=1000, d=20", VPMKME, X, rounds),
    ]
    return [*rows, literal(X, evaluations)] if evaluations else rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--literal-evaluations", type=int, default=4000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = measure(options.rounds, options.literal_evaluations)
    print(machine())
    print(markdown(["what", "seconds, minimum", "asked", "LOOCV"], [row.cells for row in rows]))
    if options.literal_evaluations:
        print(f"MMKME: {rows[-1].seconds / rows[0].seconds:.0f} times faster than the literal search")
    if options.out:
        write_json(options.out, machine(), [row.__dict__ for row in rows])


if __name__ == "__main__":
    main()
