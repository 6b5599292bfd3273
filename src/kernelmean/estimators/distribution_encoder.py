"""Bags of rows as rows of features, for scikit-learn: distribution regression, classification, clustering."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array, as_host
from ..core.frozen import FrozenAttributes, sealed
from ..core.points import Names, named_points, points_like
from ..core.validate import check_integer, check_points, check_same_columns, check_spread
from ..core.words import count, refuse
from ..embedding.features import Landmarks, random_cholesky
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import DEFAULT, serial_blas
from .base import KernelLike, make_kernel
from .directions import Directions, best_directions
from .group_means import best_sharing, check_name, drawn_rows, group_codes
from .group_rows import FeatureValues, GroupedRows
from .sharing import Likeness

_LEVELS = 16
"""Quantiles of every slice, at the middles of so many equal shares."""


def bags_of(X: Any, groups: Any) -> tuple[Array, list[Array]]:
    """Return the sorted labels of groups, and the rows of each: the bags of :class:`DistributionEncoder`.

    Parameters
    ----------
    X : array or data frame of numbers, shape (n, d)
    groups : array of shape (n,)
        The label of the group of every row.

    Examples
    --------
    >>> labels, bags = bags_of([[1.0], [2.0], [3.0]], ["b", "a", "b"])
    >>> labels.tolist(), [bag.ravel().tolist() for bag in bags]
    (['a', 'b'], [[2.0], [1.0, 3.0]])
    """
    points = as_host(check_points(X))
    labels, codes = group_codes(groups, len(points))
    rows = GroupedRows.of(points, codes)
    return labels, [rows.points[start:stop] for start, stop in rows.spans]


@final
@dataclass(eq=False, repr=False)
class DistributionEncoder(FrozenAttributes, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn every bag of rows into one row of features, which stands for the distribution that its rows come from.

    Parameters
    ----------
    kernel : {"gaussian"}, Kernel, or a class of kernels such as ``kernels.Laplacian``
    features : {"means", "slices"}
        "means" are kernel means on landmarks, along the directions in which those of bags differ.
        "slices" are quantiles of the columns and of random projections, after each column is divided by its deviation
        within bags: distances of features are sliced Wasserstein distances of bags.
    n_features : int
        How many landmarks, or quantiles, at most: fewer where fewer landmarks explain all rows.
    estimator : {"kme", "mkme", "s-kmse", "mmkme"}
        Of kernel means, as in :class:`GroupMeans`; its noise and scale are chosen when the encoder is fitted.
    bandwidth : rule, float or array of shape (d,)
        θ, of all rows.
    directions : "cv", int or None
        How many directions, one feature each: as many as estimate the means of other bags best, or at most a number.
        None leaves kernel means as they are: inner products of features are those of the means, with all their noise.

    Attributes
    ----------
    noise_, scale_ : Noise, float
        Of the estimates, as in :class:`GroupMeans`.
    n_columns_ : int
        The columns of every bag.
    column_names_ : tuple of str or None
        The names of these, where the first bag is a data frame; those of others are put in this order.
    map_ : Landmarks or array of shape (d, slices)
        The landmarks of "means", or the projections of "slices".
    directions_ : Directions or None
        Along which kernel means are taken.

    Notes
    -----
    A list of bags is what scikit-learn splits, so pipelines and searches work: a kernel ridge on these features is
    distribution regression (Szabó, Sriperumbudur, Póczos & Gretton 2016), with "slices" that of Meunier, Pontil &
    Ciliberto (2022).

    The mean of a bag of n rows varies along direction j by :math:`b_j` because bags differ, and by :math:`w_j/n`
    because rows were drawn: its feature is the deviation from the mean of bags times
    :math:`b_j / (b_j + w_j / n)`, the best linear prediction. Directions are added as long as the next one lowers an
    unbiased estimate of the squared error, without ``y``, in five-fold cross-validation over bags. If no bag has two
    rows, nothing is known of noise, and means stay as they are. O(n m (m + d) + m³) time for n rows and m landmarks.
    See :doc:`/guides/groups`.

    Examples
    --------
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> spread = rng.uniform(1.0, 3.0, size=60)
    >>> bags = [s * rng.normal(size=(20, 2)) for s in spread]
    >>> model = make_pipeline(DistributionEncoder(), KernelRidge(1e-3, kernel="rbf")).fit(bags[:40], spread[:40])
    >>> bool(model.score(bags[40:], spread[40:]) > 0.5)
    True
    """

    holds: ClassVar = (Directions,)
    kernel: KernelLike = "gaussian"
    _: KW_ONLY
    features: str = "means"
    n_features: int = 256
    estimator: str = "kme"
    bandwidth: Any = "median"
    directions: int | str | None = "cv"
    n_columns_: int = field(init=False)
    column_names_: tuple[str, ...] | None = field(init=False)
    scale_: float = field(init=False)
    noise_: Noise = field(init=False)
    map_: Landmarks | Array = field(init=False)
    directions_: Directions | None = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose features and what estimates have in common.

        Parameters
        ----------
        X : list of arrays or data frames of shape (n_i, d), or array of shape (bags, n, d)
        y : None
            Ignored; here for pipelines.

        Raises
        ------
        ValueError, TypeError
            When a bag is not a finite table of numbers, bags have other numbers of columns, or there is a single bag.
        """
        del y
        rows, self.column_names_ = check_bags(X)
        if len(rows.sizes) < 2:
            raise ValueError("X has one bag, and at least 2 are needed; pass a list of arrays, one for each bag")
        check_integer(self.n_features, "n_features", 1)
        check_spread(rows.points)
        self.n_columns_ = rows.points.shape[1]
        with serial_blas:
            if self.features not in ("means", "slices"):
                raise ValueError(f"features is {self.features!r}; write 'means' or 'slices'")
            self.map_ = self._slices(rows) if self.features == "slices" else self._landmarks(rows)
        return self

    def transform(self, X: Any) -> Array:
        """Return the features of bags, those of the fit or others, shape (bags, features)."""
        check_is_fitted(self)
        rows, _ = check_bags(X, self.column_names_)
        if rows.points.shape[1] != self.n_columns_:
            columns = count(rows.points.shape[1], "column")
            raise ValueError(f"the bags have {columns}, those of the fit had {self.n_columns_}")
        with serial_blas:
            if not isinstance(self.map_, Landmarks):
                return _quantiles(rows, self.map_)
            means = self.scale_ * rows.means(self.map_(rows.points, self.noise_))
            return means if self.directions_ is None else self.directions_(means, rows.sizes)

    @property
    def _n_features_out(self) -> int:
        if not isinstance(self.map_, Landmarks):
            return _LEVELS * self.map_.shape[1]
        return self.map_.size if self.directions_ is None else self.directions_.size

    def _slices(self, rows: GroupedRows) -> Array:
        """Return the columns and random projections, each over the deviation within bags, shape (d, slices)."""
        of_means = ("kernel", "estimator", "bandwidth", "directions")
        defaults = {name: (getattr(self, name), getattr(DistributionEncoder, name)) for name in of_means}
        refuse("slices are quantiles, without a kernel", **defaults)
        self.scale_, self.noise_, self.directions_ = 1.0, Dirac(), None
        columns = rows.points.shape[1]
        within = rows.variances(rows.points)
        scales = np.sqrt(np.where(within > 0.0, within, 1.0))
        many = max(columns, self.n_features // _LEVELS) if columns > 1 else 1
        drawn = np.random.default_rng(0).normal(size=(columns, many - columns))
        projections = np.hstack([np.eye(columns), drawn / np.linalg.norm(drawn, axis=0)])
        return np.asarray(sealed(projections / scales[:, None]))

    def _landmarks(self, rows: GroupedRows) -> Landmarks:
        """Return landmarks; choose the noise, the scale and the directions of means at these."""
        check_name(self.estimator)
        if isinstance(self.directions, str) and self.directions != "cv":
            raise ValueError(f"directions is {self.directions!r}; write 'cv', a number of directions, or None")
        chosen = self.directions is None or isinstance(self.directions, str)
        many = None if chosen else check_integer(self.directions, "directions", 1)
        drawn = drawn_rows(rows.points)
        landmarks = random_cholesky(make_kernel(self.kernel, self.bandwidth, drawn), drawn, self.n_features)
        self.noise_, self.scale_, self.directions_ = Dirac(), 1.0, None
        if (rows.sizes > 1).any():  # else nothing is known of noise
            if self.estimator != "kme":
                likeness = Likeness(rows, landmarks(rows.points))  # which does not matter where nothing is shared
                alone = best_sharing(FeatureValues(rows, landmarks, DEFAULT), likeness, self.estimator, [np.inf])
                self.noise_, self.scale_ = alone.noise, alone.scale
            if self.directions is not None:
                self.directions_ = best_directions(rows, self.scale_ * landmarks(rows.points, self.noise_), many)
        return landmarks


def _quantiles(rows: GroupedRows, projections: Array) -> Array:
    """Return quantiles of slices; squared distances are means over slices of those of quantile functions."""
    levels, projected = (np.arange(_LEVELS) + 0.5) / _LEVELS, rows.points @ projections
    quantiles = [np.quantile(projected[i:j], levels, axis=0, method="hazen").ravel() for i, j in rows.spans]
    return np.stack(quantiles) / np.sqrt(_LEVELS * projections.shape[1])


def check_bags(X: Any, names: Names = None) -> tuple[GroupedRows, Names]:
    """Return the rows of all bags, and the names of their columns, in the order of names that are passed."""
    bags: Any = X if isinstance(X, list | tuple) else np.asarray(X, dtype=None)
    if isinstance(bags, np.ndarray) and not (bags.ndim == 3 or (bags.ndim == 1 and bags.dtype == object)):
        passed = f"has the shape {bags.shape}" if bags.ndim else f"is a {type(X).__name__}"
        raise ValueError(f"X {passed}; pass a list of arrays, one for each bag, or an array (bags, rows, columns)")
    if not len(bags):
        raise ValueError("X has no bags; pass a list of arrays, one for each bag")
    first, columns = named_points(bags[0], "bag 0")
    known, other = (columns, "bag 0") if names is None else (names, "the fit")
    bags = [as_host(points_like(bag, known, f"bag {number}", other)) for number, bag in enumerate(bags)]
    for number, bag in enumerate(bags):
        check_same_columns(bag, first, (f"bag {number}", "bag 0"))
    return GroupedRows(np.concatenate(bags), np.array([len(bag) for bag in bags])), known
