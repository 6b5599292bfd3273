"""Products of all centered Gram matrices at once, on factors and by tiles."""

from __future__ import annotations

from itertools import pairwise, permutations, product

import numpy as np
import pytest

from kernelmean.inference import Resampling
from kernelmean.inference import products as rooms
from kernelmean.inference.designs.independence import PairDesign, pair_design
from kernelmean.inference.low_rank import Coordinates
from kernelmean.inference.problem import KernelSide
from kernelmean.inference.products import Within, alignments, centered_products
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
    products, diagonal = centered_products(side, Within.all(n))
    np.testing.assert_allclose(products, np.einsum("kij,lij->kl", grams, grams) / n**2, rtol=1e-8)
    np.testing.assert_allclose(diagonal, np.einsum("kii->ki", grams), atol=1e-8)


@pytest.mark.parametrize("n", [4, 60, 400])
def test_alignments_are_of_the_unbiased_hsic_of_the_test(n: int) -> None:
    found = alignments(KernelSide(points(n), SMOOTH), Within.all(n))
    pairs = [(first, second) for first in SMOOTH for second in SMOOTH]
    null = Pairs(points(n), points(n)).null(pairs, "u", Resampling.of(n_resamples=19, rng=0))
    hsic = null.values[:, 0].reshape(found.shape)
    np.testing.assert_allclose(found, hsic / np.sqrt(np.outer(*[np.diag(hsic)] * 2)), rtol=0, atol=1e-9)


def drawn(n: int, strata: int, *, weighted: bool) -> PairDesign:
    rng = np.random.default_rng(1)
    labels = np.append(rng.integers(0, strata, n - 2), [strata, strata + 1])  # two strata of one row
    return pair_design(n, labels, weights=rng.uniform(0.2, 3.0, n) if weighted else None)


def within_strata(gram: np.ndarray, within: Within) -> np.ndarray:
    """A Gram matrix less the weighted means of its strata."""
    ends = np.append(within.starts, len(gram))
    keep = np.eye(len(gram))
    for a, b in pairwise(ends):
        keep[a:b, a:b] -= within.shares[a:b] / within.shares[a:b].sum()
    return keep @ gram @ keep.T


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strata", [1, 7, 150])
@pytest.mark.parametrize("kernels", [SMOOTH, ROUGH], ids=["pivots", "no low rank"])
def test_products_within_strata_are_those_of_centered_matrices(
    kernels: tuple[Kernel, ...], strata: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "_ENTRIES", 20_000)  # rows of several strata at a time, and strata in several parts
    design = drawn(400, strata, weighted=weighted)
    within, side = Within.of(design.layout), KernelSide(points(400)[design.rows], kernels)
    grams = np.stack([within_strata(kernel(side.points, side.points), within) for kernel in kernels])
    products, diagonal = centered_products(side, within)
    counted = np.outer(within.shares, within.shares)
    np.testing.assert_allclose(products, np.einsum("kij,lij,ij->kl", grams, grams, counted), rtol=1e-7)
    np.testing.assert_allclose(diagonal, np.einsum("kii->ki", grams), atol=1e-8)
    null = design.null((side.points,) * 2, [kernels[:2]], "v", Resampling.of(n_resamples=19, rng=0))
    assert products[0, 1] == pytest.approx(null.values[0, 0], rel=1e-7)  # what the test looks at


def test_chance_adds_nothing_to_alignments_within_strata() -> None:
    """Over all permutations within strata of one to four rows the mean is 0; that of the plain product is not."""
    rng, labels = np.random.default_rng(0), np.repeat([0, 1, 2, 3], [1, 2, 3, 4])
    x, y = rng.normal(size=(2, 10, 1)) + 5.0 * labels[:, None]
    within = Within.of(pair_design(10, labels).layout)
    orders = product(*(permutations(np.flatnonzero(labels == s)) for s in range(4)))
    kernels = tuple(TensorProduct((Gaussian(2.0),), ((column,),)) for column in (0, 1))
    found = []
    for order in orders:
        side = KernelSide(np.hstack([x, y[[row for rows in order for row in rows]]]), kernels)
        found.append((alignments(side, within)[0, 1], centered_products(side, within)[0][0, 1]))
    aligned, plain = np.mean(found, axis=0)
    assert len(found) == 2 * 6 * 24
    assert abs(aligned) < 1e-12 < 1e-3 < plain


@pytest.mark.slow
def test_chance_adds_nothing_with_weights_on_average() -> None:
    rng, labels = np.random.default_rng(0), np.repeat([0, 1, 2], [3, 5, 9])
    within = Within.of(pair_design(17, labels, weights=rng.uniform(0.2, 3.0, 17)).layout)
    alpha, beta, least = within.chance()
    kernels = (Coordinates((0,), (1.0,)), Coordinates((1,), (1.0,)))
    found = []
    for _ in range(20_000):
        products, diagonal = centered_products(KernelSide(rng.normal(size=(17, 2)), kernels), within)
        traces, own = within.means(diagonal), within.shares * diagonal
        added = within.spread(alpha) @ (own[0] * own[1]) + beta @ (traces[0] * traces[1])
        found.append((products[0, 1] - added, products[0, 1] - least @ (traces[0] * traces[1]), products[0, 1]))
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(means[:2]) < 4 * errors[:2]).all()
    assert means[2] > 20 * errors[2]


def test_columns_that_strata_determine_have_no_strength() -> None:
    labels = np.arange(300) % 3
    side = KernelSide(np.column_stack([labels, points(300)[:, 0], points(300)[:, 1]]).astype(float), SMOOTH)
    design = pair_design(300, labels)
    found = alignments(KernelSide(side.points[design.rows], SMOOTH), Within.of(design.layout))
    assert (found[0] == 0.0).all()
    assert found[1, 2] > 0.2
