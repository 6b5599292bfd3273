"""What every observation adds to MMD² or HSIC: signed numbers that sum to the statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.frozen import Frozen
from ...core.words import passed
from ...embedding.embedding import Embedding, Part
from ...estimators.options import KernelLike
from ...expected import expected_blocks
from ...plan.plan import DEFAULT, Plan
from .means import means_of
from .subject import Pairs, TwoSamples

KINDS = ("u", "v")


@final
@dataclass(frozen=True, eq=False)
class Contributions(Frozen):
    """What every observation adds to a statistic.

    Attributes
    ----------
    values : array of shape (n,)
        For two samples those of X and then those of Y. Positive: the observation sets the samples apart, or speaks for
        dependence; negative: it lies where the other sample is denser, or speaks against.
    witness : array of shape (n,)
        The witness at the observations: ``values`` over their weights, 1/n on X and -1/m on Y, or 1/n on pairs.
    statistic : float
        The sum of ``values``.
    statistic_name : str
    sizes : tuple of int
        The rows of the samples, or the number of pairs.
    kernel : Kernel or tuple of Kernel
    """

    values: Array
    witness: Array
    statistic: float
    statistic_name: str
    sizes: tuple[int, ...]
    kernel: Any

    @property
    def by_sample(self) -> tuple[Array, ...]:
        """Return the values sample by sample."""
        return tuple(np.split(self.values, np.cumsum(self.sizes[:-1])))

    def strongest(self, count: int = 10) -> IntArray:
        """Return the positions of the largest contributions of either sign, largest first."""
        return np.argsort(-np.abs(self.values), kind="stable")[:count]


def contributions(
    X: Any,
    Y: Any,
    kernel: KernelLike = "gaussian",
    *,
    bandwidth: Any = "median",
    estimator: Any = "kme",
    statistic: str = "u",
    plan: Plan = DEFAULT,
) -> Contributions:
    r"""Return what every observation adds to MMD², :math:`f(x_i)/n` and :math:`-f(y_j)/m`.

    f = μ_X - μ_Y is the witness, and :math:`\mathrm{MMD}^2 = \overline{f(x)} - \overline{f(y)}`. For the unbiased
    statistic every observation meets the witness of all others: its own term leaves its own mean.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame; or two Embedding
        Embeddings are taken as they are, with their weights and noise: point i adds :math:`β_i E f(\tilde x_i)`.
    kernel, bandwidth, estimator
        As in :func:`kernelmean.mmd_test`, without adaptive tests; "mkme" and "mmkme" explain the statistic of the
        kernel that they make. Pass ``kernel=result.kernel`` to explain a test that was run on more than 1000 rows.
    statistic : {"u", "v"}
        Unbiased, or the V-statistic.
    plan : Plan
        How big sums run.

    Raises
    ------
    ValueError
        When the samples do not fit, or "u" meets a sample of one row or an Embedding.

    Notes
    -----
    O((n + m)² d) time, O(block²) memory. Gretton et al. (2012), eq. (3), (5) and section 2.3 (the witness).

    Examples
    --------
    >>> import kernelmean as km
    >>> found = contributions([[0.0], [0.1], [2.0]], [[2.1], [1.9]], km.kernels.Gaussian(0.5))
    >>> found.values.round(2)
    array([ 0.16,  0.16, -0.33,  0.3 ,  0.3 ])
    >>> bool(abs(found.values.sum() - found.statistic) < 1e-15)
    True
    """
    _check_kind(statistic)
    if isinstance(X, Embedding) or isinstance(Y, Embedding):
        return _of_embeddings(*means_of(X, Y, kernel, bandwidth, estimator, plan), statistic)
    subject = TwoSamples.of(X, Y, kernel, bandwidth, estimator, plan)
    if statistic == "u":
        subject.check_rows(2, "the unbiased statistic")
    values, name = _witness_at_rows(subject, statistic == "u"), "unbiased" if statistic == "u" else "V-statistic"
    added = subject.signed * values
    return Contributions(added, values, float(added.sum()), f"MMD² ({name})", subject.sizes, subject.kernel)


def _of_embeddings(first: Embedding, second: Embedding, statistic: str) -> Contributions:
    """Return β_i E f(x̃_i) for the points of f = μ - ν, which sum to |μ - ν|²."""
    if statistic == "u":
        raise ValueError("weighted means have no unbiased statistic; write statistic='v'")
    difference = first - second
    values = np.concatenate([_expected_values(difference, part) for part in difference.parts])
    sizes = (len(first.points), len(second.points))
    added = difference.weights * values
    return Contributions(added, values, float(added.sum()), "MMD² (V-statistic)", sizes, difference.kernel)


def _expected_values(f: Embedding, places: Part) -> Array:
    """Return E f(x̃_i) of the noisy points of a part, shape (n,)."""
    n, values = len(places.points), np.zeros(len(places.points))
    for part in f.parts:
        blocks = expected_blocks(f.kernel, places.points, places.noise, part.points, part.noise)
        values += f.plan.matmul(blocks, n, len(part.points), part.weights[:, None])[:, 0]
    return values


def _witness_at_rows(subject: TwoSamples, unbiased: bool) -> Array:
    """Return μ_X - μ_Y at all rows, each left out of its own mean when ``unbiased``."""
    labels, counts = subject.labels, np.array(subject.sizes)
    if not unbiased:
        return np.asarray(subject.row_sums / counts @ [1.0, -1.0])
    means = (subject.row_sums - labels * subject.diagonal[:, None]) / (counts - labels)
    return np.asarray(means @ [1.0, -1.0])


def dependence_contributions(
    X: Any,
    Y: Any,
    kernel: Any = "gaussian",
    *,
    bandwidth: Any = "median",
    estimator: Any = "kme",
    statistic: str = "v",
    plan: Plan = DEFAULT,
) -> Contributions:
    r"""Return what every pair adds to HSIC, :math:`n^{-2} \sum_j \bar K_{ij} \bar Z_{ij}`.

    That is the cross-covariance operator at the centered features of the pair, divided by n. "u" replaces the
    centered matrices by the U-centered ones and n² by n(n-3), whose sum is the unbiased statistic.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation.
    kernel, bandwidth, estimator
        As in :func:`kernelmean.hsic_test`, without adaptive tests and shrinkage.
    statistic : {"v", "u"}
        The V-statistic, or the unbiased one, which needs four rows.
    plan : Plan

    Raises
    ------
    ValueError
        When the tables do not fit, or there are too few rows.

    Notes
    -----
    Two passes over both Gram matrices: O(n² (d + e)) time, O(block²) memory. Gretton et al. (2005), eq. (9); Song et
    al. (2012), eq. (5), in the form of Székely & Rizzo (2014).

    Examples
    --------
    >>> import kernelmean as km
    >>> x = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> found = dependence_contributions(x, [[0.0], [1.0], [2.0], [3.0], [0.0]], km.kernels.Gaussian(1.0))
    >>> int(found.values.argmin())
    4
    """
    _check_kind(statistic)
    pairs = Pairs.of(X, Y, kernel, bandwidth, estimator, plan)
    least, n = 4 if statistic == "u" else 2, pairs.n
    if n < least:
        raise ValueError(f"{passed(n, 'pair')}, this statistic needs at least {least}")
    rows = pairs.products(unbiased=statistic == "u")
    count, name = (n - 3, "unbiased") if statistic == "u" else (n, "V-statistic")
    added = rows / (n * count)
    return Contributions(added, rows / count, float(added.sum()), f"HSIC ({name})", (n,), pairs.kernels)


def _check_kind(statistic: str) -> None:
    if statistic not in KINDS:
        raise ValueError(f"statistic is {statistic!r}; pass 'u' (unbiased) or 'v'")
