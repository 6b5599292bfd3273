from dataclasses import replace

import numpy as np
import pytest

from kernelmean_paper import density_table
from kernelmean_paper.density_tasks import TARGETS, Fit
from kernelmean_paper.experiment import Context, Finding, Findings, Size
from kernelmean_paper.paper import ESTIMATORS, TABLE1, TABLE2
from kernelmean_paper.t_tables import SHOWN_TRUTH, TRUTH, Table1, Table2
from kernelmean_paper.verdicts import FAILS, HOLDS, NOT_MEASURED, NOT_REPRODUCED, REPRODUCED

TABLES = [Table1(), Table2()]


def no_data(name):
    raise AssertionError(f"no data set is needed, not {name}")


def names(table):
    return table.name


def made_up(table, numbers, trials=6, spread=0.2):
    """Return findings of every setting: ``numbers(setting)`` of each estimator, with noise of its own per trial."""
    settings = tuple(replace(one, trials=trials) for one in table.settings(Size.QUICK))
    shifts = np.linspace(-1, 1, trials)
    noise = spread * np.random.default_rng(0).normal(size=(trials, len(ESTIMATORS)))
    found = {}
    for setting in settings:
        means = dict(zip(ESTIMATORS, numbers(setting), strict=True))
        found[setting.key] = [
            [
                *(Finding(name, "nll", means[name] + shift + e) for name, e in zip(ESTIMATORS, row, strict=True)),
                *(Finding(f"{m} own", "nll", means[m] + shift + e) for m, e in zip(ESTIMATORS, row, strict=True)),
                Finding("k-means start", "nll", 20.0),
                Finding(TRUTH, "nll", 10.0),
            ]
            for shift, row in zip(shifts, noise, strict=True)
        ]
    return Findings(settings, found)


def outcomes(table, findings):
    return {verdict.claim: verdict.outcome for verdict in table.section(findings).verdicts}


@pytest.mark.parametrize("table", TABLES, ids=names)
def test_settings_are_the_printed_rows(table):
    printed = {"table1": TABLE1, "table2": TABLE2}[table.name]
    for size in Size:
        rows = [table.row(one) for one in table.settings(size) if one.values["protocol"] == "joint"]
        assert rows == list(printed.values)
    full, quick = ({one.key: one.trials for one in table.settings(size)} for size in (Size.FULL, Size.QUICK))
    assert set(full.values()) == {30}
    assert full.keys() == quick.keys()
    assert all(2 < quick[key] < 30 for key in quick)


@pytest.mark.parametrize("table", TABLES, ids=names)
def test_protocols_see_the_same_rows_and_trials_repeat(table, monkeypatch):
    def fingerprint(protocol, task):
        return {name: Fit(float(task.train.sum() + task.test.sum() + task.seed), {}) for name in TARGETS}

    monkeypatch.setattr(density_table, "quietly", fingerprint)
    found = {}
    for setting in table.settings(Size.QUICK):
        trials = [table.trial(setting, table.generator(setting, n, 0), Context(no_data)) for n in (2, 2, 3)]
        assert trials[0] == trials[1] != trials[2]
        assert [one.method for one in trials[0]] == [TRUTH, *ESTIMATORS]
        found.setdefault(table.row(setting), []).append(trials[0])
    assert all(first == second == third for first, second, third in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=names)
def test_a_trial_has_finite_numbers(table):
    for setting in table.settings(Size.QUICK)[::6]:
        trial = table.trial(setting, table.generator(setting, 0, 0), Context(no_data))
        assert np.isfinite([one.value for one in trial]).all()
        assert set(ESTIMATORS) < {one.method for one in trial}


@pytest.mark.parametrize("table", TABLES, ids=names)
@pytest.mark.parametrize(
    ("numbers", "better", "lower"),
    [
        ((20.0, 19.0, 19.0, 15.0, 14.0), REPRODUCED, REPRODUCED),
        ((20.0, 14.0, 19.0, 15.0, 16.0), NOT_REPRODUCED, REPRODUCED),
        ((14.0, 14.0, 14.0, 15.0, 16.0), NOT_REPRODUCED, NOT_REPRODUCED),
    ],
    ids=["as printed", "S-KMSE best", "KME best"],
)
def test_verdicts_follow_the_numbers(table, numbers, better, lower):
    found = outcomes(table, made_up(table, lambda setting: numbers))
    assert {found[claim] for claim in found if claim.startswith("The better of")} == {better}
    assert {found[claim] for claim in found if claim.startswith("MKME is below KME")} == {lower}
    mmkme = NOT_REPRODUCED if numbers[4] > numbers[3] else REPRODUCED
    assert {found[claim] for claim in found if claim.startswith("MMKME is below MKME")} == {mmkme}


@pytest.mark.parametrize(("kme", "outcome"), [(31.0, HOLDS), (28.0, FAILS)])
def test_few_rows_separate_kme(kme, outcome):
    table = Table2()
    found = outcomes(table, made_up(table, lambda setting: (kme, 20.0, 18.0, 17.0, 17.0), spread=0.0))
    assert [found[claim] for claim in found if claim.startswith("At n = 15")] == [outcome]


@pytest.mark.parametrize("table", TABLES, ids=names)
def test_single_and_missing_trials_decide_nothing(table):
    findings = made_up(table, lambda setting: (20.0, 19.0, 19.0, 15.0, 14.0))
    few = Findings(findings.settings, {key: trials[:2] for key, trials in findings.trials.items()})
    assert set(outcomes(table, few).values()) == {NOT_MEASURED}
    assert set(outcomes(table, made_up(table, lambda setting: (20.0,) * 5, trials=1)).values()) == {NOT_MEASURED}
    none = table.section(Findings(findings.settings, {}))
    assert (none.tables, none.charts) == ((), ())


def test_tables_and_charts_show_the_numbers():
    table = Table1()
    section = table.section(made_up(table, lambda setting: (20.0, 19.0, 19.0, 15.0, 14.0), spread=0.0))
    first = section.tables[0]
    assert first.rows[0][1] == "20.00 (7.95)"
    assert (0, 5) in first.emphasis
    assert first.header[-1] == SHOWN_TRUTH
    *ours, printed = section.charts[0].panels
    assert [curve.label for curve in ours[0].curves] == [*ESTIMATORS, SHOWN_TRUTH]
    assert printed.curves[0].y == tuple(row["KME"] for row in TABLE1.values.values())
    assert "4.00 to 4.00 nats above the distribution" in section.paragraphs[0]


def test_steps_and_rest_of_fits_are_stored_and_told():
    notes = {"steps": 7, "theta": 2.0, "rests": 1.0}
    found = density_table.as_findings({"kme own": Fit(3.0, notes), "gmm": Fit(1.0, {"chosen": {}})})
    expected = [Finding("KME own", "nll", 3.0), Finding("KME own", "steps", 7.0), Finding("KME own", "rests", 1.0)]
    assert found == [*expected, Finding("GaussianMixture", "nll", 1.0)]
    table = Table1()
    plain = made_up(table, lambda setting: (20.0, 19.0, 19.0, 15.0, 14.0))
    told = {
        key: [
            [*trial, *(Finding(m, x, v) for m in ESTIMATORS for x, v in (("steps", 7.0), ("rests", float(i < 4))))]
            for i, trial in enumerate(trials)
        ]
        for key, trials in plain.trials.items()
    }
    assert "came to rest" not in table.section(plain).paragraphs[0]
    words = table.section(Findings(plain.settings, told)).paragraphs[0]
    assert "Of 180 fits 120 came to rest; they took 7 steps in the median, 7 at most." in words


def test_no_trial_chooses_the_column_that_it_tests():
    table = Table1()
    noise = np.random.default_rng(1).normal(size=(12, 5))
    settings = (table.settings(Size.QUICK)[0],)
    trials = [[Finding(m, "nll", v) for m, v in zip(ESTIMATORS, row, strict=True)] for row in noise]
    cell = density_table.Cell(Findings(settings, {settings[0].key: trials}), settings[0], "5", TABLE1.values["5"])
    best = density_table.Comparison("", ("MKME", "MMKME"), ("KME", "S-KMSE", "F-KMSE"))
    means = noise.mean(axis=0)
    plain = means[3:].min() - means[:3].min()
    low, high = (density_table._best_elsewhere(cell, m) for m in (best.low, best.high))
    for values, columns in ((low, [3, 4]), (high, [0, 1, 2])):
        for t in range(12):
            others = np.delete(noise, t, axis=0).mean(axis=0)[columns]
            assert values[t] == noise[t, columns[int(others.argmin())]]
    assert best.change(cell).mean == pytest.approx((low - high).mean())
    assert abs(best.change(cell).mean - plain) > 0.01
