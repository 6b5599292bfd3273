"""Colours by role, for light and dark backgrounds, and the looks of lines that charts share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Shade:
    """The colour of one role in light and dark mode."""

    light: str
    dark: str


COLORS = ("#0072B2", "#D55E00", "#00AA5A", "#D1779D", "#6D4313", "#8D74FF", "#583A66")
"""Colours of lines in a picture, in an order whose neighbours the colour-blind can tell apart."""
FIRST, SECOND = COLORS[:2]
"""Colours of the first and the second sample."""
QUIET = "#8a8a8a"
"""The colour of chance, or of a reference."""
_SERIES = [color.lower() for color in COLORS]
SHADES: dict[str, Shade] = {
    "surface": Shade("#ffffff", "#15181c"),
    "raised": Shade("#f3f5f7", "#1f242a"),
    "rule": Shade("#d5dae0", "#3a424b"),
    "edge": Shade("#6f7780", "#8b949e"),
    "muted": Shade("#535b64", "#a9b2bc"),
    "ink": Shade("#1b1f24", "#e8eaed"),
    "link": Shade("#00558c", "#8ab8ff"),
    "series-1": Shade(_SERIES[0], "#6f93f2"),
    "series-2": Shade(_SERIES[1], "#f5962a"),
    "series-3": Shade(_SERIES[2], "#23d68a"),
    "series-4": Shade(_SERIES[3], "#f2b1f0"),
    "series-5": Shade(_SERIES[4], "#b4561c"),
    "series-6": Shade(_SERIES[5], "#8a5cf6"),
    "series-7": Shade(_SERIES[6], "#a85f92"),
}
"""Colours by role: ink, muted and link are written on surface and raised."""


@final
@dataclass(frozen=True)
class Look:
    """The look of a line: its role in the palette and its marker, each of which identifies it."""

    part: str
    marker: str

    @property
    def color(self) -> str:
        """The colour on a light surface."""
        return SHADES[self.part].light


LOOKS = (
    Look("series-1", "o"),
    Look("series-2", "s"),
    Look("series-3", "D"),
    Look("series-4", "^"),
    Look("series-5", "v"),
    Look("series-6", "P"),
    Look("series-7", "X"),
    Look("ink", "p"),
)
_ESTIMATORS = {"MKME": 0, "MMKME": 1, "VPMKME": 2, "F-KMSE": 3, "S-KMSE": 4, "oracle MKME": 5, "KME": 7}
"""Lines that look the same in every chart."""


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return the look of every label: estimators have fixed looks, other labels take free ones in order.

    A label that begins with an estimator, such as "KME (σ² = 0)", takes its look if no other label has it.

    Examples
    --------
    >>> {label: look.marker for label, look in looks(["oracle", "KME (best)", "MKME", "MKME, fixed"]).items()}
    {'oracle': 's', 'KME (best)': 'p', 'MKME': 'o', 'MKME, fixed': 'D'}
    """
    distinct = list(dict.fromkeys(labels))
    places = {label: _ESTIMATORS[label] for label in distinct if label in _ESTIMATORS}
    for label in distinct:
        place = _ESTIMATORS.get(re.split(r",| \(", label)[0])
        if place is not None and place not in places.values():
            places[label] = place
    free = [k for k in range(len(LOOKS)) if k not in places.values()] or list(range(len(LOOKS)))
    others = [label for label in distinct if label not in places]
    places |= {label: free[k % len(free)] for k, label in enumerate(others)}
    return {label: LOOKS[places[label]] for label in distinct}


def variables() -> str:
    """Return the palette as CSS variables that follow the light or dark mode of the browser."""
    light, dark = (
        "".join(f"--{part}: {getattr(shade, mode)}; " for part, shade in SHADES.items()) for mode in ("light", "dark")
    )
    return f":root {{ {light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
