"""Two samples in bins: every permutation of bins is one of the rows, and the p-value of a whole orbit is exact."""

from __future__ import annotations

import tracemalloc
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from checkered import checkered
from in_bins import Prepared, coordinates, mmd, sample_sums, samples
from kernelmean.inference.units import dealing
from kernelmean.inference.units.permuted_labels import arrangements
from kernelmean.inference.units.samples import Labelings, plain_null
from kernelmean.inference.units.unit_sums import UnitSums, dealt_units, in_fixed_order, summed
from kernelmean.tables.shuffle import unshuffled

Array = np.ndarray[Any, Any]
SIZES = [(40, 40), (37, 61), (61, 37), (50, 7), (6, 44)]
"""With eight bins at most: of samples of one size, and with rows that no bin takes."""


@pytest.fixture
def few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deal rows to eight bins."""
    for name, value in (("MOST_BINS", 8), ("_LEAST_BINS", 2), ("PILOT", 24)):
        monkeypatch.setattr(dealing, name, value)


def table(n: int, seed: int, dim: int = 2) -> Array:
    rng = np.random.default_rng(seed)
    return rng.standard_t(4, (n, dim)) + rng.integers(0, 2, (n, 1))


def definition(gram: Array, first: Array, statistic: str) -> float:
    """Return MMD² of the rows where ``first`` is true and the others, as means over blocks of a Gram matrix."""
    n, m, second = first.sum(), (~first).sum(), ~first
    within = []
    for own, size in ((first, n), (second, m)):
        block = gram[np.ix_(own, own)]
        within.append(block.mean() if statistic == "v" else (block.sum() - np.trace(block)) / (size * (size - 1)))
    return float(sum(within) - 2 * gram[np.ix_(first, second)].mean())


def labelings(prepared: Prepared, sums: Array, rng: np.random.Generator) -> list[Array]:
    """Return which rows of the pooled sample every permutation of bins puts into the sample that comes first."""
    assert prepared.deals is not None
    units, rows = dealt_units(prepared.deals), prepared.deals
    ordered, same = in_fixed_order(units, sums, prepared.fit.columns[0])
    order = np.arange(len(sums)) if same is sums else np.lexsort((1 - units.labels, units.cells))
    unit = np.concatenate([rows.of(sample, 0, n)[0] for sample, n in enumerate(rows.sizes)])
    listed = arrangements(ordered.cells, ordered.labels, prepared.test.request.n_resamples, rng)
    found = []
    for own in np.concatenate([part.labels for part in listed.parts(512)]):
        labels = np.empty_like(own)
        labels[order] = own
        found.append(labels[unit] == 0)
    return found


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("statistic", ["u", "v"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("estimator", [None, "kme"])
def test_every_kernel_has_the_statistic_of_its_definition(
    sizes: tuple[int, int], statistic: Any, estimator: Any
) -> None:
    X, Y = table(sizes[0], 0), 0.3 + table(sizes[1], 1)
    prepared = samples(X, Y, estimator=estimator, statistic=statistic)
    assert prepared.deals is not None
    sums, rng = sample_sums(prepared).all(), deepcopy(prepared.fit.how.rng)
    columns = prepared.fit.columns[0]
    units, ordered = in_fixed_order(dealt_units(prepared.deals), sums, columns)
    null = plain_null(Labelings.of(summed(columns, ordered, units.masses), units, prepared.fit.how), statistic)
    points = coordinates(prepared.fit.columns[0], np.concatenate([X, Y]))
    expected = labelings(prepared, sums, rng)
    assert {int(own.sum()) for own in expected} == {min(sizes)}
    observed = np.repeat([True, False], sizes)
    assert (expected[0] == observed).all() or (expected[0] == ~observed).all()
    assert len(prepared.fit.kernels) == null.values.shape[0]
    for kernel, values in zip(prepared.fit.kernels, null.values, strict=True):
        gram = kernel(points, points)
        brute = [definition(gram, own, statistic) for own in expected]
        np.testing.assert_allclose(values, brute, rtol=0, atol=1e-12 * np.abs(gram).max())


# -- a whole orbit ----------------------------------------------------------------------------------------------------


def orbit(X: Array, Y: Array, seed: int) -> list[tuple[Array, Array]]:
    """Return the data under every way to exchange bins; the observed data come first."""
    deals = dealing.Deals.dealt((len(X), len(Y)), seed).each
    bins = [
        [unshuffled(number * own.size + np.arange(own.size), own.n, seed) for number in range(own.bins)]
        for own in deals
    ]
    places = [(side, rows) for side, own in enumerate(bins) for rows in own]
    contents = [(X, Y)[side][rows] for side, rows in places]
    found = []
    for chosen in combinations(range(len(places)), len(bins[0])):
        order = [*chosen, *(k for k in range(len(places)) if k not in chosen)]
        both = X.copy(), Y.copy()
        for (side, rows), k in zip(places, order, strict=True):
            both[side][rows] = contents[k]
        found.append(both)
    return found


def law(name: str, n: int, rng: np.random.Generator) -> Array:
    if name == "ties":
        return rng.integers(0, 3, (n, 2)).astype(float)
    if name == "heavy tails":
        return rng.standard_t(1.0, (n, 2))
    return rng.standard_normal((n, 1)) if name == "one column" else np.exp(rng.standard_normal((n, 3)))


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize(
    ("name", "sizes", "options"),
    checkered(
        ["ties", "heavy tails", "one column", "skewed"],
        [(24, 24), (27, 14), (18, 30)],
        [{}, {"estimator": "kme"}, {"estimator": "aggregate", "statistic": "v"}],
    ),
)
def test_pvalues_of_a_whole_orbit_are_exact(
    monkeypatch: pytest.MonkeyPatch, name: str, sizes: tuple[int, int], options: dict[str, Any]
) -> None:
    """Of all data that exchange bins, the share with p ≤ a is at most a: no feature knows who is in which sample."""
    monkeypatch.setattr(dealing, "MOST_BINS", 6)
    rng = np.random.default_rng(8)
    X, Y = law(name, sizes[0], rng), law(name, sizes[1], rng)
    found = [mmd(own, other, seed=0, **options) for own, other in orbit(X, Y, 0)]
    pvalues, total = np.array([own.pvalue for own in found]), len(found)
    assert total == len(found[0].null_distribution) + 1 >= 6
    assert pvalues.min() <= 2 / total or name == "ties"
    for level in np.unique(pvalues):
        assert (pvalues <= level).mean() <= level + 1e-12
    statistics = np.array([own.statistic for own in found])
    for own in found:  # every data set of the orbit sees the same statistics
        values = np.append(own.statistic, own.null_distribution)
        np.testing.assert_allclose(np.sort(values), np.sort(statistics), atol=1e-8 * np.abs(statistics).max())


@pytest.mark.usefixtures("few_bins")
@pytest.mark.parametrize("sizes", [(24, 24), (27, 14)], ids=str)
def test_exchanging_bins_leaves_the_pilot_as_it_is(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(sizes[0], 2)), rng.normal(size=(sizes[1], 2))
    first, second = dealing.Deals.dealt(sizes, seed=4).each
    pilots = [
        np.sort(np.concatenate([own[first.fitted_to, 0], other[second.fitted_to, 0]])) for own, other in orbit(X, Y, 4)
    ]
    assert len(pilots) >= 15
    for pilot in pilots:
        np.testing.assert_array_equal(pilot, pilots[0])


# -- what changes nothing ---------------------------------------------------------------------------------------------


def same(one: Any, other: Any, tolerance: float = 1e-12) -> None:
    scale = max(1.0, np.abs(other.null_distribution).max())
    assert one.pvalue == other.pvalue
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=0, atol=tolerance * scale)


@pytest.fixture(scope="module")
def data() -> tuple[Array, Array]:
    return table(1500, 0), 0.1 + table(1100, 1)


OPTIONS = [{"n_resamples": 99}, {"estimator": "kme", "n_resamples": 99}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_order_of_the_samples_changes_nothing(data: tuple[Array, Array], options: dict[str, Any]) -> None:
    X, Y = data
    same(mmd(X, Y, **options), mmd(Y, X, **options))
    same(mmd(X[:1100], Y, **options), mmd(Y, X[:1100], **options))


@pytest.mark.slow
@pytest.mark.usefixtures("few_bins")
def test_a_thousand_merges_in_any_order_and_grouping(data: tuple[Array, Array]) -> None:
    """A row each, neighbors merged at random until one is left."""
    prepared, rng = samples(*data, estimator="kme"), np.random.default_rng(1)
    columns, units, rows = prepared.fit.columns[0], sample_sums(prepared, rows=False).rows, prepared.rows[0][:1001]
    whole = UnitSums(columns, units)
    whole.add(rows)
    singles = [UnitSums(columns, units) for _ in rows]
    for number, own in enumerate(singles):
        own.add(rows[number : number + 1], start=number)
    for _ in range(3):
        parts = [singles[k] for k in rng.permutation(len(rows))]
        while len(parts) > 1:
            k = int(rng.integers(len(parts) - 1))
            parts[k : k + 2] = [parts[k] + parts[k + 1]]
        assert parts[0].added.tolist() == [len(rows), 0]
        np.testing.assert_allclose(parts[0].sums, whole.sums, rtol=0, atol=1e-12 * np.abs(whole.sums).max())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_batches_and_threads_change_nothing(data: tuple[Array, Array], options: dict[str, Any]) -> None:
    X, Y = data
    whole = mmd(X, Y, **options)
    for rows in (31, 300):
        batched = [[own[k : k + rows] for k in range(0, len(own), rows)] for own in (X, Y)]
        same(mmd(*map(km.read, batched), **options), whole)
    if "estimator" in options:
        single = [[own[k : k + 1] for k in range(250)] for own in (X, Y)]
        same(mmd(*map(km.read, single), **options), mmd(X[:250], Y[:250], **options))
    same(mmd(X, Y, plan=km.Plan(threads=3), **options), whole)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_place_of_rows_gives_the_same(data: tuple[Array, Array], tmp_path: Path, options: dict[str, Any]) -> None:
    pl = pytest.importorskip("polars")
    whole = mmd(*data, **options)
    frames = [pl.DataFrame(own, schema=["a", "b"]) for own in data]
    for name, frame in zip("xy", frames, strict=True):
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_parquet(tmp_path / f"{name}.parquet", row_group_size=400)
    same(mmd(*frames, **options), whole)
    for kind in ("csv", "parquet"):
        same(mmd(tmp_path / f"x.{kind}", tmp_path / f"y.{kind}", **options), whole)
    batched = [np.array_split(own, 9) for own in data]
    same(mmd(*batched, **options), whole)
    same(mmd(iter(batched[0]), iter(batched[1]), **options), whole)
    same(mmd(tmp_path / "x.csv", batched[1], **options), whole)


def test_an_integer_seed_is_reproduced_and_a_generator_goes_on(data: tuple[Array, Array]) -> None:
    options = OPTIONS[1]
    same(mmd(*data, seed=7, **options), mmd(*data, seed=7, **options), 0.0)
    one, other = (mmd(*data, seed=np.random.default_rng(7), **options) for _ in range(2))
    same(one, other, 0.0)
    assert not np.array_equal(one.null_distribution, mmd(*data, seed=8, **options).null_distribution)


# -- rows that do not stay as they are --------------------------------------------------------------------------------


def test_more_rows_than_were_counted_are_noticed(data: tuple[Array, Array]) -> None:
    sums = sample_sums(samples(*data), rows=False)
    for rows in (1501, 9000):  # beyond the powers of two that rows are shuffled in
        with pytest.raises(ValueError, match=r"more than 1,500 rows were read; rows must stay as they are"):
            sums.add(np.resize(data[0], (rows, 2)))


@pytest.mark.parametrize("rows", [range(1499), range(0)], ids=len)
def test_missing_rows_are_noticed(data: tuple[Array, Array], rows: range) -> None:
    sums = sample_sums(samples(*data), rows=False)
    sums.add(np.resize(data[0], (len(rows), 2)))
    with pytest.raises(ValueError, match=rf"{len(rows):,} rows were read of 1,500; rows must stay as they are"):
        sums.all()


# -- data of special kinds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("value", [0.0, 7.25, -1e300])
def test_constant_data_have_p_1(value: float, options: dict[str, Any]) -> None:
    for sizes in ((300, 300), (700, 400)):
        assert mmd(*(np.full((n, 2), value) for n in sizes), **options).pvalue == 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(data: tuple[Array, Array], bad: float) -> None:
    X, Y = data[0].copy(), data[1]
    X[1400, 1] = bad
    with pytest.raises(ValueError, match=r"finite|NaN"):
        mmd(X, Y, **OPTIONS[1])
    with pytest.raises(ValueError, match=r"finite|NaN"):
        mmd(np.array_split(X, 7), np.array_split(Y, 7), **OPTIONS[1])


def test_samples_of_different_columns_are_refused(data: tuple[Array, Array]) -> None:
    with pytest.raises(ValueError, match="columns"):
        mmd(data[0], data[1][:, :1])


def test_a_difference_is_found(data: tuple[Array, Array]) -> None:
    X, Y = data
    results = [mmd(X, Y + 0.5, **options) for options in OPTIONS]
    for found in (*results, mmd(X[:, :1], 1.6 * X[:, :1], n_resamples=99)):
        assert found.pvalue == found.smallest <= 0.01


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows() -> None:
    peaks = []
    for n in (30_000, 240_000):
        batches = [np.random.default_rng([n, k]).normal(size=(10_000, 3)) for k in range(n // 10_000)]
        prepared = samples(np.concatenate(batches[:1]), np.concatenate(batches[1:2]), resamples=19)
        sums = UnitSums(prepared.fit.columns[0], dealing.Deals.dealt((n, n), 3))
        tracemalloc.start()
        for batch in batches:
            sums.add(batch)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
