"""What an adaptive test looks at: several tables made from one, each a symmetric function of the rows.

No view knows which sample, or which partner, a row belongs to: permuting the rows cannot change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ...core.array import Array, IntArray
from ...kernels import Kernel, TensorProduct
from ...kernels.bandwidth import median_bandwidth

VIEWS = ("data", "scores", "ranks", "order", "white", "radius", "spread", "products", "axes")
"""The names of the views, see :func:`view`."""

_ROWS_PER_WHITE_COLUMN = 4
_MOST_AXES = 256


@final
@dataclass(frozen=True)
class Views:
    """Some views of one table, side by side."""

    table: Array
    """The columns of all views, shape (n, D)."""
    columns: dict[str, tuple[int, ...]]
    """From the name of a view to its columns in ``table``."""

    @classmethod
    def of(cls, points: Array, names: Sequence[str], rows: IntArray) -> Views:
        """Make the named views; the median distance, the unit of most, is that of the given rows."""
        parts = {name: _in_units(name, view(points, name), rows) for name in dict.fromkeys(names)}
        ends = np.cumsum([0] + [part.shape[1] for part in parts.values()])
        columns = {name: tuple(range(ends[i], ends[i + 1])) for i, name in enumerate(parts)}
        return cls(np.concatenate(list(parts.values()), axis=1), columns)

    def kernels(self, name: str, kernel: Kernel) -> list[Kernel]:
        """Return the kernel on the columns of a view, or one kernel for every column of "axes"."""
        blocks = [(column,) for column in self.columns[name]] if name == "axes" else [self.columns[name]]
        return [TensorProduct((kernel,), (block,)) for block in blocks]


def available(n: int, dim: int) -> tuple[str, ...]:
    """Return the views that say something new of a table of this shape.

    Only one column has an order, and it is its own axis and needs no whitening; whitening needs four rows a column;
    more than 256 columns, or products of two, are not looked at one by one.
    """
    serves = {
        "order": dim == 1,
        "white": dim > 1 and n >= _ROWS_PER_WHITE_COLUMN * dim,
        "products": dim > 1 and dim * (dim - 1) // 2 <= _MOST_AXES,
        "axes": 1 < dim <= _MOST_AXES,
    }
    return tuple(name for name in VIEWS if serves.get(name, True))


def view(points: Array, name: str) -> Array:
    r"""Return a view of a table of shape (n, d).

    ==========  =====================================================================================
    data        the columns less their means
    scores      normal scores of every column, Φ⁻¹((rank - ½) / n), ties at their mean rank
    ranks       (rank - ½) / n - ½ of every column
    order       rank of every column, in units of one rank: kernels on it see nearest neighbors
    white       the scores times C^{-1/2}, C their covariance shrunk towards a multiple of I
    radius      the distance of every row from the mean, one column
    spread      the length of the scores of every row, one column: as radius, but no outlier is far
    products    the products of any two columns of the scores less their means: an exclusive or is linear in them
    axes        the scores; every column is tested on its own and the largest statistic counts
    ==========  =====================================================================================
    """
    if name in ("data", "radius"):
        centered = _bounded(points)
        return centered if name == "data" else _length(centered)
    order = np.asarray(rankdata(points, axis=0))
    ranks = (order - 0.5) / len(points)
    if name in ("order", "ranks"):
        return order if name == "order" else np.asarray(ranks - 0.5)
    return _OF_SCORES.get(name, np.asarray)(np.asarray(ndtri(ranks)))


def _bounded(points: Array) -> Array:
    """Return the table less its mean, divided by a power of two so that no product overflows."""
    largest = float(np.abs(points).max())
    scaled = np.ldexp(points, -int(np.frexp(largest)[1])) if largest else points
    return np.asarray(scaled - scaled.mean(axis=0))


def whitened(table: Array) -> Array:
    """Return the table times C^{-1/2}, C the covariance shrunk by d / (n + d) towards its mean variance."""
    n, dim = table.shape
    centered = table - table.mean(axis=0)
    covariance = centered.T @ centered / n
    mean_variance = np.trace(covariance) / dim
    if mean_variance == 0.0:
        return centered
    shrinkage = dim / (n + dim)
    values, vectors = np.linalg.eigh((1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(dim))
    return np.asarray(centered @ (vectors / np.sqrt(values)) @ vectors.T)


def _length(rows: Array) -> Array:
    """Return the lengths of rows, one column, to 13 digits of the longest: rows of one length must not tell apart."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    largest = float(lengths.max())
    unit = np.ldexp(1.0, int(np.frexp(largest)[1])) if largest else 1.0
    return np.asarray(np.round(lengths / unit, 13) * unit)


def _products(scores: Array) -> Array:
    """Return s_i s_j less its mean for every two columns i < j, shape (n, d (d - 1) / 2)."""
    first, second = np.triu_indices(scores.shape[1], 1)
    products = scores[:, first] * scores[:, second]
    return np.asarray(products - products.mean(axis=0))


_OF_SCORES: dict[str, Callable[[Array], Array]] = {"white": whitened, "spread": _length, "products": _products}


def _in_units(name: str, table: Array, rows: IntArray) -> Array:
    """Divide a view by its median distance over the rows; "axes" by the deviation of every column, "order" by 1.

    Where all rows are equal it becomes 0: kernels are then constant without rounding.
    """
    if name == "order":
        return table
    if (table == table[0]).all():
        return np.zeros_like(table)
    if name == "axes":
        deviation = table.std(axis=0)
        return np.asarray(table / np.where(deviation > 0.0, deviation, 1.0))
    some = table[rows]
    return table if (some == some[0]).all() else np.asarray(table / float(median_bandwidth(some)))
