"""The plan of a Dask cluster, to which embeddings, estimators and tests hand their data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, final

from ...embedding.embedding import Embedding
from ...embedding.features import FeatureMap
from ...estimators import KernelMean
from ...estimators.by_features import exact_limit
from ...noise.base import Noise
from ...plan.plan import RemotePlan
from ..answering import answered_in_memory, names_of_tables, row_limit
from ..bins.request import BY_SCHEME, BinnedTest, Reason
from ..questions import Pairs, Question
from ..request import Request
from ..result import TestResult
from ..samples import check_lengths, matched
from . import streams
from .rows import Rows, headed
from .running import check_client, gathered, task
from .tables import ClusterTable, fold

Job = TypeVar("Job")
Result = TypeVar("Result")


@final
class DaskPlan(RemotePlan):
    """A Dask cluster that holds the rows: few are brought to this process, many are added up where they are.

    Parameters
    ----------
    client : dask.distributed.Client
        Connected to the cluster, not asynchronous. The workers need the same version of kernelmean.

    Raises
    ------
    ImportError
        When Dask, the extra "dask", is not installed.
    TypeError
        When ``client`` is not a client.

    Notes
    -----
    Pass it as ``plan=`` to :func:`kernelmean.mmd_test`, :func:`kernelmean.hsic_test`, :func:`kernelmean.k_sample_test`,
    :func:`kernelmean.compare`, :meth:`kernelmean.KernelMean.fit` and :func:`kernelmean.embedding.features.embed`, with
    dask arrays, dask data frames, or paths of Parquet files that the workers can read. The numbers of rows up to which
    a test or a fit in one process holds all rows of a file are those up to which they are brought here; of more rows
    only sums of features come, and the result says so. Of pairs with strata, clusters or weights rows that turn
    together are in different partitions: all of them come here, one partition after the other. Data are computed at
    least twice (to count and check the rows, and for the sums), by ``compare`` three times; write ``X = X.persist()``
    if that is expensive and memory suffices. With the same seed a test has the same p-value as in one process, whatever
    the partitions and the workers, even if workers are lost on the way.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> plan = DaskPlan(Client("tcp://10.0.0.1:8786"))  # doctest: +SKIP
    >>> km.mmd_test("before/", "after/", rng=0, plan=plan).pvalue  # doctest: +SKIP
    0.001
    """

    def __init__(self, client: Any) -> None:
        self.client = check_client(client)

    def __repr__(self) -> str:
        return f"DaskPlan({self.client!r})"

    def rows(self, X: Any, name: str = "X") -> Rows:
        """Return a table on the cluster, checked in one pass; you may pass it instead of the data.

        Raises
        ------
        TypeError, ValueError
            When the data are in this process, or are not a table of finite numbers; the message has the column, the row
            and the number of such cells.
        """
        return Rows.of(self.client, X, name)

    def map(self, run: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        """Yield ``run(job)`` in the order of the jobs, such as trials of a power study; each is a task.

        ``run`` must be importable on the workers or picklable, and take everything random, such as a seed, from its
        job: a task of a lost worker is run again.
        """
        yield from gathered(self.client, [task(run, job) for job in jobs])

    def table(self, X: Any, name: str = "X") -> ClusterTable:
        """Return a table of columns of any kind; see :meth:`kernelmean.plan.RemotePlan.table`."""
        return ClusterTable.of(self.client, X, name)

    def fold(
        self,
        run: Callable[[Any, Any, Any], Result],
        merge: Callable[..., Result],
        jobs: Iterable[tuple[Any, Any]],
        shared: Any = None,
        finish: Callable[[Result, Any], Any] | None = None,
    ) -> Any:
        """Return a function's merged results on all parts of tables; see :meth:`kernelmean.plan.RemotePlan.fold`."""
        return fold(self.client, run, merge, jobs, shared, finish)

    def feature_embed(
        self, X: Any, features: FeatureMap, *, weights: Any = None, noise: Noise | None = None, moments: bool = False
    ) -> Embedding:
        """Return the mean of features, see :func:`kernelmean.embedding.features.embed`."""
        rows = self.rows(X)
        weights = None if weights is None else self._weights(weights, rows)
        return streams.feature_embedding(rows, features, weights, noise, moments)

    def fit(self, estimator: Any, X: Any) -> None:
        """Fit an estimator, see :meth:`kernelmean.KernelMean.fit`."""
        if not isinstance(estimator, KernelMean):
            raise TypeError(f"{estimator!r} has no fit on a cluster; pass a KernelMean, such as km.MKME()")
        rows = self.rows(X)
        if estimator.features in (None, 0) and len(rows) <= exact_limit(estimator):
            estimator.fit(rows.here())
        else:
            streams.fit_by_features(estimator, rows)

    def answer(self, question: type[Question], data: Sequence[Any], request: Request) -> TestResult:
        """Test samples or pairs, see :func:`kernelmean.mmd_test` and :func:`kernelmean.hsic_test`."""
        tables = self._pairs(*data) if question is Pairs else self._samples(data)
        limit = row_limit(question, request)
        if not request.in_bins and max(map(len, tables)) <= limit:
            return answered_in_memory(question, [rows.here() for rows in tables], request, None)
        beyond = Reason(f"beyond {limit:,} rows", "take a part of the rows", by_caller=False)
        reason = BY_SCHEME if request.in_bins else beyond
        test = BinnedTest.of(question, request, reason)
        if question is not Pairs and not request.design.paired:
            return reason.noted(streams.samples(tables, test))
        X, Y = tables
        return reason.noted((streams.pairs if question is Pairs else streams.paired)(X, Y, test))

    def _samples(self, data: Sequence[Any]) -> list[Rows]:
        """Return samples of the same columns; columns with names are matched by name."""
        names = names_of_tables(len(data))
        first, *others = (self.rows(table, name) for table, name in zip(data, names, strict=True))
        for other, name in zip(others, names[1:], strict=True):
            matched(headed(first), headed(other), (names[0], name))
        return [first, *(other.reordered(first.names) if first.named and other.named else other for other in others)]

    def _pairs(self, X: Any, Y: Any) -> tuple[Rows, Rows]:
        """Return two tables whose rows belong together."""
        first, second = self.rows(X, "X"), self.rows(Y, "Y")
        check_lengths(len(first), len(second), least=2)
        return first, second

    def _weights(self, weights: Any, rows: Rows) -> Rows:
        """Return one column with a number for every row."""
        if hasattr(weights, "to_frame"):
            weights = weights.to_frame()
        elif getattr(weights, "ndim", 2) == 1 and hasattr(weights, "rechunk"):
            weights = weights.reshape(-1, 1)
        column = self.rows(weights, "weights")
        if column.shape != (len(rows), 1):
            raise ValueError(f"weights have shape {column.shape}, one number per row, ({len(rows)},), is needed")
        return column
