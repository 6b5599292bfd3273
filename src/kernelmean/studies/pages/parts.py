"""What all pages share: a test with its null distribution, caveats, what made the page, numbers in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ... import __version__
from ...core.words import count
from ...inference import TestResult
from ...inference.facts import Facts, origin
from ...report import Chart, Panel, Section, Table
from .marginals import bins, outline

_STRONGEST = 5


def null_section(test: TestResult, anew: str, facts: Facts) -> Section:
    """Return the section of a test: how its p-value came about, and the null distribution with the observed value.

    ``anew`` says what happens to the rows under a random arrangement.
    """
    reached = _reached(test)
    found = {0: "none has", 1: "one has"}.get(reached, f"{reached:,} have")
    p = (
        f"Of {count(test.n_resamples, 'other arrangement')}, in which {anew}, {found} a statistic as large as the "
        f"observed one, or larger: p = (1 + {reached:,}) / (1 + {test.n_resamples:,}) = {test.pvalue:.3g}."
    )
    charts = (null_chart(test),) if test.n_resamples else ()
    return Section("The test", (p,), tables=kernel_table(test), charts=charts, settings=tuple(facts))


def _reached(test: TestResult) -> int:
    """Return how many of the other arrangements reach the observed statistic."""
    return round(test.pvalue * (test.n_resamples + 1)) - 1


def kernel_table(test: TestResult) -> tuple[Table, ...]:
    """Return the kernels of an adaptive test that told most, as at most one table."""
    if not test.members:
        return ()
    rows = tuple(
        (member.label, f"{member.weight:.3g}", f"{member.pvalue:.3g}") for member in test.strongest(_STRONGEST)
    )
    caption = f"The {len(rows)} strongest of {len(test.members)} kernels, which make one p-value together"
    return (Table(caption, ("kernel", "weight", "p of its own, not adjusted"), rows),)


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


def caveats(items: Iterable[str], notes: Iterable[str]) -> Section:
    """Return what a reader should keep in mind, and what was noted on the way."""
    return Section("What to keep in mind", items=(*items, *(_sentence(note) for note in dict.fromkeys(notes))))


def made_by(test: TestResult | None, seed: int | None) -> tuple[tuple[str, str], ...]:
    """Return what made a page: nothing in it depends on the time or the machine."""
    facts = [("Program", f"kernelmean {__version__}")]
    facts += [] if seed is None else [("Seed", str(seed))]
    return (*facts, *([] if test is None else [("Test", test.method), ("p-value", origin(test))]))


def signed(value: float, form: str = "z.4g") -> str:
    """Return a number with a true minus sign.

    Examples
    --------
    >>> signed(-0.5), signed(0.125, "+.2f"), signed(-0.001, "z.2f")
    ('−0.5', '+0.12', '0.00')
    """
    return f"{value:{form}}".replace("-", "−")


def percent(share: float) -> str:
    """Return a share in percent, with two digits.

    Examples
    --------
    >>> percent(0.0123), percent(0.5), percent(0.0), percent(1.0)
    ('1.2 %', '50 %', '0 %', '100 %')
    """
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


def _readable(name: str) -> str:
    return name[0].upper() + name[1:] if name else "statistic"


def _sentence(note: str) -> str:
    return note[0].upper() + note[1:].rstrip(".") + "."
