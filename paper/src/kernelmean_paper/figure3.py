"""Figure 3 of the paper: the power of two-sample tests on different mixtures, and their level on one mixture."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kernelmean import KernelMean, mmd_test
from kernelmean.report import Band, Chart, Curve, Panel, TextTable

from .arrays import Array
from .experiment import Context, Experiment, Finding, Findings, Setting, Size
from .judged import Section, Verdict
from .mixtures import Mixture
from .paper import BANDWIDTHS, ESTIMATORS
from .readings import BandwidthReading
from .rejections import Cell, Line, holm
from .verdicts import (
    CLEAR,
    EQUIVALENCE,
    FAILS,
    HOLDS,
    NOT_REPRODUCED,
    REPRODUCED,
    SAME_ORDERING,
    STUDENT,
    UNDECIDED,
    Estimate,
    both,
    fewer_than_chance,
    larger,
    no_worse,
    settled,
)
from .wording import ends_of_curves

LEVEL, RESAMPLES = 0.05, 1000
TRIALS: Mapping[Size, int] = MappingProxyType({Size.QUICK: 20, Size.FULL: 500})
SHRUNK, OURS = ("S-KMSE", "F-KMSE"), "adaptive"
POOLED = tuple(f"{method}, pooled" for method in SHRUNK)
"""The same, with one λ and one matrix of weights from the pooled sample."""
FITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"λ refitted on both parts of every permutation": SHRUNK, "λ of the pooled sample": POOLED}
)
"""The two readings of the shrinkage estimators in a permutation test; the paper does not say which one it means."""
METHODS = (*ESTIMATORS, *POOLED, OURS)

MARGIN = 0.02
"""Of power on average over the cells: a test that loses no more is competitive, one that wins less does not
outperform."""
MISTAKE = 0.05
"""In a family of checks that should all pass, all do with a probability of at least one minus this."""


POWER = (Line("d", 20, (5, 8, 12, 20), 0.5), Line("n", 6, (1, 2, 5, 20, 100), 1.0))
NULL = (Line("d", 20, (5, 12, 20), 0.0), Line("n", 6, (1, 5, 20, 100), 0.0))


class Figure3(Experiment):
    """Permutation tests on MMD² with the five estimators of the paper, and the adaptive test of this library."""

    name: ClassVar[str] = "figure3"
    title: ClassVar[str] = "Figure 3: two-sample tests on mixtures of Gaussians"
    readings: ClassVar[frozenset[str]] = frozenset({"bandwidth"})

    def settings(self, size: Size) -> list[Setting]:
        """Return the cells of all panels under both readings of the median bandwidth, small samples first."""
        cells = sorted(
            (cell for line in (*POWER, *NULL) for cell in line.cells), key=lambda cell: (cell["n"], cell["d"])
        )
        return [Setting({"bandwidth": rule, **cell}, TRIALS[size]) for cell in cells for rule in BANDWIDTHS]

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:  # noqa: ARG002
        """Return the p-values of all tests on the same two samples."""
        n = int(setting.values["n"])
        first = Mixture.random(int(setting.values["d"]), rng)
        second = first.moved(float(setting.values["moved"]), rng)
        X, Y = first.sample(n, rng), second.sample(n, rng)
        seed = int(rng.integers(2**32))
        found = []
        for method in METHODS:
            estimator = _estimator(method, str(setting.values["bandwidth"]), np.concatenate([X, Y]))
            result = mmd_test(X, Y, estimator=estimator, n_resamples=RESAMPLES, rng=seed)
            found.append(Finding(method, "p-value", result.pvalue))
            found.append(Finding(method, "permutations", float(result.n_resamples + 1)))
        return found

    def section(self, findings: Findings) -> Section:
        """Return power and level of every test, and what they say about the paper's claims."""
        readings = [Reading(findings, rule) for rule in BANDWIDTHS]
        measured = [reading for reading in readings if reading.cells]
        return Section(
            self.title,
            paragraphs=tuple(words for reading in measured for words in reading.paragraphs()) + _WORDS,
            verdicts=tuple(one for reading in readings for one in reading.verdicts()),
            tables=tuple(table for reading in measured for table in reading.tables()),
            charts=tuple(reading.chart() for reading in measured),
            settings=_settings(findings.settings),
        )


def _estimator(method: str, rule: str, pooled: Array) -> str | KernelMean:
    """Return the estimator of a test under a rule for the bandwidth; the adaptive test brings its own kernels."""
    if method == OURS:
        return OURS
    make = ESTIMATORS[method.removesuffix(", pooled")]
    if method not in POOLED:
        return make(bandwidth=rule)
    strength = make(bandwidth=rule).fit(pooled).strength_
    assert strength is not None, "a filter has a strength"
    return make(bandwidth=rule, strength=min(strength, sys.float_info.max))


_WORDS = (
    "Under the null hypothesis every rejection is an error, so no estimator can outperform another there, as the paper "
    "says of its own: what counts is that the level is kept, and permutation tests keep it with every estimator whose "
    "parameters are functions of the pooled sample or are found again under every permutation.",
)


def _settings(settings: Sequence[Setting]) -> tuple[tuple[str, str], ...]:
    trials = " or ".join(str(count) for count in sorted({setting.trials for setting in settings}))
    moves = "; ".join(f"{line.title}: {line.moved:g}" for line in POWER)
    return (
        (
            "Trials",
            f"{trials} in every cell (500 in the paper), two new mixtures and two samples of n rows in every trial",
        ),
        (
            "Mixtures",
            "the distribution of figure 2; the second mixture has the weights and covariances of the first; its means "
            f"went a share of the way to other random means ({moves}; 1 is independent means)",
        ),
        (
            "Sizes",
            "the paper prints none; n, d and the shares were chosen on pilot draws, with other seeds, so that KME has "
            "hardly any power at one end of a panel and nearly full power at the other",
        ),
        (
            "Test",
            f"p ≤ {LEVEL:g}; {RESAMPLES} random permutations, or all there are where these are fewer; U-statistic",
        ),
        (
            "Bandwidth",
            "both readings of the median heuristic, of the pooled sample, on the same samples; the adaptive test "
            "brings its own",
        ),
        ("MKME, MMKME", "the noise is that of the pooled sample, which no permutation changes"),
        (
            "S-KMSE, F-KMSE",
            f"two readings, for the paper names none: {'; '.join(FITS)}. Both are exact tests, and claims about these "
            "estimators are judged under each",
        ),
        ("Error", "powers of one cell are compared in the same trials, by McNemar's exact test"),
        ("Agreement", EQUIVALENCE),
        ("Standard errors", STUDENT),
    )


_FEW = f"{UNDECIDED}: neither, or fewer than {TRIALS[Size.FULL]} trials in a cell and no cell clearly against it"


class Reading(BandwidthReading):
    """All cells under one bandwidth rule: words, verdicts, tables and a chart."""

    def __init__(self, findings: Findings, rule: str) -> None:
        super().__init__(findings, rule)
        cells = [Cell.of(findings, setting, METHODS, LEVEL) for setting in self._settings]
        self.cells = [cell for cell in cells if cell.trials > 1]
        self.power = [cell for cell in self.cells if cell.setting.values["moved"] != 0]
        self.null = [cell for cell in self.cells if cell.setting.values["moved"] == 0]

    def line(self, line: Line) -> list[Cell]:
        """Return the cells of a panel, in its order."""
        keys = [Setting({"bandwidth": self.rule, **cell}, 0).key for cell in line.cells]
        found = {cell.setting.key: cell for cell in self.cells}
        return [found[key] for key in keys if key in found]

    def gain(self, method: str, base: str) -> Estimate:
        """Return the mean paired difference in power over the power cells."""
        return Estimate.over([cell.gain(method, base) for cell in self.power])

    def mean(self, method: str) -> float:
        """Return the mean power over the cells."""
        return float(np.mean([cell.rate(method).mean for cell in self.power]))

    def behind(self, method: str, *bases: str) -> list[Cell]:
        """Return the cells in which a test has less power, by McNemar's exact tests, Holm-adjusted as one family."""
        pairs = [(cell, base) for base in bases for cell in self.power]
        pvalues = [fewer_than_chance(cell.rejected(method), cell.rejected(base)) for cell, base in pairs]
        return [cell for (cell, _), p in zip(pairs, holm(pvalues), strict=True) if p <= MISTAKE]

    @property
    def telling(self) -> bool:
        """Whether every cell has enough trials that finding no loss means something."""
        return min(cell.trials for cell in self.cells) >= TRIALS[Size.FULL]

    @property
    def confidence(self) -> float:
        """The confidence of the range of a single level, adjusted for all of them (Bonferroni)."""
        return 1.0 - MISTAKE / (len(self.null) * len(METHODS))

    # -- verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> list[Verdict]:
        """Return verdicts on the claims about power and level."""
        return [
            *(self._competitive(method) for method in ("MKME", "MMKME")),
            *(self._always_better(method, fit) for fit in FITS for method in ("MKME", "MMKME")),
            self._verdict(
                "All tests keep the level",
                "holds: the rejections of every test on samples of one mixture are in the exact binomial range of the "
                f"level that its permutations attain, {1 - MISTAKE:.0%} for all together (Bonferroni); {_FEW}",
                self._level,
            ),
            self._verdict(
                "The adaptive test, which needs no bandwidth, has more power than KME",
                f"holds: the mean paired difference over the cells is above 0 by more than {CLEAR:g} standard errors; "
                f"fails: it is below {MARGIN:g} by as much",
                self._adaptive,
            ),
        ]

    def _competitive(self, method: str) -> Verdict:
        return self._verdict(
            f"{method} is competitive: it has at least the power of KME",
            f"reproduced: the mean paired difference of power over the cells is above -{MARGIN:g} by more than "
            f"{CLEAR:g} standard errors, and in no cell is its power less (McNemar's exact test, Holm-adjusted, "
            f"{MISTAKE:g}); same ordering: only the first; not reproduced: the difference is below -{MARGIN:g} by as "
            f"much; {_FEW}",
            lambda: self._as_powerful(method),
        )

    def _always_better(self, method: str, fit: str) -> Verdict:
        return self._verdict(
            f"{method} always outperforms S-KMSE and F-KMSE, {fit}",
            f"reproduced: on average over the cells its power is above that of both by more than {CLEAR:g} standard "
            "errors of the paired differences, and in no cell is it less (McNemar's exact tests, Holm-adjusted over "
            f"the cells of both, {MISTAKE:g}); same ordering: only the first; not reproduced: a difference is below "
            f"{MARGIN:g} by as much; {_FEW}",
            lambda: self._outperforms(method, FITS[fit]),
        )

    def _as_powerful(self, method: str) -> tuple[str, str]:
        gain, behind = self.gain(method, "KME"), self.behind(method, "KME")
        evidence = f"mean power {self.mean(method):.3f}, KME {self.mean('KME'):.3f}, difference {gain}; less in "
        where = f": {_places(behind)}" if behind else ""
        outcome = self._everywhere(no_worse(gain, MARGIN), behind)
        return outcome, f"{evidence}{len(behind)} of {len(self.power)} cells{where}"

    def _everywhere(self, average: bool | None, behind: Sequence[Cell]) -> str:
        """Return the outcome of a claim from its answer on average and the cells in which it fails."""
        if average and behind:
            return SAME_ORDERING
        return settled(average if self.telling or behind else None, REPRODUCED, NOT_REPRODUCED)

    def _outperforms(self, method: str, bases: Sequence[str]) -> tuple[str, str]:
        gains = {base: self.gain(method, base) for base in bases}
        behind = self.behind(method, *bases)
        average = both(*(larger(gain, MARGIN) for gain in gains.values()))
        said = ", ".join(f"{base} {self.mean(base):.3f} (difference {gain})" for base, gain in gains.items())
        evidence = (
            f"mean power {self.mean(method):.3f}, {said}; less in {len(behind)} of {len(bases) * len(self.power)} "
            "comparisons"
        )
        return self._everywhere(average, behind), evidence

    def _level(self) -> tuple[str, str]:
        rates = [cell.rate(method).mean for cell in self.null for method in METHODS]
        outside = [
            f"{method} at {_places([cell])}"
            for cell in self.null
            for method in METHODS
            if not cell.keeps_level(method, self.confidence)
        ]
        low, high = self.null[-1].allowed("KME", self.confidence)
        trials = self.null[-1].trials
        said = (
            f"{len(outside)} of {len(rates)} outside; rates from {min(rates):.3f} to {max(rates):.3f}, allowed are "
            f"{low} to {high} rejections in {trials} trials, {low / trials:.3f} to {high / trials:.3f}"
        )
        outcome = FAILS if outside else HOLDS if self.telling else UNDECIDED
        return outcome, f"{said}: {', '.join(outside)}" if outside else said

    def _adaptive(self) -> tuple[str, str]:
        gain = self.gain(OURS, "KME")
        outcome = settled(larger(gain, MARGIN), HOLDS, FAILS)
        return outcome, f"mean power {self.mean(OURS):.3f}, KME {self.mean('KME'):.3f}, difference {gain}"

    # -- words, tables, chart -----------------------------------------------------------------------------------------

    def paragraphs(self) -> list[str]:
        """Return in words what the panels show."""
        if not self.power:
            return []
        means = ", ".join(f"{method} {self.mean(method):.3f}" for method in METHODS)
        ranges = "; ".join(
            f"{line.title}: from {cells[0].rate('KME').mean:.2f} at {line.varies} = {line.free[0]} to "
            f"{cells[-1].rate('KME').mean:.2f} at {line.varies} = {line.free[-1]}"
            for line in POWER
            if len(cells := self.line(line)) == len(line.free)
        )
        same = np.mean([np.mean(cell.rejected("MKME") == cell.rejected("KME")) for cell in self.power])
        return [
            f"With {self.label}, mean power over {len(self.power)} cells: {means}. Power of KME, {ranges}. MKME "
            f"decides as KME in {same:.1%} of the trials: its test is that of a kernel with θ² + 2σ² in place of θ²."
            f"{self._shrinkage()}"
        ]

    def _shrinkage(self) -> str:
        """Return in words the power of the shrinkage estimators under their two readings."""
        gains = "; ".join(
            f"{fit}: " + ", ".join(f"{name} {self.gain(base, 'KME')}" for name, base in zip(SHRUNK, bases, strict=True))
            for fit, bases in FITS.items()
        )
        same = np.mean([np.mean(cell.rejected(POOLED[0]) == cell.rejected("KME")) for cell in self.power])
        return (
            f" Power of the shrinkage estimators beside that of KME, with {gains}. With λ of the pooled sample S-KMSE "
            f"decides as KME in {same:.1%} of the trials: it multiplies both means by one factor."
        )

    def tables(self) -> list[TextTable]:
        """Return power and level in every cell."""
        tables = [self._power_table()] if self.power else []
        return [*tables, self._level_table()] if self.null else tables

    def _power_table(self) -> TextTable:
        rows = []
        for cell in self.power:
            rates = (f"{cell.rate(method).mean:.3f}" for method in METHODS)
            rows.append((*_values(cell), *rates, str(cell.gain("MKME", "KME")), str(cell.gain("MMKME", "KME"))))
        header = ("n", "d", "means moved", *METHODS, "MKME - KME", "MMKME - KME")
        return TextTable(
            f"Power at level {LEVEL:g}, {self.label}; differences are paired, ± standard error", header, tuple(rows)
        )

    def _level_table(self) -> TextTable:
        rows = []
        for cell in self.null:
            low, high = cell.allowed("KME", self.confidence)
            rates = (f"{cell.rate(method).mean:.3f}" for method in METHODS)
            rows.append((*_values(cell)[:2], *rates, f"{low / cell.trials:.3f} to {high / cell.trials:.3f}"))
        header = ("n", "d", *METHODS, "allowed")
        return TextTable(f"Rejections on samples of one mixture at level {LEVEL:g}, {self.label}", header, tuple(rows))

    def chart(self) -> Chart:
        """Return the panels of the paper: power above, level below."""
        lines = [(line, self.line(line)) for line in (*POWER, *NULL)]
        panels = tuple(
            self._panel(letter, line, cells) for letter, (line, cells) in zip("abcd", lines, strict=True) if cells
        )
        text = ends_of_curves(panels, "Part of the trials in which a test rejects")
        return Chart(f"figure3-{self.rule}", f"Two-sample tests, {self.label}", panels, text)

    def _panel(self, letter: str, line: Line, cells: list[Cell]) -> Panel:
        curves = []
        for method in METHODS:
            rates = [cell.rate(method) for cell in cells]
            x = tuple(float(cell.setting.values[line.varies]) for cell in cells)
            curves.append(Curve(method, x, tuple(r.mean for r in rates), tuple(r.error for r in rates), method == OURS))
        kind, bands = ("power", ()) if line.moved else ("level", (self._band(cells),))
        return Panel(
            f"({letter}) {kind}, {line.title}", line.varies, "rejected", tuple(curves), bands, x_log=line.varies == "d"
        )

    def _band(self, cells: list[Cell]) -> Band:
        """Return the band in which all levels should be, as wide as the widest of the cells'."""
        ranges = [[count / cell.trials for count in cell.allowed("KME", self.confidence)] for cell in cells]
        return Band("exact binomial range", min(low for low, _ in ranges), max(high for _, high in ranges))


def _values(cell: Cell) -> tuple[str, str, str]:
    values = cell.setting.values
    return str(values["n"]), str(values["d"]), f"{values['moved']:g}"


def _places(cells: Sequence[Cell]) -> str:
    return ", ".join(f"n = {cell.setting.values['n']}, d = {cell.setting.values['d']}" for cell in cells)
