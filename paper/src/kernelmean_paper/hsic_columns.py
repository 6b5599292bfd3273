"""Whether the columns of Table 4 agree with the measurements, under every reading of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .contradictions import TRIALS, equal_cells
from .experiment import Setting
from .hsic_reading import COLUMNS, Cells, Reading, flat, inconsistent
from .hsic_tests import FREE, PRINTED, TIED
from .judged import Verdict
from .paper import BASELINES, TABLE4
from .verdicts import CLEAR, NOT_REPRODUCED, REPRODUCED, UNDECIDED, as_large, held, verdict
from .wording import count

MARGIN = 0.10
"""A difference of powers that does not matter."""
CHANCE = 0.01

_DISAGREE = f"{UNDECIDED} where readings disagree"


def columns(readings: Sequence[Reading]) -> tuple[Verdict, ...]:
    """Return a verdict on every column and method; columns with cells that stand still are judged twice."""
    unlikely = flat(TABLE4)
    found = []
    for method in (*BASELINES, PRINTED, "MKME", TIED, "MMKME", FREE):
        found.append(_column(readings, method, frozenset()))
        if any(column == COLUMNS[method] for _, column in unlikely):
            found.append(_column(readings, method, unlikely))
    return (*found, _repeated(readings))


def under_all(
    claim: str, rule: str, readings: Sequence[Reading], judge: Callable[[Reading], tuple[str, str]]
) -> Verdict:
    """Return the outcome that all readings share, or that they disagree; with the evidence of each."""

    def judged() -> tuple[str, str]:
        found = [(reading.label, *judge(reading)) for reading in readings]
        outcomes = {outcome for _, outcome, _ in found}
        words = "; ".join(f"[{label}] {outcome}: {evidence}" for label, outcome, evidence in found)
        return outcomes.pop() if len(outcomes) == 1 else UNDECIDED, words

    rule = f"{rule}; judged under {count(len(readings), 'reading')} of the bandwidths and sizes, {_DISAGREE}"
    return verdict(claim, rule, readings[0].findings, all_settings(readings), judged)


def all_settings(readings: Sequence[Reading]) -> list[Setting]:
    """Return the settings of all readings, each once."""
    return list({one.key: one for reading in readings for one in reading.settings}.values())


def _column(readings: Sequence[Reading], method: str, unlikely: Cells) -> Verdict:
    """Return whether a measured column is the printed one."""
    column = COLUMNS[method]
    without = (
        "; also without cells that stand still between two levels, a rule that was written after the result was seen"
        if unlikely
        else ""
    )
    return under_all(
        f"The column {column} is that of {method}{without}",
        f"not reproduced: a cell is further from the paper's than chance allows all of them together at {CHANCE:.0%} "
        f"(Bonferroni; both are shares of trials); reproduced: no cell is, the mean difference lies within ±{MARGIN:g} "
        f"by {CLEAR:g} standard errors, and there are as many trials as the paper's {TRIALS}; otherwise {UNDECIDED}; "
        "cells that are no share of the trials, or that another level contradicts, are left out",
        readings,
        lambda reading: _judge_column(reading, method, unlikely),
    )


def _judge_column(reading: Reading, method: str, unlikely: Cells) -> tuple[str, str]:
    z = reading.deviations(method, unlikely)
    near, far = sum(abs(v) <= CLEAR for v in z.values()), max(z, key=lambda key: abs(z[key]))
    gap = reading.mean_gap(method, unlikely)
    if abs(z[far]) > bound(len(z)):
        outcome = NOT_REPRODUCED
    elif as_large(gap, MARGIN) and enough(reading):
        outcome = REPRODUCED
    else:
        outcome = UNDECIDED
    left = len(TABLE4.values) - len(z)
    words = (
        f"{near} of {len(z)} within {CLEAR:g} standard errors; the furthest, {row_words(far)}: "
        f"{reading.power(far, method):.3f}, the paper {TABLE4.values[far][COLUMNS[method]]:.3f}, {z[far]:+.1f} "
        f"standard errors; mean difference {gap}"
    )
    return outcome, words + (f"; left out: {count(left, 'cell')}" if left else "")


def enough(reading: Reading) -> bool:
    """Return whether every size has as many trials as in the paper."""
    return min(one.trials for one in reading.settings) >= TRIALS


def bound(cells: int) -> float:
    """Return the standard errors that any of ``cells`` cells exceeds with a probability of only 0.01.

    Examples
    --------
    >>> round(bound(15), 2)
    3.4
    """
    from scipy.stats import norm  # slow to import

    return float(norm.isf(CHANCE / (2 * cells)))


def _repeated(readings: Sequence[Reading]) -> Verdict:
    """Return whether MKME and KME agree in more rows of the printed columns than of the measured ones."""
    rows = equal_cells(TABLE4, "KME", "MKME")
    impossible = [key for key in rows if {(key, "KME"), (key, "MKME")} & inconsistent()]

    def judge(reading: Reading) -> tuple[str, str]:
        ours = [reading.resampled(method) for method in ("KME", "MKME")]
        equal = np.sum([np.isclose(ours[0][key], ours[1][key]) for key in TABLE4.values], axis=0)
        chance = float(np.mean(equal >= len(rows)))
        words = f"{np.mean(equal):.1f} rows on average, as many in {chance:.1%} of the resamples"
        return held(chance < CHANCE) if enough(reading) else UNDECIDED, words

    also = f", {count(len(impossible), 'contradicted cell')} among them" if impossible else ""
    return under_all(
        f"In {len(rows)} of {len(TABLE4.values)} rows the paper prints KME's number for MKME too{also}: more often "
        "than the two tests have the same power",
        f"holds: resampled trials give the two measured powers equal in as many rows in fewer than {CHANCE:.0%} of the "
        f"resamples; {UNDECIDED} with fewer trials than the paper's {TRIALS}, whose shares are coarser",
        readings,
        judge,
    )


def row_words(key: str) -> str:
    """Return a printed row in words."""
    level, share = key.split()
    return f"α = {level}, η = {share}"
