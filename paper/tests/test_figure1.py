from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean_paper.experiment import Context, Finding, Findings, Size
from kernelmean_paper.figure1 import CHOSEN, ORACLE, VARIANCES, ZERO, Figure1, at
from kernelmean_paper.mixtures import Drawn
from kernelmean_paper.verdicts import FAILS, HOLDS, NOT_MEASURED, NOT_REPRODUCED, REPRODUCED, SAME_ORDERING

FIGURE = Figure1()
SETTINGS = FIGURE.settings(Size.QUICK)


def no_data(name):
    raise AssertionError(f"no data set is needed, not {name}")


def trial(setting, number):
    return FIGURE.trial(setting, FIGURE.generator(setting, number, 0), Context(no_data))


def made_up(curve, chosen, zero=0.6, error=0.001, trials=8):
    """Return findings whose losses are those of ``curve(σ²)``, up to noise of the given standard error of the mean."""
    settings = tuple(replace(setting, trials=trials) for setting in SETTINGS)
    noises = error * np.sqrt(trials) * np.resize([1.0, -1.0], trials) * np.sqrt((trials - 1) / trials)
    found = [
        [
            Finding("KME", "loss", curve(0.0)),
            *(Finding(at(value), "loss", curve(value) + noise) for value in VARIANCES[1:]),
            Finding(CHOSEN, "loss", curve(chosen) + noise),
            Finding(CHOSEN, "variance", chosen),
            Finding(ORACLE, "loss", min(map(curve, VARIANCES)) - error),
            Finding(ORACLE, "variance", 5.0),
            Finding(ZERO, "loss", zero),
            Finding("kernel", "squared bandwidth", 100.0),
        ]
        for noise in noises
    ]
    return Findings(settings, {setting.key: found for setting in settings})


def outcomes(findings):
    found = [verdict.outcome for verdict in FIGURE.section(findings).verdicts]
    assert found[:3] == found[3:]  # the same losses in both settings
    return found[:3]


def test_settings_are_those_of_the_paper():
    assert [dict(setting.values) for setting in SETTINGS] == [
        {"bandwidth": rule, "n": 10, "d": 20} for rule in ("median", "median-unsquared")
    ]
    assert {setting.trials for size in Size for setting in FIGURE.settings(size)} == {30}


def test_both_bandwidths_are_tried_on_the_same_samples():
    first, second = ({(one.method, one.measure): one.value for one in trial(setting, 1)} for setting in SETTINGS)
    drawn = [Drawn.random(10, 20, "median", FIGURE.generator(setting, 1, 0)) for setting in SETTINGS]
    np.testing.assert_array_equal(drawn[0].X, drawn[1].X)
    bandwidths = [found["kernel", "squared bandwidth"] for found in (first, second)]
    assert bandwidths[0] > bandwidths[1]
    assert bandwidths[0] == pytest.approx(bandwidths[1] ** 2)  # θ² the median of squares, and θ² that of distances
    assert FIGURE.generator(SETTINGS[0], 1, 0).normal() != FIGURE.generator(SETTINGS[0], 2, 0).normal()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_a_trial_is_the_loss_of_each_estimator_on_one_sample(setting):
    found = {(one.method, one.measure): one.value for one in trial(setting, 3)}
    assert trial(setting, 3) == trial(setting, 3)
    rule = setting.values["bandwidth"]
    drawn = Drawn.random(10, 20, rule, FIGURE.generator(setting, 3, 0))
    fitted = km.MKME(bandwidth=rule).fit(drawn.X)

    def loss(estimate):
        return pytest.approx((estimate.embedding_ - drawn.truth).norm() ** 2, rel=1e-9)

    assert found["KME", "loss"] == loss(km.KME(bandwidth=rule).fit(drawn.X))
    assert found[CHOSEN, "loss"] == loss(fitted)
    assert found[CHOSEN, "variance"] == pytest.approx(float(fitted.noise_.covariance), rel=1e-9)
    assert found[at(7.0), "loss"] == loss(km.KernelMean(bandwidth=rule, noise=km.noise.Normal(7.0)).fit(drawn.X))
    assert found[ZERO, "loss"] == pytest.approx(drawn.truth.norm() ** 2)
    assert found[ORACLE, "loss"] <= min(value for (_, measure), value in found.items() if measure == "loss") + 1e-12


def bowl(value):
    return 0.05 + 1e-3 * (value - 10) ** 2


def test_a_bowl_is_reproduced():
    section = FIGURE.section(made_up(bowl, chosen=11.0))
    assert outcomes(made_up(bowl, chosen=11.0)) == [REPRODUCED, HOLDS, HOLDS]
    (chart,) = section.charts
    for panel in chart.panels:
        assert panel.curves[0].x == VARIANCES
        assert panel.marks == (("best on average", 10.0), ("leave-one-out (median)", 11.0))
    assert "from σ² = 21 on it is above KME's" in section.paragraphs[0]


@pytest.mark.parametrize(
    ("curve", "chosen", "expected"),
    [
        (lambda value: 0.05 + 1e-3 * value, 10.0, [NOT_REPRODUCED, FAILS, FAILS]),  # noise only harms
        (lambda value: 0.05 - 0.0025 * (value == 10), 10.0, [SAME_ORDERING, FAILS, HOLDS]),  # a dent within 3 errors
        (bowl, 25.0, [REPRODUCED, HOLDS, FAILS]),  # leave-one-out goes too far
    ],
    ids=["rising", "dent", "too far"],
)
def test_outcomes_follow_the_curve(curve, chosen, expected):
    assert outcomes(made_up(curve, chosen)) == expected


@pytest.mark.parametrize(("zero", "said"), [(0.06, True), (0.6, False)])
def test_a_loss_above_that_of_nothing_is_said(zero, said):
    words = FIGURE.section(made_up(bowl, chosen=10.0, zero=zero)).paragraphs[0]
    assert ("worse than the zero function" in words) == said


@pytest.mark.parametrize("made", [0, 1, 3])
def test_trials_that_are_missing_are_said_to_be(made):
    findings = made_up(bowl, chosen=11.0)
    few = Findings(findings.settings, {key: trials[:made] for key, trials in findings.trials.items()})
    section = FIGURE.section(few)
    assert {verdict.outcome for verdict in section.verdicts} == {NOT_MEASURED}
    assert f"{8 - made} of 8" in section.verdicts[0].evidence
    assert bool(section.charts) == (made > 1)
