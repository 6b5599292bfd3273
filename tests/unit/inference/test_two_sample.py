"""mmd_test: invariances, determinism, what may be passed, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean import KME, Plan
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.noise import Dirac, Normal
from nulls import TWO_SAMPLES, mmd_test


def samples(n=70, m=90, dim=2, shift=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, dim)), rng.standard_normal((m, dim)) + shift


@pytest.mark.parametrize("scheme", TWO_SAMPLES)
@pytest.mark.parametrize("factor", [2.0**-30, 2.0**70, 3.0, -1.0, 1e-3, 7e5, 1e-150, 1e150])
def test_units_do_not_change_the_p_value(scheme, factor):
    X, Y = samples()
    plain, scaled = (mmd_test(c * X, c * Y, scheme=scheme, rng=1, estimator="kme") for c in (1.0, factor))
    assert scaled.pvalue == plain.pvalue
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-9)


@pytest.mark.parametrize("scheme", TWO_SAMPLES)
@pytest.mark.parametrize("offset", [1.0, -1e3, 1e6])
def test_shifts_do_not_change_the_p_value(scheme, offset):
    X, Y = samples()
    plain, shifted = (mmd_test(X + c, Y + c, scheme=scheme, rng=1, estimator="kme") for c in (0.0, offset))
    assert shifted.pvalue == plain.pvalue
    assert shifted.statistic == pytest.approx(plain.statistic, rel=1e-6)


@pytest.mark.parametrize("sizes", [(70, 90), (80, 80), (3, 5), (900, 900)])
@pytest.mark.parametrize("statistic", ["u", "v"])
def test_swapping_the_samples_changes_nothing(sizes, statistic):
    X, Y = samples(*sizes)
    one, other = (
        mmd_test(X, Y, rng=1, statistic=statistic, estimator="kme"),
        mmd_test(Y, X, rng=1, statistic=statistic, estimator="kme"),
    )
    assert (one.statistic, one.pvalue) == (other.statistic, other.pvalue)
    assert other.sizes == one.sizes[::-1]


@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_a_seed_fixes_the_result(scheme):
    X, Y = samples()
    runs = [
        mmd_test(X, Y, scheme=scheme, rng=seed, plan=Plan(threads=jobs), estimator="kme")
        for seed, jobs in ((5, None), (5, 1), (5, 2), (6, 1))
    ]
    for run in runs[1:3]:
        np.testing.assert_array_equal(run.null_distribution, runs[0].null_distribution)
    assert (runs[3].null_distribution != runs[0].null_distribution).any()
    generator = np.random.default_rng(5)
    assert mmd_test(X, Y, scheme=scheme, rng=generator, estimator="kme").pvalue == runs[0].pvalue


def test_constant_data_have_p_value_one():
    for scheme in TWO_SAMPLES:
        result = mmd_test(np.full((30, 2), 0.1), np.full((40, 2), 0.1), scheme=scheme, rng=0, estimator="kme")
        assert result.pvalue == 1.0
        assert result.statistic == pytest.approx(0.0, abs=1e-14)
    assert "constant" in result.notes[0]


def test_equidistant_categories_have_p_value_one():
    identity = np.eye(24)  # every permutation has the same statistic
    for scheme in TWO_SAMPLES:
        for statistic in ("u", "v"):
            assert (
                mmd_test(
                    identity[:10], identity[10:], scheme=scheme, statistic=statistic, rng=0, estimator="kme"
                ).pvalue
                == 1.0
            )


def test_one_row_against_many():
    Y = np.arange(30.0)[:, None]
    result = mmd_test([[100.0]], Y, statistic="v", estimator=KME(bandwidth=5.0))
    assert (result.scheme, result.n_resamples, result.pvalue) == ("exact", 30, 1 / 31)
    with pytest.raises(ValueError, match=r"1 and 30 rows.*statistic='v'"):
        mmd_test([[100.0]], Y, estimator="kme")


def test_kernels_classes_and_bandwidths():
    X, Y = samples()
    kernel = Laplacian(2.0)
    assert mmd_test(X, Y, kernel=kernel, rng=0).kernel is kernel
    assert (
        mmd_test(X, Y, estimator=KME(Laplacian, bandwidth=2.0), rng=0).statistic
        == mmd_test(X, Y, kernel=kernel, rng=0).statistic
    )
    assert mmd_test(X, Y, estimator=KME(bandwidth=0.7), rng=0).kernel == Gaussian(0.7)
    per_axis = mmd_test(X, Y, estimator=KME(bandwidth=np.array([0.7, 2.0])), rng=0)
    np.testing.assert_array_equal(per_axis.kernel.bandwidth, [0.7, 2.0])


def test_an_estimator_is_a_function_of_the_pooled_sample():
    X, Y = samples(20, 30)
    seen = []

    def inflated(points, kernel):
        seen.append(points)
        return Gaussian(2.0 * kernel.bandwidth), Normal(1.0)

    result = mmd_test(X, Y, estimator=inflated, rng=0)
    assert [points.shape for points in seen] == [(50, 2)]
    assert result.noise is not None
    assert result.kernel.bandwidth == 2.0 * mmd_test(X, Y, rng=0, estimator="kme").kernel.bandwidth


@pytest.mark.parametrize(
    ("X", "Y", "options", "message"),
    [
        ([[1.0, 2.0]], [[1.0]], {}, "X has 2 columns and Y has 1"),
        ([[np.nan]], [[1.0]], {}, "NaN"),
        (np.empty((0, 1)), [[1.0]], {}, "at least one row"),
        ([[1.0], [2.0]], [[1.0], [5.0]], {"estimator": "best"}, "estimator is 'best'"),
        ([[1.0], [2.0]], [[1.0], [5.0]], {"kernel": "best"}, "kernel is 'best'"),
        ([[1.0], [2.0]], [[1.0], [5.0]], {"estimator": KME(bandwidth="best")}, "bandwidth is 'best'"),
        ([[1.0], [2.0]], [[1.0], [5.0]], {"statistic": "w"}, "statistic is 'w'"),
    ],
)
def test_bad_input_is_refused(X, Y, options, message):
    with pytest.raises(ValueError, match=message):
        mmd_test(X, Y, **options)


@pytest.mark.parametrize("options", [{}, {"design": km.Design(paired=True)}, {"scheme": "bins"}], ids=str)
def test_a_function_as_estimator_cannot_see_which_sample_a_row_is_of(options):
    rows, seen = np.random.default_rng(5).normal(size=(2, 40, 3)), []

    def spy(points, kernel):
        seen.append(points.copy())
        return kernel, Dirac()

    for first, second in (rows, rows[::-1]):
        km.mmd_test(first, second, estimator=spy, n_resamples=19, rng=0, **options)
    for points in seen:
        np.testing.assert_array_equal(points, seen[0])
    if not options:
        np.testing.assert_array_equal(np.sort(seen[0][:, 0]), seen[0][:, 0])
