"""Small pictures inside tables, and their full forms with axes, written as SVG without a drawing library.

So hundreds of them take no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from math import ceil, exp, floor, log, log10

from ..core.words import cut, percent, signed
from .chart_texts import blanks, describe
from .document import AnySketch, Bars, Extent, Panel, Steps
from .templates import clean

_WIDTH, _HEIGHT, _MARGIN = 120.0, 30.0, 1.5
_STRIP = 16.0
"""The height of one of many samples."""
_AREA = 'fill="var(--series-1)" fill-opacity="0.45" stroke="none"'
_LINE = 'fill="none" stroke="var(--series-2)" stroke-width="1.6"'
"""An area and a line: two samples are told apart without their colours."""
_WIDER, _LINE_HEIGHT, _LETTERS, _NAMES, _ROOM = 3.0, 15.0, 24, 130.0, 16.0
"""Of a full picture: how much wider it is than a small one, and the room of texts."""
_BLANK, _RULE = 13.0, 'fill="none" stroke="var(--edge)" stroke-width="0.6"'
"""The room for the shares of rows without a value, and how the frame of such a bar is drawn."""


@dataclass(frozen=True)
class _Place:
    """Where a sample is drawn: from which height upwards, how far, and how."""

    base: float
    tallest: float
    look: str


def _places(samples: int) -> list[_Place]:
    """Return places for samples: two over one another, more of them below one another."""
    if samples <= 2:
        return [_Place(_HEIGHT - _MARGIN, _HEIGHT - 2 * _MARGIN, look) for look in (_AREA, _LINE)[:samples]]
    return [_Place(_STRIP * (k + 1) - _MARGIN, _STRIP - 2 * _MARGIN, _AREA) for k in range(samples)]


def sketch(picture: AnySketch | None) -> str:
    """Return a small picture as an SVG element that follows the colours of the page; "" for None.

    Two samples are an area and a line over one another, more of them areas below one another.

    Examples
    --------
    >>> sketch(Extent("gap", 0.5, 0.2, 0.8, 1.0)).count("<line"), sketch(None)
    (2, '')
    """
    if picture is None:
        return ""
    body, height = _body(picture)
    view = f'viewBox="0 0 {_WIDTH:g} {height:g}"'
    return f'<svg class="sketch" {view} role="img" aria-label="{escape(picture.title)}">{body}</svg>'


def full(picture: AnySketch | None) -> str:
    """Return the distributions of a small picture at full size, with an axis, as an SVG element; "" for others."""
    if not isinstance(picture, Panel | Bars):
        return ""
    body, height = _large_bars(picture) if isinstance(picture, Bars) else _large_steps(picture)
    view = f'viewBox="{-_ROOM:g} 0 {_WIDER * _WIDTH + 2 * _ROOM:g} {height:g}"'
    words = escape(clean(f"{picture.title}. {describe(picture)}"))
    return f'<svg class="full" {view} role="img" aria-label="{words}">{body}</svg>'


def _large_steps(picture: Panel) -> tuple[str, float]:
    """Return outlines above an axis with its numbers, and the height."""
    small, high = _body(picture)
    taller = _WIDER * (2.0 if len(picture.steps) <= 2 else 1.0)
    bottom, x = taller * high, _steps_axis(picture)
    edges = [edge for steps in picture.steps for edge in steps.edges]
    places = [
        (_WIDER * x(log(at) if picture.x_log else at), at) for at in _ticks(min(edges), max(edges), picture.x_log)
    ]
    drawn = [
        f'<g transform="translate(0 {_LINE_HEIGHT:g}) scale({_WIDER:g} {taller:g})">{small}</g>',
        *_heads(picture),
        *(_text(at, bottom + 2 * _LINE_HEIGHT, signed(value), "middle") for at, value in places),
        *(f'<path d="M{at:.1f} {bottom + _LINE_HEIGHT:g}v4" stroke="var(--edge)"/>' for at, _ in places),
        _text(_WIDER * _WIDTH / 2, bottom + 3 * _LINE_HEIGHT, picture.x_label, "middle"),
    ]
    return "".join(drawn), bottom + 3.4 * _LINE_HEIGHT


def _heads(picture: Panel) -> Iterator[str]:
    """Yield what stands above outlines: what they are up to, or each sample's name; and the shares of blank cells."""
    if len(picture.steps) <= 2:
        top = max(_highest([steps.heights for steps in picture.steps]))
        yield _text(2.0, 11.0, f"{picture.y_label}, up to {percent(top)} in a bar")
        if picture.blank:
            yield _text(_WIDER * _WIDTH, 11.0, blanks(picture), "end")
        return
    for k, steps in enumerate(picture.steps):
        yield _text(2.0, _WIDER * _STRIP * k + 11.0, steps.label)
    for k, share in enumerate(picture.blank):
        yield _text(
            _WIDER * (_WIDTH - _BLANK), _WIDER * _STRIP * k + 2 * _LINE_HEIGHT, f"blank: {percent(share)}", "end"
        )


def _ticks(low: float, high: float, log_axis: bool) -> list[float]:
    """Return about four round numbers of an axis."""
    if log_axis:
        decades = range(ceil(log10(low)), floor(log10(high)) + 1)
        return [10.0**k for k in decades[:: ceil(len(decades) / 5) or 1]] or [exp((log(low) + log(high)) / 2)]
    unit = 10.0 ** floor(log10((high - low) / 4 or 1.0))
    step = next(unit * times for times in (1, 2, 5, 10) if (high - low) / (unit * times) <= 5)
    return [step * k for k in range(ceil(low / step), floor(high / step) + 1)]


def _large_bars(picture: Bars) -> tuple[str, float]:
    """Return bars to the right of the names of values, those of all samples below one another, and the height."""
    top = max((share for _, shares in picture.series for share in shares), default=0.0) or 1.0
    thick, wide = _LINE_HEIGHT * 0.8, _WIDER * _WIDTH - _NAMES - 50.0
    block, looks = thick * len(picture.series) + 5.0, [place.look for place in _places(len(picture.series))]
    drawn = []
    for k, name in enumerate(picture.names):
        drawn.append(_text(_NAMES - 6.0, k * block + 11.0, cut(name, _LETTERS), "end"))
        for which, (_, shares) in enumerate(picture.series):
            y, long = k * block + which * thick, wide * shares[k] / top
            drawn.append(
                f'<rect x="{_NAMES:g}" y="{y + 1:.1f}" width="{long:.1f}" height="{thick - 3:g}" {looks[which]}/>'
            )
            drawn.append(_text(_NAMES + long + 4.0, y + 9.5, percent(shares[k])))
    return "".join(drawn), block * len(picture.names) + 4.0


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(clean(text))}</text>'


@singledispatch
def _body(picture: AnySketch) -> tuple[str, float]:
    """Return the elements of a picture, and its height."""
    raise TypeError(f"a sketch needs a Panel with steps, Bars or an Extent, got {type(picture).__name__}")


@_body.register
def _(picture: Panel) -> tuple[str, float]:
    """Return outlines of histograms, and beside them the shares of blank cells."""
    places, x = _places(len(picture.steps)), _steps_axis(picture)
    highest = _highest([steps.heights for steps in picture.steps])
    drawn = (
        f'<path d="{_outline(steps, x, top, place, log_axis=picture.x_log)}" {place.look}/>'
        for steps, top, place in zip(picture.steps, highest, places, strict=True)
    )
    return "".join((*drawn, *_blank_bars(picture.blank, places))), _height(places)


def _steps_axis(picture: Panel) -> _Axis:
    """Return the axis of outlines, which leaves room for bars of blank cells if there are some."""
    edges = [edge for steps in picture.steps for edge in steps.edges]
    end = _WIDTH - _MARGIN - (_BLANK if picture.blank else 0.0)
    return _Axis([log(edge) for edge in edges] if picture.x_log else edges, end)


def _blank_bars(shares: Sequence[float], places: Sequence[_Place]) -> Iterator[str]:
    """Yield the share of blank cells of every sample, a bar in a frame that all rows would fill."""
    beside = len(shares) if len(shares) <= 2 else 1
    left, wide = _WIDTH - _BLANK + 2 * _MARGIN, _BLANK - 3 * _MARGIN
    for base, tallest in dict.fromkeys((place.base, place.tallest) for place in places[: len(shares)]):
        yield f'<rect x="{left:g}" y="{base - tallest:g}" width="{wide:g}" height="{tallest:g}" {_RULE}/>'
    for which, (share, place) in enumerate(zip(shares, places, strict=False)):
        x, high = left + wide * (which % beside) / beside, place.tallest * share
        size = f'width="{wide / beside:g}" height="{high:.1f}"'
        yield f'<rect x="{x:g}" y="{place.base - high:.1f}" {size} {place.look}/>'


def _outline(steps: Steps, x: _Axis, top: float, place: _Place, *, log_axis: bool) -> str:
    ends = [x(log(edge) if log_axis else edge) for edge in steps.edges]
    heights = [place.base - place.tallest * height / top for height in steps.heights]
    path = "".join(f"V{y:.1f}H{right:.1f}" for y, right in zip(heights, ends[1:], strict=True))
    return f"M{ends[0]:.1f} {place.base:g}{path}V{place.base:g}"


@_body.register
def _(picture: Bars) -> tuple[str, float]:
    """Return shares of values: those of two samples side by side, of more of them below one another."""
    places, values = _places(len(picture.series)), [shares for _, shares in picture.series]
    highest = _highest(values)
    wide = (_WIDTH - 2 * _MARGIN) / max(len(picture.names), 1)
    beside = len(values) if len(values) <= 2 else 1
    bar = 0.8 * wide / max(beside, 1)
    drawn = (
        f'<rect x="{_MARGIN + k * wide + 0.1 * wide + (which % beside) * bar:.1f}"'
        f' y="{place.base - place.tallest * share / top:.1f}"'
        f' width="{bar:.1f}" height="{place.tallest * share / top:.1f}" {place.look}/>'
        for which, (shares, top, place) in enumerate(zip(values, highest, places, strict=True))
        for k, share in enumerate(shares)
    )
    return "".join(drawn), _height(places)


@_body.register
def _(picture: Extent) -> tuple[str, float]:
    """Return a value and its interval beside 0."""
    x, middle = _Axis((-picture.reach, picture.reach)), _HEIGHT / 2
    zero, low, high, value = map(x, (0.0, picture.low, picture.high, picture.value))
    return (
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{_HEIGHT:g}" stroke="var(--edge)"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle:g}" y2="{middle:g}" stroke="var(--ink)" stroke-width="2"/>'
        f'<circle cx="{value:.1f}" cy="{middle:g}" r="3.5" fill="var(--ink)"/>'
    ), _HEIGHT


def _highest(samples: Sequence[Sequence[float]]) -> list[float]:
    """Return what is as high as its place allows: one height for two samples over one another, else one of each."""
    tops = [max(heights, default=0.0) for heights in samples]
    return [top or 1.0 for top in (tops if len(tops) > 2 else [max(tops)] * len(tops))]


def _height(places: Sequence[_Place]) -> float:
    return max((place.base for place in places), default=_HEIGHT - _MARGIN) + _MARGIN


class _Axis:
    """From values to places between the margins; values beyond the ends stay at them."""

    def __init__(self, values: Sequence[float], end: float = _WIDTH - _MARGIN) -> None:
        self.low, self.high, self.end = min(values), max(values), end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return _MARGIN + (self.end - _MARGIN) * min(max(share, 0.0), 1.0)
