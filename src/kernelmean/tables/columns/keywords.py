"""The options of an encoding as keywords of the functions that take them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ...core.words import did_you_mean, listed
from .encoding import Encoding, EncodingOptions

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


def spells_out(function: _F) -> _F:
    """Let a function name the options that it takes as ``**columns``, in its signature and in errors."""
    own, usual = inspect.signature(function), Encoding()
    others = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=kind.__forward_arg__, default=getattr(usual, name)
        )
        for name, kind in EncodingOptions.__annotations__.items()
    ]
    known = [each.name for each in (*others, *options) if each.kind is inspect.Parameter.KEYWORD_ONLY]

    @wraps(function)
    def checked(*tables: Any, **given: Any) -> Any:
        most = sum(each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in others)
        if len(tables) > most and function.__name__ in _MORE:
            raise TypeError(
                f"{function.__name__} takes {most} tables, {len(tables)} were passed; {_MORE[function.__name__]}"
            )
        unknown = [name for name in given if name not in own.parameters and name not in known]
        if unknown:
            meant = _MEANT.get(unknown[0], "") or did_you_mean(unknown[0], known)
            raise TypeError(f"there is no option {unknown[0]!r}{meant}; it may be {listed(known, len(known))}")
        return function(*tables, **given)

    checked.__signature__ = own.replace(parameters=[*others, *options])  # type: ignore[attr-defined]
    return cast("_F", checked)
