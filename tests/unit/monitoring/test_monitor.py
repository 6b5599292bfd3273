"""The drift monitor: an exact martingale under exchanges, blind to what comes later, the same after a checkpoint."""

import json
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from kernelmean import DriftMonitor, kernels
from kernelmean.inference.monitoring.pool import Pool


def rows(seed, n, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 1.0, size=(n, 2))


def monitor(reference=None, **options):
    options = {"n_frequencies": 8, "shuffle": False, **options}
    return DriftMonitor(rows(0, 80) if reference is None else reference, **options)


def test_wealth_averages_to_one_over_all_exchanges_of_the_pairs():
    ends, peaks = [], []
    X, Y = rows(1, 7, 0.5), rows(2, 7, -1.0)
    for swaps in product([False, True], repeat=7):
        own = monitor()
        x, y = X.copy(), Y.copy()
        x[list(swaps)], y[list(swaps)] = Y[list(swaps)], X[list(swaps)]
        width = own._pool.original.shape[1] - 2
        own._bet(np.hstack([x, np.zeros((7, width))]), np.hstack([y, np.zeros((7, width))]), np.arange(7))
        ends.append(np.exp(own.state.log_wealth))
        peaks.append(own.state.pvalue)
    assert np.mean(ends) == pytest.approx(1.0, rel=1e-12)
    assert np.ptp(ends) > 0.5
    for alpha in (0.2, 0.4, 0.6):
        assert np.mean(np.array(peaks) <= alpha) <= alpha


def test_what_comes_later_changes_nothing_before():
    one, two = monitor(), monitor()
    assert one.update(rows(1, 30)) == two.update(rows(1, 30))
    short = one.update(rows(2, 10))
    long = two.update(np.vstack([rows(2, 10), rows(3, 50, 5.0)]))
    assert short.detected_at is None
    assert long.detected_at > 40


@pytest.mark.parametrize("cuts", [[1], [13, 14, 90], [50], list(range(5, 150, 5))])
def test_batches_do_not_matter_without_shuffling(cuts):
    stream = np.vstack([rows(1, 100), rows(2, 50, 0.7)])
    whole, parts = monitor(), monitor()
    expected = whole.update(stream)
    for part in np.split(stream, cuts):
        found = parts.update(part)
    assert found.log_wealth == pytest.approx(expected.log_wealth, rel=1e-9)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.n_rows, found.n_pairs, found.waiting) == (expected.n_rows, expected.n_pairs, expected.waiting)


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_checkpoint_goes_on_bit_for_bit(shuffle):
    batches = [rows(k, 7 + k, 0.1 * k) for k in range(12)]
    without = monitor(shuffle=shuffle)
    expected = [without.update(batch) for batch in batches]
    found, text = [], None
    for batch in batches:
        again = monitor(shuffle=shuffle) if text is None else monitor(shuffle=shuffle).resume(text)
        found.append(again.update(batch))
        text = json.dumps(json.loads(again.to_json()))
    assert found == expected
    assert text == without.to_json()


def test_checkpoints_of_others_and_damaged_ones_are_refused():
    text = monitor().to_json()
    for other in (monitor(rows(9, 80)), monitor(seed=1), monitor(kernel=kernels.Laplacian)):
        with pytest.raises(ValueError, match="another reference, or of other settings"):
            other.resume(text)
    with pytest.raises(ValueError, match="level"):
        monitor(alpha=0.01).resume(text)
    content = json.loads(text)
    for bad in ("{", "[]", json.dumps({**content, "format": "x"}), json.dumps({**content, "version": 2})):
        with pytest.raises(ValueError, match="checkpoint"):
            monitor().resume(bad)
    for change in ({"new": [1.0]}, {"n_rows": "many"}, {"added": [[1.0]]}, {"log_shares": None}):
        own = monitor()
        with pytest.raises(ValueError, match="damaged"):
            own.resume(json.dumps({**content, **change}))
        assert own.to_json() == text


LEVELS = [f"level {k}" for k in range(1500)]
CELLS = np.random.default_rng(3).choice(LEVELS, 80)


class Other:
    """A place for a class of the same name as one of the library."""

    class Gaussian(kernels.Laplacian):
        pass


def ordered(levels):
    return pd.DataFrame({"c": pd.Categorical(np.resize(["s", "m", "l"], 80), levels, ordered=True)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((ordered(["s", "m", "l"]), {}), (ordered(["m", "s", "l"]), {})),
        ((ordered(["s", "m", "l"]), {}), (ordered(["s", "m", "l"]).astype(str), {})),
        ((pd.DataFrame({"c": [True, False] * 40}), {}), (pd.DataFrame({"c": [1.0, 0.0] * 40}), {})),
        ((pd.DataFrame({"c": np.arange(80.0) / 8}), {}), (pd.DataFrame({"d": np.arange(80.0) / 8}), {})),
        (
            (pd.DataFrame({"c": np.arange(80).astype("m8[ms]")}), {"scale": False}),
            (pd.DataFrame({"c": np.arange(80).astype("m8[s]")}), {"scale": False}),
        ),
        (
            (pd.DataFrame({"c": CELLS}), {"ordinal": {"c": np.array(LEVELS)}}),
            (
                pd.DataFrame({"c": CELLS}),
                {"ordinal": {"c": np.array([*LEVELS[:700], *LEVELS[799:699:-1], *LEVELS[800:]])}},
            ),
        ),
        ((rows(0, 80), {"kernel": kernels.Gaussian}), (rows(0, 80), {"kernel": Other.Gaussian})),
        ((rows(0, 80), {}), (rows(0, 80)[::-1], {})),
    ],
    ids=["order of levels", "no order", "truth values", "names", "units", "long levels", "class of one name", "order"],
)
def test_what_the_cells_of_a_reference_do_not_show_is_part_of_its_checkpoint(one, other):
    text = DriftMonitor(one[0], **one[1]).to_json()
    assert DriftMonitor(one[0], **one[1]).resume(text).to_json() == text
    with pytest.raises(ValueError, match="another reference, or of other settings"):
        DriftMonitor(other[0], **other[1]).resume(text)


EARLIER = pd.DataFrame({"a": np.arange(80.0) / 8, "c": np.resize(["x", "y"], 80)})


@pytest.mark.parametrize(
    ("reference", "digest", "reads"),
    [
        (EARLIER, "5691ef229a6aedffbfc7b211008a068030d672d66ab6330b1a816d3d62b22236", True),
        (
            EARLIER.assign(c=EARLIER["c"] == "x"),
            "c2bb91ca0e6dce1a1ee0c02c9dabe1c99544073665fcef37020320d359c8fff3",
            False,
        ),
    ],
    ids=["numbers and text", "truth values"],
)
def test_a_checkpoint_of_an_earlier_version_is_read_where_it_says_enough(reference, digest, reads):
    """The digests are those that were written before types of columns were part of them."""
    content = json.loads(DriftMonitor(reference).to_json())
    content.pop("sha256")
    text = json.dumps({**content, "digest": digest})
    if reads:
        assert DriftMonitor(reference).resume(text).to_json() == DriftMonitor(reference).to_json()
    else:
        with pytest.raises(ValueError, match=r"written by an earlier version, .*; begin anew"):
            DriftMonitor(reference).resume(text)


def test_a_shift_is_found_and_the_row_is_named():
    own = DriftMonitor(rows(0, 400))
    assert not own.update(rows(1, 60)).drift
    state = own.update(rows(2, 100, 1.0))
    assert 60 < state.detected_at <= 160
    assert state.pvalue <= 0.05
    assert own.update(rows(3, 100)).detected_at == state.detected_at
    assert f"row {state.detected_at} of 160" in state.verdict()


def test_p_values_never_rise():
    own = monitor()
    found = [own.update(rows(k, 5, 0.3)).pvalue for k in range(30)]
    assert found == sorted(found, reverse=True)
    assert found[0] <= 1.0


def mixed(seed, n, rome=0.3, age=40.0):
    rng = np.random.default_rng(seed)
    cities = rng.choice(["Oslo", "Rome", "Bonn"], n, p=[(1 - rome) / 2, rome, (1 - rome) / 2])
    return pd.DataFrame({"age": rng.normal(age, 9.0, n), "city": cities, "member": rng.random(n) < 0.5, "one": 1.0})


def test_mixed_tables_category_shifts_new_categories_and_new_constants():
    def after(change, **options):
        own = DriftMonitor(mixed(0, 400), **options)
        assert not own.update(mixed(1, 80)).drift
        return own.update(change).drift

    assert not after(mixed(2, 150))
    assert after(mixed(2, 150, rome=0.9))
    assert after(mixed(2, 150, age=52.0))
    assert after(mixed(2, 150).assign(city="Lima"))
    assert after(mixed(2, 150).assign(one=1.0 + 1e-9))
    blank = mixed(2, 150)
    assert after(blank.assign(age=np.nan), missing="category")
    assert after(blank.assign(city=None), missing="category")
    assert not after(blank[["one", "city", "member", "age"]])


def test_outliers_are_rows_like_others():
    reference = np.random.default_rng(0).standard_cauchy(size=(80, 1))
    own = monitor(reference)
    assert np.isfinite(own.update(np.array([[1e300], [-1e300], [0.0]])).log_wealth)


def test_a_constant_reference_sees_what_differs():
    assert not monitor(np.ones((80, 1))).update(np.ones((40, 1))).drift
    assert monitor(np.ones((80, 1))).update(np.full((40, 1), 2.0)).drift


def test_kernels_without_a_spectrum_take_landmarks():
    own = monitor(kernel=partial(kernels.Wendland, 2))
    assert "landmarks" in own._witnesses.features.maps[0].summary
    assert own.update(rows(1, 60, 3.0)).drift


def test_two_streams_in_pairs():
    own = monitor(rows(0, 8), recycle=False)
    for k in range(40):
        own.add_reference(rows(100 + k, 5))
        state = own.update(rows(200 + k, 5, 0.8))
    assert state.n_pairs == 200
    assert state.drift


def test_without_recycling_betting_ends_with_the_reference():
    own = monitor(recycle=False)
    state = own.update(rows(1, 200))
    assert (state.n_rows, state.n_pairs, state.waiting) == (200, 60, 0)
    assert own.update(rows(2, 50, 9.0)).log_wealth == state.log_wealth


@pytest.mark.parametrize("recycle", [True, False])
def test_every_row_is_used_once_and_the_oldest_first(recycle):
    pool = Pool(np.arange(10.0)[:, None], recycle, 0, np.empty((0, 1)))
    new, taken, used = np.arange(100.0, 160.0)[:, None], [], []
    for part in np.split(new, [3, 4, 20, 21, 50]):
        before = len(pool)
        reference, paired = pool.pair(part)
        taken += reference[:, 0].tolist()
        used += part[paired, 0].tolist()
        assert len(reference) == len(paired)
        assert len(pool) == before - len(paired) + (len(part) - len(paired) if recycle else 0)
    assert taken[:10] == np.arange(10.0).tolist()
    assert len(set(taken + used)) == len(taken + used)
    assert taken == sorted(taken)
    assert (len(taken) == 10) is not recycle
    assert all(x < y for x, y in zip(taken, used, strict=True))
    if recycle:
        assert len(pool) in (5, 6)


def test_refusals_say_what_is_needed():
    for bad, error, text in [
        (rows(0, 7), ValueError, "at least 8"),
        (np.empty((0, 2)), ValueError, "at least one row"),
        (np.full((20, 1), np.inf), ValueError, "infinite"),
        (np.full((20, 1), np.nan), ValueError, "blank in every row"),
        (np.r_[np.full((1, 1), np.nan), np.ones((20, 1))], ValueError, "blank or NaN"),
        (np.array([["a"], ["b"]]), TypeError, "numbers are needed"),
        (pd.DataFrame({"day": pd.date_range("2024-01-01", periods=20)}), ValueError, "dates"),
    ]:
        with pytest.raises(error, match=text):
            DriftMonitor(bad)
    for options, text in [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 2}, "alpha"),
        ({"seed": -1}, "seed"),
        ({"missing": "noise"}, "monitor"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwidth": [1.0, 2.0]}, "one positive number"),
        ({"bandwidth": "silverman"}, "one positive number"),
        ({"kernel": "gauss"}, "kernel"),
        ({"n_frequencies": 0}, "n_frequencies"),
    ]:
        with pytest.raises(ValueError, match=text):
            DriftMonitor(rows(0, 40), **options)
    own = monitor()
    before = own.to_json()
    for bad, error in [
        (rows(0, 3)[:, :1], ValueError),
        (np.full((3, 2), np.nan), ValueError),
        ([["a", "b"]], TypeError),
    ]:
        with pytest.raises(error):
            own.update(bad)
    assert own.to_json() == before
    narrow = monitor(bandwidth=1e-12, scale=False)
    before = narrow.to_json()
    with pytest.raises(ValueError, match="float64 loses"):
        narrow.update(np.vstack([rows(0, 5), rows(0, 5) * 1e3]))
    assert narrow.to_json() == before
