"""A figure that a notebook shows. Imported with the first picture, since it needs matplotlib."""

from __future__ import annotations

import io
from typing import final

from matplotlib.figure import Figure


@final
class Picture(Figure):
    """A figure without a window. Notebooks show other figures only after pyplot is loaded; this one shows itself."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()
