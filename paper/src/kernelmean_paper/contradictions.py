"""Where the paper's printed tables contradict its text, each other, or what a count of trials can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from .paper import TABLE1, TABLE2, TABLE3, TABLE4, PrintedTable
from .verdicts import agreement
from .wording import listed

TRIALS = 200
"""The trials of every cell of the HSIC table."""
CLEARLY = 3.0
"""Two printed means contradict each other from this many standard errors on."""
DUPLICATES = 2.0
"""Two columns have too many equal numbers from this many times those of any other two columns on."""
_OURS = frozenset({"MKME", "MMKME"})
_NAMED = frozenset({"glass", "specft"})
"""The sets that the text of the paper names as exceptions to those that MKME and MMKME win."""


@dataclass(frozen=True)
class Contradiction:
    """A statement about printed numbers; ``cells`` describes those that contradict something."""

    number: int
    """In docs/errata.md."""
    statement: str
    rule: str
    cells: tuple[str, ...]


def wrong_bold(table: PrintedTable, *, lowest: bool = True) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the rows whose bold numbers are not the best: which are bold, and which are the best."""
    found = {}
    for key, row in table.values.items():
        goal = min(row.values()) if lowest else max(row.values())
        best = frozenset(name for name, value in row.items() if value == goal)
        if best != table.bold[key]:
            found[key] = (table.bold[key], best)
    return found


def won_by_others(table: PrintedTable) -> list[str]:
    """Return the rows whose smallest number belongs to neither MKME nor MMKME."""
    return [key for key, row in table.values.items() if min(row, key=row.__getitem__) not in _OURS]


def impossible_shares(table: PrintedTable, trials: int) -> list[tuple[str, str, float]]:
    """Return the cells (row, estimator, value) that are not a multiple of 1/trials."""
    cells = [(key, name, value) for key, row in table.values.items() for name, value in row.items()]
    return [cell for cell in cells if abs(cell[2] * trials - round(cell[2] * trials)) > 1e-6]


def falling_power(table: PrintedTable) -> list[tuple[str, str, float, float]]:
    """Return (row, estimator, power, next power) where power falls as the level grows.

    The p-value of a trial does not depend on the level. So a test that rejects at one level rejects at every larger
    one, if the trials are the same; that is an assumption, because the paper does not say so.
    """
    keys = [key.split() for key in table.values]
    shares = sorted({share for _, share in keys}, key=float)
    levels = sorted({level for level, _ in keys}, key=float)
    found = []
    for share in shares:
        for low, high in pairwise(levels):
            before, after = table.values[f"{low} {share}"], table.values[f"{high} {share}"]
            falls = [name for name in before if after[name] < before[name]]
            found += [(f"{high} {share}", name, before[name], after[name]) for name in falls]
    return found


def beyond_neighbors(values: Mapping[float, float], at: float, found: float) -> float:
    """Return how far a number is outside the range of those at the nearest smaller and larger keys, 0 inside it."""
    below = values[max(key for key in values if key < at)]
    above = values[min(key for key in values if key > at)]
    return max(min(below, above) - found, found - max(below, above), 0.0)


def excesses() -> dict[str, float]:
    """Return how far the NLL at d = 10, n = 100 is outside the range of those at n = 90 and 120 of the other table."""
    return {
        name: beyond_neighbors({float(n): row[name] for n, row in TABLE2.values.items()}, 100.0, found)
        for name, found in TABLE1.values["10"].items()
    }


def equal_cells(table: PrintedTable, one: str, other: str) -> list[str]:
    """Return the rows in which two estimators have the same number."""
    return [key for key, row in table.values.items() if row[one] == row[other]]


def _bold_words() -> tuple[str, ...]:
    """Return every row of the four tables whose bold numbers are not the best."""
    tables = {"dimensions": TABLE1, "sample sizes": TABLE2, "density": TABLE3, "HSIC": TABLE4}
    return tuple(
        f"{title}, {key}: bold {listed(sorted(bold))}, the best is {listed(sorted(best))}: "
        + " and ".join(f"{table.values[key][name]:.4f}" for name in sorted(bold | best))
        + f" of {listed(sorted(bold | best))}"
        for title, table in tables.items()
        for key, (bold, best) in wrong_bold(table, lowest=table is not TABLE4).items()
    )


def _cell(key: str) -> str:
    level, share = key.split()
    return f"α = {level}, η = {share}"


def contradictions() -> tuple[Contradiction, ...]:
    """Return what these functions find in the printed tables, with nothing added by hand; see also `misfit`."""
    return (_bold_faces(), _exceptions(TABLE3), _shares(TABLE4), _falls(TABLE4), _duplicates(TABLE4))


def _bold_faces() -> Contradiction:
    return Contradiction(
        8,
        "Bold numbers that are not the best",
        "the bold cells of a row are not exactly the best number: the smallest NLL, the largest power",
        _bold_words(),
    )


def _exceptions(table: PrintedTable) -> Contradiction:
    others = set(won_by_others(table))
    unnamed = tuple(f"{key}: another's number is the smallest, but it is not named" for key in sorted(others - _NAMED))
    won = tuple(f"{key}: named, but the smallest number is of MKME or MMKME" for key in sorted(_NAMED - others))
    return Contradiction(
        8,
        "Density table: the sets that MKME and MMKME do not win are not the ones that the text names",
        f"{listed(sorted(_NAMED))} are named; the smallest number of one of them is of MKME or MMKME, or that of a set "
        "not named is another's",
        unnamed + won,
    )


def _shares(table: PrintedTable) -> Contradiction:
    return Contradiction(
        9,
        f"HSIC table: powers that are no multiple of 1/{TRIALS}",
        f"the number times {TRIALS} trials is no integer",
        tuple(
            f"{_cell(key)}, {name}: {value:.3f} is {value * TRIALS:.4g} trials"
            for key, name, value in impossible_shares(table, TRIALS)
        ),
    )


def _falls(table: PrintedTable) -> Contradiction:
    return Contradiction(
        9,
        "HSIC table: power falls where the level grows",
        "the power of an estimator at a larger α is below that at the next smaller one, same η; impossible if the "
        "levels were tried on the same trials, which the paper does not say; with trials of their own the difference "
        "is as many standard errors as stated",
        tuple(
            f"{_cell(key)}, {name}: {before:.3f} falls to {after:.3f} "
            f"({abs(agreement(after, TRIALS, before, TRIALS)):.1f} standard errors if every level had its own trials)"
            for key, name, before, after in falling_power(table)
        ),
    )


def _duplicates(table: PrintedTable) -> Contradiction:
    """Return the rows in which MKME has KME's number, if there are far more of them than for any other two columns."""
    same = equal_cells(table, "KME", "MKME")
    pairs = {pair: len(equal_cells(table, *pair)) for pair in combinations(next(iter(table.values.values())), 2)}
    (nearest, most), *_ = sorted(
        ((pair, shared) for pair, shared in pairs.items() if pair != ("KME", "MKME")), key=lambda item: -item[1]
    )
    return Contradiction(
        9,
        "HSIC table: MKME has the very numbers of KME in many rows, and not in the others",
        f"they agree in more than {DUPLICATES:g} times as many rows as any other two columns ({listed(nearest)}: "
        f"{most}), but not in all",
        tuple(f"{_cell(key)}: {table.values[key]['KME']:.3f} of both" for key in same)
        if DUPLICATES * most < len(same) < len(table.values)
        else (),
    )


def misfit(error: float) -> Contradiction:
    """Return the estimators whose row d = 10, n = 100 does not fit the other table, given the error of a difference."""
    return Contradiction(
        10,
        "Tables on t-distributions: d = 10, n = 100 does not fit between n = 90 and n = 120",
        "the NLL at n = 100 lies outside those at n = 90 and n = 120 of the other table by more than "
        f"{CLEARLY:g} standard errors of a difference, of at least one estimator",
        tuple(
            f"{name}: {TABLE1.values['10'][name]:.4f}, but {TABLE2.values['90'][name]:.4f} and "
            f"{TABLE2.values['120'][name]:.4f}: {excess:.2f} outside, {excess / error:.1f} standard errors"
            for name, excess in excesses().items()
            if excess > CLEARLY * error
        ),
    )
