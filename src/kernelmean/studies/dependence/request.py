"""The options of a study of dependence, the table that is tested, and what tests found, in memory and in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Self, TypeAlias, final

import numpy as np

from ...core.array import IntArray, Progress, RngLike
from ...core.labels import codes
from ...core.table import Frame
from ...core.words import count, did_you_mean, listed
from ...inference import Design, TestResult
from ...inference.null import HOLM, check_adjustment
from ...plan.plan import Plan
from ...tables.columns import Encoded, Encoding
from ...tables.source import Source
from ..designs import TableDesign
from ..rows.designed_rows import DesignedRows
from .pair import PairDependence

LEAST_ROWS = 4
Pair: TypeAlias = tuple[str, str]
Groups: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


def named_columns(group: str, columns: str | Iterable[Any]) -> tuple[str, ...]:
    """Return the names of a group of columns, ``x`` or ``y``, or raise where it holds cells."""
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    cell = next((name for name in names if not isinstance(name, str)), None)
    if cell is not None:
        name = str(getattr(columns, "name", None) or "price")
        raise TypeError(
            f"{group} is a {type(columns).__name__} that holds {cell!r}; {group} takes names of columns of the table: "
            f"write {group}={name!r}"
        )
    return names


def both_groups(x: Iterable[str], y: Iterable[str], names: Iterable[str]) -> Groups:
    """Return two groups of columns; one without names has all columns that the other does not have."""
    one, two = tuple(dict.fromkeys(x)), tuple(dict.fromkeys(y))
    others = tuple(name for name in names if name not in (*one, *two))
    return one or others, two or others


@dataclass(frozen=True)
class DependenceOptions:
    """The options of a study of dependence; see :func:`kernelmean.dependence` for their meaning."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    estimator: str
    encoding: Encoding
    n_resamples: int
    rng: RngLike
    screen: bool
    plan: Plan | None
    progress: Progress
    design: TableDesign
    keep_finished: bool = False
    adjustment: str = HOLM

    def __post_init__(self) -> None:
        check_adjustment(self.adjustment)

    def groups(self, names: tuple[str, ...]) -> Groups:
        """Return the names of both groups; if none were named, all columns twice.

        Raises
        ------
        ValueError
            When a column is unknown, or in both groups.
        """
        for name in (*self.x, *self.y):
            if name in self.design.columns:
                raise ValueError(
                    f"{name!r} stands in x or in y, and {self.design.options()} names it; a column of the design is "
                    "left out of what is tested"
                )
            if name not in names:
                raise ValueError(
                    f"there is no column {name!r}{did_you_mean(name, names)}; the table has {listed(names)}"
                )
        both = [name for name in self.x if name in self.y]
        if both:
            raise ValueError(f"{listed(both)} stands in x and in y; a column belongs to one group")
        names = tuple(name for name in names if name not in self.design.columns)
        if not self.x and not self.y:
            return names, names
        return both_groups(self.x, self.y, names)


@final
@dataclass(frozen=True, eq=False)
class DesignedTable:
    """What is tested: two groups of columns of some rows, and their design."""

    table: Source
    """The columns that are tested, of rows with a weight."""
    groups: Groups
    encoding: Encoding
    """Of these columns."""
    design: Design
    """Of the rows that are used: those without blank cells where a column leaves such rows out."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Source, options: DependenceOptions) -> Self:
        """Read the columns of a design, with those whose blank cells leave rows out.

        Raises
        ------
        ValueError
            When a column is unknown or in both groups, or a column of the design has blank cells or holds no weights.
        """
        design = options.design
        design.check_names(table.names, table.source)
        design.beside(table.names, table.source)
        groups = options.groups(table.names)
        used = [name for name in table.names if name in {*groups[0], *groups[1]}]
        encoding = options.encoding.restricted(Frame({name: np.empty(0) for name in table.names}, table.source), used)
        rest = table if used == list(table.names) else table.reordered(used)
        if not design:
            return cls(rest, groups, encoding, Design())
        rows = DesignedRows.of_sources((table.reordered([*used, *design.columns]),), design, encoding)
        return cls(rest.only(rows.looked[0]), groups, encoding, rows.design, rows.notes)

    @property
    def clusters(self) -> tuple[IntArray, ...] | None:
        """The numbers of the clusters of the rows; None without clusters."""
        return None if self.design.clusters is None else (codes(self.design.clusters, "clusters")[0],)


def varying(groups: Groups, names: Sequence[str], constant: Sequence[str]) -> tuple[Groups, list[Pair]]:
    """Return the groups without constant columns, and all pairs to test.

    Raises
    ------
    ValueError
        When no pair is left.
    """
    left, right = (tuple(name for name in group if name in names) for group in groups)
    pairs = list(combinations(left, 2)) if left == right else list(product(left, right))
    if not pairs and len({*groups[0], *groups[1]}) == 1:
        name = (*groups[0], *groups[1])[0]
        raise ValueError(f"there is one column only, {name!r}; a test of dependence needs two: pass a table with more")
    if not pairs:
        raise ValueError(f"there are no two varying columns to test; constant: {listed(constant) or 'none'}")
    return (left, right), pairs


def check_rows(rows: int) -> None:
    """Raise if there are too few rows."""
    if rows < LEAST_ROWS:
        raise ValueError(f"the table has {count(rows, 'row')}; a test of independence needs at least {LEAST_ROWS}")


@final
@dataclass(frozen=True, eq=False)
class Answered:
    """What tests found, whether rows were held or added up."""

    groups: Groups
    """Without constant columns."""
    n_rows: int
    joint: TestResult | None
    pairs: tuple[PairDependence, ...]
    encoded: Encoded
    """The rows that pictures show."""
    notes: tuple[str, ...]
    """Those of the joint test come besides."""
    in_series: bool
