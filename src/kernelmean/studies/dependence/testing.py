"""The study: a joint test of two groups of columns, and a test of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ...core.array import SILENT, Progress, RngLike
from ...core.table import Frame
from ...inference.null import HOLM
from ...plan.plan import Plan
from ...tables.batchwise import placed, readable
from ...tables.columns import Encoding, EncodingOptions, spells_out
from ...tables.read import read
from ..designs import TableDesign
from ..study import row_limit
from .batches import tested_in_batches
from .held import tested_in_memory
from .request import DependenceOptions, DesignedTable, named_columns
from .result import Dependence


@spells_out
def dependence(
    table: Any,
    x: str | Sequence[str] = (),
    y: str | Sequence[str] = (),
    *,
    estimator: str = "adaptive",
    n_resamples: int = 999,
    rng: RngLike = 0,
    screen: bool = True,
    plan: Plan | None = None,
    progress: Progress = SILENT,
    strata: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    keep_finished: bool = False,
    adjustment: str = HOLM,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Dependence:
    """Test two groups of columns, or all pairs of columns, for independence.

    For one target pass its name: ``y="price"``. Hundreds of pairs take minutes; pass ``progress=print`` to see it work.

    Parameters
    ----------
    table : array of shape (n, d), data frame, path, or anything else that :func:`kernelmean.read` takes
        At least four rows, and columns of any kind that :class:`kernelmean.TableEncoder` knows.
    x, y : str or sequence of str
        Two groups of columns, for one joint test and a test of every pair across them. Without ``y``, it is all other
        columns. Without both, all pairs of columns are tested. Columns in neither group are ignored.
    estimator : str
        As in :func:`kernelmean.hsic_test`; batch by batch only an adaptive one, "kme", "mkme" or "mmkme".
    n_resamples : int
        The number of permutations of every test. Pairs with a small p-value are tested again with more permutations if
        their number needs them.
    rng : int or Generator
        The same seed gives the same numbers.
    screen : bool
        Whether a fast screen decides which of more than 40 pairs get the full test; the others have p = 1.
    plan : Plan, optional
        The number of threads, one by default, and the memory of every test.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.
    strata, clusters, weights : str, optional
        Columns that describe the rows, and are not tested. Rows are permuted only within their stratum, clusters as a
        whole, and a weight stays with the row of x. See :class:`kernelmean.Design`.
    keep_finished : bool
        Whether Ctrl-C during the tests of pairs returns the pairs that are finished, instead of raising
        KeyboardInterrupt. The others have p = 1 and ``stopped``.
    adjustment : {"holm", "bh"}
        How p-values of pairs are adjusted for their number: as in :func:`kernelmean.compare`.
    encoding, **columns
        As in :func:`kernelmean.compare`: ``missing``, ``ordinal``, ``categorical``, ``keep``, and ``scale``, which
        matters when several columns are tested jointly.

    Raises
    ------
    ValueError
        When a column is unknown or in both groups, fewer than two columns vary, there are fewer than four rows, a cell
        is missing without a rule for it, or a column has too many categories or looks like an identifier; when an
        option needs all rows in memory and they are read in batches.
    TypeError
        When a column holds anything but numbers, categories and times, or holds these as text ("$1,000.00").

    Notes
    -----
    Every p-value is exact: that of a pair is the one of :func:`kernelmean.hsic_test` on the two columns. Holm's method
    holds for any dependence between the pairs. Neither the screen, nor a second test with more permutations, nor a stop
    can make a false finding more likely (:doc:`/many-columns`). Columns whose missing cells are a category also depend
    on each other through these cells (:doc:`/columns`). Constant columns are left out, and a note says so. The order of
    the columns changes nothing.

    O(n² log n) time for a pair, O(n r²) on low-rank factors of rank r; memory never O(n²) beyond 5,000 rows. Tables of
    more than 20,000 rows (100,000 if ``estimator`` names one kernel) are read batch by batch, in memory that does not
    grow with the rows (with a design, by about 100 bytes a row, :doc:`/scale`); to hold all of them nevertheless, pass
    ``kernelmean.read(path, in_memory=True)``. Gretton et al. (2005); the strength is that of Cortes et al. (2012), eq.
    (2), with unbiased estimates.

    Examples
    --------
    >>> import numpy as np, kernelmean
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 60))
    >>> result = dependence(np.column_stack([a, b, a**2]), n_resamples=199)
    >>> [(pair.x, pair.y) for pair in result.dependent()]
    [('x0', 'x2')]
    """
    options = DependenceOptions(
        x=named_columns("x", x),
        y=named_columns("y", y),
        estimator=estimator,
        encoding=Encoding.of(encoding, columns),
        n_resamples=n_resamples,
        rng=rng,
        screen=screen,
        plan=plan,
        progress=progress,
        design=TableDesign(strata, clusters, weights),
        keep_finished=keep_finished,
        adjustment=adjustment,
    )
    (first,), batches = placed((table,), row_limit(estimator))
    options.design.check_estimator(estimator)
    with readable(read(first), frames=True) as source:
        designed = DesignedTable.of(source, options)
        if batches:
            answered = tested_in_batches(designed, options)
        else:
            answered = tested_in_memory(designed, options, noted=isinstance(table, Frame))
    return Dependence(
        x=answered.groups[0],
        y=answered.groups[1],
        n_rows=answered.n_rows,
        test=answered.joint,
        pairs=answered.pairs,
        estimator=estimator,
        notes=tuple(dict.fromkeys((*answered.notes, *(() if answered.joint is None else answered.joint.notes)))),
        missing=answered.encoded.missing,
        encoded=answered.encoded,
        design=options.design,
        adjustment=adjustment,
        in_series=answered.in_series,
    )
