"""The test that runs where nobody chose a kernel or an estimator: adaptive wherever it is exact."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

import kernelmean as km
from checkered import mostly_slow
from kernelmean.inference import Adaptive, Member, PairMember
from kernelmean.inference.questions import base
from kernelmean.inference.units import unit_sums
from kernelmean.kernels import Gaussian, Linear, Polynomial
from kernelmean.tables import limits
from null_data import NullData, check_level, points


def tables(n, many, dim=2):
    return tuple(np.random.default_rng(seed).normal(size=(n, dim)) for seed in range(many))


STRATA = np.arange(24) % 3
CALLS = {
    "two samples": lambda **how: km.mmd_test(*tables(24, 2), **how),
    "pairs of samples": lambda **how: km.mmd_test(*tables(24, 2), design=km.Design(paired=True), **how),
    "strata": lambda **how: km.mmd_test(*tables(24, 2), design=km.Design(strata=(STRATA, STRATA)), **how),
    "several samples": lambda **how: km.k_sample_test(*tables(24, 3), **how),
    "independence": lambda **how: km.hsic_test(*tables(24, 2), **how),
    "independence within strata": lambda **how: km.hsic_test(*tables(24, 2), design=km.Design(strata=STRATA), **how),
    "joint independence": lambda **how: km.dhsic_test(*tables(24, 3), **how),
}


@pytest.mark.parametrize("name", CALLS)
def test_nobodys_choice_is_adaptive(name):
    plain, chosen = CALLS[name](rng=0), CALLS[name](rng=0, estimator="adaptive")
    assert plain.pvalue == chosen.pvalue
    assert plain.members == chosen.members
    assert plain.members
    assert "adaptive" in plain.method.lower()
    assert CALLS[name](rng=0, estimator="kme").members == ()


@pytest.mark.parametrize("name", CALLS)
def test_units_of_columns_do_not_matter(name, monkeypatch):
    before = CALLS[name](rng=0)
    monkeypatch.setitem(globals(), "tables", lambda n, many: tuple(own * [1.0, 1024.0] for own in tables_of(n, many)))
    assert CALLS[name](rng=0).pvalue == before.pvalue
    assert before.notes == CALLS[name](rng=0).notes


tables_of = tables


BY_LABELS = "strata", "several samples"
IN_BINS = "two samples", "independence", "pairs of samples", *BY_LABELS
IN_MEMORY = "independence within strata"  # with any number of rows


@pytest.mark.parametrize("name", BY_LABELS)
def test_many_rows_whose_labels_change_have_features_fitted_to_some(name, monkeypatch):
    few = CALLS[name](rng=0)
    monkeypatch.setattr(base, "MOST_PILOT", 40)
    monkeypatch.setattr(base, "PILOT", 30)
    found = CALLS[name](rng=0)
    assert found.notes == (*few.notes, "features fitted to 30 rows drawn from all")
    assert found.members
    assert found.pvalue != few.pvalue


@pytest.mark.slow
@pytest.mark.parametrize(("law", "weighted"), [("ties", False), ("heavy tails", True)])
def test_the_level_of_features_that_are_fitted_to_some_rows(law, weighted, monkeypatch):
    """Over the seeds, which draw the rows: one of them may favor a sample."""
    monkeypatch.setattr(base, "MOST_PILOT", 40)
    monkeypatch.setattr(base, "PILOT", 20)
    rng = np.random.default_rng(6)

    def draw():
        samples = tuple(points(law, n, rng, 2) for n in (25, 35))
        design = km.Design(weights=tuple(rng.uniform(0.2, 3.0, len(own)) for own in samples)) if weighted else None
        return NullData(km.mmd_test, samples, design)

    check_level(draw, 50, tied=law == "ties", n_resamples=39, rng=rng)


@pytest.mark.parametrize("ties", [False, True])
def test_features_that_are_fitted_to_all_rows_are_those_of_the_usual_test(ties, monkeypatch):
    """Over all arrangements of few rows, which nothing is drawn for."""
    X, Y, Z = (np.round(own) if ties else own for own in tables(4, 3))
    center = np.arange(4) // 2
    calls = {
        8: [lambda: km.mmd_test(X, Y), lambda: km.mmd_test(X, Y, design=km.Design(strata=(center, center)))],
        9: [lambda: km.k_sample_test(X[:3], Y[:3], Z[:3], n_resamples=1679)],
    }
    calls[8] += [
        lambda: km.mmd_test(X, Y, design=km.Design(weights=(center + 1.0, center + 0.5))),
        lambda: km.mmd_test(X, Y, design=km.Design(clusters=([1, 1, 2, 3], [4, 5, 5, 5]))),
    ]
    for n, tests in calls.items():
        for test in tests:
            usual = test()
            with monkeypatch.context() as patch:
                patch.setattr(base, "MOST_PILOT", n - 1)
                patch.setattr(base, "PILOT", n)
                patch.setattr(unit_sums, "_TILE", 3)
                drawn = test()
            assert (usual.scheme, drawn.scheme, drawn.pvalue) == ("exact", "exact", usual.pvalue)
            np.testing.assert_allclose(drawn.null_distribution, usual.null_distribution, rtol=0, atol=1e-8)
            found, expected = ([own.statistic for own in result.members] for result in (drawn, usual))
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in (*IN_BINS, IN_MEMORY)])
def test_many_rows_take_one_kernel_and_say_so(name, monkeypatch):
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 23)
    found, plain = CALLS[name](rng=0), CALLS[name](rng=0, estimator="kme")
    assert (found.pvalue, found.statistic, found.members) == (plain.pvalue, plain.statistic, ())
    assert any("the adaptive test" in note and "was not run" in note for note in found.notes)
    assert CALLS[name](rng=0, estimator="adaptive").members


@pytest.mark.parametrize("name", IN_BINS)
def test_many_rows_are_added_up_in_bins_which_is_said(name, monkeypatch):
    few, asked = CALLS[name](rng=0), CALLS[name](rng=0, scheme="bins")
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 23)
    found, chosen = CALLS[name](rng=0), CALLS[name](rng=0, estimator="adaptive")
    for own in (found, chosen):
        assert (own.pvalue, own.statistic, own.members) == (asked.pvalue, asked.statistic, asked.members)
        assert own.scheme == asked.scheme
        assert own.notes[-1].endswith("beyond 23 rows") == (own.scheme == "bins")
    assert few.scheme != "bins"
    assert asked.scheme == ("random" if name in ("strata", "pairs of samples") else "bins")  # so few units are no bins
    assert found.members
    assert asked.notes == (found.notes[:-1] if found.scheme == "bins" else found.notes)
    assert CALLS[name](rng=0, estimator="kme").scheme != "bins"
    assert CALLS[name](rng=0, scheme="random").scheme == "random"


def test_a_kernel_is_the_plain_test():
    X, Y = tables(24, 2)
    assert km.mmd_test(X, Y, kernel=Gaussian(1.0), rng=0).kernel == Gaussian(1.0)
    assert km.hsic_test(X, Y, kernel=Gaussian(1.0), rng=0).members == ()


def test_time_series_have_one_kernel():
    X, Y = tables(24, 2)
    for test in (km.mmd_test, km.hsic_test):
        assert test(X, Y, design=km.Design(series=2), rng=0).members == ()
        with pytest.raises(ValueError, match="adaptive"):
            test(X, Y, design=km.Design(series=2), estimator="adaptive")


# -- several samples -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", ["u", "v"])
def test_two_samples_are_a_special_case(statistic):
    X, Y = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([[2.0], [9.0], [20.0]])
    members = (Member("data", Gaussian(1.0)), Member("ranks", Linear(), 2.0), Member("data", Gaussian(0.5), ridge=0.1))
    for estimator in ("adaptive", Adaptive(members=members)):
        two = km.mmd_test(X, Y, estimator=estimator, statistic=statistic)
        several = km.k_sample_test(X, Y, estimator=estimator, statistic=statistic)
        assert (two.scheme, several.scheme) == ("exact", "exact")
        assert several.pvalue == pytest.approx(two.pvalue, abs=1e-12)
        assert several.pairs[0].pvalue == several.pvalue
        for own, other in zip(several.members, two.members, strict=True):
            assert own.statistic == pytest.approx(other.statistic, rel=1e-9, abs=1e-12)


def test_pairs_of_samples_are_combined_like_the_whole():
    samples = tables(6, 3)
    samples[2][:] += 4.0
    found = km.k_sample_test(*samples, rng=0)
    near, *far = found.pairs
    assert (near.first, near.second) == (0, 1)
    assert near.pvalue > 0.05 > max(pair.pvalue for pair in far)
    assert all(pair.adjusted >= pair.pvalue for pair in found.pairs)


@pytest.mark.parametrize("kind", mostly_slow(["normal", "ties"], "ties"))
def test_several_samples_over_all_labelings(kind):
    points = np.random.default_rng(3).normal(size=(6, 2))
    points = np.round(points) if kind == "ties" else points
    labelings = {tuple(labels) for labels in permutations([0, 0, 1, 1, 2, 2])}
    pvalues = []
    for labels in sorted(labelings):
        samples = [points[np.array(labels) == g] for g in range(3)]
        pvalues.append(km.k_sample_test(*samples, statistic="v").pvalue)
    ranks = np.round(np.array(pvalues) * 90)
    assert all((ranks <= level).sum() <= level for level in range(1, 91))
    assert ranks.min() <= 6 or kind == "ties"


# -- joint independence --------------------------------------------------------------------------------------------


def dhsic(grams):
    """The definition, Pfister et al. (2018)."""
    together = np.prod(grams, axis=0).mean()
    apart = np.prod([gram.mean() for gram in grams])
    return together + apart - 2 * np.prod([gram.mean(axis=1) for gram in grams], axis=0).mean()


def test_joint_members_are_plain_kernels_in_units_of_the_spread():
    variables = tables(4, 3, dim=1)
    found = km.dhsic_test(*variables)
    assert found.n_resamples + 1 == 576
    quartiles = [np.diff(np.quantile(own, [0.25, 0.75])) for own in variables]
    scaled = [(own - own.mean()) / width for own, width in zip(variables, quartiles, strict=True)]
    scaled = [own / km.median_bandwidth(own) for own in scaled]
    kernels = Polynomial(1, 1.0), Gaussian(2.0), Gaussian(1.0), Gaussian(0.25)
    assert [member.statistic for member in found.members] == pytest.approx(
        [dhsic([kernel(own, own) for own in scaled]) for kernel in kernels], rel=1e-9
    )


@pytest.mark.parametrize("kind", mostly_slow(["normal", "ties"], "ties"))
def test_joint_independence_over_all_pairings(kind):
    x, y, z = (np.round(own) if kind == "ties" else own for own in tables(4, 3, dim=1))
    orders = list(product(map(list, permutations(range(4))), repeat=2))[::29]
    pvalues = np.array([km.dhsic_test(x, y[own], z[other]).pvalue for own, other in orders])
    everything = km.dhsic_test(x, y, z)
    reference = np.append(everything.null_distribution, everything.statistic)
    statistics = np.array([km.dhsic_test(x, y[own], z[other]).statistic for own, other in orders])
    slack = everything.tolerance
    expected = [(reference >= value - slack).mean() for value in statistics]
    np.testing.assert_allclose(pvalues, expected, atol=1e-12)


def test_joint_members_that_cannot_be():
    variables = tables(8, 3)
    pair = PairMember(Member("data", Linear()), Member("data", Linear()))
    with pytest.raises(TypeError, match="one kernel for all variables"):
        km.dhsic_test(*variables, estimator=Adaptive(members=[pair]))
    for member in (Member("data", Gaussian(1.0), ridge=0.1), Member("axes", Linear())):
        with pytest.raises(ValueError, match="joint independence takes kernels as they are"):
            km.dhsic_test(*variables, estimator=Adaptive(members=[member]))
    ranks = km.dhsic_test(*variables, estimator=Adaptive(members=[Member("ranks", Gaussian(1.0))]), rng=0)
    cubes = [own**3 for own in variables]
    again = km.dhsic_test(*cubes, estimator=Adaptive(members=[Member("ranks", Gaussian(1.0))]), rng=0)
    assert again.pvalue == ranks.pvalue


# -- filters and designs ------------------------------------------------------------------------------------------


def test_filters_count_in_designs_of_many_rows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1100, 1)), rng.normal(size=(1100, 1))
    kernel = Member("data", Gaussian(1.0), ridge=0.01)
    both = Adaptive(members=[PairMember(kernel, kernel)])
    one = km.hsic_test(X, Y, estimator=both, rng=0, n_resamples=9)
    within = km.hsic_test(
        X, Y, estimator=both, rng=0, n_resamples=9, design=km.Design(strata=np.zeros(1100, dtype=int))
    )
    assert within.members[0].statistic == pytest.approx(one.members[0].statistic, rel=1e-9)
