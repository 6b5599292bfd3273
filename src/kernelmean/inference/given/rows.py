"""The rows of a conditional test, checked and in an order of their own, and what Z leaves of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...conditional.smoothing import StratifiedSmoother
from ...core.array import Array, IntArray
from ...core.frozen import Frozen
from ...core.table import Table, as_table
from ...core.words import count
from .products import SideResiduals

_FEWEST, _NOTHING_LEFT = 20, 1e-6


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

    @classmethod
    def of(cls, X: Table, Y: Table, Z: Table, strata: Sequence[Any] | None) -> KnownRows:
        """Sort rows, after a look whether regressions on Z are possible."""
        sizes = [len(table) for table in (X, Y, Z)]
        if len(set(sizes)) > 1:
            raise ValueError(f"X, Y and Z have {', '.join(map(str, sizes))} rows; pass three tables of the same rows")
        labels = stratum_numbers(strata, sizes[0])
        order = np.lexsort(np.hstack([table.values for table in (Z, Y, X)]).T[::-1])
        x, y, z = (table.values[order] for table in (X, Y, Z))
        members = tuple(np.flatnonzero(labels[order] == label) for label in range(labels.max() + 1))
        for rows in members:
            _check_rows(z[rows], len(members) > 1)
        return cls(x, y, z, order, members)

    def sides(self, smoother: StratifiedSmoother, names: Sequence[str] = "XY") -> tuple[SideResiduals, SideResiduals]:
        """Return what Z leaves of X and Y."""
        x, y = (SideResiduals.of(side, smoother) for side in (self.x, self.y))
        for name, side in zip(names, (x, y), strict=True):
            if not (side.residuals**2).mean(axis=0).max() > _NOTHING_LEFT:
                known = "Z determines" if len(self.strata) == 1 else "Z and the strata determine"
                raise ValueError(
                    f"{known} {name}: regressions on Z leave less than a millionth of the variance to test; leave what "
                    f"determines {name} out"
                )
        return x, y


def varying_columns(data: Any, name: str, instead: str = "there is nothing to test") -> Table:
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
    if strata is None:
        return np.zeros(n, dtype=int)
    listed = np.asarray(strata).ravel().tolist()
    if len(listed) != n:
        raise ValueError(f"strata has {count(len(listed), 'label')} for {count(n, 'row')}; pass one label a row")
    if any(label is None or label != label for label in listed):  # noqa: PLR0124 (NaN is not itself)
        raise ValueError("a label in strata is blank; give every row a label")
    numbers = {label: number for number, label in enumerate(sorted(set(listed), key=repr))}
    return np.array([numbers[label] for label in listed])


def _check_rows(Z: Array, stratified: bool) -> None:
    n, d = Z.shape
    where = "a stratum" if stratified else "the table"
    if n < _FEWEST:
        raise ValueError(f"{where} has {count(n, 'row')}, a regression on Z needs at least {_FEWEST}; pass more rows")
    if d > n / 2:
        raise ValueError(f"Z has {count(d, 'column')} and {where} {count(n, 'row')}; pass at most {n // 2} columns")
