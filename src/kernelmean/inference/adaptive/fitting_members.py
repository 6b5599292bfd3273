"""Which members say something about some tables: those whose views the tables have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from .columns import DIRECT
from .default_members import independence_members, two_sample_members
from .member import QUARTER, Member, PairMember

_MOST_PAIRS = 256
"""Of single columns, all of which are compared."""
_MOST_COLUMNS_OF_NARROW = 10
_STAND_INS = ("white", "axes")
"""Views of several columns that normal scores stand in for where a table has only one."""


def present(members: Sequence[Any] | None, tables: Sequence[ViewedTable], size: float) -> list[Any]:
    """Return those of the members, by default all there are, that say something of tables with these views."""
    if len(tables) == 2:
        return _present_pairs(members or independence_members(size), tables)
    if len(tables) != 1:
        raise ValueError(f"{len(tables)} tables have no members of this kind, one or two have")
    table = tables[0]
    members = members or two_sample_members(size, table.clustered)
    if not all(isinstance(member, Member) for member in members):
        raise TypeError("two samples have one kernel per member; pass Member(view, kernel, weight), not PairMember")
    kept = [member for member in members if member.view in table.views]
    if not kept:
        raise ValueError(f"no member is left: data of this shape have the views {', '.join(map(repr, table.views))}")
    return kept


@final
@dataclass(frozen=True)
class ViewedTable:
    """What decides on the members that look at a table."""

    views: tuple[str, ...]
    """The views that say something new of it."""
    dim: int
    clustered: float
    """From 0 to 1, how surely its rows lie in far clusters."""


def _present_pairs(pairs: Sequence[Any], tables: Sequence[ViewedTable]) -> list[PairMember]:
    """Let one column stand in for its whitened self, and leave out what then says nothing new."""
    if not all(isinstance(pair, PairMember) for pair in pairs):
        raise TypeError("independence has two kernels per member; pass PairMember(Member(...), Member(...), weight)")
    kept = [fitting for pair in pairs if (fitting := _fitting(pair, tables)) is not None]
    if not kept:
        views = ", ".join(map(repr, tables[0].views))
        raise ValueError(f"no pair is left: the views are {views} of X, {tables[1].views} of Y")
    return kept


def _fitting(pair: PairMember, tables: Sequence[ViewedTable]) -> PairMember | None:
    """Return the pair, on a side of one column with scores for its view, or None where that adds nothing."""
    fits = [member.view in table.views for member, table in zip(pair.sides, tables, strict=True)]
    both = {pair.x.view, pair.y.view}
    narrow = [member.kernel == QUARTER and member.view == "data" for member in pair.sides]
    if any(is_narrow and table.dim > _MOST_COLUMNS_OF_NARROW for is_narrow, table in zip(narrow, tables, strict=True)):
        return None  # in many columns all distances are alike, so that hardly two rows are near each other
    if both <= set(DIRECT) and DIRECT[pair.x.view](tables[0].dim) * DIRECT[pair.y.view](tables[1].dim) > _MOST_PAIRS:
        return None
    lacking = {member.view for member, fit in zip(pair.sides, fits, strict=True) if not fit}
    if not any(fits) or not lacking <= set(_STAND_INS):
        return None
    x, y = (member if fit else replace(member, view="scores") for member, fit in zip(pair.sides, fits, strict=True))
    return replace(pair, x=x, y=y)
