"""The report on the checks of errata and theory: rules, tables, charts, and sentences made from numbers."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from kernelmean.report import TextTable

from . import spread, theory, theory_report
from .arrays import Array
from .brute_force import DIM, NOISE, POINTS, SMALL, SPREAD, THETAS
from .contradictions import TRIALS, Contradiction, contradictions, equal_cells, misfit
from .density_tasks import COMPONENTS
from .errata import ERRATA, Erratum, Triple, relative_errors
from .experiment import Findings, Setting
from .judged import Section, Verdict
from .one_column import INFLATIONS, LEVEL, OF_ONE_COLUMN, ROWS, SHARE, inflated
from .paper import ESTIMATORS, TABLE4
from .t_tables import DISTRIBUTIONS, FREEDOM
from .verdicts import HOLDS, NOT_MEASURED, SINGLE, held, verdict
from .wording import count, listed

SIDES = ("printed", "corrected", "reference")
COLUMN, OVER_DISTRIBUTIONS = "HSIC table", "spread over laws"
"""The checks of the HSIC table's column of MMKME, and of the tables on t-distributions."""

EXACT, APART = 0.01, 0.05
"""The largest relative error of a correct formula, and the smallest one of a wrong formula."""
SAME = 1e-3
"""Variances, in units of θ², that differ by less count as equal."""
SURE = 0.999
"""The joint confidence of all bounds on powers."""


def report(title: str, findings: Findings) -> Section:
    """Return the section; checks without trials are left out of tables and charts."""
    errata = [Errors(findings, one) for one in ERRATA]
    scatter = Scatter(findings)
    found = (*contradictions(), *scatter.contradictions)
    shown = [one for one in errata if one.triples]
    return Section(
        title,
        paragraphs=(_words(shown, found), *theory_report.words(findings)),
        verdicts=(
            *(one.verdict() for one in errata),
            *(_contradiction(one) for one in contradictions()),
            *_column_verdicts(findings),
            scatter.verdict(),
            *theory_report.verdicts(findings),
        ),
        tables=((_errata_table(shown),) if shown else ()) + (_contradictions_table(found),),
        charts=theory_report.charts(findings),
        settings=_SETTINGS,
    )


_SETTINGS = (
    (
        "Points of the errata",
        f"{POINTS} standard normal points in {DIM} columns, θ from {THETAS[0]:g} to {THETAS[1]:g}, variances of the "
        f"noise from {SPREAD[0]:g} to {SPREAD[1]:g} times {NOISE:g} θ² ({SMALL:g} θ² where weights change), new ones "
        "in every trial",
    ),
    (
        "References",
        "Gauss-Hermite sums for expectations, finite differences for derivatives, enumeration of distributions on few "
        "atoms and of splits: nothing of the library",
    ),
    ("Printed theorems", "as printed, the square in the exponent of k' restored, for it is an erratum of its own"),
    (
        "Distributions of the theory",
        f"the mixtures of figure 2 with {theory.DIM} columns; θ² = median of squared distances",
    ),
    ("Risk", "E|μ̃ - μ|² over samples, exact: a bilinear form of Gaussian mixtures"),
    (
        "Scatter over distributions",
        f"t-distributions with {FREEDOM} degrees of freedom as in Tables 1 and 2, d = {spread.DIM}, n = {spread.ROWS}; "
        f"{COMPONENTS} spherical components, stopped early by NLL",
    ),
    (
        "HSIC table",
        f"α = {LEVEL}, η = {SHARE}: {ROWS} pairs without replacement; MMKME as the paper defines it, one σ² a column",
    ),
)


def _words(errors: list[Errors], found: tuple[Contradiction, ...]) -> str:
    """Return in plain words what is wrong in the paper."""
    wrong = sum(one.verdict().outcome == HOLDS for one in errors)
    cells = sum(len(one.cells) for one in found)
    partly = sum(one.erratum.partly for one in errors)
    formulas = (
        f"Of {count(len(errors), 'formula')} of the paper ({partly} of them partly mended, to show that more is "
        f"wrong), brute force contradicts {wrong} and finds the corrected ones"
    )
    return (
        f"{formulas if errors else 'No formula was checked yet'}. The printed tables contradict each other, the text, "
        f"or what {TRIALS} trials can give, in {count(cells, 'place')}; those are found by code in the numbers as "
        "printed, under the rules of the verdicts. No linear form of the marginalized estimate is needed to compute "
        "it: it has a closed form."
    )


class Errors:
    """The trials of one erratum."""

    def __init__(self, findings: Findings, erratum: Erratum) -> None:
        self.erratum = erratum
        self._findings, self._settings = findings, findings.where(check=erratum.name)
        sides = [self._values(side) for side in SIDES]
        self.triples = [Triple(*values) for values in zip(*sides, strict=False)]

    def _values(self, side: str) -> Array:
        """Return the numbers (trials, k) of a side."""
        names = self.erratum.quantities
        return np.stack([values_of(self._findings, self._settings, side, name) for name in names], axis=-1)

    @property
    def side(self) -> str:
        """What the printed side is."""
        return "partly mended" if self.erratum.partly else SIDES[0]

    def verdict(self) -> Verdict:
        """Return whether brute force finds the corrected formula, and not the printed one."""
        one = self.erratum
        return verdict(
            f"Erratum {one.number}, {one.where}: {one.corrected}; not {f'({self.side}) ' if one.partly else ''}"
            f"{one.printed}",
            f"holds: of the {one.quantity} the corrected formula misses the reference by at most {EXACT:.0%}, the "
            f"{self.side} one by at least {APART:.0%} (norms over the trials, in units of the reference's"
            f"{'; all components of the vector are compared' if one.size > 1 else ''})",
            self._findings,
            self._settings,
            self._judge,
        )

    def _judge(self) -> tuple[str, str]:
        printed, corrected = relative_errors(self.triples)
        words = f"the {self.side} formula is off by {printed:.3g}, the corrected one by {corrected:.2g}, in units of "
        return held(
            corrected <= EXACT and printed >= APART
        ), words + f"the reference; {count(len(self.triples), 'trial')}"

    def row(self) -> tuple[str, ...]:
        """Return the row of the table, with the numbers of the first trial."""
        one, first = self.erratum, self.triples[0]
        numbers = (f"{side[0]:.5g}" for side in (first.printed, first.corrected, first.reference))
        errors = (f"{value:.2g}" for value in relative_errors(self.triples))
        partly = f" ({self.side})" if one.partly else ""
        return (str(one.number), f"{one.where}: {one.quantity}{partly}", *numbers, *errors, self.verdict().outcome)


def values_of(findings: Findings, settings: list[Setting], method: str, measure: str) -> Array:
    """Return the values (trials,) of the one setting; empty if there is none."""
    return findings.values(settings[0], method, measure) if settings else np.empty(0)


def _errata_table(errors: list[Errors]) -> TextTable:
    header = ("erratum", "where: quantity", *SIDES, "error of printed", "error of corrected", "verdict")
    caption = (
        "Formulas: the numbers of the first trial, of vectors the first component, and the relative errors over all "
        "components and trials"
    )
    return TextTable(caption, header, tuple(one.row() for one in errors))


def _contradictions_table(found: tuple[Contradiction, ...]) -> TextTable:
    rows = tuple((str(one.number), one.statement, cell) for one in found for cell in one.cells)
    return TextTable(
        "Printed tables: cells that contradict each other or the text", ("erratum", "statement", "cell"), rows
    )


def _contradiction(found: Contradiction) -> Verdict:
    claim, rule = f"Erratum {found.number}: {found.statement}", f"holds: {found.rule}"
    return Verdict(claim, held(bool(found.cells)), "; ".join(found.cells) or "no such cell", rule)


class Scatter:
    """How much the numbers of the tables on t-distributions scatter, and which of them contradict each other."""

    def __init__(self, findings: Findings) -> None:
        self._findings, self._settings = findings, findings.where(check=OVER_DISTRIBUTIONS)
        values = [values_of(findings, self._settings, name, spread.NLL) for name in ESTIMATORS]
        self.trials = min(map(len, values))
        self.deviation = max(float(one.std(ddof=1)) for one in values) if self.trials > 1 else np.nan

    @property
    def error(self) -> float:
        """The standard error of the difference of two printed means, of independent distributions."""
        return float(self.deviation * np.sqrt(2.0 / DISTRIBUTIONS))

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """What does not fit; empty if the scatter was not measured."""
        return (misfit(self.error),) if self.trials > 1 else ()

    def verdict(self) -> Verdict:
        """Return whether a printed number does not fit, and which ones."""
        plain = misfit(np.inf)
        rule = (
            f"holds: {plain.rule}; the error is SD √(2/{DISTRIBUTIONS}), for {DISTRIBUTIONS} distributions of each, "
            "with the largest SD over distributions that we measure with the five estimators at d = 10, n = 100"
        )
        return verdict(f"Erratum {plain.number}: {plain.statement}", rule, self._findings, self._settings, self._judge)

    def _judge(self) -> tuple[str, str]:
        if self.trials < 2:
            return NOT_MEASURED, SINGLE
        found = misfit(self.error).cells
        scatter = f"SD {self.deviation:.2f} over {count(self.trials, 'distribution')}"
        words = f"{scatter}, {len(found)} of {len(ESTIMATORS)} estimators"
        return held(bool(found)), "; ".join((words, *found))


def _column_verdicts(findings: Findings) -> list[Verdict]:
    """Return verdicts on the MMKME column of the HSIC table."""
    settings = findings.where(check=COLUMN)
    return [
        verdict(
            "Erratum 9: of one column MMKME is MKME, so the MMKME column is not of the method as described",
            f"holds: the σ² of both differ by less than {SAME:g} θ² in every trial, and the printed columns differ",
            findings,
            settings,
            lambda: _same_noise(findings, settings),
        ),
        verdict(
            f"Erratum 9: no noise on x and y gives the printed power of MMKME at η = {SHARE}, α = {LEVEL}",
            f"holds: the exact upper bounds ({SURE:.1%} together) on the powers under all pairs of the variances "
            f"{listed(f'{share:g}' for share in INFLATIONS)} (in units of θ²) are below it",
            findings,
            settings,
            lambda: _out_of_reach(findings, settings),
        ),
    ]


def _same_noise(findings: Findings, settings: list[Setting]) -> tuple[str, str]:
    one, two = OF_ONE_COLUMN
    gaps = [
        np.abs(values_of(findings, settings, one, measure) - values_of(findings, settings, two, measure)).max()
        for measure in ("σ² of x", "σ² of y")
    ]
    same = len(equal_cells(TABLE4, one, two))
    evidence = (
        f"largest difference {max(gaps):.1g} θ²; the printed columns agree in {same} of {len(TABLE4.values)} rows"
    )
    return held(max(gaps) < SAME and same < len(TABLE4.values)), evidence


def powers(findings: Findings, settings: list[Setting]) -> dict[tuple[float, float], tuple[int, int]]:
    """Return the rejections and trials of HSIC by the variances on x and y."""
    pairs = [(one, two) for one in INFLATIONS for two in INFLATIONS]
    found = {pair: values_of(findings, settings, "HSIC", inflated(*pair)) for pair in pairs}
    return {pair: (int(values.sum()), len(values)) for pair, values in found.items()}


def _out_of_reach(findings: Findings, settings: list[Setting]) -> tuple[str, str]:
    printed = TABLE4.values[f"{LEVEL} {SHARE}"]["MMKME"]
    found = powers(findings, settings)
    (one, two), (hits, trials) = max(found.items(), key=lambda item: item[1][0])
    bound = max(upper_bound(*counts, (1 - SURE) / len(found)) for counts in found.values())
    evidence = (
        f"the largest power is {hits / trials:.3f} (σ² of {one:g} θ² on x, {two:g} θ² on y; {trials} trials), the "
        f"largest upper bound {bound:.3f}; printed is {printed:.3f}"
    )
    return held(bound < printed), evidence


def upper_bound(hits: int, trials: int, error: float) -> float:
    """Return the exact (Clopper-Pearson) upper bound of a probability, wrong with a probability of at most ``error``.

    Examples
    --------
    >>> round(upper_bound(0, 50, 0.05), 4)
    0.0582
    """
    return 1.0 if hits == trials else float(beta.ppf(1 - error, hits + 1, trials - hits))
