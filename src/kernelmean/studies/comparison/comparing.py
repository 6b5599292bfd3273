"""The comparison: a joint test over all columns, and a test of every column alone."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ...core.array import SILENT, Array, Progress, RngLike, as_rng
from ...core.surface import written
from ...core.words import count, listed
from ...inference import TestResult, mmd_test
from ...inference.adaptive import NAMED
from ...inference.combine import check_renamed
from ...inference.estimated_mmd import MMD_ESTIMATORS as ESTIMATORS
from ...inference.multiple import enough_for_holm
from ...inference.two_sample import mmd_null
from ...kernels import Gaussian
from ...kernels.bandwidth import Bandwidth, bandwidth_from
from ...tables.columns import Encoded, Encoding, EncodingOptions, encode, spells_out, summarize
from ...tables.columns.missing import noise_needs_kme
from .ranking import ranked
from .result import Comparison


@spells_out
def compare(
    A: Any,
    B: Any,
    *,
    names: tuple[str, str] = ("A", "B"),
    estimator: str = "adaptive",
    bandwidth: Any = "median",
    n_resamples: int = 999,
    rng: RngLike = 0,
    n_jobs: int | None = None,
    progress: Progress = SILENT,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Comparison:
    """Compare two tables: an exact joint test over all columns, and a test of every column alone.

    Parameters
    ----------
    A, B : arrays of shape (n, d) and (m, d), data frames, Tables or Frames
        The same columns; those of B are matched by name. Numbers, truth values, categories, ordered categories and
        times may stand side by side: see :class:`kernelmean.TableEncoder` for the kernel of each.
    names : (str, str)
        What to call them.
    estimator : str
        "adaptive", "log-mean-exp", "aggregate": many kernels and one p-value. Of one kernel "kme", "mkme", "mmkme":
        whose noise it is smoothed with, none, one variance, or one per column, fitted to the pooled rows, so that it
        does not depend on which row is in which table; "s-kmse", "f-kmse": weights of each table's own, found anew
        under every permutation; "vpmkme": contraction and noise of the pooled rows. See :func:`kernelmean.mmd_test`.
    bandwidth : {"median", "median-unsquared", "silverman", "scott"} or float
        θ: a rule applied to the pooled rows, or a number. An adaptive test has its own.
    n_resamples : int
        Permutations of the joint test; columns use more where Holm's method needs them.
    rng : int or Generator
        The same seed gives the same numbers.
    n_jobs : int, optional
        Threads of the tests.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.
    encoding : Encoding, optional
        What the columns hold, and what is done with missing cells, in one value.
    **columns
        The same as keywords, the options of :class:`kernelmean.tables.Encoding`: ``missing`` ("error", "drop",
        "category", "noise", or a dict from column to one of them; "noise" is for ``estimator="kme"``), ``ordinal``,
        ``categorical``, ``keep`` and ``scale``, which divides by standard deviations over both tables. The result
        counts missing cells.

    Raises
    ------
    ValueError
        When a table has fewer than two rows, the columns or their types differ, a cell is missing without a rule for
        it, a column has too many categories or looks like an identifier, or all are constant.
    TypeError
        When a column holds something else than numbers, categories and times, or these as text ("$1,000.00").

    Notes
    -----
    Exact: with probability at most α the joint test finds a difference at level α where there is none, at any size.
    With ``missing="category"`` and "noise" that is said of the rows with their missing cells: tables of which one has
    more of them differ. "drop" and "noise" compare the cells that would have been there when cells are missing
    completely at random, "noise" moreover when the column is normal and independent of the others, or equally many
    cells are missing in both tables.
    Columns that are constant over both tables say nothing and are left out, which a note tells. All columns see the
    same relabelings, and the order of the columns changes nothing.
    O(n² d) time; Gretton et al. (2012), and Xia et al. (2021), section "Two-sample test".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(50, 2)), rng.normal([0.0, 2.0], size=(50, 2))
    >>> result = compare(X, Y)
    >>> result.differ(), result.columns[0].name
    (True, 'x1')
    """
    read = Encoding.of(encoding, columns)
    test = _Test(estimator, bandwidth, n_resamples, n_jobs)
    encoded = encode((A, B), names, read)
    _check(encoded, names, test)
    stream, stream_alone = as_rng(rng).spawn(2)
    order = encoded.in_table_order()
    progress("all columns together", 0, 1 + len(order))
    joint, theta = test.run(encoded, order, stream, n_resamples)
    alone = {}
    for j, name in enumerate(order):
        progress(name, j + 1, 1 + len(order))
        alone[name] = test.of_column(encoded, name, copy.deepcopy(stream_alone))
    sizes = len(encoded.frames[0]), len(encoded.frames[1])
    summaries = [summarize(coding, encoded.frames) for coding in encoded.codings]
    return Comparison(
        names=names,
        sizes=sizes,
        test=joint,
        estimator=estimator,
        bandwidth=_in_table_order(theta, encoded),
        scaled=read.scale,
        columns=ranked(encoded.codings, summaries, joint.noise, alone),
        notes=(*_notes(encoded, theta), *joint.notes),
        missing=encoded.missing,
        encoded=encoded,
    )


@dataclass(frozen=True)
class _Test:
    """The test that all columns together and every column alone are put to."""

    estimator: str
    bandwidth: Any
    n_resamples: int
    n_jobs: int | None

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS and not self.adaptive:
            check_renamed(self.estimator)
            raise ValueError(f"estimator is {self.estimator!r}; write one of {listed([*ESTIMATORS, *NAMED])}")
        if self.adaptive and self.bandwidth != "median":
            asked = written(f"bandwidth={self.bandwidth!r}", f"--bandwidth {self.bandwidth}")
            raise ValueError(
                f"the {self.estimator} test brings its own bandwidths; leave {asked} out, or take one of "
                f"{listed(ESTIMATORS)}"
            )

    @property
    def adaptive(self) -> bool:
        """Whether the test brings its own kernels."""
        return self.estimator in NAMED

    def run(
        self, encoded: Encoded, columns: Iterable[str], rng: np.random.Generator, n_resamples: int
    ) -> tuple[TestResult, Any]:
        """Test some columns, and return the bandwidth; the kernel is smoothed by the noise of the pooled rows."""
        theta = None if self.adaptive else self._theta(encoded, columns)
        result = mmd_test(
            *encoded.points(columns),
            kernel="gaussian" if theta is None else encoded.kernel(Gaussian(theta)),
            estimator=self.estimator,
            n_resamples=n_resamples,
            rng=rng,
            n_jobs=self.n_jobs,
        )
        return result, theta

    def of_column(self, encoded: Encoded, name: str, rng: np.random.Generator) -> tuple[float, float]:
        """Return MMD² and the p-value of one column, with permutations enough for Holm's method over all columns."""
        enough = enough_for_holm(self.n_resamples, len(encoded.names))
        (statistic, pvalue), _ = self.run(encoded, (name,), rng, enough)
        if self.adaptive:
            kernel = Gaussian(self._theta(encoded, (name,)))
            first, second = encoded.points((name,))
            statistic = float(mmd_null(first, second, [kernel], n_resamples=1, rng=0).values[0, 0])
        return statistic, pvalue

    def _theta(self, encoded: Encoded, columns: Iterable[str]) -> Any:
        pooled = np.concatenate(encoded.coordinates(columns))
        if isinstance(self.bandwidth, str) and not self.bandwidth.startswith("median"):
            wide = [coding.name for coding in encoded.codings if len(coding.names) > 1 and coding.name in {*columns}]
            if wide:
                median = written("bandwidth='median'", "--bandwidth median")
                raise ValueError(
                    f"the bandwidth {self.bandwidth!r} is a rule for columns of numbers, and {wide[0]!r} takes several "
                    f"coordinates; write {median} or a number"
                )
        return _bandwidth(pooled, self.bandwidth)


def _bandwidth(pooled: Array, rule: Any) -> Any:
    """Return the bandwidth of a rule; of many rows some are drawn, but from sorted ones: no table comes first."""
    return bandwidth_from(pooled[np.lexsort(pooled.T)], rule)


def _check(encoded: Encoded, names: tuple[str, str], test: _Test) -> None:
    """Raise when there is nothing to compare, or no exact way to do it."""
    for frame, name in zip(encoded.frames, names, strict=True):
        if len(frame) < 2:
            raise ValueError(f"{name} has {count(len(frame), 'row')}; a comparison needs at least 2 in each table")
    if not encoded.names:
        raise ValueError(
            f"every column of {names[0]} and {names[1]} is constant and the same in both; there is nothing to compare"
        )
    if encoded.variances is not None and test.estimator != "kme":
        raise noise_needs_kme(test.estimator)


def _in_table_order(theta: Any, encoded: Encoded) -> Any:
    """Return a bandwidth as plain numbers, one per axis in the order of the table."""
    if theta is None or np.ndim(theta) == 0:
        return theta if theta is None else float(theta)
    return [float(theta[j]) for name in encoded.in_table_order() for j in encoded.groups[name]]


def _notes(encoded: Encoded, theta: Any) -> tuple[str, ...]:
    pooled = np.concatenate(encoded.points())
    notes = list(encoded.notes(" over both tables"))
    repeated = len(pooled) - len(np.unique(pooled, axis=0))
    if repeated > len(pooled) / 2:
        notes.append(f"{repeated} of {count(len(pooled), 'row')} repeat another row; rows should be independent")
    if isinstance(theta, Bandwidth):
        used = "" if theta.exact else f" of {count(theta.n_points, 'random row')}"
        notes.append(f"bandwidth: {theta.rule}{used}")
    return tuple(notes)
