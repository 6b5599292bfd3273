"""The part of a page that is about a test: how its p-value was computed, and the null distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.array import Array
from ..core.words import count, signed
from ..report import pictures
from ..report.description import Grid
from ..report.document import Chart, Panel, Section, Strip, program
from ..report.marginals import bins as edges_of
from ..report.marginals import outline
from .permutations import DRAWN, EXACT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_IN_THE_TABLE = ("kernels", "strongest kernels")
_KERNELS = (
    "A kernel says how alike two rows are: by their values in units of the spread of each column (on data), by normal "
    "scores or ranks, or by another view of the columns. A small λ lets fine differences count as much as coarse ones."
)


def null_section(test: PermutationTest, dealt: str, facts: Sequence[tuple[str, str]]) -> Section:
    """Return the section of a test: how its p-value was computed, and the null distribution with the observed value.

    ``dealt`` says what happens to the rows under a random arrangement.
    """
    title = "What chance alone makes, and what was observed"
    charts: tuple[Chart, ...] = ()
    if test.n_resamples:
        charts = (Chart("null-distribution", title, (_null_panel(test),), _null_words(test)),)
    kernels = (test.grid_of_kernels().table(),) if test.members else ()
    reached = _reached(test)
    how_many = {0: "none has", 1: "one has"}.get(reached, f"{reached:,} have")
    other = f"other {_arrangement(test)}"
    every, dealt = ("all ", dealt.replace(" at random", "")) if test.scheme == EXACT else ("", dealt)
    share = (
        f"Of {every}{count(test.n_resamples, other)}, in which {dealt}, {how_many} a statistic as large as "
        f"the observed one, or larger: p = (1 + {reached:,}) / (1 + {test.n_resamples:,}) = {test.pvalue:.3g}."
    )
    words = (share, _KERNELS) if kernels else (share,)
    settings = tuple(fact for fact in facts if not (kernels and fact[0] in _IN_THE_TABLE))
    return Section("The test", words, tables=kernels, charts=charts, settings=settings)


def _reached(test: HasNull) -> int:
    """Return how many of the other arrangements reach the observed statistic."""
    return round(test.pvalue * (len(test.null_distribution) + 1)) - 1


def _arrangement(test: HasNull) -> str:
    """Return what another value of the statistic is of."""
    return "sample" if getattr(test, "scheme", "") in DRAWN else "arrangement"


class HasNull(Protocol):
    """A result with the statistics of all arrangements that were evaluated."""

    @property
    def statistic(self) -> float:
        """The observed statistic."""

    @property
    def pvalue(self) -> float:
        """The share of arrangements that reach it."""

    @property
    def null_distribution(self) -> Array:
        """The statistics of the other arrangements, shape (B,)."""


class PermutationTest(HasNull, Protocol):
    """A test whose p-value a page explains, such as :class:`~kernelmean.TestResult`."""

    @property
    def method(self) -> str:
        """The test in words."""

    @property
    def scheme(self) -> str:
        """How the arrangements were chosen."""

    @property
    def members(self) -> tuple[Any, ...]:
        """The kernels of an adaptive test."""

    @property
    def n_resamples(self) -> int:
        """The number of arrangements besides the observed one."""

    @property
    def origin(self) -> str:
        """The p-value with what it rests on."""

    def grid_of_kernels(self) -> Grid:
        """Return the strongest kernels of an adaptive test."""


def null_distribution(result: HasNull, *, bins: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the statistic under permutations as a histogram, and the observed statistic as a line.

    The part of the histogram that reaches the observed statistic is shaded. Its share, with the observed arrangement
    counted, is the p-value.

    Parameters
    ----------
    result : TestResult
        Or anything else that has ``statistic``, ``pvalue`` and ``null_distribution``.
    bins : int, str or sequence, optional
        As in ``numpy.histogram``; by default Rice's rule.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError
        When there was only one arrangement, so there is nothing to draw.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = null_distribution(km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]], estimator="kme"))
    >>> ax.get_xlabel()
    'MMD² (unbiased)'
    """
    if not len(result.null_distribution):
        raise ValueError("there is no arrangement but the observed one, so no null distribution to draw")
    panel = replace(_null_panel(result, bins), title=getattr(result, "method", ""))
    return pictures.show(panel, ax, size=(6.0, 3.4), words=_null_words(result))


def _null_panel(result: HasNull, bins: Any = None) -> Panel:
    """Return the histogram, with the part that reaches the observed value shaded."""
    null, statistic = np.asarray(result.null_distribution, dtype=np.float64), float(result.statistic)
    edges = edges_of(null) if bins is None else np.histogram_bin_edges(null, bins)
    every, noun = getattr(result, "scheme", "") == EXACT, _arrangement(result)
    label = f"all {count(len(null), 'other arrangement')}" if every else count(len(null), f"random {noun}")
    steps = outline(label, null, edges)
    top = (max(steps.heights),) * 2
    reaching = Strip("as large or larger", (statistic, float(edges[-1])), (0.0, 0.0), top)
    name = getattr(result, "statistic_name", "") or "statistic"
    return Panel(
        "",
        name[0].upper() + name[1:],
        f"share of {noun}s",
        steps=(steps,),
        strips=(reaching,) if edges[0] < statistic < edges[-1] else (),
        marks=((f"observed, p = {result.pvalue:.3g}", statistic),),
    )


def _null_words(result: HasNull) -> str:
    null = result.null_distribution
    return (
        f"The observed value is {signed(result.statistic)}. Those that chance alone makes reach from "
        f"{signed(null.min())} to {signed(null.max())}; as large or larger: {_reached(result):,} of {len(null):,}."
    )


def made_by(test: PermutationTest | None, seed: int | None) -> tuple[tuple[str, str], ...]:
    """Return what made a page: nothing in it depends on the time or the machine."""
    facts = [program()]
    facts += [] if seed is None else [("Seed", str(seed))]
    return (*facts, *([] if test is None else [("Test", test.method), ("p-value", test.origin)]))
