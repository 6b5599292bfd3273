"""The first screen of a page: how large, what kind, which columns, and what to do next, each in a few words."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.words import count, cut, percent, signed, strength
from ...inference import TestResult
from ...inference.explain import EffectSize
from ...inference.wording import WEAK, brief
from ..comparison import ColumnDifference, Comparison
from ..comparison.column_words import (
    closeness,
    differing,
    groups,
    log_ratio,
    lone_categories,
    spread_in_words,
    spreads_of,
)
from ..dependence import Dependence
from .parts import COARSE

Overview = tuple[tuple[str, tuple[str, ...]], ...]
_SMALL = 0.02
"""An explained share below this is called small."""
_MUCH = 0.2
"""A gap of means, in standard deviations, that is not called small, or a change of the logarithm of a spread."""
MOST_NAMED, _LONGEST = 3, 60
CLOSENESS = (
    "To show that means are closer than a margin, which you choose beforehand, write equivalence=0.5, or "
    "equivalence={'age': 2} for single columns."
)
_AFTERWARDS = (
    "Then look at the rows that set the tables apart most: what they have in common, and whether they are errors."
)


def strip_of(result: Comparison, effect: EffectSize | None) -> Iterator[tuple[str, str]]:
    """Yield the figures of a comparison: rows, columns, blank cells, how many columns differ, how much, and p."""
    yield "rows", " and ".join(f"{size:,}" for size in result.sizes)
    yield "columns that differ", f"{len(differing(result)):,} of {len(result.columns):,}"
    yield "blank cells", f"{sum(sum(column.cells) for column in result.missing.columns):,}"
    if effect is not None:
        share = effect.explained
        value, low, high = (percent(max(end, 0.0)) for end in (share.value, share.low, share.high))
        yield "variation between the tables", f"{value} ({low} to {high})"
    yield "p", f"{result.test.pvalue:.3g}"


def of_comparison(result: Comparison, effect: EffectSize | None) -> Overview:
    """Return how large a difference is, of what kind, in which columns, and what to do next."""
    columns = differing(result)
    items = (
        _design(result),
        ("How large", tuple(_size(effect, result.differ()))),
        ("What kind of difference", _kind(result.test)),
        (
            "The columns that matter most",
            tuple(text for column in columns[:MOST_NAMED] for text in _about(result, column)),
        ),
        ("What to do next", tuple(_after_comparison(result, effect, bool(columns)))),
    )
    return tuple(item for item in items if item[1])


def _kind(test: TestResult) -> tuple[str, ...]:
    return () if test.kind is None else (f"{test.kind} A description, not a test.",)


def _design(result: Comparison | Dependence) -> tuple[str, tuple[str, ...]]:
    """Return what is assumed about the rows, if there is a design."""
    assumed = result.design.assumed()
    return "The design", (f"{assumed[0].upper()}{assumed[1:]}.",) if result.design else ()


def _size(effect: EffectSize | None, differ: bool) -> Iterator[str]:
    if effect is None:
        return
    share = effect.explained
    span = f"{100 * effect.level:.0f} % interval {percent(share.low)} to {percent(share.high)}"
    if differ:
        yield (
            f"Which table a row comes from explains {percent(max(share.value, 0.0))} of how rows vary over all columns "
            f"({span})."
        )
        yield "0 % is no difference; 100 % means that each table repeats one row of its own."
    else:
        yield "How large a difference may have been missed?"
        yield f"Which table a row comes from explains at most {percent(share.high)} of how rows vary ({span})."


def _about(result: Comparison, column: ColumnDifference) -> Iterator[str]:
    """Yield what a column is like in both tables, its shares of blank cells, and a category that one table lacks."""
    yield _column(result, column)
    (one, two), name = groups(result.names), brief(column.name)
    blank = result.missing.shares(column.name, result.sizes)
    if blank:
        first, second = map(percent, blank)
        yield f"{name}: {first} of the cells blank in {one}, {second} in {two}"
    yield from lone_categories(result, column)


def _column(result: Comparison, column: ColumnDifference) -> str:
    """Return what a column is like in both tables: its means, or its standard deviations where these differ more."""
    spreads = spreads_of(result, column)
    if spreads and abs(log_ratio(spreads)) > abs(column.gap):
        return spread_in_words(result, column, spreads)
    names, design = groups(result.names), result.design
    first, second = column.describe()
    within = "" if design.strata is None else " within strata"
    size = f"{signed(column.gap, '+z.2f')} standard deviations {result.sd_within}"
    gap = within and f" ({within[1:]})" if column.gap != column.gap else f" ({size})"  # nan: there is none
    of = "" if column.type.by_shares else "mean " if design.weights is None else "weighted mean "
    extreme = "".join(f"; the most extreme value in {each.name} is {each.extreme}" for each in spreads if each.extreme)
    return cut(f"{brief(column.name)}: {of}{first} in {names[0]}, {second} in {names[1]}{gap}{extreme}", 3 * _LONGEST)


def _after_comparison(result: Comparison, effect: EffectSize | None, columns: bool) -> Iterator[str]:
    if not result.differ():
        if columns:
            yield "Test the columns named here again on new rows before you act on them."
        elif result.test.smallest > result.level:
            yield "Collect more rows: with these, no difference could have been found."
        else:
            yield "Ask whether a difference as large as the intervals allow would matter. If so, compare more rows."
        if not closeness(result.columns):
            yield CLOSENESS
        return
    if effect is not None and effect.explained.value < _SMALL:
        yield f"Over all columns together the difference is small{_largest(result)}. Decide whether it matters."
    if columns:
        yield "See where these columns differ, in the pictures below."
    elif result.limits():
        yield "With so few rows or permutations no column can be found to differ: compare with more of them."
    else:
        yield "No column is shown to differ on its own, so look at how columns go together in either table."
    yield from (_AFTERWARDS,) if result.row_weights is None else ()


def _largest(result: Comparison) -> str:
    """Say which mean moved most, or which spread changed, where one did by much."""
    columns = differing(result)
    moved = max(columns, key=lambda column: -1.0 if column.gap != column.gap else abs(column.gap), default=None)
    if moved is not None and abs(moved.gap) >= _MUCH:
        size = f"{abs(moved.gap):.2f} standard deviations {result.sd_within}"
        return f", but the mean of {brief(moved.name)} moved by {size}"
    for column in columns:
        spreads = spreads_of(result, column)
        if spreads and abs(log_ratio(spreads)) >= _MUCH:
            return f", but the spread changed ({spread_in_words(result, column, spreads)})"
    return ""


def of_dependence(result: Dependence) -> Overview:
    """Return the strongest pairs, and what to do next."""
    strongest = result.worth_a_look()
    pairs = tuple(
        cut(f"{brief(pair.x)} and {brief(pair.y)}: {strength(pair.strength)}{pair.mark}", 2 * _LONGEST)
        for pair in strongest[:MOST_NAMED]
    )
    scale = (f"0 is independent, 1 the most. {COARSE}",) if pairs else ()
    together = result.test is not None and len(result.pairs) > 1 and result.target is None
    items = (
        _design(result),
        ("On all pairs", (result.on_pairs(),) if together else ()),
        ("The strongest pairs", (*pairs, *scale)),
        ("What to do next", tuple(_after_dependence(result))),
    )
    return tuple(item for item in items if item[1])


def _after_dependence(result: Dependence) -> Iterator[str]:
    pairs = result.worth_a_look()
    if not pairs:
        yield "No pair was found to depend on each other. More rows may show a weaker dependence."
        return
    weak = sum(pair.strength < WEAK for pair in pairs)
    yield "See what the strongest pairs look like, in the pictures below."
    if weak:
        verb = "has" if weak == 1 else "have"
        yield f"Of {count(len(pairs), 'pair')} {weak} {verb} a strength below {WEAK:g}."
        yield "A dependence is there, but it is faint, or it lies in a wave or a fine pattern: a picture shows which."
    yield "Dependence is not causation. A third column may move both."
