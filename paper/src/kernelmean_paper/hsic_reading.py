"""A reading of Table 4: the measured powers under one reading of the paper's bandwidths and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import final

import numpy as np
from scipy.stats import binom

from .arrays import Array
from .contradictions import TRIALS, falling_power, impossible_shares
from .experiment import Findings, Setting
from .hsic_tests import ADAPTIVE, FREE, GRID, PRINTED, TIED, UNBIASED
from .paper import BASELINES, ESTIMATORS, TABLE4, PrintedTable
from .verdicts import CLEAR, Estimate, pooled_error

Cells = frozenset[tuple[str, str]]
DATA = "eckerle4"
LEVELS = ("0.05", "0.10", "0.15")
SIZES: Mapping[str, tuple[int, ...]] = {"0.10": (4,), "0.15": (5,), "0.20": (7,), "0.25": (9,), "0.30": (10, 11)}
"""The number of rows by share η of 35: 3.5, 5.25, 7, 8.75 and 10.5 rounded; the last one both ways."""
LARGEST = "0.30"
PAIRS_IN_ALL = 35
"""Of Eckerle4."""
PAIRS, PERMUTED = "pairs", "permuted"
ALL_ROWS, SUBSAMPLE = "all rows", "subsample"
OWN = (ADAPTIVE, UNBIASED, GRID)
COLUMNS: Mapping[str, str] = {
    **{name: name for name in BASELINES},
    PRINTED: "F-KMSE",
    **{name: name for name in ESTIMATORS if name not in BASELINES},
    TIED: "MKME",
    FREE: "MMKME",
}
"""The measured methods, and the printed column of which each is a reading."""


NEARER = 0.95
"""A reading differs from another if it is nearer in at least this share of the resamples of the trials."""
_FLAT = 1e-4
_RESAMPLES = 400


@final
@dataclass(frozen=True)
class Reading:
    """The powers with bandwidths from certain rows, and a certain number of rows for η = 0.30."""

    findings: Findings
    bandwidth: str
    last: int
    _known: dict[tuple[str, str], Array] = field(default_factory=dict, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The reading in words."""
        source = "the subsample" if self.bandwidth == SUBSAMPLE else f"all {PAIRS_IN_ALL} rows"
        return f"bandwidths of {source}, {self.last} rows at η = {LARGEST}"

    def setting(self, share: str, data: str = PAIRS) -> Setting:
        """Return the setting of a share."""
        rows = self.last if share == LARGEST else SIZES[share][0]
        (found,) = self.findings.where(share=share, rows=rows, data=data)
        return found

    @property
    def settings(self) -> list[Setting]:
        """The settings of all shares."""
        return [self.setting(share) for share in SIZES]

    @property
    def measured(self) -> bool:
        """Whether there is a trial of every share."""
        return all(len(self.pvalues(share, ADAPTIVE)) for share in SIZES)

    def pvalues(self, share: str, method: str) -> Array:
        """Return the p-values of the trials."""
        if (share, method) not in self._known:
            measure = "p" if method in OWN else f"p, {self.bandwidth}"
            self._known[share, method] = self.findings.values(self.setting(share), method, measure)
        return self._known[share, method]

    def power(self, key: str, method: str) -> float:
        """Return the share of the trials that reject, for a printed row "α η"."""
        level, share = key.split()
        return rejected(self.pvalues(share, method), level)

    def gaps(self, method: str, left_out: Cells = frozenset()) -> dict[str, float]:
        """Return how far ours is above the paper, in the cells that contradict nothing and are not left out."""
        column, without = COLUMNS[method], inconsistent() | left_out
        return {
            key: self.power(key, method) - row[column]
            for key, row in TABLE4.values.items()
            if (key, column) not in without
        }

    def error(self, key: str, method: str) -> float:
        """Return the standard error of a difference between ours and the paper's."""
        return self.error_of(key, method, TABLE4.values[key][COLUMNS[method]])

    def error_of(self, key: str, method: str, printed: float) -> float:
        """Return the standard error of a difference between ours and a printed number."""
        return float(pooled_error(self.power(key, method), self.trials(key), printed, TRIALS))

    def deviations(self, method: str, left_out: Cells = frozenset()) -> dict[str, float]:
        """Return the same differences in standard errors."""
        return {key: gap / self.error(key, method) for key, gap in self.gaps(method, left_out).items()}

    def mean_gap(self, method: str, left_out: Cells = frozenset()) -> Estimate:
        """Return the mean of these differences; levels share their trials, so their errors are simply added."""
        gaps = self.gaps(method, left_out)
        summed = [sum(self.error(key, method) for key in gaps if key.endswith(f" {share}")) for share in SIZES]
        return Estimate(float(np.mean(list(gaps.values()))), float(np.hypot.reduce(summed)) / len(gaps))

    def resampled(self, method: str) -> dict[str, Array]:
        """Return the powers (400,) of printed rows in resamples of the trials, the same ones for all methods."""
        found: dict[str, Array] = {}
        for share in SIZES:
            trials = len(self.pvalues(share, method))
            times = _times_drawn(int(self.setting(share).values["rows"]), trials)
            for level in LEVELS:
                found[f"{level} {share}"] = times @ rejects(self.pvalues(share, method), level) / trials
        return found

    def resampled_distances(self) -> Array:
        """Return `distance` (400,) in resamples of the trials."""
        squares = []
        for method in BASELINES:
            powers = self.resampled(method)
            for key in self.gaps(method):
                printed = TABLE4.values[key][method]
                error = pooled_error(powers[key], self.trials(key), printed, TRIALS)
                squares.append(((powers[key] - printed) / error) ** 2)
        return np.asarray(np.sqrt(np.mean(squares, axis=0)))

    def trials(self, key: str) -> int:
        """Return how many trials a printed row has here."""
        return len(self.pvalues(key.split()[1], ADAPTIVE))

    def distance(self) -> float:
        """Return the root mean square difference of KME, S-KMSE and F-KMSE from the paper's, in standard errors."""
        return float(np.sqrt(np.mean([z**2 for method in BASELINES for z in self.deviations(method).values()])))

    def agreeing(self) -> int:
        """Return how many cells of KME, S-KMSE and F-KMSE are within two standard errors of the paper's."""
        return sum(abs(z) <= CLEAR for method in BASELINES for z in self.deviations(method).values())


@lru_cache(maxsize=16)
def _times_drawn(rows: int, trials: int) -> Array:
    """Return how often each trial is drawn, shape (400, trials)."""
    rng = np.random.default_rng([rows, trials])
    return np.asarray(rng.multinomial(trials, np.full(trials, 1.0 / trials), size=_RESAMPLES), dtype=float)


def rejects(pvalues: Array, level: str) -> Array:
    """Return which p-values are at most the level."""
    return np.asarray(pvalues <= float(level) + 1e-12)


def rejected(pvalues: Array, level: str) -> float:
    """Return the share of p-values that are at most the level."""
    return float(np.mean(rejects(pvalues, level)))


def as_near(readings: Sequence[Reading]) -> list[Reading]:
    """Return the nearest reading and those that resampling cannot distinguish from it, nearest first."""
    order = sorted(readings, key=Reading.distance)
    first, *rest = ((reading, reading.resampled_distances()) for reading in order)
    return [first[0], *(reading for reading, distances in rest if np.mean(first[1] < distances) < NEARER)]


@cache
def inconsistent() -> Cells:
    """Return the printed cells (row, column) that 200 trials cannot give, or that another level contradicts.

    These are all cells of the contradictions that the errata list for this table, including both cells of a fall.
    """
    shares = {(key, name) for key, name, _ in impossible_shares(TABLE4, TRIALS)}
    falls = set()
    for key, name, *_ in falling_power(TABLE4):
        level, share = key.split()
        falls |= {(key, name), (f"{LEVELS[LEVELS.index(level) - 1]} {share}", name)}
    return frozenset(shares | falls)


def flat(table: PrintedTable) -> Cells:
    """Return the cells (row, column) whose power is hardly larger at the next level, and then grows much.

    They are unlikely, not impossible. Both steps of α are equally wide. If p-values are at least a third as dense in
    the first step as in the second, so few trials in the first have a probability below 1 in 10,000.
    """
    found = set()
    for share in SIZES:
        keys = [f"{level} {share}" for level in LEVELS]
        for name in table.values[keys[0]]:
            low, middle, high = (round(table.values[key][name] * TRIALS) for key in keys)
            few, many = middle - low, high - middle
            if few >= 0 and binom.cdf(few, few + many, 0.25) < _FLAT:
                found |= {(key, name) for key in keys[:2]}
    return frozenset(found)
