"""Are several variables independent of one another? The permutation test on dHSIC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, RngLike, slices
from ...core.table import as_table
from ...core.words import passed
from ...estimators.options import KernelLike
from ...plan.plan import Plan
from ...plan.tiles import serial_blas
from ..asked import asked, check_fit_on
from ..engine import check_memory
from ..kernel_choice import ESTIMATORS
from ..null import Null
from ..problem import KernelSide
from ..resampling import Resampling
from ..result import TestResult
from ..schemes.base import in_order, upper_tiles
from ..schemes.gather import DENSE_LIMIT
from ..sizes import MIB, Resources
from ..statistics import ties
from ..units import each_notes
from .forms import TILE, tiled_forms
from .relabelings import WithinCells, within_cells
from .variables import choose_kernels, notes_of

_BATCH, _STRIP = 64, 64
_SMALL = 2**21


def dhsic_test(
    *variables: Any,
    kernel: KernelLike | tuple[KernelLike, ...] | None = None,
    estimator: Any = None,
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | None = None,
) -> TestResult:
    r"""Test whether two or more variables are jointly independent, by dHSIC and exact permutations.

    .. math:: \mathrm{dHSIC} = \frac{1}{n^2} \sum_{ij} \prod_l K^l_{ij} + \prod_l \overline{K^l}
        - \frac{2}{n} \sum_i \prod_l \overline{K^l_{i \cdot}}

    Parameters
    ----------
    *variables : array of shape (n, d_l), or data frame
        Two or more variables of any widths; row i of each is one observation.
    kernel : Kernel, class or str, or a tuple with one per variable
        As in :func:`kernelmean.hsic_test`: rules look at the rows of their own variable.
    estimator : str, KernelMean or callable, or a tuple with one per variable
        "kme", the default, "mkme" or "mmkme", or as in :func:`kernelmean.hsic_test`.
    scheme : {"auto", "exact", "random"}
        All (n!)^(k-1) combinations of permutations, or random ones; "auto" enumerates when there are at most
        n_resamples + 1.
    n_resamples, rng, plan
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``kernel`` and ``noise`` have one entry per variable.

    Raises
    ------
    ValueError
        When there are fewer than two variables, numbers of rows differ, there are fewer than two rows, or a value is
        not finite.
    MemoryError
        When more memory is needed than the plan allows.

    Notes
    -----
    The p-value is exact: the rows of all variables but the first are permuted, independently of one another, and never
    the columns of a variable. Two variables have the V-statistic of :func:`kernelmean.hsic_test`. A constant variable
    has dHSIC 0 and p = 1. O(P k n²) time for P permutations of k variables, with the kernels evaluated anew in each
    beyond 5000 rows; memory never O(n²) there. Pfister et al. (2018), definition 2.6 and section 3.2.2.

    Examples
    --------
    Any two of these are independent, all three are not:

    >>> x, y = np.random.default_rng(0).standard_normal((2, 80, 1))
    >>> z = np.sign(x * y) * np.random.default_rng(1).exponential(size=(80, 1))
    >>> dhsic_test(x, y, z, rng=0).pvalue < 0.01
    True
    """
    tables = _check(variables)
    n, many = len(tables[0]), len(tables)
    wanted = asked(kernel, estimator, ESTIMATORS, many, adaptive=False)
    for own in wanted.sides:
        check_fit_on(own, ("auto", "separate"))
    notes = each_notes(variables, adaptive=False) if wanted.default else ()
    how = Resampling.of(scheme, n_resamples, rng, plan)
    names = [f"variable {position}" for position in range(many)]
    chosen, resources = choose_kernels(tables, names, wanted.sides), how.resources
    cells = np.repeat(np.arange(many - 1), n)  # one per variable that is permuted
    listed = within_cells(cells, how.n_resamples, how.rng, scheme=scheme)
    needed = _bytes(n, sum(table.shape[1] for table in tables), many, resources)
    check_memory(needed, resources, "the test", n)
    with serial_blas:
        sides = [KernelSide(points, (own.kernel,)) for points, own in zip(tables, chosen, strict=True)]
        joint = _Joint([side.unshifted() for side in sides], resources)
        values = np.concatenate([joint(batch.reshape(-1, many - 1, n) % n) for batch in listed.batches(_BATCH)])[None]
    exact = not isinstance(listed, WithinCells)
    slack = ties(values, np.array([joint.magnitude]))
    null = Null(values, slack, "dHSIC (V-statistic)", "exact" if exact else "random", needed)
    return TestResult(
        method=f"Permutation test of joint independence of {many} variables, dHSIC",
        kernel=tuple(own.kernel for own in chosen),
        noise=tuple(own.noise for own in chosen),
        sizes=(n,),
        notes=notes_of(chosen) + notes,
        **null.outcome(0),
    )


@final
class _Joint:
    """dHSIC as a function of one permutation for every variable but the first."""

    def __init__(self, sides: Sequence[KernelSide], resources: Resources) -> None:
        self.sides, self.n_jobs, self.n = sides, resources.n_jobs, sides[0].n
        ones = np.full((self.n, 1), 1 / self.n)
        self.means = [tiled_forms(side, resources).times(ones)[0, :, 0] for side in sides]
        everything = slice(0, self.n)
        dense = self.n <= DENSE_LIMIT
        self.grams = [side.tiles()(everything, everything)[0] for side in sides] if dense else None

    @property
    def magnitude(self) -> float:
        """Return a size that rounding errors are relative to."""
        return math.prod(float(np.abs(side.gram_diagonal()).mean()) for side in self.sides)

    def __call__(self, permutations: IntArray) -> Array:
        """Return dHSIC, shape (b,), of permutations (b, variables - 1, n)."""
        identity = np.broadcast_to(np.arange(self.n), (len(permutations), 1, self.n))
        orders = np.concatenate([identity, permutations], axis=1)
        means = reduce(np.multiply, [mean[orders[:, v]] for v, mean in enumerate(self.means)])
        products = math.prod(float(mean.mean()) for mean in self.means)
        return np.asarray(self._pairs(orders) / self.n**2 + products - 2 * means.mean(axis=1))

    def _pairs(self, orders: IntArray) -> Array:
        """Return Σ_ij Π_l K^l of the permuted rows, shape (b,)."""
        if self.grams is not None:
            return self._gathered(orders, self.grams)
        tiles = upper_tiles(slices(self.n, TILE))
        return sum(in_order(lambda tile: self._tile(orders, *tile), tiles, self.n_jobs), np.zeros(len(orders)))

    def _gathered(self, orders: IntArray, grams: list[Array]) -> Array:
        """Return the sums from matrices in memory: small ones all at once, large ones by strips of rows."""
        if len(orders) * self.n**2 <= _SMALL:
            chosen = (gram[orders[:, v, :, None], orders[:, v, None, :]] for v, gram in enumerate(grams))
            return np.asarray(reduce(np.multiply, chosen).sum(axis=(1, 2)))

        def one(order: IntArray) -> float:
            return sum(self._strip(order, rows, grams) for rows in slices(self.n, _STRIP))

        return np.array(list(in_order(one, orders, self.n_jobs)))

    def _strip(self, order: IntArray, rows: slice, grams: list[Array]) -> float:
        """Return the sum over a few rows of one combination of permutations."""
        others = [gram[own[rows]].take(own, axis=1) for gram, own in zip(grams[1:], order[1:], strict=True)]
        return float(np.vdot(reduce(np.multiply, others[:-1], grams[0][rows]), others[-1]))

    def _tile(self, orders: IntArray, i: slice, j: slice) -> Array:
        first = self._block(0, np.arange(self.n)[i], np.arange(self.n)[j])
        weight = 1.0 if i == j else 2.0
        return np.array([weight * self._product(first, order[:, i], order[:, j]) for order in orders])

    def _product(self, first: Array, rows: IntArray, columns: IntArray) -> float:
        """Return the sum over one tile of one combination of permutations."""
        others = [self._block(v, rows[v], columns[v]) for v in range(1, len(self.sides))]
        return float(np.vdot(reduce(np.multiply, others[:-1], first), others[-1]))

    def _block(self, variable: int, rows: IntArray, columns: IntArray) -> Array:
        """Evaluate K^l on some rows and columns."""
        points = self.sides[variable].points
        return self.sides[variable].kernels[0](points[rows], points[columns])


def _check(variables: Sequence[Any]) -> list[Array]:
    """Return the variables as tables with as many rows."""
    if len(variables) < 2:
        raise ValueError(f"{passed(len(variables), 'variable')}, two at least are needed: dhsic_test(X, Y, Z)")
    tables = [as_table(table, f"variable {position}").values for position, table in enumerate(variables)]
    rows = [len(table) for table in tables]
    if len(set(rows)) > 1 or rows[0] < 2:
        raise ValueError(f"the variables have {rows} rows; as many of each are needed, and two at least")
    return tables


def _bytes(n: int, dim: int, many: int, resources: Resources) -> float:
    """Return the memory at most: dense matrices where these serve, points, tiles and a batch of permutations."""
    grams = 8.0 * n**2 * (many + 1) if n <= DENSE_LIMIT else 0.0
    tiles = 8.0 * resources.n_jobs * TILE**2 * (many + 3)
    return grams + tiles + 8.0 * n * (7 * dim + 3 * _BATCH * many) + 64 * MIB
