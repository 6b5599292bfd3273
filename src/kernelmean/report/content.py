"""What the writers of documents share: signs of outcomes, charts as numbers and words, columns of numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from .._table import count
from .document import Chart, Curve, Document, Panel, Table, Verdict

OUTCOMES = {
    "reproduced": ("✓", "good"),
    "holds": ("✓", "good"),
    "same ordering": ("≈", "part"),
    "not reproduced": ("✗", "bad"),
    "fails": ("✗", "bad"),
    "undecided": ("?", "none"),
    "not measured": ("–", "none"),
}
"""The sign of an outcome, and its part in the palette."""
UNKNOWN = ("•", "none")
BARS = "Bars and shaded strips around lines are one standard error to either side."
_NUMBER = re.compile(r"[+\-−<>≤≥~≈(\s]*\.?\d")


def tally(document: Document) -> str:
    """Return how often each outcome was reached, in words."""
    verdicts = [verdict for section in document.sections for verdict in section.verdicts]
    return f"{count(len(verdicts), 'verdict')}, each by a rule from the numbers: {counted(verdicts)}."


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many verdicts have each outcome, in words.

    Examples
    --------
    >>> counted([Verdict("It adds up", outcome, "", "") for outcome in ("fails", "holds", "fails")])
    '1 holds, 2 fails'
    """
    counts = Counter(verdict.outcome for verdict in verdicts)
    order = [*OUTCOMES, *sorted(counts.keys() - OUTCOMES.keys())]
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in order if counts[outcome])


def numeric_columns(table: Table) -> list[bool]:
    """Say of each column whether all its filled cells begin with a number."""
    columns = [[row[k] for row in table.rows if k < len(row) and row[k].strip()] for k in range(len(table.header))]
    return [bool(cells) and all(_NUMBER.match(cell) or cell in "–—-" for cell in cells) for cells in columns]


def check_table(table: Table) -> None:
    """Raise when a row has not as many cells as the header."""
    for row in table.rows:
        if len(row) != len(table.header):
            raise ValueError(
                f"table {table.caption!r}: the row {row!r} has {len(row)} cells, the header {len(table.header)}"
            )


def labels(chart: Chart) -> list[str]:
    """Return the labels of the curves that have points, each once, in their order."""
    return list(dict.fromkeys(curve.label for panel in chart.panels for curve in panel.curves if curve.x))


def has_errors(chart: Chart) -> bool:
    """Say whether there are standard errors to be drawn."""
    return any(curve.errors for panel in chart.panels for curve in panel.curves)


def numbers(chart: Chart) -> Table:
    """Return what a chart draws as a table."""
    rows = [
        (panel.title, curve.label, _number(x), _number(y), _number(error) if curve.errors else "")
        for panel in chart.panels
        for curve in panel.curves
        for x, y, error in zip(curve.x, curve.y, curve.errors or curve.y, strict=True)
    ]
    rows += [
        (p.title, b.label, "", f"{_number(b.low)} to {_number(b.high)}", "") for p in chart.panels for b in p.bands
    ]
    rows += [(panel.title, label, _number(at), "", "") for panel in chart.panels for label, at in panel.marks]
    x, y = ({getattr(panel, f"{axis}_label") for panel in chart.panels} for axis in "xy")
    header = ("panel", "line", x.pop() if len(x) == 1 else "x", y.pop() if len(y) == 1 else "y", "standard error")
    first = 0 if len(chart.panels) > 1 else 1
    return Table(f"Numbers of: {chart.title}", header[first:], tuple(row[first:] for row in rows))


def describe(panel: Panel) -> str:
    """Return a panel in words: its axes, where its lines begin and end, its strips and marks."""
    parts = [f"{panel.y_label}{_log(panel.y_log)} against {panel.x_label}{_log(panel.x_log)}."]
    parts += [_line(curve) for curve in panel.curves if curve.x]
    parts += [f"{band.label}: from {_number(band.low)} to {_number(band.high)}." for band in panel.bands]
    parts += [f"{label}: at {_number(at)}." for label, at in panel.marks]
    return " ".join(parts)


def _line(curve: Curve) -> str:
    first, last = (f"{_number(curve.y[k])} at {_number(curve.x[k])}" for k in (0, -1))
    return (
        f"{curve.label}: {first}." if len(curve.x) == 1 else f"{curve.label}: from {first} to {last}{_lowest(curve)}."
    )


def _lowest(curve: Curve) -> str:
    """Return where a line is lowest, if not at an end."""
    inner: Sequence[int] = [k for k in range(len(curve.y)) if math.isfinite(curve.y[k])]
    lowest = min(inner, key=curve.y.__getitem__, default=0)
    between = 0 < lowest < len(curve.y) - 1
    return f", lowest {_number(curve.y[lowest])} at {_number(curve.x[lowest])}" if between else ""


def _log(logarithmic: bool) -> str:
    return " (logarithmic)" if logarithmic else ""


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−") if math.isfinite(value) else "not measured"
