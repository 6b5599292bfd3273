"""Rules that turn numbers into outcomes: pure functions, each next to its rule in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import binom, binomtest, norm, t

from .arrays import Array
from .experiment import Findings, Setting
from .judged import Verdict

REPRODUCED, SAME_ORDERING, NOT_REPRODUCED = "reproduced", "same ordering", "not reproduced"
"""Outcomes of claims of the paper."""
HOLDS, FAILS = "holds", "fails"
"""Outcomes of claims of this library."""
UNDECIDED, NOT_MEASURED = "undecided", "not measured"
"""Outcomes of both: there are too few trials to decide; some trials are missing."""

CLEAR = 2.0
"""The standard errors from which a difference over many trials counts; over few trials, it is more: `multiple`."""
STUDENT = (
    f"“{CLEAR:g} standard errors” is a quantile: with few trials Student's t with their degrees of freedom replaces "
    "the normal distribution, so that the multiple is larger and the probability beyond it the same; over "
    "several cells the degrees of freedom are Welch's and Satterthwaite's"
)
"""What rules mean by standard errors; a text for the settings of a section."""


@cache
def multiple(errors: float, freedom: float) -> float:
    """Return the multiple of a standard error that Student's t exceeds as rarely as a normal variable ``errors``.

    It is nan without degrees of freedom.

    Examples
    --------
    >>> [round(multiple(2.0, freedom), 2) for freedom in (1, 14, 499)]
    [13.97, 2.2, 2.01]
    """
    return float(t.isf(norm.sf(errors), freedom)) if np.isfinite(freedom) else errors


@dataclass(frozen=True)
class Estimate:
    """A mean, its standard error and the degrees of freedom of that; the error of a single value is nan.

    Examples
    --------
    >>> Estimate.of(np.array([1.0, 2.0, 3.0]))
    Estimate(mean=2.0, error=0.5773502691896258, freedom=2.0)
    """

    mean: float
    error: float
    freedom: float = np.inf

    @classmethod
    def of(cls, values: Array) -> Estimate:
        """Return the mean of ``values`` (trials,) and its standard error."""
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(values.mean()), float(error), float(len(values) - 1))

    @classmethod
    def change(cls, values: Array, base: Array) -> Estimate:
        """Return the mean paired difference ``values - base`` of the same trials, and its standard error."""
        return cls.of(np.asarray(values) - np.asarray(base))

    @classmethod
    def over(cls, cells: Sequence[Estimate]) -> Estimate:
        """Return the mean over independent cells, each with the same weight."""
        squares = np.square([cell.error for cell in cells])
        doubt = float(np.sum(squares**2 / np.maximum([cell.freedom for cell in cells], 1.0)))
        least = min(cell.freedom for cell in cells)
        freedom = squares.sum() ** 2 / doubt if doubt > 0 else least
        return cls(float(np.mean([cell.mean for cell in cells])), float(np.sqrt(squares.sum()) / len(cells)), freedom)

    def reach(self, errors: float = CLEAR) -> float:
        """Return this number of standard errors as a length; for few trials it uses `multiple`."""
        return multiple(errors, self.freedom) * self.error

    def shifted(self, by: float) -> Estimate:
        """Return the estimate of a quantity that is larger by ``by``."""
        return Estimate(self.mean + by, self.error, self.freedom)

    def reversed(self) -> Estimate:
        """Return the estimate of the reversed difference."""
        return Estimate(-self.mean, self.error, self.freedom)

    def scaled(self, by: float) -> Estimate:
        """Return the estimate of a quantity that is ``by`` times as large, by > 0."""
        return Estimate(self.mean * by, self.error * by, self.freedom)

    def below(self, errors: float = CLEAR) -> bool:
        """Return whether the mean is below 0 by more than this many standard errors."""
        return self.mean < -self.reach(errors)

    def above(self, errors: float = CLEAR) -> bool:
        """Return whether the mean is above 0 by more than this many standard errors."""
        return self.mean > self.reach(errors)

    def __str__(self) -> str:
        """Return both with the decimals that leave the error two digits."""
        if not (np.isfinite(self.error) and self.error > 0):
            return f"{self.mean:+.4g} ± {self.error:.4g}"
        decimals = max(1 - int(np.floor(np.log10(self.error))), 0)
        return f"{self.mean:+.{decimals}f} ± {self.error:.{decimals}f}"


def claimed(*, fully: bool, partly: bool) -> str:
    """Return the outcome of a claim of the paper: reproduced, only in its direction, or neither.

    Examples
    --------
    >>> claimed(fully=False, partly=True)
    'same ordering'
    """
    return REPRODUCED if fully else SAME_ORDERING if partly else NOT_REPRODUCED


def held(truth: bool) -> str:
    """Return the outcome of a claim of this library."""
    return HOLDS if truth else FAILS


EQUIVALENCE = (
    "that no difference was found is no agreement: what is claimed to be equal or no worse has to be so within a "
    "margin that was set beforehand, by more than the standard errors named; what is neither clearly within the margin "
    f"nor clearly beyond it is {UNDECIDED}"
)
"""The rule of `no_worse` and `as_large` in words."""


def no_worse(gap: Estimate, margin: float, errors: float = CLEAR) -> bool | None:
    """Return whether a quantity that should not be below 0 is above -margin: clearly so, clearly not, or None.

    Examples
    --------
    >>> [no_worse(Estimate(mean, 0.01), 0.02) for mean in (0.01, -0.01, -0.05)]
    [True, None, False]
    """
    room = gap.shifted(margin)
    return True if room.above(errors) else False if room.below(errors) else None


def larger(gap: Estimate, margin: float, errors: float = CLEAR) -> bool | None:
    """Return whether a difference is above 0: clearly so, False if it is clearly below the margin, or None.

    Examples
    --------
    >>> [larger(Estimate(mean, 0.01), 0.05) for mean in (0.03, 0.02, 0.01)]
    [True, False, False]
    """
    return True if gap.above(errors) else False if gap.shifted(-margin).below(errors) else None


def as_large(gap: Estimate, margin: float, errors: float = CLEAR) -> bool | None:
    """Return whether a difference is between -margin and margin: clearly so, clearly not, or None.

    Two one-sided tests; the margin is a length.

    Examples
    --------
    >>> [as_large(Estimate(mean, 0.004), 0.02) for mean in (0.01, 0.02, -0.05)]
    [True, None, False]
    """
    return both(no_worse(gap, margin, errors), no_worse(gap.reversed(), margin, errors))


def both(*answers: bool | None) -> bool | None:
    """Return whether all are true: False if one is false, None if one is open and none is false."""
    return False if False in answers else None if None in answers else True


def settled(answer: bool | None, yes: str, no: str) -> str:
    """Return one outcome for True, another for False, and undecided for None.

    Examples
    --------
    >>> settled(both(True, None), HOLDS, FAILS)
    'undecided'
    """
    return UNDECIDED if answer is None else yes if answer else no


def missing_trials(findings: Findings, settings: Iterable[Setting]) -> tuple[int, int]:
    """Return how many trials of these settings are missing, and how many are requested."""
    asked = found = 0
    for setting in settings:
        asked += setting.trials
        found += min(sum(bool(trial) for trial in findings.trials.get(setting.key, ())), setting.trials)
    return asked - found, asked


def verdict(
    claim: str, rule: str, findings: Findings, settings: Sequence[Setting], judge: Callable[[], tuple[str, str]]
) -> Verdict:
    """Return a verdict with the outcome and evidence of ``judge``, which is called only if no trial is missing."""
    missing, asked = missing_trials(findings, settings)
    if missing or not asked:
        return Verdict(claim, NOT_MEASURED, f"{missing} of {asked} trials are missing", rule)
    outcome, evidence = judge()
    return Verdict(claim, outcome, evidence, rule)


def fewer_than_chance(ours: Array, theirs: Array) -> float:
    """Return the p-value of McNemar's exact test that ``ours`` succeeds less often than ``theirs`` in the same trials.

    Under the null hypothesis, the number of wins of ours, among the trials in which exactly one of the two succeeds, is
    binomial with probability one half; p is the probability of as few or fewer.

    Examples
    --------
    >>> fewer_than_chance(np.array([1, 1, 1, 0]), np.array([1, 1, 0, 1]))
    0.75
    """
    wins, losses = int(np.sum(ours > theirs)), int(np.sum(ours < theirs))
    return float(binomtest(wins, wins + losses, alternative="less").pvalue) if wins + losses else 1.0


def binomial_range(trials: int, probability: float, confidence: float) -> tuple[int, int]:
    """Return the smallest and the largest count that an exact two-sided binomial test does not reject.

    Each tail has at most (1 - confidence)/2.

    Examples
    --------
    >>> binomial_range(500, 0.05, 0.95)
    (16, 35)
    """
    tail = (1.0 - confidence) / 2.0
    return int(binom.ppf(tail, trials, probability)), int(binom.ppf(1.0 - tail, trials, probability))


def attainable(level: float, permutations: Array) -> float:
    """Return P(p ≤ level) of exact tests with P permutations (trials,) and no ties: the mean of floor(α P)/P."""
    counts = np.asarray(permutations, dtype=float)
    return float(np.mean(np.floor(level * counts + 1e-9) / counts))


MOST = 0.8
"""The share of the rows of a table that counts as nearly all."""
SINGLE = "a single trial has no standard error"


def ordering_rule(rows: str) -> str:
    """Return the rule of `ordering` in words."""
    return (
        f"reproduced: the paired difference is below 0 by more than {CLEAR:g} standard errors in at least {MOST:.0%} "
        f"of the {rows} and above by as much in none; same ordering: its mean is below 0 in more than half of them, "
        f"and clearly below in more of them than clearly above; {UNDECIDED}: below in as many, clearly so or above in "
        "none; otherwise not reproduced"
    )


def ordering(gaps: Sequence[Estimate], row: str) -> tuple[str, str]:
    """Return whether differences that are claimed to be negative are, and how many of them, in words.

    Examples
    --------
    >>> ordering([Estimate(-1.0, 0.1), Estimate(-0.1, 0.1), Estimate(-0.2, 0.1)], "row")
    ('same ordering', 'below in 3 of 3 rows, in 1 by more than 2 standard errors; above by as much in 0')
    """
    if not all(np.isfinite(gap.error) for gap in gaps):
        return NOT_MEASURED, SINGLE
    negative, below, above = (
        sum(counts) for counts in zip(*((gap.mean < 0, gap.below(), gap.above()) for gap in gaps), strict=True)
    )
    fully = below >= MOST * len(gaps) and not above
    partly = negative > len(gaps) / 2 and below > above
    words = (
        f"below in {negative} of {len(gaps)} {row}s, in {below} by more than {CLEAR:g} standard errors; above by as "
        f"much in {above}"
    )
    open_still = negative > len(gaps) / 2 and not (below or above)
    return UNDECIDED if open_still else claimed(fully=fully, partly=partly), words


def agreement(share: float, trials: int, printed: float, printed_trials: int) -> float:
    """Return by how many standard errors a share of trials is above a printed share of other trials.

    The error is that of a difference of two binomial shares with the pooled probability, of at least one count in all.

    Examples
    --------
    >>> round(agreement(0.40, 200, 0.30, 200), 2)
    2.1
    """
    return float((share - printed) / pooled_error(share, trials, printed, printed_trials))


def pooled_error(share: float | Array, trials: int, printed: float, printed_trials: int) -> Array:
    """Return the standard error of the difference of shares of trials and a printed share."""
    total = trials + printed_trials
    pooled = np.clip(np.asarray(share) * trials + printed * printed_trials, 1.0, total - 1.0) / total
    return np.asarray(np.sqrt(pooled * (1.0 - pooled) * (1.0 / trials + 1.0 / printed_trials)))
