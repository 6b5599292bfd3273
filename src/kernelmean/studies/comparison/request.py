"""The options of a comparison, in one value for tables in memory and in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.array import Progress, RngLike
from ...core.validate import check_fraction
from ...core.words import count
from ...inference.null import check_adjustment
from ...plan.plan import Plan, RemotePlan
from ...tables.columns import Encoding
from ...tables.columns.kinds import Coding
from ..designs import NO_DESIGN, TableDesign
from .closeness import Margins, by_column, margins_of


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


@dataclass(frozen=True)
class Asked(Testing):
    """The options of a comparison of two tables. ``notes`` say how they were read."""

    names: tuple[str, str]
    notes: tuple[str, ...] = ()
    design: TableDesign = NO_DESIGN
    equivalence: Margins = None

    def __post_init__(self) -> None:
        super().__post_init__()
        by_column(self.equivalence)

    def check_sizes(self, sizes: Iterable[int]) -> None:
        """Raise for fewer than two rows of a table."""
        for rows, name in zip(sizes, self.names, strict=True):
            if rows < 2:
                raise ValueError(f"{name} has {count(rows, 'row')}; a comparison needs at least 2 in each table")

    def check_columns(self, codings: Sequence[Coding]) -> None:
        """Raise if no column varies, or columns with a margin have no mean."""
        if not codings:
            one, other = self.names
            raise ValueError(
                f"every column of {one} and {other} is constant and the same in both; there is nothing to compare"
            )
        margins_of(self.equivalence, codings)
