"""The adaptive tests over every rearrangement of small data: their p-values are exactly uniform, or above."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from kernelmean.inference import Adaptive, Member, PairMember, hsic_test, mmd_test
from kernelmean.inference.adaptive import candidates as candidates_module
from kernelmean.inference.adaptive.views import ViewSource
from kernelmean.kernels import DistanceInduced, Gaussian, Linear

FEW = (
    PairMember(Member("data", Gaussian(0.5)), Member("data", Gaussian(0.5))),
    PairMember(Member("data", DistanceInduced(), ridge=0.01), Member("data", DistanceInduced(), ridge=0.1)),
    PairMember(Member("ranks", Linear()), Member("data", Gaussian(1.0), ridge=0.001)),
)
FEW_OF_SAMPLES = tuple(pair.y for pair in FEW)


def rows(kind, n, dim, seed=0):
    """A small table."""
    rng = np.random.default_rng(seed)
    points = rng.standard_cauchy((n, dim)) if kind == "heavy tails" else rng.normal(size=(n, dim))
    if kind == "ties":
        return np.round(points)
    if kind == "repeated rows":
        points[n // 2 :] = points[: n - n // 2]
    return points


def over_labelings(points, first, **how):
    """The p-values of all ways to divide the rows into two samples."""
    chosen = [list(labels) for labels in combinations(range(len(points)), first)]
    rest = [[i for i in range(len(points)) if i not in labels] for labels in chosen]
    samples = [(points[own], points[other]) for own, other in zip(chosen, rest, strict=True)]
    return np.array([mmd_test(X, Y, n_resamples=999, rng=0, **how).pvalue for X, Y in samples])


def over_pairings(X, Y, **how):
    """The p-values of all pairings of the rows."""
    orders = [list(order) for order in permutations(range(len(X)))]
    return np.array([hsic_test(X, Y[order], n_resamples=999, rng=0, **how).pvalue for order in orders])


def excess(pvalues):
    """By how many the p-values below some level are more than the level allows, at worst: 0 for an exact test."""
    total = len(pvalues)
    levels = np.arange(1, total + 1)
    ranks = np.round(pvalues * total)
    np.testing.assert_allclose(ranks, pvalues * total, atol=1e-6)  # all arrangements were enumerated
    return int(max((ranks <= level).sum() - level for level in levels))


@pytest.mark.parametrize("kind", ["normal", "ties", "repeated rows", "heavy tails"])
@pytest.mark.parametrize(("sizes", "dim"), [((4, 4), 2), ((3, 5), 1), ((2, 5), 3)])
def test_two_samples(kind, sizes, dim):
    pvalues = over_labelings(rows(kind, sum(sizes), dim), sizes[0], estimator="adaptive")
    assert excess(pvalues) == 0
    assert pvalues.min() < 0.1 or kind != "normal"


@pytest.mark.parametrize("kind", ["normal", "ties", "repeated rows", "heavy tails"])
@pytest.mark.parametrize("dims", [(1, 1), (2, 1)])
def test_pairs(kind, dims):
    X, Y = rows(kind, 5, dims[0]), rows(kind, 5, dims[1], seed=1)
    pvalues = over_pairings(X, Y, estimator="adaptive")
    assert excess(pvalues) == 0
    assert pvalues.min() <= 4 / 120 or kind != "normal"


@pytest.mark.parametrize("rule", ["log-mean-exp", "max", "mean", "aggregate"])
def test_other_rules(rule):
    assert excess(over_labelings(rows("ties", 7, 2), 3, estimator=Adaptive(rule))) == 0
    assert excess(over_pairings(rows("normal", 4, 1), rows("ties", 4, 2), estimator=Adaptive(rule))) == 0


@pytest.fixture
def few_landmarks(monkeypatch):
    """Let three rows be the landmarks, and four decide on units."""
    monkeypatch.setattr(candidates_module, "_LANDMARKS", 3)
    monkeypatch.setattr(candidates_module, "UNIT_ROWS", 4)


@pytest.mark.parametrize("kind", ["normal", "ties", "repeated rows"])
@pytest.mark.usefixtures("few_landmarks")
def test_two_samples_on_few_landmarks(kind):
    assert excess(over_labelings(rows(kind, 8, 2), 4, estimator=Adaptive(members=FEW_OF_SAMPLES))) == 0
    assert excess(over_labelings(rows(kind, 7, 1), 3, estimator="adaptive")) == 0


@pytest.mark.parametrize(("n", "kind"), [(6, "normal"), (5, "ties"), (5, "repeated rows")])
@pytest.mark.usefixtures("few_landmarks")
def test_pairs_on_few_landmarks(n, kind):
    X, Y = rows(kind, n, 2), rows(kind, n, 1, seed=1)
    assert excess(over_pairings(X, Y, estimator=Adaptive(members=FEW))) == 0


@pytest.mark.usefixtures("few_landmarks")
def test_landmarks_by_row_number_would_not_be_exact(monkeypatch):
    def by_number(self, most, rng):
        return np.arange(min(most, len(self.points)))

    monkeypatch.setattr(ViewSource, "drawn", by_number)
    members = [PairMember(Member("data", Gaussian(0.25)), Member("data", Gaussian(0.25)))]
    X, Y = rows("normal", 6, 2), rows("normal", 6, 1, seed=1)
    assert excess(over_pairings(X, Y, estimator=Adaptive(members=members))) > 36  # .05 of 720
