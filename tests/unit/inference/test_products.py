"""Products of all centered Gram matrices at once, on factors and by tiles."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference import Resampling
from kernelmean.inference import products as rooms
from kernelmean.inference.low_rank import Coordinates
from kernelmean.inference.problem import KernelSide
from kernelmean.inference.products import centered_products, unbiased_hsic
from kernelmean.inference.questions import Pairs
from kernelmean.inference.units.forms import paying_factors
from kernelmean.kernels import Gaussian, Kernel, Laplacian, TensorProduct

SMOOTH = tuple(TensorProduct((Gaussian(width),), ((column,),)) for column, width in enumerate((1.0, 2.0, 0.7)))
ROUGH = (Gaussian(0.3), Laplacian(0.2), SMOOTH[0])
COLUMNS = (Coordinates((0, 2), (1.0, 0.5)), Coordinates((1,), (2.0,)))


def points(n: int) -> np.ndarray:
    rows = np.random.default_rng(0).normal(size=(n, 3)) + 5.0
    rows[:, 1] += rows[:, 0]
    return rows


@pytest.mark.parametrize(
    ("kernels", "n", "low"),
    [(SMOOTH, 400, True), (COLUMNS, 30, True), (SMOOTH, 50, False), (ROUGH, 400, False)],
    ids=["pivots", "columns", "few rows", "no low rank"],
)
def test_products_are_those_of_the_matrices(
    kernels: tuple[Kernel, ...], n: int, low: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "_ENTRIES", 20_000)  # several tiles
    side = KernelSide(points(n), kernels)
    assert (paying_factors(side) is not None) is low
    center = np.eye(n) - 1 / n
    grams = np.stack([center @ kernel(side.points, side.points) @ center for kernel in kernels])
    products, diagonal = centered_products(side)
    np.testing.assert_allclose(products, np.einsum("kij,lij->kl", grams, grams), rtol=1e-8)
    np.testing.assert_allclose(diagonal, np.einsum("kii->ki", grams), atol=1e-8)


@pytest.mark.parametrize("n", [4, 60, 400])
def test_unbiased_hsic_is_that_of_the_test(n: int) -> None:
    found = unbiased_hsic(KernelSide(points(n), SMOOTH))
    pairs = [(first, second) for first in SMOOTH for second in SMOOTH]
    null = Pairs(points(n), points(n)).null(pairs, "u", Resampling.of(n_resamples=19, rng=0))
    np.testing.assert_allclose(found.ravel(), null.values[:, 0], rtol=0, atol=1e-9 * found.max())
