"""Coordinates, noise, weights and names are lined up by position: columns of several coordinates before one in view."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from slow_tables import Slow, Tables

import explained
import kernelmean as km
from kernelmean.studies import gather
from kernelmean.tables import Encoding, encode

WIDE = Tables((("numeric", "category"), ("categorical", "category"), ("duration", "noise")), 3)
CATEGORY = {"u": "category", "v": "category", "w": "category"}
ORDERS = [["u", "v", "w", "e"], ["e", "w", "v", "u"], ["v", "e", "u", "w"]]


def encoders(missing: Any = CATEGORY) -> Any:
    """Yield the tables in several orders of their columns, with a fitted transformer."""
    for order in ORDERS:
        frames = [frame[order] for frame in WIDE.frames]
        encoder = km.TableEncoder(missing=missing).fit_tables(*frames)
        yield encoder, [encoder.transform(frame) for frame in frames]


def test_every_coordinate_has_one_variance_in_its_place() -> None:
    encoded = encode(WIDE.frames, ("A", "B"), Encoding(WIDE.rules))
    assert encoded.variances is not None
    assert [each.shape for each in encoded.variances] == [each.shape for each in encoded.tables]
    for frame, variances in zip(encoded.frames, encoded.variances, strict=True):
        (at,) = encoded.groups["w"]
        np.testing.assert_array_equal(variances[:, at], np.isnat(frame["w"]))
        assert not np.delete(variances, at, axis=1).any()


def test_attributed_columns_are_the_same_wherever_they_stand() -> None:
    found = []
    for encoder, (X, Y) in encoders():
        result = explained.attribute(X, Y, groups=encoder.groups_, n_resamples=19, rng=0)
        found.append({each.name: (each.statistic, each.effect, each.drop, each.pvalue) for each in result.columns})
        for name, block in encoder.groups_.items():
            alone = explained.attribute(
                X[:, block], Y[:, block], groups={name: range(len(block))}, n_resamples=19, rng=0
            )
            assert found[-1][name][0] == pytest.approx(alone.columns[0].statistic, rel=1e-9)
    for other in found[1:]:
        for name, numbers in other.items():
            assert numbers == pytest.approx(found[0][name], rel=1e-9, abs=1e-12)


def test_rows_that_tell_are_those_of_the_definition() -> None:
    slow = Slow.of(WIDE.frames, WIDE.kinds, WIDE.rules)
    n, m = slow.sizes
    for order in ORDERS:
        frames = [frame[order] for frame in WIDE.frames]
        shifted = [frames[0].assign(e=frames[0]["e"] - 1e3), frames[1]]
        slow = Slow.of(shifted, WIDE.kinds, WIDE.rules)
        result = km.compare(*shifted, missing=WIDE.rules, estimator="kme", rng=0)
        assert result.differ()
        K = slow.gram(order, slow.bandwidth(order))
        np.fill_diagonal(K, 0.0)
        side = np.repeat([0, 1], [n, m])
        means = np.stack([K[:, side == k].sum(axis=1) / ((n, m)[k] - (side == k)) for k in (0, 1)])
        added = (means[0] - means[1]) * np.where(side == 0, 1 / n, -1 / m)
        for row in gather(result, rng=0).rows:
            place = row.row - 1 + n * row.table
            assert row.share == pytest.approx(added[place] / np.abs(added).sum(), rel=1e-9)


@pytest.mark.parametrize(("rule", "share"), [("silverman", 1.5), ("scott", 1.0)])
def test_bandwidths_of_axes_stay_with_their_columns_beside_noise(rule: str, share: float) -> None:
    """Silverman's rule is s (4 / ((d + 2) n))^(1 / (d + 4)), Scott's s n^(-1 / (d + 4)); here d is 4."""
    case = Tables((("numeric", "noise"), ("duration", "noise"), ("datetime", "drop")), 5)
    first, second = case.frames
    slow = Slow.of([first, second], case.kinds, case.rules)
    total = sum(slow.sizes)
    for order in (["u", "v", "w", "e"], ["e", "w", "v", "u"]):
        options: dict[str, Any] = {"missing": case.rules, "estimator": "kme", "bandwidth": rule, "n_resamples": 9}
        result = km.compare(first[order], second[order], **options)
        K = np.ones((total, total))
        for name, theta in zip(order, result.bandwidth, strict=True):
            points = np.nan_to_num(standard(pd.concat([first, second]).dropna(subset="w")[name]))
            assert theta == pytest.approx(points.std(ddof=1) * (share * total) ** -0.125, rel=1e-9)
            K *= slow.gram([name], theta)
        n, m = slow.sizes
        within = [(block.sum() - np.trace(block)) / (k * (k - 1)) for block, k in ((K[:n, :n], n), (K[n:, n:], m))]
        assert result.test.statistic == pytest.approx(sum(within) - 2.0 * K[:n, n:].mean(), rel=1e-9, abs=1e-13)


def standard(values: pd.Series) -> np.ndarray:
    """Return numbers in deviations from their mean, NaN where missing."""
    absent = values.isna().to_numpy()
    numbers = values.to_numpy(dtype=float) if values.dtype.kind == "f" else values.astype("int64").to_numpy(dtype=float)
    known = np.where(absent, np.nan, numbers)
    return np.asarray((known - np.nanmean(known)) / np.nanstd(known))


def test_the_noise_of_a_column_is_that_of_its_number_beside_an_indicator_too() -> None:
    """MKME has one variance for all coordinates, so that the noise is in proportion to the deviations."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"b": rng.normal(size=60) * 5.0, "a": rng.normal(size=60)})
    table.loc[::4, "b"] = np.nan
    result = km.compare(table[:30], table[30:], missing={"b": "category"}, estimator="mkme", n_resamples=9)
    noise = {each.name: each.noise / np.nanstd(table[each.name]) for each in result.columns}
    assert noise["a"] > 0.01
    assert noise["b"] == pytest.approx(noise["a"], rel=1e-9)


def test_a_monitor_sees_missing_cells_beside_numbers_that_are_far_from_0() -> None:
    """A column and the same column 2³⁰ further on have the same kernel, and the same bets."""
    rng = np.random.default_rng(0)
    known, new = (pd.DataFrame({"t": rng.integers(-3, 4, n).astype(float)}) for n in (400, 100))
    known[::7], new[::2] = np.nan, np.nan
    found = []
    for far in (0.0, 2.0**30):
        monitor = km.DriftMonitor(known + far, missing="category")
        found.append(monitor.update(new + far).log_wealth)
    assert found[1] == pytest.approx(found[0], rel=1e-4)
