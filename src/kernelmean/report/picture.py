"""A figure that shows itself in a notebook; loaded with the first picture, since it needs matplotlib."""

from __future__ import annotations

import io
from typing import final

from matplotlib.figure import Figure


@final
class Picture(Figure):
    """A figure of no window. Notebooks show other figures only once pyplot was loaded; this one brings its picture."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()
