"""The options of a comparison, in one value for tables in memory and in batches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.array import Progress, RngLike
from ...core.cells import column_name
from ...core.validate import check_fraction, check_positive_number
from ...core.words import EVERY, count, did_you_mean, listed
from ...inference.adaptive.many_kernels import NAMED
from ...inference.null import check_adjustment
from ...inference.request import ESTIMATORS as PLAIN
from ...inference.request import MMD_ESTIMATORS as ESTIMATORS
from ...plan.plan import Plan, RemotePlan
from ...tables.columns import Encoding
from ...tables.columns.kinds import Coding
from ..designs import NO_DESIGN, TableDesign
from ..many_tests import UNSCREENED, Run, runs

Margins = float | Mapping[Any, float] | None
"""One margin for all columns of numbers, or margins by column; "*" stands for the other columns of numbers."""


def by_column(equivalence: Margins) -> dict[str, float]:
    """Return the margins by column, that of all other columns of numbers under "*".

    Raises
    ------
    ValueError, TypeError
        When a margin is not a positive number.
    """
    if equivalence is None:
        return {}
    margins = equivalence if isinstance(equivalence, Mapping) else {EVERY: equivalence}
    names = {name: "equivalence" if name == EVERY else f"equivalence of {column_name(name)}" for name in margins}
    return {column_name(name): check_positive_number(margin, names[name]) for name, margin in margins.items()}


def margins_of(margins: Mapping[str, float], codings: Sequence[Coding]) -> dict[str, float]:
    """Return the margin of every column that has one.

    Raises
    ------
    ValueError
        When a column that is named is not compared, or has no mean, or no column holds numbers.
    """
    known = {coding.name: coding for coding in codings}
    for name in margins.keys() - {EVERY}:
        if name not in known:
            raise ValueError(
                f"equivalence= names a column {name!r} that is not compared{did_you_mean(name, known)}; columns that "
                f"vary are {listed(known)}"
            )
        if not known[name].type.averaged:
            raise ValueError(
                f"equivalence names the column {name!r}, which holds categories: these have no mean, so leave it out"
            )
    plain = [name for name, coding in known.items() if coding.type.plain] if EVERY in margins else []
    if EVERY in margins and not plain:
        raise ValueError("equivalence is for columns of numbers, and no column that varies holds numbers; leave it out")
    named = {name: margin for name, margin in margins.items() if name != EVERY}
    return dict.fromkeys(plain, margins.get(EVERY, math.nan)) | named


@dataclass(frozen=True)
class Testing:
    """How tables are tested; see :func:`kernelmean.compare` for the meaning of the fields."""

    __test__ = False  # its name would make pytest collect it

    estimator: str
    bandwidth: Any
    encoding: Encoding
    n_resamples: int
    rng: RngLike
    plan: Plan | RemotePlan | None
    progress: Progress
    level: float
    adjustment: str

    def __post_init__(self) -> None:
        check_adjustment(self.adjustment)
        check_fraction(self.level, "level", 0.05)

    def check_estimator(self, tables: int = 2) -> None:
        """Raise if the estimator is unknown, does not take so many tables, or takes no bandwidth."""
        known = PLAIN if tables > 2 else ESTIMATORS
        if self.estimator not in (*known, *NAMED):
            of = f" for {tables} groups" if tables > 2 else ""
            raise ValueError(f"estimator is {self.estimator!r}; write one of {listed([*known, *NAMED])}{of}")
        self.check_bandwidth()

    def check_bandwidth(self) -> None:
        """Raise if an adaptive test is given a bandwidth."""
        if self.estimator in NAMED and self.bandwidth != "median":
            raise ValueError(
                f"the {self.estimator} test brings its own bandwidths; leave bandwidth={self.bandwidth!r} out, or take "
                f"one of {listed(ESTIMATORS)}"
            )

    def runs(self, tests: int) -> tuple[Run, ...]:
        """Return the runs for so many tests, a single one if they are few."""
        planned = runs(self.n_resamples, tests, self.level)
        return planned if tests > UNSCREENED else (planned[0]._replace(n_resamples=planned[-1].n_resamples),)


@dataclass(frozen=True)
class Asked(Testing):
    """The options of a comparison of two tables. ``notes`` say how they were read."""

    names: tuple[str, str]
    notes: tuple[str, ...] = ()
    design: TableDesign = NO_DESIGN
    margins: Mapping[str, float] = field(default_factory=dict)
    """By column, that of all other columns of numbers under "*"."""

    def check_sizes(self, sizes: Iterable[int]) -> None:
        """Raise for fewer than two rows of a table."""
        for rows, name in zip(sizes, self.names, strict=True):
            if rows < 2:
                raise ValueError(f"{name} has {count(rows, 'row')}; a comparison needs at least 2 in each table")

    def check(self, sizes: Iterable[int], codings: Sequence[Coding]) -> None:
        """Raise for fewer than two rows of a table, if no column varies, or if columns with a margin have no mean."""
        self.check_sizes(sizes)
        if not codings:
            one, other = self.names
            raise ValueError(
                f"every column of {one} and {other} is constant and the same in both; there is nothing to compare"
            )
        margins_of(self.margins, codings)
