"""Sums of kernels over units against dense matrices, however they are held; and the tests that take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from checkered import checkered
from kernelmean.inference.problem import KernelSide
from kernelmean.inference.resampling import Resampling, Resources
from kernelmean.inference.units import forms, kernel_sums, permuted_labels
from kernelmean.inference.units import layout as layout_module
from kernelmean.inference.units.samples import designed_null, several_null, within_strata
from kernelmean.kernels import Gaussian, Laplacian, Linear, Polynomial
from layouts import PARTS, random_rows
from nulls import labelings_of

N = 97
POINTS = np.random.default_rng(0).normal(size=(N, 2)) + np.arange(2)
ANY = Gaussian(1.0), Gaussian(0.01), Laplacian(0.7), Linear(), Gaussian(1.0) + Linear()
OF_LOW_RANK = Linear(), Polynomial(2, 1.0), 0.5 * Polynomial(2, 1.0)
CARRIERS: dict[str, tuple[Any, type]] = {
    "factors": (OF_LOW_RANK, forms.FactorForms),
    "tiles": (ANY, forms.GramForms),
    "streamed": (ANY, kernel_sums._OfUnits),
    "device": (ANY, forms.GramForms),
}


def side(carrier: str, points: Any, monkeypatch: pytest.MonkeyPatch) -> KernelSide:
    """Points with kernels whose sums take a carrier."""
    if carrier == "factors":
        monkeypatch.setattr(forms, "FACTORS_FROM", 0)
    if carrier == "streamed":
        monkeypatch.setattr(kernel_sums, "_MOST_HELD", 0)
    if carrier == "device":
        xp = pytest.importorskip("array_api_strict")
        monkeypatch.setattr(kernel_sums, "tile_side", lambda *_: kernel_sums.TILE)
        points = xp.asarray(points, device=xp.Device("device1"))
    return KernelSide(points, CARRIERS[carrier][0])


def check(found: kernel_sums.KernelSums, layout: layout_module.Layout, kernels: Any, points: Any) -> None:
    """Hold sums to matrices over the rows."""
    weights, rows = layout.weights, points[layout.order]
    inside = np.repeat(np.arange(len(layout.sizes)), layout.sizes) == np.arange(len(layout.sizes))[:, None]
    sums = inside * weights
    masses = sums.sum(axis=1)
    np.testing.assert_allclose(found.masses, masses, rtol=1e-12)
    coefficients = np.random.default_rng(1).normal(size=(len(masses), 5))
    values, products = found.forms.forms(coefficients), found.forms.times(coefficients)
    zero = coefficients - masses @ coefficients / masses.sum()  # products need not be centered on the left
    for k, kernel in enumerate(kernels):
        gram = kernel(rows, rows)
        row_means = gram @ weights / len(rows)
        mean = weights @ row_means / len(rows)
        centered = gram - row_means[:, None] - row_means + mean
        units, exact = sums @ centered @ sums.T, {"rtol": 1e-9, "atol": 1e-11 * np.abs(gram).max()}
        np.testing.assert_allclose(values[k], ((units @ coefficients) * coefficients).sum(axis=0), **exact)
        np.testing.assert_allclose(zero.T @ products[k], zero.T @ units @ coefficients, **exact)
        np.testing.assert_allclose(found.forms.diagonal[k], sums @ np.diag(centered), **exact)
        np.testing.assert_allclose(found.means[k], sums @ row_means, **exact)
        np.testing.assert_allclose(found.mean[k], mean, **exact)


@pytest.mark.parametrize(
    ("carrier", "tile", "parts", "binned"),
    [
        *checkered(["factors"], [512], PARTS, [False, True]),
        ("tiles", 1, "weights", True),
        *checkered(["tiles"], [7, 512], PARTS, [False, True], every=3),
        *checkered(["streamed"], [7, 512], PARTS, [False, True], every=3),
        *checkered(["device"], [7], ["", "strata", "clusters"], [False, True]),  # weights are for NumPy's arrays
    ],
)
def test_sums_are_those_of_dense_matrices(
    carrier: str, tile: int, parts: str, binned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (forms, kernel_sums):
        monkeypatch.setattr(module, "TILE", tile)
    monkeypatch.setattr(layout_module, "MOST_BINS", 24 if binned else 1024)
    layout = random_rows(3, N, parts).layout().in_bins(np.random.default_rng(2))
    assert layout.binned is binned
    points = side(carrier, POINTS, monkeypatch)
    found = kernel_sums.kernel_sums(points, layout, Resources())
    assert isinstance(found.forms, CARRIERS[carrier][1])
    check(found, layout, points.kernels, POINTS)


@pytest.mark.parametrize("parts", ["", "clusters strata weights"])
def test_sums_of_columns_are_centered_by_their_means_over_all_rows(parts: str) -> None:
    """Columns are fitted to a pilot, so that they have means; three kernels on two blocks of three columns."""
    layout, points = random_rows(3, N, parts).layout(), np.column_stack([POINTS, POINTS[:, :1] ** 2])
    rows, starts = points[layout.order], layout.starts
    blocks = [
        kernel_sums.Block(slice(0, 2), np.array([2, 0]), np.array([[1.0, 0.5], [0.0, 2.0]])),
        kernel_sums.Block(slice(2, 3), np.array([1]), np.array([[3.0]])),
    ]
    squares = np.empty((3, N))
    for block in blocks:
        squares[block.numbers] = block.weighted(rows[:, block.place].T)
    sums, own = (np.add.reduceat(layout.weights * columns, starts, axis=1).T for columns in (rows.T, squares))
    found = kernel_sums.KernelSums.of(blocks, sums, own, np.add.reduceat(layout.weights, starts))
    weights = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 0.5, 0.0]])
    check(found, layout, [lambda x, y, w=w: (w * x) @ y.T for w in weights], points)


@pytest.mark.parametrize("carrier", ["factors", "tiles", "streamed"])
def test_forms_under_labels_are_those_of_any_coefficients(carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of arrangements that are listed, and of rotations."""
    layout, points = random_rows(1, N).layout(), side(carrier, POINTS, monkeypatch)
    for few in (0, 1000):
        monkeypatch.setattr(permuted_labels, "_FEW", few)
        labelings = labelings_of(points, layout, Resampling.of("auto", 150, 0))
        assert labelings.scheme == ("random" if few else "rotations")
        for part in labelings.arrangements.parts(40):
            expected = labelings.sums.forms.forms(part.labels.T.astype(float))
            np.testing.assert_allclose(labelings.sums.forms.under(part), expected, rtol=1e-9, atol=1e-9)


# -- tests of samples in bins, by their definitions over the rows ------------------------------------------------------


@pytest.fixture(params=[0, 1000], ids=["rotations", "random"])
def few_bins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins begin at 31 units, and rotate or are dealt at random."""
    monkeypatch.setattr(layout_module, "MOST_BINS", 30)
    monkeypatch.setattr(permuted_labels, "_FEW", request.param)


def labelings_in_bins(layout: layout_module.Layout, n_resamples: int, seed: int) -> np.ndarray:
    """The labels of the rows as they were passed, shape (P, n), that a test looks at under a seed."""
    rng = np.random.default_rng(seed)
    bins = layout.in_bins(rng)
    assert bins.binned
    listed = permuted_labels.arrangements(bins.cells, bins.labels, n_resamples, rng)
    labels = np.concatenate([part.labels for part in listed.parts(9)])
    found = np.empty((len(labels), layout.n), dtype=int)
    found[:, bins.order] = np.repeat(labels, bins.sizes, axis=1)
    return found


def stratified(gram: np.ndarray, labels: np.ndarray, weights: np.ndarray, strata: np.ndarray) -> float:
    """|Σ_s c_s (μ_X,s - μ_Y,s)|² with c_s proportional to A_s B_s / (A_s + B_s)."""
    coefficients, total = np.zeros(len(gram)), 0.0
    for s in np.unique(strata):
        x, y = (weights * ((strata == s) & (labels == own)) for own in (1, 0))
        share = x.sum() * y.sum() / (x.sum() + y.sum())
        coefficients += share * (x / x.sum() - y / y.sum())
        total += share
    return float(coefficients @ gram @ coefficients / total**2)


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("carrier", ["factors", "tiles", "streamed"])
@pytest.mark.parametrize("parts", PARTS)
def test_statistics_of_designs_in_bins_are_those_of_the_rows(
    parts: str, carrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, points = random_rows(3, N, parts), side(carrier, POINTS, monkeypatch)
    units = labelings_of(points, rows.layout(), Resampling.of("auto", 40, 4))
    null = designed_null(units, within_strata(units.units))
    assert null.scheme == "bins"
    labelings = labelings_in_bins(rows.layout(), 40, 4)
    strata = np.zeros(N, dtype=int) if rows.strata is None else rows.strata
    for values, kernel in zip(null.values, points.kernels, strict=True):
        gram = kernel(POINTS, POINTS)
        expected = [stratified(gram, own, rows.weights, strata) for own in labelings]
        np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize("carrier", ["factors", "tiles", "streamed"])
def test_statistics_of_several_samples_in_bins_are_those_of_the_rows(
    brute: Any, carrier: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, points = random_rows(2, N, samples=3).layout(), side(carrier, POINTS, monkeypatch)
    null = several_null(labelings_of(points, layout, Resampling.of("auto", 40, 4)), kind)
    assert null.scheme == "bins"
    labelings = labelings_in_bins(layout, 40, 4)
    sizes = np.bincount(labelings[0])
    for k, kernel in enumerate(points.kernels):
        gram, mean = kernel(POINTS, POINTS), 0.0
        for (g, h), part in null.parts.items():
            inside = [np.flatnonzero((own == g) | (own == h)) for own in labelings]
            pair = [brute.mmd(gram[np.ix_(i, i)], own[i] == g, kind) for own, i in zip(labelings, inside, strict=True)]
            np.testing.assert_allclose(part.values[k], pair, rtol=1e-8, atol=1e-10)
            mean += sizes[g] * sizes[h] * part.values[k]
        products = [sizes[g] * sizes[h] for g, h in null.parts]
        np.testing.assert_allclose(null.values[k], mean / sum(products), rtol=1e-12)
