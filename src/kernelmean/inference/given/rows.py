"""The rows of a conditional test, checked and in an order of their own, and what Z leaves of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...conditional.smoothing import Smoother
from ...core.array import Array, IntArray
from ...core.frozen import Frozen
from ...core.labels import check_codes, codes
from ...core.table import Table, as_table
from ...core.words import count, listed
from .products import NOTHING_LEFT, SideResiduals

NOTHING = "there is nothing to test"
_FEWEST = 20


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

    @classmethod
    def of(cls, X: Table, Y: Table, Z: Table, strata: Sequence[Any] | None, names: Sequence[str] = "XYZ") -> KnownRows:
        """Sort rows, after a look whether regressions on Z are possible."""
        labels = stratum_numbers(strata, len(X))
        order = np.lexsort(np.hstack([table.values for table in (Z, Y, X)]).T[::-1])
        x, y, z = (table.values[order] for table in (X, Y, Z))
        members = tuple(np.flatnonzero(labels[order] == label) for label in range(labels.max() + 1))
        for rows in members:
            _check_rows(z[rows], len(members) > 1)
        first, second, known = (
            f"{name} ({listed(table.names)})" if table.named else name
            for name, table in zip(names, (X, Y, Z), strict=True)
        )
        return cls(x, y, z, order, members, (first, second, known))

    def sides(self, smoother: Smoother) -> tuple[SideResiduals, SideResiduals]:
        """Return what Z leaves of X and Y."""
        x, y = (SideResiduals.of(side, smoother) for side in (self.x, self.y))
        for name, side in zip(self.called, (x, y), strict=False):
            if not (side.residuals**2).mean(axis=0).max() > NOTHING_LEFT:
                known = self.called[2]
                known = f"{known} determines" if len(self.strata) == 1 else f"{known} and the strata determine"
                raise ValueError(
                    f"{known} {name}: regressions leave less than a millionth of the variance to test; leave one of "
                    "both out"
                )
        return x, y


def varying_columns(data: Any, name: str, instead: str = NOTHING) -> Table:
    """Return the columns of a table that vary."""
    table = as_table(data, name)
    varying, constant = table.constant()
    if not len(varying):
        raise ValueError(f"{name} is constant in {count(len(table), 'row')}: {instead}")
    table = table.columns(varying) if constant else table
    table.deviations()
    return table


def stratum_numbers(strata: Sequence[Any] | None, n: int) -> IntArray:
    """Return the numbers of strata, all 0 without any."""
    return np.zeros(n, dtype=int) if strata is None else codes(check_codes(strata, n, "strata"), "strata")[0]


def _check_rows(Z: Array, stratified: bool) -> None:
    n, d = Z.shape
    where = "a stratum" if stratified else "the table"
    if n < _FEWEST:
        raise ValueError(f"{where} has {count(n, 'row')}, a regression on Z needs at least {_FEWEST}; pass more rows")
    if d > n / 2:
        raise ValueError(f"Z has {count(d, 'column')} and {where} {count(n, 'row')}; pass at most {n // 2} columns")
