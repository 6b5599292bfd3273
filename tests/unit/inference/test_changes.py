"""The scan for a change against its definition, its p-value against enumeration, and where changes are put."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelmean.inference.changes import ChangeFeatures, Search
from kernelmean.inference.changes.places import coordinates, gain, interval, most
from kernelmean.inference.changes.scan import Draws, Scan, cumulative, scan, windows

RNG = np.random.default_rng(0)


class Listed:
    """A generator whose permutations are listed."""

    def __init__(self, orders: list[np.ndarray]) -> None:
        self.orders = iter(orders)

    def permutation(self, n: int) -> np.ndarray:
        return next(self.orders)


def features_of(rows: np.ndarray) -> ChangeFeatures:
    return ChangeFeatures.of(rows, np.random.default_rng(1))


def explained(columns: np.ndarray, start: int, middle: int, end: int) -> float:
    """Return the scatter of [start, end) less those of its two parts, from the Gram matrix."""

    def scatter(first: int, last: int) -> float:
        own = columns[:, first:last]
        gram = own.T @ own
        return float(np.trace(gram) - gram.mean() * (last - first))

    return scatter(start, end) - scatter(start, middle) - scatter(middle, end)


def test_differences_of_windows_are_the_scatter_that_a_change_explains() -> None:
    bins = RNG.normal(size=(23, 3))
    bins -= bins.mean(axis=0)
    pairs = windows(23, 2)
    squares = np.square(pairs.differences(cumulative(bins))).sum(axis=1)
    assert squares == pytest.approx([explained(bins.T, *span) for span in pairs.spans.tolist()], rel=1e-10)


def test_windows_have_the_shortest_length_and_every_split_once() -> None:
    spans = windows(40, 3).spans
    lengths = np.diff(spans, axis=1)
    splits = spans[(spans[:, 0] == 0) & (spans[:, 2] == 40)]
    assert lengths.min() == 3
    assert spans.min() == 0
    assert spans.max() == 40
    assert {*range(3, 38)} <= {*splits[:, 1].tolist()}


@pytest.mark.parametrize("ties", [False, True])
def test_the_pvalue_is_exact_over_all_orders_of_the_rows(ties: bool) -> None:
    rows = np.array([[0.0], [0.0], [1.0], [1.0]]) if ties else np.array([[0.0], [0.3], [1.1], [5.0]])
    features = features_of(rows)
    orders = [np.array(order) for order in itertools.permutations(range(4))]
    pvalues = []
    for order in orders:
        own = ChangeFeatures(features.columns[:, order], features.parts)
        pvalues.append(scan(own, (0, 4), (1, 1), 23, Draws(Listed(orders[1:]))).pvalue)  # type: ignore[arg-type]
    for level in np.arange(1, 25) / 24:
        assert np.mean(np.array(pvalues) <= level + 1e-9) <= level + 1e-9
    assert len({*pvalues}) > 1


@pytest.mark.parametrize(("n", "place"), [(60, 20), (100, 33)])
def test_the_unit_of_the_only_row_unlike_the_others_changes_no_pvalue(n: int, place: int) -> None:
    """Many of its largest statistics vary by rounding alone, which differs from unit to unit."""
    found = []
    for unit in (0.1, 1 / 3, 1.0, 3.0, 1e3 / 7):
        rows = unit * np.eye(n)[:, place : place + 1]
        found.append(scan(features_of(rows), (0, n), (1, 2), 199, Draws(np.random.default_rng(2))))
    assert len({own.pvalue for own in found}) == 1
    assert [own.strength for own in found] == pytest.approx([found[0].strength] * len(found), rel=1e-9)


@pytest.mark.parametrize("dim", [1, 3])
def test_features_are_those_of_the_rows_in_any_order(dim: int) -> None:
    rows = RNG.normal(size=(120, dim))
    order = RNG.permutation(120)
    first, second = features_of(rows), features_of(rows[order])
    assert second.columns == pytest.approx(first.columns[:, order], abs=1e-9)


def test_the_gain_is_the_scatter_that_a_change_explains() -> None:
    columns = RNG.normal(size=(4, 15))
    columns -= columns.mean(axis=1, keepdims=True)
    assert gain(columns) == pytest.approx([explained(columns, 0, t, 15) for t in range(1, 15)])
    assert most(columns, 1) == 1 + int(np.argmax(gain(columns)))
    assert 4 <= most(columns, 4) <= 11


def test_coordinates_are_those_of_the_kernels_that_tell() -> None:
    features = features_of(np.append(RNG.normal(size=(50, 2)), RNG.normal(3.0, 1.0, size=(50, 2)), axis=0))
    shares = np.zeros(len(features.parts))
    shares[0] = 1.0
    own = coordinates(features, Scan(Fraction(1, 100), 1.0, shares, (0, 100)), 10, 90)
    assert own.shape == (2, 80)
    assert own.sum(axis=1) == pytest.approx([0.0, 0.0], abs=1e-9)
    assert most(own, 5) == 40


def test_a_coordinate_that_counts_alone_is_that_of_the_scan_wherever_the_change_is_placed() -> None:
    rows = RNG.normal(size=(100, 3))
    rows[:50, 0] += 3.0
    rows[90:, 1] += 6.0
    features = features_of(rows)
    (alone,) = (k for k, part in enumerate(features.parts) if part.weights is None and part.member.view == "axes")
    found = Scan(Fraction(1, 100), 1.0, np.eye(len(features.parts))[alone], (0, 90))
    assert most(coordinates(features, found, 0, 90), 5) == 50
    later = coordinates(features, found, 45, 100)[0]
    assert abs(np.corrcoef(later, rows[45:, 0])[0, 1]) > 0.9


@pytest.mark.parametrize("rows", [60, 700])
def test_an_interval_of_a_clear_change_is_its_place(rows: int) -> None:
    columns = np.where(np.arange(rows) < rows // 3, -1.0, 1.0) + 0.05 * RNG.normal(size=rows)
    columns = (columns - columns.mean())[None]
    assert interval(columns, (5, 1), 0.05, np.random.default_rng(0)) == (rows // 3, rows // 3)


def test_an_interval_holds_the_change_and_shrinks_with_its_size() -> None:
    noise, before = RNG.normal(size=400), np.arange(400) < 150
    widths = []
    for size in (0.7, 1.5, 4.0):
        columns = np.where(before, 0.0, size) + noise
        low, high = interval((columns - columns.mean())[None], (5, 1), 0.05, np.random.default_rng(0))
        assert low <= 150 <= high
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]


CASES = {
    "mean": lambda rng, n, k: rng.normal(2.0 * (k % 2), 1.0, size=(n, 1)),
    "spread": lambda rng, n, k: rng.normal(0.0, 1.0 + 3.0 * (k % 2), size=(n, 2)),
    "two clusters": lambda rng, n, k: (
        rng.choice([-2.0, 2.0], size=(n, 1)) + 0.3 * rng.normal(size=(n, 1)) if k % 2 else 2.0 * rng.normal(size=(n, 1))
    ),
    "heavy tails": lambda rng, n, k: rng.standard_cauchy(size=(n, 1)) + 5.0 * (k % 2),
}


@pytest.mark.parametrize("kind", CASES)
def test_clear_changes_are_found_where_they_are(kind: str) -> None:
    rng = np.random.default_rng(3)
    rows = np.concatenate([CASES[kind](rng, n, k) for k, n in enumerate((90, 70, 110))])
    pvalue, changes = Search(n_resamples=99).run(features_of(rows), rng)
    assert pvalue == 1 / 100
    assert [change.row for change in changes] == pytest.approx([90, 160], abs=6)
    assert all(change.low <= change.row <= change.high for change in changes)


def test_a_change_of_the_dependence_alone_is_found() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    rows[150:, 1] = 0.95 * rows[150:, 0] + 0.3122 * rows[150:, 1]
    (change,) = Search(n_resamples=99).run(features_of(rows), rng)[1]
    assert change.low <= 150 <= change.high


def test_a_search_for_some_changes_scans_in_full_only_what_it_splits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[int] = []

    def counted(
        features: ChangeFeatures, rows: tuple[int, int], bins: Any, n_resamples: int, *more: Any, **how: Any
    ) -> Scan:
        drawn.append(n_resamples)
        return scan(features, rows, bins, n_resamples, *more, **how)

    monkeypatch.setattr("kernelmean.inference.changes.search.scan", counted)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 1)) + 9.0 * (np.arange(400) // 80 % 2)[:, None]
    _, changes = Search(n_resamples=199).run(features_of(rows), rng, limit=2)
    assert [abs(change.row - np.array([80, 160, 240, 320])).min() <= 1 for change in changes] == [True, True]
    assert sorted(drawn)[:2] == [99, 99]
    assert sum(count > 99 for count in drawn) == 2


def test_blocks_keep_autocorrelated_rows_from_looking_like_changes() -> None:
    found = {1: 0, 30: 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noise, rows = rng.normal(size=600), np.zeros((600, 1))
        for t in range(1, 600):
            rows[t] = 0.8 * rows[t - 1] + noise[t]
        for block in found:
            width = block if block > 1 else 3
            found[block] += scan(features_of(rows), (0, 600), (width, 2), 99, Draws(rng)).pvalue <= 0.05
    assert found[1] == 12
    assert found[30] <= 3  # more than 3 of 12 at level .05 have probability 2.2e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 0.0}, "level is 0.0"),
        ({"level": 1.0}, "level is 1.0"),
        ({"shortest": 0}, "shortest is 0"),
        ({"block": 2.5}, "block is 2.5"),
        ({"n_resamples": 0}, "n_resamples is 0"),
        ({"n_changes": 0}, "n_changes is 0"),
    ],
)
def test_options_are_checked(options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Search(**options)
