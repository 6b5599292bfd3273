"""What the density tables share: trials of one protocol, tables beside the paper's numbers, and verdicts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np

from kernelmean import KernelMeanMatching
from kernelmean.density import KMeansPrototypes
from kernelmean.report import TextTable

from .arrays import Array
from .density_tasks import COMPONENTS, FACTORS, LONGEST, OWN, PROTOCOLS, REFERENCE, START, TARGETS, Fit, Task, quietly
from .experiment import Experiment, Finding, Findings, Setting
from .judged import Verdict
from .paper import BASELINES, ESTIMATORS, PrintedTable
from .verdicts import (
    CLEAR,
    EQUIVALENCE,
    FAILS,
    HOLDS,
    NOT_MEASURED,
    SINGLE,
    STUDENT,
    UNDECIDED,
    Estimate,
    both,
    no_worse,
    ordering,
    ordering_rule,
    settled,
    verdict,
)
from .wording import listed

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
        "joint": "weights, means and variances, not stopped, our deviation",
        "own": "weights, means and variances, not stopped, our deviation, every target its own θ²",
        "stopped": "weights, means and variances, stopped early",
        "weights": "weights only",
    }
)
DEFAULTS: Mapping[str, Any] = KernelMeanMatching(COMPONENTS).get_params()
"""The options of all fits, except those that a protocol sets."""
CLUSTERS = KMeansPrototypes()
"""How all fits start."""
PATIENCE, FLOOR, HELD = 50, 0.01, 0.2
"""What matching holds fixed."""
STEPS, RESTS = "steps", "rests"

MODES = (
    (
        "Prototypes",
        f"{COMPONENTS} k-means clusters of the training rows, the best of {CLUSTERS.n_init} runs of k-means, "
        f"1 start of the match; {DEFAULTS['covariance_type']}, one variance each, averaged with the pooled one as if "
        f"that rested on {CLUSTERS.pooling:g} rows",
    ),
    (
        "What is optimised",
        f"unstated in the paper; {len(PROTOCOL_WORDS)} protocols side by side: "
        + "; ".join(f"{name} ({words})" for name, words in PROTOCOL_WORDS.items()),
    ),
    (
        "Early stopping",
        "the paper, of its data sets: “With an early-stopping strategy based on NLL, we search it in a range around "
        f"median heuristic” (the bandwidth). So stopped is as the paper says, joint and own deviate from it: at most "
        f"{LONGEST} steps; stopped: at most {DEFAULTS['max_iter']}, given up after {PATIENCE} without "
        "a better score",
    ),
    (
        "Variance floor",
        f"{FLOOR:g} × the mean variance of the columns; without one, diagonal prototypes collapse",
    ),
    (
        "Bandwidth",
        f"θ² in {{{', '.join(f'{factor:g}' for factor in FACTORS)}}} × the median squared distance, the best on "
        f"{HELD:.0%} of the training rows; joint: one for all {len(TARGETS)} targets, by the sum of their scores",
    ),
    ("Agreement", EQUIVALENCE),
    ("Standard errors", STUDENT),
    ("Test rows", "choose nothing: neither bandwidth, nor variance, nor the step to stop at"),
)
"""Choices that the paper leaves open, common to all density tables."""


class DensityExperiment(Experiment):
    """A table of held-out negative log-likelihoods; all protocols see the same rows in a trial with a given number."""

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
        own = protocol == "own"  # measured in the trials of joint
        found = findings.where(protocol="joint" if own else protocol)
        suffix = OWN if own else ""
        return [Cell(findings, one, self.row(one), self.printed.values[self.row(one)], suffix) for one in found]


def matched(task: Task, protocol: str) -> list[Finding]:
    """Return the held-out negative log-likelihoods of all methods of a protocol."""
    return as_findings(quietly(PROTOCOLS[protocol], task))


def as_findings(fits: Mapping[str, Fit]) -> list[Finding]:
    """Return fits as findings, by the paper's names: score, number of steps, and whether they converged."""
    return [
        Finding(NAMES[method], measure, float(value))
        for method, fit in fits.items()
        for measure, value in {NLL: fit.nll, **fit.notes}.items()
        if measure in (NLL, STEPS, RESTS)
    ]


@final
@dataclass(frozen=True)
class Cell:
    """The trials of one row under one protocol, beside the printed numbers."""

    findings: Findings
    setting: Setting
    label: str
    printed: Mapping[str, float]
    suffix: str = ""
    """The suffix of the names of the five targets in findings."""

    def values(self, method: str, measure: str = NLL) -> Array:
        """Return the values (trials,) of a method."""
        name = method + self.suffix if method in ESTIMATORS else method
        return self.findings.values(self.setting, name, measure)

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
    """A column, or the better of several, compared with others that the paper claims it is below."""

    claim: str
    low: tuple[str, ...]
    high: tuple[str, ...]

    def change(self, cell: Cell) -> Estimate:
        """Return the paired difference of the two columns; of several, take the one that is best in other trials."""
        return Estimate.change(*(_best_elsewhere(cell, methods) for methods in (self.low, self.high)))

    def printed_wins(self, cells: Sequence[Cell]) -> int:
        """Return the number of rows in which the paper's numbers agree with the claim."""
        return sum(min(c.printed[m] for m in self.low) < min(c.printed[m] for m in self.high) for c in cells)

    def verdict(self, cells: Sequence[Cell], protocol: str) -> Verdict:
        """Return the verdict on the claim under a protocol."""
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


def _best_elsewhere(cell: Cell, methods: Sequence[str]) -> Array:
    """Return for each trial the value of the method with the smallest mean over all other trials, shape (trials,).

    So no trial chooses the column that it tests.
    """
    values = np.stack([cell.values(method) for method in methods])
    best = (values.sum(axis=1, keepdims=True) - values).argmin(axis=0)
    return np.asarray(np.take_along_axis(values, best[None], axis=0)[0])


COMPARISONS = (
    Comparison("The better of MKME and MMKME is below the best of KME, S-KMSE and F-KMSE", MARGINALIZED, BASELINES),
    Comparison("MKME is below KME", ("MKME",), ("KME",)),
    Comparison("MMKME is below MKME", ("MMKME",), ("MKME",)),
)
"""What the paper says about its tables, and shows in bold."""


def means_table(caption: str, first: str, cells: Sequence[Cell]) -> TextTable:
    """Return means with the paper's numbers in brackets, the smallest of a row emphasised, and paired differences."""
    header = (first, *ESTIMATORS, "MKME - KME", "MMKME - MKME")
    rows, emphasis = [], set()
    for i, cell in enumerate(cells):
        numbers = [f"{cell.mean(name):.2f} ({cell.printed[name]:.2f})" for name in ESTIMATORS]
        gaps = [str(cell.change(one, base)) for one, base in (("MKME", "KME"), ("MMKME", "MKME"))]
        rows.append((cell.label, *numbers, *gaps))
        emphasis.add((i, 1 + list(ESTIMATORS).index(cell.best(ESTIMATORS))))
    what = "mean held-out negative log-likelihood, in brackets the paper's; paired differences ± standard error"
    return TextTable(f"{caption}: {what}", header, tuple(rows), frozenset(emphasis))


def claim_of_cells(
    claim: str, rule: str, cells: Sequence[Cell], judge: Callable[[], tuple[bool | None, str]]
) -> Verdict:
    """Return the verdict on a claim of this library over some rows."""

    def judged() -> tuple[str, str]:
        if min(len(cell.findings.trials[cell.setting.key]) for cell in cells) < 2:
            return NOT_MEASURED, SINGLE
        truth, evidence = judge()
        return settled(truth, HOLDS, FAILS), evidence

    return verdict(claim, rule, cells[0].findings, [cell.setting for cell in cells], judged)


def spread_verdict(cells: Sequence[Cell], most: float) -> Verdict:
    """Return whether the five targets are nearly the same when only weights are matched."""
    return _within(
        "With weights only, no ordering of the five targets can come out",
        f"in every row the mean of every target is above that of every other by less than {most:g} nats",
        {(f"{a} above {b}", c.label): (c, a, b) for c in cells for a in ESTIMATORS for b in ESTIMATORS if a != b},
        cells,
        most,
    )


def start_verdict(cells: Sequence[Cell], most: float) -> Verdict:
    """Return whether fits with early stopping stay near their k-means start or below it."""
    start = NAMES[START]
    return _within(
        "Stopped early, nothing diverges",
        f"every target's mean is above that of its k-means start by less than {most:g} nat",
        {(f"{m} above its start", c.label): (c, m, start) for c in cells for m in ESTIMATORS},
        cells,
        most,
    )


def _within(
    claim: str, rule: str, pairs: Mapping[tuple[str, str], tuple[Cell, str, str]], cells: Sequence[Cell], most: float
) -> Verdict:
    """Return whether no paired difference is above a margin."""

    def judge() -> tuple[bool | None, str]:
        gaps = {key: cell.change(one, other) for key, (cell, one, other) in pairs.items()}
        answers = {key: no_worse(cell.change(other, one), most) for key, (cell, one, other) in pairs.items()}
        name, row = worst = max(gaps, key=lambda key: gaps[key].mean)
        words = f"the furthest is {name} in row {row}: {gaps[worst]} nats"
        far = [f"{name} in row {row}" for (name, row), answer in answers.items() if answer is False]
        near = sum(answer is True for answer in answers.values())
        words += f"; {near} of {len(answers)} differences are clearly within the margin"
        return both(*answers.values()), words + (f"; clearly beyond it: {listed(far)}" if far else "")

    return claim_of_cells(
        claim,
        f"holds: {rule}, by {CLEAR:g} standard errors of the paired difference; fails: one is clearly larger; "
        f"otherwise {UNDECIDED}",
        cells,
        judge,
    )


def rest_words(cells: Sequence[Cell]) -> str:
    """Return in words how many fits converged and how many steps they took; nothing if this was not stored."""
    steps, rests = (
        np.concatenate([cell.values(m, measure) for cell in cells for m in ESTIMATORS]) for measure in (STEPS, RESTS)
    )
    if not len(steps):
        return ""
    return (
        f" Of {len(steps)} fits {int(rests.sum())} came to rest; they took {np.median(steps):.0f} steps in the median, "
        f"{steps.max():.0f} at most."
    )


def protocol_words(protocol: str, cells: Sequence[Cell]) -> str:
    """Return in words how the targets compare under a protocol."""
    words = PROTOCOL_WORDS[protocol].capitalize()
    rest = rest_words(cells) if protocol in ("joint", "own") else ""  # others are stopped, or have no steps
    return f"{words}: {differences(cells, 'MKME', 'KME')}; {differences(cells, 'MMKME', 'MKME')}.{rest}"


def differences(cells: Sequence[Cell], low: str, high: str) -> str:
    """Return in words in how many rows one method is clearly below, and above, another."""
    gaps = [cell.change(low, high) for cell in cells]
    below, above = sum(gap.below() for gap in gaps), sum(gap.above() for gap in gaps)
    clearly = f"by more than {CLEAR:g} standard errors"
    return f"{low} is below {high} {clearly} in {below} of {len(cells)} rows and above in {above}"
