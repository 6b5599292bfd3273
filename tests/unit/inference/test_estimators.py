"""Estimators in tests: every one against its definition over all permutations, and what must not change a p-value."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean.estimators import FKMSE, NAMED, SKMSE, Cutoff, IteratedRidge, Landweber, Ridge
from kernelmean.expected import expected
from kernelmean.kernels import Gaussian, Laplacian, Polynomial
from nulls import packed

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(14, 3)) * [1.0, 2.0, 0.5], RNG.normal(size=(11, 3)) + 0.4
POOLED = np.concatenate([X, Y])
FEW = RNG.normal(size=(4, 2)), RNG.normal(size=(5, 2)) * 1.3 + 0.5
NUMBERS = RNG.normal(size=(5, 1))
PAIRS = NUMBERS, np.hstack([NUMBERS**2, NUMBERS]) + 0.4 * RNG.normal(size=(5, 2))


def tied(kernel="gaussian", **options):
    return km.KernelMean(kernel, noise="isotropic", contraction="tied", **options)


# -- definitions: slow and literal ------------------------------------------------------------------------------------


def unbiased_mmd(E, n):
    within = [(block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in (E[:n, :n], E[n:, n:])]
    return sum(within) - 2 * E[:n, n:].mean()


def squared_distance(means, kind):
    """|μ_X - μ_Y|² from the matrices of all expectations; "u" leaves out the diagonals."""
    total = 0.0
    for sign, left, right in ((1, 0, 0), (1, 1, 1), (-2, 0, 1)):
        a, b = means[left], means[right]
        terms = np.outer(a.weights, b.weights) * expected(a.kernel, a.points, b.points, a.noise, b.noise)
        whole = kind == "v" or left != right
        n = len(terms)
        total += sign * (terms.sum() if whole else (terms.sum() - np.trace(terms)) * n / (n - 1))
    return total


def over_all_labelings(first, second, fit, kind):
    """The statistic of every division of the pooled rows, the observed one first."""
    pooled, everyone = np.concatenate([first, second]), np.arange(len(first) + len(second))
    divisions = [(np.array(chosen), np.setdiff1d(everyone, chosen)) for chosen in combinations(everyone, len(first))]
    return np.array([squared_distance([fit(pooled[i]) for i in division], kind) for division in divisions])


def reestimated(make, kernel):
    return lambda rows: make(kernel).fit(rows).embedding_


def with_parameters(make, kernel, rows):
    """The estimate with the strength and the noise that the pooled rows have."""
    found = make(kernel).fit(rows)
    if found.filter not in (None, "scale"):
        return lambda own: km.KernelMean(kernel, filter=found.filter, strength=found.strength_).fit(own).embedding_
    scale = 1.0 if found.strength_ is None else 1 / (1 + found.strength_)
    return lambda own: scale * km.embed(own, kernel, noise=found.noise_)


def pvalue(values):
    return np.mean(values >= values[0] - 1e-7 * np.ptp(values))


def agrees(result, values, tolerance=2e-6):
    np.testing.assert_allclose(
        [result.statistic, *result.null_distribution], values, rtol=0, atol=tolerance * np.ptp(values) + 1e-12
    )
    assert result.scheme == "exact"
    assert result.pvalue == pytest.approx(pvalue(values), abs=1e-12)


# -- two samples ------------------------------------------------------------------------------------------------------

EACH = {
    "s-kmse": ("s-kmse", SKMSE),
    "f-kmse": ("f-kmse", FKMSE),
    "f-kmse, polynomial": (FKMSE(Polynomial(2, 1.0)), FKMSE),
    "s-kmse, polynomial": (SKMSE(Polynomial(2, 1.0)), SKMSE),
    "fixed ridge": (FKMSE(strength=0.2), lambda k: FKMSE(k, strength=0.2)),
    "fixed scale": (SKMSE(strength=0.2), lambda k: SKMSE(k, strength=0.2)),
}


def kernel_in(estimator, pooled):
    own = getattr(estimator, "kernel", "gaussian")
    return Gaussian(float(km.median_bandwidth(pooled))) if own == "gaussian" else own


@pytest.mark.parametrize(("name", "kind"), checkered(list(EACH), ["u", "v"]))
def test_an_estimate_of_each_sample_is_fitted_anew_under_every_labeling(name, kind):
    estimator, make = EACH[name]
    sizes = {"s-kmse": (4, 5), "f-kmse": (3, 4)}.get(name, (2, 4))  # unequal, so that no order is changed
    first, second = FEW[0][: sizes[0]], FEW[1][: sizes[1]]
    kernel = kernel_in(estimator, np.concatenate([first, second]))
    result = km.mmd_test(first, second, estimator=estimator, statistic=kind)
    agrees(result, over_all_labelings(first, second, reestimated(make, kernel), kind), tolerance=1e-5)


POOLED_FITS = {
    "iterated ridge": (km.KernelMean(filter=IteratedRidge(2)), lambda k: km.KernelMean(k, filter=IteratedRidge(2))),
    "cutoff": (km.KernelMean(filter=Cutoff()), lambda k: km.KernelMean(k, filter=Cutoff())),
    "mkme": ("mkme", km.MKME),
    "shrunk mkme": (
        km.KernelMean(noise="isotropic", filter="scale"),
        lambda k: km.KernelMean(k, noise="isotropic", filter="scale"),
    ),
}


@pytest.mark.parametrize(("name", "kind"), checkered(list(POOLED_FITS), ["u", "v"]))
def test_parameters_of_the_pooled_sample_hold_under_every_labeling(name, kind):
    estimator, make = POOLED_FITS[name]
    first, second = FEW
    pooled = np.concatenate(FEW)
    fit = with_parameters(make, kernel_in(estimator, pooled), pooled)
    result = km.mmd_test(first, second, estimator=estimator, statistic=kind)
    agrees(result, over_all_labelings(first, second, fit, kind))


def test_simple_shrinkage_by_a_given_strength_changes_no_p_value():
    plain, shrunk = (
        km.mmd_test(X, Y, rng=0, estimator="kme"),
        km.mmd_test(X, Y, estimator=SKMSE(strength=0.3), rng=0),
    )
    assert shrunk.pvalue == plain.pvalue
    assert 0 < shrunk.statistic < plain.statistic
    assert any("fitted to the pooled sample" in note for note in shrunk.notes)


@pytest.mark.parametrize(("name", "make"), [("mkme", km.MKME), ("mmkme", km.MMKME)])
def test_the_statistic_is_the_marginalized_mmd_of_the_pooled_noise(name, make):
    fitted = make().fit(POOLED)
    E = expected(fitted.kernel_, POOLED, POOLED, fitted.noise_, fitted.noise_)
    result = km.mmd_test(X, Y, estimator=name, rng=0)
    assert result.statistic == pytest.approx(unbiased_mmd(E, len(X)), rel=1e-9)
    np.testing.assert_allclose(result.noise.covariance, fitted.noise_.covariance, rtol=1e-6)


def test_an_estimator_brings_its_own_kernel_and_noise():
    kernel = Laplacian(1.3)
    noise = km.noise.Uniform(0.4)
    result = km.mmd_test(X, Y, estimator=km.KernelMean(kernel, noise=noise), rng=0)
    E = expected(kernel, POOLED, POOLED, noise, noise)
    assert result.statistic == pytest.approx(unbiased_mmd(E, len(X)), rel=1e-9)
    plain = km.mmd_test(X, Y, estimator=km.KME(Gaussian(0.7)), rng=0)
    assert plain.kernel == Gaussian(0.7)


def test_estimators_bring_a_kernel_for_either_variable():
    for estimator in ("kme", "s-kmse", "f-kmse", "mkme"):
        assert km.mmd_test(*FEW, estimator=NAMED[estimator](Laplacian, bandwidth=0.9)).kernel is not None
    assert km.mmd_test(*FEW, estimator=FKMSE(Laplacian, bandwidth=0.9)).kernel == Laplacian(0.9)
    assert km.hsic_test(*PAIRS, estimator=(FKMSE(bandwidth=0.5), FKMSE(bandwidth=0.7))).kernel == (
        Gaussian(0.5),
        Gaussian(0.7),
    )


def test_many_rows_are_fitted_on_some_and_the_result_says_so():
    big = np.random.default_rng(1).normal(size=(1400, 2))
    result = km.mmd_test(big[:700], big[700:], estimator="mkme", n_resamples=99, rng=0)
    assert any("noise of the pooled sample: fitted to 1000 of 1400 rows" in note for note in result.notes)


# -- pairs ------------------------------------------------------------------------------------------------------------


def centered(gram):
    H = np.eye(len(gram)) - 1 / len(gram)
    return H @ gram @ H


def scose(M):
    n, h, delta = len(M), M.mean(), np.trace(M) / len(M)
    return max(1 - (delta - h) / ((n - 2) * h + delta / n), 0.0) ** 2 * h


def leave_one_out(M, strength):
    n, total = len(M), 0.0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        own = M[np.ix_(rest, rest)]
        beta = np.linalg.solve(own + strength * np.eye(n - 1), own.mean(axis=1))
        total += M[i, i] - 2 * beta @ M[rest, i] + beta @ own @ beta
    return total / n


def fcose(M, strength=None):
    """βᵀMβ with the λ of the smallest leave-one-out score, found on finer and finer grids; 0 where none beats 0."""
    n, unit = len(M), np.trace(M) / len(M)
    if strength is None:
        grid = unit * np.geomspace(1e-8, 1e3 * n, 60)
        for _ in range(6):
            scores = [leave_one_out(M, x) for x in grid]
            k = int(np.argmin(scores))
            strength, lowest = grid[k], scores[k]
            grid = np.geomspace(grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)], 15)
        if lowest >= unit:
            return 0.0
    beta = np.linalg.solve(M + strength * np.eye(n), M.mean(axis=1))
    return beta @ M @ beta


def over_all_pairings(statistic, grams):
    return np.array([statistic(grams[0], grams[1][np.ix_(p, p)]) for p in permutations(range(len(grams[0])))])


@pytest.mark.parametrize(
    ("estimator", "of_product"),
    [
        ("scose", scose),
        ("s-kmse", scose),
        (SKMSE(strength=0.5), lambda M: M.mean() / 1.5**2),
        (FKMSE(strength=0.02), lambda M: fcose(M, 0.02)),
    ],
    ids=["scose", "s-kmse", "fixed scale", "fixed ridge"],
)
def test_shrunk_hsic_over_all_pairings(estimator, of_product):
    result = km.hsic_test(*PAIRS, estimator=estimator)
    grams = [centered(kernel(points, points)) for kernel, points in zip(result.kernel, PAIRS, strict=True)]
    agrees(result, over_all_pairings(lambda K, Z: of_product(K * Z), grams))


def test_fcose_over_all_pairings():
    tables = PAIRS[0][:4], PAIRS[1][:4]
    result = km.hsic_test(*tables, estimator="fcose")
    grams = [centered(kernel(points, points)) for kernel, points in zip(result.kernel, tables, strict=True)]
    agrees(result, over_all_pairings(lambda K, Z: fcose(K * Z), grams), tolerance=1e-4)  # the score is flat in λ
    alias = km.hsic_test(*tables, estimator="f-kmse")
    np.testing.assert_array_equal(alias.null_distribution, result.null_distribution)


def test_hsic_takes_the_noise_of_each_variable_from_that_variable():
    Z = X[:, :1] ** 2 + 0.1 * np.random.default_rng(1).normal(size=(14, 1))
    grams = []
    for V in (X, Z):
        fitted = km.MKME().fit(V)
        grams.append(centered(expected(fitted.kernel_, V, V, fitted.noise_, fitted.noise_)))
    result = km.hsic_test(X, Z, estimator="mkme", rng=0)
    assert result.statistic == pytest.approx(np.trace(grams[0] @ grams[1]) / 14**2, rel=1e-7)
    shrunk = km.hsic_test(X, Z, estimator=km.KernelMean(noise="isotropic", filter="scale"), rng=0)
    assert shrunk.statistic == pytest.approx(scose(grams[0] * grams[1]), rel=1e-7)


# -- what must not change a p-value -----------------------------------------------------------------------------------

TWO_SAMPLE_CALLS = {
    "s-kmse": {"estimator": "s-kmse"},
    "f-kmse": {"estimator": "f-kmse"},
    "f-kmse, fixed": {"estimator": FKMSE(strength=0.1)},
    "mkme": {"estimator": "mkme"},
    "landweber": {"estimator": km.KernelMean(filter=Landweber())},
}
PAIR_CALLS = {
    "scose": {"estimator": "scose"},
    "fcose": {"estimator": "fcose"},
    "mkme": {"estimator": "mkme"},
}


@pytest.mark.parametrize("name", TWO_SAMPLE_CALLS)
def test_swapping_shifting_and_rescaling_two_samples(name):
    call = {"n_resamples": 19, "rng": 3, **TWO_SAMPLE_CALLS[name]}
    plain, swapped = km.mmd_test(X, Y, **call), km.mmd_test(Y, X, **call)
    assert (swapped.statistic, swapped.pvalue) == (plain.statistic, plain.pvalue)
    for factor, offset in ((8.0, 4.0), (1e-3, 7.0)):
        other = km.mmd_test(factor * X + offset, factor * Y + offset, **call)
        assert other.pvalue == plain.pvalue
        assert other.statistic == pytest.approx(plain.statistic, rel=1e-5)


@pytest.mark.parametrize("estimator", ["s-kmse", "f-kmse", FKMSE(strength=0.1), "mkme", "mmkme"], ids=str)
def test_constant_samples_have_p_one(estimator):
    for sizes in ((4, 5), (60, 70)):
        first, second = (np.full((n, 2), 0.1) for n in sizes)
        result = km.mmd_test(first, second, estimator=estimator, n_resamples=19, rng=0)
        assert result.pvalue == 1.0
        assert "constant" in result.notes[0]


@pytest.mark.parametrize("name", PAIR_CALLS)
def test_a_constant_variable_has_p_one(name):
    for n in (5, 40):
        tables = np.linspace(0.0, 1.0, n)[:, None], np.full((n, 2), 0.1)
        for pair in (tables, tables[::-1]):
            result = km.hsic_test(*pair, n_resamples=19, rng=0, **PAIR_CALLS[name])
            assert (result.statistic, result.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize("estimator", ["s-kmse", "f-kmse"])
def test_ties_count(estimator):
    first, second = np.array([[0.0], [1.0], [1.0]]), np.array([[0.0], [0.0], [1.0], [1.0]])
    result = km.mmd_test(first, second, estimator=estimator)
    values = np.array([result.statistic, *result.null_distribution])
    ones = [sum(chosen) for chosen in combinations([0, 1, 1, 0, 0, 1, 1], 3)]
    by_count = {count: values[np.array(ones) == count] for count in set(ones)}
    assert all(np.ptp(same) < result.tolerance for same in by_count.values())
    share = sum(len(same) for same in by_count.values() if same[0] >= values[0] - result.tolerance) / len(values)
    assert result.pvalue == pytest.approx(share)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimator": "mkm"},
            r"estimator is 'mkm'; pass one of 'kme', 's-kmse', 'f-kmse', 'mkme', 'mmkme', 'adaptive'",
        ),
        ({"estimator": "f-kmse", "scheme": "rotations"}, r"scheme is 'rotations'.*one of 'auto', 'exact', 'random'"),
        ({"estimator": "f-kmse", "scheme": "exact"}, r"more than 2,000,000 permutations"),
        ({"estimator": "f-kmse", "n_resamples": 0}, r"n_resamples is 0"),
        ({"estimator": "f-kmse", "statistic": "w"}, r"statistic is 'w'"),
        ({"estimator": "s-kmse", "weights": (np.ones(14), np.ones(11))}, r"do not go with strata, clusters or weights"),
        ({"estimator": km.KernelMean(noise="isotropic", filter="ridge")}, r"pass a fixed noise"),
        ({"estimator": "vpmkme"}, r"estimator is 'vpmkme'; pass one of"),
        ({"estimator": tied()}, r"has a contraction, and tests have none; pass MKME"),
    ],
)
def test_bad_options_for_two_samples(options, message):
    with pytest.raises(ValueError, match=message):
        km.mmd_test(X, Y, **packed(**options))


def test_too_few_rows_and_too_many():
    with pytest.raises(ValueError, match=r"1 and 11 rows: leaving one out needs two.*a number as strength"):
        km.mmd_test(X[:1], Y, estimator="f-kmse", statistic="v")
    assert km.mmd_test(X[:1], Y, estimator=FKMSE(strength=0.1), statistic="v").n_resamples == 11
    big = np.random.default_rng(0).normal(size=(1600, 1))
    with pytest.raises(ValueError, match=r"at most 1000 rows a sample; 1500 were passed; pass estimator='s-kmse'"):
        km.mmd_test(big[:100], big[100:], estimator="f-kmse")
    with pytest.raises(ValueError, match=r"at most 3000 rows a sample; 3100"):
        km.mmd_test(np.tile(big, (2, 1))[:3100], big[:10], estimator=FKMSE(strength=0.1))
    with pytest.raises(ValueError, match=r"FCOSE is solved again.*at most 1000 pairs; 1100.*estimator='scose'"):
        km.hsic_test(big[:1100], big[:1100], estimator="fcose")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "vpmkme"}, r"estimator is 'vpmkme'; pass one of.*'scose', 'fcose'"),
        ({"estimator": "scose", "statistic": "u"}, r"shrunk HSIC is a V-statistic; pass statistic='v'"),
        ({"estimator": "fcose", "statistic": "u"}, r"shrunk HSIC is a V-statistic"),
        ({"estimator": "fcose", "statistic": "w"}, r"statistic is 'w'"),
        ({"estimator": tied()}, r"pass filter='scale' \(SCOSE\) or 'ridge' \(FCOSE\)"),
        ({"estimator": km.KernelMean(filter=Landweber())}, r"pass filter='scale'"),
        ({"estimator": km.KernelMean(filter=Ridge(), criterion="printed")}, r"criterion='loocv'"),
        ({"estimator": (SKMSE(), km.KME())}, r"shrink the pairs differently"),
        ({"estimator": (km.KME(), "adaptive")}, r"an adaptive test has kernels for all variables"),
        ({"estimator": (km.KME(),) * 3}, r"is a tuple of 3; pass one value for all 2 variables"),
        ({"estimator": "scose", "weights": np.ones(14)}, r"does not go with strata, clusters or weights"),
        ({"estimator": "fcose", "scheme": "rotations"}, r"one of 'auto', 'exact', 'random'"),
    ],
)
def test_bad_options_for_pairs(options, message):
    with pytest.raises(ValueError, match=message):
        km.hsic_test(X, X[:, :1], **packed(**options))
