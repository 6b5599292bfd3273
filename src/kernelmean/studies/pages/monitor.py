"""The page of a monitor: the verdict, the evidence batch by batch, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.words import count
from ...inference.monitoring import DriftState, Guarantee
from ...inference.null_page import made_by
from ...report import Chart, Curve, Description, Document, Panel, Section
from .parts import caveats

FIGURES = ("evidence",)
"""The names of the charts."""


def monitor_page(state: DriftState, said: Description, batches: Sequence[Mapping[str, Any]], seed: int) -> Document:
    """Return the page of a monitor.

    Parameters
    ----------
    state : DriftState
        The state of the monitor.
    said : Description
        What the terminal says about it.
    batches : sequence of mappings
        The batches of this run in order, each with the ``"log_wealth"`` after it.
    seed : int
        The seed of the run.
    """
    sections = (_evidence(state, said, batches), caveats(_caveats(state), said.notes))
    return Document(
        title=said.title,
        headline=said.sentence,
        summary=(),
        sections=sections,
        made_by=(*made_by(None, seed), *said.facts),
    )


def _evidence(state: DriftState, said: Description, batches: Sequence[Mapping[str, Any]]) -> Section:
    words = (
        "Gamblers bet against the claim that nothing has changed. Without drift none of them can expect to win, so a "
        "large wealth is evidence of drift. Drift is found where the wealth of the richest gambler reaches "
        f"{math.exp(_threshold(state)):,.4g}."
    )
    charts: tuple[Chart, ...] = ()
    if batches:
        title = "The wealth of the richest gambler after every batch"
        charts = (Chart(FIGURES[0], title, (wealth_panel(state, batches),), _text(state, batches)),)
    tables = tuple(grid.table() for grid in said.grids if grid.rows)
    rest = tuple(text for grid in said.grids for text in grid.words_on_rest())
    return Section("The evidence", (words, *rest), tables=tables, charts=charts)


def wealth_panel(state: DriftState, batches: Sequence[Mapping[str, Any]]) -> Panel:
    """Return the wealth after every batch, in powers of ten, and the wealth of an alarm.

    Examples
    --------
    >>> panel = wealth_panel(DriftState(5, 0.0, 0.0, 0.01, None, None), [{"log_wealth": 0.0}])
    >>> panel.curves[0].y, round(panel.curves[1].y[0], 6)
    ((0.0,), 2.0)
    """
    known = [(k, one["log_wealth"] / math.log(10.0)) for k, one in enumerate(batches, 1)]
    known = [(k, wealth) for k, wealth in known if math.isfinite(wealth)]
    ends = (1.0, float(max(len(batches), 2)))
    curves = (
        Curve("wealth", tuple(float(k) for k, _ in known), tuple(wealth for _, wealth in known)),
        Curve("an alarm", ends, (_threshold(state) / math.log(10.0),) * 2, dashed=True),
    )
    return Panel("", "batch, in the order of time", "wealth, as a power of 10", curves)


def _threshold(state: DriftState) -> float:
    """Return the logarithm of the wealth of an alarm."""
    return Guarantee(state.alpha, state.average_run_length).log_threshold


def _text(state: DriftState, batches: Sequence[Mapping[str, Any]]) -> str:
    reached = [k for k, one in enumerate(batches, 1) if one["log_wealth"] >= _threshold(state)]
    above = "no batch ends above it"
    if reached:
        above = f"it is passed after {len(reached):,} of {count(len(batches), 'batch')}, batch {reached[0]} first"
    return f"The dashed line is the wealth of an alarm; {above}."


def _caveats(state: DriftState) -> Iterator[str]:
    yield f"The promise is {Guarantee(state.alpha, state.average_run_length)}, however often you look."
    yield "It holds where rows are independent of each other; rows in bundles, such as many rows of one user, are not."
    if not state.drift:
        yield "That no drift was found does not show that there is none."
