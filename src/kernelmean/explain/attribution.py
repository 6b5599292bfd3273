"""Which columns differ between two samples: one test each, under one set of permutations, family-wise adjusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from .._array import Array, RngLike, as_rng
from .._table import Table, as_table, listed
from ..estimators.options import KernelLike
from ..inference.adaptive import in_parts, snapped
from ..inference.combine import evidence, standardized
from ..inference.null import Null
from ..inference.samples import check_samples, in_fixed_order
from ..inference.step_down import max_t
from ..inference.two_sample import mmd_null
from ..kernels import Gaussian, Kernel, TensorProduct
from ..plan import DEFAULT, Plan
from .moments import Moments, moments, without_each
from .subject import TwoSamples, kernel_for


@final
@dataclass(frozen=True)
class ColumnEvidence:
    """What one column says.

    Attributes
    ----------
    name : str
    statistic : float
        The unbiased MMD² of the column alone.
    effect : float
        The share of the feature variance that the sample explains, see :func:`effect_size`; 0 to 1, but for noise.
    drop : float
        The joint unbiased MMD² less that without the column: positive where the column carries a difference that the
        others do not. A description, not a test.
    pvalue, adjusted : float
        The permutation p-value of the column, and the one adjusted for the family-wise error rate.
    """

    name: str
    statistic: float
    effect: float
    drop: float
    pvalue: float
    adjusted: float


@final
@dataclass(frozen=True, eq=False)
class Attribution:
    """Which columns differ.

    Attributes
    ----------
    columns : tuple of ColumnEvidence
        Smallest adjusted p-value first, then by the strength of the evidence.
    statistic : float
        The unbiased MMD² of all columns together.
    scheme : str
        The permutation scheme.
    n_resamples : int
        Relabelings besides the observed one.
    """

    columns: tuple[ColumnEvidence, ...]
    statistic: float
    scheme: str
    n_resamples: int

    def differing(self, level: float = 0.05) -> tuple[str, ...]:
        """Return the names of the columns whose adjusted p-value is at most ``level``, strongest first."""
        return tuple(column.name for column in self.columns if column.adjusted <= level)

    def summary(self) -> str:
        """Return a few lines of text for a reader."""
        head = f"{'column':<16} {'effect':>8} {'drop':>10} {'p':>8} {'adjusted':>8}"
        rows = (f"{c.name:<16} {c.effect:8.4f} {c.drop:10.2e} {c.pvalue:8.4g} {c.adjusted:8.4g}" for c in self.columns)
        return "\n".join([head, *rows, f"{self.n_resamples} relabelings ({self.scheme}); family-wise by max-T"])


def attribute(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    names: Sequence[str] | None = None,
    n_resamples: int = 999,
    rng: RngLike = None,
    scheme: str = "auto",
    n_jobs: int | None = None,
    memory: float | None = None,
    plan: Plan = DEFAULT,
) -> Attribution:
    r"""Test every column on its own, with p-values that hold for all columns together.

    All columns see the same relabelings. Their statistics become approximate p-values, each by the mean, deviation and
    skewness of its own row, and the step-down max-T method of Westfall & Young adjusts them.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        At least two rows each.
    kernel : str, class or Kernel
        A family, which every column gets with a bandwidth of its own; or a kernel as it is, which must take one
        column (one bandwidth per axis is cut to the column).
    bandwidth : str or float
        A rule, or θ in pooled standard deviations of the column. For ``drop`` all columns are divided by their
        deviation and get one bandwidth by the same rule. Not used by a kernel as it is.
    names : sequence of str, optional
        The columns; by default those of the data frame.
    n_resamples, rng, scheme, n_jobs, memory
        As in :func:`kernelmean.mmd_test`.
    plan : Plan
        How the sums for ``effect`` and ``drop`` run.

    Raises
    ------
    ValueError
        When the columns differ, a sample has one row, or a value is not finite.

    Notes
    -----
    When no column differs, and none jointly with another, P(any adjusted p ≤ α) ≤ α exactly, for every n and m.
    When some differ, the same holds for wrongly named columns, provided that the columns that do not differ one by
    one do not differ jointly either (subset pivotality; samples that differ only in how equally distributed
    columns depend on each other are outside of it). Ties count, p is never 0. Constant columns have p = 1. Swapping X
    and Y changes nothing, nor does shifting or rescaling a column, but for rounding.
    d tests of one column, and O(n² d) time for the drops. Westfall & Young (1993), algorithm 4.1.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(40, 3)), rng.normal([0.0, 1.5, 0.0], size=(60, 3))
    >>> attribute(X, Y, rng=0).differing()
    ('x1',)
    """
    samples = _tables(X, Y, names)
    X, Y = in_fixed_order(*(sample.values for sample in samples))
    subject, kernels, joint = _kernels(X, Y, kernel, bandwidth, plan)
    subject.check_rows(2, "the unbiased statistic")

    def evaluate(part: Sequence[Kernel], chosen: str, generator: np.random.Generator) -> Null:
        first, second = (subject.pooled[rows] for rows in subject.parts)
        return mmd_null(
            first, second, part, scheme=chosen, rng=generator, n_resamples=n_resamples, n_jobs=n_jobs, memory=memory
        )

    null = in_parts(evaluate, kernels, scheme, as_rng(rng))
    scores = _scores(null)
    whole = moments(subject, joint).squared
    drops = whole - _left_out(subject, joint)
    rows = zip(samples[0].names, null.values[:, 0], (moments(subject, each) for each in kernels), drops, null.pvalues,
               max_t(scores), scores[:, 0], strict=True)  # fmt: skip
    return Attribution(tuple(_ordered(rows)), whole, null.scheme, null.values.shape[1] - 1)


def _scores(null: Null) -> Array:
    """Return minus the log of approximate p-values, shape (d, P); 0 for columns that say nothing."""
    values = np.stack([snapped(*row) for row in zip(null.values, null.tolerance, strict=True)])
    return np.asarray(np.where(np.ptp(values, axis=1, keepdims=True) > 0.0, evidence(standardized(values)), 0.0))


def _ordered(rows: Iterator[tuple[str, float, Moments, float, float, float, float]]) -> list[ColumnEvidence]:
    """Return the columns, the clearest first."""
    found = [
        (ColumnEvidence(name, float(value), own.explained, float(drop), float(p), float(adjusted)), float(score))
        for name, value, own, drop, p, adjusted, score in rows
    ]
    return [column for column, _ in sorted(found, key=lambda each: (each[0].adjusted, -each[1], -each[0].effect))]


def _tables(X: Any, Y: Any, names: Sequence[str] | None) -> tuple[Table, Table]:
    """Return both samples with the names of their columns."""
    first, second = check_samples(X, Y)
    own = as_table(X, "X").names if names is None else tuple(names)
    if len(set(own)) != first.shape[1]:
        raise ValueError(f"the names are {listed(own)}; {first.shape[1]} different ones are needed, one per column")
    return Table(first, own), Table(second, own)


def _kernels(
    X: Array, Y: Array, kernel: KernelLike, bandwidth: Any, plan: Plan
) -> tuple[TwoSamples, list[Kernel], Kernel]:
    """Return the samples in the units of the kernels, a kernel for every column, and one for all columns."""
    pooled = np.concatenate([X, Y])
    pooled = pooled if isinstance(kernel, Kernel) else _in_deviations(pooled)
    everything = range(pooled.shape[1])
    joint = kernel_for(pooled, kernel, bandwidth, "the pooled sample")
    if isinstance(kernel, Kernel):
        kernels = [on_columns(kernel, (j,)) for j in everything]
    else:
        own = (kernel_for(pooled[:, [j]], kernel, bandwidth, f"column {j}") for j in everything)
        kernels = [TensorProduct((each,), ((j,),)) for j, each in enumerate(own)]
    return TwoSamples(pooled, (len(X), len(Y)), joint, plan), list(kernels), joint


def _in_deviations(pooled: Array) -> Array:
    """Return the columns less their mean, divided by their deviation where that is not 0; nothing overflows."""
    _, exponent = np.frexp(np.abs(pooled).max(axis=0))
    scaled = np.ldexp(pooled, -exponent)
    scaled = scaled - scaled.mean(axis=0)
    varies = np.ptp(pooled, axis=0) > 0.0
    return np.where(varies, scaled, 0.0) / np.where(varies, scaled.std(axis=0), 1.0)


def on_columns(kernel: Kernel, columns: tuple[int, ...]) -> Kernel:
    """Return the kernel on some columns; one bandwidth per axis is cut to them."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if isinstance(bandwidth, tuple):
        kernel = replace(kernel, bandwidth=tuple(bandwidth[j] for j in columns))  # type: ignore[type-var]
    return TensorProduct((kernel,), (columns,))


def _left_out(subject: TwoSamples, joint: Kernel) -> Array:
    """Return the unbiased MMD² without each column; without any column it is 0."""
    dim = subject.pooled.shape[1]
    if dim == 1:
        return np.zeros(1)
    if isinstance(joint, Gaussian):
        return without_each(subject.pooled, subject.sizes, np.broadcast_to(joint.bandwidth, dim))
    others = (tuple(k for k in range(dim) if k != j) for j in range(dim))
    return np.array([moments(subject, on_columns(joint, columns)).squared for columns in others])
