"""The page of densities: which describes new rows best, the components of the mixture, and its marginals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...core.array import SILENT, Progress
from ...core.words import count, listed, percent, rounded, signed
from ...inference import TestResult
from ...inference.null_page import made_by, null_section
from ...report import Chart, Document, Section, TextTable
from ...report.description import Grid
from ..density import Densities
from ..plots.density import curve_panel
from ..study import page
from .parts import caveats

_MOST_COMPONENTS, _MOST_COLUMNS, _MOST_PANELS = 20, 8, 6


@page.register(Densities)
def density_page(result: Densities, progress: Progress = SILENT) -> Document:
    """Return the page of what :func:`kernelmean.studies.density.fit_densities` found.

    Examples
    --------
    >>> from kernelmean.studies.density import fit_densities
    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> page = density_page(fit_densities(rows, estimator="mkme", n_components=[1]))
    >>> [section.title for section in page.sections]
    ['Rows held out', 'The mixture', 'The mixture beside the data', 'What to keep in mind']
    """
    del progress
    description = result.describe()
    (losses,) = description.grids
    check = () if result.check is None else (_check(result.check),)
    sections = (_scores(losses), *check, _components(result), _marginals(result))
    return Document(
        title=description.title,
        headline=description.sentence,
        summary=(_fitted(result),),
        sections=(*sections, caveats(_caveats(result), description.notes)),
        made_by=(*made_by(None, result.seed), *description.facts),
    )


def _fitted(result: Densities) -> str:
    """Return what kernel mean matching chose, and how far it is behind if it is clearly not the best."""
    ours = next(one for one in result.candidates if one.name == "kernel mean matching")
    gap = f"{ours.behind:.3f} ± {ours.behind_error:.3f} nats a row behind {result.candidates[0].name}"
    behind = f" It is {gap}." if ours.clearly_behind else ""
    return f"Kernel mean matching chose by cross-validation on the training rows: {ours.choice}.{behind}"


def _scores(losses: Grid) -> Section:
    words = (
        "The loss is the mean negative log density of rows that no fit has seen: lower is better, and one nat less "
        "means that rows are e = 2.7 times as likely. The error is one standard error. For a difference, after ±, it "
        "is computed row by row."
    )
    return Section("Rows held out", (words,), tables=(losses.table(),))


def _check(check: TestResult) -> Section:
    """Return whether the held-out rows come from the mixture of the training rows."""
    test = null_section(check, "rows were drawn from the mixture that was fitted to the training rows", check.facts())
    return replace(test, title="Whether the rows held out come from the mixture")


def _components(result: Densities) -> Section:
    """Return the components of the mixture as means and standard deviations in the units of the table."""
    mixture, names = result.mixture(), result.table.names[:_MOST_COLUMNS]
    covariances = mixture.covariances
    variances = covariances if covariances.ndim == 2 else np.diagonal(covariances, axis1=1, axis2=2)
    order = np.argsort(-mixture.weights, kind="stable")[:_MOST_COMPONENTS]
    rows = tuple(
        (
            f"{k + 1}",
            percent(float(mixture.weights[which])),
            *(
                f"{signed(mixture.means[which, j])} ± {rounded(np.sqrt(variances[which, j]))}"
                for j in range(len(names))
            ),
        )
        for k, which in enumerate(order)
    )
    hidden = len(mixture.weights) - len(order), len(result.table.names) - len(names)
    left = [count(n, noun) for n, noun in zip(hidden, ("component", "column"), strict=True) if n]
    words = (f"Left out here: {listed(left)}.",) if left else ()
    caption = "Components of the mixture, the heaviest first: mean ± standard deviation, in the units of the table"
    return Section("The mixture", words, tables=(TextTable(caption, ("component", "weight", *names), rows),))


def _marginals(result: Densities) -> Section:
    shown = result.table.names[:_MOST_PANELS]
    panels = tuple(curve_panel(result, j, name) for j, name in enumerate(shown))
    hidden = len(result.table.names) - len(shown)
    words = (f"The first {len(shown)} of {len(result.table.names)} columns.",) if hidden else ()
    text = f"The density of the fitted mixture over histograms of {listed(shown)}."
    return Section(
        "The mixture beside the data", words, charts=(Chart("marginals", "One column at a time", panels, text),)
    )


def _caveats(result: Densities) -> Iterator[str]:
    yield "Scores are of one split into training and held-out rows; another seed gives another split."
    yield (
        "The mixture shown was fitted to all rows with the choices of the training rows; the scores are of fits to the "
        "training rows alone."
    )
    yield (
        "Components are pieces that make up the density, not groups of rows: another number of them may describe the "
        "rows as well."
    )
    if result.scaled:
        yield "Scores are of standardised columns: compare them with each other, not with those of other tables."
