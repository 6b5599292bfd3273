"""The drift monitor: exact under exchanges, blind to what comes later, the same after a checkpoint."""

import json

import numpy as np
import pandas as pd
import pytest

from kernelmean import DriftMonitor


def rows(seed, n, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 1.0, size=(n, 2))


def monitor(reference=None, **options):
    return DriftMonitor(rows(0, 80) if reference is None else reference, **{"shuffle": False, **options})


PROMISES = pytest.mark.parametrize("promise", [{"alpha": 0.05}, {"average_run_length": 500.0}], ids=["level", "length"])


@PROMISES
def test_what_comes_later_changes_nothing_before(promise):
    one, two = monitor(**promise), monitor(**promise)
    assert one.update(rows(1, 30)) == two.update(rows(1, 30))
    short = one.update(rows(2, 10))
    long = two.update(np.vstack([rows(2, 10), rows(3, 60, 5.0)]))
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
    assert found.log_peak == pytest.approx(expected.log_peak, rel=1e-9)
    assert (found.n_rows, found.detected_at) == (expected.n_rows, expected.detected_at)
    assert parts.changed_between() == whole.changed_between()


@PROMISES
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_checkpoint_goes_on_bit_for_bit(shuffle, promise):
    batches = [rows(k, 7 + k, 0.1 * k) for k in range(12)]
    without = monitor(shuffle=shuffle, **promise)
    expected = [without.update(batch) for batch in batches]
    found, text = [], None
    for batch in batches:
        again = monitor(shuffle=shuffle, **promise)
        again = again if text is None else again.resume(text)
        found.append(again.update(batch))
        text = json.dumps(json.loads(again.to_json()))
    assert found == expected
    assert found[-1].drift
    assert text == without.to_json()
    assert again.changed_between() == without.changed_between()


def test_rows_that_are_alike_are_part_of_a_checkpoint():
    series = rows(1, 200)[:, :1].cumsum(axis=0)
    own = monitor(rows(0, 80)[:, :1])
    said = own.update(series).notes
    again = monitor(rows(0, 80)[:, :1]).resume(own.to_json())
    assert said[0].startswith("rows next to each other are alike (x0: ")
    assert again.state.notes == said
    assert again.update(rows(2, 8)[:, :1]) == own.update(rows(2, 8)[:, :1])


def test_checkpoints_of_others_and_damaged_ones_are_refused():
    text = monitor().to_json()
    for other in (monitor(rows(9, 80)), monitor(seed=1), monitor(shuffle=True)):
        with pytest.raises(ValueError, match=r"is of (another reference: |the same reference with other settings: )"):
            other.resume(text)
    for promise in ({"alpha": 0.01}, {"average_run_length": 100.0}):
        with pytest.raises(ValueError, match=r"a monitor with alpha=0\.05, this one has"):
            monitor(**promise).resume(text)
    content = json.loads(text)
    for bad in ("{", "[]", json.dumps({**content, "format": "x"}), json.dumps({**content, "version": 1})):
        with pytest.raises(ValueError, match="checkpoint"):
            monitor().resume(bad)
    for change in (
        {"total": [1.0]},
        {"n_rows": "many"},
        {"added": [[1.0]]},
        {"fixed_shares": None},
        {"starts": [1]},
        {"past": [[10**6] * len(content["fixed_counts"])], "starts": [1]},
        {"births": [16], "sizes": [16]},
        {"detected_at": [1, 2]},
        {"neighbors": [[0.0] * 6]},
        {"fixed_counts": (-np.array(content["fixed_counts"])).tolist()},
    ):
        own = monitor()
        with pytest.raises(ValueError, match="damaged"):
            own.resume(json.dumps({**content, **change}))
        assert own.to_json() == text


LEVELS = [f"level {k}" for k in range(1500)]
CELLS = np.random.default_rng(3).choice(LEVELS, 80)


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
            (pd.DataFrame({"c": np.arange(80).astype("m8[ms]")}), {}),
            (pd.DataFrame({"c": np.arange(80).astype("m8[s]")}), {}),
        ),
        (
            (pd.DataFrame({"c": CELLS}), {"ordinal": {"c": np.array(LEVELS)}}),
            (
                pd.DataFrame({"c": CELLS}),
                {"ordinal": {"c": np.array([*LEVELS[:700], *LEVELS[799:699:-1], *LEVELS[800:]])}},
            ),
        ),
        ((rows(0, 80), {}), (rows(0, 80)[::-1], {})),
    ],
    ids=["order of levels", "no order", "truth values", "names", "units", "long levels", "order"],
)
def test_what_the_cells_of_a_reference_do_not_show_is_part_of_its_checkpoint(one, other):
    text = DriftMonitor(one[0], **one[1]).to_json()
    assert DriftMonitor(one[0], **one[1]).resume(text).to_json() == text
    with pytest.raises(ValueError, match=r"is of (another reference: |the same reference with other settings: )"):
        DriftMonitor(other[0], **other[1]).resume(text)


def test_a_shift_is_found_and_the_row_is_named():
    own = DriftMonitor(rows(0, 400))
    assert not own.update(rows(1, 60)).drift
    state = own.update(rows(2, 100, 1.0))
    assert 60 < state.detected_at <= 160
    assert state.pvalue <= 0.05
    assert own.update(rows(3, 100)).detected_at == state.detected_at
    assert f"after {state.detected_at} of 160 rows" in state.verdict()


def test_p_values_never_rise():
    own = monitor()
    found = [own.update(rows(k, 5, 0.3)).pvalue for k in range(30)]
    assert found == sorted(found, reverse=True)
    assert found[0] <= 1.0
    assert found[-1] < 1.0


def test_a_run_length_is_another_promise_and_has_no_p_value():
    own = monitor(average_run_length=1000)
    calm, found = own.update(rows(1, 50)), own.update(rows(2, 60, 2.0))
    assert (calm.alpha, calm.pvalue, calm.average_run_length, calm.drift) == (None, None, 1000.0, False)
    assert calm.verdict() == "No drift found in 50 rows (at least 1,000 rows to a false alarm on average)."
    assert 50 < found.detected_at < 70
    assert found.as_dict()["pvalue"] is None
    assert monitor().state.average_run_length is None


def test_a_change_after_many_rows_is_found_as_soon_where_a_run_length_is_promised():
    def delay(calm, **promise):
        own = monitor(rows(0, 400), **promise)
        own.update(np.vstack([rows(1, calm), rows(2, 300, 0.75)]))
        return own.state.detected_at - calm

    by_length = [delay(calm, average_run_length=2000) for calm in (200, 3000)]
    by_level = [delay(calm, alpha=0.05) for calm in (200, 3000)]
    assert by_length[1] <= by_length[0]
    assert by_length[1] < by_level[1]


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_change_is_between_the_rows_that_are_named(shuffle):
    own = monitor(rows(0, 600), shuffle=shuffle)
    assert own.changed_between() is None
    for k in range(10):
        own.update(rows(k, 20))
    for k in range(10, 25):
        own.update(rows(k, 20, 1.5))
    low, high = own.changed_between()
    assert own.state.detected_at > 200
    assert 200 - 60 <= low <= 201 <= high <= 220
    wide = own.changed_between(0.9999)
    assert wide[0] <= low
    assert wide[1] >= high
    if shuffle:
        assert (low - 1) % 20 == 0
        assert high % 20 == 0


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


CHANGES = {
    "spread of one of ten": lambda rng: rng.normal(0.0, [1.8] + [1.0] * 9, size=(300, 10)),
    "small shifts of all ten": lambda rng: rng.normal(0.25, 1.0, size=(300, 10)),
    "two columns together": lambda rng: (
        rng.normal(size=(300, 10)) + np.r_[0.7, 0.7, np.zeros(8)] * rng.normal(size=(300, 1))
    ),
    "clusters of one": lambda rng: np.column_stack(
        [rng.choice([-0.95, 0.95], 300) + rng.normal(0.0, 0.3, 300), rng.normal(size=(300, 9))]
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_of_many_kinds_are_found(kind):
    own = monitor(np.random.default_rng(0).normal(size=(600, 10)))
    assert not own.update(np.random.default_rng(1).normal(size=(200, 10))).drift
    assert own.update(CHANGES[kind](np.random.default_rng(2))).drift


def test_a_constant_reference_sees_what_differs():
    assert not monitor(np.ones((80, 1))).update(np.ones((40, 1))).drift
    assert monitor(np.ones((80, 1))).update(np.full((40, 1), 2.0)).drift


@pytest.mark.parametrize("dim", [1, 3, 40])
def test_eight_rows_are_enough_to_begin(dim):
    draw = np.random.default_rng(0)
    own = monitor(draw.normal(size=(8, dim)))
    own.add_reference(draw.normal(size=(200, dim)))
    assert own.update(draw.normal(2.0, 1.0, size=(100, dim))).drift


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
        ({"alpha": "0.01"}, "a number between 0 and 1"),
        ({"average_run_length": "many"}, "a number of rows"),
        ({"average_run_length": 0.5}, "a number of rows"),
        ({"average_run_length": float("inf")}, "a number of rows"),
        ({"alpha": 0.05, "average_run_length": 100.0}, "write one"),
        ({"seed": -1}, "seed"),
        ({"missing": "noise"}, "monitor"),
    ]:
        with pytest.raises(ValueError, match=text):
            DriftMonitor(rows(0, 40), **options)
    for confidence in (1.0, "high", None):
        with pytest.raises(ValueError, match="a number between 0 and 1"):
            monitor().changed_between(confidence)
    with pytest.raises(TypeError, match="NoneType; pass the text that"):
        monitor().resume(None)
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


def test_rows_that_are_left_out_of_the_reference_are_no_pilot():
    sparse = np.full((400, 2), np.nan)
    sparse[:12] = rows(0, 12)
    own = DriftMonitor(sparse, missing="drop")
    assert own._fixed.bag.counts.sum(axis=1).tolist() == [9] * len(own._fixed.bag.counts)
    with pytest.raises(ValueError, match="5 rows were passed as reference"):
        DriftMonitor(np.vstack([np.full((40, 2), np.nan), rows(0, 5)]), missing="drop")
    with pytest.raises(ValueError, match="40 such cells"):
        DriftMonitor(np.vstack([np.full((40, 2), np.nan), rows(0, 5)]))
