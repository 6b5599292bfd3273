"""Effect sizes and equivalence of two samples with a design: by slow definitions, and by what must not change them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import kernelmean as km
from designs_of_parts import InBoth
from kernelmean.inference.explain.contrast import Contrast
from kernelmean.inference.explain.effects import difference_of_means, squared_noise
from kernelmean.inference.explain.feature_mean import FeatureMean
from kernelmean.inference.explain.samples import DesignedSubject
from kernelmean.plan import DEFAULT

KERNEL = km.kernels.Polynomial(2, 1.0)
rng = np.random.default_rng(1)
X, Y = rng.normal(size=(24, 1)), rng.normal(0.7, 1.2, size=(20, 1))
STRATA = np.repeat([0, 1], [14, 10]), np.repeat([1, 0], [9, 11])
CLUSTERS = (
    np.repeat(np.arange(9), [2, 1, 3, 4, 1, 3, 4, 2, 4]),
    np.repeat(np.arange(9) + 20, [1, 3, 1, 4, 2, 3, 1, 2, 3]),
)
WEIGHTS = rng.uniform(0.5, 2.0, 24), rng.uniform(0.5, 2.0, 20)
DESIGNS: dict[str, km.Design] = {
    "strata": km.Design(strata=STRATA),
    "clusters": km.Design(clusters=CLUSTERS),
    "weights": km.Design(weights=WEIGHTS),
    "strata and weights": km.Design(strata=STRATA, weights=WEIGHTS),
    "clusters and weights": km.Design(clusters=CLUSTERS, weights=WEIGHTS),
    "clusters in strata, and weights": km.Design(strata=STRATA, clusters=CLUSTERS, weights=WEIGHTS),
}


def result_of(design: Any, first: Any = X, second: Any = Y, kernel: Any = KERNEL) -> km.TestResult:
    return km.mmd_test(first, second, kernel=kernel, design=design, statistic="v", n_resamples=1, rng=0)


def effect_of(design: Any, first: Any = X, second: Any = Y) -> Any:
    return difference_of_means(DesignedSubject(result_of(design, first, second).question, KERNEL, DEFAULT))


def features(rows: Any) -> Any:
    """Return (1, √2 x, x²), whose inner products are those of the kernel (1 + x x')²."""
    return np.stack([np.ones(len(rows)), np.sqrt(2.0) * rows[:, 0], rows[:, 0] ** 2], axis=1)


class ByDefinition:
    """The difference within strata, the covariance of its noise and the variance of rows, by loops over units."""

    def __init__(self, design: km.Design) -> None:
        sides = [self.side(design, k, rows) for k, rows in enumerate((X, Y))]
        masses = [{s: sum(w for _, _, w in rows) for s, rows in side.items()} for side in sides]
        shares = {s: masses[0][s] * masses[1][s] / (masses[0][s] + masses[1][s]) for s in masses[0]}
        total = sum(shares.values())
        self.difference, self.variance = np.zeros(3), 0.0
        self.covariances = [np.zeros((3, 3)), np.zeros((3, 3))]
        for (k, side), (s, share) in product(enumerate(sides), shares.items()):
            self.add(k, side[s], masses[k][s], share / total)

    @staticmethod
    def side(design: km.Design, k: int, rows: Any) -> dict[int, list[tuple[int, Any, float]]]:
        n = len(rows)
        strata = np.zeros(n, dtype=int) if design.strata is None else design.strata[k]
        units = np.arange(n) if design.clusters is None else design.clusters[k]
        weights = np.ones(n) if design.weights is None else design.weights[k]
        found: dict[int, list[tuple[int, Any, float]]] = {}
        for s, unit, feature, weight in zip(strata, units, features(rows), weights, strict=True):
            found.setdefault(int(s), []).append((int(unit), feature, float(weight)))
        return found

    def add(self, k: int, rows: list[tuple[int, Any, float]], mass: float, share: float) -> None:
        mean = sum(w * f for _, f, w in rows) / mass
        sums: dict[int, Any] = {}
        parts: dict[int, float] = {}
        for unit, f, w in rows:
            sums[unit] = sums.get(unit, np.zeros(3)) + w / mass * (f - mean)
            parts[unit] = parts.get(unit, 0.0) + w / mass
        second, third = (sum(p**power for p in parts.values()) for power in (2, 3))
        covariance = sum(np.outer(e, e) for e in sums.values()) / (1 - 2 * third / second + second)
        self.difference += (1 - 2 * k) * share * mean
        self.covariances[k] += share**2 * covariance
        lengths = sum(w * f @ f for _, f, w in rows) / mass
        self.variance += share * (lengths - (mean @ mean - np.trace(covariance))) / 2


@pytest.mark.parametrize("name", DESIGNS)
def test_effects_are_those_of_the_definition(name: str) -> None:
    expected, found = ByDefinition(DESIGNS[name]), effect_of(DESIGNS[name])
    noise = [np.trace(covariance) for covariance in expected.covariances]
    np.testing.assert_allclose(found.mean.spreads, noise, rtol=1e-10)
    squared = expected.difference @ expected.difference
    assert found.mean.observed == pytest.approx(squared, rel=1e-10)
    assert found.mean.observed == pytest.approx(result_of(DESIGNS[name]).statistic, rel=1e-10)
    assert found.mean.squared == pytest.approx(squared - sum(noise), rel=1e-9)
    assert found.scale == pytest.approx(expected.variance, rel=1e-10)
    size = result_of(DESIGNS[name]).effect_size(n_resamples=99, rng=0)
    assert size.statistic == pytest.approx(squared - sum(noise), rel=1e-9)
    assert size.ratio.value == pytest.approx(size.statistic / expected.variance, rel=1e-9)


def own_part(mean: FeatureMean, g: int, count: int) -> Any:
    """Draw what chance does to the mean of a group that borrows nothing, in explicit features."""
    return mean.cells.draw(g, np.ones(mean.cells.strata), count, np.random.default_rng(g))


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("g", [0, 1])
def test_draws_have_the_covariance_of_the_definition(name: str, g: int) -> None:
    expected = ByDefinition(DESIGNS[name]).covariances[g]
    contrast = Contrast.of_question(result_of(DESIGNS[name]).question)
    of_units = contrast.units.means(features(np.concatenate([X, Y])[contrast.rows]))
    drawn = own_part(effect_of(DESIGNS[name]).mean, g, 40_000)
    found = np.cov(of_units[contrast.cells.groups[g]].T @ drawn, bias=True)
    deviation = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 40_000)
    assert (np.abs(found - expected) <= 5 * deviation + 1e-12).all()


@pytest.mark.parametrize("name", DESIGNS)
def test_borrowed_draws_have_the_covariance_of_the_mixture(name: str) -> None:
    """The mixture has the weight n / (n + 3) on the units of a sample, the rest on the same strata of the other."""
    mean = effect_of(DESIGNS[name]).mean
    cells, own = mean.cells, mean.own_share(0)
    assert own == pytest.approx(1 / (1 + 3 * (cells.weights[cells.groups[0]] ** 2).sum()))
    n, expected = mean.features.n, np.zeros((mean.features.n, mean.features.n))
    for stratum in range(cells.strata):
        ours, theirs = (np.where(cells.cell == stratum + g * cells.strata, cells.weights, 0.0) for g in (0, 1))
        scale = ours @ ours
        for q, share in ((ours, own), (theirs, (1 - own) * scale / (theirs @ theirs))):
            r = q / q.sum()
            kept = 1 - 2 * (r**3).sum() / (r @ r) + r @ r
            center = np.eye(n) - np.outer(np.ones(n), r)
            expected += share * center.T @ np.diag(q**2) @ center / kept
        step = ours / ours.sum() - theirs / theirs.sum()
        expected += own * (1 - own) * scale * np.outer(step, step)
    drawn = mean.multipliers(0, 40_000, np.random.default_rng(0))
    deviation = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 40_000)
    assert (np.abs(drawn @ drawn.T / 40_000 - expected) <= 5 * deviation + 1e-12).all()
    gram = np.array(
        [[mean.features.blocks(slice(i, i + 1), slice(j, j + 1))[0, 0] for j in range(n)] for i in range(n)]
    )
    assert mean.noise(0) == pytest.approx(np.trace(gram @ expected), rel=1e-9)


def test_the_noise_of_equal_units_is_unbiased() -> None:
    """Over all samples of four and five coins tr C² and |D|² are right on average."""
    kernel, p, q = km.kernels.Gaussian(1.0), 0.3, 0.6
    apart, totals = 2.0 - 2.0 * np.exp(-0.5), np.zeros(2)
    for one, other in product(range(5), range(6)):
        first, second = (np.arange(n)[:, None] < k for n, k in ((4, one), (5, other)))
        weights = km.Design(weights=(np.ones(4), np.ones(5)))
        result = result_of(weights, first.astype(float), second.astype(float), kernel)
        mean = difference_of_means(DesignedSubject(result.question, kernel, DEFAULT)).mean
        chance = binom.pmf(one, 4, p) * binom.pmf(other, 5, q)
        totals += chance * np.array([mean.squared, squared_noise(mean)])
    variance = (p * (1 - p) / 4 + q * (1 - q) / 5) * apart
    np.testing.assert_allclose(totals, [(p - q) ** 2 * apart, variance**2], rtol=1e-10)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_noise_in_cells_is_that_of_their_distances(name: str) -> None:
    mean = effect_of(DESIGNS[name]).mean
    cells, n = mean.cells, mean.features.n
    gram = mean.features.blocks(slice(0, n), slice(0, n))
    center = np.eye(n) - (cells.cell[:, None] == cells.cell) * cells.shares
    distances = center @ gram @ center.T * np.outer(cells.scales, cells.scales)
    expected = (distances**2).sum()
    for cell, worth in enumerate(cells.worth.ravel()):
        own = distances[np.ix_(cells.cell == cell, cells.cell == cell)]
        trace, squares = np.trace(own), (np.diagonal(own) ** 2).sum()
        better = (own**2).sum() - worth / (worth - 2) * squares + trace**2 / ((worth - 1) * (worth - 2))
        better *= (worth - 1) ** 2 / (worth * (worth - 3))
        expected += (better if worth >= 4 else (own**2).sum() * ((worth - 1) / worth) ** 2) - (own**2).sum()
    assert squared_noise(mean) == pytest.approx(expected, rel=1e-9)


def numbers(size: Any) -> list[float]:
    estimates = (size.distance, size.ratio, size.explained)
    return [size.statistic, size.standard_error, *(v for e in estimates for v in (e.value, e.low, e.high))]


SAME = {
    "one stratum": km.Design(strata=(np.zeros(24), np.zeros(20))),
    "clusters of one row": km.Design(clusters=(np.arange(24), np.arange(30, 50))),
    "equal weights": km.Design(weights=(np.full(24, 3.0), np.full(20, 3.0))),
}


@pytest.mark.parametrize("name", SAME)
def test_a_design_that_says_nothing_changes_nothing(name: str) -> None:
    kernel = km.kernels.Gaussian(1.0)
    plain = result_of(None, X, Y + 1.0, kernel).effect_size(n_resamples=99, rng=0)
    found = result_of(SAME[name], X, Y + 1.0, kernel).effect_size(n_resamples=99, rng=0)
    np.testing.assert_allclose(numbers(found), numbers(plain), rtol=1e-9)
    assert plain.distance.low > 0.0


def test_clusters_of_copies_count_once() -> None:
    kernel, far = km.kernels.Gaussian(1.0), Y + 1.0
    patients = km.Design(clusters=(np.repeat(np.arange(24), 3), np.repeat(np.arange(30, 50), 3)))
    found = result_of(patients, np.repeat(X, 3, axis=0), np.repeat(far, 3, axis=0), kernel)
    plain = result_of(None, X, far, kernel).effect_size(n_resamples=99, rng=0)
    np.testing.assert_allclose(numbers(found.effect_size(n_resamples=99, rng=0)), numbers(plain), rtol=1e-9)
    careless = result_of(None, np.repeat(X, 3, axis=0), np.repeat(far, 3, axis=0), kernel)
    assert careless.effect_size(n_resamples=99, rng=0).standard_error < 0.7 * plain.standard_error


def test_pairs_are_what_strata_of_two_rows_are() -> None:
    first, second, names = X[:20], Y + 1.0, np.arange(20)
    shuffled = np.random.default_rng(0).permutation(20)
    kernel = km.kernels.Gaussian(1.0)
    paired = result_of(km.Design(paired=True), first, second, kernel).effect_size(n_resamples=99, rng=0)
    named = km.Design(strata=(names, names[shuffled]))
    found = result_of(named, first, second[shuffled], kernel).effect_size(n_resamples=99, rng=0)
    np.testing.assert_allclose(numbers(found), numbers(paired), rtol=1e-9)
    assert found.sizes == paired.sizes == (20, 20)


def test_pairs_have_the_numbers_of_their_differences() -> None:
    first, second = features(X[:20]), features(Y)
    mean = effect_of(km.Design(paired=True), X[:20], Y).mean
    gaps = first - second
    covariance = np.cov(gaps.T) / 20
    assert mean.observed == pytest.approx(gaps.mean(axis=0) @ gaps.mean(axis=0), rel=1e-10)
    assert mean.spreads == pytest.approx([np.trace(covariance)], rel=1e-10)
    unbiased = km.mmd_test(X[:20], Y, kernel=KERNEL, design=km.Design(paired=True), statistic="u", n_resamples=1, rng=0)
    assert mean.squared == pytest.approx(unbiased.statistic, rel=1e-9)
    variances = [np.trace(np.cov(half.T)) for half in (first, second)]
    assert effect_of(km.Design(paired=True), X[:20], Y).scale == pytest.approx(np.mean(variances), rel=1e-10)
    own = mean.own_share(0)
    exchanged = covariance + 4 * own * (1 - own) / 20 * np.outer(gaps.mean(axis=0), gaps.mean(axis=0))
    drawn = gaps.T @ mean.multipliers(0, 40_000, np.random.default_rng(0))
    deviation = np.sqrt((np.outer(np.diag(exchanged), np.diag(exchanged)) + exchanged**2) / 40_000)
    assert (np.abs(drawn @ drawn.T / 40_000 - exchanged) <= 5 * deviation + 1e-12).all()
    assert mean.noise(0) == pytest.approx(np.trace(exchanged), rel=1e-9)


@pytest.mark.parametrize("name", ["strata and weights", "clusters and weights"])
def test_the_influence_on_the_variance_is_its_derivative(name: str) -> None:
    """One unit counts a little more: the observed variance within strata changes as its influence says."""
    contrast = Contrast.of_question(result_of(DESIGNS[name]).question)
    effect, cells = effect_of(DESIGNS[name]), contrast.cells
    rows = features(np.concatenate([X, Y])[contrast.rows])
    of_units, lengths = contrast.units.means(rows), contrast.units.means((rows**2).sum(axis=1))

    def variance(weights: Any) -> float:
        found = 0.0
        for cell in range(2 * cells.strata):
            own = cells.cell == cell
            shares = weights[own] / weights[own].sum()
            center = shares @ of_units[own]
            found += cells.masses.ravel()[cell] * (shares @ lengths[own] - center @ center) / 2
        return found

    group = (cells.cell >= cells.strata).astype(int)
    influence = effect.mean.scale_influence[np.arange(len(group)), group]
    centered = cells.centered(influence[:, None])[:, 0] * cells.weights * effect.scale
    step = 1e-5 * np.diag(cells.weights)
    slopes = [(variance(cells.weights + own) - variance(cells.weights - own)) / 2e-5 for own in step]
    np.testing.assert_allclose(centered, slopes, rtol=0, atol=1e-7 * np.abs(slopes).max())


def test_a_stratum_with_one_row_leaves_the_variance_between_strata() -> None:
    """The interval then rests on the differences within strata, each of which is one draw."""
    sizes = np.array([1, 2, 3, 1, 2, 1, 3, 1, 2, 2])
    first, second = np.repeat(np.arange(10), sizes), np.repeat(np.arange(10), sizes[::-1])
    mean = effect_of(km.Design(strata=(first, second)), X[: len(first)], Y[: len(second)]).mean
    shares = sizes * sizes[::-1] / (sizes + sizes[::-1])
    shares = shares / shares.sum()
    parts = [(features(own), labels) for own, labels in ((X[: len(first)], first), (Y[: len(second)], second))]
    gaps = np.array([parts[0][0][first == s].mean(axis=0) - parts[1][0][second == s].mean(axis=0) for s in range(10)])
    center = shares @ gaps
    kept = 1 - 2 * (shares**3).sum() / (shares**2).sum() + (shares**2).sum()
    noise = (shares**2 @ np.square(gaps - center)).sum() / kept
    assert mean.observed == pytest.approx(center @ center, rel=1e-10)
    assert mean.spreads == pytest.approx([noise], rel=1e-10)


TOO_FEW: dict[str, tuple[km.Design, str]] = {
    "clusters": (
        km.Design(clusters=(np.arange(24) // 12, np.arange(20) // 2 + 100)),
        "X and Y are worth 2 and 10 clusters of equal weight, which are drawn independently; an interval needs at leas",
    ),
    "weights": (
        km.Design(weights=(np.where(np.arange(24) < 2, 1.0, 1e-6), np.ones(20))),
        "X and Y are worth 2 and 20 rows of equal weight",
    ),
    "strata": (
        km.Design(strata=(np.minimum(np.arange(24), 3), np.minimum(np.arange(20), 3))),
        "some of 4 strata have rows of a sample that are worth fewer than two",
    ),
}


@pytest.mark.parametrize("name", TOO_FEW)
@pytest.mark.parametrize("verb", ["effect_size", "equivalence"])
def test_too_few_units_are_refused(name: str, verb: str) -> None:
    design, words = TOO_FEW[name]
    with pytest.raises(ValueError, match=words):
        getattr(result_of(design), verb)(*([0.1] if verb == "equivalence" else []))


def test_two_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="worth 2 and 2 pairs of equal weight"):
        result_of(km.Design(paired=True), X[:2], Y[:2]).effect_size()


def test_units_with_rows_in_both_samples_are_refused() -> None:
    first, second = X, np.concatenate([Y, Y[:4]])
    with pytest.raises(ValueError, match="pass what they are called as strata, or pairs by"):
        result_of(InBoth(), first, second).effect_size()


@pytest.mark.parametrize("name", [*DESIGNS, "pairs"])
def test_equivalence_has_the_limit_of_the_interval(name: str) -> None:
    design = km.Design(paired=True) if name == "pairs" else DESIGNS[name]
    first, kernel = X[:20] if name == "pairs" else X, km.kernels.Gaussian(1.0)
    result = result_of(design, first, Y, kernel)
    size = result.effect_size(level=0.9, n_resamples=199, rng=0)
    for unit, estimate in (("distance", size.distance), ("explained", size.explained)):
        margins = np.linspace(0.1, 0.95, 8)
        found = [result.equivalence(margin, unit=unit, n_resamples=199, rng=0) for margin in margins]
        assert found[0].upper == pytest.approx(estimate.high, rel=1e-9)
        pvalues = [own.pvalue for own in found]
        assert pvalues == sorted(pvalues, reverse=True)
        assert all(own.equivalent == (own.margin > own.upper) for own in found)
    assert pvalues[-1] < 0.05
    with pytest.raises(ValueError, match="method 'bound' is for two samples without a design"):
        result.equivalence(0.5, method="bound")


def test_adaptive_tests_have_sizes_with_a_design() -> None:
    for design in DESIGNS.values():
        size = km.mmd_test(X, Y, design=design, n_resamples=99, rng=0).effect_size(n_resamples=99, rng=0)
        assert size.distance.low <= size.distance.value <= size.distance.high


def test_rows_that_take_no_part_do_not_matter() -> None:
    strata = np.append(STRATA[0], [7, 7]), STRATA[1]
    more = np.concatenate([X, [[100.0], [200.0]]])
    found, plain = (
        result_of(km.Design(strata=own), rows).effect_size(n_resamples=99, rng=0)
        for own, rows in ((strata, more), (STRATA, X))
    )
    np.testing.assert_allclose(numbers(found), numbers(plain), rtol=1e-9)
    assert found.sizes == plain.sizes == (24, 20)


def test_many_clusters_are_summed_on_factors() -> None:
    """Beyond 500 rows a factor of low rank replaces the Gram matrix."""
    many = np.random.default_rng(0)
    patient = np.arange(360) // 3
    rows = many.normal(size=(240, 1))[np.concatenate([patient, patient + 120])] + 0.3 * many.normal(size=(720, 1))
    design = km.Design(clusters=(patient, patient + 120))
    result = result_of(design, rows[:360], rows[360:], km.kernels.Gaussian(2.0))
    mean = difference_of_means(DesignedSubject(result.question, km.kernels.Gaussian(2.0), DEFAULT)).mean
    columns = many.normal(size=(240, 3))
    assert mean.features.fast is not None
    dense = mean.features.exact(columns)
    np.testing.assert_allclose(mean.features.product(columns), dense, rtol=0, atol=1e-6 * np.abs(dense).max())


@pytest.mark.parametrize("changed", [0, 4, 20])
def test_few_changes_within_pairs_have_no_upper_limit(changed: int) -> None:
    """Twenty pairs without any change do not show that none of a hundred changes."""
    before = np.repeat([0.0, 1.0], [70, 30])[:, None] if changed == 20 else np.repeat([0.0, 1.0], [14, 6])[:, None]
    after = before.copy()
    after[:changed] = 1.0
    kernel = km.kernels.Gaussian(1.0)
    result = result_of(km.Design(paired=True), before, after, kernel)
    size = result.effect_size(n_resamples=99, rng=0)
    assert size.distance.high == size.maximum
    ones, n = (before.mean(), after.mean()), len(before)
    variance = sum((1 - np.exp(-0.5)) * p * (1 - p) * n / (n - 1) for p in ones)
    share = size.maximum**2 / (4 * variance + size.maximum**2)
    found = result.equivalence(0.9, unit="explained", rng=0)
    assert found.pvalue == 1.0
    assert min(size.explained.high, found.upper) >= share - 1e-12
    assert result.equivalence(0.9, rng=0).upper == size.maximum
    assert "too few for an upper limit" in found.method


def test_equal_rows_with_a_design_show_no_equivalence() -> None:
    result = result_of(
        km.Design(clusters=(np.arange(24) // 3, np.arange(24) // 3 + 9)), np.ones((24, 1)), np.ones((24, 1))
    )
    for ask in (result.effect_size, lambda: result.equivalence(0.5)):
        with pytest.raises(ValueError, match="all rows of X and Y are equal"):
            ask()
