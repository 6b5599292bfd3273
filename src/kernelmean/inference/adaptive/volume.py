r"""The volumes of two samples: a member for many columns, for covariances that differ without a difference of means.

.. math:: T = |\, V_X - V_Y - m \,| , \qquad V = \log\det(I + S / λ) ,

with S the Gram matrix of one sample divided by its size, its columns centered, in units of their spread, and divided by
their number. m is the mean of the difference over all permutations, which is not 0 if the sizes are unequal. The
log-volume compares covariance operators, as the kernel likelihood ratio of arXiv 2508.07982 does.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.array import Array, IntArray
from ..engine import CustomStatistic
from ..null import Null
from ..resampling_options import Resampling
from .columns import row_order

MOST_ROWS = 256
"""The most rows of a sample: every permutation costs two Cholesky factors of matrices of this size."""
_BATCH_BYTES = 2**24


def volume_null(table: Array, sizes: tuple[int, int], ridge: float, how: Resampling) -> Null:
    """Return the size of the difference of the volumes under the permutations of a scheme that lists them.

    Parameters
    ----------
    table : array of shape (n + m, d)
        The pooled rows in units of their spread, the first sample first.
    sizes : (n, m)
    ridge : float
        λ.
    how : Resampling
        With the scheme "exact", or one that draws random permutations.
    """
    listed = how if how.scheme == "exact" else how.with_scheme("random")
    null = volume_statistic(table, sizes[0], ridge).null(sizes, listed)
    values = np.abs(null.values - null.values.mean(axis=-1, keepdims=True))
    return replace(null, values=values)


def volume_statistic(table: Array, n_first: int, ridge: float) -> CustomStatistic:
    """Return V_X - V_Y as a function of permutations; O(n³) time for each, for samples of n rows.

    Parameters
    ----------
    table : array of shape (n, d)
        The pooled rows in units of their spread, the first sample first.
    n_first : int
        The rows of the first sample.
    ridge : float
        λ.
    """
    n, order = len(table), row_order(table)
    ranks, table = np.argsort(order), table[order]
    gram = table @ table.T / table.shape[1]
    batch = max(1, int(_BATCH_BYTES / (8 * max(n_first, n - n_first) ** 2)))

    def values(permutations: IntArray) -> Array:
        places = ranks[np.argsort(permutations, axis=1)]
        first, second = places[:, :n_first], places[:, n_first:]
        return (_log_volumes(gram, first, ridge) - _log_volumes(gram, second, ridge))[None]

    return CustomStatistic(values, "difference of log-volumes", batch=batch)


def _log_volumes(gram: Array, rows: IntArray, ridge: float) -> Array:
    """Return log det(I + S/λ) of some rows, (b, n) of them, shape (b,)."""
    rows = np.sort(rows, axis=1)
    n = rows.shape[1]
    own = gram[rows[:, :, None], rows[:, None, :]]
    own -= own.mean(axis=1, keepdims=True)
    own -= own.mean(axis=2, keepdims=True)
    own /= n * ridge
    own[:, np.arange(n), np.arange(n)] += 1.0
    return _log_determinants(own)


def _log_determinants(matrices: Array) -> Array:
    """Return log det of positive definite matrices, each independent of the others, shape (b,)."""
    try:
        return np.asarray(2.0 * np.log(np.linalg.cholesky(matrices).diagonal(axis1=1, axis2=2)).sum(axis=1))
    except np.linalg.LinAlgError:  # rows so far away that the 1 is lost in rounding
        if len(matrices) > 1:
            return np.concatenate([_log_determinants(each[None]) for each in matrices])
        return np.asarray(np.log(np.maximum(np.linalg.eigvalsh(matrices), 1.0)).sum(axis=1))
