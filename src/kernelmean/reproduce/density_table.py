"""What the tables of densities share: trials of one protocol, tables beside the paper's numbers, and verdicts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

from .._array import Array
from .._table import listed
from ..report import Table, Verdict
from .density_tasks import OWN, PROTOCOLS, REFERENCE, START, TARGETS, Fit, Task, quietly
from .experiment import Experiment, Finding, Findings, Setting
from .paper import BASELINES, ESTIMATORS, PrintedTable
from .verdicts import CLEAR, NOT_MEASURED, SINGLE, Estimate, held, ordering, ordering_rule, verdict

NLL = "nll"
MARGINALIZED = ("MKME", "MMKME")
NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict(zip(TARGETS, ESTIMATORS, strict=True)),
        **{target + OWN: name + OWN for target, name in zip(TARGETS, ESTIMATORS, strict=True)},
        START: "k-means start",
        REFERENCE: "GaussianMixture",
    }
)
"""The names of methods in findings."""

PROTOCOL_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "joint": "weights, means and variances, not stopped",
        "stopped": "weights, means and variances, stopped early",
        "weights": "weights only",
    }
)
MODES = (
    ("Prototypes", "ten k-means clusters of the training rows, best of ten starts; spherical, one variance each"),
    (
        "What is optimised",
        "unstated in the paper; three protocols side by side: "
        + "; ".join(f"{name} ({words})" for name, words in PROTOCOL_WORDS.items()),
    ),
    ("Variance floor", "0.01 × the mean variance of the columns; without one, diagonal prototypes collapse"),
    (
        "Bandwidth",
        "θ² in {0.1, 0.3, 1, 3} × the median squared distance, the best on 20 % of the training rows; joint: one for "
        "all five targets, by the sum of their scores",
    ),
    ("Test rows", "choose nothing: neither bandwidth, nor variance, nor the step to stop at"),
)
"""Choices that the paper leaves open, common to all tables of densities."""


class DensityExperiment(Experiment):
    """A table of held-out negative log-likelihoods; every protocol sees the same rows in the trial of a number."""

    printed: PrintedTable

    @abstractmethod
    def row(self, setting: Setting) -> str:
        """Return the key of the printed row."""

    def generator(self, setting: Setting, number: int, seed: int) -> np.random.Generator:
        """Return the generator of a trial, the same for all protocols."""
        data = {name: value for name, value in setting.values.items() if name != "protocol"}
        return super().generator(Setting(data, setting.trials), number, seed)

    def cells(self, findings: Findings, protocol: str) -> list[Cell]:
        """Return the rows of a protocol in the order of the settings."""
        found = findings.where(protocol=protocol)
        return [Cell(findings, one, self.row(one), self.printed.values[self.row(one)]) for one in found]


def matched(task: Task, protocol: str) -> list[Finding]:
    """Return the held-out negative log-likelihoods of all methods of a protocol."""
    return as_findings(quietly(PROTOCOLS[protocol], task))


def as_findings(fits: Mapping[str, Fit]) -> list[Finding]:
    """Return fits as findings, by the paper's names."""
    return [Finding(NAMES[method], NLL, fit.nll) for method, fit in fits.items()]


@final
@dataclass(frozen=True)
class Cell:
    """The trials of one row under one protocol, beside the printed numbers."""

    findings: Findings
    setting: Setting
    label: str
    printed: Mapping[str, float]

    def values(self, method: str, measure: str = NLL) -> Array:
        """Return the values (trials,) of a method."""
        return self.findings.values(self.setting, method, measure)

    @property
    def measured(self) -> bool:
        """Whether there is a trial."""
        return len(self.values("KME")) > 0

    def mean(self, method: str, measure: str = NLL) -> float:
        """Return the mean over the trials."""
        return float(self.values(method, measure).mean())

    def change(self, method: str, base: str) -> Estimate:
        """Return the mean paired difference of two methods."""
        return Estimate.change(self.values(method), self.values(base))

    def best(self, methods: Iterable[str]) -> str:
        """Return the method with the smallest mean."""
        return min(methods, key=self.mean)


@final
@dataclass(frozen=True)
class Comparison:
    """A column, or the better of several, against another: what the paper claims is below."""

    claim: str
    low: tuple[str, ...]
    high: tuple[str, ...]

    def change(self, cell: Cell) -> Estimate:
        """Return the paired difference of the two columns, of several those with the smaller mean."""
        return cell.change(cell.best(self.low), cell.best(self.high))

    def printed_wins(self, cells: Sequence[Cell]) -> int:
        """Return in how many rows the paper's numbers say so."""
        return sum(min(c.printed[m] for m in self.low) < min(c.printed[m] for m in self.high) for c in cells)

    def verdict(self, cells: Sequence[Cell], protocol: str) -> Verdict:
        """Return whether it is so under a protocol."""
        return verdict(
            f"{self.claim} ({PROTOCOL_WORDS[protocol]})",
            ordering_rule("rows"),
            cells[0].findings,
            [cell.setting for cell in cells],
            lambda: self._judge(cells),
        )

    def _judge(self, cells: Sequence[Cell]) -> tuple[str, str]:
        outcome, words = ordering([self.change(cell) for cell in cells], "row")
        return outcome, f"{words}; the paper's numbers say so in {self.printed_wins(cells)} of {len(cells)}"


COMPARISONS = (
    Comparison("The better of MKME and MMKME is below the best of KME, S-KMSE and F-KMSE", MARGINALIZED, BASELINES),
    Comparison("MKME is below KME", ("MKME",), ("KME",)),
    Comparison("MMKME is below MKME", ("MMKME",), ("MKME",)),
)
"""What the paper says of its tables, and sees in its boldface."""


def means_table(caption: str, first: str, cells: Sequence[Cell]) -> Table:
    """Return means with the paper's numbers in brackets, the smallest of a row emphasised, and paired differences."""
    header = (first, *ESTIMATORS, "MKME - KME", "MMKME - MKME")
    rows, emphasis = [], set()
    for i, cell in enumerate(cells):
        numbers = [f"{cell.mean(name):.2f} ({cell.printed[name]:.2f})" for name in ESTIMATORS]
        gaps = [str(cell.change(one, base)) for one, base in (("MKME", "KME"), ("MMKME", "MKME"))]
        rows.append((cell.label, *numbers, *gaps))
        emphasis.add((i, 1 + list(ESTIMATORS).index(cell.best(ESTIMATORS))))
    what = "mean held-out negative log-likelihood, in brackets the paper's; paired differences ± standard error"
    return Table(f"{caption}: {what}", header, tuple(rows), frozenset(emphasis))


def claim_of_cells(claim: str, rule: str, cells: Sequence[Cell], judge: Callable[[], tuple[bool, str]]) -> Verdict:
    """Return the verdict on a claim of this library over some rows."""

    def judged() -> tuple[str, str]:
        if min(len(cell.findings.trials[cell.setting.key]) for cell in cells) < 2:
            return NOT_MEASURED, SINGLE
        truth, evidence = judge()
        return held(truth), evidence

    return verdict(claim, rule, cells[0].findings, [cell.setting for cell in cells], judged)


def spread_verdict(cells: Sequence[Cell], most: float) -> Verdict:
    """Return whether the five targets are nearly the same when only weights are matched."""

    def judge() -> tuple[bool, str]:
        spreads = {c.label: c.change(max(ESTIMATORS, key=c.mean), min(ESTIMATORS, key=c.mean)) for c in cells}
        far = [row for row, spread in spreads.items() if spread.mean - CLEAR * spread.error > most]
        widest = max(spreads, key=lambda row: spreads[row].mean)
        words = f"they differ most in row {widest}, by {spreads[widest]} nats"
        return not far, words + (f"; too far: {listed(far)}" if far else "")

    return claim_of_cells(
        "With weights only, no ordering of the five targets can come out",
        f"holds: in no row the largest and the smallest mean differ by more than {most:g} nats and {CLEAR:g} standard "
        "errors of the paired difference",
        cells,
        judge,
    )


def start_verdict(cells: Sequence[Cell], most: float) -> Verdict:
    """Return whether fits that are stopped early stay near their k-means start or below it."""

    def judge() -> tuple[bool, str]:
        gaps = {(c.label, m): c.change(m, NAMES[START]) for c in cells for m in ESTIMATORS}
        far = [f"{name} in row {row}" for (row, name), gap in gaps.items() if gap.mean - CLEAR * gap.error > most]
        row, name = worst = max(gaps, key=lambda key: gaps[key].mean)
        words = f"the furthest above its start is {name} in row {row}: {gaps[worst]} nats"
        return not far, words + (f"; too far: {listed(far)}" if far else "")

    return claim_of_cells(
        "Stopped early, nothing diverges",
        f"holds: no target's mean is above that of its k-means start by more than {most:g} nat and {CLEAR:g} standard "
        "errors of the paired difference",
        cells,
        judge,
    )


def protocol_words(protocol: str, cells: Sequence[Cell]) -> str:
    """Return in words how the targets compare under a protocol."""
    words = PROTOCOL_WORDS[protocol].capitalize()
    return f"{words}: {differences(cells, 'MKME', 'KME')}; {differences(cells, 'MMKME', 'MKME')}."


def differences(cells: Sequence[Cell], low: str, high: str) -> str:
    """Return in words in how many rows one method is clearly below, and above, another."""
    gaps = [cell.change(low, high) for cell in cells]
    below, above = sum(gap.below() for gap in gaps), sum(gap.above() for gap in gaps)
    clearly = f"by more than {CLEAR:g} standard errors"
    return f"{low} is below {high} {clearly} in {below} of {len(cells)} rows and above in {above}"
