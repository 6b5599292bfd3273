"""Facts about a test as pairs of a name and a text: what screens, pages and notebooks say."""

from __future__ import annotations

from .._table import count
from .result import TestResult

Facts = list[tuple[str, str]]


def facts_of(test: TestResult, of: str = "") -> Facts:
    """Return the statistic (and ``of`` what it is), the p-value with what it rests on, and the kernels of many."""
    statistic = [("statistic", f"{test.statistic:.4g}, {test.statistic_name}{of}")]
    return [*statistic, ("p-value", origin(test)), *kernel_facts(test)]


def origin(test: TestResult) -> str:
    """Return a p-value with what it rests on."""
    finest = test.pvalue * (test.n_resamples + 1) < 1.5
    source = f"{test.pvalue:.3g}, exact, from {count(test.n_resamples, 'permutation')} (scheme {test.scheme})"
    return source + ("; no smaller one is possible with so many" if finest else "")


def kernel_facts(test: TestResult) -> Facts:
    """Say how many kernels an adaptive test used, and which told most."""
    if not test.members:
        return []
    most = ", ".join(member.label for member in test.strongest(3))
    return [("kernels", f"{len(test.members)}, which make one p-value; strongest: {most}")]
