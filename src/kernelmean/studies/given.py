"""Questions about tables given some of their columns: dependence of others, and differences of two tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..core.array import RngLike, as_rng
from ..core.cells import missing_cells
from ..core.table import Frame, Table
from ..core.words import listed
from ..inference import AdjustedDifference, AdjustedResult, ConditionalResult, Design, ci_test
from ..inference.given import adjusted_test
from ..inference.given.rows import crossed, strata_and_numbers, tables_of
from ..inference.null import ADJUSTMENTS, HOLM, adjusted, enough_for_holm
from ..inference.wording import short
from ..tables.columns import Encoded, Encoding, encode
from ..tables.columns.kinds import IS_MISSING, Coding
from .dependence.request import both_groups


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

    A group without names has all other columns. Given categories are strata, crossed; given numbers are regressed on.
    """
    if not x and not y:
        raise ValueError("given= stands alone, and needs a group of columns beside it: name x=, y= or both")
    if twice := sorted({name for name in (*x, *y, *given) if [*x, *y, *given].count(name) > 1}):
        raise ValueError(f"{listed(twice)} stands in more than one of x=, y= and given=; a column belongs to one group")
    x, y = both_groups(x, y, [name for name in table.names if name not in given])
    encoded = encode((table.select((*x, *y, *given)),), ("the table",), encoding)
    discrete, known = known_columns(encoded, given)
    left, right = _coordinates(encoded, x, "x"), _coordinates(encoded, y, "y")
    z = tables_of(encoded, known)[0] if known else None
    strata = crossed(encoded, discrete)[0] if discrete else None
    result = ci_test(left, right, z, strata=strata, n_resamples=n_resamples, rng=rng)
    notes = (*encoded.notes(), *encoded.repeated(), *result.notes)
    return replace(result, names=(listed(x), listed(y), listed(given)), notes=notes)


def _coordinates(encoded: Encoded, names: Iterable[str], group: str) -> Table:
    if not (varying := [name for name in names if name in encoded.groups]):
        raise ValueError(f"all columns of {group}= are constant; name one that varies")
    return tables_of(encoded, varying)[0]


def compare_given(
    A: Frame,
    B: Frame,
    given: Sequence[str],
    *,
    encoding: Encoding,
    n_resamples: int = 999,
    rng: RngLike = 0,
    adjustment: str = HOLM,
) -> AdjustedResult:
    """Compare two tables beyond what the columns ``given`` explain; see ``given`` of :func:`kernelmean.mmd_test`.

    Given categories are strata, crossed if there are several; given numbers and times are what is regressed on. All
    other columns are compared, together and each alone, those with the smallest p-values first.
    """
    A.select(given)  # raises if one is not there
    names = short(A.source), short(B.source)
    encoded = encode((A, B), names, encoding)
    discrete, known = known_columns(encoded, given)
    order = [name for name in encoded.in_table_order() if name not in given]
    if not order:
        raise ValueError("all columns that vary are given, so there is none to compare; give fewer of them")
    seeds = as_rng(rng).spawn(1 + len(order))

    def tested(rows: Encoded, some: Sequence[str], draws: int, seed: RngLike) -> AdjustedResult:
        design = Design(strata=crossed(rows, discrete) if discrete else None)
        (one, two), z = tables_of(rows, some), tables_of(rows, known) if known else None
        return adjusted_test(one, two, z, design=design, n_resamples=draws, rng=seed)

    def differences(coding: Coding) -> list[AdjustedDifference]:
        """Return those of a column in its units: of its mean, or of the shares of its categories, of known cells."""
        measured = coding.names if coding.category_weight is not None else coding.names[:1]
        by_name = {each.name: each for each in alone[coding.name].differences if each.name in measured}
        there = [~missing_cells(frame[coding.name]) for frame in encoded.frames]
        if not np.concatenate(there).all() and not all(name.endswith(IS_MISSING) for name in by_name):
            try:
                of_known = tested(encoded.where(there), [coding.name], 1, 0).differences
            except ValueError as error:
                raise ValueError(f"of the rows where {coding.name!r} is known: {error}") from error
            by_name |= {each.name: each for each in of_known if each.name in measured}
        gaps = [each.times(coding.scale) for each in by_name.values()]
        units = [coding.type.unit(max(abs(gap.raw), abs(gap.adjusted))) for gap in gaps]
        return [gap.times(1.0 / size, unit) for gap, (unit, size) in zip(gaps, units, strict=True)]

    together, enough = tested(encoded, order, n_resamples, seeds[0]), enough_for_holm(n_resamples, len(order))
    alone = {name: tested(encoded, [name], enough, seed) for name, seed in zip(order, seeds[1:], strict=True)}
    pvalues = dict(zip(order, adjusted([test.pvalue for test in alone.values()], adjustment), strict=True))
    results = [
        replace(each, pvalue=alone[coding.name].pvalue, adjusted_pvalue=pvalues[coding.name])
        for coding in encoded.codings
        if coding.name in alone
        for each in differences(coding)
    ]
    ranked = tuple(sorted(results, key=lambda each: each.pvalue))
    how = f"p-values of columns are adjusted by {ADJUSTMENTS[adjustment][0]}, {enough:,} random draws each"
    notes = (*encoded.notes(), *encoded.repeated(), *together.test.notes, how)
    test = replace(together.test, notes=notes, names=(*together.test.names[:2], listed(given)))
    return replace(together, test=test, differences=ranked, names=(*names, listed(given)))


def known_columns(encoded: Encoded, given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which given columns are strata, and which are regressed on."""
    if encoded.variances is not None:
        raise ValueError("missing='noise' does not go with given=; write missing='category', or 'drop'")
    if not any(name in encoded.groups for name in given):
        raise ValueError("all columns of given= are constant; name one that varies")
    return strata_and_numbers(encoded, given)
