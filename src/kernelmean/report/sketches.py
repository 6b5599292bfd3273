"""Small pictures inside tables, written as SVG without a drawing library, so that hundreds of them take no time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from math import log

from .document import AnySketch, Bars, Extent, Panel, Steps

_WIDTH, _HEIGHT, _MARGIN = 120.0, 30.0, 1.5
_BASE, _TALLEST = _HEIGHT - _MARGIN, _HEIGHT - 2 * _MARGIN
_LOOKS = (
    'fill="var(--series-1)" fill-opacity="0.45" stroke="none"',
    'fill="none" stroke="var(--series-2)" stroke-width="1.6"',
)
"""An area and a line: samples are told apart without their colours."""


def sketch(picture: AnySketch | None) -> str:
    """Return a small picture as an SVG element that follows the colours of the page; "" for None.

    Examples
    --------
    >>> sketch(Extent("gap", 0.5, 0.2, 0.8, 1.0)).count("<line"), sketch(None)
    (2, '')
    """
    if picture is None:
        return ""
    view = f'viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}"'
    return f'<svg class="sketch" {view} role="img" aria-label="{escape(picture.title)}">{_body(picture)}</svg>'


@singledispatch
def _body(picture: AnySketch) -> str:
    raise TypeError(f"a sketch needs a Panel with steps, Bars or an Extent, got {type(picture).__name__}")


@_body.register
def _(picture: Panel) -> str:
    """Return outlines of histograms over one another."""
    edges = [edge for steps in picture.steps for edge in steps.edges]
    tallest = max((height for steps in picture.steps for height in steps.heights), default=0.0) or 1.0
    x = _axis((log(edge) for edge in edges) if picture.x_log else edges)
    return "".join(
        f'<path d="{_outline(steps, x, tallest, log_axis=picture.x_log)}" {look}/>'
        for steps, look in zip(picture.steps, _LOOKS, strict=False)
    )


def _outline(steps: Steps, x: _Axis, tallest: float, *, log_axis: bool) -> str:
    places = [x(log(edge) if log_axis else edge) for edge in steps.edges]
    heights = [_BASE - _TALLEST * height / tallest for height in steps.heights]
    path = "".join(f"V{y:.1f}H{right:.1f}" for y, right in zip(heights, places[1:], strict=True))
    return f"M{places[0]:.1f} {_BASE:g}{path}V{_BASE:g}"


@_body.register
def _(picture: Bars) -> str:
    """Return shares of values, the samples side by side."""
    values = [shares for _, shares in picture.series[: len(_LOOKS)]]
    tallest = max((share for shares in values for share in shares), default=0.0) or 1.0
    wide = (_WIDTH - 2 * _MARGIN) / max(len(picture.names), 1)
    bar = 0.8 * wide / max(len(values), 1)
    return "".join(
        f'<rect x="{_MARGIN + k * wide + (0.1 * wide + which * bar):.1f}" y="{_BASE - _TALLEST * share / tallest:.1f}"'
        f' width="{bar:.1f}" height="{_TALLEST * share / tallest:.1f}" {look}/>'
        for which, (shares, look) in enumerate(zip(values, _LOOKS, strict=False))
        for k, share in enumerate(shares)
    )


@_body.register
def _(picture: Extent) -> str:
    """Return a value and its interval beside 0."""
    x, middle = _axis((-picture.reach, picture.reach)), _HEIGHT / 2
    zero, low, high, value = map(x, (0.0, picture.low, picture.high, picture.value))
    return (
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{_HEIGHT:g}" stroke="var(--edge)"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle:g}" y2="{middle:g}" stroke="var(--ink)" stroke-width="2"/>'
        f'<circle cx="{value:.1f}" cy="{middle:g}" r="3.5" fill="var(--ink)"/>'
    )


class _Axis:
    """From values to places between the margins; values beyond the ends stay at them."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low, self.high = min(values), max(values)

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * min(max(share, 0.0), 1.0)


def _axis(values: Iterable[float]) -> _Axis:
    return _Axis(list(values) or [0.0, 1.0])
