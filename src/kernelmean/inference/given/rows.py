"""The rows of a conditional test: mixed columns as coordinates and strata, checked, in an order; and their tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...conditional.smoothing import Smoother, scaled
from ...core.array import Array, IntArray, RngLike
from ...core.frozen import Frozen, sealed
from ...core.labels import check_codes, distinct
from ...core.table import Table, as_table, named_frame
from ...core.words import count, listed
from ...tables.columns import Encoded, Encoding, encode
from ..designs.design import Design
from ..independence import hsic_test
from ..samples import matched
from .ci_result import ConditionalResult
from .products import NOTHING_LEFT, SideResiduals, pvalue_of

_NOTHING, _FEWEST = "there is nothing to test", 20
Sides = tuple[SideResiduals, SideResiduals]


@final
@dataclass(frozen=True, eq=False)
class KnownRows(Frozen):
    """Rows of X, Y and Z, sorted by their values."""

    x: Array
    y: Array
    z: Array
    order: IntArray
    """The numbers of the sorted rows."""
    strata: tuple[IntArray, ...]
    """The sorted rows of every stratum."""
    called: tuple[str, str, str]
    """What errors call X, Y and Z."""
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    """Those of X and Y."""

    @classmethod
    def of(cls, X: Table, Y: Table, Z: Table, strata: Sequence[Any] | None, names: Sequence[str] = "XYZ") -> KnownRows:
        """Sort rows, after a look whether regressions on Z are possible."""
        labels, called = stratum_numbers(strata, len(X))
        order = np.lexsort(np.hstack([table.values for table in (Z, Y, X)]).T[::-1])
        x, y, z = (table.values[order] for table in (X, Y, Z))
        members = members_of(labels[order])
        for rows, stratum in zip(members, called, strict=True):
            _check_rows(len(rows), z.shape[1], stratum if len(members) > 1 else "")
        first, second, known = (
            f"{name} ({listed(table.names)})" if table.named else name
            for name, table in zip(names, (X, Y, Z), strict=True)
        )
        return cls(x, y, z, order, members, (first, second, known), (X.names, Y.names))

    def sides(self, smoother: Smoother) -> Sides:
        """Return what Z leaves of X and Y."""
        x, y = (SideResiduals.of(side, smoother) for side in (self.x, self.y))
        for name, side in zip(self.called, (x, y), strict=False):
            if not (side.residuals**2).mean(axis=0).max() > NOTHING_LEFT:
                known = self.called[2]
                known = f"{known} determines" if len(self.strata) == 1 else f"{known} and the strata determine"
                raise ValueError(f"{known} {name}: under a millionth of its variance is left; leave one of both out")
        return x, y

    def test(self, smoother: Smoother, sides: Sides, n_resamples: int, rng: np.random.Generator) -> ConditionalResult:
        """Return the asymptotic test of what a smoother on Z leaves of both sides."""
        statistic, pvalue, members = pvalue_of(sides, self.z, n_resamples, rng)
        method = "Conditional independence given Z, residual products with random signs, asymptotic"
        sizes = len(self.x), self.x.shape[1], self.y.shape[1], self.z.shape[1]
        r2 = float(smoother.r2(scaled(self.x)).mean()), float(smoother.r2(scaled(self.y)).mean())
        left = scaled(sides[0].residuals).T @ scaled(sides[1].residuals) / sizes[0]
        note = "the p-value holds where the errors of both regressions on what is given are small together"
        parts = len(self.strata), r2, members, left, self.columns
        return ConditionalResult(statistic, pvalue, method, False, sizes, *parts, notes=(note,))


def within_strata(X: Table, Y: Table, strata: Sequence[Any], n_resamples: int, rng: RngLike) -> ConditionalResult:
    """Return the exact test: permutations within strata."""
    labels, _ = stratum_numbers(strata, len(X))
    if np.bincount(labels).max() < 2:
        raise ValueError("every stratum has one row, so no rows can change partners; pass coarser strata, or Z")
    result = hsic_test(X, Y, design=Design(strata=labels.tolist()), n_resamples=n_resamples, rng=rng)
    method = "Conditional independence given strata, exact permutations within strata"
    sizes = (len(X), len(X.names), len(Y.names), 0)
    n_strata, names = int(labels.max()) + 1, ("X", "Y", "the stratum")
    remove = Smoother(members_of(labels), ((),) * n_strata)
    left = scaled(remove(X.values).residuals).T @ scaled(remove(Y.values).residuals) / len(X)
    columns, (statistic, pvalue) = (X.names, Y.names), result
    return ConditionalResult(statistic, pvalue, method, True, sizes, n_strata, None, (), left, columns, names=names)


def varying_columns(data: Any, name: str, instead: str = _NOTHING) -> Table:
    """Return the columns of a table that vary."""
    table = as_table(data, name)
    varying, constant = table.constant()
    if not len(varying):
        raise ValueError(f"{name} is constant in {count(len(table), 'row')}: {instead}")
    table = table.columns(varying) if constant else table
    table.deviations()
    return table


def stratum_numbers(strata: Sequence[Any] | None, n: int) -> tuple[IntArray, list[str]]:
    """Return the numbers of strata, all 0 without any, and what the strata are called."""
    known, numbers = distinct(np.zeros(n) if strata is None else check_codes(strata, n, "strata"), "strata")
    return numbers, list(map(str, known))


def members_of(labels: IntArray) -> tuple[IntArray, ...]:
    """Return the rows of every stratum."""
    return tuple(np.flatnonzero(labels == label) for label in range(labels.max() + 1))


def _check_rows(n: int, d: int, stratum: str) -> None:
    where = f"the stratum {stratum}" if stratum else "the table"
    if n < _FEWEST:
        merge = "leave it out, or merge strata: max_categories=5 of dependence and compare makes rare categories one"
        needed = f"a regression on Z needs at least {_FEWEST}; {merge if stratum else 'pass more rows'}"
        raise ValueError(f"{where} has {count(n, 'row')}, {needed}")
    if d > n / 2:
        raise ValueError(f"Z has {count(d, 'column')} and {where} {count(n, 'row')}; pass at most {n // 2} columns")


def coordinates(data: Any, name: str) -> tuple[Table, tuple[str, ...]]:
    """Return the columns of X or Y that vary, of a mixed table as coordinates, and notes."""
    encoded = encoded_tables((data,), (name,), _NOTHING)
    if encoded is None:
        return varying_columns(data, name), ()
    return tables_of(encoded, encoded.names)[0], encoded.notes(f" in {name}")


def known_parts(
    tables: Mapping[str, Any], of: Mapping[str, int], labels: Sequence[Sequence[Any]], useless: str
) -> tuple[Table | None, list[Any] | None, tuple[str, ...]]:
    """Return the known numbers, the strata, in which known categories are crossed with labels, and notes.

    One table is known of all rows, or one of each of two samples; ``of`` has the rows of what is tested, by name.
    """
    names, rows = tuple(tables), tuple(tables.values())
    if not names:
        return None, joined(labels), ()
    encoded, called = encoded_tables(rows, names, useless), names[0] if len(names) == 1 else "given"
    if encoded is not None:
        parts = tables_of(encoded, encoded.names)
    else:
        parts = (as_table(rows[0], called),) if len(names) == 1 else matched(rows[0], rows[1], (names[0], names[1]))
    for (sample, n), name, part in zip(of.items(), names, parts, strict=True):
        if len(part) != n:
            raise ValueError(
                f"{sample} has {count(n, 'row')} and {name} {len(part):,}; row i of both must be one observation"
            )
    if encoded is None:
        return varying_columns(pooled(parts), called, useless), joined(labels), ()
    discrete, numbers = strata_and_numbers(encoded, encoded.names)
    labels = [*labels, [label for table in crossed(encoded, discrete) for label in table]] if discrete else labels
    known = pooled(tables_of(encoded, numbers)) if numbers else None
    return known, joined(labels), encoded.notes(f" in {called}" if len(names) == 1 else "")


def pooled(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables as one."""
    return Table(np.vstack([each.values for each in tables]), tables[0].names, tables[0].named)


def tables_of(encoded: Encoded, names: Sequence[str]) -> tuple[Table, ...]:
    """Return the coordinates of some columns of every table, with their names."""
    labels = tuple(label for coding in encoded.codings if coding.name in names for label in coding.names)
    return tuple(Table(sealed(values), labels) for values in encoded.coordinates(names))


def strata_and_numbers(encoded: Encoded, given: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return which given columns are strata, and which are regressed on."""
    varying = [name for name in given if name in encoded.groups]
    categories = {each.name for each in encoded.codings if each.category_weight is not None}
    return [name for name in varying if name in categories], [name for name in varying if name not in categories]


def crossed(encoded: Encoded, names: Sequence[str]) -> tuple[list[str], ...]:
    """Return what the stratum of every row of every table is called: by its categories, with quotes."""
    codings = [coding for coding in encoded.codings if coding.name in names]
    rows = (zip(*(coding.labels(frame) for coding in codings), strict=True) for frame in encoded.frames)
    called = [coding.name for coding in codings]
    return tuple([", ".join(map("{}={!r}".format, called, row)) for row in table] for table in rows)


def joined(labels: Sequence[Sequence[Any]]) -> list[Any] | None:
    """Return the labels of strata that several columns of labels make together, None for no column."""
    if len(labels) < 2:
        return list(labels[0]) if labels else None
    return [", ".join(map(repr, row)) for row in zip(*labels, strict=True)]


def encoded_tables(tables: Sequence[Any], names: Sequence[str], useless: str) -> Encoded | None:
    """Return data frames with columns that are not numbers as coordinates, None for numbers alone."""
    frames = [frame for data, name in zip(tables, names, strict=True) if (frame := named_frame(data, name)) is not None]
    if not any(frame.declared or any(cells.dtype != np.float64 for cells in frame.cells.values()) for frame in frames):
        return None
    for frame in frames:
        blank = np.flatnonzero(~frame.complete())
        if len(blank):
            raise ValueError(
                f"{frame.source} has {count(len(blank), 'row')} with a blank cell, the first is row {blank[0] + 1}; "
                "leave these rows out of all tables, or fill the cells first"
            )
    encoded = encode(tables, names, Encoding())
    if not encoded.names:
        raise ValueError(f"{listed(names)} is constant in {count(sum(map(len, frames)), 'row')}: {useless}")
    return encoded
