"""What holds for every pair in the table of support, whichever rule serves it."""

import sys
from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import ks_2samp

from kernelmean.expected import (
    NoClosedFormError,
    expected,
    expected_blocks,
    expected_diag,
    kernel_examples,
    noise_examples,
    support,
)
from kernelmean.kernels import Categorical, Gaussian, Laplacian, Stationary
from kernelmean.noise import Additive, Dirac, Laplace, Normal, Sampled, Switch, Uniform

KERNELS, NOISES = kernel_examples(), noise_examples()
SIDES = {(kernel, noise): sides for kernel, noise, sides in support()}
PAIRS = [(k, name) for k in KERNELS for name in NOISES if SIDES[repr(k), name] != "none"]
SHARED = [pair for pair in PAIRS if NOISES[pair[1]].per_point is None]
IDS = [f"{k!r}-{name}" for k, name in SHARED]


def points(kernel, n, seed=0, noise=None):
    rng, codes = np.random.default_rng(seed), isinstance(kernel, Categorical) or isinstance(noise, Switch)
    return rng.integers(3, size=(n, 2)).astype(float) if codes else rng.normal(size=(n, 2))


def test_the_table_says_both_one_or_none():
    assert set(SIDES.values()) <= {"both", "one", "none"}
    assert SIDES["Gaussian(bandwidth=1.0)", "Laplace"] == "both"
    assert SIDES["Linear()", "Switch"] == "both"
    assert "| Linear() | both |" in str(support())


NAMES = (
    "Normal",
    "Normal, diagonal",
    "Normal, full",
    "Normal, one per point",
    "Laplace",
    "Uniform",
    "Blankout",
    "Switch",
)
FORMS = {
    "Gaussian(bandwidth=1.0)": "both both both both both both both none",
    "Gaussian(bandwidth=(1.0, 2.0))": "both both both both both both both none",
    "Laplacian(bandwidth=1.0)": "both both none none both both both none",
    "Matern(nu=1.5, bandwidth=1.0)": "both both none none both both both none",
    "Matern(nu=2.5, bandwidth=1.0)": "both both none none both both both none",
    "Matern(nu=3.5, bandwidth=1.0)": "both both none none both both both none",
    "Wendland(order=0, bandwidth=1.0)": "both both none none both both both none",
    "Wendland(order=2, bandwidth=1.0)": "both both none none both both both none",
    "RationalQuadratic(bandwidth=1.0, alpha=1.0)": "none none none none none none none none",
    "Linear()": "both both both both both both both both",
    "Polynomial(degree=2, offset=1.0)": "both both both both both both both both",
    "Polynomial(degree=3, offset=1.0)": "both both both both both both both both",
    "Categorical(similarity=0.1)": "none none none none none none both both",
    "(Gaussian(bandwidth=1.0) + Linear())": "both both both both both both both none",
    "(Gaussian(bandwidth=1.0) * Gaussian(bandwidth=2.0))": "both both both both both both both none",
    "(Gaussian(bandwidth=1.0) * Laplacian(bandwidth=1.0))": "both both none none none none both none",
    "TensorProduct(Gaussian(bandwidth=1.0) on (0,), Laplacian(bandwidth=1.0) on (1,))": (
        "both both none none both both both none"
    ),
}


def test_every_closed_form_that_was_there_is_there():
    """One that was added is none that was lost."""
    wanted = {(kernel, n): s for kernel, sides in FORMS.items() for n, s in zip(NAMES, sides.split(), strict=True)}
    assert {pair: SIDES.get(pair) for pair in wanted} == wanted


def test_the_table_is_printed_row_by_row():
    head, rule, *rows = str(support()).splitlines()
    assert head == f"| kernel | {' | '.join(NOISES)} |"
    assert rule == "|---" * (len(NOISES) + 1) + "|"
    assert rows == [f"| {k!r} | {' | '.join(SIDES[repr(k), name] for name in NOISES)} |" for k in KERNELS]


def test_both_sides_are_tried_with_the_noise_and_one_without(monkeypatch):
    module = sys.modules["kernelmean.expected.support"]
    assert not module._works(Laplacian(1.0), NOISES["Normal"], NOISES["Normal, full"])
    assert module._works(Laplacian(1.0), NOISES["Normal"], Dirac())
    tried = []
    monkeypatch.setattr(module, "_works", lambda *call: tried.append(call) or True)
    assert module._sides(Gaussian(1.0), NOISES["Normal"]) == "both"
    assert tried == [(Gaussian(1.0), NOISES["Normal"], Dirac()), (Gaussian(1.0), NOISES["Normal"], NOISES["Normal"])]


def test_a_form_for_one_noisy_side_alone_is_told(monkeypatch):
    module = sys.modules["kernelmean.expected.support"]
    monkeypatch.setattr(module, "_works", lambda kernel, left, right: isinstance(right, Dirac))
    assert {sides for *_, sides in module.support()} == {"one"}


@pytest.mark.parametrize(("kernel", "name"), SHARED, ids=IDS)
def test_two_noisy_sides_give_a_symmetric_positive_matrix(kernel, name):
    X = points(kernel, 25, noise=NOISES[name])
    gram = expected(kernel, X, X, NOISES[name], NOISES[name])
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12, atol=1e-14)
    assert np.linalg.eigvalsh(gram).min() > -1e-12 * np.abs(gram).max() * len(X)
    np.testing.assert_allclose(expected_diag(kernel, X, NOISES[name], NOISES[name]), np.diag(gram), rtol=1e-12)


@pytest.mark.parametrize(("kernel", "name"), SHARED, ids=IDS)
def test_the_two_sides_are_interchangeable(kernel, name):
    X, Y = (points(kernel, n, seed, NOISES[name]) for n, seed in ((4, 0), (5, 1)))
    one = expected(kernel, X, Y, NOISES[name], Dirac())
    other = expected(kernel, Y, X, Dirac(), NOISES[name])
    np.testing.assert_allclose(one, other.T, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("kernel", "name"), SHARED, ids=IDS)
def test_blocks_equal_the_whole(kernel, name):
    X, Y = (points(kernel, n, seed, NOISES[name]) for n, seed in ((6, 0), (5, 1)))
    blocks = expected_blocks(kernel, X, NOISES[name], Y, NOISES[name])
    whole = expected(kernel, X, Y, NOISES[name], NOISES[name])
    np.testing.assert_allclose(blocks(slice(2, 5), slice(1, 4)), whole[2:5, 1:4], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(("kernel", "name"), SHARED, ids=IDS)
def test_a_closed_form_agrees_with_sampling(kernel, name):
    X, Y = (points(kernel, n, seed, NOISES[name]) for n, seed in ((2, 0), (3, 1)))
    copies = Sampled(NOISES[name], 600).copies(X)
    values = kernel(np.concatenate(copies), Y).reshape(600, 2, 3)
    error = values.std(axis=0) / np.sqrt(len(values)) + 1e-12
    assert np.abs((values.mean(axis=0) - expected(kernel, X, Y, NOISES[name])) / error).max() < 5


@pytest.mark.parametrize(
    ("kernel", "name"),
    [(k, name) for k, name in SHARED if isinstance(k, Stationary) and isinstance(NOISES[name], Additive)],
    ids=repr,
)
def test_an_offset_changes_nothing_and_noise_lowers_the_peak(kernel, name):
    X, Y = points(kernel, 4), points(kernel, 5, seed=1)
    near, far = (expected(kernel, X + s, Y + s, NOISES[name], NOISES[name]) for s in (0.0, 1e6))
    np.testing.assert_allclose(far, near, rtol=1e-6, atol=1e-9)
    peak = expected(kernel, X[:1], X[:1], NOISES[name])[0, 0]
    assert expected(kernel, X[:1], X[:1], NOISES[name], NOISES[name])[0, 0] < peak < kernel.diag(X[:1])[0]


def asymmetry(noise):
    """The least p-value of ε against -ε, of independent draws in four directions."""
    rng, n = np.random.default_rng(0), noise.per_point or 1
    first, second = (np.concatenate([noise.sample_gap((n, 2), rng) for _ in range(3000)]) for _ in range(2))
    directions = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    return min(ks_2samp(first @ u, -second @ u).pvalue for u in directions)


@pytest.mark.parametrize("name", [name for name, noise in NOISES.items() if isinstance(noise, Additive)])
def test_additive_noise_is_symmetric(name):
    noise = NOISES[name]
    assert asymmetry(noise) > 0.001
    with suppress(TypeError):  # dependent axes have no moments one by one
        np.testing.assert_array_equal(noise.moments(5, 2)[1::2], 0.0)


def test_noise_that_is_not_symmetric_shows():
    class Skewed(Normal):
        def sample_gap(self, shape, rng):
            return rng.exponential(size=shape) - 1.0

    assert asymmetry(Skewed(1.0)) < 1e-9


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    "family",
    [lambda s: Normal(s**2), Laplace, Uniform, lambda s: Switch(s, 3)],
    ids=["Normal", "Laplace", "Uniform", "Switch"],
)
def test_vanishing_noise_is_no_noise(kernel, family):
    X, Y = (points(kernel, n, seed, family(1e-9)) for n, seed in ((4, 0), (5, 1)))
    try:
        found = expected(kernel, X, Y, family(1e-9), family(1e-9))
    except NoClosedFormError:
        pytest.skip("no closed form")
    np.testing.assert_allclose(found, kernel(X, Y), rtol=1e-7, atol=1e-7)


def test_per_point_noise_follows_its_points():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    noise = Normal(np.stack([s * np.array([[1.0, 0.2], [0.2, 0.7]]) for s in (0.1, 1.0, 5.0)]))
    whole = expected(Gaussian(0.7), X, Y, noise)
    for i in range(3):
        alone = expected(Gaussian(0.7), X[i : i + 1], Y, Normal(noise.covariance[i]))
        np.testing.assert_allclose(whole[i : i + 1], alone, rtol=1e-12)
