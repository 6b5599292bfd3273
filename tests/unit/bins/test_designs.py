"""Strata, clusters and weights of any number of rows: whole orbits of bins, and the same wherever the rows are."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean import Design
from kernelmean.inference.bins import samples as samples_module
from kernelmean.inference.units import layout as layout_module
from kernelmean.inference.units.layout import Layout
from kernelmean.inference.units.permuted_labels import _arrangements
from kernelmean.tables import limits

Array = np.ndarray[Any, Any]
PARTS = ["strata", "clusters", "weights", "strata clusters weights"]


# -- a whole orbit ----------------------------------------------------------------------------------------------------


def bins_of(labels: Array, strata: Array, seed: int) -> list[list[Array]]:
    """Return the bins of units of every cell, one list for each cell whose bins change places."""
    units = Layout.of(labels, np.ones(len(labels)), strata)
    bins = units.in_bins(np.random.default_rng([seed, 2]))
    assert bins.binned
    every = np.split(bins.order, bins.starts[1:])
    cells = [np.flatnonzero(bins.cells == cell) for cell in range(bins.cells[-1] + 1)]
    return [[every[k] for k in cell] for cell in cells if len(set(bins.labels[cell])) > 1]


def orbit(labels: Array, strata: Array, seed: int) -> list[Array]:
    """Return which unit comes to every place, the observed order first, for every division of the bins."""
    cells = bins_of(labels, strata, seed)
    ways = []
    for bins in cells:
        of_sample = [int(labels[own[0]]) for own in bins]
        found = []
        for chosen in map(np.array, _arrangements(of_sample)):
            moved = np.argsort(chosen, kind="stable")
            found.append([(own, bins[k]) for own, k in zip(bins, moved, strict=True)])
        ways.append(found)
    orders = []
    for choice in product(*ways):
        order = np.arange(len(labels))
        for to, from_ in (pair for cell in choice for pair in cell):
            order[to] = from_
        orders.append(order)
    return orders


@pytest.mark.parametrize(("parts", "estimator", "samples"), checkered(PARTS, ["kme", "adaptive"], [2, 3], every=3))
def test_pvalues_of_a_whole_orbit_are_exact(
    monkeypatch: pytest.MonkeyPatch, parts: str, estimator: str, samples: int
) -> None:
    """Of all data that exchange bins, the share with p ≤ a is at most a: no feature knows who is in which sample."""
    two = "strata" in parts and samples == 2
    bins = 5 if two or samples == 3 else 7
    for name in ("MOST_BINS", "_LEAST"):
        monkeypatch.setattr(layout_module, name, bins)
    monkeypatch.setattr(samples_module, "PILOT", 20)
    rng, units = np.random.default_rng(samples), 26
    labels = np.repeat(np.arange(samples), -(-units // samples))[:units]
    strata = np.arange(units) % 2 if two else np.zeros(units, dtype=int)
    sizes = rng.integers(1, 5, units) if "clusters" in parts else np.ones(units, dtype=int)
    contents = [rng.standard_t(2, (own, 2)) + rng.normal(size=2) for own in sizes]
    weights = [rng.uniform(0.5, 2.0, own) for own in sizes]
    orders = orbit(labels, strata, 0)
    pvalues, statistics = [], []
    for order in orders:
        of_samples = [np.flatnonzero(labels == label) for label in range(samples)]
        tables = [np.concatenate([contents[order[k]] for k in own]) for own in of_samples]
        many = sizes[order]
        design: dict[str, Any] = {
            "strata": tuple(np.repeat(strata[own], many[own]) for own in of_samples),
            "clusters": tuple(np.repeat(own, many[own]) for own in of_samples),
            "weights": tuple(np.concatenate([weights[order[k]] for k in own]) for own in of_samples),
        }
        test: Any = km.mmd_test if samples == 2 else km.k_sample_test
        said = Design(**{part: design[part] for part in parts.split()})
        found = test(*tables, design=said, estimator=estimator, scheme="bins", rng=0, n_resamples=10**4)
        assert found.scheme == "bins"
        pvalues.append(found.pvalue)
        statistics.append(found.statistic)
    total = len(orders)
    assert total >= 15
    assert total == len(found.null_distribution) + 1
    for level in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= level) <= level + 1e-12
    values = np.append(found.statistic, found.null_distribution)
    np.testing.assert_allclose(np.sort(values), np.sort(statistics), atol=1e-8 * np.abs(values).max())


# -- one computation --------------------------------------------------------------------------------------------------

SIZES = 1700, 1300, 900


def table(n: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return rng.standard_t(4, (n, 2)) + rng.integers(0, 2, (n, 1)) + 0.05 * seed


def designs(parts: str, samples: int) -> Design:
    rng, said = np.random.default_rng(9), {}
    starts = np.cumsum((0, *SIZES))
    clusters = [np.arange(n) // 2 + start for n, start in zip(SIZES, starts, strict=False)]
    said["clusters"] = clusters
    said["strata"] = [own % 5 for own in clusters]
    said["weights"] = [rng.uniform(1.0, 100.0, n) for n in SIZES]
    return Design(**{part: tuple(said[part][:samples]) for part in parts.split()})


@pytest.mark.parametrize(("parts", "options"), checkered(PARTS, [{}, {"estimator": "kme"}], every=4))
@pytest.mark.parametrize("samples", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_place_of_rows_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: str, options: dict[str, Any], samples: int
) -> None:
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 800)
    monkeypatch.setattr(limits, "TEST_LIMIT", 800)
    tables, design = [table(n, seed) for seed, n in enumerate(SIZES[:samples])], designs(parts, samples)
    test: Any = km.mmd_test if samples == 2 else km.k_sample_test
    how: dict[str, Any] = {"design": design, "rng": 3, "n_resamples": 99, **options}
    whole = test(*tables, **how)
    assert whole.scheme == "bins"
    assert whole.notes[-1].endswith("beyond 800 rows")
    places: list[list[Any]] = [
        [np.array_split(own, 7) for own in tables],
        [iter(np.array_split(own, 3)) for own in tables],
    ]
    frames = [pd.DataFrame(own, columns=["a", "b"]) for own in tables]
    for k, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"{k}.parquet", row_group_size=400)
        (tmp_path / str(k)).mkdir()
        for number, part in enumerate(np.array_split(np.arange(len(frame)), 4)):
            frame.iloc[part].to_parquet(tmp_path / str(k) / f"{number}.parquet")
    places += [frames, [tmp_path / f"{k}.parquet" for k in range(samples)], [tmp_path / str(k) for k in range(samples)]]
    for place in places:
        found = test(*place, **how)
        assert found.pvalue == whole.pvalue
        assert found.statistic == pytest.approx(whole.statistic, rel=1e-10)
        assert (found.notes, found.sizes) == (whole.notes, whole.sizes)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("options", [{}, {"estimator": "kme"}], ids=str)
def test_which_sample_comes_first_changes_nothing(parts: str, options: dict[str, Any]) -> None:
    tables, design = [table(n, seed) for seed, n in enumerate(SIZES[:2])], designs(parts, 2)
    given = {part: getattr(design, part)[::-1] for part in parts.split()}
    how: dict[str, Any] = {"scheme": "bins", "rng": 3, "n_resamples": 99, **options}
    one, other = (
        km.mmd_test(*tables, design=design, **how),
        km.mmd_test(*tables[::-1], design=Design(**given), **how),
    )
    assert other.pvalue == one.pvalue
    assert other.statistic == pytest.approx(one.statistic, rel=1e-10)


def test_rows_of_weight_zero_are_as_if_they_were_not_there() -> None:
    """Whatever rows take part, the units are those of their numbers among them."""
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame(rng.normal(size=(1500, 2)), columns=["a", "b"]) for _ in range(2)]
    strata, weights = (rng.integers(0, 3, (2, 1500)) for _ in range(2))
    results = []
    for kept in ([own >= 0 for own in weights], [own > 0 for own in weights]):
        within, weigh = ([own[rows] for own, rows in zip(both, kept, strict=True)] for both in (strata, 1.0 * weights))
        design = Design(strata=tuple(within), weights=tuple(weigh))
        batches = [km.read(table[rows], batch_rows=400) for table, rows in zip(tables, kept, strict=True)]
        results.append(km.mmd_test(*batches, kernel="gaussian", design=design, n_resamples=99, rng=0, scheme="bins"))
    assert results[0].pvalue == results[1].pvalue
    np.testing.assert_allclose(results[0].null_distribution, results[1].null_distribution, rtol=1e-10)


def test_units_that_are_few_are_permuted_as_they_are_however_many_rows_they_have() -> None:
    """With as many landmarks as distinct rows, the features are the kernel: the test of all rows in memory."""
    rng = np.random.default_rng(0)
    rows, cluster = rng.integers(0, 3, (600, 2)).astype(float), np.arange(600) // 10
    design = Design(clusters=(cluster[:300], cluster[300:]))
    held, added = (
        km.mmd_test(rows[:300], rows[300:], kernel=km.kernels.Gaussian(1.0), design=design, scheme=own, rng=0)
        for own in ("auto", "bins")
    )
    assert held.scheme == added.scheme == "random"
    assert added.statistic == pytest.approx(held.statistic, rel=1e-8)


def test_an_explanation_of_a_test_with_a_design_is_refused() -> None:
    found = km.mmd_test(table(1700, 0), table(1300, 1), design=designs("strata", 2), scheme="bins", rng=0)
    with pytest.raises(ValueError, match="this result holds some of its rows, without their strata"):
        found.effect_size()
    assert "effect sizes" not in " ".join(found.notes)
    assert found.question.design.rows[0].size == 0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"strata": (np.zeros(1700), np.zeros(1299))}, r"strata of Y has shape \(1299,\)"),
        ({"strata": (np.zeros(1700), np.ones(1300))}, "no stratum holds rows of both samples"),
        ({"weights": (np.ones(1700), -np.ones(1300))}, "must not be negative"),
        ({"clusters": (np.arange(1700), np.arange(1300))}, "have rows in both samples"),
    ],
)
def test_designs_that_do_not_fit_are_refused(said: dict[str, Any], words: str) -> None:
    tables = [np.array_split(table(n, seed), 3) for seed, n in enumerate(SIZES[:2])]
    with pytest.raises(ValueError, match=words):
        km.mmd_test(*tables, design=Design(**said), scheme="bins", rng=0)


def test_arrays_of_other_libraries_are_refused_as_in_memory() -> None:
    xp = pytest.importorskip("array_api_strict")
    tables = [xp.asarray(table(n, seed)) for seed, n in enumerate(SIZES[:2])]
    for scheme in ("auto", "bins"):
        with pytest.raises(TypeError, match="strata, clusters and weights need NumPy's arrays"):
            km.mmd_test(*tables, design=designs("weights", 2), scheme=scheme, rng=0)
