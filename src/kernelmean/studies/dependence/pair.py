"""How two columns depend on each other."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Self, final

from ...core.words import listed
from ...inference.adaptive.kinds import EvidenceKind
from ...inference.null import adjusted
from ...inference.wording import brief
from ..many_tests import LEFT, SCREENED, OneTest

NAMED = 8


@final
@dataclass(frozen=True)
class PairDependence:
    """How two columns depend on each other.

    Attributes
    ----------
    x, y : str
        The columns.
    strength : float
        The unbiased HSIC divided by the geometric mean of the HSIC of each column with itself, with Gaussian kernels at
        the median bandwidth: at most 1, and near 0 (of either sign) for independent columns. These kernels are coarse:
        a uniform column around 0 and its square have 0.33, a column and a sine of six periods over it 0.01, although
        one determines the other. So look at the picture before you drop a pair. With strata and weights it is that
        within strata, of weighted rows.
    pvalue : float
        The permutation p-value of the pair.
    adjusted : float
        The p-value adjusted for the number of pairs. If you reject all pairs with a value of at most α, any independent
        pair is among them with probability at most α; with ``adjustment="bh"`` the expected share of such pairs among
        them is at most α.
    n_resamples : int
        The permutations that the p-value comes from; 0 if the pair was not tested, because the screen dropped it or the
        run was stopped; its p-value is then 1.
    interval : (float, float) or None
        An approximate 95 % confidence interval for the strength; None without :meth:`Dependence.with_intervals`.
    kind : EvidenceKind or None
        Of an adaptive test in memory whose p-value is at most .05: where its evidence lies, a trend, a curve and so
        on; a description, not a test.
    blanks_only : bool
        Whether the columns depend on each other only in which of their cells are blank: where both are known, no
        dependence was found.
    stopped : bool
        Whether the run was stopped before this pair was tested; its p-value is then 1.
    """

    x: str
    y: str
    strength: float
    pvalue: float
    adjusted: float
    n_resamples: int
    interval: tuple[float, float] | None = None
    kind: EvidenceKind | None = field(default=None, compare=False)
    blanks_only: bool = False
    stopped: bool = False

    @classmethod
    def of(cls, pair: tuple[str, str], strength: float, test: OneTest, adjusted: float) -> Self:
        """Return what a test found."""
        return cls(*pair, strength, test.pvalue, adjusted, test.n_resamples, kind=test.kind, stopped=not test.finished)

    @classmethod
    def ranked(
        cls, pairs: Sequence[tuple[str, str]], tests: Sequence[OneTest], strengths: Sequence[float], adjustment: str
    ) -> tuple[Self, ...]:
        """Return what the tests of pairs found, the smallest p-value first."""
        values = adjusted((test.pvalue for test in tests), adjustment)
        results = [cls.of(*fields) for fields in zip(pairs, strengths, tests, values, strict=True)]
        return tuple(sorted(results, key=lambda pair: (pair.adjusted, -pair.strength)))

    @property
    def mark(self) -> str:
        """What stands behind a pair that depends only in its blank cells, else nothing."""
        return " (only in which cells are blank)" if self.blanks_only else ""

    @property
    def screened(self) -> bool:
        """Whether the screen found no evidence, so that there was no test."""
        return self.n_resamples == 0 and not self.stopped

    @property
    def shown_pvalue(self) -> str:
        """The p-value as reports show it."""
        return LEFT if self.stopped else SCREENED if self.screened else f"{self.pvalue:.2g}"

    def shown_kind(self, ordered: Container[str], level: float) -> str:
        """Return the kind of dependence in a few words if it was found; a trend needs two ``ordered`` columns."""
        if self.blanks_only:
            return "blank cells only"
        if self.kind is None or self.adjusted > level:
            return ""
        if self.kind.name in ("", "several columns"):  # the coordinates of one column, such as that of blank cells
            return "unclear"
        in_means = self.kind.name == "trend" and not (self.x in ordered and self.y in ordered)
        return "means" if in_means else self.kind.name


def together(group: tuple[str, ...]) -> str:
    """Return the name of one column, the names of several, or how many they are."""
    if len(group) > NAMED:
        return f"{len(group)} columns together"
    return brief(group[0]) if len(group) == 1 else f"({listed(map(brief, group))})"
