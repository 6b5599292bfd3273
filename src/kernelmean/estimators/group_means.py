"""Many kernel means at once, one for every group of rows, each sharing strength with its like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array, IntArray, as_host
from ..core.frozen import FrozenAttributes, sealed
from ..core.labels import check_codes, distinct
from ..core.row_order import check_one_order
from ..core.validate import check_positive_number, check_spread, validated
from ..core.words import count, listed
from ..embedding.embedding import Embedding, embed
from ..embedding.features import random_cholesky
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..noise.normal import Normal
from ..plan.plan import Plan, RemotePlan, check_plan, run_by, serial_blas
from .base import KernelLike, make_kernel
from .group_rows import ExactValues, FeatureValues, GroupedRows, GroupValues
from .sharing import STRENGTHS, Choice, Likeness, Sharing, weights_of

_EXACT_ROWS, _DRAWN, _RANK, _LIKENESS_RANK = 5000, 5000, 512, 256
_WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Candidates for the variance of the noise, in units of the variance within groups."""


def _diagonal(variances: Array) -> list[Noise]:
    equal = (variances == variances[0]).all()
    if not variances.any():
        return [Dirac()]
    return [Dirac(), *(Normal(w * float(variances[0])) if equal else Normal.diagonal(w * variances) for w in _WIDTHS)]


NAMED: dict[str, tuple[Callable[[Array], list[Noise]], bool]] = {
    "kme": (lambda _: [Dirac()], False),
    "s-kmse": (lambda _: [Dirac()], True),
    "mkme": (lambda variances: _diagonal(np.full_like(variances, variances.mean())), False),
    "mmkme": (_diagonal, False),
}
"""The noises that each estimator tries, given the variances within groups, and whether it shrinks the weights."""


@final
@dataclass(eq=False, repr=False)
class GroupMeans(FrozenAttributes, BaseEstimator):  # type: ignore[misc]
    r"""Estimate the kernel means of many groups, each with the help of groups that are alike.

    :math:`\hat μ_t = Σ_s w_{ts} \bar μ_s`, where :math:`\bar μ_s` is the mean of the :math:`n_s` rows of group s under
    a noise, and :math:`w_{ts} ∝ n_s \exp(-β z_{ts}^{3/2})` falls with the distance of groups t and s.

    Parameters
    ----------
    kernel : {"gaussian"}, Kernel, or a class of kernels such as ``kernels.Laplacian``
    estimator : {"mkme", "kme", "s-kmse", "mmkme"}
        What is shared: means with isotropic noise, with none, shrunk towards 0, or with noise in proportion to the
        variance of each column within groups. All groups have the same noise.
    bandwidth : rule, float or array of shape (d,)
        θ, as in :class:`kernelmean.KernelMean`, of all rows.
    sharing : "loocv" or float
        β: chosen by leaving rows out, or a number; with 0 all rows have one mean, with ``inf`` nothing is shared.

    Attributes
    ----------
    groups_ : array of shape (T,)
        The labels, sorted.
    embeddings_ : list of Embedding
        The estimates, in the order of ``groups_``; :meth:`embedding` returns one of them by its label.
    means_ : list of Embedding
        The mean of every group by itself, which the estimates are made of.
    sizes_ : array of shape (T,)
        The rows of every group.
    weights_ : array of shape (T, T)
        w: row t says what the mean of group t is made of; rows sum to 1.
    sharing_ : float
        β.
    noise_, kernel_, scale_ : Noise, Kernel, float
        What all groups have in common; the scale is 1 but for "s-kmse".
    loocv_ : float
        The leave-one-out risk: the mean over groups of two rows or more of :math:`|\hat μ_t|^2` plus the mean over
        their rows of :math:`k(x_i, x_i) - 2 \hat μ_t^{(-i)}(x_i)`, with the estimate from all rows but i.
    notes_ : tuple of str
        Which features stand for the kernel, beyond 5,000 rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    :math:`z_{ts} = \max(|\hat m_t - \hat m_s|^2 - v_t - v_s, 0)/(v_t + v_s)` in features that are whitened by their
    covariance within groups. β minimizes the leave-one-out risk without noise, then the noise and the scale do at this
    β. The risk is exact: without row i of group t, the mean of t, its distances and its weights are computed from the
    other rows; the features, the bandwidth, the factors n_s and the other groups stay as they are. If sharing gains
    nothing, β is infinite. Beyond 20,000 rows, groups of so many, drawn at random, decide. See :doc:`/guides/groups`.

    O(n² d) time up to 5,000 rows, O(n (m² + T)) by m = 512 landmarks beyond. Such averages: Marienwald, Fermanian &
    Blanchard (2021), with two parameters tuned on other data; Blanchard, Fermanian & Marienwald (2024).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(["a", "b", "c", "d"], 10)
    >>> X = rng.normal(size=(40, 2)) + 5.0 * (labels > "b")[:, None]
    >>> means = GroupMeans().fit(X, groups=labels)
    >>> np.round(means.weights_[0], 1)
    array([0.5, 0.5, 0. , 0. ])
    >>> means.embedding("a").shape, means.sharing_ < np.inf
    ((40, 2), True)
    """

    holds: ClassVar = ()
    kernel: KernelLike = "gaussian"
    _: KW_ONLY
    estimator: str = "mkme"
    bandwidth: Any = "median"
    sharing: float | str = "loocv"
    groups_: Any = field(init=False)
    sizes_: Array = field(init=False)
    means_: list[Embedding] = field(init=False)
    weights_: Array = field(init=False)
    sharing_: float = field(init=False)
    noise_: Noise = field(init=False)
    kernel_: Kernel = field(init=False)
    scale_: float = field(init=False)
    loocv_: float = field(init=False)
    notes_: tuple[str, ...] = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, plan: Plan | None = None) -> Self:
        """Estimate the kernel mean of every group.

        Parameters
        ----------
        X : array or data frame of shape (n, d)
        y : array of shape (n,), optional
            The labels, where ``groups`` is not passed, as in pipelines.
        groups : array of shape (n,)
            The label of the group of every row: numbers or texts.
        plan : Plan, optional
            Threads and tiles.

        Raises
        ------
        ValueError, TypeError
            When X is not a finite table of numbers, a label is missing, there is a single group, or no group has two
            rows.
        """
        check_name(self.estimator)
        strengths = strengths_of(self.sharing)
        checked = check_plan(plan)
        if isinstance(checked, RemotePlan):
            raise TypeError("means of groups are estimated in this process; leave plan= out, or pass a Plan")
        check_one_order(X, y if groups is None else groups, ("X", "groups"))
        points = as_host(validated(self, X, ensure_min_samples=2))
        check_spread(points)
        self.groups_, codes = group_codes(y if groups is None else groups, len(points))
        rows = GroupedRows.of(points, codes)
        with run_by(checked), serial_blas:
            self._estimate(rows, strengths, checked)
        return self

    def _estimate(self, rows: GroupedRows, strengths: Sequence[float], plan: Plan) -> None:
        drawn = drawn_rows(rows.points)
        kernel = make_kernel(self.kernel, self.bandwidth, drawn)
        likeness = Likeness.of(rows, random_cholesky(kernel, drawn, _LIKENESS_RANK)(rows.points))
        values: GroupValues = ExactValues(rows, kernel, plan)
        self.notes_ = ()
        if len(rows.points) > _EXACT_ROWS:
            landmarks = random_cholesky(kernel, drawn, _RANK)
            values = FeatureValues(rows, landmarks, plan)
            self.notes_ = (f"{landmarks.summary} stand for the kernel, of {count(len(rows.points), 'row')}",)
        sharing = best_sharing(values, likeness, self.estimator, strengths)
        self.sharing_, self.noise_, self.scale_ = sharing.strength, sharing.noise, sharing.scale
        self.kernel_, self.sizes_, self.means_ = kernel, sealed(rows.sizes), values.means(sharing.noise)
        diagonal = rows.sums(kernel.diag(rows.points)) / rows.sizes
        self.loocv_ = sharing.score + float(diagonal[rows.scored].mean())
        every = np.arange(len(rows.sizes))
        self.weights_ = sealed(weights_of(likeness.distances(), sharing.strength, every, rows.sizes))

    @property
    def embeddings_(self) -> list[Embedding]:
        """The estimates of all groups, in the order of ``groups_``."""
        check_is_fitted(self)
        return [self._shared(place) for place in range(len(self.means_))]

    def embedding(self, group: Any) -> Embedding:
        """Return the estimate of one group, by its label."""
        check_is_fitted(self)
        places = np.flatnonzero(np.ndim(group) == 0 and self.groups_ == group)
        if not len(places):
            raise ValueError(f"group is {group!r}; there are {listed(self.groups_.tolist())}")
        return self._shared(int(places[0]))

    def _shared(self, place: int) -> Embedding:
        """Return the sum of the means with the weights of one group, those of weight 0 left out."""
        weights = self.scale_ * self.weights_[place]
        used = [(w, mu) for w, mu in zip(weights, self.means_, strict=True) if w]
        if self.means_[0].features is not None:
            return reduce(add, [float(weight) * mu for weight, mu in used])
        points = np.concatenate([mu.points for _, mu in used])  # one part of points, which is evaluated as a whole
        each = np.concatenate([weight * mu.weights for weight, mu in used])
        return embed(points, self.kernel_, weights=each, noise=self.noise_, plan=self.means_[0].plan)


def check_name(name: Any) -> None:
    """Raise for an estimator that means of groups do not have."""
    if not isinstance(name, str) or name not in NAMED:
        raise ValueError(f"estimator is {name!r}; means of groups take {listed(map(repr, NAMED))}")


def drawn_rows(points: Array) -> Array:
    """Return rows drawn at random to find landmarks and a bandwidth."""
    return points[np.random.default_rng(0).permutation(len(points))[:_DRAWN]]


def best_sharing(values: GroupValues, likeness: Likeness, estimator: str, strengths: Sequence[float]) -> Sharing:
    """Return what an estimator's means have in common; a group with two rows is needed."""
    rows, (noises, scaled) = values.rows, NAMED[estimator]
    return Choice(values, likeness, scaled).best(strengths, noises(rows.variances(rows.points)))


def strengths_of(sharing: Any) -> Sequence[float]:
    """Return the candidates for β."""
    if isinstance(sharing, str):
        if sharing != "loocv":
            raise ValueError(f"sharing is {sharing!r}; write 'loocv' or a number, 0 for one mean, inf for no sharing")
        return STRENGTHS
    if isinstance(sharing, Real) and sharing == np.inf:
        return (np.inf,)
    return (check_positive_number(sharing, "sharing", zero=True),)


def group_codes(groups: Any, n: int) -> tuple[Any, IntArray]:
    """Return the sorted labels, and the number of the label of every row; raise if all are equal, or all differ."""
    names, codes = distinct(check_codes(groups, n, "groups"), "groups")
    if len(names) == 1:
        raise ValueError(f"all rows are in the group {names.tolist()[0]!r}; for a single mean, write km.KernelMean")
    if len(names) == n:
        raise ValueError(f"each of the {n:,} rows is a group of its own; a group with two rows is needed")
    return sealed(names), codes
