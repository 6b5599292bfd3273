"""Pairs with strata, clusters or weights: turns of wheels held to the definition, and exact over whole orbits."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.core.array import Array
from kernelmean.inference.adaptive.many_kernels import Adaptive
from kernelmean.inference.adaptive.member import Member, PairMember
from kernelmean.inference.designs import independence
from kernelmean.inference.designs.independence import PairDesign
from kernelmean.inference.permutations import AllWithinCells, Expanded, Permutations, WithinCells
from kernelmean.inference.questions import many_pairs
from kernelmean.inference.resampling import Resampling
from kernelmean.inference.rotations import meeting
from kernelmean.inference.rotations import wheels as room
from kernelmean.inference.rotations.few_units import UnitProducts, meeting_units
from kernelmean.inference.rotations.meeting import together, windows_of
from kernelmean.inference.rotations.stripes import BlockPair
from kernelmean.inference.rotations.wheels import Wheels
from kernelmean.inference.units.kernel_sums import Block
from kernelmean.inference.units.layout import Layout
from kernelmean.kernels import Gaussian, Linear
from kernelmean.plan import Plan

RNG = np.random.default_rng(3)
N = 230
DESIGNS: dict[str, dict[str, Any]] = {
    "weights": {"weights": RNG.uniform(1.0, 100.0, N)},
    "strata": {"strata": RNG.choice(4, N, p=[0.6, 0.3, 0.07, 0.03])},
    "many strata": {"strata": RNG.integers(0, 40, N)},
    "clusters": {"clusters": np.repeat(np.arange(115), 2)},
    "uneven clusters": {"clusters": RNG.integers(0, 60, N)},
    "all": {
        "strata": np.repeat(RNG.integers(0, 3, 115), 2),
        "clusters": np.repeat(np.arange(115), 2),
        "weights": RNG.uniform(1.0, 9.0, N),
    },
}


def drawn(design: PairDesign, seed: int = 0, n_resamples: int = 49) -> Permutations:
    return design.permutations(Resampling.of(n_resamples=n_resamples, rng=seed))


def orders(permutations: Permutations, layout: Layout) -> Array:
    listed = permutations if isinstance(permutations, Wheels) else Expanded(permutations, layout.sizes)
    return np.concatenate(list(listed.batches(7)))


@pytest.fixture
def always_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independence, "_FEW", 3)


@pytest.mark.usefixtures("always_wheels")
@pytest.mark.parametrize("name", DESIGNS)
def test_turns_are_permutations_within_cells_that_move_whole_units(name: str) -> None:
    design = km.Design(**DESIGNS[name]).of_pairs(N)
    layout, wheels = design.layout, drawn(design)
    assert isinstance(wheels, Wheels)
    found = orders(wheels, layout)
    np.testing.assert_array_equal(found[0], np.arange(N))
    assert len(np.unique(found, axis=0)) > 45
    unit = np.repeat(np.arange(len(layout.sizes)), layout.sizes)
    place = np.arange(N) - layout.starts[unit]
    for order in found:
        np.testing.assert_array_equal(np.sort(order), np.arange(N))
        np.testing.assert_array_equal(place[order], place)
        np.testing.assert_array_equal(layout.cells[unit[order]], layout.cells[unit])
        assert (np.diff(unit[order])[np.diff(unit) == 0] == 0).all()
    moved = (found[1:] != np.arange(N)).mean()
    random = orders(WithinCells(layout.cells, 50, np.random.default_rng(0)), layout)
    assert moved > 0.9 * (random[1:] != np.arange(N)).mean()  # hardly a unit stays


@pytest.mark.usefixtures("always_wheels")
@pytest.mark.parametrize("name", DESIGNS)
def test_features_are_fitted_to_rows_that_permutations_exchange(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PILOT", 30)
    monkeypatch.setattr(many_pairs, "PILOT", 30)
    design = km.Design(**DESIGNS[name]).of_pairs(N)
    wheels = drawn(design)
    assert isinstance(wheels, Wheels)
    listed = WithinCells(design.layout.cells, 50, np.random.default_rng(0))
    for permutations, rows in (
        (wheels, wheels.pilot(np.random.default_rng(1))),
        (listed, many_pairs._corresponding(design.layout, np.random.default_rng(1))),
    ):
        assert len(rows) >= 30
        for order in orders(permutations, design.layout):
            np.testing.assert_array_equal(np.sort(order[rows]), rows)


class Numbered:
    """Columns in two blocks."""

    def __init__(self, columns: Array) -> None:
        self.columns, self.size = columns, len(columns)
        none = np.zeros(0, dtype=int)
        self.blocks = [Block(place, none, np.zeros((0, 0))) for place in (slice(0, 2), slice(2, len(columns)))]

    def at(self, rows: Any) -> Any:
        yield from ((block, self.columns[block.place][:, rows]) for block in self.blocks)


@pytest.mark.usefixtures("always_wheels")
@pytest.mark.parametrize("window", [2**17, 30])
@pytest.mark.parametrize("name", DESIGNS)
def test_sums_are_those_of_the_definition_under_every_permutation(
    name: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meeting, "WINDOW_ROWS", window)
    monkeypatch.setattr(room, "WINDOW_ROWS", window)
    design = km.Design(**DESIGNS[name]).of_pairs(N)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, N)), rng.normal(size=(4, N))
    x -= x.mean(axis=1, keepdims=True)
    pairs = [
        BlockPair(i, j, np.array([0, 1 + i + 2 * j]), (rng.random((2, 2 + i)), rng.random((2, 2))))
        for i, j in product(range(2), repeat=2)
    ]
    wheels = drawn(design)
    assert isinstance(wheels, Wheels)
    listed = WithinCells(design.layout.cells, 50, np.random.default_rng(0))
    products = UnitProducts(Numbered(x), Numbered(y), pairs, design.layout)
    for number, rows in together(meeting_units(design.layout), windows_of([np.arange(N)[:, None]], N)):
        products.add_group(number, rows[:, 0])
    for values, permutations in (
        (wheels.values(Numbered(x), Numbered(y), pairs, Plan()), wheels),
        (products.values(WithinCells(design.layout.cells, 50, np.random.default_rng(0))), listed),
    ):
        expected = np.zeros((5, 50))
        for number, order in enumerate(orders(permutations, design.layout)):
            squares = np.square(x @ y[:, order].T / N)
            for pair in pairs:
                part = squares[2 * pair.left :][: 2 + pair.left, 2 * pair.right :][:, :2]
                expected[pair.numbers, number] += np.einsum("kr,kq,rq->k", *pair.weights, part)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-15)


# -- whole orbits ------------------------------------------------------------------------------------------------------

SMALL: dict[str, dict[str, Any]] = {
    "weights": {"weights": [1.0, 2, 9, 4, 1, 1, 3, 1, 100, 1, 2, 2, 1, 1, 5]},
    "strata": {"strata": [0, 1, 1, 0, 0, 0, 1, 2, 2, 1, 0, 0, 1, 1, 0]},
    "clusters": {"clusters": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 7, 8]},
    "all": {
        "strata": [0] * 9 + [1] * 6,
        "clusters": [0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8],
        "weights": [1.0, 2, 9, 4, 1, 1, 3, 1, 100, 1, 2, 2, 1, 1, 5],
    },
}


@pytest.fixture(params=["exact kernels", "features"])
def small_groups(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Short stripes, all turns of their wheels, and a pilot of some rows."""
    monkeypatch.setattr(independence, "_FEW", 0)
    monkeypatch.setattr(independence, "DENSE_LIMIT", 0 if request.param == "features" else 10**6)
    monkeypatch.setattr(many_pairs, "PILOT", 8)
    for name, value in (("_CAPS", (4,)), ("_ENOUGH", 0), ("_MOST_WHEELS", 2), ("PILOT", 8)):
        monkeypatch.setattr(room, name, value)
    monkeypatch.setattr(room, "turns_of", lambda _, lengths, __: np.array(list(product(*map(range, lengths)))))
    return str(request.param)


def pvalues_over(orbit: Array, rows: Any, X: Array, Y: Array, **options: Any) -> Array:
    """Return the p-values of all data sets that an orbit of permutations makes of one."""
    found = []
    for order in orbit:
        moved = Y.copy()
        moved[rows] = Y[rows][order]
        found.append(km.hsic_test(X, moved, rng=0, **options).pvalue)
    return np.array(found)


ONE_KERNEL = [
    (name, Gaussian(1.0), ties) for name in SMALL for ties in (False, True) if not (ties and name == "strata")
]
MORE = [
    ("all", None, False),
    pytest.param("strata", Gaussian(1.0), True, marks=pytest.mark.slow),
    *(pytest.param(name, None, True, marks=pytest.mark.slow) for name in SMALL),
    *(pytest.param(name, None, False, marks=pytest.mark.slow) for name in ("weights", "strata", "clusters")),
]


@pytest.mark.parametrize(("name", "kernel", "ties"), [*ONE_KERNEL, *MORE])
def test_pvalues_over_the_orbit_of_all_turns_are_exact(name: str, kernel: Any, ties: bool, small_groups: str) -> None:
    design = km.Design(**SMALL[name])
    rng = np.random.default_rng(len(name))
    X, Y = rng.normal(size=(2, 15, 1))
    if ties:
        X, Y = np.round(X), np.round(Y)
    laid = design.of_pairs(15)
    wheels = drawn(laid, n_resamples=3)
    assert isinstance(wheels, Wheels)
    orbit = np.unique(orders(wheels, laid.layout), axis=0)
    assert 9 <= len(orbit) <= 200
    assert len(orbit) == wheels.count
    found = pvalues_over(orbit, laid.rows, X, Y, kernel=kernel, design=design, n_resamples=3)
    check_exact(found, ties)


@pytest.mark.parametrize("small_groups", ["features"], indirect=True)
@pytest.mark.parametrize("name", ["weights", "all"])
def test_pvalues_of_rows_in_batches_are_exact_over_the_orbit(name: str, small_groups: str) -> None:
    design = km.Design(**SMALL[name])
    X, Y = np.random.default_rng(len(name)).normal(size=(2, 15, 1))
    laid = design.of_pairs(15)
    wheels = laid.permutations(Resampling.of(n_resamples=3, rng=np.random.default_rng([0, 3])))
    orbit = orders(wheels, laid.layout)
    options: dict[str, Any] = {"kernel": Gaussian(1.0), "design": design, "n_resamples": 3, "scheme": "bins"}
    check_exact(pvalues_over(orbit, laid.rows, X, Y, **options), ties=False)


def check_exact(pvalues: Array, ties: bool) -> None:
    """Of an orbit the share with p ≤ a is at most a; without ties it is a."""
    for level in np.unique(pvalues):
        share = (pvalues <= level + 1e-12).mean()
        assert share <= level + 1e-12
        assert ties or share == pytest.approx(level)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), None], ids=["one kernel", "adaptive"])
def test_pvalues_over_all_permutations_of_a_few_clusters_of_many_rows_are_exact(
    kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(independence, "DENSE_LIMIT", 0)
    monkeypatch.setattr(many_pairs, "PILOT", 8)
    design = km.Design(clusters=np.repeat(np.arange(5), [4, 4, 4, 4, 3]))
    X, Y = np.random.default_rng(5).normal(size=(2, 19, 1))
    laid = design.of_pairs(19)
    orbit = orders(AllWithinCells(laid.layout.cells), laid.layout)
    assert len(orbit) == 24
    check_exact(pvalues_over(orbit, laid.rows, X, Y, kernel=kernel, design=design), ties=False)


# -- many rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", None])
def test_a_constant_variable_within_strata_has_p_1(kernel: Any) -> None:
    for n in (12, 230, 6000)[: 2 if kernel is None else 3]:
        strata = np.arange(n) // 4
        Y = np.random.default_rng(n).normal(size=(n, 1))
        constant = np.sin(strata)[:, None]
        assert km.hsic_test(constant, Y, kernel=kernel, design=km.Design(strata=strata), rng=0).pvalue == 1.0
        assert km.hsic_test(Y, constant, kernel=kernel, design=km.Design(strata=strata), rng=0).pvalue == 1.0


@pytest.mark.parametrize("design", [None, km.Design(strata=np.arange(40) % 2)])
def test_linear_kernels_see_points_far_from_zero_as_those_around_it(design: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    Y = X + np.random.default_rng(1).normal(size=(40, 2))
    options: dict[str, Any] = {"kernel": Linear(), "design": design, "n_resamples": 99, "rng": 0}
    near, far = km.hsic_test(X, Y, **options), km.hsic_test(X + 1e7, Y + 1e7, **options)
    assert far.pvalue == near.pvalue <= 0.05
    assert far.statistic == pytest.approx(near.statistic, rel=1e-7)


def test_random_permutations_of_many_rows_are_refused() -> None:
    X = np.arange(6000.0)[:, None]
    with pytest.raises(ValueError, match="'random' does not fit: beyond 5000 rows it is for at most 100 clusters"):
        km.hsic_test(X, X, design=km.Design(strata=np.arange(6000) % 3), scheme="random")


def test_the_order_of_many_rows_is_refused_with_a_design() -> None:
    X = np.arange(6000.0)[:, None]
    nearest = Member("order", Gaussian(5.0))
    estimator = Adaptive(members=(PairMember(nearest, nearest),))
    with pytest.raises(ValueError, match="at most 5000 of two variables with a design; leave members on 'order' out"):
        km.hsic_test(X, X, design=km.Design(strata=np.arange(6000) % 3), estimator=estimator)


def test_features_of_all_rows_give_what_exact_kernels_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few different values, features hold a whole kernel."""
    rng = np.random.default_rng(0)
    X, Y = (rng.integers(0, 5, size=(400, 1)).astype(float) for _ in range(2))
    options: dict[str, Any] = {"kernel": (Gaussian(1.0), Gaussian(2.0)), "n_resamples": 99, "rng": 0}
    for design in ({"strata": rng.integers(0, 3, 400)}, {"clusters": np.arange(400) // 2}):
        exact = km.hsic_test(X, Y, design=km.Design(**design), **options)
        with monkeypatch.context() as patch:
            patch.setattr(independence, "DENSE_LIMIT", 0)
            features = km.hsic_test(X, Y, design=km.Design(**design), **options)
        np.testing.assert_allclose(features.null_distribution, exact.null_distribution, rtol=1e-6, atol=1e-12)
        assert features.pvalue == exact.pvalue
