"""Places for names beside points, none over another or over a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

BESIDE, LINE = 8.0, 11.0
"""How far from its point a name begins, and the height of a line of text, in points."""
_Box = tuple[float, float, float]
"""The left and right end of a line of text, and its height."""


def beside(
    places: Sequence[tuple[float, float]], widths: Sequence[float], width: float, height: float
) -> list[tuple[int, int]]:
    """Return for every name its side, 1 or -1 for right and left of its point, and how many lines higher it stands.

    Places and widths are in points from the lower left corner of axes of some width and height. Those that give way
    keep within the height while there is room. Time grows with the square of their number.

    Examples
    --------
    >>> beside([(20.0, 50.0), (180.0, 50.0), (180.0, 52.0)], [40.0, 40.0, 40.0], 200.0, 100.0)
    [(1, 0), (-1, -1), (-1, 0)]
    """
    sides = {}
    taken = [(x - BESIDE / 2, x + BESIDE / 2, y) for x, y in places]
    for k in sorted(range(len(places)), key=lambda k: -places[k][1]):
        (x, y), inward = places[k], 1 if places[k][0] <= width / 2 else -1
        for side, lines in _tried(inward):
            near, far = x + side * BESIDE, x + side * (BESIDE + widths[k])
            box = (min(near, far), max(near, far), y + lines * LINE)
            fits = (side == inward or 0.0 <= far <= width) and (lines == 0 or LINE / 2 <= box[2] <= height - LINE / 2)
            if (fits or abs(lines) * LINE > height) and not any(_cover(box, other) for other in taken):
                break
        taken.append(box)
        sides[k] = side, lines
    return [sides[k] for k in range(len(places))]


def _tried(inward: int) -> Iterator[tuple[int, int]]:
    """Yield towards the middle and to the other side, at the height of the point and then farther and farther off."""
    yield from ((inward, 0), (-inward, 0))
    yield from ((side, sign * lines) for lines in count(1) for sign in (-1, 1) for side in (inward, -inward))


def _cover(one: _Box, other: _Box) -> bool:
    return one[0] <= other[1] and other[0] <= one[1] and abs(one[2] - other[2]) < LINE
