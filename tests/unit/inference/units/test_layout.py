"""Layouts: which rows are a unit, which units may change places, and bins of units."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.units import layout as layout_module
from kernelmean.inference.units.layout import Layout
from kernelmean.inference.units.permuted_labels import arrangements
from layouts import PARTS, random_rows


def units_of_rows(layout: Layout) -> np.ndarray:
    """The unit of every row, in the order of the layout."""
    return np.repeat(np.arange(len(layout.sizes)), layout.sizes)


def ascending_from_0(numbers: np.ndarray) -> bool:
    return numbers[0] == 0 and set(np.diff(numbers).tolist()) <= {0, 1}


@pytest.mark.parametrize("samples", [2, 3])
@pytest.mark.parametrize("parts", PARTS)
def test_units_are_rows_or_clusters_and_cells_are_what_may_change_places(parts: str, samples: int) -> None:
    for seed in range(4):
        rows = random_rows(seed, 60, parts, samples)
        layout = rows.layout()
        order, unit = layout.order, units_of_rows(layout)
        np.testing.assert_array_equal(np.sort(order), np.arange(60))
        strata, clusters = (
            np.zeros(60, dtype=int) if rows.strata is None else rows.strata,
            np.arange(60) if rows.clusters is None else rows.clusters,
        )
        size = np.bincount(clusters)[clusters] if rows.equal_sizes else np.zeros(60, dtype=int)
        for own, inside in ((unit, clusters), (layout.cells[unit], 100 * strata + size), (layout.stratum, strata)):
            assert ascending_from_0(own)
            np.testing.assert_array_equal(own[:, None] == own, inside[order][:, None] == inside[order])
        np.testing.assert_array_equal(layout.labels[unit], rows.labels[order])
        assert all((np.diff(layout.labels[layout.cells == cell]) >= 0).all() for cell in layout.cells)
        np.testing.assert_allclose(layout.weights, rows.weights[order] / rows.weights.mean(), rtol=1e-14)
        np.testing.assert_array_equal(layout.starts, np.searchsorted(unit, np.arange(len(layout.sizes))))
        assert layout.in_bins(np.random.default_rng(0)) is layout


def test_the_largest_weights_do_not_overflow() -> None:
    layout = Layout.of(np.array([0, 1, 1]), np.array([1e308, 1e308, 5e307]))
    np.testing.assert_allclose(layout.weights, [1.2, 1.2, 0.6])


@pytest.mark.parametrize("parts", PARTS)
def test_units_that_have_no_counterpart_are_counted(parts: str) -> None:
    for seed in range(4):
        layout = random_rows(seed, 30, parts).layout()
        alone = [len(set(layout.labels[layout.cells == cell])) == 1 for cell in layout.cells]
        assert layout.still == sum(alone)
    pairs = Layout.of(np.zeros(5, dtype=int), np.ones(5), np.array([0, 0, 1, 2, 2]))
    assert pairs.still == 1


# -- bins --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bins begin at 33 units, and a cell has eight of them or more."""
    monkeypatch.setattr(layout_module, "MOST_BINS", 32)
    monkeypatch.setattr(layout_module, "_LEAST", 8)


def moving(layout: Layout) -> np.ndarray:
    """Whether every unit is in a cell with units of several samples."""
    return np.array([len(set(layout.labels[layout.cells == cell])) > 1 for cell in layout.cells])


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("samples", [2, 3])
@pytest.mark.parametrize("parts", PARTS)
def test_bins_hold_equally_many_units_of_one_cell_and_sample(parts: str, samples: int) -> None:
    for seed in range(4):
        layout = random_rows(seed, 400, parts, samples).layout()
        bins = layout.in_bins(np.random.default_rng(seed))
        assert bins.binned
        np.testing.assert_array_equal(np.sort(bins.order), np.arange(400))
        place = np.argsort(layout.order)[bins.order]  # of the rows of bins in the layout before
        unit, bin_of = units_of_rows(layout)[place], units_of_rows(bins)
        np.testing.assert_array_equal(bins.weights, layout.weights[place])
        np.testing.assert_array_equal(bins.stratum, layout.stratum[place])
        pairs = np.unique(np.stack([unit, bin_of]), axis=1)
        np.testing.assert_array_equal(pairs[0], np.arange(len(layout.sizes)))  # no unit is in two bins
        np.testing.assert_array_equal(layout.labels[pairs[0]], bins.labels[pairs[1]])
        assert ascending_from_0(bins.cells)
        held, free = np.bincount(pairs[1]), moving(bins)
        for cell in np.unique(bins.cells[free]):
            inside = bins.cells == cell
            assert len(set(held[inside])) == 1
            assert (np.diff(bins.labels[inside]) >= 0).all()
            assert len(set(layout.cells[pairs[0][inside[pairs[1]]]])) == 1
            assert inside.sum() <= 32
        assert set(layout.cells[pairs[0][free[pairs[1]]]]) == set(layout.cells[moving(layout)])


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("parts", PARTS)
def test_what_is_left_over_never_moves(parts: str) -> None:
    rng = np.random.default_rng(1)
    bins = random_rows(2, 401, parts).layout().in_bins(rng)
    drawn = np.concatenate([part.labels for part in arrangements(bins.cells, bins.labels, 99, rng).parts(7)])
    still = ~moving(bins)
    assert still.any()
    np.testing.assert_array_equal(drawn[:, still], np.tile(bins.labels[still], (len(drawn), 1)))
    assert (drawn[:, ~still] != bins.labels[~still]).any(axis=0).all()


def test_another_seed_deals_other_bins_and_rows_in_order_are_spread_over_all() -> None:
    layout = Layout.of(np.repeat([0, 1], [3000, 5000]), np.ones(8000))
    one, same, other = (layout.in_bins(np.random.default_rng(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.order, same.order)
    assert (one.order != other.order).mean() > 0.9
    assert np.bincount(one.cells)[0] == 3000 // 8 + 5000 // 8
    means = np.add.reduceat(one.order, one.starts)[: 3000 // 8] / 8
    assert np.std(means) < 1.2 * 3000 / np.sqrt(12 * 8)


def test_small_cells_of_many_rows_are_not_cut_into_fewer_bins_than_can_move() -> None:
    """Strata of two rows are pairs; bins of a share of 1024 would leave all of them where they are."""
    pairs = Layout.of(np.tile([0, 1], 700), np.ones(1400), np.repeat(np.arange(700), 2))
    assert pairs.in_bins(np.random.default_rng(0)).still == 0
    one_of_many = Layout.of(np.tile([0, 1], 2000), np.ones(4000), np.repeat([0, 1], [3998, 2]))
    bins = one_of_many.in_bins(np.random.default_rng(0))
    np.testing.assert_array_equal(bins.sizes[bins.stratum[bins.starts] == 1], [1, 1])


def test_the_rows_that_features_are_fitted_to_stay_few_in_many_strata() -> None:
    """They are all rows of some strata, which permutations within strata exchange for each other."""
    strata = np.arange(600) % 100
    layout = Layout.of(np.arange(600) // 300, np.ones(600), strata)
    rows = layout.pilot(200)
    np.testing.assert_array_equal(rows, np.flatnonzero(np.isin(strata, strata[rows])))
    assert len(rows) == 204
    assert np.ptp(strata[rows]) == 99
    np.testing.assert_array_equal(layout.pilot(600), np.arange(600))
