"""Pictures are drawn without a window, and closed after every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
