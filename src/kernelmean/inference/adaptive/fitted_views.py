"""Any rows in the views that were fitted to a pilot: the columns that tests in bins add up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ...core.array import Array, like, namespace
from ...core.cached import cached_property
from ...kernels.sections import Sections
from .columns import AS_IT_IS
from .spectrum import Projection
from .views import BY_ORDER, IN_SPREADS, View, ViewFits, ViewPart, ViewSource


def _unchanged(values: Array) -> Array:
    return values


@final
class ViewedColumns:
    """The columns of any rows, part by part; what depends only on the fitted rows is computed once.

    Parameters
    ----------
    parts : sequence of ViewPart
    fits : ViewFits
        The fits of the rows that the parts are fitted to.
    """

    def __init__(self, parts: Sequence[ViewPart], fits: ViewFits) -> None:
        self._fits = fits
        self._by_view: list[_PartsOfView] = []
        for number, part in enumerate(parts):
            if not (self._by_view and self._by_view[-1].takes(part)):
                self._by_view.append(_PartsOfView(part.view, len(fits.ranks.knots)))
            self._by_view[-1].parts[number] = part.projection

    def __call__(self, points: Array) -> Iterator[tuple[int, Array]]:
        """Yield the number of every part and its columns of rows (n, d), shape (columns, n), in an order of their own.

        A view of the ranks of one column has few values, so its columns are looked up.
        """
        source = self.source(points)
        yield from self.computed(source)
        for column, tables in self._by_place.items():
            places, take = source.places[column], namespace(points).take
            yield from ((number, take(like(table, points), places, axis=0).T) for number, table in tables)

    def source(self, points: Array) -> ViewSource:
        """Return rows as a source with the fits of the parts."""
        return ViewSource(points, self._fits)

    def computed(
        self, source: ViewSource, change: Callable[[Array], Array] = _unchanged
    ) -> Iterator[tuple[int, Array]]:
        """Yield the number and the columns of every part that is not looked up, or of means of rows if ``change`` does.

        See ``at`` of the parts.
        """
        for parts in self._by_view:
            if parts.ranked is None:
                yield from parts.at(parts.view(source), change)

    @cached_property
    def _by_place(self) -> dict[int, list[tuple[int, Array]]]:
        return self.tables()

    def tables(self) -> dict[int, list[tuple[int, Array]]]:
        """Return, for every column of the rows, the parts that use only its ranks.

        Each part comes with its number and the table of its columns at every place, shape (places, columns).
        """
        by_column: dict[int, list[tuple[int, Array]]] = {}
        for parts in self._by_view:
            if parts.ranked is not None:
                known = self._fits.ranks.levels if parts.view.name in BY_ORDER else self._fits.ranks.scores
                view = parts.view.seen(known[parts.ranked][:, None])
                tables = [(number, np.ascontiguousarray(columns.T)) for number, columns in parts.at(view)]
                by_column.setdefault(parts.ranked, []).extend(tables)
        return by_column


@final
@dataclass(eq=False)
class _PartsOfView:
    """Parts of one view, which share their landmarks."""

    view: View
    dim: int
    """The number of columns of the rows."""
    parts: dict[int, Projection | None] = field(default_factory=dict)

    def takes(self, part: ViewPart) -> bool:
        """Whether a part uses the same view, with the same landmarks if it has any."""
        first = next((projection for projection in self.parts.values() if projection is not None), None)
        alike = first is None or part.projection is None or np.array_equal(first.landmarks, part.projection.landmarks)
        return part.view is self.view and alike

    def at(self, table: Array, change: Callable[[Array], Array] = _unchanged) -> Iterator[tuple[int, Array]]:
        """Yield the columns of every part from rows of the view (n, D), whose kernel values are changed before.

        Coordinates are affine in kernel values: of their means over rows they are the means of the coordinates.
        """
        yield from ((number, change(table.T)) for number, projection in self.parts.items() if projection is None)
        projections, sections = self._sections
        for k, values in sections(table):
            number, projection = projections[k]
            yield number, projection(change(values))

    @cached_property
    def _sections(self) -> tuple[list[tuple[int, Projection]], Sections]:
        projections = [(number, projection) for number, projection in self.parts.items() if projection is not None]
        landmarks = projections[0][1].landmarks if projections else np.empty((0, 0))
        return projections, Sections([projection.kernel for _, projection in projections], landmarks)

    @cached_property
    def ranked(self) -> int | None:
        """The column whose ranks make up the view, if it is only one."""
        columns = range(self.dim) if self.view.chosen is None else self.view.chosen
        by_ranks = self.view.name != AS_IT_IS and self.view.name not in IN_SPREADS
        return int(columns[0]) if by_ranks and len(columns) == 1 else None
