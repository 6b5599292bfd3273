"""The comparison of two tables: in memory, or batch by batch if they are long."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from ...core.array import SILENT, Progress, RngLike
from ...inference.null import HOLM
from ...plan.plan import Plan, RemotePlan, check_plan
from ...tables.batchwise import placed, readable
from ...tables.columns import Encoding, EncodingOptions, spells_out
from ...tables.read import check_apart, hold, is_in_memory, is_path, read
from ...tables.source import Source
from ..designs import TableDesign
from ..study import AUTO, row_limit
from .in_memory import compare_in_memory
from .long_tables import compare_in_batches
from .on_cluster import compare_on_cluster
from .request import Asked, Margins, by_column
from .result import Comparison


@spells_out
def compare(
    A: Any,
    B: Any,
    *,
    names: Sequence[str] | None = None,
    estimator: str = AUTO,
    bandwidth: Any = "median",
    n_resamples: int = 999,
    rng: RngLike = 0,
    level: float = 0.05,
    adjustment: str = HOLM,
    plan: Plan | RemotePlan | None = None,
    progress: Progress = SILENT,
    strata: str | None = None,
    clusters: str | None = None,
    weights: str | None = None,
    paired: bool = False,
    equivalence: Margins = None,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Comparison:
    """Compare two tables: an exact joint test over all columns, and a test of every column alone.

    Groups of one table, split by a column: :func:`kernelmean.compare_groups`.

    Parameters
    ----------
    A, B : arrays of shape (n, d) and (m, d), data frames, paths, or anything else that :func:`kernelmean.read` takes
        Both have the same columns, of any kind that :class:`kernelmean.TableEncoder` knows. Those of B are matched by
        name.
    names : (str, str), optional
        What to call them; by default their paths, or "A" and "B" if they are in memory.
    estimator : str
        "auto" is "adaptive". "adaptive", "log-mean-exp" and "aggregate" combine many kernels; "kme", "mkme", "mmkme",
        "s-kmse" and "f-kmse" have one. See :func:`kernelmean.mmd_test`.
    bandwidth : {"median", "median-unsquared", "silverman", "scott"} or float
        θ of that one kernel: a rule applied to the pooled rows, or a number. The last two rules need all rows in
        memory.
    n_resamples : int
        The number of permutations of the joint test. Single columns use more if their number needs them at ``level``.
    rng : int or Generator
        The same seed gives the same numbers.
    level : float
        p-values at most this count as a difference.
    adjustment : {"holm", "bh"}
        What adjusted p-values of single columns bound: the probability of any false finding, or, after Benjamini and
        Hochberg, the expected share of false ones among the findings.
    plan : Plan or DaskPlan, optional
        Threads, by default one for each core, and memory; they change no result. With a :class:`kernelmean.DaskPlan`
        tables stay on the cluster; the p-values are the same.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.
    strata, clusters, weights : str, optional
        Columns of both tables that describe the rows, and are not compared. Rows are permuted only within their
        stratum, clusters as a whole, and a weight moves with its row. See :class:`kernelmean.Design`.
    paired : bool
        Whether row i of A and row i of B are a pair, whose rows permutations exchange.
    equivalence : float or dict from column to float, optional
        Differences of means that do not matter, in the units of the columns (of times, seconds): one for all columns of
        numbers, or one for each column named; "*" stands for the others. The result then says of which columns the
        means are shown to be closer, by their 95 % intervals, which follow the design. Choose margins beforehand.
    encoding, **columns
        What the columns hold and how missing cells are treated: an :class:`kernelmean.tables.Encoding`, or its options
        as keywords, such as ``missing``: "error", "drop", "category", "noise", or a dict from column to one of them.

    Returns
    -------
    Comparison
        Sizes, tests, means and shares are of all rows; with a design within strata, and weighted.

    Raises
    ------
    ValueError
        When a table has fewer than two rows, the columns or their types differ, a cell is missing without a rule for
        it, a column looks like an identifier or free text, or all columns are constant; when an option needs all rows
        in memory and they are read in batches, or the reverse.
    TypeError
        When a column holds anything but numbers, categories and times, or holds these as text ("$1,000.00").
    OSError, ImportError
        As :func:`kernelmean.read`.

    Notes
    -----
    The joint test is exact: where there is no difference, it finds one at level α with probability at most α, at any
    size. The verdict is its outcome. The tests of single columns keep the level among themselves, by the adjustment,
    and change no verdict (:doc:`/many-columns`). All of this
    concerns the rows with their blank cells (:doc:`/columns`). Columns that are constant over both tables are left out,
    and a note says so. The order of the columns changes nothing.

    O(n² d) time. Tables of more than 20,000 rows, or 100,000 if ``estimator`` names one kernel, are read twice, batch
    by batch, in O(n) time and bounded memory, and just as exactly (:doc:`/scale`), wherever they are; to hold all of
    them nevertheless, pass ``kernelmean.read(path, in_memory=True)``. The columns of a design are held, and of pairs
    those that may name rows. Pairs do not go with a DaskPlan.
    Gretton et al. (2012); Xia et al. (2021), section "Two-sample test".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 2)), rng.normal([0.0, 2.0], size=(50, 2))
    >>> result = compare(X, Y)
    >>> result.differ(), result.columns[0].name
    (True, 'x1')
    """
    if names is not None and (isinstance(names, str) or len(names) != 2):
        raise ValueError(f"names is {names!r}; write one for each table, such as names=('before', 'after')")
    called = (_called(A, "A"), _called(B, "B")) if names is None else (names[0], names[1])
    design = TableDesign(strata, clusters, weights, paired)
    options = Asked(
        names=called,
        design=design,
        estimator="adaptive" if estimator == AUTO else estimator,
        bandwidth=bandwidth,
        encoding=Encoding.of(encoding, columns),
        n_resamples=n_resamples,
        rng=rng,
        plan=check_plan(plan),
        progress=progress,
        level=level,
        adjustment=adjustment,
        margins=by_column(equivalence),
    )
    if isinstance(plan, RemotePlan):
        design.refuse_cluster("leave plan= out")
        return compare_on_cluster(A, B, plan, options, row_limit(estimator))
    check_apart(A, B)
    (first, second), batches = placed([_titled(A, called[0]), _titled(B, called[1])], row_limit(estimator))
    if batches:
        one, two = (_titled(read(table), name) for table, name in zip((first, second), called, strict=True))
        with readable(one, frames=True) as one, readable(two, frames=True) as two:
            return compare_in_batches(one, two, options, (A, B))
    held = hold(first), hold(second)
    notes = [note for table, frame in zip((A, B), held, strict=True) if frame is not table for note in frame.notes]
    return compare_in_memory(*held, replace(options, notes=tuple(notes)))


def _titled(table: Any, name: str) -> Any:
    """Return a table whose errors call it by a name if it has no path; what is in memory or a path stays as it is."""
    if is_in_memory(table) or is_path(table):
        return table
    source = read(table)
    return source.titled(name) if source.titleless else source


def _called(table: Any, letter: str) -> str:
    """Return what to call a table: its path or source, or the letter for a table in memory."""
    if isinstance(table, Source):
        return letter if table.titleless else table.source
    return os.fspath(table) if is_path(table) else letter
