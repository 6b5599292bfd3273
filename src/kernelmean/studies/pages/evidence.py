"""What the page of a comparison shows besides its tests: effect size, rows that stand out, witnesses, marginals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from ...core.array import SILENT, Array, IntArray, Progress, RngLike, as_rng
from ...core.table import Frame
from ...inference.explain import EffectSize, SampleSubject, WitnessBands, contributions, effect_size, witness_bands
from ...inference.explain.samples import DesignedSubject
from ...inference.questions import TwoSamples
from ...inference.units.layout import DesignError
from ...inference.wording import titles
from ...kernels import Kernel
from ...report import Bars, Panel
from ...report.marginals import marginal, span
from ...tables.columns import Encoded
from ..cells import Axis, drawn, texts_of
from ..comparison import Comparison
from ..plots.witness import line
from ..strengths import MOST_ROWS

_MOST_COLUMNS, _WITHOUT_FINDING, _GRID = 6, 3, 61
_MOST_TELLING = 5
MOST_FOR_EFFECT = 1000
"""Of so many rows of each table the effect size is measured, which takes the time of their square."""


@final
@dataclass(frozen=True)
class TellingRow:
    """A row that sets its table apart from the other table."""

    table: int
    """0 or 1: the first table or the second."""
    row: int
    """Its number in the source of the table, from 1."""
    share: float
    """Its contribution to the unbiased MMD², divided by the sum of the absolute contributions of all rows."""
    cells: tuple[str, ...]
    """Its cells in the columns shown."""


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """Where and how much two tables differ."""

    effect: EffectSize | None
    """None if it has no interval, for which ``lacking`` says why."""
    columns: tuple[str, ...]
    """The columns shown: those that differ at the level of the result, at most six; if none does, the three with the
    smallest p-values."""
    marginals: tuple[Panel | Bars, ...]
    """The distributions of these columns, in which rows count as in the means."""
    sketches: tuple[Panel | Bars, ...]
    """The distributions of all columns that a page lists, in its order."""
    witnesses: dict[str, WitnessBands]
    """The witnesses of those columns that have many values, over a grid in the units of the axis, shape (61, 1)."""
    rows: tuple[TellingRow, ...]
    """At most five of each table, the strongest first; none if no difference was found, or with strata or weights."""
    used: tuple[int, int]
    """How many rows of each table entered ``witnesses`` and ``rows``; the effect size takes 1,000 of them at most."""
    lacking: str = ""
    """Why there is no effect size."""


def gather(result: Comparison, *, rng: RngLike = 0, progress: Progress = SILENT) -> Evidence:
    """Look at the two tables of a comparison again: where, in which rows, and by how much they differ.

    Parameters
    ----------
    result : Comparison
        What :func:`kernelmean.studies.comparison.compare` found.
    rng : int or Generator
        Draws rows if a table has more than 1,000, and seeds intervals and bands.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.

    Notes
    -----
    With a design there is an effect size of rows in memory, and there are witnesses of these, by the permutations of
    the design, of columns without missing cells. The kernel is that of the joint
    test, or the Gaussian kernel at the median bandwidth after an adaptive test, which has many. O(r² d) time with
    r = 2,000 rows of each table at most, 1,000 for the effect size, and O(n) for the marginals.

    Examples
    --------
    >>> from kernelmean.studies.comparison import compare
    >>> draws = np.random.default_rng(0)
    >>> found = gather(compare(draws.normal(size=(50, 2)), draws.normal([0.0, 2.0], size=(50, 2))))
    >>> found.columns, len(found.rows)
    (('x1',), 10)
    """
    generator, encoded, shown = as_rng(rng), result.encoded, _shown(result)
    chosen = [drawn(len(frame), MOST_ROWS, generator) for frame in encoded.frames]
    points = [table[rows] for table, rows in zip(encoded.points(), chosen, strict=True)]
    progress("effect size", 0, 2)
    few = [table[drawn(len(table), MOST_FOR_EFFECT, generator)] for table in points]
    effect, lacking = _effect(result, few, generator)
    progress("rows, witnesses and marginals", 1, 2)
    alike = result.row_weights is None  # contributions count all rows alike, so they would show the strata
    rows = _telling(encoded, points, chosen, _kernel(result), shown) if alike and result.differ() else ()
    codings = {coding.name: coding for coding in encoded.codings}
    listed = [column.name for column in result.columns[: result.grid().on_page()]]
    outlines = {name: _outlines(result, Axis.of(codings[name], *encoded.frames)) for name in listed}
    axes, marginals = (
        [Axis.of(codings[name], *encoded.frames) for name in shown],
        tuple(outlines[name] for name in shown),
    )
    frames = [frame.take(numbers) for frame, numbers in zip(encoded.frames, chosen, strict=True)]
    smooth = [axis for axis, panel in zip(axes, marginals, strict=True) if isinstance(panel, Panel)]
    if result.design:
        named_bands = [(axis.name, _witness_of_design(result, axis, generator)) for axis in smooth]
    else:
        named_bands = [(axis.name, _witness(axis, frames, generator)) for axis in smooth]
    witnesses = {name: bands for name, bands in named_bands if bands is not None}
    return Evidence(
        effect, shown, marginals, tuple(outlines.values()), witnesses, rows, (len(points[0]), len(points[1])), lacking
    )


def _outlines(result: Comparison, axis: Axis) -> Panel | Bars:
    """Return how a column is distributed in both tables."""
    tables = zip(titles(result.names), result.encoded.frames, strict=True)
    cells = {label: axis.cells(table) for label, table in tables}
    return marginal(axis.name, cells, label=axis.label, order=axis.levels, weigh=result.row_weights)


def _shown(result: Comparison) -> tuple[str, ...]:
    values = result.adjusted()
    differing = tuple(name for name, p in values.items() if p <= result.level)
    return differing[:_MOST_COLUMNS] or tuple(values)[:_WITHOUT_FINDING]


def _kernel(result: Comparison) -> Any:
    """Return the kernel of the joint test, or "gaussian" if it has many."""
    return result.test.kernel if isinstance(result.test.kernel, Kernel) else "gaussian"


def _effect(result: Comparison, few: Sequence[Array], rng: np.random.Generator) -> tuple[EffectSize | None, str]:
    """Return the effect size of some rows, or None and why there is none."""
    subject = _measured(result, few, rng)
    if subject is None:
        return None, "with a design it needs rows in memory, which a saved result and files read batch by batch lack"
    if np.ptp(subject.pooled, axis=0).max() == 0.0:
        return None, "it needs rows that vary, and all that were looked at are equal"
    try:
        return cast("EffectSize", effect_size(subject, rng=rng)), ""
    except DesignError as error:
        return None, str(error)


def _measured(
    result: Comparison, few: Sequence[Array], rng: np.random.Generator
) -> SampleSubject | DesignedSubject | None:
    """Return few rows, with a design others that are drawn with it; None if these are not held."""
    kernel = _kernel(result)
    if not result.design:
        return _subject(few[0], few[1], kernel)
    question = _held(result)
    if question is None:
        return None
    drawn = question.of_columns(*result.encoded.points()).drawn(MOST_FOR_EFFECT, rng)
    return DesignedSubject.of(drawn, kernel if isinstance(kernel, Kernel) else None)


def _held(result: Comparison) -> TwoSamples | None:
    """Return the question of a test that holds its rows and their design."""
    question = result.test.question
    return question if isinstance(question, TwoSamples) and question.holds_design else None


def _subject(first: Array, second: Array, kernel: Any) -> SampleSubject:
    return (
        SampleSubject.of(first, second, kernel) if isinstance(kernel, Kernel) else SampleSubject.gaussian(first, second)
    )


def _telling(
    encoded: Encoded, points: Sequence[Array], chosen: Sequence[IntArray], kernel: Any, shown: Sequence[str]
) -> tuple[TellingRow, ...]:
    """Return the rows of each table that add most to MMD²."""
    contributed = contributions(_subject(points[0], points[1], kernel), "u")
    whole = float(np.abs(contributed.values).sum())
    rows = []
    for side, values in enumerate(contributed.by_sample):
        order = np.argsort(-values, kind="stable")[:_MOST_TELLING]
        kept, frame = chosen[side][order], encoded.frames[side]
        texts = zip(*(texts_of(frame, name, kept) for name in shown), strict=True)
        for k, number, cells in zip(order, frame.row_numbers()[kept], texts, strict=True):
            if values[k] > 0.0:
                rows.append(TellingRow(side, int(number), float(values[k]) / whole, cells))
    return tuple(rows)


def _witness(axis: Axis, frames: Sequence[Frame], rng: np.random.Generator) -> WitnessBands | None:
    """Return the witness of the values of one column, with the band of chance; None if blank cells alone may differ.

    That is so where some cells are blank and the witness of the others stays within chance.
    """
    samples = [axis.values(frame) for frame in frames]
    first, second = (values[~np.isnan(values)] for values in samples)
    if not len(first) or not len(second):
        return None
    subject = SampleSubject.gaussian(first[:, None], second[:, None])
    bands = witness_bands(subject, _grid(np.concatenate([first, second])), rng=rng)
    complete = len(first) + len(second) == sum(map(len, samples))
    return bands if complete or len(bands.outside) else None


def _witness_of_design(result: Comparison, axis: Axis, rng: np.random.Generator) -> WitnessBands | None:
    """Return the same under the permutations of a design, of all rows; None where these are not held, or not known."""
    first, second = map(axis.values, result.encoded.frames)
    question, pooled = _held(result), np.concatenate([first, second])
    if question is None or np.isnan(pooled).any():
        return None
    subject = DesignedSubject.of(question.of_columns(first[:, None], second[:, None]))
    return witness_bands(subject, _grid(pooled), rng=rng)


def _grid(pooled: Array) -> Array:
    return line(pooled, span(pooled), _GRID)[:, None]
