"""The factors by which an estimator multiplies the parts of the empirical kernel mean: eigenvectors or frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array, as_host
from ..core.frozen import Frozen
from ..core.words import listed
from ..kernels.base import Stationary
from ..kernels.gaussian import Gaussian
from ..noise.base import Additive
from .base import as_filter
from .filters import Filter, Iterative, Scale
from .kernel_mean import KernelMean
from .regularization import Weighing

_REACH, _SIZE, _ROUNDING = 4.0, 161, 1e-12
_MOST_COLUMNS = 6


@final
@dataclass(frozen=True, eq=False)
class Damping(Frozen):
    """Factors by which an estimator multiplies parts of the empirical kernel mean; 1 leaves a part as it is.

    Attributes
    ----------
    axis : {"eigenvalue", "frequency"}
        The parts: eigenvectors of the Gram matrix, by their eigenvalues; or frequencies along a column, in units of
        1/θ, or of 1 over the column's standard deviation if the kernel has no bandwidth.
    unit : {"", "bandwidth", "deviation"}
        The unit of the frequencies.
    places : array of shape (m,)
        Eigenvalues or frequencies, ascending.
    names : tuple of str
        The names of the rows of ``factors``: columns, or the filter and its strength.
    factors : array of shape (c, m)
    eigenvalues : array of shape (n,)
        Those of the sample, largest first; empty for frequencies.
    weights : array of shape (m,)
        For Gaussian kernels, the weight of a frequency in the squared norm (the largest is 1); else empty.
    """

    axis: str
    unit: str
    places: Array
    names: tuple[str, ...]
    factors: Array
    eigenvalues: Array
    weights: Array

    @classmethod
    def of_eigenvalues(cls, estimator: KernelMean, filter_: Filter) -> Damping:
        """Return the factors of a spectral filter."""
        weighing = Weighing(sample_of(estimator), estimator.kernel_, estimator.noise_)
        values = np.linalg.eigvalsh(weighing.square)[::-1]
        kept = values[values > _ROUNDING * values[0]]
        places = np.geomspace(kept[-1], kept[0], _SIZE) if kept[-1] < kept[0] else kept[:1]
        strength = float(estimator.strength_ or 0.0)
        factors = filter_.factor(np.append(places, kept[0]), strength)[:-1]
        name = f"{filter_!r}, {'t' if isinstance(filter_, Iterative) else 'λ'} = {strength:.3g}"
        return cls("eigenvalue", "", places, (name,), factors[None], kept, np.zeros(0))

    @classmethod
    def of_frequencies(cls, estimator: KernelMean, columns: Sequence[str]) -> Damping:
        """Return the factors of a noise and of the filter "scale"."""
        noise, kernel = estimator.noise_, estimator.kernel_
        _check(estimator)
        assert isinstance(noise, Additive), "which was checked"
        dim, every = estimator.n_features_in_, chosen_columns(estimator, columns)
        bandwidth = getattr(kernel, "bandwidth", None)
        unit = sample_of(estimator).std(axis=0) if bandwidth is None else np.broadcast_to(bandwidth, (dim,))
        u = np.linspace(0.0, _REACH, _SIZE)
        scale = 1.0 / (1.0 + float(estimator.strength_ or 0.0))
        rows = {j: scale * noise.characteristic(np.outer(u, np.eye(dim)[j]) / unit[j]) for j in every}
        names, factors = _grouped(column_names(estimator), rows)
        weights = np.exp(-0.5 * u**2) if isinstance(kernel, Gaussian) else np.zeros(0)
        named = "deviation" if bandwidth is None else "bandwidth"
        return cls("frequency", named, u, names, factors, np.zeros(0), weights)


def damping(estimator: KernelMean, columns: Sequence[str] = ()) -> Damping:
    r"""Return the factors by which a fitted estimator multiplies the parts of the empirical kernel mean.

    A spectral filter multiplies the part along an eigenvector of the Gram matrix with eigenvalue γ by
    :math:`γ g_λ(γ)`. A noise multiplies the characteristic function at the frequency ω by its own, φ_v(ω). The filter
    "scale" multiplies every part by 1/(1+λ).

    Parameters
    ----------
    estimator : KernelMean
        Fitted. With a spectral filter, the parts are eigenvectors; otherwise frequencies.
    columns : sequence of str
        The columns along which to take frequencies; by default the first six. Columns with equal factors share a row.

    Raises
    ------
    ValueError
        When there is neither noise nor filter, a contraction moves the points, or a column is unknown.
    TypeError
        When the noise is not additive, or the kernel is not a function of x - y.

    Notes
    -----
    O(n³) for eigenvalues, else O(m). For filters see Muandet et al. (2014b); for noise, docs/theory: noise damps
    frequencies.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> found = damping(KernelMean(noise="isotropic").fit(X))
    >>> found.axis, found.names, found.factors[0, [0, -1]].round(2)
    ('frequency', ('x0, x1',), array([1.  , 0.67]))
    """
    check_is_fitted(estimator)
    filter_ = as_filter(estimator.filter)
    if filter_ is not None and not isinstance(filter_, Scale):
        return Damping.of_eigenvalues(estimator, filter_)
    return Damping.of_frequencies(estimator, columns)


def sample_of(estimator: KernelMean) -> Array:
    """Return the rows that an estimator was fitted to, shape (n, d), before any contraction."""
    if getattr(estimator, "features_", None) is not None:
        raise ValueError(f"{estimator!r} was fitted to sums of features and kept no rows; fit a part of the rows")
    points = as_host(estimator.embedding_.points)
    if estimator.contraction_ == 1.0:
        return points
    center = points.mean(axis=0)
    return np.asarray(center + (points - center) / estimator.contraction_)


def column_names(estimator: KernelMean) -> tuple[str, ...]:
    """Return the names of the columns of the fit, or x0, x1, … where they have none."""
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
    return tuple(str(name) for name in names)


def chosen_columns(estimator: KernelMean, columns: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of some columns, by default of the first six.

    Raises
    ------
    ValueError
        When a column is unknown.
    """
    names = column_names(estimator)
    for name in columns:
        if name not in names:
            raise ValueError(f"there is no column {name!r}; the estimator was fitted to {listed(names)}")
    return tuple(names.index(name) for name in columns) or tuple(range(min(len(names), _MOST_COLUMNS)))


def _check(estimator: KernelMean) -> None:
    if estimator.contraction_ != 1.0:
        raise ValueError("a contraction moves the points, so it damps no frequency by a factor; fit km.MKME() instead")
    if estimator.filter is None and estimator.noise is None:
        raise ValueError(f"{estimator!r} damps nothing; fit km.MKME(), km.MMKME() or km.estimators.SKMSE()")
    if not isinstance(estimator.kernel_, Stationary) or not isinstance(estimator.noise_, Additive):
        raise TypeError(
            f"{estimator.noise_!r} under {estimator.kernel_!r} damps no frequencies: this needs an additive noise and "
            "a kernel of x - y"
        )
    if estimator.noise_.per_point is not None:
        raise ValueError(f"{estimator.noise_!r} differs from point to point; fit with a noise that all points share")


def _grouped(names: Sequence[str], rows: dict[int, Array]) -> tuple[tuple[str, ...], Array]:
    """Return the distinct rows, each with the names of all columns that have it."""
    groups: list[tuple[list[str], Array]] = []
    for j, row in rows.items():
        same = next((group for group, other in groups if np.allclose(row, other, rtol=0.0, atol=1e-9)), None)
        if same is None:
            groups.append(([names[j]], row))
        else:
            same.append(names[j])
    return tuple(", ".join(group) for group, _ in groups), np.stack([row for _, row in groups])
