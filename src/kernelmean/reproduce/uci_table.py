"""Table 3 of the paper: densities of fifteen data sets by kernel mean matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._array import Array
from .._table import Frame, listed
from ..report import Section, Table, Verdict
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
    PROTOCOLS,
    REFERENCE,
    START,
    quietly,
    reference,
    standard_normal,
    standardized_split,
    unit_range,
)
from .experiment import Context, Finding, Findings, Setting, Size
from .paper import BASELINES, ESTIMATORS, TABLE3, PrintedTable
from .verdicts import CLEAR, NOT_MEASURED, SINGLE, Estimate, claimed, verdict

RANDOMIZATIONS = 10
QUICK = 3
NORMAL, UNIT_RANGE = "standard normal", "columns in [-1, 1]"
COLUMNS = "columns"

_SAME, _NEAR, _CLEAR_SETS, _BEST_SETS = 0.05, 1.0, 12, 12
_MARGIN = 0.25
"""Nats a column that numbers on the same data do not differ by."""
_AGREE = 3.0


def columns(frame: Frame) -> Array:
    """Return all columns but the last one, the target, shape (n, d); blanks are NaN."""
    return np.column_stack([frame[name] for name in frame.names[:-1]])


class Table3(DensityExperiment):
    """Fifteen sets, 30 % test rows, ten randomizations, every protocol on the same splits."""

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
        """Return the protocols side by side, what is comparable with the paper and why, and verdicts."""
        cells = {protocol: self.cells(findings, protocol) for protocol in PROTOCOLS}
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
            verdicts=(*_claims(cells), *_own_claims(cells, sets), near_paper(sets)),
            tables=(
                *(means_table(PROTOCOL_WORDS[name].capitalize(), "set", some) for name, some in shown.items() if some),
                *([_side_by_side(measured)] if measured else []),
            ),
            settings=_SETTINGS + MODES,
        )


_SETTINGS = (
    (
        "Rows",
        "30 % test rows, a new split in every trial; rows with a blank cell are dropped (primary has 132 without)",
    ),
    ("Scale", "z-scores, mean and deviation of the training rows; columns constant there are dropped"),
    ("Categories", "their codes are used as numbers, as the dimensions of the paper's numbers suggest"),
    ("Randomizations", f"{RANDOMIZATIONS}, as the paper says; fewer in a quick run"),
    (
        "Reference",
        "scikit-learn's GaussianMixture: 1 to 20 components, four covariance types, reg_covar .01 and .1, chosen by "
        "five folds of the training rows",
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
        """Return the mean of a target in the protocol nearest to the paper."""
        return self.cells["joint"].mean(name)

    @property
    def rescaled(self) -> float:
        """What MKME's number is when the same density is written for columns in [-1, 1]."""
        return self.joint("MKME") + self.reference.mean(UNIT_RANGE, "shift")

    @property
    def obstacle(self) -> str:
        """Why the paper's numbers cannot be of the z-scored set; empty where they can."""
        printed = self.reference.printed
        return incomparable(
            min(printed.values()),
            normal=self.normal,
            reference=min(self.gmm, *(cell.mean(m) for cell in self.cells.values() for m in ESTIMATORS)),
            columns=int(self.reference.mean(COLUMNS, "count")),
        )


def incomparable(best: float, *, normal: float, reference: float, columns: int) -> str:
    """Return why a printed number cannot be of the z-scored data: far above no model at all, or far below the best.

    Far is more than 0.25 nats a column.

    Examples
    --------
    >>> incomparable(27.0, normal=19.9, reference=13.2, columns=14)
    'worse than a standard normal, 19.9'
    >>> incomparable(19.0, normal=19.9, reference=13.2, columns=14)
    ''
    """
    if best > normal + _MARGIN * columns:
        return f"worse than a standard normal, {normal:.1f}"
    if best < reference - _MARGIN * columns:
        return f"out of reach: no density here is below {reference:.1f}"
    return ""


def near_paper(sets: Sequence[Set]) -> Verdict:
    """Return whether the numbers of the nearest protocol are the paper's, where these can be of the same data."""

    def judge() -> tuple[str, str]:
        usable = [one.cells["joint"] for one in sets if not one.obstacle]
        if any(len(cell.values("KME")) < 2 for cell in usable):
            return NOT_MEASURED, SINGLE
        near = {(c.label, name): _agrees(c, name) for c in usable for name in ESTIMATORS}
        share = float(np.mean(list(near.values()))) if near else 0.0
        far = [c.label for c in usable if not any(near[c.label, name] for name in ESTIMATORS)]
        words = f"{sum(near.values())} of {len(near)} numbers on {len(usable)} comparable sets"
        return claimed(fully=share >= 0.9, partly=False), words + (f"; none of {listed(far)}" if far else "")

    cells = [*(one.cells["joint"] for one in sets), *(one.reference for one in sets)]
    return verdict(
        f"The numbers themselves, on comparable sets ({PROTOCOL_WORDS['joint']})",
        f"reproduced: 90 % of them differ from the paper's by at most {_AGREE:g} standard errors of a difference, √2 "
        "times our own; otherwise not reproduced",
        cells[0].findings,
        [cell.setting for cell in cells],
        judge,
    )


def _agrees(cell: Cell, name: str) -> bool:
    found = Estimate.of(cell.values(name))
    return abs(found.mean - cell.printed[name]) <= _AGREE * np.sqrt(2.0) * found.error


def _claims(cells: Mapping[str, Sequence[Cell]]) -> list[Verdict]:
    return [comparison.verdict(some, protocol) for protocol, some in cells.items() for comparison in COMPARISONS]


def _own_claims(cells: Mapping[str, Sequence[Cell]], sets: Sequence[Set]) -> list[Verdict]:
    """Return what this library says of the sets."""
    joint = cells["joint"]

    def lower() -> tuple[bool, str]:
        gaps = [cell.change("MKME", "KME") for cell in joint]
        below, above = sum(gap.below() for gap in gaps), sum(gap.above() for gap in gaps)
        return below >= _CLEAR_SETS and not above, differences(joint, "MKME", "KME")

    def best() -> tuple[bool, str]:
        ahead = [one.name for one in sets if one.gmm < min(c.mean(m) for c in one.cells.values() for m in ESTIMATORS)]
        return len(ahead) >= _BEST_SETS, f"on {len(ahead)} of {len(sets)} sets"

    def every() -> list[Cell]:
        return [*(cell for one in sets for cell in one.cells.values()), *(one.reference for one in sets)]

    return [
        claim_of_cells(
            f"MKME's mean is below KME's nearly everywhere ({PROTOCOL_WORDS['joint']})",
            f"holds: below by more than {CLEAR:g} standard errors of the paired difference on at least {_CLEAR_SETS} "
            "sets, above by as much on none",
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
    reasons = [one for one in sets if one.obstacle]
    if not reasons:
        return "Nothing rules out that the paper's numbers are of the same z-scored sets."
    words = "; ".join(
        f"{one.name} (the paper's best is {min(one.reference.printed.values()):.2f}: {one.obstacle}; MKME's density "
        f"here, written for columns scaled to [-1, 1], has {one.rescaled:.2f})"
        for one in reasons
    )
    return f"Not comparable with the paper's numbers on z-scored columns: {words}."


def _side_by_side(sets: Sequence[Set]) -> Table:
    header = (
        *("set", "paper: KME", "paper: MKME", *(f"MKME, {protocol}" for protocol in PROTOCOLS), NAMES[START]),
        *(NAMES[REFERENCE], NORMAL, "MKME, joint, columns in [-1, 1]", "not comparable because"),
    )
    rows = tuple(
        (
            one.name,
            *(f"{number:.2f}" for number in _numbers(one)),
            one.obstacle or "-",
        )
        for one in sets
    )
    return Table(
        "Protocols side by side, and what else is known of the sets: mean negative log-likelihoods", header, rows
    )


def _numbers(one: Set) -> list[float]:
    printed = one.reference.printed
    mkme = [cell.mean("MKME") for cell in one.cells.values()]
    start = one.cells["stopped"].mean(NAMES[START])
    return [printed["KME"], printed["MKME"], *mkme, start, one.gmm, one.normal, one.rescaled]
