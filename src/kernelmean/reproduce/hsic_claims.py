"""What the paper and this library claim of the power of HSIC on Eckerle4, judged from the measured powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._table import count
from ..report import Verdict
from .contradictions import TRIALS
from .experiment import Findings
from .hsic_reading import COLUMNS, LEVELS, OWN, PERMUTED, SIZES, Reading, rejected
from .hsic_tests import FREE, PRINTED, TIED
from .paper import BASELINES, TABLE4
from .verdicts import CLEAR, agreement, binomial_range, claimed, held, verdict

_CHANCE = 0.01
_CONFIDENCE = 0.999


def verdicts(nearest: Reading, readings: Sequence[Reading]) -> tuple[Verdict, ...]:
    """Return all verdicts: those on the paper's columns under the reading that is nearest to it."""
    last = {reading.last: reading for reading in readings}
    return (
        *(_column(nearest, method) for method in (*BASELINES, PRINTED)),
        *(_column(nearest, method) for method in ("MMKME", FREE)),
        *(_wins(nearest, method) for method in ("MMKME", FREE)),
        _same(nearest),
        *(_reaches(reading, method) for reading in last.values() for method in OWN),
        _valid(readings[0].findings),
    )


def _column(reading: Reading, method: str) -> Verdict:
    """Return whether a measured column is the printed one."""
    column = COLUMNS[method]

    def judge() -> tuple[str, str]:
        z = reading.deviations(method)
        near, far = sum(abs(v) <= CLEAR for v in z.values()), max(z, key=lambda key: abs(z[key]))
        outcome = claimed(fully=bool(abs(z[far]) <= bound(len(z))), partly=False)
        left = len(TABLE4.values) - len(z)
        words = (
            f"{near} of {len(z)} within {CLEAR:g} standard errors; the furthest, {_row_words(far)}: "
            f"{reading.power(far, method):.3f}, the paper {TABLE4.values[far][column]:.3f}, {z[far]:+.1f} standard "
            "errors"
        )
        return outcome, words + (f"; left out: {count(left, 'cell')} that cannot be right" if left else "")

    return verdict(
        f"The column {column} is that of {method} ({reading.label})",
        "reproduced: no cell, but for those that contradict others, is further from the paper's than chance allows all "
        f"of them together at {_CHANCE:.0%} (Bonferroni; both are shares of trials); otherwise not reproduced",
        reading.findings,
        reading.settings,
        judge,
    )


def bound(cells: int) -> float:
    """Return the standard errors that none of so many cells exceeds but with probability 0.01.

    Examples
    --------
    >>> round(bound(15), 2)
    3.4
    """
    from scipy.stats import norm  # slow to import

    return float(norm.isf(_CHANCE / (2 * cells)))


def _wins(reading: Reading, method: str) -> Verdict:
    """Return whether MMKME has the largest power in every row, as the paper says."""

    def judge() -> tuple[str, str]:
        others = [*BASELINES, TIED if method == FREE else "MKME"]
        gaps = [reading.power(key, method) - max(reading.power(key, m) for m in others) for key in TABLE4.values]
        wins, rows = sum(gap > 0 for gap in gaps), len(gaps)
        words = f"in {wins} of {rows} rows; from {min(gaps):+.3f} to {max(gaps):+.3f} from the best of the others"
        return claimed(fully=wins == rows, partly=wins > rows / 2), words

    return verdict(
        f"MMKME is better than all others in all settings ({method}; {reading.label})",
        "reproduced: its power is the largest in every row; same ordering: in more than half of the rows",
        reading.findings,
        reading.settings,
        judge,
    )


def _same(reading: Reading) -> Verdict:
    """Return whether MMKME rejects where MKME does, σ² per variable."""

    def judge() -> tuple[str, str]:
        equal = float(
            np.mean(
                [
                    np.mean((reading.pvalues(share, "MMKME") <= at) == (reading.pvalues(share, "MKME") <= at))
                    for share in SIZES
                    for at in map(float, LEVELS)
                ]
            )
        )
        return held(equal >= 1 - _CHANCE), f"the same decision in {equal:.2%} of the tests"

    return verdict(
        "x and y have one column each, so as described MMKME is MKME",
        f"holds: both decide alike in at least {1 - _CHANCE:.0%} of all tests (their searches differ by rounding)",
        reading.findings,
        reading.settings,
        judge,
    )


def _reaches(reading: Reading, method: str) -> Verdict:
    """Return whether a test of ours has the power that the paper prints for MMKME at η = 0.30."""
    keys = [f"{level} 0.30" for level in LEVELS]

    def judge() -> tuple[str, str]:
        ours = [reading.power(key, method) for key in keys]
        goals = [TABLE4.values[key]["MMKME"] for key in keys]
        trials = reading.trials(keys[0])
        reached = all(agreement(a, trials, b, TRIALS) >= -CLEAR for a, b in zip(ours, goals, strict=True))
        return held(reached), f"{_slashed(ours)}, the paper {_slashed(goals)} at α = {'/'.join(LEVELS)}"

    return verdict(
        f"A valid test has the power that the paper prints for MMKME at η = 0.30 ({method}, {reading.last} rows)",
        f"holds: at no level is it lower by more than {CLEAR:g} standard errors of the difference",
        reading.findings,
        [reading.setting("0.30")],
        judge,
    )


def _valid(findings: Findings) -> Verdict:
    """Return whether tests of ours reject permuted pairs no more often than their level allows."""
    settings = findings.where(data=PERMUTED)

    def judge() -> tuple[str, str]:
        cells = [(s, m, level) for s in settings for m in OWN for level in LEVELS]
        high = []
        for s, m, level in cells:
            pvalues = findings.values(s, m, "p")
            count = round(rejected(pvalues, level) * len(pvalues))
            if count > binomial_range(len(pvalues), float(level), _CONFIDENCE)[1]:
                high.append(f"{m}, {s.values['rows']} rows, α = {level}: {count} of {len(pvalues)}")
        return held(not high), "; ".join(high) or f"none of {len(cells)} rates is above its bound"

    return verdict(
        "The level of our tests is valid: permuted pairs are rejected no more often than at α",
        f"holds: no rate is above the upper end of the exact two-sided {_CONFIDENCE:.1%} binomial interval of α",
        findings,
        settings,
        judge,
    )


def _slashed(numbers: Sequence[float]) -> str:
    return "/".join(f"{number:.3f}" for number in numbers)


def _row_words(key: str) -> str:
    level, share = key.split()
    return f"α = {level}, η = {share}"
