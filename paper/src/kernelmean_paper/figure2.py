"""Figure 2 of the paper: mean losses on mixtures of Gaussians, by dimension and number of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from kernelmean.estimators import VPMKME
from kernelmean.report import Chart, Curve, Panel, TextTable

from .experiment import Context, Experiment, Finding, Findings, Setting, Size
from .judged import Section, Verdict
from .loss_grid import ORACLE, ZERO, Cell, Grid
from .mixtures import Drawn
from .paper import BANDWIDTHS, BASELINES, ESTIMATORS
from .readings import BandwidthReading
from .verdicts import CLEAR, STUDENT, Estimate, claimed, held
from .wording import ends_of_curves

SIZES = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
DIMENSIONS = (2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
LINES = (("n", 20), ("n", 50), ("d", 20), ("d", 5))
"""The values that the panels a to d hold fixed."""
TRIALS: Mapping[Size, int] = MappingProxyType({Size.QUICK: 15, Size.FULL: 30})

OURS = "VPMKME"
MAKERS = MappingProxyType({**ESTIMATORS, OURS: VPMKME})
SCORE = "leave-one-out score"

SURE = 3.0
"""Standard errors by which a single one of many cells counts as clear."""
SHARES: Mapping[str, tuple[float, str, Callable[[Cell], bool]]] = MappingProxyType(
    {
        "median": (0.35, "n ≤ 20", lambda cell: cell.n <= 20),
        "median-unsquared": (0.9, "d ≥ 5", lambda cell: cell.d >= 5),
    }
)
"""The part of the gap between KME and the oracle that MKME should close, and where."""


def grid() -> list[tuple[int, int]]:
    """Return the cells (n, d) of the four panels, small ones first."""
    lines = [[(value, d) for d in DIMENSIONS] if name == "n" else [(n, value) for n in SIZES] for name, value in LINES]
    return sorted({cell for line in lines for cell in line}, key=lambda cell: (cell[0] * cell[1], cell))


class Figure2(Experiment):
    """The mean exact loss of the five estimators, of VPMKME, and of MKME with the best σ² there is."""

    name: ClassVar[str] = "figure2"
    title: ClassVar[str] = "Figure 2: mean losses on mixtures of Gaussians"
    readings: ClassVar[frozenset[str]] = frozenset({"bandwidth"})

    def settings(self, size: Size) -> list[Setting]:
        """Return every cell under both readings of the median bandwidth."""
        return [Setting({"bandwidth": rule, "n": n, "d": d}, TRIALS[size]) for n, d in grid() for rule in BANDWIDTHS]

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:  # noqa: ARG002
        """Return the losses of all estimators on one sample of one mixture."""
        drawn = Drawn.random(int(setting.values["n"]), int(setting.values["d"]), str(setting.values["bandwidth"]), rng)
        fitted = {name: make(drawn.kernel).fit(drawn.X) for name, make in MAKERS.items()}
        return [
            *(Finding(name, "loss", drawn.loss(one.embedding_)) for name, one in fitted.items()),
            Finding(ORACLE, "loss", drawn.best_variance()[1]),
            Finding(ZERO, "loss", drawn.truth @ drawn.truth),
            *(Finding(name, SCORE, fitted[name].loocv_) for name in ("MKME", "MMKME")),
        ]

    def section(self, findings: Findings) -> Section:
        """Return the curves of the panels, and the results of the grid under each reading of the bandwidth."""
        readings = [Reading(findings, rule) for rule in BANDWIDTHS]
        measured = [reading for reading in readings if reading.grid.cells]
        return Section(
            self.title,
            paragraphs=tuple(words for reading in measured for words in reading.paragraphs()),
            verdicts=tuple(one for reading in readings for one in reading.verdicts()),
            tables=tuple(table for reading in measured for table in (reading.summary(), reading.cells())),
            charts=tuple(chart for reading in measured for chart in reading.charts()),
            settings=_settings(findings.settings),
        )


def _settings(settings: Sequence[Setting]) -> tuple[tuple[str, str], ...]:
    trials = sorted({setting.trials for setting in settings})
    fixed = ", ".join(f"{name} = {value}" for name, value in LINES)
    counts = " or ".join(map(str, trials))
    return (
        (
            "Distributions",
            f"{counts} in every cell (30 in the paper), a new mixture and one sample of it in every trial",
        ),
        (
            "Panels",
            f"{fixed}; the paper prints neither sizes nor dimensions, Muandet et al. (2014) vary d at n = 20 and n at "
            "d = 20 from 10 to 100; the other two lines and d = 2 and 5 are ours",
        ),
        ("Bandwidth", "both readings of the median heuristic, of each sample; both have the same mixtures and samples"),
        ("Loss", "|μ̂ - μ|² in closed form, from the exact mean of the mixture: no Monte Carlo error"),
        ("Grid", "the cells of all panels, each once and with the same weight"),
        ("Parameters", "λ, σ² and the variances e by leave-one-out on each sample; F-KMSE by the exact score"),
        ("Standard errors", STUDENT),
        (OURS, "the variance-preserving estimator of this library; it is not in the paper"),
        (ORACLE, "the σ² ≥ 0 with the smallest true loss for each sample: a bound for MKME, not an estimator"),
    )


class Reading(BandwidthReading):
    """The grid under one bandwidth rule: words, verdicts, tables and charts."""

    def __init__(self, findings: Findings, rule: str) -> None:
        super().__init__(findings, rule)
        self.grid = Grid.of(findings, self._settings)

    # -- verdicts -----------------------------------------------------------------------------------------------------

    def verdicts(self) -> list[Verdict]:
        """Return verdicts on the claims about the grid: averages, cells, the gap, our estimator."""
        least, where, chosen = SHARES[self.rule]
        return [
            self._verdict(
                "MKME has a smaller mean loss than KME, S-KMSE and F-KMSE on average over the grid",
                "holds: below each of the three, the mean paired difference over the cells below 0 by more than "
                f"{CLEAR:g} standard errors",
                self._averages,
            ),
            self._verdict(
                "MKME outperforms the baselines in most cases",
                "reproduced: its mean loss is below that of all three in more than half of the cells; same ordering: "
                "it is below all three on average over the grid",
                lambda: self._wins("MKME", "most"),
            ),
            self._verdict(
                "MMKME outperforms the baselines all the time",
                "reproduced: its mean loss is below that of all three in every cell; same ordering: it is below all "
                "three on average over the grid",
                lambda: self._wins("MMKME", "all"),
            ),
            self._verdict(
                f"MKME closes at least {least:.0%} of the gap between KME and the best σ² there is, over the cells "
                f"with {where} together",
                "holds: it closes as much of the gap between their mean losses, each cell with the same weight, and in "
                f"no cell its mean loss is above that of KME by more than {SURE:g} standard errors of the paired "
                "difference; the claim is not about single cells, how many reach the share is given beside it",
                lambda: self._gap(least, chosen),
            ),
            self._verdict(
                f"{OURS} is below even the oracle MKME in at least half of the cells with d ≥ 5",
                f"holds: the mean loss of {OURS} is below that of the oracle in at least half of these cells",
                self._beyond,
            ),
            self._verdict(
                "MMKME has a smaller mean loss than MKME on average over the grid",
                f"holds: the mean paired difference over the cells is below 0 by more than {CLEAR:g} standard errors",
                lambda: self._lower("MMKME", "MKME"),
            ),
        ]

    def _averages(self) -> tuple[str, str]:
        changes = {base: self.grid.change("MKME", base) for base in BASELINES}
        said = "; ".join(f"from {base} {change}" for base, change in changes.items())
        return held(all(change.below() for change in changes.values())), f"mean loss {self._mean('MKME')}; {said}"

    def _wins(self, method: str, how_often: str) -> tuple[str, str]:
        wins, cells = len(self.grid.below(method, *BASELINES)), len(self.grid.cells)
        average = all(self.grid.mean(method) < self.grid.mean(base) for base in BASELINES)
        fully = wins == cells if how_often == "all" else 2 * wins > cells
        lowest = min(BASELINES, key=self.grid.mean)
        evidence = (
            f"below all three in {wins} of {cells} cells, {self._clearly(self.grid, method, *BASELINES)}; on average "
            f"{self._mean(method)}, the best of the three "
            f"{self._mean(lowest)} ({lowest})"
        )
        return claimed(fully=fully, partly=average), evidence

    def _gap(self, least: float, chosen: Callable[[Cell], bool]) -> tuple[str, str]:
        there = self.grid.where(chosen)
        worst = there.least_share("MKME")
        reached = sum(cell.share("MKME") >= least for cell in there.cells)
        beyond = Estimate.over([cell.shortfall("MKME", least).reversed() for cell in there.cells])
        short = sum(cell.shortfall("MKME", least).above(SURE) for cell in there.cells)
        harmed = sum(cell.change("MKME").above(SURE) for cell in there.cells)
        evidence = (
            f"{there.share('MKME'):.1%} over these {len(there.cells)} cells together (the mean loss is lower than "
            f"needed by {beyond}); separately as much in {reached} "
            f"of them, clearly less in {short}; clearly above KME in {harmed}; the smallest share is "
            f"{worst.share('MKME'):.0%}, at n = {worst.n}, d = {worst.d}"
        )
        return held(there.share("MKME") >= least and not harmed), evidence

    def _beyond(self) -> tuple[str, str]:
        there = self.grid.where(lambda cell: cell.d >= 5)
        wins = len(there.below(OURS, ORACLE))
        evidence = (
            f"in {wins} of {len(there.cells)} cells, {self._clearly(there, OURS, ORACLE)}; on average "
            f"{there.change(OURS, ORACLE)}"
        )
        return held(2 * wins >= len(there.cells)), evidence

    def _lower(self, method: str, base: str) -> tuple[str, str]:
        change = self.grid.change(method, base)
        wins = len(self.grid.below(method, base))
        counts = f"below in {wins} of {len(self.grid.cells)} cells, {self._clearly(self.grid, method, base)}"
        return held(change.below()), f"{change}, {counts}"

    @staticmethod
    def _clearly(grid: Grid, method: str, *bases: str) -> str:
        below, above = grid.clearly(method, *bases)
        which = "one of them" if len(bases) > 1 else "it"
        return f"by more than {CLEAR:g} standard errors in {below}; above {which} by as much in {above}"

    def _mean(self, method: str) -> str:
        return f"{self.grid.mean(method):.5f}"

    # -- words --------------------------------------------------------------------------------------------------------

    def paragraphs(self) -> list[str]:
        """Return the averages, and what one variance per column changes."""
        return [self._overview(), self._one_variance_per_column()]

    def _overview(self) -> str:
        means = ", ".join(f"{name} {self._mean(name)}" for name in (*MAKERS, ORACLE))
        return (
            f"With {self.label}, mean losses over {len(self.grid.cells)} cells: {means}. MKME closes "
            f"{self.grid.share('MKME'):.1%} of the gap between KME and the oracle, {OURS} {self.grid.share(OURS):.1%}."
            f"{self._beside_nothing()}"
        )

    def _beside_nothing(self) -> str:
        """Return a remark if KME is worse than no estimate at all; otherwise nothing."""
        cells = self.grid.below(ZERO, "KME")
        if not cells:
            return ""
        there = Grid(tuple(cells))
        return (
            f" In {len(cells)} of the cells KME is worse than the zero function, whose mean loss is {self._mean(ZERO)}:"
            f" over these it changes the mean loss of KME by {there.ratio(ZERO, 'KME'):+.0%}, MKME by "
            f"{there.ratio('MKME', 'KME'):+.0%}."
        )

    def _one_variance_per_column(self) -> str:
        """Return how often one variance per column gives the lower score, and how often the higher loss."""
        fitted = self.grid.trials("MMKME", SCORE) < self.grid.trials("MKME", SCORE)
        worse = self.grid.trials("MMKME") > self.grid.trials("MKME")
        ends = (self.grid.where(lambda cell: cell.n == SIZES[0]), self.grid.where(lambda cell: cell.n == SIZES[-1]))
        by_size = ", ".join(
            f"{part.ratio('MMKME', 'MKME'):+.1%} at n = {part.cells[0].n}" for part in ends if part.cells
        )
        change = self.grid.change("MMKME", "MKME")
        pays = "below" if change.below() else "above" if change.above() else "neither clearly below nor clearly above"
        lured = f"{(fitted & worse).mean():.0%} of the samples have both the lower score and the higher loss"
        return (
            f"MMKME has one variance per column where MKME has one for all. With {self.label} its leave-one-out score "
            f"is the lower one in {fitted.mean():.0%} of the samples, its loss the higher one in {worse.mean():.0%}; "
            f"{lured}. Over the grid its mean loss is {pays} MKME's ({change}), relative to it {by_size}. All columns "
            "of these mixtures have the same distribution."
        )

    # -- tables and charts --------------------------------------------------------------------------------------------

    def summary(self) -> TextTable:
        """Return the averages over the grid."""
        rows = [self._summary_row(name) for name in (*MAKERS, ORACLE, ZERO)]
        header = (
            "estimator",
            "mean loss",
            "change from KME",
            "change from MKME",
            "cells below KME",
            "cells below MKME",
        )
        caption = f"Averages over the {len(self.grid.cells)} cells, {self.label}; changes are paired, ± standard error"
        return TextTable(caption, header, tuple(rows))

    def _summary_row(self, name: str) -> tuple[str, ...]:
        changes = ["" if name == base else str(self.grid.change(name, base)) for base in ("KME", "MKME")]
        wins = ["" if name == base else str(len(self.grid.below(name, base))) for base in ("KME", "MKME")]
        return (name, self._mean(name), *changes, *wins)

    def cells(self) -> TextTable:
        """Return the mean loss in every cell; the best estimator is emphasized."""
        names = (*MAKERS, ORACLE)
        rows, best = [], set()
        for index, cell in enumerate(sorted(self.grid.cells, key=lambda cell: (cell.n, cell.d))):
            change = cell.relative("MKME", "KME")
            shown = (*(f"{cell.mean(name):.5f}" for name in names), f"{change.mean:+.1%} ± {change.error:.1%}")
            rows.append((str(cell.n), str(cell.d), *shown, f"{cell.share('MKME'):.0%}"))
            lowest = min(MAKERS, key=cell.mean)
            best.add((index, 2 + names.index(lowest)))
        header = ("n", "d", *names, "MKME from KME", "gap closed")
        caption = (
            f"Mean losses in every cell, {self.label}; MKME's paired change from KME ± standard error, and the part of "
            "the gap between KME and the oracle that it closes"
        )
        return TextTable(caption, header, tuple(rows), frozenset(best))

    def charts(self) -> list[Chart]:
        """Return the panels of the paper, and the same relative to MKME."""
        losses = self._panels(self._losses, "mean loss", True)
        ratios = self._panels(self._relatives, "mean loss / MKME's", False)
        return [
            Chart(f"figure2-{self.rule}", f"Mean loss, {self.label}", losses, ends_of_curves(losses, "Mean loss")),
            Chart(
                f"figure2-{self.rule}-relative",
                f"Mean loss relative to MKME's, {self.label}",
                ratios,
                ends_of_curves(ratios, "Mean loss as a multiple of MKME's"),
            ),
        ]

    def _panels(
        self, curves: Callable[[str, list[Cell]], tuple[Curve, ...]], label: str, logs: bool
    ) -> tuple[Panel, ...]:
        return tuple(
            Panel(f"({letter}) {fixed} = {value}", "d" if fixed == "n" else "n", label, drawn, y_log=logs)
            for letter, (fixed, value) in zip("abcd", LINES, strict=True)
            if (drawn := curves("d" if fixed == "n" else "n", self.grid.line(fixed, value)))
        )

    def _losses(self, free: str, cells: list[Cell]) -> tuple[Curve, ...]:
        found = [
            _curve(name, free, cells, [Estimate.of(cell.values(name)) for cell in cells]) for name in (*MAKERS, ORACLE)
        ]
        return tuple(curve for curve in found if curve.x)

    def _relatives(self, free: str, cells: list[Cell]) -> tuple[Curve, ...]:
        """Return the ratios to MKME's mean loss; with KME only if it does not flatten all other curves."""
        shown = [name for name in MAKERS if name != "KME" or self.grid.mean(name) < 2 * self.grid.mean("MKME")]
        found = []
        for name in (*shown, ORACLE):
            changes = [cell.relative(name, "MKME") for cell in cells]
            found.append(_curve(name, free, cells, [one.shifted(1.0) for one in changes]))
        return tuple(curve for curve in found if curve.x)


def _curve(name: str, free: str, cells: list[Cell], values: list[Estimate]) -> Curve:
    places = tuple(float(getattr(cell, free)) for cell in cells)
    means, errors = tuple(value.mean for value in values), tuple(value.error for value in values)
    return Curve(name, places, means, errors, dashed=name == ORACLE)
