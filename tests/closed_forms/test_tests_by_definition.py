"""Every exact test by its definition, wherever the rows are: all arrangements of a few rows, from dense Gram matrices.

An arrangement gives every pooled row a coefficient, and the V-statistic is the quadratic form of the coefficients. The
unbiased one leaves out the pairs of a row with itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.kernels import Gaussian

Array = np.ndarray[Any, Any]
KERNEL = Gaussian(1.3)
ROWS = np.random.default_rng(5).normal(size=(8, 2)) + np.repeat([0.0, 0.8], 4)[:, None]
FIRST = np.repeat([1, 0], 4)
STRATA = np.array([1, 1, 2, 2, 1, 1, 2, 2])
CLUSTERS = np.array([1, 1, 2, 3, 4, 4, 5, 6])
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.5])


def labelings(units: Array, *, equal_sizes: bool = False) -> Iterator[Array]:
    """Yield all ways to call as many units the first sample as there are, and maybe as many of every size."""
    names = [*dict.fromkeys(units.tolist())]
    sizes = {name: int((units == name).sum()) for name in names}
    of_first = [name for name in names if FIRST[units == name].all()]
    for chosen in itertools.combinations(names, len(of_first)):
        if not equal_sizes or sorted(map(sizes.get, chosen)) == sorted(map(sizes.get, of_first)):
            yield np.isin(units, chosen).astype(int)


def by_strata() -> Iterator[Array]:
    """Yield the labelings with as many rows of the first sample in every stratum."""
    for labels in labelings(np.arange(8)):
        if all(labels[s == STRATA].sum() == FIRST[s == STRATA].sum() for s in (1, 2)):
            yield labels


def swaps() -> Iterator[Array]:
    """Yield the labelings that exchange the rows of some pairs; all exchanged at once change nothing."""
    for kept in itertools.product((1, 0), repeat=3):
        yield np.r_[1, kept, 0, 1 - np.array(kept)]


def v_statistic(labels: Array, weights: Array, strata: Array | None = None) -> float:
    """|Σ_s c_s (μ_X,s - μ_Y,s)|² with c_s proportional to A_s B_s / (A_s + B_s)."""
    strata = np.zeros(8) if strata is None else strata
    coefficients, total = np.zeros(8), 0.0
    for s in np.unique(strata):
        x, y = (weights * (strata == s) * (labels == own) for own in (1, 0))
        c = x.sum() * y.sum() / (x.sum() + y.sum())
        coefficients += c * (x / x.sum() - y / y.sum())
        total += c
    coefficients /= total
    return float(coefficients @ KERNEL(ROWS, ROWS) @ coefficients)


def u_statistic(labels: Array) -> float:
    """Unbiased MMD²: the means of k over different rows of each sample, less twice the mean over both."""
    K, x, y = KERNEL(ROWS, ROWS), labels == 1, labels == 0
    within = [(K[np.ix_(own, own)].sum() - np.trace(K[np.ix_(own, own)])) / (4 * 3) for own in (x, y)]
    return float(sum(within) - 2 * K[np.ix_(x, y)].mean())


def paired_statistic(labels: Array) -> float:
    """The unbiased form over pairs: h(i, j) = <φ(x_i) - φ(y_i), φ(x_j) - φ(y_j)> for i ≠ j."""
    K = KERNEL(ROWS, ROWS)
    signs = 2.0 * labels[:4] - 1.0
    h = K[:4, :4] + K[4:, 4:] - K[:4, 4:] - K[4:, :4]
    h = h * np.outer(signs, signs)
    return float((h.sum() - np.trace(h)) / (4 * 3))


@dataclass(frozen=True)
class Case:
    """A test of two samples: its options, and the statistic of every arrangement, the observed one first."""

    options: Callable[[], dict[str, Any]]
    values: Callable[[], list[float]]


def halves(column: Array) -> tuple[Array, Array]:
    return column[:4], column[4:]


ONES = np.ones(8)
CASES = {
    "unbiased": Case(dict, lambda: [u_statistic(own) for own in labelings(np.arange(8))]),
    "V": Case(lambda: {"statistic": "v"}, lambda: [v_statistic(own, ONES) for own in labelings(np.arange(8))]),
    "strata": Case(
        lambda: {"statistic": "v", "design": km.Design(halves(STRATA))},
        lambda: [v_statistic(own, ONES, STRATA) for own in by_strata()],
    ),
    "clusters": Case(
        lambda: {"statistic": "v", "design": km.Design(clusters=halves(CLUSTERS))},
        lambda: [v_statistic(own, ONES) for own in labelings(CLUSTERS)],
    ),
    "clusters of equal sizes": Case(
        lambda: {"statistic": "v", "design": km.Design(clusters=halves(CLUSTERS), equal_sizes=True)},
        lambda: [v_statistic(own, ONES) for own in labelings(CLUSTERS, equal_sizes=True)],
    ),
    "weights": Case(
        lambda: {"statistic": "v", "design": km.Design(weights=halves(WEIGHTS))},
        lambda: [v_statistic(own, WEIGHTS) for own in labelings(np.arange(8))],
    ),
    "strata and weights": Case(
        lambda: {"statistic": "v", "design": km.Design(halves(STRATA), weights=halves(WEIGHTS))},
        lambda: [v_statistic(own, WEIGHTS, STRATA) for own in by_strata()],
    ),
    "pairs": Case(lambda: {"design": km.Design(paired=True)}, lambda: [paired_statistic(own) for own in swaps()]),
}


def in_file(rows: Array, folder: Path, name: str) -> str:
    path = folder / f"{name}.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b", comments="", fmt="%.17g")
    return str(path)


def as_frame(rows: Array, *_: Any) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows, columns=["a", "b"])


def in_batches(rows: Array, *_: Any) -> Any:
    return km.read([rows[:1], rows[1:]], in_memory=True)


def in_torch(rows: Array, *_: Any) -> Any:
    return pytest.importorskip("torch", reason="torch IS MISSING: its tensors are not checked").as_tensor(rows)


def in_strict(rows: Array, *_: Any) -> Any:
    return pytest.importorskip("array_api_strict").asarray(rows)


PLACES: dict[str, Callable[[Array, Path, str], Any]] = {
    "array": lambda rows, *_: rows,
    "frame": as_frame,
    "file": in_file,
    "batches": in_batches,
    "torch": in_torch,
    "array API": in_strict,
}

HOSTS = "array", "frame", "file", "batches"
"""Where rows of a design may be."""


def check(result: km.TestResult, values: list[float], observed: float) -> None:
    assert result.statistic == pytest.approx(observed, rel=1e-9, abs=1e-12)
    assert sorted([*result.null_distribution, result.statistic]) == pytest.approx(sorted(values), rel=1e-9, abs=1e-12)
    reached = np.array(values) >= observed - 1e-12
    assert result.pvalue == pytest.approx(reached.mean(), abs=1e-12)
    assert result.scheme == "exact"


@pytest.mark.parametrize(
    ("case", "place"),
    [(case, place) for case in CASES for place in PLACES if place in HOSTS or case in ("unbiased", "V")],
)
def test_two_samples(case: str, place: str, tmp_path: Path) -> None:
    X, Y = (PLACES[place](rows, tmp_path, name) for rows, name in zip(halves(ROWS), "XY", strict=True))
    values = CASES[case].values()
    observed = values[0]
    result = km.mmd_test(X, Y, kernel=KERNEL, scheme="exact", **CASES[case].options())
    check(result, values, observed)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("statistic", ["v", "u"])
def test_two_variables(statistic: str, place: str, tmp_path: Path) -> None:
    x, y = ROWS[:5], ROWS[3:8]
    K, L, n = KERNEL(x, x), KERNEL(y, y), 5
    H = np.eye(n) - 1 / n

    def value(order: tuple[int, ...]) -> float:
        moved = L[np.ix_(order, order)]
        if statistic == "v":
            return float((H @ K @ H * moved).sum() / n**2)
        k, m = K - np.diag(np.diag(K)), moved - np.diag(np.diag(moved))  # Song et al. (2012), eq. (5)
        third = k.sum() * m.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (k @ m).sum()
        return float(((k * m).sum() + third) / (n * (n - 3)))

    values = [value(order) for order in itertools.permutations(range(n))]
    X, Y = PLACES[place](x, tmp_path, "X"), PLACES[place](y, tmp_path, "Y")
    result = km.hsic_test(X, Y, kernel=KERNEL, statistic=statistic, scheme="exact")
    check(result, values, values[0])
