"""How the columns of tables become coordinates: the options of a caller, as a value and as keywords of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast, final

from ...core.cells import column_name
from ...core.table import Frame
from ...core.validate import check_integer
from ...core.words import EVERY, did_you_mean, listed
from ..limits import MAX_CATEGORIES
from .agreement import Named
from .inspection import Inspection
from .missing import Missing, rules_for

_F = TypeVar("_F", bound=Callable[..., Any])
_MEANT = {
    "seed": " (the seed is rng=)",
    "random_state": " (the seed is rng=)",
    "drop": " (leave columns out before, with kernelmean.read(..., drop=[...]) or in pandas)",
    **{
        part: f" (designs are for comparisons: kernelmean.compare(A, B, {part}=...), and for kernelmean.dependence)"
        for part in ("strata", "clusters", "weights")
    },
    "given": " (what holds once columns are known: kernelmean.ci_test(X, Y, Z), kernelmean.mmd_test(X, Y, given=...))",
    "paired": " (pairs are of two tables: call kernelmean.compare(A, B, paired=True))",
}
"""What is meant by some options that other functions have."""
_MORE = {
    "compare": "put them below each other, with a column that says which table a row is from, and write "
    "compare_groups(table, 'that column')"
}
"""What to write for more tables than a function takes."""


class EncodingOptions(TypedDict, total=False):
    """The options of an :class:`Encoding`, as keywords of functions of whole tables."""

    missing: Missing
    ordinal: Mapping[str, Iterable[Any]] | None
    categorical: str | Iterable[str]
    scale: bool
    keep: str | Iterable[str]
    max_categories: int


@final
@dataclass(frozen=True)
class Encoding:
    """How columns become coordinates: what they hold, and what to do with missing cells.

    Parameters
    ----------
    missing : {"error", "drop", "category", "noise"}, or dict from column to one of them
        What to do with a missing cell: raise an error; leave its row out; take it as a category of its own (for
        numbers: the mean, and an indicator); or take it as a noisy number, N(mean, variance) of the column. With a
        dict, all other columns have the rule under "*", or must be complete.
    ordinal : dict from str to sequence, optional
        The levels of ordinal columns, lowest first. You need not name columns of an ordered categorical type.
    categorical : str or iterable of str
        Columns that hold categories although their cells are numbers or dates, or nearly all different.
    scale : bool
        Divide every column by its standard deviation; categories have that scale in any case.
    max_categories : int
        Of a column with more categories the most frequent ones, so many, are kept, and the others are one category.
        They are counted over all tables, and of equally frequent ones the first by the alphabet is kept.
    keep : str or iterable of str
        Columns of integers to use although they look like identifiers.
    drops : bool
        Whether rows may be left out; if so, errors suggest it.

    Examples
    --------
    >>> Encoding(missing="drop", ordinal={"size": ["low", "high"]}).scale
    True
    """

    missing: Missing = "error"
    ordinal: Mapping[str, Iterable[Any]] | None = None
    categorical: str | Iterable[str] = ()
    scale: bool = True
    max_categories: int = MAX_CATEGORIES
    keep: str | Iterable[str] = field(default=(), repr=False)  # changes no number: a monitor's checkpoint stays valid
    drops: bool = field(default=True, repr=False)  # whether rows may be left out; if so, errors suggest it

    def __post_init__(self) -> None:
        check_integer(self.max_categories, "max_categories", 2)
        kept = (self.keep,) if isinstance(self.keep, str) else self.keep
        object.__setattr__(self, "keep", tuple(map(column_name, kept)))
        for name in ("missing", "ordinal", "categorical"):  # a caller could change them, or read them once only
            value = getattr(self, name)
            if isinstance(value, Mapping):
                value = {column_name(column): value[column] for column in value}
            object.__setattr__(self, name, tuple(value) if isinstance(value, Iterator) else deepcopy(value))

    @classmethod
    def of(cls, encoding: Encoding | None, options: EncodingOptions) -> Encoding:
        """Return the encoding that keywords describe, or the one that was passed instead.

        Raises
        ------
        TypeError
            When a keyword is not in EncodingOptions, or ``encoding`` is not an Encoding.
        ValueError
            When both are passed.
        """
        known = EncodingOptions.__annotations__
        for name in options:
            if name not in known:
                raise TypeError(
                    f"there is no option {name!r}{did_you_mean(name, known)}; the options are {listed(known)}"
                )
        if encoding is None:
            return cls(**options)
        if not isinstance(encoding, Encoding):
            raise TypeError(f"encoding is {encoding!r}; write kernelmean.tables.Encoding(...), or leave it out")
        if options:
            raise ValueError(
                f"encoding= says how columns are read already; write {listed(f'{name}=' for name in options)} in it"
            )
        return encoding

    def options(self) -> dict[str, Any]:
        """Return the options as plain values by name; equal meanings give equal values."""
        return {
            "missing": self.missing if isinstance(self.missing, str) else dict(self.missing),
            "ordinal": dict(self.named.ordinal),
            "categorical": sorted(self.named.categorical),
            "scale": bool(self.scale),
            "max_categories": self.max_categories,
        }

    @property
    def named(self) -> Named:
        """The columns whose kind the user named."""
        return Named.of(self.ordinal, self.categorical)

    def inspection(self, frame: Frame, tables: int) -> Inspection:
        """Return the inspection of tables with the columns of a frame."""
        return Inspection(frame, tables, self.named, tuple(self.keep), max(self.max_categories, MAX_CATEGORIES))

    def inspect(self, frames: Sequence[Frame]) -> tuple[str, ...]:
        """Return notes on columns of whole tables, or raise when one is unusable as it is."""
        inspection = self.inspection(frames[0], len(frames))
        for table, frame in enumerate(frames):
            inspection.add(frame, table)
        return inspection.check()

    def restricted(self, frame: Frame, names: Sequence[str]) -> Encoding:
        """Return the encoding restricted to some columns of a frame, after checking that all columns it names exist."""
        rules_for(self.missing, frame.names)
        frame.select([*self.named.ordinal, *self.named.categorical, *self.keep])
        missing = self.missing if isinstance(self.missing, str) else _of(self.missing, (*names, EVERY))
        ordinal, named = _of(self.named.ordinal, names), self.named.categorical
        categorical, kept = (tuple(name for name in columns if name in names) for columns in (named, self.keep))
        return replace(self, missing=missing, ordinal=ordinal, categorical=categorical, keep=kept)


def _of(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def spells_out(function: _F) -> _F:
    """Let a function name the options that it takes as ``**columns``, in its signature and in errors."""
    signature, usual = inspect.signature(function), Encoding()
    others = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=kind.__forward_arg__, default=getattr(usual, name)
        )
        for name, kind in EncodingOptions.__annotations__.items()
    ]
    known = [each.name for each in (*others, *options) if each.kind is inspect.Parameter.KEYWORD_ONLY]

    @wraps(function)
    def checked(*tables: Any, **keywords: Any) -> Any:
        most = sum(each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in others)
        if len(tables) > most and function.__name__ in _MORE:
            raise TypeError(
                f"{function.__name__} takes {most} tables, {len(tables)} were passed; {_MORE[function.__name__]}"
            )
        unknown = [name for name in keywords if name not in signature.parameters and name not in known]
        if unknown:
            meant = _MEANT.get(unknown[0], "") or did_you_mean(unknown[0], known)
            raise TypeError(f"there is no option {unknown[0]!r}{meant}; it may be {listed(known, len(known))}")
        return function(*tables, **keywords)

    checked.__signature__ = signature.replace(parameters=[*others, *options])  # type: ignore[attr-defined]
    return cast("_F", checked)
