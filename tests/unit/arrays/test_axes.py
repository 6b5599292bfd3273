"""Densities on one axis, on an array that leaves its device only where its library lacks a special function."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.special

from kernelmean.core import as_host, home, is_foreign, like
from kernelmean.expected import profiles

from .libraries import STRICT, TORCH, Library

MATERN = profiles.LaplacePowers(1.0, (0.0, 0.4, 0.6))
PROFILES = {
    "normal": profiles.Profile(1.0, 0.3),
    "exponential": profiles.Profile(1.0, 0.0, (MATERN,)),
    "exponential and normal": profiles.Profile(1.0, 0.3, (MATERN,)),
    "exponential and uniform": profiles.Profile(1.0, 0.0, (MATERN,), profiles.box(0.7)),
    "normal and a smooth compact part": profiles.Profile(1.0, 0.3, (), profiles.wendland(2, 0.9).plus_box(0.2)),
    "normal and a wide compact part": profiles.Profile(1.0, 0.003, (), profiles.wendland(2, 0.9).plus_box(0.7)),
    "all three, a box narrow against the normal": profiles.Profile(1.0, 0.3, (MATERN,), profiles.box(0.1)),
    "all three, a box wide against the normal": profiles.Profile(1.0, 0.003, (MATERN,), profiles.box(0.7)),
    "all three, a box narrow against the exponential": profiles.Profile(1.0, 1e-6, (MATERN,), profiles.box(0.005)),
    "compact": profiles.Profile(1.0, 0.0, (), profiles.wendland(2, 0.9).plus_box(0.7)),
}
GAPS = np.array([0.0, 1e-4, 0.003, 0.1, 0.65, 0.7, 1.3, 4.0])


def special(function: str, *arguments: Any) -> Any:
    """Return a special function by way of the host."""
    *numbers, x = arguments
    return like(getattr(scipy.special, function)(*numbers, as_host(x)), x)


@pytest.mark.parametrize("library", [STRICT, TORCH])
@pytest.mark.parametrize("name", PROFILES)
def test_densities_are_those_of_numpy_and_stay_where_the_differences_live(
    library: Library, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if library.name == "array_api_strict":
        for module in ("half_line", "exponential", "spline"):
            monkeypatch.setattr(sys.modules[f"kernelmean.expected.profiles.{module}"], "special", special)
    gaps = library.make(GAPS)
    with np.errstate(over="ignore", invalid="ignore"):  # elsewhere both of two branches are evaluated
        found = PROFILES[name](gaps)
    assert is_foreign(found)
    assert home(found) == home(gaps)
    np.testing.assert_allclose(as_host(found), PROFILES[name](GAPS), rtol=1e-13, atol=1e-16)
