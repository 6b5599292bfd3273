"""Claims of the paper and of this library about the power of HSIC on Eckerle4, judged by the measured powers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .contradictions import TRIALS
from .experiment import Findings, Setting
from .hsic_columns import CHANCE, MARGIN, columns, enough, under_all
from .hsic_reading import LARGEST, LEVELS, OWN, PERMUTED, SIZES, Reading, rejected, rejects
from .hsic_tests import FREE, GRID, TIED
from .judged import Verdict
from .paper import BASELINES, TABLE4
from .verdicts import CLEAR, FAILS, HOLDS, MOST, UNDECIDED, Estimate, binomial_range, claimed, held, no_worse, verdict

_CONFIDENCE = 0.999


def verdicts(readings: Sequence[Reading]) -> tuple[Verdict, ...]:
    """Return all verdicts: those on the paper's columns are judged under every reading."""
    last = {reading.last: reading for reading in readings}
    return (
        *columns(readings),
        *(_wins(readings, method) for method in ("MMKME", FREE)),
        _same(readings),
        *(_reaches(reading, method) for reading in last.values() for method in OWN),
        _valid(readings[0].findings),
    )


def _wins(readings: Sequence[Reading], method: str) -> Verdict:
    """Return whether MMKME has the largest power in every row, as the paper says."""

    def judge(reading: Reading) -> tuple[str, str]:
        others = [*BASELINES, TIED if method == FREE else "MKME"]
        leads = {key: [_lead(reading, key, method, other) for other in others] for key in TABLE4.values}
        rows = len(leads)
        ahead = sum(all(gap.mean > 0 for gap in gaps) for gaps in leads.values())
        clearly = sum(all(gap.above() for gap in gaps) for gaps in leads.values())
        behind = sum(any(gap.below() for gap in gaps) for gaps in leads.values())
        least = [min(gap.mean for gap in gaps) for gaps in leads.values()]
        words = (
            f"ahead of all others in {ahead} of {rows} rows, in {clearly} by more than {CLEAR:g} standard errors; "
            f"behind one of them by as much in {behind}; from {min(least):+.3f} to {max(least):+.3f} from the best of "
            "the others"
        )
        fully = ahead == rows and clearly >= MOST * rows and not behind
        return claimed(fully=fully, partly=ahead > rows / 2 and clearly > behind), words

    return under_all(
        f"MMKME is better than all others in all settings ({method})",
        f"reproduced: its power is the largest in every row, and above each other one by more than {CLEAR:g} standard "
        f"errors of the paired difference in at least {MOST:.0%} of them; same ordering: it is the largest in more "
        "than half of the rows, and clearly so in more of them than it is clearly below another",
        readings,
        judge,
    )


def _lead(reading: Reading, key: str, method: str, other: str) -> Estimate:
    """Return how much more often one test rejects than another in the same trials."""
    level, share = key.split()
    ours, theirs = (rejects(reading.pvalues(share, name), level).astype(float) for name in (method, other))
    return Estimate.change(ours, theirs)


def _same(readings: Sequence[Reading]) -> Verdict:
    """Return whether MMKME rejects in the same trials as MKME, with one σ² per variable."""

    def judge(reading: Reading) -> tuple[str, str]:
        equal = float(
            np.mean(
                [
                    np.mean(rejects(reading.pvalues(share, "MMKME"), at) == rejects(reading.pvalues(share, "MKME"), at))
                    for share in SIZES
                    for at in LEVELS
                ]
            )
        )
        return held(equal >= 1 - CHANCE), f"the same decision in {equal:.2%} of the tests"

    return under_all(
        "x and y have one column each, so as described MMKME is MKME",
        f"holds: both decide alike in at least {1 - CHANCE:.0%} of all tests (their searches differ by rounding)",
        readings,
        judge,
    )


def _reaches(reading: Reading, method: str) -> Verdict:
    """Return whether a valid test of ours has the power that the paper prints for MMKME at η = 0.30."""
    keys = [f"{level} {LARGEST}" for level in LEVELS]
    permuted = reading.setting(LARGEST, PERMUTED)

    def judge() -> tuple[str, str]:
        ours = [reading.power(key, method) for key in keys]
        goals = [TABLE4.values[key]["MMKME"] for key in keys]
        errors = [reading.error_of(key, method, goal) for key, goal in zip(keys, goals, strict=True)]
        gaps = [Estimate(a - b, error) for a, b, error in zip(ours, goals, errors, strict=True)]
        high = _too_often(reading.findings, permuted, method)
        words = f"{_slashed(ours)}, the paper {_slashed(goals)} at α = {'/'.join(LEVELS)}"
        if high:
            return FAILS, f"{words}; not valid: {'; '.join(high)}"
        if enough(reading) and _sees(permuted) and all(no_worse(gap, MARGIN) for gap in gaps):
            return HOLDS, words
        return FAILS if any(gap.below() for gap in gaps) else UNDECIDED, words

    made = ", whose grid was chosen with this table in sight" if method == GRID else ""
    return verdict(
        f"A valid test has the power that the paper prints for MMKME at η = {LARGEST} ({method}, {reading.last} rows"
        f"{made})",
        f"holds: at every level it is lower by less than {MARGIN:g}, by {CLEAR:g} standard errors of the difference, "
        f"with as many trials as the paper's {TRIALS}, and permuted pairs of this size are rejected no more often than "
        f"α allows (as below); fails: it is not valid, or not so and lower by more than {CLEAR:g} standard errors; "
        f"otherwise {UNDECIDED}",
        reading.findings,
        [reading.setting(LARGEST), permuted],
        judge,
    )


def _too_often(findings: Findings, setting: Setting, method: str) -> list[str]:
    """Return, in words, the levels at which permuted pairs are rejected more often than the level allows."""
    pvalues = findings.values(setting, method, "p")
    found = []
    for level in LEVELS:
        count = round(rejected(pvalues, level) * len(pvalues))
        if count > binomial_range(len(pvalues), float(level), _CONFIDENCE)[1]:
            found.append(f"{method}, {setting.values['rows']} rows, α = {level}: {count} of {len(pvalues)}")
    return found


def _sees(setting: Setting) -> bool:
    """Return whether there are enough trials to detect a level that is too high by the margin."""
    most = (binomial_range(setting.trials, float(level), _CONFIDENCE)[1] / setting.trials for level in LEVELS)
    return all(high <= float(level) + MARGIN for high, level in zip(most, LEVELS, strict=True))


def _valid(findings: Findings) -> Verdict:
    """Return whether tests of ours reject permuted pairs no more often than their level allows."""
    settings = findings.where(data=PERMUTED)

    def judge() -> tuple[str, str]:
        high = [words for s in settings for m in OWN for words in _too_often(findings, s, m)]
        if high:
            return FAILS, "; ".join(high)
        words = f"none of {len(settings) * len(OWN) * len(LEVELS)} rates is above its bound"
        return HOLDS if all(map(_sees, settings)) else UNDECIDED, words

    return verdict(
        "The level of our tests is valid: permuted pairs are rejected no more often than at α",
        f"fails: a rate is above the upper end of the exact two-sided {_CONFIDENCE:.1%} binomial interval of α; holds: "
        f"none is, and these ends are at most {MARGIN:g} above α; otherwise {UNDECIDED}",
        findings,
        settings,
        judge,
    )


def _slashed(numbers: Sequence[float]) -> str:
    return "/".join(f"{number:.3f}" for number in numbers)
