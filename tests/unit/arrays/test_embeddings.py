"""Kernels, noises and embeddings on arrays of other libraries: the numbers of NumPy, where the arrays live."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean import kernels, noise
from kernelmean.core import as_host, home, is_foreign, to_numpy
from kernelmean.expected import NoClosedFormError, expected_blocks, kernel_examples, noise_examples
from kernelmean.kernels import DistanceInduced, QuadraticGaussian

from .libraries import LIBRARIES, STRICT, TORCH, Library

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(11, 2)), RNG.normal(size=(8, 2)) + 0.5
KERNELS, NOISES = kernel_examples(), noise_examples()
ALL_KERNELS = (*KERNELS, DistanceInduced(), DistanceInduced(0.5), QuadraticGaussian(NOISES["Normal, full"].covariance))
ALL_NOISES = {
    "none": noise.Dirac(),
    **NOISES,
    "diagonal, one per point": noise.Normal.diagonal(np.exp(RNG.normal(size=(11, 2)))),
    "Sampled": noise.Sampled(noise.Normal(0.1), n_samples=3),
    "Sampled Blankout": noise.Sampled(noise.Blankout(0.3, value=1.0), n_samples=3),
}


def _noise_of(name: str, n: int) -> noise.Noise:
    found = ALL_NOISES[name]
    if name == "Normal, one per point":
        return noise.Normal(np.stack([NOISES["Normal, full"].covariance * (1 + i / n) for i in range(n)]))
    return found.take(slice(0, n)) if found.per_point is not None else found


def _points(name: str) -> tuple[Any, Any]:
    return (np.floor(np.abs(X)).clip(0, 2), np.floor(np.abs(Y)).clip(0, 2)) if name == "Switch" else (X, Y)


def _sides(name: str) -> list[tuple[noise.Noise, noise.Noise]]:
    v, w, none = _noise_of(name, len(X)), _noise_of(name, len(Y)), noise.Dirac()
    return [(v, w), (v, none), (none, w)] if name != "none" else [(none, none)]


def _results(kernel: kernels.Kernel, A: Any, B: Any, v: noise.Noise, w: noise.Noise) -> list[Any]:
    """Return what there is under these noises, but not what one side alone has beside any other."""
    mu, nu = km.embed(A, kernel, noise=v), km.embed(B, kernel, noise=w)
    found = [km.expected(kernel, A, B, v, w), mu @ nu]
    if isinstance(v, noise.Dirac) == isinstance(w, noise.Dirac):
        found += [mu @ mu, kernel.diag(A)]
    return [*found, mu(B)] if isinstance(w, noise.Dirac) else found


@pytest.mark.parametrize(("kernel", "name"), checkered(ALL_KERNELS, list(ALL_NOISES), every=4), ids=repr)
@pytest.mark.parametrize("library", LIBRARIES)
def test_expectations_and_embeddings_are_those_of_numpy(library: Library, kernel: Any, name: str) -> None:
    A, B = (library.rounded(Z) for Z in _points(name))
    checked = 0
    for v, w in _sides(name):
        try:
            exact = _results(kernel, A, B, v, w)
        except NoClosedFormError:
            continue
        try:
            found = _results(kernel, library.make(A), library.make(B), v, w)
        except TypeError as error:
            assert "array_api_strict on" in str(error)  # noqa: PT017 - it has no erfcx, which is said
            pytest.skip(str(error))
        scale = np.abs(exact[0]).max()
        for ours, theirs in zip(found, exact, strict=True):
            np.testing.assert_allclose(to_numpy(ours), theirs, rtol=0, atol=library.tolerance * scale)
        checked += 1
    if not checked:
        pytest.skip("no closed form")


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_has_the_length_of_the_points_stays_with_them_and_scalars_are_floats(library: Library) -> None:
    A, B = library.make(X), library.make(Y)
    mu = km.embed(A, kernels.Gaussian(1.0), noise=noise.Normal(0.1))
    nu = km.embed(B, kernels.Gaussian(1.0), weights=np.arange(len(Y)))
    for array in (mu.points, mu.weights, mu(B), (mu - 2.0 * nu).points, (mu - nu).weights, mu.sample(3, 0)):
        assert home(array) == home(A)
    assert repr(mu) == repr(mu.to_numpy())
    assert isinstance(mu @ nu, float)
    assert isinstance((mu - nu).norm(), float)
    assert not is_foreign(mu.to_numpy().points)
    np.testing.assert_allclose(to_numpy(mu.logpdf(B)), mu.to_numpy().logpdf(to_numpy(B)), rtol=1e-6)


DENSITIES = {
    "one variance": noise.Normal(0.3),
    "diagonal": noise.Normal.diagonal([0.3, 2.0]),
    "full": noise.Normal(NOISES["Normal, full"].covariance),
    "full, one per point": noise.Normal(np.stack([NOISES["Normal, full"].covariance * (1 + i) for i in range(11)])),
    "one variance per point": noise.Normal.isotropic(np.linspace(0.1, 2.0, 11)),
    "Laplace": noise.Laplace((0.3, 0.5)),
    "Uniform": noise.Uniform(1.5),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", DENSITIES)
def test_log_densities_are_those_of_numpy(library: Library, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.embedding.parts._BLOCK", (6, 11))  # three rows at a time
    kernel, weights = kernels.Gaussian(1.0), np.linspace(0.0, 1.0, 11)
    places = np.concatenate([Y, [[50.0, 0.0]]])
    parts = [
        km.embed(made(X), kernel, weights=weights, noise=DENSITIES[name])
        + km.embed(made(Y), kernel, noise=noise.Normal(1.0))
        for made in (library.rounded, library.make)
    ]
    exact, found = parts[0].logpdf(library.rounded(places)), parts[1].logpdf(library.make(places))
    assert home(found) == home(library.make(places))
    np.testing.assert_allclose(to_numpy(found), exact, rtol=1e-12)


def test_a_place_without_density_has_minus_infinity_everywhere() -> None:
    torch = pytest.importorskip("torch")
    mu = km.embed(torch.as_tensor(X), kernels.Gaussian(1.0), noise=noise.Uniform(0.1))
    assert float(mu.logpdf(torch.as_tensor([[100.0, 0.0]], dtype=torch.float64))[0]) == -np.inf


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0])
def test_points_far_apart_or_far_from_the_origin_lose_no_digits(library: Library, scale: float) -> None:
    table = library.rounded(np.concatenate([scale * X, scale * X + 0.5, [[1e6, -1e6]]]))
    for kernel in (kernels.Gaussian(1.0), kernels.RationalQuadratic(1.0, 1.0)):
        found = to_numpy(kernel(library.make(table), library.make(table)))
        np.testing.assert_allclose(found, kernel(table, table), rtol=0, atol=library.tolerance)


def test_no_tile_on_a_device_is_larger_than_the_memory_allows() -> None:
    sizes = []

    class Watched(kernels.Gaussian):
        def blocks(self, X: Any, Y: Any) -> Any:
            inner = super().blocks(X, Y)

            def block(i: slice, j: slice) -> Any:
                tile = inner(i, j)
                sizes.append(8 * tile.shape[0] * tile.shape[1])
                return tile

            return block

    array_api_strict = pytest.importorskip("array_api_strict")
    points = array_api_strict.asarray(RNG.normal(size=(200, 2)), device=array_api_strict.Device("device1"))
    mu = km.embed(points, Watched(1.0), plan=km.Plan(device_memory=2.0**15))
    assert mu @ mu > 0
    assert len(sizes) > 10
    assert max(sizes) <= 2**15


def test_float32_values_are_added_up_in_float64() -> None:
    torch = pytest.importorskip("torch")
    table = np.random.default_rng(1).normal(size=(3000, 3)).astype(np.float32)
    exact = km.embed(table.astype(np.float64), kernels.Gaussian(1.0))
    mu = km.embed(torch.as_tensor(table), kernels.Gaussian(1.0))
    assert mu.points.dtype == torch.float32
    assert mu @ mu == pytest.approx(exact @ exact, rel=1e-7)


def test_tables_of_two_types_meet_in_the_wider_one() -> None:
    torch = pytest.importorskip("torch")
    mu = km.embed(torch.as_tensor(X, dtype=torch.float32), kernels.Gaussian(1.0))
    nu = km.embed(torch.as_tensor(Y), kernels.Gaussian(1.0))
    exact = km.embed(X.astype(np.float32).astype(np.float64), kernels.Gaussian(1.0)) @ km.embed(Y, nu.kernel)
    assert mu @ nu == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("library", [TORCH, STRICT])
def test_mixed_libraries_and_devices_are_refused_with_advice(library: Library) -> None:
    kernel = kernels.Gaussian(1.0)
    mu, nu = km.embed(library.make(X), kernel), km.embed(Y, kernel)
    for mixed in (lambda: mu @ nu, lambda: mu - nu, lambda: mu(Y), lambda: nu(library.make(Y))):
        with pytest.raises(TypeError, match=r"numpy.*bring both to one library and device"):
            mixed()


def test_two_devices_of_one_library_are_refused() -> None:
    xp = pytest.importorskip("array_api_strict")
    mu, nu = (km.embed(xp.asarray(X, device=xp.Device(name)), kernels.Gaussian(1.0)) for name in ("device1", "device2"))
    with pytest.raises(TypeError, match=r"device1.*device2"):
        mu @ nu


@pytest.mark.parametrize("library", [TORCH, STRICT])
def test_bad_tables_are_refused_as_those_of_numpy_are(library: Library) -> None:
    kernel = kernels.Gaussian(1.0)
    for bad, text in (([[np.nan, 1.0]], "NaN"), ([[[1.0, 2.0]]], "shape"), (np.zeros((0, 2)), "at least one row")):
        with pytest.raises(ValueError, match=text):
            km.embed(library.make(bad), kernel)
    with pytest.raises(ValueError, match="columns"):
        km.embed(library.make(X), kernel)(library.make(X[:, :1]))


def test_types_that_are_too_short_or_complex_are_refused_and_integers_taken() -> None:
    torch = pytest.importorskip("torch")
    table = torch.as_tensor([[1, 2], [3, 4]])
    assert km.embed(table, kernels.Gaussian(1.0)).points.dtype == torch.float64
    for dtype, text in ((torch.float16, r"X\.float"), (torch.complex128, "numbers are needed")):
        with pytest.raises(TypeError, match=text):
            km.embed(table.to(dtype), kernels.Gaussian(1.0))


def test_a_library_without_a_special_function_is_named_and_so_is_what_to_do() -> None:
    xp = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match=r"erfcx, which array_api_strict.*pass torch tensors or NumPy arrays"):
        km.expected(kernels.Laplacian(1.0), xp.asarray(X), xp.asarray(Y), noise.Normal(0.1))


@pytest.mark.parametrize("library", [STRICT])
@pytest.mark.parametrize("pieces", [1, 10**6])
def test_full_covariances_of_any_sides_and_rows_are_those_of_numpy(library, pieces, monkeypatch):
    monkeypatch.setattr(sys.modules["kernelmean.expected.gaussian"], "_ROW_NUMBERS", pieces)
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    roots = rng.normal(size=(12, 2, 2))
    each = roots @ roots.transpose(0, 2, 1)
    left, right, shared = noise.Normal(each[:7]), noise.Normal(each[7:]), noise.Normal(each[0])
    rough, rough_too = noise.Normal.diagonal(each[:7, 0] ** 2), noise.Normal.isotropic(each[7:, 0, 0])
    for v, w in (
        (left, right),
        (left, shared),
        (shared, right),
        (left, noise.Dirac()),
        (noise.Normal(0.3), right),
        (rough, right),
        (left, rough_too),
    ):
        plain = expected_blocks(kernels.Gaussian([0.7, 1.5]), A, v, B, w)
        blocks = expected_blocks(kernels.Gaussian([0.7, 1.5]), library.make(A), v, library.make(B), w)
        for i, j in ((slice(None), slice(None)), (slice(2, 6), slice(1, 3)), (slice(6, 7), slice(0, 5))):
            found = blocks(i, j)
            assert type(found) is type(library.make(A))
            np.testing.assert_allclose(as_host(found), plain(i, j), rtol=1e-11)
