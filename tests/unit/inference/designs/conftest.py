"""Definitions in loops, with every permutation of the rows tried, for the designs."""

from __future__ import annotations

from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest


def mean_difference(gram, labels, weights, strata, unit, kind):
    """Stratified, weighted MMD² from sums over pairs of rows."""
    rows = range(len(labels))
    share = {s: mantel_haenszel(s, labels, weights, strata) for s in set(strata)}
    signed = [share[strata[i]][2] * weights[i] * (1 / share[strata[i]][0] if labels[i] else -1 / share[strata[i]][1])
              for i in rows]  # fmt: skip
    total = sum(signed[i] * signed[j] * gram[i, j] for i in rows for j in rows if kind == "v" or strata[i] != strata[j])
    for s, (a, b, c) in share.items() if kind == "u" else ():
        inside = [i for i in rows if strata[i] == s]
        means = []
        for label in (1, 0):
            pairs = [(i, j) for i in inside for j in inside if labels[i] == labels[j] == label and unit[i] != unit[j]]
            mass = sum(weights[i] * weights[j] for i, j in pairs)
            means.append(sum(weights[i] * weights[j] * gram[i, j] for i, j in pairs) / mass)
        cross = [weights[i] * weights[j] * gram[i, j] for i in inside for j in inside if labels[i] and not labels[j]]
        total += c**2 * (means[0] + means[1] - 2 * sum(cross) / (a * b))
    return total / sum(c for _, _, c in share.values()) ** 2


def mantel_haenszel(s, labels, weights, strata):
    """The weights of both samples in a stratum, and the proportion in which the stratum counts."""
    a, b = (sum(w for w, own, t in zip(weights, labels, strata, strict=True) if t == s and own == label)
            for label in (1, 0))  # fmt: skip
    return a, b, a * b / (a + b)


def restricted(strata, unit):
    """Every permutation of the rows that moves whole units, in order, onto units of as many rows of their stratum."""
    rows, alike = {}, {}
    for u in sorted(set(unit)):
        rows[u] = [i for i in range(len(unit)) if unit[i] == u]
        alike.setdefault((strata[rows[u][0]], len(rows[u])), []).append(u)
    found = []
    for orders in product(*(permutations(units) for units in alike.values())):
        moved = np.empty(len(unit), dtype=int)
        for units, order in zip(alike.values(), orders, strict=True):
            for u, v in zip(units, order, strict=True):
                moved[rows[u]] = rows[v]
        found.append(moved)
    return found


def share_reaching(values):
    """The share of values that reach the first one."""
    values = np.asarray(values)
    return float(np.mean(values >= values[0] - 1e-9 * np.ptp(values) - 1e-13))


@pytest.fixture(scope="session")
def oracle():
    return SimpleNamespace(mmd=mean_difference, restricted=restricted, pvalue=share_reaching)
