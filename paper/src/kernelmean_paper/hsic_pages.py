"""Tables, a chart and words on the power of HSIC on Eckerle4."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np

from kernelmean.report import Chart, Curve, Panel, TextTable

from .contradictions import TRIALS, falling_power, impossible_shares
from .experiment import Findings
from .hsic_columns import row_words
from .hsic_reading import (
    COLUMNS,
    LARGEST,
    LEVELS,
    NEARER,
    OWN,
    PERMUTED,
    SIZES,
    Reading,
    as_near,
    flat,
    inconsistent,
    rejected,
)
from .hsic_tests import FREE, GRID, PRINTED, TIED, WIDTHS
from .paper import BASELINES, ESTIMATORS, TABLE4
from .verdicts import CLEAR, binomial_range
from .wording import listed

_INTERVAL = 0.95
_FEWEST = min(SIZES.values())[0]


def powers(reading: Reading) -> TextTable:
    """Return the powers of the paper's estimators, with the printed ones in brackets and impossible ones marked."""
    wrong = inconsistent()
    rows: list[tuple[str, ...]] = []
    for key, printed in TABLE4.values.items():
        cells = []
        for method, column in COLUMNS.items():
            mark = "!" if (key, column) in wrong else ""
            cells.append(f"{reading.power(key, method):.3f} ({printed[column]:.3f}{mark})")
        rows.append((*key.split(), str(reading.setting(key.split()[1]).values["rows"]), *cells))
    caption = (
        f"Power of the paper's tests, {reading.label}; in brackets the paper's number of the column that is read, ! "
        "where it contradicts another or is no share of its trials"
    )
    return TextTable(caption, ("α", "η", "rows", *COLUMNS), tuple(rows))


def own_powers(readings: Sequence[Reading]) -> TextTable:
    """Return the powers of our tests beside MMKME's in the paper."""
    last = {reading.last: reading for reading in readings}
    rows: list[tuple[str, ...]] = []
    best = set()
    for key, printed in TABLE4.values.items():
        level, share = key.split()
        for reading in last.values() if share == LARGEST else readings[:1]:
            numbers = [reading.power(key, method) for method in OWN]
            best.add((len(rows), 4 + int(np.argmax(numbers))))
            size = str(reading.setting(share).values["rows"])
            rows.append((level, share, size, f"{printed['MMKME']:.3f}", *(f"{number:.3f}" for number in numbers)))
    header = ("α", "η", "rows", "paper: MMKME", *OWN)
    caption = "Power of tests of ours that choose no bandwidth, on the same subsamples"
    return TextTable(caption, header, tuple(rows), frozenset(best))


def which_reading(readings: Sequence[Reading]) -> TextTable:
    """Return how many cells of every column agree with the paper under every reading."""
    methods = (*BASELINES, PRINTED, "MKME", "MMKME", TIED, FREE)
    rows = tuple(
        (reading.label, *(_agreeing(reading, method) for method in methods), f"{reading.distance():.2f}")
        for reading in readings
    )
    caption = (
        f"Cells within {CLEAR:g} standard errors of the paper's, of those that contradict no others; and the root mean "
        "square distance of KME, S-KMSE and F-KMSE in standard errors"
    )
    return TextTable(caption, ("reading", *methods, "distance"), rows)


def _agreeing(reading: Reading, method: str) -> str:
    z = reading.deviations(method).values()
    return f"{sum(abs(one) <= CLEAR for one in z)} of {len(z)}"


def levels(findings: Findings) -> TextTable:
    """Return the rates at which our tests reject permuted pairs, with the exact binomial interval of the level."""
    rows: list[tuple[str, ...]] = []
    for level in LEVELS:
        for setting in findings.where(data=PERMUTED):
            found = [findings.values(setting, method, "p") for method in OWN]
            trials = len(found[0])
            if not trials:
                continue
            low, high = binomial_range(trials, float(level), _INTERVAL)
            interval = f"{low / trials:.3f} to {high / trials:.3f}"
            rates = [f"{rejected(p, level):.3f}" for p in found]
            rows.append((level, str(setting.values["rows"]), str(trials), *rates, interval))
    header = ("α", "rows", "trials", *OWN, f"{_INTERVAL:.0%} interval of α")
    return TextTable(
        "Rejections of permuted pairs; below the interval where so few rows have no p-value near α", header, tuple(rows)
    )


def chart(reading: Reading) -> Chart:
    """Return the powers against η at every level."""
    return Chart(
        "table4",
        f"Power on Eckerle4, {reading.label}",
        tuple(_panel(reading, level) for level in LEVELS),
        _seen(reading),
    )


def _panel(reading: Reading, level: str) -> Panel:
    x = tuple(float(share) for share in SIZES)
    curves = []
    for method in (*BASELINES, "MMKME", GRID, OWN[0]):
        y = [reading.power(f"{level} {share}", method) for share in SIZES]
        counts = [reading.trials(f"{level} {share}") for share in SIZES]
        errors = [np.sqrt(p * (1 - p) / n) for p, n in zip(y, counts, strict=True)]
        curves.append(Curve(method, x, tuple(y), tuple(map(float, errors))))
    for method in ("KME", "MMKME"):
        printed = tuple(TABLE4.values[f"{level} {share}"][method] for share in SIZES)
        curves.append(Curve(f"{method}, the paper", x, printed, dashed=True))
    return Panel(f"α = {level}", "η", "power", tuple(curves))


def _seen(reading: Reading) -> str:
    key = f"{LEVELS[0]} {LARGEST}"
    numbers = ", ".join(f"{method} {reading.power(key, method):.2f}" for method in (*BASELINES, "MMKME", *OWN))
    return (
        f"At α = {LEVELS[0]} and η = {LARGEST} the powers are: {numbers}; the paper prints "
        f"{TABLE4.values[key]['KME']:.2f} "
        f"for KME and {TABLE4.values[key]['MMKME']:.2f} for MMKME."
    )


def paragraphs(readings: Sequence[Reading]) -> tuple[str, ...]:
    """Return in words which reading is nearest to the paper, and what reaches the powers of its last column."""
    nearest = as_near(readings)[0]
    ahead = sum(nearest.power(key, GRID) >= row["MMKME"] for key, row in TABLE4.values.items())

    def top(method: str) -> float:
        return max(nearest.power(key, method) for key in TABLE4.values)

    return (
        f"{_nearest_words(readings)} {_left_out_words()}",
        f"MMKME's power here is at most {top('MMKME'):.3f}, the paper's goes up to "
        f"{max(row['MMKME'] for row in TABLE4.values.values()):.3f}. With one column each MMKME is MKME. Where "
        f"leave-one-out sees the pairs, it is at most {top(TIED):.3f} ({TIED}) and {top(FREE):.3f} ({FREE}).",
        f"The mean of studentised unbiased statistics over {len(WIDTHS) ** 2} pairs of bandwidths has at least the "
        f"paper's power for MMKME in {ahead} of {len(TABLE4.values)} rows; its grid was chosen with this table in "
        "sight, the default kernels of the adaptive test beside it were not. Both are exact permutation tests: the "
        f"last table has their rejections of permuted pairs. With {_FEWEST} rows there are {factorial(_FEWEST)} "
        "permutations, over which the unbiased statistic takes few different values.",
    )


def _nearest_words(readings: Sequence[Reading]) -> str:
    """Return in words which readings are nearest to the paper, and whether they can be distinguished."""
    nearest, *tied = as_near(readings)
    cells = sum(len(nearest.deviations(method)) for method in BASELINES)
    others = [reading.distance() for reading in readings if reading is not nearest]
    told = (
        f"{listed([one.label for one in tied])} cannot be told from it: it is nearer in fewer than {NEARER:.0%} of the "
        "resamples of the trials, so no verdict rests on the choice"
        if tied
        else f"it is nearer than every other in at least {NEARER:.0%} of the resamples of the trials"
    )
    return (
        f"Of {len(readings)} readings, {nearest.label}, is nearest to the paper: {nearest.agreeing()} of {cells} cells "
        f"of {listed(list(BASELINES))} are within {CLEAR:g} standard errors, the root mean square is "
        f"{nearest.distance():.2f} of them; under the other readings it is {min(others):.2f} to {max(others):.2f}; "
        f"{told}."
    )


def _left_out_words() -> str:
    """Return in words which printed numbers contradict others."""
    shares, falls = impossible_shares(TABLE4, TRIALS), falling_power(TABLE4)
    cells = len(TABLE4.values) * len(ESTIMATORS)
    still = sorted({f"{column} ({row_words(key)})" for key, column in flat(TABLE4)})
    return (
        f"As the errata list them, {len(shares)} powers are no share of {TRIALS} trials and {len(falls)} falls where "
        f"the level grows; these {len(inconsistent())} of {cells} cells are "
        f"left out. Unlikely, but not impossible: {listed(still)}, which stand still where the level grows; with them "
        "and without them there are two verdicts, and the rule that finds them was written after the result was seen."
    )
