"""Numbers, names and charts in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelmean.report import Panel

_LISTED = 8


def count(n: int, noun: str) -> str:
    """Return "1 trial", "2 trials", "12,000 trials"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(names: Iterable[object]) -> str:
    """Return names separated by commas; a long list is cut, and the text says so."""
    texts = [str(name) for name in names]
    rest = len(texts) - _LISTED
    return ", ".join(texts[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def ends_of_curves(panels: Sequence[Panel], what: str) -> str:
    """Return the first and the last value of every curve of every panel, in words.

    Examples
    --------
    >>> from kernelmean.report import Curve
    >>> panel = Panel("(a) d = 2", "n", "loss", (Curve("KME", (10.0, 20.0), (0.5, 0.25)),))
    >>> ends_of_curves([panel], "Loss")
    'Loss, first to last point of every curve. (a) d = 2, n from 10 to 20: KME 0.5 to 0.25.'
    """
    said = [f"{what}, first to last point of every curve."]
    for panel in panels:
        places = panel.curves[0].x
        ends = "; ".join(f"{curve.label} {curve.y[0]:.3g} to {curve.y[-1]:.3g}" for curve in panel.curves)
        said.append(f"{panel.title}, {panel.x_label} from {places[0]:g} to {places[-1]:g}: {ends}.")
    return " ".join(said)
