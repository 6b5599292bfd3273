"""Dependence of columns of a table, given others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..core.array import Array, RngLike
from ..core.table import Frame
from ..core.words import listed
from ..inference import ConditionalResult, ci_test
from ..tables.columns import Encoded, Encoding, encode


def dependence_given(
    table: Frame,
    x: Sequence[str],
    y: Sequence[str],
    given: Sequence[str],
    *,
    encoding: Encoding,
    n_resamples: int = 999,
    rng: RngLike = 0,
) -> ConditionalResult:
    """Test whether groups of columns are independent given others; see :func:`kernelmean.ci_test`.

    Given categories are strata, crossed if there are several; given numbers and times are what is regressed on.
    """
    if not x or not y:
        raise ValueError("given needs both groups, x and y; name the columns of each")
    twice = sorted({name for name in (*x, *y, *given) if [*x, *y, *given].count(name) > 1})
    if twice:
        raise ValueError(f"{listed(twice)} stands in more than one of x, y and given; a column belongs to one group")
    encoded = encode((table.select((*x, *y, *given)),), ("the table",), encoding)
    discrete, known = known_columns(encoded, given)
    result = ci_test(
        _coordinates(encoded, x, "x"),
        _coordinates(encoded, y, "y"),
        encoded.coordinates(known)[0] if known else None,
        strata=crossed(encoded, discrete)[0] if discrete else None,
        n_resamples=n_resamples,
        rng=rng,
    )
    return replace(result, names=(listed(x), listed(y), listed(given)), notes=(*encoded.notes(), *result.notes))


def _coordinates(encoded: Encoded, names: Iterable[str], group: str) -> Array:
    varying = [name for name in names if name in encoded.groups]
    if not varying:
        raise ValueError(f"all columns of {group} are constant; name one that varies")
    return encoded.coordinates(varying)[0]


def known_columns(encoded: Encoded, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which given columns are strata, and which are regressed on."""
    if encoded.variances is not None:
        raise ValueError("missing='noise' does not go with given; write missing='category', or 'drop'")
    if not any(name in encoded.groups for name in given):
        raise ValueError("all columns of given are constant; name one that varies")
    discrete = [each.name for each in encoded.codings if each.category_weight is not None and each.name in given]
    return discrete, [name for name in given if name in encoded.groups and name not in discrete]


def crossed(encoded: Encoded, names: Iterable[str]) -> tuple[list[int], ...]:
    """Return the number of the combination of categories that every row of every table has."""
    tables = encoded.coordinates(names)
    numbers = np.unique(np.concatenate(tables), axis=0, return_inverse=True)[1].ravel()
    return tuple(part.tolist() for part in np.split(numbers, np.cumsum([len(table) for table in tables])[:-1]))
