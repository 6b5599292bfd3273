"""The part of a page that is about a test: how its p-value came about, and the null distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.words import count
from ..report.document import Chart, Panel, Section, program
from ..report.marginals import bins, outline
from ..report.numbers import signed

if TYPE_CHECKING:
    from .result import TestResult


def null_section(test: TestResult, anew: str, facts: Sequence[tuple[str, str]]) -> Section:
    """Return the section of a test: how its p-value came about, and the null distribution with the observed value.

    ``anew`` says what happens to the rows under a random arrangement.
    """
    charts = (null_chart(test),) if test.n_resamples else ()
    kernels = (test.grid_of_kernels().table(),) if test.members else ()
    return Section("The test", (_share(test, anew),), tables=kernels, charts=charts, settings=tuple(facts))


def _share(test: TestResult, anew: str) -> str:
    reached = _reached(test)
    found = {0: "none has", 1: "one has"}.get(reached, f"{reached:,} have")
    return (
        f"Of {count(test.n_resamples, 'other arrangement')}, in which {anew}, {found} a statistic as large as the "
        f"observed one, or larger: p = (1 + {reached:,}) / (1 + {test.n_resamples:,}) = {test.pvalue:.3g}."
    )


def _reached(test: TestResult) -> int:
    """Return how many of the other arrangements reach the observed statistic."""
    return round(test.pvalue * (test.n_resamples + 1)) - 1


def null_chart(test: TestResult) -> Chart:
    """Return the histogram of the statistic under random arrangements, with the observed value."""
    null = np.asarray(test.null_distribution, dtype=np.float64)
    label = f"{count(test.n_resamples, 'random arrangement')}"
    panel = Panel(
        "",
        _readable(test.statistic_name),
        "share of arrangements",
        steps=(outline(label, null, bins(null)),),
        marks=((f"observed, p = {test.pvalue:.3g}", float(test.statistic)),),
    )
    text = (
        f"The observed value is {signed(test.statistic)}. Those that chance alone makes reach from "
        f"{signed(null.min())} to {signed(null.max())}; as large or larger: "
        f"{_reached(test):,} of {test.n_resamples:,}."
    )
    return Chart("null-distribution", "What chance alone makes, and what was observed", (panel,), text)


def made_by(test: TestResult | None, seed: int | None) -> tuple[tuple[str, str], ...]:
    """Return what made a page: nothing in it depends on the time or the machine."""
    facts = [program()]
    facts += [] if seed is None else [("Seed", str(seed))]
    return (*facts, *([] if test is None else [("Test", test.method), ("p-value", test.origin)]))


def _readable(name: str) -> str:
    return name[0].upper() + name[1:] if name else "statistic"
