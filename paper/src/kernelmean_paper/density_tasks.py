"""Density estimation as in the paper: samples split in two, and the protocols by which mixtures are matched to them.

Nothing is chosen on test rows: bandwidths, the stopping step and the reference's options come from training rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from kernelmean import KernelMeanMatching, median_bandwidth
from kernelmean.kernels import Gaussian

from .arrays import Array
from .rounded_rows import RoundedRows

TARGETS = ("kme", "s-kmse", "f-kmse", "mkme", "mmkme")
COMPONENTS = 10
FACTORS = (0.1, 0.3, 1.0, 3.0)
"""The candidates for θ², in units of the median squared distance: those of ``KernelMeanMatching``."""
TEST_SHARE = 0.3
LONGEST = 2000
"""The largest number of steps of a fit that is not stopped early."""
OWN = " own"
"""The suffix of the name of a target with its own θ²."""
START, REFERENCE, NORMAL = "start", "gmm", "normal"

FOLDS = 5
REFERENCE_GRID: Mapping[str, list[Any]] = MappingProxyType(
    {
        "n_components": [1, 2, 3, 5, 10, 20],
        "covariance_type": ["spherical", "diag", "tied", "full"],
        "reg_covar": [0.01, 0.1],
    }
)


@dataclass(frozen=True)
class Task:
    """Training and test rows, and the seed for everything random in a fit."""

    train: Array
    test: Array
    seed: int


@dataclass(frozen=True)
class Fit:
    """The result of a method.

    Attributes
    ----------
    nll : float
        Mean negative log-likelihood of the test rows.
    notes : dict
        Details: "steps", "theta" and whether it "rests" (converged) for a match, "chosen" for the reference.
    """

    nll: float
    notes: Mapping[str, Any]


Fits = Iterator[tuple[str, Fit]]


def standardized_split(table: Array, rng: np.random.Generator, seed: int) -> Task:
    """Hold out `TEST_SHARE` of the rows of a table (n, d) and z-score by the others.

    Rows with a blank (NaN) are dropped, and columns that are constant among the training rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> task = standardized_split(np.c_[rng.normal(5, 2, (10, 2)), np.ones(10)], rng, seed=0)
    >>> task.train.shape, task.test.shape, task.train.mean(axis=0).round(12) + 0
    ((7, 2), (3, 2), array([0., 0.]))
    """
    table = table[~np.isnan(table).any(axis=1)]
    order = rng.permutation(len(table))
    cut = round(TEST_SHARE * len(table))
    train, test = table[order[cut:]], table[order[:cut]]
    varying = train.std(axis=0) > 0
    center, scale = train.mean(axis=0)[varying], train.std(axis=0)[varying]
    return Task((train[:, varying] - center) / scale, (test[:, varying] - center) / scale, seed)


@dataclass(frozen=True)
class StudentT:
    """A t-distribution around 0 with the scale matrix A Aᵀ/d, whose ``factor`` is A/√d.

    Examples
    --------
    >>> truth = StudentT.random(2, 5.0, np.random.default_rng(0))
    >>> truth.sample(3, np.random.default_rng(1)).shape
    (3, 2)
    """

    factor: Array
    freedom: float

    @classmethod
    def random(cls, dim: int, freedom: float, rng: np.random.Generator) -> StudentT:
        """Draw A with independent standard normal entries."""
        return cls(rng.normal(size=(dim, dim)) / np.sqrt(dim), freedom)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw rows, shape (n, d)."""
        rows = rng.normal(size=(n, len(self.factor))) @ self.factor.T
        return rows * np.sqrt(self.freedom / rng.chisquare(self.freedom, n))[:, None]

    def task(self, n: int, test_rows: int, rng: np.random.Generator, seed: int) -> Task:
        """Draw training and test rows, neither of them standardized."""
        rows = self.sample(n + test_rows, rng)
        return Task(rows[:n], rows[n:], seed)

    def nll(self, rows: Array) -> float:
        """Return the mean negative log-likelihood of rows under the truth; in the long run, no estimate beats it."""
        from scipy.stats import multivariate_t  # slow to import

        law = multivariate_t(shape=self.factor @ self.factor.T, df=self.freedom)  # type: ignore[arg-type]  # integers only
        return -float(law.logpdf(rows).mean())


def joint(task: Task) -> Fits:
    """Match weights, means and variances, not stopped: θ² by validation, common to all targets and one for each.

    The common one has the best sum of the targets' scores.
    """
    units = RoundedRows.of(task.train)
    rows, longest = units.rows(task.train), {"early_stopping": False, "max_iter": LONGEST}
    own = {target: _matched(task, target, rows, **longest) for target in TARGETS}
    total = {f: sum(t.score for mix in own.values() for t in mix.trials_ if t.factor == f) for f in FACTORS}
    theta = float(np.sqrt(max(total, key=total.__getitem__)) * median_bandwidth(task.train))
    kernel = Gaussian(units.length(theta))
    for target, mix in own.items():
        yield target, _scored(task, _matched(task, target, rows, kernel=kernel, **longest), units)
        yield target + OWN, _scored(task, mix, units)


def stopped(task: Task) -> Fits:
    """Match weights, means and variances, with θ² and the last step by validation; also score the k-means start."""
    units = RoundedRows.of(task.train)
    rows = units.rows(task.train)
    for target in TARGETS:
        yield target, _scored(task, _matched(task, target, rows), units)
    units = RoundedRows.of(train := np.ascontiguousarray(task.train))  # whose sums have other last digits
    start = units.mixture_back(KernelMeanMatching(COMPONENTS, random_state=task.seed).start(units.rows(train)))
    yield START, Fit(-float(start.logpdf(task.test).mean()), {})


def weights(task: Task) -> Fits:
    """Match only the weights, with θ² by validation."""
    for target in TARGETS:
        yield target, _scored(task, _matched(task, target, task.train, update="weights"))


def reference(task: Task) -> Fits:
    """Fit scikit-learn's mixtures of Gaussians, with all options chosen by five folds of the training rows."""
    from sklearn.mixture import GaussianMixture  # slow to import

    most = len(task.train) * (FOLDS - 1) // FOLDS
    counts = [count for count in REFERENCE_GRID["n_components"] if count <= most]
    grid = {**REFERENCE_GRID, "n_components": counts}
    yield REFERENCE, cross_validated(task, GaussianMixture(random_state=0), grid)


def cross_validated(task: Task, model: Any, grid: Mapping[str, list[Any]]) -> Fit:
    """Return the fit of a scikit-learn density whose options have the best score over five folds."""
    from sklearn.model_selection import GridSearchCV, KFold  # slow to import

    folds = KFold(FOLDS, shuffle=True, random_state=task.seed)
    search = GridSearchCV(model, dict(grid), cv=folds).fit(task.train)
    chosen = {
        key: value.item() if isinstance(value, np.generic) else value for key, value in search.best_params_.items()
    }
    return Fit(-float(search.best_estimator_.score_samples(task.test).mean()), {"chosen": chosen})


def standard_normal(task: Task) -> Fit:
    """Score the standard normal density, which knows only the mean and the scale of the columns of z-scored rows."""
    squares = float(np.square(task.test).sum(axis=1).mean())
    return Fit(0.5 * (squares + task.test.shape[1] * np.log(2.0 * np.pi)), {})


def unit_range(task: Task) -> float:
    """Return what to add to a negative log-likelihood for columns scaled to [-1, 1]: the log of the volume."""
    return -float(np.log(np.ptp(np.concatenate([task.train, task.test]), axis=0) / 2.0).sum())


PROTOCOLS: Mapping[str, Callable[[Task], Fits]] = MappingProxyType(
    {"joint": joint, "stopped": stopped, "weights": weights}
)
"""The ways to match, by name. The paper stops early; fits that are not stopped deviate from it."""


def quietly(protocol: Callable[[Task], Fits], task: Task) -> dict[str, Fit]:
    """Return all fits of a protocol, without the warnings of those that do not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(protocol(task))


def _matched(task: Task, target: str, rows: Array, **options: Any) -> KernelMeanMatching:
    """Fit ten spherical components."""
    return KernelMeanMatching(COMPONENTS, estimator=target, random_state=task.seed, **options).fit(rows)


def _scored(task: Task, mix: KernelMeanMatching, units: RoundedRows | None = None) -> Fit:
    """Score the test rows, by a mixture that was fitted in these units."""
    mixture = mix.mixture if units is None else units.mixture_back(mix.mixture)
    theta = float(mix.bandwidth_) * (1.0 if units is None else units.unit)
    notes = {"steps": mix.n_iter_, "theta": theta, "rests": float(mix.converged_)}
    return Fit(-float(mixture.logpdf(task.test).mean()), notes)
