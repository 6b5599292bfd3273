"""The page of a search for change points: the columns over time, and the changes in numbers."""

from __future__ import annotations

from dataclasses import replace

from ...core.array import Progress
from ...core.words import count
from ...report import Chart, Document, Section
from ..changes import Changes
from ..changes.finding import MOST_ROWS
from ..plots.changes import series_panels, shown
from ..study import page

_TITLE = "The columns over time"


@page.register(Changes)
def changes_page(result: Changes, progress: Progress) -> Document:
    """Return the page of what :func:`kernelmean.changes` found."""
    del progress
    described = result.describe().document()
    text = "Means of equal stretches of rows; vertical lines are change points, dashed lines the means of segments."
    if result.points and not any(point.columns for point in result.points):
        text += " No column changes on its own, so these means need not show the change."
    hidden = len(result.encoded.in_table_order()) - len(shown(result))
    if hidden and any(point.columns for point in result.points):
        few = f", by at most {MOST_ROWS:,} rows on either side" if result.n_rows > MOST_ROWS else ""
        text += f" {count(hidden, 'column')} more: no change was found in {'it' if hidden == 1 else 'them'} alone{few}."
    elif hidden:
        text += f" Only the first columns are shown, of {len(result.encoded.in_table_order()):,}."
    series = Section(_TITLE, charts=(Chart("series", _TITLE, series_panels(result), text),))
    return replace(described, sections=(series, *described.sections))
