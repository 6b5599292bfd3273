"""How rows count in the means that stand beside tests with a design: within strata, and by their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array import Array, BoolArray
from ...inference import Design
from ...inference.designs.design import codes
from ...tables.columns import Weigh


def weigh_by(design: Design) -> Weigh | None:
    r"""Return what weighs the rows of two tables for means that follow a design; None where all rows count alike.

    A row of weight ω in stratum s counts ω c_s / Σ ω, the sum over the rows of its table in s, where
    c_s = n_s m_s / (n_s + m_s) from the rows of the two tables there (Cochran, Mantel and Haenszel), as strata count in
    the tests. Both tables then have the strata in equal proportions, so that the difference of their means is the mean
    over strata of the difference within each. Strata in which a table has no row, or no known value, do not count.
    """
    weights, groups = design.weights, design.groups
    if weights is None and groups is None:
        return None

    def weigh(known: Sequence[BoolArray]) -> Sequence[Array]:
        own = [np.ones(len(each)) for each in known] if weights is None else weights
        used = [np.where(each, weight, 0.0) for each, weight in zip(known, own, strict=True)]
        return used if groups is None else _within_strata(used, groups)

    return weigh


def _within_strata(weights: Sequence[Array], groups: Sequence[Array]) -> list[Array]:
    """Return weights by which both tables have the strata in the proportions of their rows."""
    found, names = codes(np.concatenate(groups), "strata")
    strata = np.split(found, [len(groups[0])])
    masses = [np.bincount(own, weight, len(names)) for own, weight in zip(strata, weights, strict=True)]
    n, m = (np.bincount(own[weight > 0.0], minlength=len(names)) for own, weight in zip(strata, weights, strict=True))
    counted = np.divide(n * m, n + m, out=np.zeros(len(names)), where=n * m > 0)
    each = [np.divide(counted, mass, out=np.zeros(len(names)), where=mass > 0.0) for mass in masses]
    return [weight * factor[own] for weight, factor, own in zip(weights, each, strata, strict=True)]
