"""Copies to the host: some before and some after the work, none for every tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean import kernels
from kernelmean.estimators import loocv
from nulls import hsic_test, mmd_test

xp = pytest.importorskip("array_api_strict", reason="array_api_strict IS MISSING: copies are not counted")

TABLES = np.random.default_rng(0).normal(size=(2, 120, 2))
POINTS = [xp.asarray(table, device=xp.Device("device1")) for table in TABLES]


def _mean() -> float:
    return km.embed(POINTS[0], kernels.Gaussian(1.0) + kernels.Laplacian(1.0)) @ km.embed(
        POINTS[1], kernels.Gaussian(1.0) + kernels.Laplacian(1.0)
    )


def _pairs() -> Any:
    return loocv.pair_sum(POINTS[0], POINTS[0])


def _test(scheme: str) -> Callable[[], Any]:
    return lambda: mmd_test(*POINTS, scheme=scheme, n_resamples=19, rng=0)


def _dependence() -> Any:
    return hsic_test(*POINTS, scheme="cyclic", n_resamples=19, rng=0)


CALLS = {
    "inner product": _mean,
    "sums over pairs": _pairs,
    "gemm": _test("gemm"),
    "blocks": _test("blocks"),
    "cyclic": _test("cyclic"),
    "dependence": _dependence,
}


def _copies(run: Callable[[], Any], tile: int) -> int:
    """Return how often an array leaves the device while tiles have so many rows."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("plan.plan", "inference.schemes.device"):
            patch.setattr(f"kernelmean.{module}.tile_shape", lambda x, block, memory: (tile, tile))
        count = 0
        leave = type(POINTS[0]).to_device

        def counted(self: Any, device: Any, /, **options: Any) -> Any:
            nonlocal count
            count += "CPU" in str(device)
            return leave(self, device, **options)

        patch.setattr(type(POINTS[0]), "to_device", counted)
        run()
    return count


@pytest.mark.parametrize("name", CALLS)
def test_the_number_of_copies_does_not_grow_with_the_number_of_tiles(name: str) -> None:
    few, many = (_copies(CALLS[name], tile) for tile in (200, 20))
    assert few > 0
    assert many == few
