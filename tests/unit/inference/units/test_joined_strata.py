"""Many small strata: those with equally many units of every sample change places together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference.problem import KernelSide
from kernelmean.inference.resampling import Resampling
from kernelmean.inference.units import layout as layout_module
from kernelmean.inference.units.layout import Layout
from kernelmean.inference.units.permuted_labels import arrangements
from kernelmean.inference.units.samples import designed_null, several_designed_null, within_strata
from nulls import labelings_of


@pytest.fixture(autouse=True)
def few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strata are joined from 21 units in three strata or more."""
    monkeypatch.setattr(layout_module, "MOST_BINS", 20)
    monkeypatch.setattr(layout_module, "MOST_UNITS", 40)
    monkeypatch.setattr(layout_module, "_LEAST", 16)


def strata_of(compositions: list[tuple[int, ...]], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and strata of rows in random order, from the rows of every sample in every stratum."""
    labels = np.concatenate([np.repeat(np.arange(len(own)), own) for own in compositions])
    strata = np.repeat(np.arange(len(compositions)), [sum(own) for own in compositions])
    order = np.random.default_rng(seed).permutation(len(labels))
    return labels[order], strata[order]


MIXED = [*[(2, 3)] * 7, *[(1, 1)] * 9, *[(4, 1)] * 2, (3, 3)]


def joined(labels: np.ndarray, strata: np.ndarray, weights: Any = None, clusters: Any = None) -> Layout:
    weights = np.ones(len(labels)) if weights is None else weights
    layout = replace(Layout.of(labels, weights, strata, clusters), joins=True)
    return layout.in_bins(np.random.default_rng(1))


def test_a_unit_has_one_row_of_every_stratum_that_it_joins_and_no_row_is_left_over() -> None:
    labels, strata = strata_of(MIXED)
    units = joined(labels, strata)
    assert len(units.cells) < 40
    assert units.still == 0
    np.testing.assert_array_equal(np.sort(units.order), np.arange(len(labels)))
    counts = {own: (np.sum((strata == own) & (labels == 0)), np.sum((strata == own) & (labels == 1))) for own in strata}
    cell_of: dict[int, int] = {}
    for cell in np.unique(units.cells):
        members = np.flatnonzero(units.cells == cell)
        rows = [units.order[units.starts[u] : units.starts[u] + units.sizes[u]] for u in members]
        assert len({tuple(strata[own]) for own in rows}) == 1  # the same strata in the same order
        assert all(set(labels[own]) == {label} for own, label in zip(rows, units.labels[members], strict=True))
        assert len({counts[own] for own in strata[rows[0]]}) == 1
        assert len(set(strata[rows[0]])) == len(rows[0]) == units.together[members[0]]
        cell_of |= dict.fromkeys(strata[rows[0]].tolist(), cell)
    assert len(cell_of) == len(MIXED)
    sizes = np.bincount([cell_of[own] for own in range(16)])
    assert sorted(sizes[sizes > 0]) == [3, 3, 3, 3, 4]  # at most four at a time, of 7 and of 9


def definition(gram: np.ndarray, labels: np.ndarray, weights: np.ndarray, strata: np.ndarray, g: int, h: int) -> Any:
    """MMD² of two samples within strata, and their weight among several."""
    coefficients, total, weight = np.zeros(len(gram)), 0.0, 0.0
    for own in np.unique(strata):
        x, y = (weights * ((strata == own) & (labels == label)) for label in (g, h))
        if x.sum() * y.sum() > 0.0:
            share = x.sum() * y.sum() / (x.sum() + y.sum())
            coefficients += share * (x / x.sum() - y / y.sum())
            total, weight = total + share, weight + x.sum() * y.sum()
    return coefficients @ gram @ coefficients / total**2, weight


@pytest.mark.parametrize("samples", [2, 3])
@pytest.mark.parametrize("further", ["", "weights", "clusters"])
def test_statistics_are_those_of_the_strata_as_they_are(samples: int, further: str) -> None:
    compositions = MIXED if samples == 2 else [(*own, 1 + own[0] % 2) for own in MIXED]
    labels, strata = strata_of(compositions)
    rng, clusters = np.random.default_rng(2), None
    if further == "clusters":  # of two rows each
        labels, strata, clusters = np.repeat(labels, 2), np.repeat(strata, 2), np.arange(2 * len(labels)) // 2
    weights = (1.0 + strata % 2) if further == "weights" else np.ones(len(labels))
    points = rng.normal(size=(len(labels), 2))
    layout = replace(Layout.of(labels, weights, strata, clusters), joins=True)
    labelings = labelings_of(KernelSide(points, (km.kernels.Gaussian(1.0),)), layout, Resampling.of("auto", 20, 4))
    drawing = np.random.default_rng(4)
    units = layout.in_bins(drawing)
    assert units.together is not None
    differences = within_strata(labelings.units)
    null = designed_null(labelings, differences) if samples == 2 else several_designed_null(labelings, differences, 3)
    gram, pairs = km.kernels.Gaussian(1.0)(points, points), [(0, 1), (0, 2), (1, 2)][: 1 if samples == 2 else 3]
    drawn = arrangements(units.cells, units.labels, 20, drawing)
    for value, own in zip(null.values[0], np.concatenate([part.labels for part in drawn.parts(7)]), strict=True):
        found = np.empty(len(labels), dtype=int)
        found[units.order] = np.repeat(own, units.sizes)
        parts = np.array([definition(gram, found, weights, strata, *pair) for pair in pairs])
        assert value == pytest.approx(np.average(parts[:, 0], weights=parts[:, 1]), rel=1e-9)


@pytest.mark.parametrize("weights", ["rows", None])
def test_strata_are_joined_only_where_a_stratum_counts_alike_whatever_its_labels(weights: str | None) -> None:
    labels, strata = strata_of(MIXED)
    own = np.random.default_rng(0).uniform(1.0, 2.0, len(labels)) if weights else None
    assert (joined(labels, strata, own).together is None) == bool(weights)
    without = Layout.of(labels, np.ones(len(labels)), strata).in_bins(np.random.default_rng(1))
    assert without.together is None  # a design has to say that it may be so
    assert len(joined(labels, strata, own).cells) <= 40 + 2 * len(MIXED)


@pytest.mark.parametrize("options", [{"kernel": km.kernels.Gaussian(1.0)}, {}])
def test_pvalues_are_exact_over_all_labels_of_pairs_as_strata(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 5 pairs of rows at most three are joined at a time: 4 arrangements of 32 labelings."""
    pairs, rows = np.repeat(np.arange(5), 2), np.random.default_rng(3).normal(size=(10, 2)).round(1)
    monkeypatch.setattr(layout_module, "MOST_BINS", 4)
    monkeypatch.setattr(layout_module, "MOST_UNITS", 32)
    pvalues = []
    for first in product([0, 1], repeat=5):
        inside = np.zeros(10, dtype=bool)
        inside[2 * np.arange(5) + np.array(first)] = True
        design = km.Design(strata=(pairs[inside], pairs[~inside]))
        result = km.mmd_test(rows[inside], rows[~inside], design=design, n_resamples=99, rng=0, **options)
        assert (result.scheme, result.n_resamples) == ("bins", 3)
        pvalues.append(result.pvalue)
    for alpha in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= alpha + 1e-12) <= alpha + 1e-12


@pytest.mark.parametrize("options", [{"kernel": km.kernels.Gaussian(1.0)}, {}])
def test_pvalues_are_exact_over_all_labels_and_joins_of_strata_of_several_rows(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three strata of 1 + 2 rows two are joined: 9 arrangements, and 8 joins of 27 labelings."""
    monkeypatch.setattr(layout_module, "MOST_BINS", 6)
    monkeypatch.setattr(layout_module, "MOST_UNITS", 32)
    strata, rows = np.repeat(np.arange(3), 3), np.random.default_rng(5).normal(size=(9, 1)).round(1)
    pvalues: list[float] = []
    for first, seconds in product(product(range(3), repeat=3), product([(0, 1), (1, 0)], repeat=3)):
        places = np.concatenate([(0, *own) for own in seconds])  # of the row of X and the rows of Y
        monkeypatch.setattr(layout_module, "_drawn_places", lambda cell, rng, places=places: places)
        inside = np.isin(np.arange(9), 3 * np.arange(3) + np.array(first))
        design = km.Design(strata=(strata[inside], strata[~inside]))
        result = km.mmd_test(rows[inside], rows[~inside], design=design, n_resamples=99, rng=0, **options)
        assert (result.scheme, result.n_resamples) == ("bins", 8)
        pvalues.append(result.pvalue)
    assert min(pvalues) == pytest.approx(1 / 9)
    for alpha in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= alpha + 1e-12) <= alpha + 1e-12
