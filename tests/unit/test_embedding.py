import tracemalloc

import mpmath
import numpy as np
import pytest

import kernelmean as km
from kernelmean.embedding import parts
from kernelmean.expected import difference, expected, smoothed
from kernelmean.kernels import Gaussian, Linear, TensorProduct
from kernelmean.noise import Blankout, Dirac, IndependentSum, Laplace, Normal, Sampled, Uniform

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 2)), RNG.normal(size=(5, 2)) + 0.5
KERNEL = Gaussian(0.8)
COVARIANCES = np.stack([np.eye(2) * s for s in (0.1, 0.2, 0.3, 0.4, 0.5)])
NOISES = [None, Normal(0.3), Normal.diagonal([0.1, 0.4]), Blankout(0.2), Normal(COVARIANCES)]


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_inner_products_and_values_equal_the_definition(noise):
    beta, gamma = RNG.normal(size=7), RNG.normal(size=5)
    mu = km.embed(X, KERNEL, weights=beta)
    nu = km.embed(Y, KERNEL, weights=gamma, noise=noise)
    gram = expected(KERNEL, X, Y, Dirac(), noise)
    assert mu @ nu == pytest.approx(beta @ gram @ gamma, rel=1e-12)
    assert nu @ nu == pytest.approx(gamma @ expected(KERNEL, Y, Y, noise, noise) @ gamma, rel=1e-12)
    np.testing.assert_allclose(nu(X), gram @ gamma, rtol=1e-12)


def test_the_algebra_is_that_of_a_vector_space():
    mu, nu = km.embed(X, KERNEL), km.embed(Y, KERNEL, noise=Normal(0.2))
    difference = 2.0 * mu - nu / 2
    assert difference @ difference == pytest.approx(4 * (mu @ mu) - 2 * (mu @ nu) + 0.25 * (nu @ nu), rel=1e-12)
    np.testing.assert_allclose(difference(Y), 2 * mu(Y) - nu(Y) / 2, rtol=1e-12)
    np.testing.assert_allclose((-mu)(Y), -mu(Y), rtol=1e-15)
    assert (mu - mu).norm() < 1e-8
    assert mu.witness(nu).norm() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("n", [7, 500])
def test_equal_embeddings_have_no_witness(n, offset):
    Z = np.random.default_rng(n).normal(size=(n, 3)) + offset
    order = np.random.default_rng(0).permutation(n)
    mu = km.embed(Z, KERNEL)
    for equal in (mu, km.embed(Z, KERNEL), km.embed(Z[order], KERNEL), km.embed(np.r_[Z, Z], KERNEL)):
        with pytest.raises(ValueError, match="equal"):
            mu.witness(equal)
    near = km.embed(Z + 1e-4, KERNEL)
    assert mu.witness(near).norm() == pytest.approx(1.0, rel=1e-3)


def test_the_mean_of_a_gaussian_mixture_is_exact():
    rng = np.random.default_rng(1)
    means, proportions = rng.normal(size=(3, 2)), np.array([0.2, 0.5, 0.3])
    covariances = np.stack([np.eye(2), 0.5 * np.eye(2), np.array([[1.0, 0.4], [0.4, 0.7]])])
    truth = km.embed(means, KERNEL, weights=proportions, noise=Normal(covariances))
    component = rng.choice(3, size=20_000, p=proportions)
    noise = np.einsum("nij,nj->ni", np.linalg.cholesky(covariances)[component], rng.normal(size=(20_000, 2)))
    draws = means[component] + noise
    values = KERNEL(Y, draws)
    standard_error = values.std(axis=1) / np.sqrt(20_000)
    assert np.all(np.abs(truth(Y) - values.mean(axis=1)) < 4 * standard_error)


def test_a_duplicated_point_is_a_doubled_weight():
    doubled = km.embed(np.vstack([X, X[:1]]), KERNEL, weights=np.ones(8))
    weighted = km.embed(X, KERNEL, weights=np.r_[2.0, np.ones(6)])
    np.testing.assert_allclose(doubled(Y), weighted(Y), rtol=1e-13)


def test_linear_kernel_embeds_the_mean():
    mu, nu = km.embed(X, Linear()), km.embed(Y, Linear())
    assert mu @ nu == pytest.approx(X.mean(axis=0) @ Y.mean(axis=0), rel=1e-12)


def test_sampling_follows_the_mixture():
    centers = np.array([[0.0, 0.0], [10.0, 0.0]])
    mu = km.embed(centers, KERNEL, weights=[0.25, 0.75], noise=Normal.isotropic([0.01, 0.04]))
    draws = mu.sample(20_000, rng=0)
    right = draws[:, 0] > 5
    assert abs(right.mean() - 0.75) < 4 * np.sqrt(0.25 * 0.75 / 20_000)
    assert draws[right].var(axis=0) == pytest.approx([0.04, 0.04], rel=0.05)
    np.testing.assert_array_equal(draws, mu.sample(20_000, rng=0))
    with pytest.raises(ValueError, match="negative"):
        km.embed(centers, KERNEL, weights=[1.0, -0.5]).sample(3)
    with pytest.raises(ValueError, match="A difference of embeddings is no distribution: take one of them"):
        (mu - km.embed(centers + 1.0, KERNEL)).sample(3)


@pytest.mark.parametrize(
    "noise",
    [Normal(0.3), Normal.diagonal([0.1, 0.4]), Normal(np.array([[0.3, 0.1], [0.1, 0.2]])), Normal(COVARIANCES)],
    ids=repr,
)
def test_log_density_integrates_to_one(noise):
    mu = km.embed(Y, KERNEL, weights=[0.1, 0.2, 0.3, 0.2, 0.2], noise=noise)
    axis = np.linspace(-9, 9, 241)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert np.exp(mu.logpdf(grid)).sum() * (axis[1] - axis[0]) ** 2 == pytest.approx(1.0, rel=1e-9)


def test_a_log_density_far_out_is_finite():
    mu = km.embed(X, KERNEL, noise=Normal(0.1))
    assert np.isfinite(mu.logpdf(np.full((1, 2), 1e3)))[0]
    with pytest.raises(TypeError, match="no density"):
        km.embed(X, KERNEL).logpdf(Y)


def test_log_densities_take_the_memory_of_a_block(monkeypatch):
    monkeypatch.setattr(parts, "_BLOCK", (2**7, 2**7))
    Z = np.random.default_rng(0).normal(size=(2000, 2))
    mu = km.embed(Z, KERNEL, noise=Normal(0.1))
    tracemalloc.start()
    try:
        mu.logpdf(Z)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e6  # all pairs would be 32 MB


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"X": [[np.nan]]}, ValueError, "NaN"),
        ({"X": [[np.inf]]}, ValueError, "infinite"),
        ({"X": np.ma.masked_array([[1.0], [2.0]], mask=[[True], [False]])}, ValueError, "masked"),
        ({"X": [[1j]]}, TypeError, "numbers are needed"),
        ({"X": np.zeros((0, 2))}, ValueError, "at least one row"),
        ({"X": np.zeros((2, 0))}, ValueError, "at least one row"),
        ({"X": [["a", "b"]]}, TypeError, "numbers are needed"),
        ({"X": [[1.0], [1.0, 2.0]]}, ValueError, "different lengths"),
        ({"X": np.array([[object()]])}, TypeError, "numbers are needed"),
        ({"X": np.zeros((2, 1)), "weights": [1.0]}, ValueError, "weights"),
        ({"X": np.zeros((2, 1)), "weights": [1.0, np.nan]}, ValueError, "weights"),
        ({"X": np.zeros((2, 1)), "weights": [1.0, 1j]}, TypeError, "weights holds complex numbers"),
        ({"X": np.zeros((2, 1)), "weights": ["1", "1"]}, TypeError, "weights holds"),
        ({"X": np.zeros((2, 1)), "weights": np.ma.array([1.0, 1.0], mask=[True, False])}, ValueError, "masked cells"),
        ({"X": [[2**53 + 1]]}, ValueError, r"beyond 2\^53"),
        ({"X": np.zeros((2, 1)), "noise": 0.1}, TypeError, "noise is 0.1"),
        ({"X": np.zeros((2, 1)), "noise": 0}, TypeError, "noise is 0"),
        ({"X": np.zeros((2, 1)), "kernel": "gaussian"}, TypeError, "kernel is 'gaussian'"),
        ({"X": np.zeros((2, 1)), "kernel": Gaussian}, TypeError, "kernel is <class"),
        ({"X": np.zeros((2, 1)), "noise": Normal(np.ones((3, 1, 1)))}, ValueError, "3 distributions for 2 points"),
    ],
)
def test_bad_input_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        km.embed(**{"kernel": KERNEL, **arguments})


@pytest.mark.parametrize(
    "noise",
    [
        Normal(0.0),
        Normal.diagonal([0.0, 1.0]),
        Normal.isotropic([0.0, 1, 1, 1, 1, 1, 1]),
        Normal(np.ones((2, 2))),
        Normal([[1.0, 0.1], [0.1, 0.01]]),
        Normal(np.diag([1.0, 0.0])),
        Laplace(0.0),
        Uniform([0.0, 1.0]),
    ],
    ids=repr,
)
def test_a_point_mass_has_no_density(noise):
    with pytest.raises(ValueError, match="point mass"):
        km.embed(X, KERNEL, noise=noise).logpdf(X[:2])


def test_variances_of_very_different_units_have_a_density():
    noise = Normal(np.diag([1e-20, 1e20]))
    assert noise.logpdf(np.zeros((1, 2)))[0] == pytest.approx(-np.log(2 * np.pi), rel=1e-12)


@pytest.mark.parametrize("factor", [np.nan, np.inf, -np.inf, np.float64("nan")])
def test_factors_are_finite(factor):
    mu = km.embed(X, KERNEL)
    for scaled in (
        lambda: mu * factor,
        lambda: factor * mu,
        lambda: mu / 0,
        lambda: mu / np.float64(0),
        lambda: mu / 1e-320,
    ):
        with pytest.raises(ValueError, match=r"finite number|divisor is 0"):
            scaled()
    with pytest.raises(TypeError, match="unsupported"):
        mu * mu


WRONG_COLUMNS = [
    Normal(np.eye(1)),
    Normal(np.ones((7, 1, 1))),
    Normal.diagonal([1.0]),
    Normal.diagonal([0.1, 0.2, 0.9]),
    Normal(np.eye(3)),
    Laplace([0.1]),
    Uniform([0.1, 0.2, 0.9]),
    Blankout([0.1, 0.2, 0.9]),
    Blankout([0.1]),
    Blankout(0.1, [0.0, 1.0, 2.0]),
    Sampled(Normal.diagonal([0.1, 0.2, 0.9]), 2),
    IndependentSum((Normal(0.1), Laplace([0.1]))),
]


@pytest.mark.parametrize("noise", WRONG_COLUMNS, ids=repr)
@pytest.mark.parametrize("kernel", [KERNEL, TensorProduct((KERNEL, KERNEL), ((0,), (1,)))], ids=["plain", "tensor"])
def test_noise_of_other_columns_is_refused(noise, kernel):
    text = "the data have 2"
    with pytest.raises(ValueError, match=text):
        km.embed(X, kernel, noise=noise)
    for sides in ((noise, None), (None, noise)):
        with pytest.raises(ValueError, match=text):
            expected(kernel, X, X, *sides)
    for filter_ in (None, "ridge"):
        with pytest.raises(ValueError, match=text):
            km.KernelMean(kernel, noise=noise, filter=filter_).fit(X)


def test_noises_of_different_columns_do_not_add_up():
    narrow, wide = Normal.diagonal([0.1]), Normal.diagonal([0.1, 0.2])
    with pytest.raises(ValueError, match="different numbers of columns"):
        IndependentSum((narrow, wide))
    with pytest.raises(ValueError, match="different numbers of columns"):
        difference(narrow, wide)
    with pytest.raises(ValueError, match="the data have 1"):
        smoothed(KERNEL, wide, 1)
    with pytest.raises(ValueError, match="one number per column"):
        Blankout([0.1, 0.2], [1.0, 2.0, 3.0])


def test_embeddings_of_different_spaces_do_not_mix():
    mu = km.embed(X, KERNEL)
    with pytest.raises(ValueError, match="different spaces"):
        mu @ km.embed(Y, Gaussian(0.9))
    with pytest.raises(ValueError, match="2 columns"):
        mu - km.embed(np.zeros((3, 1)), KERNEL)
    with pytest.raises(ValueError, match="different noises"):
        _ = (mu - km.embed(Y, KERNEL, noise=Normal(0.1))).noise
    with pytest.raises(TypeError, match="not an Embedding"):
        mu @ X


def test_an_embedding_says_what_it_is():
    assert repr(km.embed(X, KERNEL)) == "Embedding(n=7, d=2, kernel=Gaussian(bandwidth=0.8), noise=Dirac())"


@pytest.mark.parametrize("shift", [0.0, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2])
def test_distances_of_near_embeddings_are_as_exact_as_norm_says(shift):
    """The square is exact to 1e-16 times (Σ|w|)² = 4."""
    X, kernel = np.random.default_rng(0).normal(size=(20, 2)), km.kernels.Gaussian(1.0)
    found = (km.embed(X, kernel) - km.embed(X + shift, kernel)).norm()
    with mpmath.workdps(50):
        points, weights = np.r_[X, X + shift].tolist(), [mpmath.mpf(1) / 20] * 20 + [-mpmath.mpf(1) / 20] * 20
        squared = mpmath.fsum(
            v
            * w
            * mpmath.exp(-mpmath.fsum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(x, y, strict=True)) / 2)
            for x, v in zip(points, weights, strict=True)
            for y, w in zip(points, weights, strict=True)
        )
    assert found**2 == pytest.approx(float(squared), abs=4e-16, rel=0)


@pytest.mark.parametrize("library", ["numpy", "array_api_strict"])
def test_a_component_without_weight_is_not_looked_at_however_near(library):
    xp = pytest.importorskip(library)
    mu = km.embed(xp.asarray([[0.0], [100.0]]), KERNEL, weights=[1.0, 0.0], noise=Normal(1.0))
    assert float(mu.logpdf(xp.asarray([[100.0]]))[0]) == pytest.approx(-5000.0 - 0.5 * np.log(2 * np.pi), rel=1e-14)


@pytest.mark.parametrize("take", [lambda X: km.embed(X, Gaussian(1.0)), km.median_bandwidth])
def test_a_path_where_rows_are_needed_is_told_how_it_is_read(take):
    with pytest.raises(
        TypeError, match=r"X is 'a.csv', and this takes rows; pass kernelmean.tables.read_table\('a.csv'\)"
    ):
        take("a.csv")
