"""Which columns differ, or depend: one test each, under one set of permutations, family-wise adjusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.array import Array, RngLike
from ...core.words import passed
from ...estimators.options import KernelLike
from ...kernels import Gaussian, Kernel
from ...plan.plan import DEFAULT, Plan
from ..adaptive import in_parts, snapped
from ..combine import evidence, standardized
from ..multiple import holm
from ..null import Null
from ..questions import Pairs as QuestionOfPairs
from ..questions import TwoSamples as QuestionOfSamples
from ..resampling import Resampling
from ..samples import check_pairs, check_samples, in_fixed_order
from ..step_down import max_t
from .blocks import Blocks, Groups, block_kernels, named_blocks, on_columns
from .moments import moments, without_each
from .subject import Pairs, TwoSamples, both


@final
@dataclass(frozen=True)
class ColumnEvidence:
    """What one column, or one pair of columns, says.

    Attributes
    ----------
    name : str or (str, str)
        The column; for a dependence that of X and that of Y.
    statistic : float
        The unbiased MMD² of the column alone; for a pair its HSIC (V-statistic).
    effect : float
        The share of the feature variance that the sample explains, see :func:`effect_size`; for a pair the alignment,
        see :func:`dependence_effect_size`. 0 to 1, but for noise.
    drop : float
        The joint unbiased MMD² less that without the column: positive where the column carries a difference that the
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
        The unbiased MMD², or the HSIC, of all columns together.
    scheme : str
        The permutation scheme.
    n_resamples : int
        Relabelings besides the observed one.
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
            f"{_written(c.name):<24} {c.effect:8.4f} {c.drop:10.2e} {c.pvalue:8.4g} {c.adjusted:8.4g}"
            for c in self.columns
        )
        return "\n".join(
            [head, *rows, f"{self.n_resamples} relabelings ({self.scheme}); family-wise: {self.adjustment}"]
        )


def _written(name: str | tuple[str, str]) -> str:
    return name if isinstance(name, str) else " ~ ".join(name)


ADJUSTMENTS: dict[str, Callable[[Array, Array], Array]] = {
    "max-t": lambda scores, _: max_t(scores),
    "holm": lambda _, pvalues: holm(pvalues.tolist()),
}


def attribute(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    estimator: Any = "kme",
    adjustment: str = "max-t",
    names: Sequence[str] | None = None,
    groups: Groups | None = None,
    n_resamples: int = 999,
    rng: RngLike = None,
    scheme: str = "auto",
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
    estimator : str, KernelMean or callable
        "kme"; or "mkme", "mmkme" or a KernelMean without filter, whose noise is fitted to every column.
    adjustment : {"max-t", "holm"}
        "holm" (1979) needs no assumption, and n_resamples of at least 20 d at level 0.05.
    names : sequence of str, optional
        The columns; by default those of the data frame.
    groups : dict from str to sequence of int, optional
        Columns that take several coordinates, as ``TableEncoder.groups_`` has them: each is tested as a whole, by a
        kernel on its block, and named once. The blocks do not overlap and leave no coordinate out.
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
    columns depend on each other are outside of it, except with "holm"). Ties count, p is never 0. Constant columns
    have p = 1. Swapping X and Y changes nothing, nor does shifting or rescaling a column, but for rounding.
    d tests of one column, and O(n² d) time for the drops; with groups as much for each of them. Westfall & Young
    (1993), algorithm 4.1.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X, Y = rng.normal(size=(40, 3)), rng.normal([0.0, 1.5, 0.0], size=(60, 3))
    >>> attribute(X, Y, rng=0).differing()
    ('x1',)
    """
    adjust = _adjustment(adjustment)
    samples = check_samples(X, Y)
    columns, blocks = named_blocks(X, "X", names, groups)
    first, second = in_fixed_order(*samples)
    subject, kernels, joint = _two_samples(first, second, blocks, kernel, bandwidth, estimator, plan)
    subject.check_rows(2, "the unbiased statistic")

    own, other = subject.parts
    question = QuestionOfSamples(subject.pooled[own], subject.pooled[other])
    how = Resampling.of(scheme, n_resamples, rng, plan)
    null = in_parts(lambda part, own: question.null(part, "u", own), kernels, how)
    whole = moments(subject, joint).squared
    effects = (moments(subject, each).explained for each in kernels)
    found = _evidence(null, adjust, columns, effects, whole - _left_out(subject, joint, blocks))
    return Attribution(found, whole, null.scheme, null.values.shape[1] - 1, adjustment)


def dependence_attribute(
    X: Any,
    Y: Any,
    *,
    kernel: Any = "gaussian",
    bandwidth: Any = "median",
    estimator: Any = "kme",
    adjustment: str = "max-t",
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    groups: tuple[Groups | None, Groups | None] | None = None,
    n_resamples: int = 999,
    rng: RngLike = None,
    scheme: str = "auto",
    plan: Plan = DEFAULT,
) -> Attribution:
    r"""Test every column of X with every column of Y for independence, with p-values that hold for all pairs together.

    All pairs see the same permutations; see :func:`attribute` for what is made of them.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation; at least four.
    kernel, bandwidth : as in :func:`attribute`, or a tuple of two
        For X and for Y. Here θ is in standard deviations of the column.
    estimator, adjustment, n_resamples, rng, scheme, plan
        As in :func:`attribute`.
    names : tuple of two sequences of str, optional
        The columns of X and those of Y; by default those of the data frames.
    groups : tuple of two dict, optional
        The coordinates of the columns of X and of Y, as in :func:`attribute`; None where every coordinate is a column.

    Returns
    -------
    Attribution
        ``columns`` has d e entries with pairs of names.

    Raises
    ------
    ValueError
        When the tables do not fit, or a value is not finite.

    Notes
    -----
    When X and Y are independent, P(any adjusted p ≤ α) ≤ α exactly. When some pairs depend on each other the same
    holds for wrongly named pairs if, without the columns of the named ones, X and Y are independent jointly; for any
    other pattern "holm" keeps it. d e tests of one pair; effects O(n² d e) time. Constant columns have p = 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> Y = np.stack([rng.normal(size=60), X[:, 0] ** 2], axis=1)
    >>> dependence_attribute(X, Y, rng=0).differing()
    (('x0', 'x1'),)
    """
    adjust = _adjustment(adjustment)
    tables = check_pairs(X, Y)
    if len(tables[0]) < 4:
        raise ValueError(f"{passed(len(tables[0]), 'pair')}, the alignment needs at least 4")
    given = (None, None) if names is None else both(names)
    grouped = (None, None) if groups is None else both(groups)
    columns = [named_blocks(table, *own) for table, *own in zip((X, Y), "XY", given, grouped, strict=True)]
    labels = [names for names, _ in columns]
    sides = [
        block_kernels(table, blocks, own, theta, estimator)
        for table, (_, blocks), own, theta in zip(tables, columns, both(kernel), both(bandwidth), strict=True)
    ]
    (first, left, whole_left), (second, right, whole_right) = sides
    chosen = [(own, other) for own in left for other in right]
    question, how = QuestionOfPairs(first, second), Resampling.of(scheme, n_resamples, rng, plan)
    null = in_parts(lambda part, own: question.null(part, "v", own), chosen, how)
    joint = Pairs((first, second), (whole_left, whole_right), plan).products(unbiased=False)
    pairs = [(own, other) for own in labels[0] for other in labels[1]]
    effects = (value for row in _alignments((first, second), (left, right), plan) for value in row)
    found = _evidence(null, adjust, pairs, effects, np.full(len(pairs), np.nan))
    return Attribution(found, float(joint.mean()) / len(first), null.scheme, null.values.shape[1] - 1, adjustment)


def _alignments(tables: tuple[Array, Array], kernels: tuple[list[Kernel], list[Kernel]], plan: Plan) -> Array:
    """Return the alignment of every column of X with every column of Y, 0 where a scale is not positive."""

    def product(sides: tuple[int, int], own: Kernel, other: Kernel) -> float:
        pairs = Pairs((tables[sides[0]], tables[sides[1]]), (own, other), plan)
        return float(pairs.products(unbiased=True).sum())

    scales = [np.array([max(product((s, s), own, own), 0.0) for own in kernels[s]]) for s in (0, 1)]
    cross = np.array([[product((0, 1), own, other) for other in kernels[1]] for own in kernels[0]])
    norms = np.sqrt(np.outer(*scales))
    return np.divide(cross, norms, out=np.zeros_like(cross), where=norms > 1e-14)


def _adjustment(name: str) -> Callable[[Array, Array], Array]:
    if name not in ADJUSTMENTS:
        raise ValueError(f"adjustment is {name!r}; pass one of {', '.join(map(repr, ADJUSTMENTS))}")
    return ADJUSTMENTS[name]


def _scores(null: Null) -> Array:
    """Return minus the log of approximate p-values, shape (d, P); 0 for columns that say nothing."""
    values = np.stack([snapped(*row) for row in zip(null.values, null.tolerance, strict=True)])
    return np.asarray(np.where(np.ptp(values, axis=1, keepdims=True) > 0.0, evidence(standardized(values)), 0.0))


def _evidence(
    null: Null, adjust: Callable[[Array, Array], Array], names: Sequence[Any], effects: Iterable[float], drops: Array
) -> tuple[ColumnEvidence, ...]:
    """Return what every test found, the clearest first."""
    scores = _scores(null)
    numbers = (null.values[:, 0], effects, drops, null.pvalues, adjust(scores, null.pvalues))
    found = [ColumnEvidence(name, *(float(value) for value in row)) for name, *row in zip(names, *numbers, strict=True)]
    strength = {column.name: score for column, score in zip(found, scores[:, 0].tolist(), strict=True)}
    return tuple(sorted(found, key=lambda each: (each.adjusted, -strength[each.name], -each.effect)))


def _two_samples(
    X: Array, Y: Array, blocks: Blocks, kernel: KernelLike, bandwidth: Any, estimator: Any, plan: Plan
) -> tuple[TwoSamples, list[Kernel], Kernel]:
    """Return the samples in the units of the kernels, a kernel for every column, and one for all columns."""
    pooled, kernels, joint = block_kernels(np.concatenate([X, Y]), blocks, kernel, bandwidth, estimator)
    return TwoSamples(pooled, (len(X), len(Y)), joint, plan), kernels, joint


def _left_out(subject: TwoSamples, joint: Kernel, blocks: Blocks) -> Array:
    """Return the unbiased MMD² without each column; without any column it is 0."""
    dim = subject.pooled.shape[1]
    if len(blocks) == 1:
        return np.zeros(1)
    if isinstance(joint, Gaussian) and len(blocks) == dim:
        without = without_each(subject.pooled, subject.sizes, np.broadcast_to(joint.bandwidth, dim))
        return without[[block[0] for block in blocks]]
    others = (tuple(k for k in range(dim) if k not in block) for block in blocks)
    return np.array([moments(subject, on_columns(joint, columns)).squared for columns in others])
