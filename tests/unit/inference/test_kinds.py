"""The kind of difference or dependence that an adaptive test found: in words, with shares, and never for nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference import Adaptive, Member, PairMember, TestResult
from kernelmean.kernels import Gaussian, Linear

Rng = np.random.Generator
Data = tuple[np.ndarray, np.ndarray]


def shift(rng: Rng) -> Data:
    return rng.normal(size=(80, 3)), rng.normal(size=(80, 3)) + 0.8


def scale(rng: Rng) -> Data:
    return rng.normal(size=(80, 3)), rng.normal(size=(80, 3)) * 2.0


def correlation(rng: Rng) -> Data:
    x, y = rng.normal(size=(2, 120, 2))
    return x, np.c_[y[:, 0], 0.6 * y[:, 0] + 0.8 * y[:, 1]]


def skewness(rng: Rng) -> Data:
    return rng.normal(size=(200, 1)), rng.exponential(1, (200, 1)) - 1


def cluster(rng: Rng) -> Data:
    x, y = rng.normal(size=(2, 200, 2))
    y[:25] = 1.0 + 0.05 * y[:25]
    return x, y


SAMPLES: dict[str, Callable[[Rng], Data]] = {
    "means": shift,
    "spread": scale,
    "columns together": correlation,
    "shape": skewness,
    "local": cluster,
}


def line(rng: Rng) -> Data:
    x = rng.normal(size=(80, 1))
    return x, x + rng.normal(size=(80, 1))


def waves(rng: Rng) -> Data:
    x = rng.uniform(-1, 1, (80, 1))
    return x, np.cos(2 * np.pi * x) + 0.4 * rng.normal(size=(80, 1))


def parabola(rng: Rng) -> Data:
    x = rng.normal(size=(300, 1))
    return x, x**2 + rng.normal(size=(300, 1))


def fan(rng: Rng) -> Data:
    x = rng.normal(size=(300, 1))
    return x, np.exp(0.6 * x) * rng.normal(size=(300, 1))


def growing(rng: Rng) -> Data:
    x = rng.normal(size=(120, 1))
    return x, (0.2 + np.abs(x)) * rng.normal(size=(120, 1))


def product(rng: Rng) -> Data:
    x = rng.normal(size=(100, 2))
    return x, x[:, :1] * x[:, 1:] + 0.4 * rng.normal(size=(100, 1))


def spots(rng: Rng) -> Data:
    points = rng.normal(size=(250, 2))
    points[:80] = 0.7 * rng.choice([-1.0, 1.0], (80, 2)) + 0.05 * points[:80]
    return points[:, :1], points[:, 1:]


PAIRS: dict[str, Callable[[Rng], Data]] = {
    "trend": line,
    "curve": waves,
    "spread": growing,
    "several columns": product,
    "local": spots,
}


def compared(kind: str, seed: int = 3) -> TestResult:
    return km.mmd_test(*SAMPLES[kind](np.random.default_rng(seed)), estimator="adaptive", n_resamples=299, rng=0)


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_kind_of_difference_is_named(kind: str) -> None:
    assert compared(kind).kind.name == kind


@pytest.mark.parametrize("kind", PAIRS)
def test_every_kind_of_dependence_is_named(kind: str) -> None:
    X, Y = PAIRS[kind](np.random.default_rng(4))
    assert km.hsic_test(X, Y, estimator="adaptive", n_resamples=299, rng=0).kind.name == kind


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("case", [parabola, fan])
def test_a_bowl_and_a_fan_are_one_picture_from_two_sides(case: Callable[[Rng], Data], swapped: bool, seed: int) -> None:
    """The spread of x grows with y = x² + ε; the mean of x turns with y = e^x ε: no test of pairs tells them apart."""
    X, Y = case(np.random.default_rng(seed))
    kind = km.hsic_test(*((Y, X) if swapped else (X, Y)), n_resamples=199, rng=0).kind
    assert kind.name == "curve"
    assert "in a curve that turns, or a spread that grows" in kind.words


def test_strong_differences_keep_their_kind_where_all_kernels_see_them() -> None:
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(2, 300, 2))
    for changed, kind in ((Y + 3.0, "means"), (Y * 4.0, "spread")):
        result = km.mmd_test(X, changed, estimator="adaptive", n_resamples=199, rng=0)
        assert max(member.pvalue for member in result.members if "local" in member.group) < 0.05
        assert result.kind.name == kind


@pytest.mark.parametrize("samples", [True, False])
def test_nothing_is_said_where_nothing_is_found(samples: bool) -> None:
    X, Y = np.random.default_rng(7).normal(size=(2, 40, 2))
    result = (km.mmd_test if samples else km.hsic_test)(X, Y, estimator="adaptive", n_resamples=99, rng=0)
    assert result.pvalue > 0.05
    assert result.kind is None
    assert result.to_dict()["kind"] is None
    assert "evidence" not in result.summary()


def test_tests_with_one_kernel_or_kernels_of_your_own_have_no_kind() -> None:
    X, Y = shift(np.random.default_rng(8))
    own = Adaptive(members=[Member("data", Gaussian(1.0)), Member("ranks", Gaussian(1.0))])
    named = Adaptive(members=[Member("data", Linear(), group="mine"), Member("radius", Linear(), group="mine")])
    for estimator in ("kme", own, named):
        result = km.mmd_test(X, Y, estimator=estimator, n_resamples=99, rng=0)
        assert result.pvalue <= 0.05
        assert result.kind is None


def test_pairs_of_your_own_have_no_kind_either() -> None:
    X, Y = line(np.random.default_rng(8))
    side = Member("data", Linear())
    own = Adaptive(members=[PairMember(side, side, group="mine")])
    result = km.hsic_test(X, Y, estimator=own, n_resamples=99, rng=0)
    assert result.pvalue <= 0.05
    assert result.kind is None


@pytest.mark.parametrize("kind", ["means", "spread", "columns together", "local"])
def test_order_and_units_of_columns_and_the_order_of_the_samples_change_nothing(kind: str) -> None:
    X, Y = SAMPLES[kind](np.random.default_rng(3))
    X = X[:-1]
    first = km.mmd_test(X, Y, estimator="adaptive", n_resamples=299, rng=0).kind
    assert first.name == kind
    units = np.array([100.0, 0.25, 8.0])[: X.shape[1]]
    for data in ((X[:, ::-1], Y[:, ::-1]), (X * units + 3.0, Y * units + 3.0), (Y, X)):
        other = km.mmd_test(*data, estimator="adaptive", n_resamples=299, rng=0).kind
        assert other.name == first.name
        assert other.shares == pytest.approx(first.shares, rel=1e-6, abs=1e-9)
