"""Which columns differ, or depend: one test each, under one set of permutations, family-wise adjusted.

A column is a block of coordinates, with a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import index
from typing import Any, final

import numpy as np

from ...core.array import Array, as_host
from ...core.points import Names
from ...core.table import Table, as_table
from ...core.words import listed, passed
from ...estimators import KernelMean
from ...kernels import Gaussian, Kernel, TensorProduct
from ...plan.plan import Plan
from ..adaptive.many_kernels import evidence, in_parts
from ..null import Null, holm, max_t, standardized
from ..questions import Pairs, TwoSamples
from ..request import KernelOf
from ..resampling import Resampling
from ..statistics import StatisticForm
from .moments import Moments, moments, weighted_moments, without_each
from .pairs import PairSubject
from .samples import SampleSubject, kernel_for
from .subjects import both, check_explained

Groups = Mapping[str, Sequence[int]]
"""The columns of a table by the positions of their coordinates, as ``TableEncoder.groups_``."""
Blocks = tuple[tuple[int, ...], ...]
Measure = Callable[[Kernel], Moments]
"""From a kernel to the moments of both samples."""


def _names(table: Any, side: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns, given or their own."""
    columns = as_table(table, side).names
    if names is None:
        return columns
    if isinstance(names, str):
        raise TypeError(f"names is {names!r}; pass a sequence of names, one per column")
    names = tuple(str(name) for name in names)
    if len(names) != len(columns) or len(set(names)) != len(names):
        needed = len(columns)
        raise ValueError(f"the names of {side} are {listed(names)}; {needed} different ones are needed, one per column")
    return names


def named_blocks(
    table: Any, side: str, names: Sequence[str] | None, groups: Groups | None
) -> tuple[tuple[str, ...], Blocks]:
    """Return the names of the columns, and the coordinates of each: one, unless groups are given."""
    if groups is None:
        columns = _names(table, side, names)
        return columns, tuple((j,) for j in range(len(columns)))
    if names is not None:
        raise ValueError("names and groups were both passed; groups name the columns, so leave names out")
    dim = len(as_table(table, side).names)
    try:
        blocks = tuple(tuple(map(index, block)) for block in groups.values())
    except (AttributeError, TypeError) as error:
        raise TypeError(
            f"groups is {groups!r}; pass a mapping from names to lists of coordinates, such as "
            "{'a': [0], 'b': [1, 2]}"
        ) from error
    if not all(blocks) or sorted(j for block in blocks for j in block) != list(range(dim)):
        raise ValueError(
            f"the groups of {side} are {dict(groups)!r}; every one of its {dim} coordinates, 0 to {dim - 1}, must "
            "be in one group"
        )
    return tuple(str(name) for name in groups), blocks


def block_kernels(
    points: Array, blocks: Blocks, estimator: KernelMean | KernelOf
) -> tuple[Array, list[Kernel], Kernel]:
    """Return a table in the units of the kernels, a kernel for every column, and one for all columns.

    A kernel that is neither a family nor has a rule for its bandwidth is used as it is, in the units of the data.
    """
    kernel = estimator.kernel if isinstance(estimator, KernelMean) else None
    whole = isinstance(kernel, Kernel) and not isinstance(getattr(kernel, "bandwidth", None), str)
    points = points if whole else _in_deviations(points, blocks)
    joint = kernel_for(points, estimator, "the table")
    if whole:
        return points, [on_columns(joint, block) for block in blocks], joint
    kernels = (kernel_for(points[:, block], estimator, f"column {j}") for j, block in enumerate(blocks))
    return points, [TensorProduct((each,), (block,)) for each, block in zip(kernels, blocks, strict=True)], joint


def _in_deviations(pooled: Array, blocks: Blocks) -> Array:
    """Return the columns less their mean, divided by their deviation where that is not 0; nothing overflows.

    All coordinates of a column are divided by the same number, the root of their summed variances.
    """
    _, exponent = np.frexp(np.abs(pooled).max(axis=0))
    for block in blocks:
        exponent[list(block)] = exponent[list(block)].max()
    scaled = np.ldexp(pooled, -exponent)
    scaled = scaled - scaled.mean(axis=0)
    varies = np.ptp(pooled, axis=0) > 0.0
    scaled = np.where(varies, scaled, 0.0)
    deviation = scaled.std(axis=0)
    for block in blocks:
        deviation[list(block)] = np.linalg.norm(deviation[list(block)])
    return np.asarray(scaled / np.where(deviation > 0.0, deviation, 1.0))


def on_columns(kernel: Kernel, columns: tuple[int, ...]) -> Kernel:
    """Return the kernel on some columns, with their bandwidths if it has one per axis."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if isinstance(bandwidth, tuple):
        kernel = replace(kernel, bandwidth=tuple(bandwidth[j] for j in columns))  # type: ignore[type-var]
    return TensorProduct((kernel,), (columns,))


@final
@dataclass(frozen=True)
class ColumnEvidence:
    """The evidence of one column, or of one pair of columns.

    Attributes
    ----------
    name : str or (str, str)
        The column; for a dependence the column of X and that of Y.
    statistic : float
        The unbiased MMD² of the column alone, with a design the V-statistic; for a pair its HSIC (V-statistic).
    effect : float
        The share of the feature variance that the sample explains, see :class:`EffectSize`; for a pair the alignment,
        see :class:`DependenceSize`. 0 to 1, except for noise. With a design it is of V-statistics, which few rows
        suffice for, and a little too large.
    drop : float
        The joint MMD² minus that without the column: positive if the column carries a difference that the
        others do not. A description, not a test; nan for a pair.
    pvalue, adjusted : float
        The permutation p-value of the column, and the one adjusted for the family-wise error rate.
    """

    name: str | tuple[str, str]
    statistic: float
    effect: float
    drop: float
    pvalue: float
    adjusted: float


@final
@dataclass(frozen=True, eq=False)
class Attribution:
    """Which columns, or pairs of columns, stand out.

    Attributes
    ----------
    columns : tuple of ColumnEvidence
        Smallest adjusted p-value first, then by the strength of the evidence.
    statistic : float
        The unbiased MMD², with a design the V-statistic, or the HSIC, of all columns together.
    scheme : str
        The permutation scheme.
    n_resamples : int
        Permutations besides the observed one.
    adjustment : str
        "max-t" or "holm".
    """

    columns: tuple[ColumnEvidence, ...]
    statistic: float
    scheme: str
    n_resamples: int
    adjustment: str

    def differing(self, level: float = 0.05) -> tuple[Any, ...]:
        """Return the names of the columns whose adjusted p-value is at most ``level``, strongest first."""
        return tuple(column.name for column in self.columns if column.adjusted <= level)

    def summary(self) -> str:
        """Return a few lines of text for a reader."""
        head = f"{'column':<24} {'effect':>8} {'drop':>10} {'p':>8} {'adjusted':>8}"
        rows = (
            f"{c.name if isinstance(c.name, str) else ' ~ '.join(c.name):<24} "
            f"{c.effect:8.4f} {c.drop:10.2e} {c.pvalue:8.4g} {c.adjusted:8.4g}"
            for c in self.columns
        )
        return "\n".join(
            [head, *rows, f"{self.n_resamples} permutations ({self.scheme}); family-wise: {self.adjustment}"]
        )

    def __str__(self) -> str:
        return self.summary()


ADJUSTMENTS: dict[str, Callable[[Array, Array], Array]] = {
    "max-t": lambda scores, _: max_t(scores),
    "holm": lambda _, pvalues: holm(pvalues.tolist()),
}


@final
@dataclass(frozen=True, eq=False)
class ColumnTests:
    """How columns are tested one by one.

    Attributes
    ----------
    estimators : tuple
        One per side: a family of kernels, in which every column has its own bandwidth, or a fixed kernel.
    adjustment : {"max-t", "holm"}
    how : Resampling
    plan : Plan
        How the sums for ``effect`` and ``drop`` are computed.
    """

    estimators: tuple[KernelMean | KernelOf, ...]
    adjustment: str
    how: Resampling
    plan: Plan


def attribute(question: TwoSamples | Pairs, tests: ColumnTests, names: Any, groups: Any) -> Attribution:
    """Test every column, or every pair of columns, on its own; see :meth:`kernelmean.TestResult.attribute`."""
    check_explained(question)
    if tests.adjustment not in ADJUSTMENTS:
        raise ValueError(f"adjustment is {tests.adjustment!r}; pass one of {', '.join(map(repr, ADJUSTMENTS))}")
    if isinstance(question, TwoSamples):
        return _columns_of_samples(question, tests, names, groups)
    return _columns_of_pairs(question, tests, names, groups)


def _columns_of_samples(question: TwoSamples, tests: ColumnTests, names: Any, groups: Any) -> Attribution:
    columns, blocks = named_blocks(_table(question.X, question.names), "X", names, groups)
    first, second = map(as_host, question.samples)
    pooled, kernels, joint = block_kernels(np.concatenate([first, second]), blocks, tests.estimators[0])
    subject = SampleSubject(pooled, (len(first), len(second)), joint, tests.plan)
    form: StatisticForm = "u" if question.design is None else "v"
    if form == "u":
        subject.check_rows(2, "the unbiased statistic")
    null = in_parts(lambda part, how: question.over((pooled,), part, form, how), kernels, tests.how)
    weighted = None if form == "u" else partial(weighted_moments, subject, question.counted[question.places])
    measure = weighted or partial(moments, subject)
    whole = measure(joint).squared
    effects = (measure(each).explained for each in kernels)
    results = _evidence(null, tests.adjustment, columns, effects, whole - _left_out(subject, joint, blocks, weighted))
    return Attribution(results, whole, null.scheme, null.values.shape[1] - 1, tests.adjustment)


def _columns_of_pairs(question: Pairs, tests: ColumnTests, names: Any, groups: Any) -> Attribution:
    tables = as_host(question.tables[0]), as_host(question.tables[1])
    if len(tables[0]) < 4:
        raise ValueError(f"{passed(len(tables[0]), 'pair')}, the alignment needs at least 4")
    names = (None, None) if names is None else both(names)
    groups = (None, None) if groups is None else both(groups)
    named = [_table(*each) for each in zip(tables, question.names, strict=True)]
    columns = [named_blocks(*each) for each in zip(named, "XY", names, groups, strict=True)]
    sides = [
        block_kernels(table, blocks, estimator)
        for table, (_, blocks), estimator in zip(tables, columns, tests.estimators, strict=True)
    ]
    (first, left, whole_left), (second, right, whole_right) = sides
    chosen = [(x, y) for x in left for y in right]
    null = in_parts(lambda part, how: question.over((first, second), part, "v", how), chosen, tests.how)
    whole = PairSubject.of_question(question, (first, second), (whole_left, whole_right), tests.plan)
    pairs = [(x, y) for x in columns[0][0] for y in columns[1][0]]
    effects = (value for row in _alignments(whole, (left, right)) for value in row)
    results = _evidence(null, tests.adjustment, pairs, effects, np.full(len(pairs), np.nan))
    return Attribution(results, whole.squared, null.scheme, null.values.shape[1] - 1, tests.adjustment)


def _table(points: Array, names: Names) -> Any:
    return as_host(points) if names is None else Table(as_host(points), names)


def _alignments(whole: PairSubject, kernels: tuple[list[Kernel], list[Kernel]]) -> Array:
    """Return the alignment of every column of X with every column of Y, 0 where a scale is not positive."""

    def product(sides: tuple[int, int], first: Kernel, second: Kernel) -> float:
        tables = whole.tables[sides[0]], whole.tables[sides[1]]
        pairs = replace(whole, tables=tables, kernels=(first, second))
        return float(pairs.unbiased_products().mean()) if whole.design is None else pairs.squared

    scales = [np.array([max(product((s, s), kernel, kernel), 0.0) for kernel in kernels[s]]) for s in (0, 1)]
    cross = np.array([[product((0, 1), first, second) for second in kernels[1]] for first in kernels[0]])
    norms = np.sqrt(np.outer(*scales))
    return np.divide(cross, norms, out=np.zeros_like(cross), where=norms > 1e-14)


def _evidence(
    null: Null, adjustment: str, names: Sequence[Any], effects: Iterable[float], drops: Array
) -> tuple[ColumnEvidence, ...]:
    """Return the evidence of every test, the clearest first."""
    values = null.snapped
    scores = np.where(np.ptp(values, axis=1, keepdims=True) > 0.0, evidence(standardized(values)), 0.0)
    numbers = (null.values[:, 0], effects, drops, null.pvalues, ADJUSTMENTS[adjustment](scores, null.pvalues))
    columns = [ColumnEvidence(name, *map(float, row)) for name, *row in zip(names, *numbers, strict=True)]
    strength = {column.name: score for column, score in zip(columns, scores[:, 0].tolist(), strict=True)}
    return tuple(sorted(columns, key=lambda each: (each.adjusted, -strength[each.name], -each.effect)))


def _left_out(subject: SampleSubject, joint: Kernel, blocks: Blocks, weighted: Measure | None) -> Array:
    """Return MMD² without each column, the unbiased one unless means are weighted; without any column it is 0."""
    dim = subject.pooled.shape[1]
    if len(blocks) == 1:
        return np.zeros(1)
    if weighted is None and isinstance(joint, Gaussian) and len(blocks) == dim:
        without = without_each(subject.pooled, subject.sizes, np.broadcast_to(joint.bandwidth, dim))
        return without[[block[0] for block in blocks]]
    measure = weighted or partial(moments, subject)
    others = (tuple(k for k in range(dim) if k not in block) for block in blocks)
    return np.array([measure(on_columns(joint, columns)).squared for columns in others])
