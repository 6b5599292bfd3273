"""The page of estimates: the scores of all estimators side by side, and their noise in every column."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.array import SILENT, Progress
from ...core.words import rounded, signed
from ...inference.null_page import made_by
from ...report import Chart, Document, Grid, Section
from ..estimate import Fits
from ..plots.estimators import gains_panel
from ..study import page
from .parts import caveats


@page.register(Fits)
def estimate_page(result: Fits, progress: Progress = SILENT) -> Document:
    """Return the page of what :func:`kernelmean.studies.fit_all` found.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.studies import fit_all
    >>> page = estimate_page(fit_all(np.random.default_rng(0).normal(size=(30, 2))))
    >>> [section.title for section in page.sections]
    ['Scores', 'The noise of every column', 'What to keep in mind']
    """
    del progress
    description = result.describe()
    (scores,) = description.grids
    noises = {name: chosen["noise"] for name in result.estimators if "noise" in (chosen := result.parameters(name))}
    sections = (_scores(result, scores), *([_noise(result, noises)] if noises else []))
    return Document(
        title=description.title,
        headline=description.sentence,
        summary=(),
        sections=(*sections, caveats(_caveats(), description.notes)),
        made_by=(*made_by(None, result.seed), *description.facts),
    )


def _scores(result: Fits, scores: Grid) -> Section:
    words = (
        "The score is the leave-one-out estimate of the squared distance between an estimate and the kernel mean of "
        "the distribution that the rows come from, up to a constant that all estimators share: lower is better. Every "
        "estimator chose its parameters by it."
    )
    title = "How much lower than the empirical kernel mean (kme)"
    gains = {name: result.gain(name) for name in result.estimators}
    best = max(gains, key=lambda name: gains[name])
    text = f"Bars to the right are better; the longest is that of {best}, {rounded(gains[best])}."
    chart = Chart("scores", title, (gains_panel(gains),), text)
    return Section("Scores", (words,), tables=(scores.table(),), charts=(chart,))


def _noise(result: Fits, noises: dict[str, list[float]]) -> Section:
    """Return the standard deviation of the noise in every column, beside that of the column itself."""
    words = (
        "mkme, mmkme and vpmkme replace every row by a cloud. These are the standard deviations of the clouds, in the "
        "units of the table; 0 leaves the column as it is."
    )
    deviations = result.table.deviations()
    rows = [
        (name, signed(deviations[j]), *(signed(noise[j]) for noise in noises.values()))
        for j, name in enumerate(result.table.names)
    ]
    grid = Grid("Standard deviations", ("column", "of the column", *noises), rows, noun="column")
    return Section("The noise of every column", (words, *grid.words_on_rest()), tables=(grid.table(),))


def _caveats() -> Iterator[str]:
    yield "Scores are in squared units of the kernel: compare them with each other, not with those of other tables."
    yield "The lowest score is the best guess from these rows; other rows may favour another estimator."
