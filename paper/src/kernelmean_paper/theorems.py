"""The paper's theorems: errata demonstrated by numbers, and the theory that holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import ClassVar

import numpy as np

from . import theory
from .errata import ERRATA, Erratum
from .experiment import Context, Experiment, Finding, Findings, Setting, Size
from .hsic_reading import DATA
from .judged import Section
from .one_column import one_column
from .spread import over_distributions
from .theorems_report import COLUMN, OVER_DISTRIBUTIONS, SIDES, report
from .theory_report import CONSISTENCY, DAMPING, FORMS, RISK, ROWS, SIZES, SLOPE, SPECTRUM

Measure = Callable[[np.random.Generator, Context], list[Finding]]


@dataclass(frozen=True)
class Check:
    """A measurement: how, and how often."""

    measure: Measure
    quick: int
    full: int


class Theorems(Experiment):
    """Live checks of the paper's errata, and of what theory says about marginalized estimates."""

    name: ClassVar[str] = "theorems"
    title: ClassVar[str] = "Theorems: errata and theory"

    def settings(self, size: Size) -> list[Setting]:
        """Return one setting for every check; consistency has one for every n."""
        quick = size is Size.QUICK
        plain = [Setting({"check": name}, one.quick if quick else one.full) for name, one in CHECKS.items()]
        return [*plain, *(Setting({"check": CONSISTENCY, "n": n}, 10 if quick else 100) for n in SIZES)]

    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        """Measure all sides of a check once."""
        if setting.values["check"] == CONSISTENCY:
            return theory.consistency(rng, int(setting.values["n"]))
        return CHECKS[str(setting.values["check"])].measure(rng, context)

    def needs(self, setting: Setting) -> tuple[str, ...]:
        """Return the data set of the HSIC table, for the check of its power."""
        return (DATA,) if setting.values["check"] == COLUMN else ()

    def section(self, findings: Findings) -> Section:
        """Return the errata with their numbers, and the theory with its charts."""
        return report(self.title, findings)


def _erratum(erratum: Erratum) -> Measure:
    """Return the printed, the corrected and the reference numbers as findings."""

    def measure(rng: np.random.Generator, _: Context) -> list[Finding]:
        found = zip(SIDES, astuple(erratum.measure(rng)), strict=True)
        return [
            Finding(side, quantity, float(value))
            for side, values in found
            for quantity, value in zip(erratum.quantities, values, strict=True)
        ]

    return measure


CHECKS: dict[str, Check] = {
    DAMPING: Check(lambda rng, _: theory.damping(), 1, 1),  # noqa: ARG005 - nothing is random in it
    SPECTRUM: Check(lambda rng, _: theory.spectrum(rng), 20, 100),
    SLOPE: Check(lambda rng, _: theory.slope(rng), 20, 100),
    FORMS: Check(lambda rng, _: theory.linear_forms(rng), 10, 50),
    RISK: Check(lambda rng, _: theory.risks(rng, ROWS), 60, 300),
    COLUMN: Check(one_column, 40, 200),
    OVER_DISTRIBUTIONS: Check(over_distributions, 10, 30),
    **{one.name: Check(_erratum(one), 6, 30) for one in ERRATA},
}
"""The check that is measured once for every n of :data:`SIZES` is not among them."""
