"""What an adaptive test evaluates on some tables: the members that add something, on views of the rows.

For three or more variables, the statistic of joint independence has products of kernels that are not centered: a kernel
on centered features would see only the dependence of all variables together, and not that of two of them. So these
members use views as they are, without landmarks and filters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...kernels import Kernel, Polynomial, TensorProduct
from ..low_rank import Coordinates
from ..null import Null
from ..resampling import Resampling
from ..rotations.gathered import DENSE_LIMIT
from ..samples import alone
from .columns import DIRECT, put_back, row_order
from .fitting_members import present
from .many_kernels import Adaptive, in_parts
from .member import MEDIAN, QUARTER, WIDE, Member
from .views import View, Views, ViewSource

_LANDMARKS = 64
"""Features of a view: more do not find more (docs/adaptive.md), and the cost grows with their square."""
_OWN_LANDMARKS = {"nearest": 128, "radius": 32}
"""For two samples: a row far from all landmarks is lost to what looks at the nearest rows, and a single column needs
fewer."""
_LANDMARKS_OF_MANY_COLUMNS, _MANY_COLUMNS = 32, 10
"""From this many columns on, fewer features find as much, if there are more rows than landmarks."""
UNIT_ROWS = 256
"""The number of rows whose distances give the units of views."""

Evaluated = tuple[Null, Sequence[Any], Sequence[int]]
"""The statistics of members under the same permutations, these members, and how many statistics each has."""
Over = Callable[[tuple[Array, ...], Sequence[Any], Resampling], Null]
"""From tables, some kernels on them and a resampling to the statistics of these kernels."""


@final
@dataclass(frozen=True)
class Candidates:
    """The members of a test, and what they look at."""

    members: Sequence[Any]
    """Those that add something for these rows."""
    kernels: list[list[Any]]
    """The kernels, or tuples of kernels for several tables, of every member."""
    tables: tuple[Array, ...]
    """The columns that the kernels look at."""
    sources: tuple[ViewSource, ...] = ()
    """The tables, with their rows in order."""
    views: tuple[Views, ...] = ()
    """Gives the same columns of any other rows, one for each table."""

    def evaluated(self, over: Over, how: Resampling) -> Evaluated:
        """Evaluate all members under the same permutations."""
        kernels = [kernel for group in self.kernels for kernel in group]
        null = in_parts(partial(over, self.tables), kernels, how, self._bytes_of_one(kernels))
        return null, self.members, list(map(len, self.kernels))

    def _bytes_of_one(self, kernels: Sequence[Any]) -> float:
        """Return what the matrices of a kernel take where they are held; kernels on a few columns have none."""
        sides = (side for kernel in kernels for side in (kernel if isinstance(kernel, tuple) else (kernel,)))
        if all(isinstance(side, Coordinates) for side in sides):
            return 0.0
        return 8.0 * min(len(self.tables[0]), DENSE_LIMIT) ** 2 * (1 + len(self.tables))


def candidates(adaptive: Adaptive, tables: tuple[Array, ...], size: float, rng: np.random.Generator) -> Candidates:
    """Return the members of an adaptive test on views of the tables.

    Shifting or rescaling a column changes nothing. A monotone transformation changes only the members that use the data
    themselves.

    Parameters
    ----------
    adaptive : Adaptive
        The members, or None for the default ones.
    tables : tuple of array
        The pooled sample, or two variables.
    size : float
        The number of rows of a sample, or of pairs.
    rng : Generator
        Draws landmarks, and the rows whose distances give the units.
    """
    orders = [row_order(points) for points in tables]
    hosts = [ViewSource(points[order]) for points, order in zip(tables, orders, strict=True)]
    units = [rows.drawn(UNIT_ROWS, rng) for rows in hosts]
    viewed = [rows.table(unit) for rows, unit in zip(hosts, units, strict=True)]
    members = present(adaptive.members, viewed, size)
    views = [
        Views.of(rows, side, unit, *_landmarks(rows, len(tables), rng))
        for rows, side, unit in zip(
            hosts, ([member.sides[k] for member in members] for k in range(len(tables))), units, strict=True
        )
    ]
    kernels = [
        list(map(alone, product(*(view.kernels[side] for view, side in zip(views, member.sides, strict=True)))))
        for member in members
    ]
    for view, order in zip(views, orders, strict=True):
        put_back(view.table.T, order)
    columns = tuple(view.table for view in views)
    return Candidates(members, kernels, columns, tuple(hosts), tuple(views))


def _landmarks(rows: ViewSource, n_tables: int, rng: np.random.Generator) -> tuple[IntArray, dict[str, IntArray]]:
    """Return the landmarks of views, all rows if there are no more of them; and those of views that have their own."""
    n, dim = rows.points.shape
    if n <= _LANDMARKS:
        return rows.drawn(_LANDMARKS, rng), {}
    if dim >= _MANY_COLUMNS:
        return rows.drawn(_LANDMARKS_OF_MANY_COLUMNS, rng), {}
    landmarks = rows.drawn(_LANDMARKS, rng)
    return landmarks, {} if n_tables > 1 else {view: rows.drawn(many, rng) for view, many in _OWN_LANDMARKS.items()}


# -- several variables -------------------------------------------------------------------------------------------------

AFFINE = Polynomial(1, 1.0)
"""1 + x·y: dependence of two columns, and products of three."""
JOINT_MEMBERS = tuple(
    Member("data", kernel, group=group)
    for group, kernel in (("linear", AFFINE), ("smooth", WIDE), ("smooth", MEDIAN), ("local", QUARTER))
)
"""The default members for several variables: four, each with the work of a test of one kernel."""


def joint_candidates(adaptive: Adaptive, tables: Sequence[Array], rng: np.random.Generator) -> Candidates:
    """Return the members on views of all variables.

    Raises
    ------
    TypeError, ValueError
        When a member is a pair, has a ridge, or has a view that takes columns one by one.
    """
    members = adaptive.members or JOINT_MEMBERS
    for member in members:
        if not isinstance(member, Member):
            raise TypeError(
                f"{member!r}: joint independence has one kernel for all variables; pass Member(view, kernel)"
            )
        if member.ridge is not None or member.view in DIRECT:
            raise ValueError(
                f"{member.label}: joint independence takes kernels as they are, on whole views; leave the ridge out, "
                "and pass a view such as 'data', 'scores' or 'ranks'"
            )
    orders = [row_order(points) for points in tables]
    sources = [ViewSource(points[order]) for points, order in zip(tables, orders, strict=True)]
    sides = [_side(source, members, rng) for source in sources]
    kernels: list[list[Any]] = [[kernel] for kernel in zip(*(each for _, each in sides), strict=True)]
    columns = tuple(table for table, _ in sides)
    for table, order in zip(columns, orders, strict=True):
        put_back(table.T, order)
    return Candidates(members, kernels, columns)


def _side(source: ViewSource, members: Sequence[Member], rng: np.random.Generator) -> tuple[Array, list[Kernel]]:
    """Return the views of a variable side by side, and the kernel of every member on its columns."""
    rows = source.drawn(UNIT_ROWS, rng)
    views = {name: View.fitted(name, source, rows)[1] for name in dict.fromkeys(member.view for member in members)}
    ends = np.cumsum([0, *(view.shape[1] for view in views.values())]).tolist()
    places = dict(zip(views, map(range, ends, ends[1:]), strict=False))
    kernels: list[Kernel] = [TensorProduct((member.kernel,), (tuple(places[member.view]),)) for member in members]
    return np.hstack(list(views.values())), kernels
