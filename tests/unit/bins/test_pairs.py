"""Two variables in bins: every rotation has the statistic of its definition, and the p-value of an orbit is exact."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from checkered import checkered
from in_bins import Prepared, coordinates, hsic, pair_sums, variables, windows_of
from kernelmean.inference.rotations import stripes, windows
from kernelmean.inference.rotations.stripes import StripeSums
from kernelmean.inference.rotations.windows import StripeWindows, shuffled_window

Array = np.ndarray[Any, Any]


@pytest.fixture
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """StripeWindows of two stripes, and a pilot of a few of them."""
    for room, name, value in ((windows, "WINDOW", 2), (windows, "PILOT", 24), (stripes, "_AT_ONCE", 8)):
        monkeypatch.setattr(room, name, value)


def data(n: int, seed: int = 0, strength: float = 0.5) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, (n, 2))
    return X, strength * X[:, :1] ** 2 + rng.normal(size=(n, 1))


def rotated(n: int, many: int, seed: int, by: int) -> Array:
    """Return which y every x meets under a rotation."""
    partners, window = np.arange(n), windows.WINDOW * many
    for start in range(0, n, window):
        order = start + shuffled_window(seed, start // window, min(window, n - start))
        for first in range(0, len(order) - many + 1, many):
            stripe = order[first : first + many]
            partners[stripe] = np.roll(stripe, -by)
    return partners


def definition(left: Array, right: Array) -> float:
    """Return tr(K H L H) / n²."""
    n = len(left)
    center = np.eye(n) - 1 / n
    return float(np.trace(left @ center @ right @ center) / n**2)


def added(prepared: Prepared, sums: StripeSums, number: int) -> None:
    """Add the rows of a window."""
    cut = windows_of(prepared)
    rows = slice(number * cut.rows, (number + 1) * cut.rows)
    cut.add(sums, number, *(variable[rows] for variable in prepared.rows))


def filled(prepared: Prepared) -> StripeSums:
    sums = pair_sums(prepared)
    for number in range(-(-len(prepared.rows[0]) // windows_of(prepared).rows)):
        added(prepared, sums, number)
    return sums


@pytest.mark.usefixtures("short_windows")
@pytest.mark.parametrize("n", [16, 31, 32, 45, 64, 75])
@pytest.mark.parametrize("estimator", [None, "kme"])
def test_every_rotation_has_the_statistic_of_its_definition(n: int, estimator: Any) -> None:
    """Of one window and of several, with rows that fill no stripe and windows that fill no two."""
    prepared = variables(*data(n), estimator=estimator)
    null = filled(prepared).null()
    X, Y = (coordinates(own, rows) for own, rows in zip(prepared.fit.columns, prepared.rows, strict=True))
    assert null.values.shape == (len(prepared.fit.kernels), 16)
    partners = [rotated(n, 16, prepared.test.seed, k) for k in range(16)]
    assert (partners[0] == np.arange(n)).all()
    assert {tuple(np.sort(own)) for own in partners} == {tuple(range(n))}
    chosen = prepared.fit.kernels[:: max(1, len(prepared.fit.kernels) // 12)]
    for (left, right), values in zip(prepared.fit.kernels, null.values, strict=True):
        if (left, right) not in chosen:
            continue
        K, L = left(X, X), right(Y, Y)
        brute = [definition(K, L[np.ix_(own, own)]) for own in partners]
        np.testing.assert_allclose(values, brute, rtol=0, atol=1e-12 * np.abs(K).max() * np.abs(L).max())


@pytest.mark.parametrize("n", [16, 40, 100, 5000, 70_000, 300_001])
@pytest.mark.parametrize("many", [16, 128])
def test_features_are_fitted_to_rows_that_rotations_exchange(n: int, many: int) -> None:
    many = min(many, n)
    rows = StripeWindows(many, 9).pilot(n)
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0
    assert rows[-1] < n
    inside = np.isin(np.arange(n), rows)
    for by in (1, 3, many - 1):
        partners = rotated(n, many, 9, by)
        assert (inside[partners] == inside).all()
    assert len(rows) % many == 0
    assert min(n // many * many, 3 * 1024) <= len(rows) <= 4096 + 4 * many  # the last window may be short


@pytest.mark.parametrize("many", [1000, 2000, 4096])
def test_rows_that_features_are_fitted_to_are_of_four_windows_for_many_rotations(many: int) -> None:
    n = 64 * many * 8
    windows = np.unique(StripeWindows(many, 9).pilot(n) // (64 * many))
    assert len(windows) == 4
    assert windows[0] == 0
    assert windows[-1] == 7


# -- a whole orbit ----------------------------------------------------------------------------------------------------


def law(name: str, n: int, rng: np.random.Generator) -> Array:
    if name == "ties":
        return rng.integers(0, 3, (n, 1)).astype(float)
    return rng.standard_t(1.0, (n, 2)) if name == "heavy tails" else np.exp(rng.standard_normal((n, 3)))


@pytest.mark.usefixtures("short_windows")
@pytest.mark.parametrize(
    ("name", "n", "options"),
    checkered(
        ["ties", "heavy tails", "skewed"], [8, 24, 45], [{}, {"estimator": "kme"}, {"estimator": "log-mean-exp"}]
    ),
)
def test_pvalues_of_a_whole_orbit_are_exact(name: str, n: int, options: dict[str, Any]) -> None:
    """Of all data that rotate Y, the share with p ≤ a is at most a: no feature knows the partner of a row."""
    rng = np.random.default_rng(8)
    X, Y = law(name, n, rng), law(name, n, rng)
    found = [hsic(X, Y[rotated(n, 8, 0, k)], n_resamples=7, **options) for k in range(8)]
    pvalues = np.array([own.pvalue for own in found])
    assert {len(own.null_distribution) for own in found} == {7}
    for level in np.unique(pvalues):
        assert (pvalues <= level).mean() <= level + 1e-12
    assert pvalues.min() <= 1 / 4 or name == "ties"
    statistics = np.sort([own.statistic for own in found])
    for own in found:  # every data set of the orbit sees the same statistics
        values = np.sort(np.append(own.statistic, own.null_distribution))
        np.testing.assert_allclose(values, statistics, atol=1e-8 * np.abs(statistics).max())


# -- what changes nothing ---------------------------------------------------------------------------------------------


def same(one: Any, other: Any, tolerance: float = 1e-12) -> None:
    scale = max(1.0, np.abs(other.null_distribution).max())
    assert one.pvalue == other.pvalue
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=0, atol=tolerance * scale)


OPTIONS = [{"n_resamples": 15}, {"estimator": "kme", "n_resamples": 31}]


@pytest.mark.slow
@pytest.mark.usefixtures("short_windows")
def test_a_thousand_windows_merge_in_any_order_and_grouping() -> None:
    """StripeWindows of two stripes of four pairs, neighbors merged at random until one is left."""
    prepared, rng = variables(*data(8003), estimator="kme", resamples=3), np.random.default_rng(1)
    whole = filled(prepared)
    apart = [pair_sums(prepared) for _ in range(1001)]
    for number, own in enumerate(apart):
        added(prepared, own, number)
    expected = whole.state()
    for _ in range(3):
        parts = [apart[k] for k in rng.permutation(len(apart))]
        while len(parts) > 1:
            k = int(rng.integers(len(parts) - 1))
            parts[k : k + 2] = [parts[k] + parts[k + 1]]
        for found, own in zip(parts[0].state(), expected, strict=True):
            np.testing.assert_allclose(found, own, rtol=0, atol=1e-12 * np.abs(own).max())
        null = parts[0].null()
        np.testing.assert_allclose(null.values, whole.null().values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_batches_threads_and_places_change_nothing(tmp_path: Path, options: dict[str, Any]) -> None:
    pl = pytest.importorskip("polars")
    X, Y = data(2300)
    whole = hsic(X, Y, **options)
    for sizes in ((41, 41), (2299, 300), (64, 1000)):
        batched = [[own[k : k + size] for k in range(0, 2300, size)] for own, size in zip((X, Y), sizes, strict=True)]
        same(hsic(*batched, **options), whole)
        same(hsic(*map(iter, batched), **options), whole)
    same(hsic(X, Y, plan=km.Plan(threads=3), **options), whole)
    frames = pl.DataFrame(X, schema=["a", "b"]), pl.DataFrame(Y, schema=["c"])
    for name, frame in zip("xy", frames, strict=True):
        frame.write_csv(tmp_path / f"{name}.csv")
        frame.write_parquet(tmp_path / f"{name}.parquet", row_group_size=400)
    same(hsic(*frames, **options), whole)
    for kind in ("csv", "parquet"):
        same(hsic(tmp_path / f"x.{kind}", tmp_path / f"y.{kind}", **options), whole)
    same(hsic(tmp_path / "x.csv", tmp_path / "y.parquet", **options), whole)


# -- data of special kinds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_constant_variables_have_p_1(options: dict[str, Any]) -> None:
    X, Y = data(300)
    constant = np.full((300, 1), 4.0)
    assert hsic(X, constant, **options).pvalue == 1.0
    assert hsic(constant, Y, **options).pvalue == 1.0
    assert hsic(constant, constant, **options).pvalue == 1.0


def test_a_constant_column_changes_nothing() -> None:
    X, Y = data(300)
    wider = np.column_stack([X, np.full(300, 2.0)])
    same(hsic(wider, Y, **OPTIONS[1]), hsic(X, Y, **OPTIONS[1]), 1e-9)
    assert 0 < hsic(wider, Y, **OPTIONS[0]).pvalue <= 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    X, Y = data(300)
    Y[290] = bad
    with pytest.raises(ValueError, match=r"finite|NaN"):
        hsic(X, Y, **OPTIONS[1])
    with pytest.raises(ValueError, match=r"finite|NaN"):
        hsic(np.array_split(X, 7), np.array_split(Y, 7), **OPTIONS[1])


def test_variables_of_different_lengths_are_refused() -> None:
    X, Y = data(300)
    for first, second in ((X, Y[:-1]), (X[:-1], Y), (np.array_split(X, 3), np.array_split(Y[:-1], 3))):
        with pytest.raises(ValueError, match="different numbers of rows"):
            hsic(first, second, **OPTIONS[1])
    with pytest.raises(ValueError, match="different numbers of rows"):
        hsic(iter(np.array_split(X[:-1], 3)), iter(np.array_split(Y, 4)), **OPTIONS[1])


def test_too_few_pairs_are_refused() -> None:
    X, Y = data(3)
    with pytest.raises(ValueError, match="at least 4 are needed"):
        hsic(X, Y, **OPTIONS[1])


def test_the_unbiased_statistic_is_refused() -> None:
    with pytest.raises(ValueError, match="independence in bins has the V-statistic"):
        hsic(*data(300), statistic="u", **OPTIONS[1])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_dependence_is_found(options: dict[str, Any]) -> None:
    X, Y = data(1500, strength=1.5)
    order = np.argsort(X[:, 0])
    many = options["n_resamples"] + 1
    assert hsic(X, Y, **options).pvalue == 1 / many
    assert hsic(X[order], Y[order], **options).pvalue == 1 / many


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows() -> None:
    peaks = []
    prepared = variables(*data(2000), estimator="kme")
    for n in (16, 128):
        sums = pair_sums(prepared)
        tracemalloc.start()
        for k in range(n):
            windows_of(prepared).add(sums, k, *data(windows_of(prepared).rows, k))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
