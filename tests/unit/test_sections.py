"""Kernels at fixed rows, ranks without a search, and sums of what is looked up: each beside the plain way."""

from dataclasses import dataclass

import numpy as np
import pytest

from kernelmean.inference.adaptive.coordinates import Columns
from kernelmean.inference.adaptive.member import EIGHTH, LINEAR, MEDIAN, Member
from kernelmean.inference.adaptive.ranks import Ranks
from kernelmean.inference.adaptive.views import Views, ViewSource
from kernelmean.kernels import DistanceInduced, Gaussian, Laplacian, Linear
from kernelmean.kernels.sections import Sections

WIDTHS = 2.0, 0.0625, 0.37, 1.0, 0.25, 1.0


def precise(width, Y, X):
    gap = (Y[:, None, :].astype(np.longdouble) - X[None, :, :].astype(np.longdouble)) / np.longdouble(width)
    return np.exp(-np.square(gap).sum(axis=2) / 2)


@pytest.mark.parametrize("dim", [1, 2, 10])
@pytest.mark.parametrize("far", ["near", "rows", "both", "pairs", "hopeless"])
def test_gaussians_at_fixed_rows_are_accurate_wherever_rows_lie(dim, far):
    rng = np.random.default_rng(dim)
    X, Y = rng.standard_normal((300, dim)), rng.standard_normal((32, dim))
    if far in ("rows", "both", "pairs", "hopeless"):
        X[:50] *= 1e4
    if far in ("both", "pairs", "hopeless"):
        Y[:5] = X[:5] + 0.01 * rng.standard_normal((5, dim))
    if far == "pairs":
        X[5:10] = Y[:5] + 0.1
    if far == "hopeless":
        X[7], Y[7] = 1e200, 1e200
    kernels = [Gaussian(width) for width in WIDTHS]
    found = {number: values.copy() for number, values in Sections(kernels, Y)(X)}
    assert sorted(found) == list(range(len(WIDTHS)))
    for number, width in enumerate(WIDTHS):
        np.testing.assert_allclose(found[number], precise(width, Y, X).astype(float), rtol=0, atol=3e-13)


def test_long_chains_of_widths_lose_no_digits():
    rng = np.random.default_rng(4)
    Y = rng.standard_normal((32, 1))
    X = np.concatenate([Y + 1e-3 * rng.standard_normal(Y.shape), rng.standard_normal((50, 1))])
    widths = [4.0**-k for k in range(7)]
    for number, values in Sections([Gaussian(width) for width in widths], Y)(X):
        np.testing.assert_allclose(values, precise(widths[number], Y, X).astype(float), rtol=0, atol=1e-12)


@dataclass(frozen=True)
class _Doubled(Gaussian):
    def blocks(self, X, Y):
        inner = super().blocks(X, Y)
        return lambda i, j: 2.0 * inner(i, j)


def test_a_kernel_made_of_the_gaussian_one_stays_itself():
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((20, 2)), rng.standard_normal((4, 2))
    found = dict(Sections([_Doubled(1.0)], Y)(X))
    np.testing.assert_allclose(found[0], 2.0 * Gaussian(1.0)(Y, X), rtol=1e-13)


@pytest.mark.parametrize("library", ["numpy", "array_api_strict"])
def test_any_kernels_at_fixed_rows_are_their_own_values(library):
    foreign = pytest.importorskip(library).asarray
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((40, 3)), rng.standard_normal((7, 3))
    kernels = [Gaussian(1.0), Linear(), Gaussian((1.0, 2.0, 3.0)), Laplacian(0.5), DistanceInduced(), Gaussian(0.5)]
    numbers = []
    for number, values in Sections(kernels, Y)(foreign(X)):
        numbers.append(number)
        np.testing.assert_allclose(np.asarray(values), kernels[number](Y, X), rtol=1e-12, atol=1e-13)
    assert sorted(numbers) == list(range(len(kernels)))


COLUMNS = {
    "normal": lambda rng: rng.standard_normal(3000),
    "heavy": lambda rng: rng.standard_t(1, 3000),
    "two scales": lambda rng: np.append(rng.standard_normal(1500), 1e9 + rng.standard_normal(1500)),
    "three scales": lambda rng: np.concatenate([10.0**k * rng.standard_normal(900) for k in (-9, 0, 9)]),
    "ties": lambda rng: rng.integers(0, 900, 3000).astype(float),
    "one value": lambda rng: np.ones(3000),
    "beyond": lambda rng: np.append(rng.standard_normal(2000), [-1e308, 1e308]),
    "all beyond": lambda rng: 1e308 * rng.uniform(-1.7, 1.7, 2000),
    "tiny": lambda rng: 5e-324 * rng.integers(0, 10_000, 2000),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_places_among_ranks_are_those_of_a_search(name):
    rng = np.random.default_rng(5)
    column = COLUMNS[name](rng)
    knots = np.unique(column)
    with np.errstate(over="ignore"):
        near = [np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf), rng.choice(column, 500), column / 3]
    values = np.concatenate([*near, [-np.inf, np.inf, 0.0, -0.0]])
    index = np.searchsorted(knots, values)
    expected = 2 * index + (np.append(knots, np.inf)[index] == values) * (index < len(knots))
    np.testing.assert_array_equal(Ranks.of(column[:, None]).places(values[:, None])[0], expected)


@pytest.mark.parametrize("chosen", [None, [0], [2]])
def test_sums_of_what_is_looked_up_are_those_of_the_columns(chosen):
    rng = np.random.default_rng(8)
    dim = 1 if chosen is None else 3
    pilot, rows = rng.standard_normal((500, dim)), 1.2 * rng.standard_normal((400, dim))
    rows[:20] = pilot[:20]
    source = ViewSource(pilot)
    members = [
        Member("axes", LINEAR),
        Member("square axes", LINEAR),
        Member("data", MEDIAN),
        Member("ranks", EIGHTH),
        Member("ranks", EIGHTH, ridge=0.01),
        Member("ranks", LINEAR),
        Member("scores", DistanceInduced()),
    ]
    members = [own for own in members if dim > 1 or own.view not in ("axes", "square axes")]
    own = None if chosen is None else np.array(chosen)
    views = Views.of(source, members, np.arange(200), np.arange(0, 500, 20), chosen=own)
    columns = Columns.of(source, views, [kernel for each in views.kernels.values() for kernel in each])
    starts = np.array([0, 1, 50, 390])
    found = columns.grouped(rows, starts)

    seen = ViewSource(rows, source.fits)
    for part, block in zip(views.parts, columns.blocks, strict=True):
        table = part.view(seen)
        projection = part.projection
        values = table.T if projection is None else projection(projection.kernel(projection.landmarks, table))
        sums = np.add.reduceat(values, starts, axis=1)
        squares = np.add.reduceat(block.weights @ np.square(values), starts, axis=1)
        scale = np.abs(values).sum(axis=1).max()
        np.testing.assert_allclose(found[:, block.place].T, sums, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(found[:, columns.size + block.numbers].T, squares, rtol=1e-9)
