"""The result of a study of dependence, for two groups of columns and for every pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from math import factorial
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np

from ...core.array import SILENT, Array, Progress, RngLike, as_rng
from ...core.words import count, listed, percent, span, strength
from ...inference import TestResult
from ...inference.adaptive.kinds import PHRASES, EvidenceKind
from ...inference.joint_test import JointTest
from ...inference.null import HOLM
from ...inference.wording import WEAK, beside, brief, together_of
from ...report.description import Description, Grid
from ...tables.columns import Encoded, MissingCells
from ...tables.columns.encoded import ENCODED
from ..adjustment_notes import facts_on_adjusted
from ..designs import NO_DESIGN, STRENGTHS, TableDesign, exactness
from ..many_tests import out_of_reach
from ..plots.dependence import dependence_map
from ..strengths import Strengths
from ..study import Study
from .pair import NAMED, PairDependence, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.05
_COVERED, _MOST_NAMED = 0.95, 20
_RANKED, _SMALLEST, _ENUMERATED, _BESIDE_KINDS = 2, 1.5, 12, 26
_MEASURES = ("strength", "pvalue", "adjusted")


@final
@dataclass(frozen=True, eq=False)
class Dependence(JointTest, Study):
    """The dependence between two groups of columns, or between all columns of a table.

    Attributes
    ----------
    x, y : tuple of str
        The columns of the two groups; the same columns if all pairs were tested.
    n_rows : int
    test : TestResult or None
        The joint test of the two groups; None if all pairs of columns were tested.
    pairs : tuple of PairDependence
        The pairs of one column of x and one of y, sorted by adjusted p-value, then by strength.
    estimator : str
    notes : tuple of str
        What else a reader should know.
    missing : MissingCells
        The rule for missing cells, and how many there are in every column.
    encoded : Encoded
        The table as the coordinates that the kernels see, and which columns they belong to.
    name : str
        What to call the table.
    level : float
        p-values at most this count as a dependence wherever the result is shown.
    seed : int or None
        The seed of the run, if reports are to name it.
    design : TableDesign
        Which columns hold strata, clusters and weights.
    at_least : float
        Pairs with a smaller strength are not listed and not counted in the verdict. They are tested all the same, and
        are in ``pairs``.
    adjustment : str
        How p-values of pairs were adjusted: "holm" or "bh".
    in_series : bool
        Whether rows next to each other are alike, so that p-values are exact only if they do not depend on each other.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (PairDependence, EvidenceKind, TableDesign, *ENCODED)

    x: tuple[str, ...]
    y: tuple[str, ...]
    n_rows: int
    test: TestResult | None
    pairs: tuple[PairDependence, ...]
    estimator: str
    notes: tuple[str, ...]
    missing: MissingCells
    encoded: Encoded = field(repr=False)
    name: str = "the table"
    level: float = LEVEL
    seed: int | None = None
    design: TableDesign = NO_DESIGN
    at_least: float = 0.0
    adjustment: str = HOLM
    in_series: bool = False

    @property
    def joint(self) -> TestResult:
        """The joint test of two groups of columns.

        Raises
        ------
        AttributeError
            If all pairs of columns were tested: each has a p-value of its own.
        """
        if self.test is None:
            raise AttributeError("every pair of columns was tested alone; write result.pairs, or result.to_frame()")
        return self.test

    def dependent(self, level: float | None = None) -> tuple[PairDependence, ...]:
        """Return the pairs whose adjusted p-value is at most a level, by default that of the result, smallest first."""
        level = self.level if level is None else level
        return tuple(pair for pair in self.pairs if pair.adjusted <= level)

    def worth_a_look(self, level: float | None = None, *, at_least: float | None = None) -> tuple[PairDependence, ...]:
        """Return the pairs that depend on each other with some strength, the strongest first.

        Parameters
        ----------
        level : float
            As in :meth:`dependent`.
        at_least : float
            The least strength; by default that of the result, which is 0 unless you set it: then all that depend on
            each other. Waves and fine patterns have a low strength.
        """
        least = self.at_least if at_least is None else at_least
        pairs = (pair for pair in self.dependent(level) if least <= max(pair.strength, 0.0))
        return tuple(sorted(pairs, key=lambda pair: -pair.strength))

    def listed(self) -> tuple[PairDependence, ...]:
        """Return the pairs with a strength of at least ``at_least``: dependent ones first, each by strength.

        Pairs that were left when the run was stopped come last.
        """
        others = [pair for pair in self.pairs if pair.adjusted > self.level]
        strong = [pair for pair in others if self.at_least <= max(pair.strength, 0.0)]
        by_pvalue = self.design.clusters is not None  # few clusters often make strengths large
        order = sorted(strong, key=lambda pair: (pair.stopped, by_pvalue and pair.adjusted, -pair.strength))
        return (*self.worth_a_look(), *order)

    def with_intervals(self, *, most: int = 10, rng: RngLike = 0, progress: Progress = SILENT) -> Self:
        """Return the result with 95 % confidence intervals for the strength of the pairs listed first.

        Parameters
        ----------
        most : int
            The number of pairs with an interval.
        rng : int or Generator
            Seeds the random draws behind the intervals.
        progress : callable, optional
            Called with what comes next, the steps done, and the steps in all.

        Raises
        ------
        ValueError
            When not all rows are in memory, or there is a design: the intervals need independent rows.

        Notes
        -----
        The intervals are those of :meth:`kernelmean.TestResult.effect_size`: approximate, better with more rows, and
        each for its pair alone. O(n²) time for a pair of n rows: 0.2 seconds of one core for 500, 1.2 for 2000.

        Examples
        --------
        >>> import kernelmean as km
        >>> pair = km.dependence("iris", "sepal length (cm)", "petal width (cm)").with_intervals().pairs[0]
        >>> pair.interval[0] < pair.strength < pair.interval[1]
        True
        """
        if self.design:
            raise ValueError(f"intervals are of independent rows, and this study had {self.design.options()}")
        if len(self.encoded.frames[0]) != self.n_rows:
            raise ValueError(f"intervals need all rows in memory, and {self.n_rows:,} were read batch by batch")
        strengths, draws = Strengths(self.encoded), as_rng(rng)
        chosen = self.listed()[:most]
        intervals = {}
        for step, pair in enumerate(chosen):
            progress(f"interval of {pair.x} and {pair.y}", step, len(chosen))
            intervals[pair] = strengths.interval(pair.x, pair.y, draws)
        pairs = tuple(replace(pair, interval=intervals.get(pair, pair.interval)) for pair in self.pairs)
        return replace(self, pairs=pairs)

    def verdict(self, level: float | None = None) -> str:
        """Return the outcome in one sentence, with which every report begins; a stopped run says so in another."""
        left = sum(pair.stopped for pair in self.pairs)
        stop = f" Stopped early: {left:,} of {count(len(self.pairs), 'pair')} were not tested." if left else ""
        return self._outcome(self.level if level is None else level) + stop

    def _outcome(self, level: float) -> str:
        if self.test is None:
            return self.on_pairs(level)
        depend = self.test.pvalue <= level
        joint = f"p = {beside(self.test.pvalue, level)}, {'at most' if depend else 'above'} {level:g}"
        pairs = self.worth_a_look(level)
        if depend and pairs and self.target is not None:
            others = (f"{brief(pair.x if pair.y == self.target else pair.y)}{pair.mark}" for pair in pairs)
            names = listed(others, _MOST_NAMED)
            least = f" with a strength of at least {self.at_least:g}" if self.at_least > 0.0 else ""
            many = f"{len(pairs)} of {count(len(self.pairs), 'column')}{least} (adjusted p at most {level:g})"
            return f"{brief(self.target)} depends on {many}: {names}. All together: {joint}."
        first, second = map(together, (self.x, self.y))
        if depend:
            return f"{first} and {second} depend on each other: {joint}."
        rest = self.test.nothing_found(level, "dependence")
        return f"No dependence between {first} and {second} was found{together_of(len(self.pairs))}: {joint}. {rest}"

    def limits(self) -> tuple[str, ...]:
        """Return a note if no pair can be found to depend on each other, with so few rows, whatever its values."""
        finest = [not pair.stopped and 1.0 / (1 + pair.n_resamples) for pair in self.pairs]
        return out_of_reach(finest, self.level, "pair", self.adjustment)

    @property
    def target(self) -> str | None:
        """The one column whose dependence on several others was tested, or None."""
        alone = [group[0] for group in (self.x, self.y) if len(group) == 1]
        return alone[0] if self.test is not None and len(alone) == 1 else None

    def on_pairs(self, level: float | None = None) -> str:
        """Return in one sentence how many pairs depend on each other, and which pair most."""
        level = self.level if level is None else level
        number, all_of = len(self.worth_a_look(level)), count(len(self.pairs), "pair")
        most = self.strongest(level)
        least = f" with a strength of at least {self.at_least:g}" if self.at_least > 0.0 else ""
        if most is None:
            return f"No dependence{least} was found in {all_of} of columns, which does not show that there is none."
        verb = "depends" if number == 1 else "depend"
        low = f"all with a strength below {WEAK:g}, " if number > 1 and most.strength < WEAK else ""
        return (
            f"{number} of {all_of} of columns {verb} on each other{least} (adjusted p at most {level:g}), "
            f"{low}most of all {brief(most.x)} and {brief(most.y)}{most.mark} (strength {strength(most.strength)})."
        )

    def strongest(self, level: float | None = None) -> PairDependence | None:
        """Return the strongest pair of :meth:`worth_a_look`, or None."""
        return next(iter(self.worth_a_look(level)), None)

    def matrix(self, what: str = "strength") -> Array:
        """Return ``strength``, ``pvalue`` or ``adjusted`` of all pairs, shape (len(x), len(y)).

        If x and y are the same columns, it is symmetric, with 1 (strength) or 0 (p-values) on the diagonal.
        """
        if what not in _MEASURES:
            raise ValueError(f"what is {what!r}; write one of {listed(_MEASURES)}")
        grid = np.full((len(self.x), len(self.y)), 1.0 if what == "strength" else 0.0)
        for pair in self.pairs:
            value = getattr(pair, what)
            grid[self.x.index(pair.x), self.y.index(pair.y)] = value
            if self.test is None:
                grid[self.x.index(pair.y), self.y.index(pair.x)] = value
        return grid

    def plot(self, *, level: float | None = None, ax: Axes | None = None) -> Axes:
        """Draw the strength of all pairs as a heat map: ``plots.dependence_map``.

        Parameters
        ----------
        level : float
            Pairs whose adjusted p-value is at most this carry a star; by default that of the result.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        return dependence_map(self, level=self.level if level is None else level, ax=ax)

    def describe(self) -> Description:
        """Return the verdict, the joint test if there is one, and the pairs, strongest dependence first."""
        title = f"Dependence between columns of {self.name}"
        details = [("test", f"HSIC, estimator {self.estimator}")]
        details += [] if self.test is None else self.test.details()
        longest = max(len(pair.x) for pair in self.pairs) + max(len(pair.y) for pair in self.pairs)
        room = longest <= _BESIDE_KINDS or not any(pair.interval for pair in self.pairs)
        notes = (*self.limits(), *self.notes)
        return Description(title, self.verdict(), self.facts(), (self.grid(kinds=room),), notes, details)

    def facts(self) -> list[tuple[str, str]]:
        """Return the rows, what strength means, and the joint test if there is one."""
        strength = (
            "0 if independent, at most 1; its kernels are coarse, so it is low for waves and fine patterns, even where "
            "one column fixes the other"
        )
        if any(pair.interval for pair in self.pairs):
            strength += f"; the intervals are approximate, {percent(_COVERED)} each, not adjusted for their number"
        weaker = sum(pair.strength < self.at_least for pair in self.pairs)
        all_of = count(len(self.pairs), "pair")
        pairs = {f"{pair.x} and {pair.y}": pair for pair in self.pairs}
        of_all = factorial(min(self.n_rows, _ENUMERATED)) - 1
        listed_ = f"{len(self.pairs) - weaker} of {all_of}, those with a strength of at least {self.at_least:g}"
        return [
            ("rows", f"{self.n_rows:,}{self.missing.left_out}"),
            *([("design", self.design.assumed())] if self.design else []),
            *([] if self.test is None else self._in_short(self.test)),
            *facts_on_adjusted(self.adjustment, self.level, {"pair": pairs}, of_all=of_all),
            ("strength", strength),
            *([("listed", listed_)] if weaker and self.at_least > 0.0 else []),
            *self._finest(),
        ]

    def _finest(self) -> list[tuple[str, str]]:
        """Say that the p-values of the pairs that depend are all as small as they can be, so that they rank nothing."""
        pairs = self.dependent()
        if len(pairs) < _RANKED or not all(pair.pvalue * (pair.n_resamples + 1) < _SMALLEST for pair in pairs):
            return []
        words = "every pair that depends has the smallest p-value that so many permutations allow; p does not rank them"
        return [("smallest p", words)]

    def _in_short(self, test: TestResult) -> list[tuple[str, str]]:
        """Return the joint test in short, with the kind of the only pair, or of all columns together.

        Categories without an order have no trend, but means that differ.
        """
        several = len(self.pairs) > 1
        ordered = all(self._ordered.intersection(group) for group in (self.x, self.y))
        if not several:
            test = replace(test, kind=self.pairs[0].kind or test.kind)
        trend = PHRASES["trend"] if ordered else "in a mean that differs between categories"
        short = test.in_short(self.level, exactness(self.design, in_series=self.in_series))
        facts = [(name, text.replace(PHRASES["trend"], trend)) for name, text in short]
        return [(name, f"all columns together: {text}" if several and name == "kind" else text) for name, text in facts]

    @property
    def _ordered(self) -> set[str]:
        """The columns that a trend can run along."""
        return {coding.name for coding in self.encoded.codings if coding.category_weight is None}

    def grid(self, *, kinds: bool = True) -> Grid:
        """Return the listed pairs as texts, with the kind of dependence of each if any has one."""
        pairs = self.listed()
        texts = [pair.shown_kind(self._ordered, self.level) * kinds for pair in pairs]
        spans = any(pair.interval for pair in pairs)
        rows = [
            (
                p.x,
                p.y,
                strength(p.strength),
                f"{p.adjusted:.2g}",
                p.shown_pvalue,
                *((span(p.interval),) if spans else ()),
                *((kind,) if any(texts) else ()),
            )
            for p, kind in zip(pairs, texts, strict=True)
        ]
        strong = frozenset((k, j) for k, pair in enumerate(pairs) if pair.adjusted <= self.level for j in (0, 1))
        more = (*(("interval",) if spans else ()), *(("kind",) if any(texts) else ()))
        header = ("column", "column", "strength", "adjusted p", "p", *more)
        none = "can be found to depend" if self.limits() else "is shown to depend"
        title = "Pairs that depend most" if strong else f"Pairs, none of which {none}"
        return Grid(title, header, rows, 2, "pair", strong, "depend", names=2)

    def rows(self) -> list[dict[str, Any]]:
        """Return the joint test of two groups if there is one, then every pair, strongest dependence first."""
        rows: list[dict[str, Any]] = []
        if self.test is not None:
            both = self.x, self.y
            x, y = (", ".join(group) if len(group) <= NAMED else count(len(group), "column") for group in both)
            groups: dict[str, Any] = {"tested": "groups", "x": x, "y": y, "strength": None}
            joint = {"statistic": self.statistic, "pvalue": self.pvalue, "adjusted": None}
            kind = "" if self.test.kind is None else self.test.kind.name
            rows.append({**groups, **joint, "n_resamples": self.test.n_resamples, "kind": kind})
        for pair in self.pairs:
            names = {"tested": "pair", "x": pair.x, "y": pair.y, "strength": pair.strength, "statistic": None}
            values = {"pvalue": pair.pvalue, "adjusted": pair.adjusted, "n_resamples": pair.n_resamples}
            rows.append({**names, **values, "kind": pair.shown_kind(self._ordered, self.level)})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names and numbers, for JSON."""
        test = self.test
        joint = None if test is None else {"statistic": test.statistic, "statistic_name": test.statistic_name}
        if test is not None and joint is not None:
            joint |= {"pvalue": test.pvalue, "scheme": test.scheme, "n_resamples": test.n_resamples}
            joint |= {"kind": None if test.kind is None else asdict(test.kind)}
        return {
            "verdict": self.verdict(),
            "x": list(self.x),
            "y": list(self.y),
            "rows": self.n_rows,
            "test": joint,
            "estimator": self.estimator,
            "pairs": [asdict(pair) for pair in self.pairs],
            "kinds": {coding.name: coding.type.kind for coding in self.encoded.codings},
            "missing": self.missing.as_dict(),
            "design": self.design.as_dict(STRENGTHS),
            "at_least": self.at_least,
            "adjustment": self.adjustment,
            "notes": [*self.limits(), *self.notes],
            "seed": self.seed,
        }
