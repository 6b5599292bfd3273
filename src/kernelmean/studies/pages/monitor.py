"""The page of a monitor: the verdict, the evidence batch by batch, and what it promises."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.words import count
from ...inference.monitoring import DriftState, Guarantee
from ...inference.null_page import made_by
from ...inference.wording import brief
from ...report import Chart, Curve, Description, Document, Panel, Section
from ...report.description import MOST_ROWS, Grid
from .parts import caveats

"""The names of the charts."""
GLANCE = ("alarm", "began", "see what changed", "command", "next")
"""The facts that a page shows at the top."""
_MOST = 100
"""Of larger evidence only the power of ten is shown."""
EVIDENCE = (
    "Evidence is what the richest of many gamblers owns who start with 1 and bet that rows have changed; without drift "
    "none can expect to win, so it stays small"
)


def monitor_page(
    state: DriftState,
    description: Description,
    batches: Sequence[Mapping[str, Any]],
    alarm: int | None,
    seed: int,
    *,
    path: Sequence[Mapping[str, Any]],
    earlier: Mapping[str, Any] | None = None,
) -> Document:
    """Return the page of a monitor.

    Parameters
    ----------
    state : DriftState
        The state of the monitor.
    description : Description
        What the terminal says about it.
    batches : sequence of mappings
        The batches of this run in order, each with the ``"log_wealth"`` after it.
    alarm : int or None
        The position of the batch in which drift was found, if it is one of them.
    seed : int
        The seed of the run.
    path : sequence of mappings
        The batches of this run and of earlier ones, each with the ``"log_wealth"`` after it.
    earlier : mapping, optional
        The batch of an alarm in an earlier run.
    """
    grid = batch_grid(batches, alarm, MOST_ROWS, earlier)
    table = [Section("The batches", tables=(grid.table(),))] if grid.rows else []
    return Document(
        title=description.title,
        headline=description.sentence,
        overview=tuple((name, (text,)) for name, text in description.facts if name in GLANCE),
        summary=(),
        sections=(_evidence(state, path), *table, caveats(_caveats(state), description.notes)),
        made_by=(*made_by(None, seed), *(fact for fact in description.facts if fact[0] not in GLANCE)),
    )


def batch_grid(
    batches: Sequence[Mapping[str, Any]], alarm: int | None, most: int, earlier: Mapping[str, Any] | None = None
) -> Grid:
    """Return at most so many batches: those around the alarm, or the last ones after that of an earlier alarm."""
    end = len(batches) if alarm is None else max(alarm + most // 2, most)
    end = min(end, len(batches))
    start = max(end - most, 0)
    title = "Batches"
    if end - start < len(batches):
        title += f" {start + 1:,} to {end:,} of {len(batches):,}"
    shown = [(one, "here" if k == alarm else "") for k, one in enumerate(batches[start:end], start)]
    shown = [*([(earlier, "in an earlier run")] if earlier else []), *shown]
    columns = 4 if any(where for _, where in shown) else 3
    header = ("batch", "rows", "evidence", "alarm")[:columns]
    rows = [
        (brief(str(one["batch"])), f"{one['rows']:,}", in_words(one["log_wealth"]), where)[:columns]
        for one, where in shown
    ]
    return Grid(title, header, rows, noun="batch", whole=True)


def in_words(log_wealth: float) -> str:
    """Return a wealth in at least three digits, from its logarithm."""
    if log_wealth >= _MOST * math.log(10.0):
        return f"> 1e{_MOST}"
    return f"{math.exp(log_wealth):,.0f}" if 3.0 < log_wealth / math.log(10.0) < 6.0 else f"{math.exp(log_wealth):.3g}"


def _evidence(state: DriftState, batches: Sequence[Mapping[str, Any]]) -> Section:
    words = f"{EVIDENCE}. Drift is found where it reaches {math.exp(threshold(state)):,.4g}."
    charts: tuple[Chart, ...] = ()
    if batches:
        title = "The evidence after every batch"
        charts = (Chart("evidence", title, (wealth_panel(state, batches),), _text(state, batches)),)
    return Section("The evidence", (words,), charts=charts)


def wealth_panel(state: DriftState, batches: Sequence[Mapping[str, Any]]) -> Panel:
    """Return the evidence after every batch, in powers of ten, and that of an alarm.

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
        Curve("evidence", tuple(float(k) for k, _ in known), tuple(wealth for _, wealth in known)),
        Curve("an alarm", ends, (threshold(state) / math.log(10.0),) * 2, dashed=True),
    )
    return Panel("", "batch, in the order of time", "evidence, as a power of 10", curves)


def threshold(state: DriftState) -> float:
    """Return the logarithm of the wealth of an alarm."""
    return Guarantee(state.alpha, state.average_run_length).log_threshold


def _text(state: DriftState, batches: Sequence[Mapping[str, Any]]) -> str:
    reached = [k for k, one in enumerate(batches, 1) if one["log_wealth"] >= threshold(state)]
    above = "no batch ends above it"
    if reached:
        name = brief(str(batches[reached[0] - 1]["batch"]))
        ends = f"{len(reached):,} of {count(len(batches), 'batch')} {'ends' if len(reached) == 1 else 'end'} above it"
        above = f"{ends}, first batch {reached[0]:,} ({name})"
    return f"The dashed line is the evidence of an alarm; {above}."


def _caveats(state: DriftState) -> Iterator[str]:
    yield f"The promise is {Guarantee(state.alpha, state.average_run_length)}, however often you look."
    yield "It holds where rows are independent of each other; rows in bundles, such as many rows of one user, are not."
    if not state.drift:
        yield "That no drift was found does not show that there is none."
