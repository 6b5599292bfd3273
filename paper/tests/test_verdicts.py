from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm, t

from kernelmean_paper.experiment import Finding, Findings, Setting
from kernelmean_paper.verdicts import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    NOT_REPRODUCED,
    REPRODUCED,
    SAME_ORDERING,
    UNDECIDED,
    Estimate,
    as_large,
    attainable,
    binomial_range,
    both,
    claimed,
    fewer_than_chance,
    held,
    missing_trials,
    multiple,
    no_worse,
    ordering,
    settled,
    verdict,
)


def test_paired_differences_leave_out_what_trials_share():
    base = np.array([1.0, 100.0, 10_000.0])
    change = Estimate.change(base + np.array([0.1, 0.2, 0.3]), base)
    assert change.mean == pytest.approx(0.2)
    assert change.error == pytest.approx(0.1 / np.sqrt(3))


@pytest.mark.parametrize(("mean", "below", "above"), [(-2.1, True, False), (-1.9, False, False), (2.1, False, True)])
def test_a_difference_counts_from_two_errors(mean, below, above):
    estimate = Estimate(mean, 1.0)
    assert (estimate.below(), estimate.above()) == (below, above)


def test_one_trial_decides_nothing():
    estimate = Estimate.of(np.array([-5.0]))
    assert not estimate.below()
    assert not estimate.above()


@pytest.mark.parametrize("errors", [2.0, 3.0])
@pytest.mark.parametrize("freedom", [1, 2, 14, 29])
def test_few_trials_call_nothing_a_difference_more_often_than_many(freedom, errors):
    assert t.sf(multiple(errors, freedom), freedom) == pytest.approx(norm.sf(errors))
    assert multiple(errors, freedom) > multiple(errors, np.inf) == errors
    bound = multiple(errors, freedom)
    assert not Estimate(-0.99 * bound, 1.0, freedom).below(errors)
    assert Estimate(-1.01 * bound, 1.0, freedom).below(errors)
    assert Estimate(1.01 * bound, 1.0, freedom).above(errors)


def test_three_trials_are_called_a_difference_as_often_as_said():
    draws = np.random.default_rng(1).normal(size=(4000, 3))
    found = np.mean([Estimate.of(row).below() for row in draws])
    assert abs(found - norm.sf(2.0)) < 4 * np.sqrt(norm.sf(2.0) / 4000)  # 2 errors flat would be 9 %


def test_degrees_of_freedom_over_cells():
    alike = Estimate.over([Estimate(0.0, 0.3, 14)] * 5)
    assert alike.freedom == pytest.approx(70)
    led = Estimate.over([Estimate(0.0, 1.0, 2), *[Estimate(0.0, 1e-6, 14)] * 5])
    assert led.freedom == pytest.approx(2)
    assert Estimate.over([Estimate(0.0, 0.0, 14), Estimate(1.0, 0.0, 29)]).freedom == 14
    assert Estimate.over([Estimate(0.0, 1.0)] * 2).freedom == np.inf
    assert Estimate(1.0, 0.5, 3).shifted(1.0).scaled(2.0) == Estimate(4.0, 1.0, 3)


def test_a_grid_has_the_error_of_independent_cells():
    rng = np.random.default_rng(0)
    cells = [Estimate.of(rng.normal(size=50)) for _ in range(400)]
    together = Estimate.over(cells)
    assert together.error == pytest.approx(1 / np.sqrt(50 * 400), rel=0.05)
    assert abs(together.mean) < 4 * together.error


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (-0.000441, 0.0000812, "-0.000441 ± 0.000081"),
        (1.26, 0.5, "+1.26 ± 0.50"),
        (-250.3, 31.0, "-250 ± 31"),
        (0.5, 0.0, "+0.5 ± 0"),
        (0.5, np.nan, "+0.5 ± nan"),
    ],
)
def test_errors_are_written_with_two_digits(mean, error, text):
    assert str(Estimate(mean, error)) == text


def test_outcomes():
    found = {(full, part): claimed(fully=full, partly=part) for full, part in product([True, False], repeat=2)}
    assert found == {
        (True, True): REPRODUCED,
        (True, False): REPRODUCED,
        (False, True): SAME_ORDERING,
        (False, False): NOT_REPRODUCED,
    }
    assert (held(True), held(False)) == (HOLDS, FAILS)


@pytest.mark.parametrize(
    ("mean", "no_less", "alike"),
    [
        (-0.41, False, False),  # beyond the margin of 0.2 by more than two errors of 0.1
        (-0.39, None, None),
        (-0.01, None, None),
        (0.01, True, None),
        (0.39, True, None),
        (0.41, True, False),
    ],
)
def test_no_difference_found_is_not_agreement(mean, no_less, alike):
    assert no_worse(Estimate(mean, 0.1), 0.2) is no_less
    assert as_large(Estimate(mean, 0.1), 0.2) is alike
    assert as_large(Estimate(-mean, 0.1), 0.2) is alike


def test_agreement_needs_a_small_error():
    assert as_large(Estimate(0.0, 0.099), 0.2) is True
    assert as_large(Estimate(0.0, 0.101), 0.2) is None
    assert as_large(Estimate(0.0, 0.099, 3), 0.2) is None  # of four trials
    assert no_worse(Estimate(1.0, np.nan), 0.2) is None
    assert no_worse(Estimate.of(np.array([1.0])), 0.2) is None


def test_open_questions_stay_open():
    assert [both(True, True), both(True, None), both(None, False)] == [True, None, False]
    assert [settled(one, HOLDS, FAILS) for one in (True, False, None)] == [HOLDS, FAILS, UNDECIDED]
    assert [settled(one, REPRODUCED, NOT_REPRODUCED) for one in (True, False)] == [REPRODUCED, NOT_REPRODUCED]


CELLS = (Setting({"n": 1}, 2), Setting({"n": 2}, 2))
ONE = [Finding("KME", "loss", 1.0)]


@pytest.mark.parametrize(
    ("trials", "missing"),
    [
        ({}, 4),
        ({"n=1": [ONE, ONE]}, 2),
        ({"n=1": [ONE, ONE], "n=2": [ONE, []]}, 1),
        ({"n=1": [ONE, ONE, ONE], "n=2": [ONE]}, 1),  # more trials in one cell do not stand for others
        ({"n=1": [ONE, ONE], "n=2": [ONE, ONE]}, 0),
    ],
    ids=["none", "one cell", "one empty", "too many of one", "all"],
)
def test_verdicts_wait_for_every_trial(trials, missing):
    findings = Findings(CELLS, trials)
    assert missing_trials(findings, CELLS) == (missing, 4)
    found = verdict("claim", "rule", findings, CELLS, lambda: (HOLDS, "numbers"))
    assert found.outcome == (NOT_MEASURED if missing else HOLDS)
    assert found.evidence == (f"{missing} of 4 trials are missing" if missing else "numbers")


def test_a_verdict_on_nothing_is_not_measured():
    assert verdict("claim", "rule", Findings((), {}), (), lambda: (HOLDS, "")).outcome == NOT_MEASURED


def test_few_wins_are_held_to_all_ways_in_which_coins_fall():
    ours, theirs = np.array([1, 0, 0, 0, 0, 1, 0]), np.array([0, 1, 1, 1, 1, 1, 0])
    ways = list(product([0, 1], repeat=5))  # five trials tell the two apart, ours won one
    assert fewer_than_chance(ours, theirs) == pytest.approx(np.mean([sum(way) <= 1 for way in ways]))
    assert fewer_than_chance(theirs, ours) == pytest.approx(np.mean([sum(way) <= 4 for way in ways]))
    assert fewer_than_chance(ours, ours) == 1.0


@pytest.mark.parametrize("confidence", [0.9, 0.99])
@pytest.mark.parametrize(("trials", "probability"), [(20, 0.05), (500, 0.05), (500, 0.0476)])
def test_counts_in_the_range_are_those_that_are_not_rejected(trials, probability, confidence):
    low, high = binomial_range(trials, probability, confidence)
    tail = (1 - confidence) / 2
    assert binom.cdf(low - 1, trials, probability) < tail <= binom.cdf(low, trials, probability)
    assert binom.sf(high, trials, probability) <= tail < binom.sf(high - 1, trials, probability)


def test_the_attainable_level_is_that_of_a_uniform_rank():
    for count in (20, 252, 1001):
        ranks = np.arange(1, count + 1) / count
        assert attainable(0.05, np.array([count])) == pytest.approx(np.mean(ranks <= 0.05 + 1e-12))
    assert attainable(0.05, np.array([20, 19])) == 0.025


@pytest.mark.parametrize(
    ("gaps", "outcome"),
    [
        ([(-1.0, 0.1)] * 4 + [(0.1, 0.1)], REPRODUCED),  # four of five clearly, none against
        ([(-1.0, 0.1)] * 4 + [(0.3, 0.1)], SAME_ORDERING),  # one clearly against
        ([(-1.0, 0.1)] * 3 + [(-0.1, 0.1)] * 2, SAME_ORDERING),
        ([(-0.1, 0.1)] * 5, UNDECIDED),  # none clearly
        ([(-0.1, 0.1)] * 4 + [(0.3, 0.1)], NOT_REPRODUCED),  # one clearly against, none for it
        ([(0.1, 0.1)] * 5, NOT_REPRODUCED),
        ([(-1.0, 0.1)] * 2 + [(0.1, 0.1)] * 3, NOT_REPRODUCED),  # in fewer than half
        ([(-1.0, 0.1)] * 3 + [(1.0, 0.1)] * 3, NOT_REPRODUCED),
        ([(-1.0, 0.1)] * 4 + [(-1.0, np.nan)], NOT_MEASURED),
    ],
    ids=["nearly all", "one against", "some", "unclear", "only against", "above", "few", "half against", "one trial"],
)
def test_an_ordering_needs_most_rows_and_none_against(gaps, outcome):
    assert ordering([Estimate(*gap) for gap in gaps], "row")[0] == outcome
