"""Errata and theory: references by brute force, contradictions found in tables, rules on both of their sides."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from kernelmean_paper import Context, Finding, Findings, Setting, Size, contradictions, paper, theory, theory_report
from kernelmean_paper.brute_force import Case
from kernelmean_paper.errata import ERRATA, Triple, relative_errors
from kernelmean_paper.experiment_names import load
from kernelmean_paper.one_column import INFLATIONS, inflated
from kernelmean_paper.sources import Sources
from kernelmean_paper.theorems import CHECKS, Theorems
from kernelmean_paper.theorems_report import COLUMN, OVER_DISTRIBUTIONS, report, upper_bound

CONTEXT = Context(Sources(online=False).load)


@pytest.fixture(scope="module")
def measured() -> Findings:
    """Two trials of every check; more of the losses, and those of the HSIC table as if they were forty."""
    experiment, counts = Theorems(), {"risk": 12}
    asked = experiment.settings(Size.QUICK)
    settings = tuple(Setting(one.values, min(one.trials, counts.get(str(one.values["check"]), 2))) for one in asked)
    trials = {
        one.key: [experiment.trial(one, experiment.generator(one, k, 0), CONTEXT) for k in range(one.trials)]
        * (20 if one.values["check"] == COLUMN else 1)
        for one in settings
    }
    return Findings(settings, trials)


def changed(findings: Findings, check: str, method: str, value: float) -> Findings:
    """Return the findings with other values of a method in a check."""
    keys = {one.key for one in findings.where(check=check)}
    trials = {
        key: [
            [Finding(f.method, f.measure, value) if key in keys and f.method == method else f for f in trial]
            for trial in found
        ]
        for key, found in findings.trials.items()
    }
    return Findings(findings.settings, trials)


def outcomes(findings: Findings) -> dict[str, str]:
    return {one.claim: one.outcome for one in report("Title", findings).verdicts}


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda one: one.name)
def test_brute_force_finds_the_corrected_formula_and_not_the_printed_one(erratum) -> None:
    triples = [erratum.measure(np.random.default_rng([7, k])) for k in range(3)]
    printed, corrected = relative_errors(triples)
    assert corrected < 0.01
    assert printed > 0.05
    assert all(side.shape == (erratum.size,) for triple in triples for side in astuple(triple))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [-1.0, 0.0, 3.0], ids=["wrong_sign", "no_correction", "d_times"])
@pytest.mark.parametrize("theorem", ["Theorem 1", "Theorem 2"])
def test_wrong_corrections_of_weights_fail(measured: Findings, theorem: str, factor: float) -> None:
    check = f"weights of {theorem}"
    (setting,) = measured.where(check=check)
    wrong = [
        [Finding(f.method, f.measure, f.value * factor if f.method == "corrected" else f.value) for f in trial]
        for trial in measured.trials[setting.key]
    ]
    found = outcomes(Findings(measured.settings, {**measured.trials, setting.key: wrong}))
    failed = [claim for claim, outcome in found.items() if outcome == "fails"]
    assert len(failed) == 1
    assert theorem in failed[0]


def test_mending_only_the_factor_two_of_the_theorems_is_seen_to_be_wrong() -> None:
    for erratum in ERRATA:
        if "but for the factor 2" in erratum.name:
            triples = [erratum.measure(np.random.default_rng([8, k])) for k in range(3)]
            assert all(np.linalg.norm(triple.printed) < 0.1 for triple in triples)
            assert relative_errors(triples)[0] > 0.9


def test_the_references_are_what_they_are_called() -> None:
    case = Case.random(np.random.default_rng(0))
    x = case.points[0]
    variances = np.array([0.3, 0.1, 0.5])
    assert case.expected(lambda z: z[:, 0] ** 2 * z[:, 1] ** 4, np.zeros(3), variances) == pytest.approx(
        0.3 * 3 * 0.1**2
    )
    np.testing.assert_allclose(
        case.second_derivatives(lambda z: z[0] ** 3 + 2 * z[1] ** 2, x), [6 * x[0], 4, 0], atol=1e-8
    )
    weights = case.brute_weights(np.zeros(3))
    np.testing.assert_allclose(weights, np.full(6, 1 / 6))


def test_bold_faces_are_compared_with_the_numbers() -> None:
    table = paper.PrintedTable.read("right 1 2 *.5 3 4\nwrong *1 2 .5 3 4\ntwo *1 2 *.5 3 4")
    assert contradictions.wrong_bold(table) == {
        "wrong": (frozenset({"KME"}), frozenset({"F-KMSE"})),
        "two": (frozenset({"KME", "F-KMSE"}), frozenset({"F-KMSE"})),
    }
    assert set(contradictions.wrong_bold(table, lowest=False)) == {"right", "wrong", "two"}
    assert contradictions.won_by_others(table) == ["right", "wrong", "two"]


def test_shares_of_trials_and_falling_powers_are_found() -> None:
    table = paper.PrintedTable.read("0.05 0.1 .1 .2 .3 .4 *.5\n0.10 0.1 .1 .15 .3 .405 *.51")
    assert contradictions.impossible_shares(table, 10) == [
        ("0.10 0.1", "S-KMSE", 0.15),
        ("0.10 0.1", "MKME", 0.405),
        ("0.10 0.1", "MMKME", 0.51),
    ]
    assert contradictions.impossible_shares(table, 200) == []
    assert contradictions.falling_power(table) == [("0.10 0.1", "S-KMSE", 0.2, 0.15)]
    assert contradictions.equal_cells(table, "KME", "S-KMSE") == []


def test_named_exceptions_are_no_contradiction() -> None:
    table = paper.PrintedTable.read("glass 1 2 3 4 5\nspecft 3 1 2 4 5\nwine 3 4 5 1 2")
    assert contradictions._exceptions(table).cells == ()


def test_equal_columns_are_duplicates_only_if_no_others_are() -> None:
    table = paper.PrintedTable.read("0.05 0.1 .1 .2 .3 .1 .5\n0.05 0.2 .1 .2 .3 .15 .5")
    assert contradictions._duplicates(table).cells == ("α = 0.05, η = 0.1: 0.100 of both",)
    both = paper.PrintedTable.read("0.05 0.1 .1 .3 .3 .1 .5\n0.05 0.2 .1 .2 .3 .15 .5")
    assert contradictions._duplicates(both).cells == ()
    throughout = paper.PrintedTable.read("0.05 0.1 .1 .2 .3 .1 .5\n0.05 0.2 .1 .2 .3 .1 .5")
    assert contradictions._duplicates(throughout).cells == ()


@pytest.mark.parametrize(("found", "beyond"), [(1.5, 0.0), (2.0, 0.0), (2.5, 0.5), (0.75, 0.25)])
def test_numbers_beyond_their_neighbors(found: float, beyond: float) -> None:
    assert contradictions.beyond_neighbors({90.0: 2.0, 120.0: 1.0, 10.0: 9.0}, 100.0, found) == beyond


@pytest.mark.parametrize(
    ("scale", "names"), [(0.2, "KME S-KMSE F-KMSE MKME MMKME"), (1.0, "KME S-KMSE"), (1.3, "KME"), (1.6, "")]
)
def test_sizes_contradict_each_other_beyond_three_errors(scale: float, names: str) -> None:
    setting = Setting({"check": OVER_DISTRIBUTIONS}, 30)
    normal = np.random.default_rng(0).normal(size=30)
    values = scale * (normal - normal.mean()) / normal.std(ddof=1)
    trials = [[Finding(name, "nll", float(one)) for name in paper.ESTIMATORS] for one in values]
    section = report("Title", Findings((setting,), {setting.key: trials}))
    (found,) = (one for one in section.verdicts if one.claim.startswith("Erratum 10"))
    assert found.outcome == ("holds" if names else "fails")
    assert [cell.split(":")[0] for cell in found.evidence.split("; ")[1:]] == names.split()
    assert sum(row[0] == "10" for row in section.tables[0].rows) == len(names.split())


def test_the_contradictions_of_the_paper() -> None:
    bold, text, shares, falls, equal = contradictions.contradictions()
    assert [cell.split(":")[0] for cell in bold.cells] == ["density, glass", "density, australian"]
    assert [cell.split(":")[0] for cell in text.cells] == ["australian", "glass"]
    assert "0.009 is 1.8 trials" in shares.cells[0]
    assert "0.007 is 1.4 trials" in shares.cells[1]
    assert len(falls.cells) == 1
    assert falls.cells[0].startswith("α = 0.10, η = 0.25, KME: 0.170 falls to 0.070 (3.1 standard errors if")
    assert len(equal.cells) == 8
    assert "α = 0.10, η = 0.25: 0.070 of both" in equal.cells


def test_the_risk_is_the_mean_loss_of_samples() -> None:
    law = theory.Law.random(np.random.default_rng(3), dim=2)
    rng, n, variance = np.random.default_rng(4), 4, 0.05 * law.theta**2
    from kernelmean import embed
    from kernelmean.noise import Normal

    samples = (law.mixture.sample(n, rng) for _ in range(400))
    losses = [law.loss(embed(X, law.kernel, noise=Normal(variance))) for X in samples]
    error = np.std(losses) / np.sqrt(len(losses))
    assert abs(np.mean(losses) - law.risk(n, variance)) < 4 * error
    assert error < 0.1 * law.risk(n, variance)
    best, least = law.best(n)
    assert least <= min(law.risk(n, factor * best) for factor in (0.0, 0.5, 0.99, 1.01, 2.0))


@pytest.mark.slow
def test_all_verdicts_hold_on_what_is_measured(measured: Findings) -> None:
    section = report("Title", measured)
    assert {one.outcome for one in section.verdicts} == {"holds"}
    assert len(section.verdicts) == len(ERRATA) + 5 + 3 + 8
    assert len(section.charts) == 4
    assert len(section.tables[0].rows) == len(ERRATA)
    assert f"Of {len(ERRATA)} formulas of the paper (3 of them partly mended" in section.paragraphs[0]
    assert f"contradicts {len(ERRATA)} and" in section.paragraphs[0]
    assert dict(section.settings)["Points of the errata"].startswith(
        "6 standard normal points in 3 columns, θ from 0.8"
    )
    assert len(section.tables[1].rows) == 15 + 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "method", "value", "claim"),
    [
        ("Hessian", "corrected", 1.0, "Erratum 3"),
        ("trace", "printed", None, "Erratum 4, Theorem 2: Σ"),
        ("damping", "Laplacian", 0.5, "Noise multiplies"),
        ("spectral risk", "integral", 0.5, "The risk is an integral"),
        ("slope", "formula", 0.5, "Some noise is better"),
        ("risk", "loss", 1.0, "Losses of samples"),
        ("linear form", "second_order", 0.5, "Corrected, the theorems' weights"),
        ("linear form", "printed", 0.1, "Corrected, the theorems' weights"),
        ("consistency", "fixed σ²", 0.0, "A fixed noise is inconsistent"),
        ("consistency", "best σ²", 1.0, "The best noise falls as 1/n"),
        ("consistency", "MKME", 1.0, "Leave-one-out's noise keeps"),
        (COLUMN, "MMKME", 50.0, "Erratum 9: of one column"),
        (COLUMN, "HSIC", 1.0, "Erratum 9: no noise"),
    ],
    ids=lambda one: str(one).replace(" ", "_"),
)
def test_verdicts_fail_on_the_other_side_of_their_rules(
    measured: Findings, check: str, method: str, value: float | None, claim: str
) -> None:
    if value is None:
        value = float(measured.values(measured.where(check=check)[0], "reference", "E|x̃-x|²")[0])
        measured = changed(changed(measured, check, "reference", value), check, "corrected", value)
    found = outcomes(changed(measured, check, method, value))
    failed = [one for one, outcome in found.items() if outcome == "fails"]
    assert len(failed) == 1
    assert failed[0].startswith(claim)


@pytest.mark.slow
def test_words_and_charts_follow_the_findings(measured: Findings) -> None:
    (told,) = theory_report.words(measured)
    assert "in 2 of 2 distributions drawn" in told
    (other,) = theory_report.words(changed(measured, "slope", "formula", 0.5))
    assert "in 0 of 2 distributions drawn" in other
    charts = {one.name: one for one in theory_report.charts(changed(measured, "damping", "Laplacian", 0.5))}
    assert "ratio from exp(-σ²ω²/2) is 0.5." in charts["theorems_damping"].text
    assert "Laplacian 0.5" in charts["theorems_damping"].text
    assert "inconsistent" not in charts["theorems_consistency"].title


def test_two_trials_cannot_bound_a_power_but_sixty_can() -> None:
    setting = Setting({"check": COLUMN}, 60)
    pairs = [inflated(one, two) for one in INFLATIONS for two in INFLATIONS]
    trial = [Finding(name, f"σ² of {side}", 0.1) for name in ("MKME", "MMKME") for side in "xy"]
    quiet = [*trial, *(Finding("HSIC", pair, 0.0) for pair in pairs)]
    loud = [*trial, *(Finding("HSIC", pair, float(pair == pairs[5])) for pair in pairs)]
    for trials, outcome in ([quiet] * 60, "holds"), ([quiet] * 30 + [loud] * 30, "holds"), ([loud] * 60, "fails"):
        found = outcomes(Findings((setting,), {setting.key: trials}))
        assert found["Erratum 9: no noise on x and y gives the printed power of MMKME at η = 0.30, α = 0.05"] == outcome


def test_upper_bounds_are_exact() -> None:
    from scipy.stats import binom

    bound = upper_bound(3, 40, 0.01)
    assert binom.cdf(3, 40, bound) == pytest.approx(0.01)
    assert upper_bound(40, 40, 0.01) == 1.0


def test_nothing_measured_is_no_error_and_no_verdict_of_measurements() -> None:
    settings = tuple(Theorems().settings(Size.FULL))
    section = report("Title", Findings(settings, {}))
    assert [one.outcome for one in section.verdicts].count("holds") == 5
    assert [one.outcome for one in section.verdicts].count("not measured") == len(ERRATA) + 3 + 8
    assert not section.charts


def test_settings_of_both_sizes_are_the_same_and_data_are_asked_for() -> None:
    experiment = load("theorems")
    quick, full = (experiment.settings(size) for size in Size)
    assert [one.key for one in quick] == [one.key for one in full]
    assert all(one.trials <= many.trials for one, many in zip(quick, full, strict=True))
    assert {one.values["check"] for one in quick} == {*CHECKS, theory_report.CONSISTENCY}
    assert [experiment.needs(one) for one in quick if experiment.needs(one)] == [("eckerle4",)]


def test_relative_errors_are_in_units_of_the_reference() -> None:
    assert relative_errors([Triple.of([1.0, 0.0], [2.0, 0.0], [2.0, 0.0]), Triple.of(-1.0, -2.0, -2.0)]) == (0.5, 0.0)
