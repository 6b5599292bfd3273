"""Table 3 of the paper: densities of fifteen data sets by kernel mean matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernelmean.report import TextTable

from .arrays import Array
from .density_table import (
    COMPARISONS,
    MODES,
    NAMES,
    NLL,
    PROTOCOL_WORDS,
    Cell,
    DensityExperiment,
    as_findings,
    claim_of_cells,
    differences,
    matched,
    means_table,
    protocol_words,
    spread_verdict,
    start_verdict,
)
from .density_tasks import (
    FOLDS,
    PROTOCOLS,
    REFERENCE,
    REFERENCE_GRID,
    START,
    TEST_SHARE,
    quietly,
    reference,
    standard_normal,
    standardized_split,
    unit_range,
)
from .experiment import Columns, Context, Finding, Findings, Setting, Size
from .judged import Section, Verdict
from .paper import BASELINES, ESTIMATORS, TABLE3, PrintedTable
from .verdicts import (
    CLEAR,
    NOT_MEASURED,
    NOT_REPRODUCED,
    REPRODUCED,
    SINGLE,
    UNDECIDED,
    Estimate,
    as_large,
    verdict,
)
from .wording import listed

RANDOMIZATIONS = 10
QUICK = 3
NORMAL, UNIT_RANGE = "standard normal", "columns in [-1, 1]"
COLUMNS = "columns"

_SAME, _NEAR, _CLEAR_SETS, _BEST_SETS = 0.05, 1.0, 12, 12
_MARGIN = 0.25
"""Nats per column by which numbers on the same data do not differ."""
_MARGINS = (None, 0.1, _MARGIN, 0.5)
"""None leaves no set out."""
_AGREE, _MOST = 0.5, 0.9
"""Nats by which a number may differ from the paper's, and the share of numbers that must be that near."""


def columns(data: Columns) -> Array:
    """Return all columns but the last one, the target, shape (n, d); blanks are NaN."""
    return np.column_stack(list(data.values())[:-1])


class Table3(DensityExperiment):
    """Fifteen sets, test rows, ten randomizations, every protocol on the same splits."""

    name: ClassVar[str] = "table3"
    title: ClassVar[str] = "Table 3: densities of fifteen data sets"
    printed: PrintedTable = TABLE3

    def settings(self, size: Size) -> list[Setting]:
        """Return every set under every protocol, and the reference."""
        return [
            Setting({"set": name, "protocol": protocol}, RANDOMIZATIONS if size is Size.FULL else QUICK)
            for protocol in (*PROTOCOLS, "reference")
            for name in sorted(self.printed.values)
        ]

    def needs(self, setting: Setting) -> tuple[str, ...]:
        """Return the data set."""
        return (str(setting.values["set"]),)

    def row(self, setting: Setting) -> str:
        """Return the name of the data set."""
        return str(setting.values["set"])

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        """Return the held-out negative log-likelihoods of one split."""
        table = columns(context.load(self.row(setting)))
        task = standardized_split(table, rng, int(rng.integers(2**31)))
        protocol = str(setting.values["protocol"])
        if protocol in PROTOCOLS:
            return matched(task, protocol)
        return [
            *as_findings(quietly(reference, task)),
            Finding(NORMAL, NLL, standard_normal(task).nll),
            Finding(UNIT_RANGE, "shift", unit_range(task)),
            Finding(COLUMNS, "count", float(task.train.shape[1])),
        ]

    def section(self, findings: Findings) -> Section:
        """Return the protocols side by side, which numbers are comparable with the paper and why, and verdicts."""
        cells = {protocol: self.cells(findings, protocol) for protocol in PROTOCOL_WORDS}
        sets = [
            Set(dict(zip(cells, row, strict=True)), reference)
            for reference, *row in zip(self.cells(findings, "reference"), *cells.values(), strict=True)
        ]
        measured = [one for one in sets if one.measured]
        shown = {protocol: [cell for cell in some if cell.measured] for protocol, some in cells.items()}
        return Section(
            self.title,
            paragraphs=(
                *(protocol_words(protocol, some) for protocol, some in shown.items() if some),
                *([_best_words(measured), _scale_words(measured)] if measured else []),
            ),
            verdicts=(*_claims(cells), *_own_claims(cells, sets), *_near(sets)),
            tables=(
                *(means_table(PROTOCOL_WORDS[name].capitalize(), "set", some) for name, some in shown.items() if some),
                *([_side_by_side(measured)] if measured else []),
            ),
            settings=_SETTINGS + MODES,
        )


_SETTINGS = (
    (
        "Rows",
        f"{TEST_SHARE:.0%} test rows, a new split in every trial; rows with a blank cell are dropped",
    ),
    ("Scale", "z-scores, mean and deviation of the training rows; columns constant there are dropped"),
    ("Categories", "their codes are used as numbers, as the dimensions of the paper's numbers suggest"),
    ("Randomizations", f"{RANDOMIZATIONS}, as the paper says; fewer in a quick run"),
    (
        "Reference",
        f"scikit-learn's GaussianMixture, chosen by {FOLDS} folds of the training rows: "
        + "; ".join(f"{name} in {', '.join(map(str, options))}" for name, options in REFERENCE_GRID.items()),
    ),
)


@dataclass(frozen=True)
class Set:
    """A data set: its cells under every protocol, and the reference."""

    cells: Mapping[str, Cell]
    reference: Cell

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.reference.label

    @property
    def measured(self) -> bool:
        """Whether there is a trial of every protocol and of the reference."""
        return len(self.reference.values(NORMAL)) > 0 and all(cell.measured for cell in self.cells.values())

    @property
    def gmm(self) -> float:
        """The mean of the reference."""
        return self.reference.mean(NAMES[REFERENCE])

    @property
    def normal(self) -> float:
        """The mean of the standard normal."""
        return self.reference.mean(NORMAL)

    def joint(self, name: str) -> float:
        """Return the mean of a target when nothing is stopped."""
        return self.cells["joint"].mean(name)

    @property
    def rescaled(self) -> float:
        """MKME's number for the same density on columns scaled to [-1, 1]."""
        return self.joint("MKME") + self.reference.mean(UNIT_RANGE, "shift")

    def obstacle(self, margin: float) -> str:
        """Return why the paper's numbers cannot come from the z-scored set; empty if they can."""
        printed = self.reference.printed
        return incomparable(
            min(printed.values()),
            normal=self.normal,
            reference=min(self.gmm, *(cell.mean(m) for cell in self.cells.values() for m in ESTIMATORS)),
            slack=margin * self.reference.mean(COLUMNS, "count"),
        )


def incomparable(best: float, *, normal: float, reference: float, slack: float) -> str:
    """Return why a printed number cannot come from the z-scored data: far above no model, or far below the best.

    Far means more than ``slack`` nats.

    Examples
    --------
    >>> incomparable(27.0, normal=19.9, reference=13.2, slack=3.5)
    'worse than a standard normal, 19.9'
    >>> incomparable(19.0, normal=19.9, reference=13.2, slack=3.5)
    ''
    """
    if best > normal + slack:
        return f"worse than a standard normal, {normal:.1f}"
    if best < reference - slack:
        return f"out of reach: no density here is below {reference:.1f}"
    return ""


def near_paper(sets: Sequence[Set], protocol: str, margin: float | None) -> Verdict:
    """Return whether the numbers of a protocol are the paper's, on all sets or on those comparable within a margin.

    Parameters
    ----------
    margin : float or None
        Nats per column, as in `incomparable`; None for all sets.
    """

    def judge() -> tuple[str, str]:
        usable = [one.cells[protocol] for one in sets if margin is None or not one.obstacle(margin)]
        if any(len(cell.values("KME")) < 2 for one in sets for cell in one.cells.values()):
            return NOT_MEASURED, SINGLE
        near = {(c.label, name): _agrees(c, name) for c in usable for name in ESTIMATORS}
        same, other = (sum(answer is is_so for answer in near.values()) for is_so in (True, False))
        far = [c.label for c in usable if all(near[c.label, name] is False for name in ESTIMATORS)]
        words = (
            f"of {len(near)} numbers on {len(usable)} sets {same} are clearly within the margin, {other} clearly beyond"
        )
        return _of_numbers(same, other, len(near), few), words + (f"; all of {listed(far)} are" if far else "")

    cells = [*(one.cells[protocol] for one in sets), *(one.reference for one in sets)]
    few = min(cell.setting.trials for cell in cells) < RANDOMIZATIONS
    where = "on all sets" if margin is None else f"on sets comparable by {margin:g} nats a column"
    return verdict(
        f"The numbers themselves, {where} ({PROTOCOL_WORDS[protocol]})",
        f"reproduced: {_MOST:.0%} of them differ from the paper's by less than {_AGREE:g} nats, by {CLEAR:g} standard "
        f"errors of a difference, √2 times our own, in at least {RANDOMIZATIONS} trials; not reproduced: more than "
        f"{1 - _MOST:.0%} differ by clearly more; otherwise {UNDECIDED}",
        cells[0].findings,
        [cell.setting for cell in cells],
        judge,
    )


def _of_numbers(same: int, other: int, total: int, few: bool) -> str:
    """Return the outcome from how many numbers agree, and how many clearly do not."""
    if other > (1 - _MOST) * total:
        return NOT_REPRODUCED
    return REPRODUCED if total and same >= _MOST * total and not few else UNDECIDED


def _agrees(cell: Cell, name: str) -> bool | None:
    """Return whether a number is the paper's: clearly, clearly not, or open; assumes that the paper's error is ours."""
    found = Estimate.of(cell.values(name)).shifted(-cell.printed[name])
    return as_large(Estimate(found.mean, np.sqrt(2.0) * found.error, found.freedom), _AGREE)


def _claims(cells: Mapping[str, Sequence[Cell]]) -> list[Verdict]:
    return [comparison.verdict(some, protocol) for protocol, some in cells.items() for comparison in COMPARISONS]


def _near(sets: Sequence[Set]) -> list[Verdict]:
    """Return whether the numbers are the paper's, for every protocol and every rule for leaving out sets."""
    return [near_paper(sets, protocol, margin) for protocol in PROTOCOL_WORDS for margin in _MARGINS]


def _own_claims(cells: Mapping[str, Sequence[Cell]], sets: Sequence[Set]) -> list[Verdict]:
    """Return verdicts on this library's claims about the sets."""
    joint = cells["joint"]

    def lower() -> tuple[bool | None, str]:
        gaps = [cell.change("MKME", "KME") for cell in joint]
        below, above = sum(gap.below() for gap in gaps), sum(gap.above() for gap in gaps)
        can = not above and sum(gap.mean < 0 for gap in gaps) >= _CLEAR_SETS
        return True if can and below >= _CLEAR_SETS else None if can else False, differences(joint, "MKME", "KME")

    def best() -> tuple[bool, str]:
        ahead = [one.name for one in sets if one.gmm < min(c.mean(m) for c in one.cells.values() for m in ESTIMATORS)]
        return len(ahead) >= _BEST_SETS, f"on {len(ahead)} of {len(sets)} sets"

    def every() -> list[Cell]:
        return [*(cell for one in sets for cell in one.cells.values()), *(one.reference for one in sets)]

    return [
        claim_of_cells(
            f"MKME's mean is below KME's nearly everywhere ({PROTOCOL_WORDS['joint']})",
            f"holds: below by more than {CLEAR:g} standard errors of the paired difference on at least {_CLEAR_SETS} "
            f"sets, above by as much on none; {UNDECIDED}: below on as many, clearly so on fewer, above on none",
            joint,
            lower,
        ),
        spread_verdict(cells["weights"], _SAME),
        start_verdict(cells["stopped"], _NEAR),
        claim_of_cells(
            "A cross-validated Gaussian mixture is the better density on most sets",
            f"holds: its mean is below that of every target under every protocol on at least {_BEST_SETS} sets",
            every(),
            best,
        ),
    ]


def _best_words(sets: Sequence[Set]) -> str:
    ahead = sum(one.gmm < min(c.mean(m) for c in one.cells.values() for m in ESTIMATORS) for one in sets)
    wins = sum(min(one.reference.printed[m] for m in BASELINES) > one.gmm for one in sets)
    return (
        "scikit-learn's GaussianMixture, its options cross-validated on the training rows, is a better density than "
        f"ten spherical components matched to any target on {ahead} of {len(sets)} sets, and better than all of the "
        f"paper's baselines on {wins}: the table compares targets, it does not show the best way to estimate a density."
    )


def _scale_words(sets: Sequence[Set]) -> str:
    reasons = [one for one in sets if one.obstacle(_MARGIN)]
    if not reasons:
        return "Nothing rules out that the paper's numbers are of the same z-scored sets."
    words = "; ".join(
        f"{one.name} (the paper's best is {min(one.reference.printed.values()):.2f}: {one.obstacle(_MARGIN)}; MKME's "
        f"density here, written for columns scaled to [-1, 1], has {one.rescaled:.2f})"
        for one in reasons
    )
    return f"Not comparable with the paper's numbers on z-scored columns: {words}."


def _side_by_side(sets: Sequence[Set]) -> TextTable:
    header = (
        *("set", "paper: KME", "paper: MKME", *(f"MKME, {protocol}" for protocol in PROTOCOL_WORDS), NAMES[START]),
        *(NAMES[REFERENCE], NORMAL, "MKME, joint, columns in [-1, 1]", "not comparable because"),
    )
    rows = tuple(
        (
            one.name,
            *(f"{number:.2f}" for number in _numbers(one)),
            one.obstacle(_MARGIN) or "-",
        )
        for one in sets
    )
    return TextTable(
        "Protocols side by side, and what else is known of the sets: mean negative log-likelihoods", header, rows
    )


def _numbers(one: Set) -> list[float]:
    printed = one.reference.printed
    mkme = [cell.mean("MKME") for cell in one.cells.values()]
    start = one.cells["stopped"].mean(NAMES[START])
    return [printed["KME"], printed["MKME"], *mkme, start, one.gmm, one.normal, one.rescaled]
