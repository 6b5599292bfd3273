"""What every observation adds to MMD² or HSIC: signed numbers that sum to the statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.frozen import Frozen
from ...core.words import passed
from ...embedding.embedding import Embedding
from ...embedding.parts import PointPart
from ...expected import expected_blocks
from ..statistics import StatisticForm, check_kind
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject
from .subjects import Subject


@final
@dataclass(frozen=True, eq=False)
class Contributions(Frozen):
    """What every observation adds to a statistic.

    Attributes
    ----------
    values : array of shape (n,)
        For two samples those of X and then those of Y. Positive: the observation sets the samples apart, or is evidence
        for dependence. Negative: it lies where the other sample is denser, or is evidence against dependence.
    witness : array of shape (n,)
        The witness at the observations: ``values`` divided by their weights, 1/n on X and -1/m on Y, or 1/n on pairs;
        with a design what they count in its statistic.
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


def contributions(subject: Subject | tuple[Embedding, Embedding], statistic: StatisticForm) -> Contributions:
    r"""Return what every observation adds to a statistic; see :meth:`kernelmean.TestResult.contributions`.

    Two embeddings are taken as they are, with their weights and noise: point i adds :math:`β_i E f(\tilde x_i)`, f the
    difference of the means.

    Raises
    ------
    ValueError
        When there is no such statistic, or there are too few rows for it; embeddings have no unbiased one.

    Examples
    --------
    >>> import kernelmean as km
    >>> kernel = km.kernels.Gaussian(0.5)
    >>> means = km.embed([[0.0], [0.1], [2.0]], kernel), km.embed([[2.1], [1.9]], kernel)
    >>> contributions(means, "v").values.round(2)
    array([ 0.22,  0.22, -0.22,  0.32,  0.32])
    """
    check_kind(statistic)
    if isinstance(subject, DesignedSubject):
        return _of_embeddings(*subject.means, statistic)
    if isinstance(subject, tuple):
        return _of_embeddings(*subject, statistic)
    if isinstance(subject, SampleSubject):
        return _of_samples(subject, statistic)
    return _of_pairs(subject, statistic)


def _of_samples(subject: SampleSubject, statistic: StatisticForm) -> Contributions:
    if statistic == "u":
        subject.check_rows(2, "the unbiased statistic")
    labels, counts, name = subject.labels, np.array(subject.sizes), "V-statistic"
    means = subject.row_sums / counts
    if statistic == "u":  # each row is left out of its own mean
        means, name = (subject.row_sums - labels * subject.diagonal[:, None]) / (counts - labels), "unbiased"
    values = means @ [1.0, -1.0]
    added = subject.signed * values
    return Contributions(added, values, float(added.sum()), f"MMD² ({name})", subject.sizes, subject.kernel)


def _of_pairs(pairs: PairSubject, statistic: StatisticForm) -> Contributions:
    unbiased, n = statistic == "u", pairs.n
    least = 4 if unbiased else 2
    if unbiased and pairs.design is not None:
        raise ValueError("weighted means within strata have no unbiased statistic; write statistic='v'")
    if n < least:
        raise ValueError(f"{passed(n, 'pair')}, this statistic needs at least {least}")
    values, name = (pairs.unbiased_products(), "unbiased") if unbiased else (pairs.products(), "V-statistic")
    added, values = (pairs.placed(each) for each in (pairs.weights * values, values))
    return Contributions(added, values, float(added.sum()), f"HSIC ({name})", (len(added),), pairs.kernels)


def _of_embeddings(first: Embedding, second: Embedding, statistic: StatisticForm) -> Contributions:
    """Return β_i E f(x̃_i) for the points of f = μ - ν, which sum to |μ - ν|²."""
    if statistic == "u":
        raise ValueError("weighted means have no unbiased statistic; write statistic='v'")
    difference = first - second
    values = np.concatenate([_expected_values(difference, part) for part in difference.point_parts])
    sizes = (len(first.points), len(second.points))
    added = difference.weights * values
    return Contributions(added, values, float(added.sum()), "MMD² (V-statistic)", sizes, difference.kernel)


def _expected_values(f: Embedding, places: PointPart) -> Array:
    """Return E f(x̃_i) of the noisy points of a part, shape (n,)."""
    n, values = len(places.points), np.zeros(len(places.points))
    for part in f.point_parts:
        blocks = expected_blocks(f.kernel, places.points, places.noise, part.points, part.noise)
        values += f.plan.matmul(blocks, n, len(part.points), part.weights[:, None])[:, 0]
    return values
