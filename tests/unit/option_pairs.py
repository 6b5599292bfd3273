"""Whether both of two options have an effect, for every pair of some options of a function."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

Run = Callable[..., str]
Values = Mapping[str, tuple[Any, ...]]


def outcome(run: Run, **options: Any) -> str | None:
    """Return what came out, None where the options are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(**options)
        except (ValueError, TypeError):
            return None


def silent_pairs(run: Run, options: Values, exceptions: Collection[frozenset[str]] = ()) -> list[str]:
    """Return the options that have an effect alone, and none beside another one that is no default."""
    plain, silent = outcome(run), []
    alone = {(name, k): outcome(run, **{name: value}) for name in options for k, value in enumerate(options[name])}
    for first, second in itertools.combinations(options, 2):
        if frozenset((first, second)) in exceptions:
            continue
        for (j, u), (k, v) in itertools.product(enumerate(options[first]), enumerate(options[second])):
            both = outcome(run, **{first: u, second: v})
            for own, at, other, other_at in ((first, j, second, k), (second, k, first, j)):
                if both is not None and both == alone[other, other_at] and alone[own, at] != plain:
                    silent.append(f"{own} beside {other}={options[other][other_at]!r}")
    return silent


def idle_options(run: Run, options: Values) -> list[str]:
    """Return the options that change nothing alone: a test of pairs would say nothing of them."""
    plain = outcome(run)
    return [name for name in options if all(outcome(run, **{name: value}) == plain for value in options[name])]
