"""Which of two models is nearer: the definition pair by pair, variances of many draws, units, refusals."""

import json
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kernelmean as km
from kernelmean.known import CloserResult, closer_test

KERNEL = km.kernels.Gaussian(1.0)
RNG = np.random.default_rng(0)
X, P, Q = RNG.normal(size=(25, 2)), RNG.normal(0.4, 1.0, size=(18, 2)), RNG.normal(1.0, 1.0, size=(31, 2))
LABELS = RNG.integers(9, size=25), RNG.integers(3, 12, size=18), RNG.integers(6, 15, size=31)
SHARED = np.arange(31) % 2
MIXTURE = km.embed([[0.4, 0.4]], km.kernels.Gaussian(3.0), noise=km.noise.Normal(1.0))


def mean_of_pairs(A: Any, B: Any, a: Any, b: Any) -> float:
    """Return the mean of k over pairs whose units differ."""
    gram = KERNEL(A, B)
    return float(np.mean([gram[i, j] for i, j in product(range(len(A)), range(len(B))) if a[i] != b[j]]))


@pytest.mark.parametrize("clustered", [False, True])
def test_the_difference_is_that_of_its_definition(clustered: bool) -> None:
    ends = np.cumsum([0, len(X), len(P), len(Q)])
    x, p, q = LABELS if clustered else [np.arange(i, j) for i, j in pairwise(ends)]
    result = closer_test(X, P, Q, kernel=KERNEL, clusters=LABELS if clustered else None)
    to = [
        mean_of_pairs(X, X, x, x) + mean_of_pairs(A, A, a, a) - 2.0 * mean_of_pairs(X, A, x, a)
        for A, a in ((P, p), (Q, q))
    ]
    np.testing.assert_allclose(result.distances, to, atol=1e-12)
    np.testing.assert_allclose(result.statistic, to[0] - to[1], atol=1e-12)


def centred_pairs(A: Any, B: Any, a: Any, b: Any) -> Any:
    """Return k less means over pairs of a row, of a column and of all, 0 for pairs within a unit, by loops."""
    gram, differ = KERNEL(A, B), a[:, None] != b
    rows = [gram[i, differ[i]].mean() for i in range(len(A))]
    columns = [gram[differ[:, j], j].mean() for j in range(len(B))]
    return np.where(differ, gram - np.array(rows)[:, None] - columns + gram[differ].mean(), 0.0) / differ.sum()


@pytest.mark.parametrize("tile", [40, 2**21])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_variance_counts_pairs_of_units_once(clustered: bool, tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = np.cumsum([0, len(X), len(P), len(Q)])
    x, p, q = LABELS if clustered else [np.arange(i, j) for i, j in pairwise(ends)]
    rows, units = {"X": X, "P": P, "Q": Q}, {"X": x, "P": p, "Q": q}
    single, pairs = np.zeros(75), np.zeros((75, 75))
    for factor, one, other in [
        (s * f, *st) for s, m in ((1, "P"), (-1, "Q")) for f, st in ((1, m + m), (-1, "X" + m), (-1, m + "X"))
    ]:
        lost = [np.sqrt(len(set(units[name])) / (len(set(units[name])) - 1)) for name in (one, other)]
        H = factor * centred_pairs(rows[one], rows[other], units[one], units[other])
        gram, differ = KERNEL(rows[one], rows[other]), units[one][:, None] != units[other]
        means = np.where(differ, gram, 0.0).sum(axis=1) / differ.sum(axis=1)
        np.add.at(single, units[one], 2.0 * factor * lost[0] * (means - means.mean()) / len(means))
        np.add.at(pairs, (units[one][:, None], units[other]), lost[0] * lost[1] * H)
    monkeypatch.setattr("kernelmean.known.closer._TILE", tile)
    spread = closer_test(X, P, Q, kernel=KERNEL, clusters=LABELS if clustered else None).spread
    along = pairs @ single
    assert spread.units == pytest.approx(single @ single, rel=1e-10)
    assert spread.pairs == pytest.approx(2.0 * np.square(pairs).sum(), rel=1e-10)
    assert spread.slope == pytest.approx(single @ along, rel=1e-8)
    assert spread.bend == pytest.approx(along @ along, rel=1e-10)
    gap = 0.3 * np.sqrt(spread.units)
    parts = single - 2.0 * gap / spread.units * along
    given_back = 12.0 * spread.bend / spread.units - spread.pairs
    assert spread.variance(gap) == pytest.approx(parts @ parts + given_back, rel=1e-10)


def test_the_variance_is_that_of_quadrature() -> None:
    """What single rows add, and pairs of rows, which the observed variance of rows counts twice (then 1.17)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    sides, sizes = {"x": 0.0, "p": 0.5, "q": -0.5}, {"x": 30, "p": 20, "q": 40}

    def kernel(a: str, b: str) -> Any:
        return KERNEL((nodes + sides[a])[:, None], (nodes + sides[b])[:, None])

    def spread(values: Any) -> float:
        return float(weights @ np.square(values - weights @ values))

    def rest(a: str, b: str) -> float:
        gram = kernel(a, b)
        centred = gram - (gram @ weights)[:, None] - weights @ gram + weights @ gram @ weights
        return float(weights @ np.square(centred) @ weights)

    mean = {a + b: kernel(a, b) @ weights for a in "xpq" for b in "xpq"}
    of_rows = spread(2.0 * (mean["xp"] - mean["xq"])) / 30
    of_rows += sum(spread(2.0 * (mean[a + a] - mean[a + "x"])) / sizes[a] for a in "pq")
    of_pairs = sum(4.0 * rest("x", a) / (30 * sizes[a]) + 2.0 * rest(a, a) / (sizes[a] * (sizes[a] - 1)) for a in "pq")
    rng, found = np.random.default_rng(4), []
    for _ in range(150):
        samples = [rng.normal(mean, 1.0, (sizes[name], 1)) for name, mean in sides.items()]
        spread = closer_test(*samples, kernel=KERNEL).spread
        found.append(spread.units - spread.pairs)
    ratio = float(np.mean(found)) / (of_rows + of_pairs)
    assert ratio == pytest.approx(1.0, abs=0.09)


def test_the_standard_error_is_the_jackknife_of_units_in_the_limit() -> None:
    rows = [np.tile(sample, (8, 1)) + 0.1 * RNG.normal(size=(8 * len(sample), 2)) for sample in (X, P, Q)]
    whole = closer_test(*rows, kernel=KERNEL)
    total = 0.0
    for number, sample in enumerate(rows):
        left = [
            closer_test(*[np.delete(s, i, axis=0) if k == number else s for k, s in enumerate(rows)], kernel=KERNEL)
            for i in range(0, len(sample), 8)
        ]
        values = np.array([one.statistic for one in left])
        total += (len(sample) - 1) * values.var()
    np.testing.assert_allclose(whole.standard_error, np.sqrt(total), rtol=0.15)


def test_labels_of_their_own_are_no_clusters() -> None:
    plain = closer_test(X, P, Q)
    texts = tuple([f"{name}{i}" for i in range(len(rows))] for name, rows in (("x", X), ("p", P), ("q", Q)))
    assert closer_test(X, P, Q, clusters=texts).statistic == pytest.approx(plain.statistic, abs=1e-14)
    assert closer_test(X, P, Q, clusters=texts).standard_error == pytest.approx(plain.standard_error, rel=1e-12)


def test_models_that_change_places_change_the_sign() -> None:
    first, second = closer_test(X, P, Q), closer_test(X, Q, P)
    assert first.statistic == pytest.approx(-second.statistic, abs=1e-14)
    assert first.interval == pytest.approx(tuple(-end for end in reversed(second.interval)), abs=1e-14)
    assert first.pvalue == pytest.approx(second.pvalue, rel=1e-9)
    assert first.pvalue / 2.0 == pytest.approx(closer_test(X, P, Q, alternative="less").pvalue)
    assert closer_test(X, P, Q, alternative="greater").interval[1] == np.inf
    assert closer_test(X, P, Q, alternative="less").interval[0] == -np.inf


def test_a_mixture_is_what_many_of_its_rows_are() -> None:
    exact = closer_test(X, MIXTURE, Q, kernel=KERNEL)
    drawn = closer_test(X, MIXTURE.sample(2000, rng=1), Q, kernel=KERNEL)
    assert exact.sizes == (25, None, 31)
    assert exact.statistic == pytest.approx(drawn.statistic, abs=6e-3)
    assert exact.standard_error == pytest.approx(drawn.standard_error, rel=0.05)
    both = closer_test(X, MIXTURE, stats.multivariate_normal([1.0, 1.0]), kernel=KERNEL)
    values = 2.0 * (
        km.embed(MIXTURE.points, KERNEL, noise=MIXTURE.noise)(X)
        - km.embed([[1.0, 1.0]], KERNEL, noise=km.noise.Normal(1.0))(X)
    )
    assert both.standard_error == pytest.approx(values.std(ddof=1) / 5.0, rel=1e-10)


def test_other_distributions_are_drawn_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.known.closer._DRAWN", 200)
    result = closer_test(X, lambda n, rng: rng.normal(size=(n, 2)), Q, rng=0)
    assert result.sizes == (25, 200, 31)
    assert result.notes[0] == "P is 200 rows drawn from a function that draws rows"
    assert result.statistic == closer_test(X, lambda n, rng: rng.normal(size=(n, 2)), Q, rng=0).statistic


@pytest.mark.parametrize("shared", [False, True])
def test_intervals_hold_also_for_rows_that_models_share(shared: bool) -> None:
    rng, missed = np.random.default_rng(3), 0
    labels = (np.arange(100), np.arange(100, 180), np.r_[np.arange(100, 140), np.arange(200, 280)])
    for _ in range(100):
        here, p, q = rng.normal(size=(100, 1)), rng.normal(0.6, 1.0, (80, 1)), rng.normal(-0.6, 1.0, (120, 1))
        q = np.concatenate([-p[:40], q[40:]]) if shared else q
        result = closer_test(here, p, q, kernel=KERNEL, clusters=labels if shared else None)
        missed += not result.interval[0] <= 0.0 <= result.interval[1]
    assert 1 <= missed <= 12  # of binomial(100, .05) with probability .9925


def test_intervals_hold_where_models_are_near_and_one_has_few_rows() -> None:
    """With the variance at the estimate itself, 35 of 300 miss: it is small where the smallest sample seems near."""
    rng, missed, means = np.random.default_rng(7), 0, (0.0, 0.3, 0.6)
    x, p, q = (km.embed([[mean]], KERNEL, noise=km.noise.Normal(1.0)) for mean in means)
    exact = (x - p) @ (x - p) - (x - q) @ (x - q)
    for _ in range(300):
        sides = [rng.normal(mean, 1.0, (n, 1)) for mean, n in zip(means, (60, 100, 40), strict=True)]
        low, high = closer_test(*sides, kernel=KERNEL).interval
        missed += not low <= exact <= high
    assert 2 <= missed <= 24  # of binomial(300, .04) with probability .999


@pytest.mark.parametrize("sizes", [(3, 3, 3), (5, 8, 6), (12, 30, 10)])
def test_intervals_hold_for_few_rows(sizes: tuple[int, ...]) -> None:
    """Those of a normal distribution cover .87 to .91 of such differences."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(200):
        sides = [rng.normal(mean, 1.0, (n, 1)) for mean, n in zip((0.0, 1.0, -1.0), sizes, strict=True)]
        low, high = closer_test(*sides, kernel=KERNEL).interval
        missed += not low <= 0.0 <= high
    assert missed <= 20  # of binomial(200, .05) with probability .9991


def test_the_pvalue_is_that_of_students_distribution() -> None:
    for alternative, tail in (("two-sided", 2.0), ("less", 1.0)):
        result = closer_test(X, P, Q, kernel=KERNEL, alternative=alternative)
        assert result.degrees_of_freedom == len(P) - 1
        z = -abs(result.statistic / result.standard_error)
        assert result.pvalue == pytest.approx(tail * stats.t(17).cdf(z), rel=1e-12)
    two = closer_test(X, P, Q, kernel=KERNEL, clusters=(np.arange(25) % 2, [5] * 9 + [6] * 9, [7] * 16 + [8] * 15))
    assert two.degrees_of_freedom == 1
    assert two.pvalue > 1e-3


def test_units_of_columns_and_far_origins_change_nothing() -> None:
    scaled = [rows * [1000.0, 0.01] + [1e6, -3.0] for rows in (X, P, Q)]
    np.testing.assert_allclose(closer_test(*scaled).pvalue, closer_test(X, P, Q).pvalue, rtol=1e-6)


def test_columns_are_matched_by_name_and_rows_stay() -> None:
    before = X.copy()
    a, b, c = (pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, P, Q))
    assert closer_test(a, b[["b", "a"]], c).statistic == closer_test(X, P, Q).statistic
    np.testing.assert_array_equal(X, before)


def test_float32_and_few_rows() -> None:
    single = closer_test(*(rows.astype(np.float32) for rows in (X, P, Q)), kernel=KERNEL)
    assert single.statistic == pytest.approx(closer_test(X, P, Q, kernel=KERNEL).statistic, abs=1e-6)
    few = closer_test(X[:2], P[:2], Q[:3])
    assert few.notes == ("the approximation by a t distribution needs more rows than X 2, P 2, Q 3",)
    many = [np.repeat(rows, 20, axis=0) for rows in (X[:5], P[:6], Q[:7])]
    clusters = [np.repeat(np.arange(count), 20) for count in (5, 6, 7)]
    assert closer_test(*many, clusters=clusters).notes == (
        "the approximation by a t distribution needs more clusters than X 5, P 6, Q 7",
    )


REFUSED: dict[str, tuple[tuple[Any, Any, Any], dict[str, Any], type[Exception], str]] = {
    "the same rows": ((X, P, P), {}, ValueError, "are the same rows"),
    "the same rows in another order": ((X, P, P[::-1].copy()), {}, ValueError, "are the same rows"),
    "the same mixture": ((X, MIXTURE, MIXTURE), {}, ValueError, "neither is nearer"),
    "other columns": ((X, P, Q[:, :1]), {}, ValueError, "Q has 1; both must describe"),
    "a distribution of other columns": ((X, stats.norm(), Q), {}, ValueError, "P has 1 column and X has 2"),
    "one row": ((X, P, Q[:1]), {}, ValueError, "Q has one row or cluster"),
    "a family": ((X, stats.norm, Q), {}, TypeError, "freeze it"),
    "equal rows": ((np.ones((5, 2)), np.ones((6, 2)), np.ones((7, 2))), {}, ValueError, "are equal"),
    "blank": (([[np.nan, 1.0]], P, Q), {}, ValueError, "NaN"),
    "texts": ((X, P, [["a", "b"]]), {}, TypeError, "numbers are needed"),
    "alternative": ((X, P, Q), {"alternative": "both"}, ValueError, "write 'two-sided'"),
    "one number as labels": ((X, P, Q), {"clusters": 3}, ValueError, "three entries"),
    "two lists of labels": ((X, P, Q), {"clusters": LABELS[:2]}, ValueError, "three entries"),
    "labels of others": ((X, P, Q), {"clusters": LABELS[::-1]}, ValueError, r"clusters of X has shape \(31,\)"),
    "blank labels": (
        (X[:2], P, Q),
        {"clusters": ([1, None], *LABELS[1:])},
        ValueError,
        "clusters of X has no label in row 2",
    ),
    "blank beside text": ((X[:2], P, Q), {"clusters": (["a", np.nan], *LABELS[1:])}, ValueError, "no label in row 2"),
    "labels of two columns": ((X[:2], P, Q), {"clusters": ([[1], [2]], *LABELS[1:])}, ValueError, "one label per row"),
    "two clusters": ((X[:4], P[:4], Q[:4]), {"clusters": ([0, 0, 1, 1],) * 3}, ValueError, "show no variance"),
    "two clusters of other sizes": (
        (X, P, Q),
        {"clusters": (SHARED[:25], SHARED[:18], SHARED)},
        ValueError,
        "no variance",
    ),
    "two clusters and a mixture": (
        (X, P, MIXTURE),
        {"clusters": (SHARED[:25], SHARED[:18], None)},
        ValueError,
        "no variance",
    ),
    "too large": ((1e200 * X, 1e200 * P, 1e200 * Q), {}, ValueError, "rescale the columns"),
    "one cluster": ((X, P, Q), {"clusters": (np.zeros(25), *LABELS[1:])}, ValueError, "X has one row or cluster"),
    "Gram matrices": ((X, P, Q), {"kernel": "precomputed"}, ValueError, "needs rows with columns"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_answer_is_refused(case: str) -> None:
    sides, options, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        closer_test(*sides, **options)


def test_an_interval_ends_where_the_test_rejects() -> None:
    result = closer_test(X, P, Q)
    low, high = result.confidence_interval(1.0 - result.pvalue)
    assert min(abs(low), abs(high)) < 1e-12
    assert result.interval == result.confidence_interval(0.95) != result.confidence_interval(0.9)
    for level in (95, "95 %"):
        with pytest.raises(ValueError, match="between 0 and 1"):
            result.confidence_interval(level)  # type: ignore[arg-type]


def test_the_result_has_the_surface_of_every_result(tmp_path: Path) -> None:
    result = closer_test(X, P, Q + 1.0, alternative="less")
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)
    assert "asymptotic" in result.method
    assert str(result).startswith("P is nearer to X than Q: p = ")
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["interval"][0] is None
    assert result.to_frame().shape == (1, 7)
    assert "equally near" in result.to_html()
    assert result.plot().get_xlabel() == "MMD² to P less MMD² to Q"
    assert closer_test(X, Q + 1.0, P).verdict().startswith("Q is nearer to X than P")
    assert "does not show" in closer_test(X, P, P + 0.01).verdict()
    result.save(tmp_path / "closer.km")
    loaded = km.load(tmp_path / "closer.km")
    assert isinstance(loaded, CloserResult)
    assert loaded.interval == result.interval
