"""hsic_test: invariances, determinism, what may be passed, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean import KME, Design
from kernelmean.inference import Adaptive, Member, PairMember, dhsic_test
from kernelmean.inference.permuted_pairs import permutation_null
from kernelmean.inference.questions import hsic_problem
from kernelmean.kernels import Gaussian, Linear
from nulls import hsic_test

SCHEMES = ["auto", "random", "rotations"]


def pairs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, 0.4 * X[:, :1] + rng.standard_normal((n, 1))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("factors", [(2.0**-30, 1.0), (3.0, -1e-3), (1e150, 1e-150)])
def test_units_do_not_change_the_p_value(scheme, factors):
    X, Y = pairs()
    plain = hsic_test(X, Y, scheme=scheme, rng=1, estimator="kme")
    scaled = hsic_test(factors[0] * X, factors[1] * Y, scheme=scheme, rng=1, estimator="kme")
    assert scaled.pvalue == plain.pvalue
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shifts_do_not_change_the_p_value(scheme):
    X, Y = pairs()
    assert (
        hsic_test(X + 1e6, Y - 1e3, scheme=scheme, rng=1, estimator="kme").pvalue
        == hsic_test(X, Y, scheme=scheme, rng=1, estimator="kme").pvalue
    )


@pytest.mark.parametrize("n", [6, 60, 1200])
@pytest.mark.parametrize("statistic", ["u", "v"])
def test_swapping_the_variables_keeps_the_statistic(n, statistic):
    X, Y = pairs(n)
    one, other = (
        hsic_test(X, Y, rng=1, statistic=statistic, estimator="kme"),
        hsic_test(Y, X, rng=1, statistic=statistic, estimator="kme"),
    )
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9)
    if n != 60:  # enumerated, or one group, which holds its inverses
        assert other.pvalue == one.pvalue


@pytest.mark.parametrize("scheme", [*SCHEMES, "exact"])
def test_a_constant_variable_has_p_value_one(scheme):
    X, _ = pairs(6 if scheme == "exact" else 40)
    result = hsic_test(X, np.full((len(X), 1), 0.1), scheme=scheme, rng=0, estimator="kme")
    assert result.pvalue == 1.0
    assert result.statistic == pytest.approx(0.0, abs=1e-14)
    assert any("Y is constant" in note for note in result.notes)


def test_own_kernels_and_bandwidths_for_both_variables():
    X, Y = pairs()
    result = hsic_test(X, Y, kernel=(Gaussian(0.5), Linear()), rng=0)
    assert result.kernel == (Gaussian(0.5), Linear())
    assert hsic_test(X, Y, estimator=(KME(bandwidth=0.5), KME(bandwidth=2.0)), rng=0).kernel == (
        Gaussian(0.5),
        Gaussian(2.0),
    )
    assert hsic_test(X, Y, estimator=KME(bandwidth=0.5), rng=0).kernel == (Gaussian(0.5), Gaussian(0.5))
    with pytest.raises(ValueError, match="tuple of 3"):
        hsic_test(X, Y, kernel=(Gaussian(1.0), Gaussian(2.0), Gaussian(3.0)))


@pytest.mark.parametrize("estimator", ["kme", "mkme"])
def test_bandwidths_of_many_rows_do_not_depend_on_pairing_seed_or_names(estimator):
    X, Y = np.random.default_rng(0).standard_cauchy((2, 1100, 1))
    order = np.random.default_rng(1).permutation(1100)
    one, repaired, swapped = (
        hsic_test(*pair, estimator=estimator, n_resamples=9, rng=seed)
        for seed, pair in enumerate(((X, Y), (X, Y[order]), (Y, X)))
    )
    assert one.kernel == repaired.kernel == swapped.kernel[::-1]
    assert any("1000 of 1100 rows" in note for note in one.notes)


def test_adaptive_views_of_many_rows_do_not_depend_on_the_pairing(monkeypatch):
    X, Y = np.random.default_rng(0).standard_cauchy((2, 1100, 1))
    order, seen = np.random.default_rng(1).permutation(1100), []

    def engine(problem, how):
        side = problem.right
        seen.append(side.kernels[0](side.points, side.points))  # directions may be told by rounding, not the kernel
        few = problem.left.points[:20], problem.right.points[:20]
        return permutation_null(hsic_problem(few, [(Gaussian(1.0), Gaussian(1.0))], "v"), how)

    monkeypatch.setattr("kernelmean.inference.questions.base.permutation_null", engine)
    for table in (Y, Y[order]):
        hsic_test(
            X,
            table,
            estimator=Adaptive(
                "harmonic", (PairMember(Member("data", Gaussian(1.0)), Member("ranks", Gaussian(1.0))),)
            ),
            n_resamples=9,
            rng=0,
        )
    np.testing.assert_allclose(seen[-1], seen[0][np.ix_(order, order)], rtol=1e-9, atol=1e-9)


def test_joint_independence_of_many_rows_does_not_depend_on_their_order():
    X, Y = np.random.default_rng(0).standard_cauchy((2, 1100, 1))
    one, other = (dhsic_test(X, table, n_resamples=1, rng=0, estimator="kme") for table in (Y, Y[::-1]))
    assert one.kernel == other.kernel


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (1, {}, "1 pair was passed, at least 2 are needed"),
        (1, {"statistic": "u"}, "1 pair was passed, at least 2 are needed"),
        (1, {"estimator": "adaptive", "kernel": None}, "1 pair was passed, at least 2 are needed"),
        (1, {"design": Design(weights=[1.0])}, "1 pair was passed, at least 2 are needed"),
        (3, {"statistic": "u"}, "at least 4"),
        (10, {"statistic": "w"}, "statistic is 'w'"),
    ],
)
def test_bad_input_is_refused(n, options, message):
    X, Y = pairs(n)
    with pytest.raises(ValueError, match=message):
        hsic_test(X, Y, **{"kernel": Gaussian(1.0), **options})


def test_rows_must_belong_together():
    X, Y = pairs()
    with pytest.raises(ValueError, match="X has 60 rows and Y has 59"):
        hsic_test(X, Y[1:], estimator="kme")
