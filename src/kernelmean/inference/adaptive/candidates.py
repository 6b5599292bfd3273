"""What an adaptive test evaluates on some tables: the members that say something, on views of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import product
from typing import Any, final

import numpy as np

from ...core.array import Array, as_host, like
from ..null import Null
from ..resampling_options import Resampling
from .many_kernels import Adaptive, combined, in_parts
from .members import Member, present
from .row_order import put_back, row_order
from .views import Views, ViewSource
from .volume import volume_null

_LANDMARKS = 64
"""Features of a view: more find no more (docs/adaptive.md), and cost their square."""
_LANDMARKS_OF_MANY_COLUMNS, _MANY_COLUMNS = 32, 10
"""Of so many columns half as many find as much, where there are more rows than landmarks."""
UNIT_ROWS = 256
"""Rows whose distances are the units of views."""

Over = Callable[[tuple[Array, ...], Sequence[Any], Resampling], Null]
"""From tables, some kernels on them and a resampling to the statistics of these kernels."""


@final
@dataclass(frozen=True)
class Candidates:
    """The members of a test, and what they look at."""

    members: Sequence[Any]
    """Those that say something of these rows; the ones without a kernel come last."""
    kernels: list[list[Any]]
    """The kernels, or tuples of kernels for several tables, of every member that has some."""
    tables: tuple[Array, ...]
    """The columns that the kernels look at."""
    in_spreads: Array
    """The rows of the first table in units of their spread."""
    sources: tuple[ViewSource, ...] = ()
    """The tables, their rows in order."""
    views: tuple[Views, ...] = ()
    """What gives the same columns of any other rows, one for every table."""

    def evaluated(self, over: Over, how: Resampling, sizes: tuple[int, ...]) -> Evaluated:
        """Evaluate all members under the same permutations."""
        kernels = [kernel for own in self.kernels for kernel in own]
        nulls = [in_parts(partial(over, self.tables), kernels, how)] if kernels else []
        scheme = nulls[0].scheme if nulls else how.scheme
        others = self.members[len(self.kernels) :]
        nulls += [self._volume(member, sizes, how.repeated(scheme)) for member in others]
        counts = [len(own) for own in self.kernels] + [1] * len(others)
        return Evaluated(reduce(Null.beside, nulls), self.members, counts)

    def _volume(self, member: Member, sizes: tuple[int, ...], how: Resampling) -> Null:
        assert member.ridge is not None, "a volume has a ridge"
        return volume_null(self.in_spreads, (min(sizes), max(sizes)), member.ridge, how)


@final
@dataclass(frozen=True)
class Evaluated:
    """The statistics of the members of a test under the same permutations."""

    null: Null
    members: Sequence[Any]
    counts: Sequence[int]
    """How many statistics every member has."""

    def combined(self, rule: str, samples: Sequence[Array]) -> dict[str, Any]:
        """Return what a result holds, as keyword arguments of ``TestResult``; for a test of samples, pass them."""
        return combined(self.null, rule, self.members, self.counts, samples)


def candidates(
    adaptive: Adaptive, tables: tuple[Array, ...], size: float, rng: np.random.Generator, *, volumes: bool
) -> Candidates:
    """Return the members of an adaptive test on views of the tables.

    A common shift or scale of a column changes nothing, and a monotone transformation nothing but the members that look
    at the data themselves.

    Parameters
    ----------
    adaptive : Adaptive
        The members, or None for the default ones.
    tables : tuple of array
        The pooled sample, or two variables.
    size : float
        The rows of a sample, or the number of pairs.
    rng : Generator
        Draws landmarks, and the rows whose distances are units.
    volumes : bool
        Whether members may compare the volumes of two samples.
    """
    orders = [row_order(as_host(points)) for points in tables]
    hosts = [ViewSource(as_host(points)[order]) for points, order in zip(tables, orders, strict=True)]
    units = [rows.drawn(UNIT_ROWS, rng) for rows in hosts]
    viewed = [rows.table(unit, volumes=volumes) for rows, unit in zip(hosts, units, strict=True)]
    members = sorted(present(adaptive.members, viewed, size), key=_without_kernel)
    with_kernels = [member for member in members if not _without_kernel(member)]
    views = [
        Views.of(rows, side, unit, rows.drawn(_landmarks(*rows.points.shape), rng))
        for rows, side, unit in zip(hosts, _sides(with_kernels, len(tables)), units, strict=True)
    ]
    kernels = [list(map(_alone, product(*_kernels(views, own.sides)))) for own in with_kernels]
    for view, order in zip(views, orders, strict=True):
        put_back(view.table.T, order)
    columns = tuple(like(view.table, own, "float64") for view, own in zip(views, tables, strict=True))
    return Candidates(members, kernels, columns, hosts[0].in_spreads[np.argsort(orders[0])], tuple(hosts), tuple(views))


def _landmarks(n: int, dim: int) -> int:
    """Return how many features views of a table have: where there are as many rows, all of them."""
    return _LANDMARKS if n <= _LANDMARKS or dim < _MANY_COLUMNS else _LANDMARKS_OF_MANY_COLUMNS


def _without_kernel(member: Any) -> bool:
    return any(side.view == "volume" for side in member.sides)


def _sides(members: Sequence[Any], tables: int) -> list[list[Member]]:
    return [[member.sides[table] for member in members] for table in range(tables)]


def _kernels(views: Sequence[Views], sides: Sequence[Member]) -> list[list[Any]]:
    return [view.kernels[side] for view, side in zip(views, sides, strict=True)]


def _alone(parts: tuple[Any, ...]) -> Any:
    """Return what holds for the only table as it is, and for several tables as a tuple."""
    return parts[0] if len(parts) == 1 else parts
