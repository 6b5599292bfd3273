"""How much nearer estimators come to the kernel mean of a real table from 30 of its rows, at three bandwidths.

    python benchmarks/few_rows.py --draws 80

The table is that of scikit-learn's breast cancer (569 rows, 30 columns, standardised); its kernel mean is the truth.
Errors are mean squared distances to it over draws with replacement; "by the score" is what leave-one-out claims.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer

import kernelmean as km
from kernelmean.estimators import NAMED

ROWS, SHARES = 30, (1.0, 0.3, 0.1)


def study(table: np.ndarray, share: float, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared errors and the leave-one-out scores, both of shape (draws, estimators)."""
    rng, kernel = np.random.default_rng(0), km.kernels.Gaussian(share * float(km.median_bandwidth(table)))
    truth = km.embed(table, kernel)
    errors, scores = [], []
    for _ in range(draws):
        rows = table[rng.integers(len(table), size=ROWS)]
        fits = [make(kernel).fit(rows) for make in NAMED.values()]
        errors.append([(fit.embedding_ - truth).norm() ** 2 for fit in fits])
        scores.append([float(fit.loocv_) for fit in fits])
    return np.array(errors), np.array(scores)


def main() -> None:
    """Print the table of docs/guides/choosing.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=80)
    draws = parser.parse_args().draws
    table = load_breast_cancer().data
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    names = [name for name in NAMED if name != "kme"]
    print("| bandwidth |", " | ".join(names), "| lowest score | the same, by the score |")
    print("|---" * (len(names) + 3) + "|")
    for share in SHARES:
        errors, scores = study(table, share, draws)
        chosen = np.arange(draws), scores.argmin(axis=1)
        gains = 100.0 * (errors[:, :1] - np.column_stack([errors, errors[chosen]])) / errors[:, 0].mean()
        claimed = 100.0 * (ROWS * (scores[:, 0] - scores[chosen]) / scores[:, 0]).mean()
        cells = [f"{gain.mean():.1f} ± {gain.std(ddof=1) / np.sqrt(draws):.1f} %" for gain in gains.T[1:]]
        print(f"| {share:g} × median |", " | ".join(cells), f"| {claimed:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
