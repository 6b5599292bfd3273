from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

import kernelmean as km
from checkered import mostly_slow
from kernelmean_paper.experiment import Context, Finding, Findings, Setting, Size
from kernelmean_paper.figure3 import METHODS, NULL, OURS, POOLED, POWER, RESAMPLES, SHRUNK, Figure3, Reading
from kernelmean_paper.mixtures import Mixture
from kernelmean_paper.rejections import Cell
from kernelmean_paper.verdicts import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    NOT_REPRODUCED,
    REPRODUCED,
    SAME_ORDERING,
    UNDECIDED,
)

pytestmark = pytest.mark.slow

FIGURE = Figure3()
SLOW = pytest.mark.slow
TRIALS = 500
RATES = {"KME": 0.5, "S-KMSE": 0.4, "F-KMSE": 0.42, "MKME": 0.5, "MMKME": 0.51, OURS: 0.6} | dict(
    zip(POOLED, (0.4, 0.42), strict=True)
)
COMPETITIVE, ALWAYS, ALWAYS_POOLED, LEVEL, ADAPTIVE = 0, 2, 4, 6, 7  # MKME's; those of MMKME come one later


REJECTED = {method: Finding(method, "p-value", 0.01) for method in METHODS}
KEPT = {method: Finding(method, "p-value", 0.5) for method in METHODS}
PERMUTED = [Finding(method, "permutations", 1001.0) for method in METHODS]


def no_data(name):
    raise AssertionError(f"no data set is needed, not {name}")


def made_up(rates=None, null=0.05, trials=TRIALS):
    """Return findings in which every test rejects in the first trials of a cell, as many as its rate says.

    ``rates(cell)`` changes power, ``null`` is the rate on samples of one mixture, of all tests or of each by name.
    """
    settings = tuple(Setting(one.values, trials) for one in FIGURE.settings(Size.QUICK))
    found = {}
    for setting in settings:
        cell = dict(setting.values)
        level = null if isinstance(null, dict) else dict.fromkeys(METHODS, null)
        mine = RATES | (rates(cell) if rates else {}) if cell["moved"] else {"KME": 0.05} | level
        counts = {method: round(mine.get(method, 0.05) * trials) for method in METHODS}
        found[setting.key] = [
            [
                *(REJECTED[method] if number < count else KEPT[method] for method, count in counts.items()),
                *PERMUTED,
            ]
            for number in range(trials)
        ]
    return Findings(settings, found)


def outcomes(findings):
    found = [one.outcome for one in FIGURE.section(findings).verdicts]
    assert found[:8] == found[8:]  # the same rates under both bandwidths
    return found[:8]


@pytest.mark.parametrize("size", Size)
def test_settings_are_the_cells_of_the_panels_under_both_bandwidths(size):
    settings = FIGURE.settings(size)
    cells = [{"bandwidth": rule, **cell} for line in (*POWER, *NULL) for cell in line.cells for rule in km_rules()]
    assert Counter(s.key for s in settings) == Counter(Setting(cell, 0).key for cell in cells)
    assert {setting.trials for setting in settings} == {20 if size is Size.QUICK else 500}
    rows = [setting.values["n"] for setting in settings]
    assert rows == sorted(rows)


def km_rules():
    return ("median", "median-unsquared")


def test_bandwidths_are_paired_and_cells_are_not():
    settings = FIGURE.settings(Size.QUICK)
    draws = {
        rule: [FIGURE.generator(s, 0, 0).normal() for s in settings if s.values["bandwidth"] == rule]
        for rule in km_rules()
    }
    assert draws["median"] == draws["median-unsquared"]
    assert len(set(draws["median"])) == len(settings) // 2


def test_panels_vary_what_they_do_not_fix():
    for line in (*POWER, *NULL):
        assert [cell[line.varies] for cell in line.cells] == list(line.free)
        assert {cell[line.fixed] for cell in line.cells} == {line.value}
        assert {cell["moved"] for cell in line.cells} == {line.moved}


@pytest.mark.parametrize("moved", [0.0, 0.5])
def test_a_trial_is_every_test_on_the_same_samples(moved):
    setting = Setting({"bandwidth": "median-unsquared", "n": 4, "d": 3, "moved": moved}, 1)
    rng = FIGURE.generator(setting, 1, 5)
    found = {(one.method, one.measure): one.value for one in FIGURE.trial(setting, rng, Context(no_data))}
    again = FIGURE.generator(setting, 1, 5)
    first = Mixture.random(3, again)
    second = first.moved(moved, again)
    X, Y = first.sample(4, again), second.sample(4, again)
    for method in METHODS:  # all 70 labelings, so that no seed matters
        estimator = OURS
        if method != OURS:
            make = getattr(km.estimators, method.removesuffix(", pooled").replace("-", ""))
            estimator = make(bandwidth="median-unsquared")
            if method in POOLED:
                estimator.strength = estimator.fit(np.concatenate([X, Y])).strength_
        result = km.mmd_test(X, Y, estimator=estimator)
        assert found[method, "p-value"] == pytest.approx(result.pvalue, abs=1e-12)
        assert found[method, "permutations"] == 70
    assert (moved == 0) == bool(np.array_equal(first.means, second.means))


def test_as_many_permutations_as_the_paper():
    setting = Setting({"bandwidth": "median", "n": 8, "d": 2, "moved": 0.0}, 1)
    found = FIGURE.trial(setting, FIGURE.generator(setting, 0, 0), Context(no_data))
    counts = {one.method: one.value for one in found if one.measure == "permutations"}
    assert counts.keys() == set(METHODS)
    assert min(counts.values()) >= RESAMPLES + 1 == 1001


def test_what_is_claimed_is_found_where_it_is_so():
    assert outcomes(made_up()) == [REPRODUCED] * 6 + [HOLDS, HOLDS]


def one_cell(low):
    return lambda cell: {"MKME": low} if (cell["n"], cell["d"]) == (6, 2) else {}


@pytest.mark.parametrize(
    ("rates", "verdict", "outcome"),
    [
        (lambda cell: {"MKME": 0.44}, COMPETITIVE, NOT_REPRODUCED),
        (lambda cell: {"MKME": 0.48}, COMPETITIVE, UNDECIDED),  # at the margin
        (lambda cell: {"MKME": 0.484}, COMPETITIVE, SAME_ORDERING),  # surely within it, surely below KME in the cells
        pytest.param(lambda cell: {"MKME": 0.49}, COMPETITIVE, REPRODUCED, marks=SLOW),
        (one_cell(0.45), COMPETITIVE, SAME_ORDERING),  # 25 of 500 trials lost, none won
        pytest.param(one_cell(0.494), COMPETITIVE, REPRODUCED, marks=SLOW),  # three lost: chance
        (one_cell(0.36), ALWAYS, SAME_ORDERING),
        pytest.param(one_cell(0.41), ALWAYS, REPRODUCED, marks=SLOW),
        (lambda cell: {"MKME": 0.42}, ALWAYS, NOT_REPRODUCED),
        pytest.param(lambda cell: {"S-KMSE": 0.5}, ALWAYS, NOT_REPRODUCED, marks=SLOW),
        pytest.param(lambda cell: {"S-KMSE": 0.5}, ALWAYS_POOLED, REPRODUCED, marks=SLOW),
        pytest.param(lambda cell: {POOLED[0]: 0.5}, ALWAYS, REPRODUCED, marks=SLOW),
        (lambda cell: {POOLED[0]: 0.5}, ALWAYS_POOLED, NOT_REPRODUCED),
        (lambda cell: {OURS: 0.5}, ADAPTIVE, FAILS),
    ],
    ids=[
        "less",
        "at the margin",
        "a little less",
        "within the margin",
        "less in a cell",
        "by chance",
        "below in a cell",
        "above",
        "ties F",
        "ties S",
        "ties S of one fit",
        "ties S of the other fit",
        "ties S of that fit",
        "ours",
    ],
)
def test_outcomes_follow_the_rates(rates, verdict, outcome):
    assert outcomes(made_up(rates))[verdict] == outcome


def test_verdicts_on_the_two_marginalized_estimators_are_their_own():
    found = outcomes(made_up(lambda cell: {"MMKME": 0.3}))
    assert found[:6] == [REPRODUCED, NOT_REPRODUCED] * 3


def test_few_trials_agree_with_nothing():
    found = outcomes(made_up(trials=20))
    assert found[:6] == [UNDECIDED] * 6
    assert found[LEVEL] == UNDECIDED
    assert (
        outcomes(made_up(lambda cell: dict.fromkeys(METHODS, 0.5), trials=20))[:6] == [UNDECIDED] * 6
    )  # no trial apart
    assert outcomes(made_up(lambda cell: {"MKME": 0.0}, trials=20))[COMPETITIVE] == NOT_REPRODUCED
    assert outcomes(made_up(null=0.9, trials=20))[LEVEL] == FAILS  # what speaks against a claim still does


def test_losses_against_both_are_one_family():
    lost = made_up(lambda cell: {"MKME": 0.404} if (cell["n"], cell["d"]) == (6, 2) else {})
    reading = Reading(lost, "median")
    assert len(reading.behind("MKME", "F-KMSE")) == 1  # eight lost: 0.0039 · 9 is below 0.05
    assert not reading.behind("MKME", *SHRUNK)  # 0.0039 · 18 is not


def test_one_factor_from_the_pooled_sample_changes_no_decision():
    setting = Setting({"bandwidth": "median", "n": 5, "d": 20, "moved": 0.5}, 1)
    found = FIGURE.trial(setting, FIGURE.generator(setting, 0, 0), Context(no_data))
    pvalues = {one.method: one.value for one in found if one.measure == "p-value"}
    assert pvalues[POOLED[0]] == pytest.approx(pvalues["KME"], abs=1e-12)


ALLOWED = 1 - 0.05 / (sum(len(line.free) for line in NULL) * len(METHODS))
"""Of a single level."""


@pytest.mark.parametrize("method", mostly_slow(METHODS, METHODS[0], OURS))
def test_levels_are_held_to_the_exact_binomial_law(method):
    tail = (1 - ALLOWED) / 2
    attained = 50 / 1001
    most = next(count for count in range(TRIALS) if binom.sf(count, TRIALS, attained) <= tail)
    assert outcomes(made_up(null={method: most / TRIALS}))[LEVEL] == HOLDS
    found = FIGURE.section(made_up(null={method: (most + 1) / TRIALS})).verdicts[LEVEL]
    assert found.outcome == FAILS
    assert f"7 of 56 outside; rates from 0.050 to {(most + 1) / TRIALS:.3f}" in found.evidence
    assert f"{method} at n = 20, d = 20" in found.evidence


def test_tests_that_never_reject_do_not_keep_the_level():
    assert outcomes(made_up(null=0.0))[LEVEL] == FAILS


def test_few_permutations_attain_less():
    pvalues = {"KME": np.full(200, 0.5)}
    cells = [Cell(Setting({}, 200), pvalues, {"KME": np.full(200, count)}, 0.05) for count in (20.0, 19.0)]
    assert cells[0].allowed("KME", 0.95) == (int(binom.ppf(0.025, 200, 0.05)), int(binom.ppf(0.975, 200, 0.05)))
    assert cells[1].allowed("KME", 0.95) == (0, 0)


def test_a_p_value_of_the_level_rejects():
    cell = Cell(Setting({}, 3), {"KME": np.array([0.05, 0.0501, 1 / 20])}, {}, 0.05)
    np.testing.assert_array_equal(cell.rejected("KME"), [1.0, 0.0, 1.0])


def test_charts_and_tables_show_what_was_found():
    section = FIGURE.section(made_up())
    assert [chart.name for chart in section.charts] == ["figure3-median", "figure3-median-unsquared"]
    panels = section.charts[0].panels
    assert [panel.title for panel in panels] == [
        "(a) power, d = 20",
        "(b) power, n = 6",
        "(c) level, d = 20",
        "(d) level, n = 6",
    ]
    for panel, line in zip(panels, (*POWER, *NULL), strict=True):
        for curve in panel.curves:
            assert curve.x == tuple(map(float, line.free))
            rate = RATES[curve.label] if line.moved else 0.05
            assert curve.y == pytest.approx([rate] * len(line.free))
        assert bool(panel.bands) == (line.moved == 0)
        for band in panel.bands:
            assert band.low < 0.05 < band.high
    assert "(a) power, d = 20, n from 5 to 20: KME 0.5 to 0.5; S-KMSE 0.4 to 0.4;" in section.charts[0].text
    power, level = section.tables[:2]
    assert len(power.rows) == sum(len(line.free) for line in POWER)
    assert power.rows[0][3:11] == tuple(f"{RATES[method]:.3f}" for method in METHODS)
    assert power.rows[0][-2:] == ("+0 ± 0", "+0.0100 ± 0.0045")
    assert len(level.rows) == sum(len(line.free) for line in NULL)


def test_words_follow_the_numbers():
    found = FIGURE.section(made_up()).paragraphs[0]
    assert "MKME 0.500, MMKME 0.510, S-KMSE, pooled 0.400, F-KMSE, pooled 0.420, adaptive 0.600" in found
    assert "d = 20: from 0.50 at n = 5 to 0.50 at n = 20" in found
    assert "decides as KME in 100.0% of the trials" in found
    assert "every permutation: S-KMSE -0.1000 ± 0.0045, F-KMSE -0.0800 ± 0.0040; λ of the pooled" in found
    assert "S-KMSE decides as KME in 90.0% of the trials" in found
    equal = FIGURE.section(made_up(lambda cell: {POOLED[0]: 0.5, POOLED[1]: 0.55})).paragraphs[0]
    assert "pooled sample: S-KMSE +0 ± 0, F-KMSE +0.0500 ± 0.0033" in equal
    assert "S-KMSE decides as KME in 100.0% of the trials" in equal


@pytest.mark.parametrize("made", [0, 1, 5])
def test_what_is_missing_is_not_judged(made):
    findings = made_up()
    few = Findings(findings.settings, {key: trials[:made] for key, trials in findings.trials.items()})
    section = FIGURE.section(few)
    assert {one.outcome for one in section.verdicts} == {NOT_MEASURED}
    assert bool(section.charts) == bool(section.tables) == (made > 1)


def test_cells_of_one_kind_only_are_shown():
    findings = made_up()
    for kind in (True, False):
        keys = [s.key for s in findings.settings if (s.values["moved"] == 0) is kind]
        section = FIGURE.section(Findings(findings.settings, {key: findings.trials[key] for key in keys}))
        assert len(section.tables) == 2
        assert {one.outcome for one in section.verdicts} == {NOT_MEASURED}
