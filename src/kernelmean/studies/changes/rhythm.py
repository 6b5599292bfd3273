"""Whether columns rise and fall with a period, such as by day and night: a change is then sought among these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.stats import rankdata

from ...core.array import Array, IntArray
from ...core.cells import Cells
from ...core.table import Frame
from ...core.words import leave_out, listed, written
from ...tables.columns import Encoded

_MOST_BINS, _LEAST_BINS = 2**18, 48
_FILLED = 0.2
"""At least this share of the bins holds rows; values between far-off rows are made up, and smooth."""
_LEAST_PERIODS = 6
_NEAR, _FAR = 3, 8
"""A frequency is compared with those so many steps away: a window makes its own peak narrower than that."""
_CLEAR, _CLEAR_BINS = 100.0, 1024
"""How many times as high a peak is, for so many bins; 1 of 1000 tables of 7 columns of random rows has one.

More bins have more frequencies, and the highest by chance is higher: by less than the fourth root of their number.
"""
_LEAST_SHARE = 0.01
"""A peak has at least this share of the power; steps have frequencies without any, next to which all are high.

Of that of frequencies up to twice its own, and of those of so few bins: the noise of many rows hides no slow rhythm.
"""
_NAMED = {"an hour": 3600.0, "a day": 86_400.0, "a week": 604_800.0, "a year": 31_556_952.0}
_OFF = 0.5


@final
@dataclass(frozen=True)
class Rhythms:
    """The columns that rise and fall, and the period of the first of them."""

    names: tuple[str, ...]
    rows: int
    """About how many rows a period of the first of them has."""
    time: str
    """How long it lasts, if that is an hour, a day, a week or a year, else ""."""

    def __bool__(self) -> bool:
        return bool(self.names)

    def notes(self) -> Iterator[str]:
        """Yield what a reader should know."""
        if not self:
            return
        lasts = f"{self.time}, about {self.rows:,} rows" if self.time else f"about {self.rows:,} rows"
        one = len(self.names) == 1
        block = written(f"block={self.rows}", f"--block {self.rows}")
        yield (
            f"{listed(self.names)} {'rises and falls' if one else 'rise and fall'} with a period ({lasts}): highs and "
            "lows may be found as changes, and changes of other columns may be missed; leave "
            f"{'this column' if one else 'these columns'} out {leave_out(self.names)}, subtract the mean of the same "
            f"part of every period, or keep whole periods together, {block}"
        )


def rhythms(encoded: Encoded, stamps: Frame | None, block: int) -> Rhythms:
    """Look at every column in time, or in the order of rows where no times are given; O(d n log n) time.

    A period that blocks of rows keep together does no harm.
    """
    numbers = encoded.frames[0].row_numbers()
    rows, times = len(numbers), None
    if stamps is not None:  # rows with blank cells may be left out
        times = stamps[stamps.names[0]][np.searchsorted(stamps.row_numbers(), numbers)]
    span = 0.0 if times is None else float((times[-1] - times[0]).astype(np.float64))
    since = np.arange(float(rows)) if times is None or not span else (times - times[0]).astype(np.float64) / span * rows
    place, bins = _places(since)
    found = {}
    for coding in encoded.codings if bins >= _LEAST_BINS else ():
        peaks = [_peak(column, place, bins) for column in encoded.coordinates((coding.name,))[0].T]
        height, periods = max(peaks)
        if height > 1.0 and rows / periods > (block if block > 1 else 0):
            found[coding.name] = periods
    first = next(iter(found.values()), 1)
    return Rhythms((*found,), round(rows / first), _named(times, first))


def _places(since: Array) -> tuple[IntArray, int]:
    """Return the bins of rows and how many there are, for times from 0 to the number of rows.

    There are as many bins as rows, as a period shorter than two bins would look like a longer one; fewer where times
    are so irregular that most of them would be empty.
    """
    rows = len(since)
    bins = min(_MOST_BINS, rows)
    while True:
        place = np.minimum((since * bins / rows).astype(np.int64), bins - 1)
        if bins < _LEAST_BINS or np.count_nonzero(np.bincount(place)) >= _FILLED * bins:
            return place, bins
        bins //= 2


def _means(values: Array, place: IntArray, bins: int) -> Array:
    """Return mean ranks of bins; one without rows lies between its neighbors."""
    counts = np.bincount(place, minlength=bins)
    sums = np.bincount(place, weights=rankdata(values), minlength=bins)
    known = np.flatnonzero(counts)
    return np.interp(np.arange(bins), known, sums[known] / counts[known])


def _peak(column: Array, place: IntArray, bins: int) -> tuple[float, int]:
    """Return how high the highest peak of the spectrum is, 1 if it is just clear, and its periods."""
    steps = np.diff(column)
    if (steps >= 0.0).all() or (steps <= 0.0).all():
        return 0.0, 1
    means = _means(column, place, bins)
    power = np.square(np.abs(np.fft.rfft((means - means.mean()) * np.hanning(bins))))
    power[0] = 0.0
    upto = np.clip(2 * np.arange(_LEAST_PERIODS, len(power)), _CLEAR_BINS // 2, None)
    least = _LEAST_SHARE * np.cumsum(power)[np.minimum(upto, len(power) - 1)]
    power[0] = np.nan
    around = sliding_window_view(np.pad(power, _FAR, constant_values=np.nan), 2 * _FAR + 1)
    far = np.abs(np.arange(-_FAR, _FAR + 1)) >= _NEAR
    usual = np.nanmedian(around[_LEAST_PERIODS:, far], axis=1)
    clear = _CLEAR * max(1.0, bins / _CLEAR_BINS) ** 0.25
    heights = power[_LEAST_PERIODS:] / np.maximum(np.maximum(clear * usual, least), np.finfo(float).tiny)
    return float(heights.max()), _LEAST_PERIODS + int(heights.argmax())


def _named(times: Cells | None, periods: int) -> str:
    """Return the name of the period, if it is as long as one of those that have names."""
    if times is None or times.dtype.kind != "M":
        return ""
    seconds = (times[-1] - times[0]) / np.timedelta64(1, "s") / periods
    return next((name for name, own in _NAMED.items() if abs(seconds / own - 1.0) < _OFF / periods + 0.01), "")
