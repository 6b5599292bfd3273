"""The definitions that every scheme is held to, written as loops and plain matrices."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelmean.inference.permutation_groups import Rotations
from kernelmean.inference.permutations import RandomPermutations
from kernelmean.inference.units.layout import Layout
from kernelmean.inference.units.permuted_labels import arrangements
from nulls import for_few_rows


def mmd(gram, labels, kind):
    """MMD² of the rows labelled 1 against those labelled 0, as three means."""
    x, y = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    xx, yy, xy = gram[np.ix_(x, x)], gram[np.ix_(y, y)], gram[np.ix_(x, y)]
    if kind == "v":
        return xx.mean() + yy.mean() - 2 * xy.mean()
    n, m = len(x), len(y)
    off_x, off_y = xx.sum() - np.trace(xx), yy.sum() - np.trace(yy)
    return off_x / (n * (n - 1)) + off_y / (m * (m - 1)) - 2 * xy.mean()


def hsic(K, Z, kind):
    """HSIC of two Gram matrices, the V-statistic or the unbiased one."""
    n = len(K)
    if kind == "v":
        H = np.eye(n) - 1 / n
        return np.trace(K @ H @ Z @ H) / n**2
    K, Z = K - np.diag(np.diag(K)), Z - np.diag(np.diag(Z))
    total = np.trace(K @ Z) + K.sum() * Z.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (K @ Z).sum()
    return total / (n * (n - 3))


def orbit(group, act):
    """All permutations π of the rows: in shuffled numbers i ↦ σ(g(i)), where g = act(i, element)."""
    found = []
    for coset in group.cosets:
        for element in range(group.order):
            permutation = np.empty(group.n, dtype=int)
            permutation[group.shuffle] = group.shuffle[coset[act(np.arange(group.n), element)]]
            found.append(permutation)
    return np.array(found)


def rotate(group):
    def act(i, s):
        turned = i // group.order * group.order + (i % group.order + s) % group.order
        return np.where(i < group.rest.start, turned, i)

    return act


def permutations_of(scheme, n, n_resamples, seed):
    """The permutations, shape (P, n), that a scheme of that name looks at under a seed."""
    rng = np.random.default_rng(seed)
    if scheme == "random":
        return next(RandomPermutations(n, n_resamples + 1, rng).batches(n_resamples + 1))
    if scheme == "rotations":
        group = Rotations.draw(n, n_resamples + 1, rng)
        return orbit(group, rotate(group))
    raise ValueError(f"the permutations of scheme {scheme!r} are not known here; add them, written as a loop")


def labelings_of(scheme, sizes, n_resamples, seed):
    """The labels of the pooled rows, 1 for the first sample, shape (P, n), that a scheme looks at under a seed."""
    n, rng = sum(sizes), np.random.default_rng(seed)
    labels = np.repeat([0, 1], sizes)
    if scheme == "rotations":
        return 1 - labels[permutations_of(scheme, n, n_resamples, seed)]
    with for_few_rows(scheme) as asked:
        units = Layout.of(labels, np.ones(n))
        units = units.in_bins(rng) if asked == "auto" else units
        listed = arrangements(units.cells, units.labels, n_resamples, rng, asked)
    of_units = np.concatenate([part.labels for part in listed.parts(n_resamples + 1)])
    of_rows = np.empty((len(of_units), n))
    of_rows[:, units.order] = np.repeat(1 - of_units, units.sizes, axis=1)
    return of_rows


def pvalue(values):
    """The share of values that reach the first one, near ties counted."""
    scale = np.ptp(values)
    return np.mean(values >= values[0] - 1e-9 * scale - 1e-13)


@pytest.fixture(scope="session")
def brute():
    return SimpleNamespace(
        mmd=mmd,
        hsic=hsic,
        orbit=orbit,
        rotate=rotate,
        permutations_of=permutations_of,
        labelings_of=labelings_of,
        pvalue=pvalue,
    )
