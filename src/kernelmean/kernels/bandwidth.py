"""The bandwidth θ: one number, one per axis, or a rule that finds it in rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import pdist

from ..core.array import Array, IntArray, RngLike, array_api, as_float64, as_rng, centered, take_rows, to_numpy
from ..core.validate import as_points, as_value, check_integer, check_points, check_positive, check_varying
from ..core.words import count
from .gaps import VANISHING, Gaps, tied_median

_LARGEST = 1e300
_FEW_DIFFERENT = 0.25
"""Of all rows: so few different ones, such as those of a column of categories, are counted instead of repeated."""
_ALL_UP_TO = 5000
"""Rows whose distances are all used."""
_FEW_ROWS = 700
"""Up to so many rows, all distances are the quickest way to their median."""
Rule = Literal["median", "median-unsquared", "silverman", "scott"]
RULES = ("median", "median-unsquared", "silverman", "scott")
"""The rules that find a bandwidth in the rows."""


def check_bandwidth(value: Any) -> float | str | tuple[float, ...]:
    """Return a bandwidth as one number, one per axis or the name of a rule; raise when it is none of these."""
    if isinstance(value, str):
        return check_rule(value)
    bandwidth = check_positive(value, "bandwidth")
    if bandwidth.ndim > 1:
        raise ValueError(f"bandwidth has shape {bandwidth.shape}; pass a number or one number per column (d,)")
    checked: float | tuple[float, ...] = as_value(bandwidth)
    return checked


def check_rule(rule: str) -> str:
    """Return the name of a rule for bandwidths."""
    if rule not in RULES:
        known = ", ".join(map(repr, RULES))
        raise ValueError(f"bandwidth is {rule!r}; pass a number, one per column, or one of {known}")
    return rule


def check_axes(values: Any, dim: int) -> Array:
    """Return per-axis ``values`` as a float or a vector that fits ``dim`` columns."""
    if isinstance(values, str):
        raise ValueError(  # noqa: TRY004 (a value that cannot serve here)
            f"the bandwidth is the rule {values!r}, which needs rows to find a number; pass the kernel to a test, an "
            "estimator or km.embed, or a number such as km.median_bandwidth(X)"
        )
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1 and len(array) != dim:
        raise ValueError(f"the kernel has {len(array)} bandwidths, the data have {count(dim, 'column')}")
    return array


class Bandwidth(float):
    """A bandwidth θ, in the units of X, that remembers the rule and whether all pairs were used.

    Attributes
    ----------
    rule : str
        How the number was found, in words.
    exact : bool
        Whether every pair of rows was used; False after a seeded subsample.
    n_points : int
        How many rows were used.
    """

    rule: str
    exact: bool
    n_points: int

    def __new__(cls, value: float, rule: str, exact: bool, n_points: int) -> Bandwidth:
        """Make the number and attach the rule and the rows it came from."""
        bandwidth = super().__new__(cls, value)
        bandwidth.rule, bandwidth.exact, bandwidth.n_points = rule, exact, n_points
        return bandwidth

    def __reduce__(self) -> tuple[Any, ...]:
        return Bandwidth, (float(self), self.rule, self.exact, self.n_points)


def median_bandwidth(X: Any, *, squared: bool = True, exact_up_to: int = _ALL_UP_TO, rng: RngLike = 0) -> Bandwidth:
    r"""Return the median heuristic, :math:`θ^2 = \mathrm{median}_{i<j} |x_i - x_j|^2`.

    Parameters
    ----------
    X : array of shape (n, d)
        At least two different rows.
    squared : bool
        True is the convention of Xia et al. (2021). False is :math:`θ^2 = \mathrm{median}_{i<j} |x_i - x_j|`, which
        matches the published curves of Muandet et al. (2014).
    exact_up_to : int
        Above this number of rows, a random subsample of this size is used, and the result says so.
    rng : int or Generator
        Seeds the subsample.

    Returns
    -------
    Bandwidth
        A float, θ in the units of X, with ``.rule``, ``.exact`` and ``.n_points``.

    Raises
    ------
    ValueError
        When all rows are equal, or ``exact_up_to`` is not an integer ≥ 2.

    Notes
    -----
    You can pass a rule to a kernel by name, ``Gaussian("median")``, or "median-unsquared", "silverman" or "scott". The
    bandwidth is then found in the rows that you pass to a test, an estimator or :func:`kernelmean.embed`.

    When more than half of the pairs coincide, the median is 0. Then the median of the positive distances is used, and
    ``.rule`` says so. O(m² d) time and O(m²) memory for m = min(n, ``exact_up_to``): beyond that, memory does not grow
    with n. The same number for one column takes O(m log m) time and O(m) memory.

    Examples
    --------
    >>> median_bandwidth([[0.0], [1.0], [3.0]])
    2.0
    """
    X = as_points(X)
    check_integer(exact_up_to, "exact_up_to", 2)
    return _median_bandwidth(X, squared, exact_up_to, rng)


@array_api
def _median_bandwidth(X: Any, squared: bool, exact_up_to: int, rng: RngLike) -> Bandwidth:
    """Return it for an array of any library; the rows in use are copied."""
    exact = X.shape[0] <= exact_up_to
    rows = np.arange(X.shape[0]) if exact else _some_rows(X.shape[0], exact_up_to, rng)
    bandwidth = _median_bandwidth(to_numpy(as_float64(take_rows(X, rows))), squared, exact_up_to, rng)
    return Bandwidth(bandwidth, bandwidth.rule, exact, bandwidth.n_points)


@_median_bandwidth.numpy
def _(X: Any, squared: bool, exact_up_to: int, rng: RngLike) -> Bandwidth:
    if np.abs(X).max() > _LARGEST:
        raise ValueError(f"X holds values up to {np.abs(X).max():.3g}, whose differences overflow; rescale the columns")
    exact = len(X) <= exact_up_to
    if not exact:
        X = X[_some_rows(len(X), exact_up_to, rng)]
    X = centered(X)[0]
    unit = 2.0 ** int(np.frexp(np.abs(X).max())[1])  # squares of 1e-200 or 1e200 would vanish or overflow
    median, positive = (_median_gap if X.shape[1] == 1 and len(X) > _FEW_ROWS else _median_distance)(X / unit, squared)
    if median == 0.0:
        raise ValueError(
            f"all {len(X)} rows are equal, so the median distance is 0; pass a bandwidth, or data that vary"
        )
    rule = ("median of squared distances" if squared else "median of distances") + " that are not 0" * positive
    theta = np.sqrt(median) * (unit if squared else np.sqrt(unit))
    return Bandwidth(theta, rule, exact, len(X))


def _median_distance(X: Array, squared: bool) -> tuple[float, bool]:
    """Return the median distance, or where it is 0 that of the positive ones and True; 0 if there are none."""
    metric: Literal["sqeuclidean", "euclidean"] = "sqeuclidean" if squared else "euclidean"
    few = _FEW_DIFFERENT * len(X)
    if len(X) > _FEW_ROWS and len(np.unique(X @ np.sqrt(np.arange(1.0, 1.0 + X.shape[1])))) < few:
        rows, counts = np.unique(X, axis=0, return_counts=True)
        if len(rows) < few:
            first, second = np.triu_indices(len(rows), 1)
            zeros = int((counts * (counts - 1) // 2).sum())
            return tied_median(pdist(rows, metric), counts[first] * counts[second], zeros)
    distances = pdist(X, metric)
    if not distances.size or distances.max() == 0.0:
        return 0.0, False
    median = _median(distances)
    return (median, False) if median > 0.0 else (_median(distances[distances > 0]), True)


def _median_gap(X: Array, squared: bool) -> tuple[float, bool]:
    """Return the same number for one column, from the sorted column: the square grows with the distance."""

    def middle(above: float | None = None) -> float:
        pair = np.square(gaps.median(above))
        return float(np.mean(pair if squared else np.sqrt(pair)))

    if np.square(np.ptp(X)) == 0.0:
        return 0.0, False
    gaps = Gaps.of(X[:, 0])
    median = middle()
    return (median, False) if median > 0.0 else (middle(VANISHING), True)


def _some_rows(n: int, size: int, rng: RngLike) -> IntArray:
    return as_rng(rng).choice(n, size, replace=False, shuffle=False)


def _median(values: Array) -> float:
    """Return ``numpy.median`` to the last bit, with a single pivot (several take six times as long); reorders them."""
    half = len(values) // 2
    values.partition(half)
    lower = values[half] if len(values) % 2 else values[:half].max()
    return float(np.mean([lower, values[half]]))


def normal_rule_bandwidth(X: Any, rule: Literal["silverman", "scott"] = "silverman") -> Array:
    r"""Return the bandwidths of a rule of thumb from density estimation, one θ per axis, for comparison.

    Parameters
    ----------
    X : array of shape (n, d)
    rule : {"silverman", "scott"}
        :math:`θ_j = s_j (4 / ((d + 2) n))^{1/(d+4)}` or :math:`θ_j = s_j n^{-1/(d+4)}`, s_j the standard deviation.

    Raises
    ------
    ValueError
        When a column is constant.

    Examples
    --------
    >>> normal_rule_bandwidth([[0.0], [2.0]], rule="scott").round(4)
    array([1.2311])
    """
    X = check_points(X)
    n, dim = X.shape
    check_varying(X, "its standard deviation is no bandwidth")
    deviation = X.std(axis=0, ddof=1)
    count = n if rule == "scott" else (dim + 2) * n / 4
    return np.asarray(deviation * count ** (-1.0 / (dim + 4)))


def bandwidth_from(X: Any, rule: str | float | Array) -> Any:
    """Return the bandwidth of a named rule in checked points, or the number (or one per axis) that was passed."""
    if not isinstance(rule, str):
        return rule
    if rule in ("median", "median-unsquared"):
        return _median_bandwidth(X, rule == "median", _ALL_UP_TO, 0)
    if rule in ("silverman", "scott"):
        return normal_rule_bandwidth(X, "scott" if rule == "scott" else "silverman")
    return check_rule(rule)
