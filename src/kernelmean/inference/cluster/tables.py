"""A table of columns of any kind whose rows stay on the workers: its parts, and functions folded over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

from ...core.table import Frame, to_frame
from ...core.words import listed
from .running import folded, gathered, task
from .sources import column_names, partitions


@final
@dataclass(frozen=True, eq=False)
class ClusterTable:
    """A table on a cluster; only the names of its columns were read."""

    source: str
    """Its name in errors."""
    columns: tuple[str, ...]
    """The columns that are used, with their names in the partitions."""
    names: tuple[str, ...]
    """Their names here, in their order."""
    named: bool
    """Whether columns are matched by name; not for a dask array."""
    raw: tuple[Any, ...]
    """The tasks that make the partitions, in the order of the rows."""

    @classmethod
    def of(cls, client: Any, X: Any, name: str) -> Self:
        """Return rows on a cluster as such a table.

        Raises
        ------
        TypeError, ValueError
            When the data are in this process, are not a table, or cannot be read by a worker.
        """
        if isinstance(X, ClusterTable):
            return replace(X, source=name)
        raw, names = partitions(client, X, name), column_names(X)
        if names is None:
            (names,) = gathered(client, [task(_names, raw[0])])
        return cls(name, names, names, not hasattr(X, "rechunk"), tuple(raw))

    @property
    def parts(self) -> list[Any]:
        """Return the tasks that make the parts as frames, None for parts without rows."""
        return [
            task(_frame, part, self.columns, self.names, f"partition {at} of {self.source}", self.source)
            for at, part in enumerate(self.raw, start=1)
        ]

    def reordered(self, names: Sequence[str]) -> Self:
        """Return the table with some of its columns, in another order."""
        places = [self.names.index(name) for name in names]
        return replace(self, columns=tuple(self.columns[place] for place in places), names=tuple(names))

    def called(self, names: Sequence[str]) -> Self:
        """Return the table with other column names."""
        return replace(self, names=tuple(names))


def fold(
    client: Any,
    run: Callable[..., Any],
    merge: Callable[..., Any],
    jobs: Iterable[tuple[Any, Any]],
    shared: Any,
    finish: Callable[..., Any] | None,
) -> Any:
    """Return what :meth:`kernelmean.plan.RemotePlan.fold` describes."""
    common = task(_itself, shared)
    merged = folded(partial(_merged, merge), [task(_ran, run, part, needs, common) for part, needs in jobs])
    (value,) = gathered(client, [merged if finish is None else task(finish, merged, common)])
    return value


# -- on the workers ---------------------------------------------------------------------------------------------------


def _names(part: Any) -> tuple[str, ...]:
    return to_frame(part, "a partition").names


def _frame(part: Any, columns: tuple[str, ...], names: tuple[str, ...], place: str, source: str) -> Frame | None:
    """Return a partition as columns of any kind."""
    if not len(part):
        return None
    frame = to_frame(part, place)
    missing = [name for name in columns if name not in frame.names]
    if missing:
        raise ValueError(
            f"{place} has the columns {listed(frame.names)}, another one {listed(columns)}; all partitions need the "
            "same columns"
        )
    return replace(frame.select(columns).called(names), source=source)


def _itself(value: Any) -> Any:
    return value


def _ran(run: Callable[..., Any], part: Any, needs: Any, shared: Any) -> Any:
    return None if part is None else run(part, needs, shared)


def _merged(merge: Callable[..., Any], *states: Any) -> Any:
    """Merge what was found; None stands for parts without rows."""
    known = [state for state in states if state is not None]
    return merge(*known) if known else None
