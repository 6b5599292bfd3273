"""How the columns of two tables are matched: by name where both have names, else by position."""

from __future__ import annotations

from typing import Protocol


class Headed(Protocol):
    """Anything that has columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""

    @property
    def named(self) -> bool:
        """Whether these names were passed, as with a data frame or a file; those of an array are made up."""


def column_order(first: Headed, second: Headed) -> list[int] | None:
    """Return where the columns of the first table stand in the second, None where the second has others."""
    if not (first.named and second.named):
        return list(range(len(first.names))) if len(first.names) == len(second.names) else None
    if sorted(first.names) != sorted(second.names):
        return None
    return [second.names.index(name) for name in first.names]
