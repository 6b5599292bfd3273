from collections import Counter

import numpy as np
import pytest

import kernelmean as km
from kernelmean import estimators
from kernelmean_paper.experiment import Context, Finding, Findings, Setting, Size
from kernelmean_paper.figure2 import DIMENSIONS, LINES, MAKERS, OURS, SCORE, SIZES, Figure2
from kernelmean_paper.loss_grid import ORACLE, ZERO, Cell, Grid
from kernelmean_paper.mixtures import Drawn
from kernelmean_paper.verdicts import FAILS, HOLDS, NOT_MEASURED, NOT_REPRODUCED, REPRODUCED, SAME_ORDERING

FIGURE = Figure2()
RULES = ("median", "median-unsquared")
LOSSES = {"KME": 10.0, "S-KMSE": 9.0, "F-KMSE": 9.2, "MKME": 7.0, "MMKME": 7.2, OURS: 5.5, ORACLE: 6.8, ZERO: 60.0}
AVERAGE, MOST, ALWAYS, GAP, BEYOND, COLUMNS = range(6)


def no_data(name):
    raise AssertionError(f"no data set is needed, not {name}")


def made_up(losses=None, error=0.01, trials=4, settings=None):
    """Return findings with the mean losses that ``losses(cell)`` changes from the ones above, and errors of them."""
    settings = settings or [Setting(one.values, trials) for one in FIGURE.settings(Size.QUICK)]
    found = {}
    for setting in settings:
        means = LOSSES | (losses(dict(setting.values)) if losses else {})
        # every method's noise is another one, of mean 0, so that paired differences have an error
        noise = {name: error * np.roll([1.0, -1.0, 0.5, -0.5], k) for k, name in enumerate(means)}
        found[setting.key] = [
            [
                *(Finding(name, "loss", mean * (1 + noise[name][t])) for name, mean in means.items()),
                Finding("MKME", SCORE, 1.0),
                Finding("MMKME", SCORE, 0.9),
            ]
            for t in range(trials)
        ]
    return Findings(tuple(settings), found)


def outcomes(findings, rule="median"):
    found = [one.outcome for one in FIGURE.section(findings).verdicts]
    return found[:6] if rule == "median" else found[6:]


@pytest.mark.parametrize("size", Size)
def test_the_grid_has_every_cell_of_the_panels_once(size):
    settings = FIGURE.settings(size)
    cells = Counter((s.values["bandwidth"], s.values["n"], s.values["d"]) for s in settings)
    wanted = {(n, d) for n in SIZES for d in (5, 20)} | {(n, d) for n in (20, 50) for d in DIMENSIONS}
    assert cells == Counter((rule, n, d) for rule in RULES for n, d in wanted)
    assert {setting.trials for setting in settings} == {15 if size is Size.QUICK else 30}
    work = [setting.values["n"] * setting.values["d"] for setting in settings]
    assert work == sorted(work)


def test_bandwidths_are_paired_and_cells_are_not():
    first = {s.key: FIGURE.generator(s, 0, 0).normal() for s in FIGURE.settings(Size.QUICK)}
    by_bandwidth = [[first[s.key] for s in FIGURE.settings(Size.QUICK) if s.values["bandwidth"] == r] for r in RULES]
    assert by_bandwidth[0] == by_bandwidth[1]
    assert len(set(by_bandwidth[0])) == len(by_bandwidth[0]) == 40


def test_quick_trials_are_the_first_of_the_full_ones():
    assert [s.key for s in FIGURE.settings(Size.QUICK)] == [s.key for s in FIGURE.settings(Size.FULL)]


@pytest.mark.parametrize("rule", RULES)
def test_a_trial_is_the_loss_of_every_estimator_on_one_sample(rule):
    setting = Setting({"bandwidth": rule, "n": 10, "d": 5}, 1)
    trial = FIGURE.trial(setting, FIGURE.generator(setting, 2, 7), Context(no_data))
    found = {(one.method, one.measure): one.value for one in trial}
    drawn = Drawn.random(10, 5, rule, FIGURE.generator(setting, 2, 7))
    named = {"S-KMSE": estimators.SKMSE, "F-KMSE": estimators.FKMSE, OURS: estimators.VPMKME}
    for name, make in {**MAKERS, **named}.items():
        fitted = make(bandwidth=rule).fit(drawn.X)
        assert found[name, "loss"] == pytest.approx((fitted.embedding_ - drawn.truth).norm() ** 2, rel=1e-9)
    assert found["MKME", SCORE] == km.MKME(bandwidth=rule).fit(drawn.X).loocv_
    assert found["MMKME", SCORE] <= found["MKME", SCORE]
    assert found[ORACLE, "loss"] <= min(found["KME", "loss"], found["MKME", "loss"])
    assert found[ZERO, "loss"] == pytest.approx(drawn.truth.norm() ** 2)


def test_what_the_paper_and_the_issue_say_is_found_where_it_is_so():
    found = [HOLDS, REPRODUCED, REPRODUCED, HOLDS, HOLDS, FAILS]  # MMKME is made up to be a little worse than MKME
    assert outcomes(made_up()) == found
    assert outcomes(made_up(), "median-unsquared") == found


@pytest.mark.parametrize(
    ("losses", "verdict", "outcome"),
    [
        ({"MKME": 9.1}, AVERAGE, FAILS),
        ({"MKME": 8.9999}, AVERAGE, FAILS),  # below, but not by two errors
        ({"MKME": 8.9999}, MOST, REPRODUCED),
        ({"MKME": 9.1}, MOST, NOT_REPRODUCED),
        ({"MMKME": 9.1}, ALWAYS, NOT_REPRODUCED),
        ({"MKME": 8.95, "S-KMSE": 9.0}, GAP, FAILS),  # 33 % of the gap
        ({"MKME": 8.85, "S-KMSE": 9.0}, GAP, HOLDS),  # 36 %
        ({OURS: 6.9}, BEYOND, FAILS),
        ({"MMKME": 6.9}, COLUMNS, HOLDS),
        ({"MMKME": 7.0}, COLUMNS, FAILS),
    ],
    ids=lambda value: str(value).replace(" ", ""),
)
def test_outcomes_follow_the_losses(losses, verdict, outcome):
    assert outcomes(made_up(lambda cell: losses))[verdict] == outcome


def test_one_cell_speaks_against_always_but_not_against_most():
    def losses(cell):
        return {"MKME": 9.5, "MMKME": 9.5} if (cell["n"], cell["d"]) == (20, 20) else {}

    found = outcomes(made_up(losses))
    assert (found[MOST], found[ALWAYS]) == (REPRODUCED, SAME_ORDERING)


def test_most_cells_lost_and_the_average_won_is_the_same_ordering():
    def losses(cell):
        return {"MKME": 9.05} if cell["d"] == 20 or cell["n"] in (20, 50) else {"MKME": 1.0}

    assert outcomes(made_up(losses))[MOST] == SAME_ORDERING


@pytest.mark.parametrize(
    ("loss", "error", "outcome", "counts"),
    [
        (9.0, 0.001, HOLDS, (1, 0)),  # less than the share, more than nothing
        (10.1, 0.001, FAILS, (1, 1)),
        (10.1, 0.4, HOLDS, (0, 0)),  # not clearly
    ],
    ids=["short", "harmed", "by chance"],
)
def test_a_single_cell_speaks_against_the_gap_only_where_it_is_clearly_harmed(loss, error, outcome, counts):
    def losses(cell):
        return {"MKME": loss} if (cell["n"], cell["d"]) == (20, 2) else {}

    found = made_up(losses, error)
    verdict = FIGURE.section(found).verdicts[GAP]
    cells = len({(s.values["n"], s.values["d"]) for s in found.settings if s.values["n"] <= 20})
    assert verdict.outcome == outcome
    assert "over the cells with n ≤ 20 together" in verdict.claim
    assert (
        f"separately as much in {cells - 1} of them, clearly less in {counts[0]}; clearly above KME in {counts[1]};"
        in verdict.evidence
    )


@pytest.mark.parametrize(("rule", "far"), [("median", "n"), ("median-unsquared", "d")])
def test_the_gap_is_looked_at_where_it_is_promised(rule, far):
    def losses(cell):
        elsewhere = cell["n"] > 20 if far == "n" else cell["d"] < 5
        return {"MKME": 9.9} if elsewhere else {}

    assert outcomes(made_up(losses, 1e-4), rule)[GAP] == HOLDS


def test_small_dimensions_do_not_count_for_the_estimator_of_this_library():
    assert outcomes(made_up(lambda cell: {OURS: 9.0} if cell["d"] < 5 else {}))[BEYOND] == HOLDS
    assert outcomes(made_up(lambda cell: {OURS: 9.0} if cell["d"] != 20 else {}))[BEYOND] == FAILS


def test_charts_and_tables_show_what_was_found():
    section = FIGURE.section(made_up())
    assert [chart.name for chart in section.charts] == [
        f"figure2-{rule}{end}" for rule in RULES for end in ("", "-relative")
    ]
    losses, ratios = section.charts[:2]
    assert [panel.title for panel in losses.panels] == [
        f"({x}) {n} = {v}" for x, (n, v) in zip("abcd", LINES, strict=True)
    ]
    assert losses.panels[0].curves[0].x == tuple(map(float, DIMENSIONS))
    assert losses.panels[2].curves[0].x == tuple(map(float, SIZES))
    for panel, relative in zip(losses.panels, ratios.panels, strict=True):
        for curve in panel.curves:
            assert curve.y == pytest.approx([LOSSES[curve.label]] * len(curve.x))
        for curve in relative.curves:
            assert curve.y == pytest.approx([LOSSES[curve.label] / LOSSES["MKME"]] * len(curve.x))
    assert "(a) n = 20, d from 2 to 100: KME 10 to 10; S-KMSE 9 to 9;" in losses.text
    assert "(c) d = 20, n from 10 to 100: KME 1.43 to 1.43; S-KMSE 1.29 to 1.29;" in ratios.text
    cells = section.tables[1]
    assert len(cells.rows) == 40
    assert {cells.header[column] for _, column in cells.emphasis} == {OURS}
    assert cells.rows[0][cells.header.index("gap closed")] == "94%"  # 3 of 3.2


def test_kme_is_left_out_where_it_would_flatten_the_ratios():
    ratios = FIGURE.section(made_up(lambda cell: {"KME": 20.0})).charts[1]
    assert "KME" not in {curve.label for panel in ratios.panels for curve in panel.curves}
    assert "KME" in {curve.label for panel in FIGURE.section(made_up()).charts[1].panels for curve in panel.curves}


def test_words_follow_the_numbers():
    worse = FIGURE.section(made_up(lambda cell: {ZERO: 5.0})).paragraphs
    assert "In 40 of the cells KME is worse than the zero function" in worse[0]
    assert "over these it changes the mean loss of KME by -50%, MKME by -30%" in worse[0]
    assert "zero function" not in FIGURE.section(made_up()).paragraphs[0]
    assert "+2.9% at n = 10, +2.9% at n = 100" in worse[1]
    assert "100% of the samples have both the lower score and the higher loss" in worse[1]
    assert "its mean loss is above MKME's (+0.2000 ±" in worse[1]
    better = FIGURE.section(made_up(lambda cell: {"MMKME": 6.0})).paragraphs[1]
    assert "0% of the samples have both" in better
    assert "its mean loss is below MKME's (-1.0000 ±" in better
    assert "neither clearly" in FIGURE.section(made_up(lambda cell: {"MMKME": 7.0})).paragraphs[1]


def test_clear_cells_are_counted_beside_the_means():
    def losses(cell):
        return {"MKME": {20: 8.999, 5: 9.5}.get(cell["d"], 7.0), OURS: 6.8 if cell["d"] == 20 else 5.5}

    verdicts = FIGURE.section(made_up(losses)).verdicts
    cells = len({(s.values["n"], s.values["d"]) for s in FIGURE.settings(Size.QUICK)})
    assert cells == 40
    # d = 20 and d = 5 have ten cells each, of which n = 20 and n = 50 are on the other lines too
    assert "below all three in 30 of 40 cells, by more than 2 standard errors in 20;" in verdicts[MOST].evidence
    assert "above one of them by as much in 10;" in verdicts[MOST].evidence
    assert "cells, by more than 2 standard errors in 28; above it by as much in 0;" in verdicts[BEYOND].evidence


def test_what_is_missing_is_not_judged():
    findings = made_up()
    keys = [setting.key for setting in findings.where(bandwidth="median")]
    part = Findings(findings.settings, {key: findings.trials[key] for key in keys[:-1]})
    section = FIGURE.section(part)
    assert {one.outcome for one in section.verdicts} == {NOT_MEASURED}
    assert section.verdicts[0].evidence == "4 of 160 trials are missing"
    assert len(section.charts) == 2
    assert not FIGURE.section(Findings(findings.settings, {})).charts


def test_gaps_and_shares_of_a_cell():
    findings = made_up()
    cell = Cell(findings, findings.settings[0])
    assert cell.share("MKME") == pytest.approx(3 / 3.2)
    assert cell.shortfall("MKME", 0.5).mean == pytest.approx(7.0 - (10.0 + 6.8) / 2)
    assert cell.relative("MKME", "KME").mean == pytest.approx(-0.3)
    grid = Grid.of(findings, findings.where(bandwidth="median"))
    assert grid.share(ORACLE) == pytest.approx(1.0)
    assert [c.d for c in grid.line("n", 50)] == list(DIMENSIONS)


INDEPENDENT = {
    10: {"KME": 0.0311, "S-KMSE": 0.0295, "F-KMSE": 0.0299, "MKME": 0.0293, "MMKME": 0.0295},
    20: {"KME": 0.0182, "S-KMSE": 0.0176, "F-KMSE": 0.0178, "MKME": 0.0176, "MMKME": 0.0176},
}
"""Mean losses on 30 other draws by another program; d = 20, squared median."""


def losses_of_trials(n, rule, trials):
    setting = Setting({"bandwidth": rule, "n": n, "d": 20}, trials)
    runs = [FIGURE.trial(setting, FIGURE.generator(setting, number, 0), Context(no_data)) for number in range(trials)]
    return Cell(Findings((setting,), {setting.key: runs}), setting)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20])
def test_losses_meet_those_of_an_independent_program(n):
    cell = losses_of_trials(n, "median", 120)
    for name, figure in INDEPENDENT[n].items():
        # the spread of a mean of 30 draws, besides that of these 120
        spread = cell.values(name).std(ddof=1) * np.sqrt(1 / 30 + 1 / 120)
        assert abs(cell.mean(name) - figure) < 2.5 * spread, name
        if name != "KME":  # paired with KME the ratios are known much better than the losses
            ratio = cell.relative(name, "KME")
            assert abs(1 + ratio.mean - figure / INDEPENDENT[n]["KME"]) < 2.5 * ratio.error * np.sqrt(5), name


@pytest.mark.slow
def test_losses_of_the_narrow_kernel_meet_those_of_an_independent_program():
    cell = losses_of_trials(10, "median-unsquared", 60)
    assert cell.mean("KME") == pytest.approx(0.098, abs=0.001)
    for name in ("S-KMSE", "F-KMSE", "MKME", "MMKME"):
        assert cell.mean(name) == pytest.approx(0.008, abs=0.001)
