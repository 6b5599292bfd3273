"""What the level study found, as a page: counts, and whole distributions of p-values, adjusted for their number.

    python benchmarks/levels/report.py > docs/evidence/levels.md

A test over P arrangements has p-values k/P. Without ties each k is equally likely, so that counts up to a level are
binomial with probability floor(αP)/P and counts between steps multinomial; with ties p-values are larger at most. Ties
are there in discrete data, and in tiny samples, whose few arrangements are drawn twice: of 5 and 5 rows there are 126
that differ, and 45 of 100 tests draw none of them equal to the one observed. The shrinkage estimators of dependence
estimate 0, whole, for about half of all arrangements of independent data: large p-values tie as well.

Each count has an exact binomial tail, each distribution a chi-squared test (with ties the smallest of its binomial
tails above, times their number). A family passes when no probability, by Holm's method for all of it, is below 0.01.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import binom, chi2

from kernelmean.inference.null import holm

sys.path.insert(0, str(Path(__file__).parent))
from bins import BINNED
from defaults import DEFAULTS, MANY
from missing import CASES, COLUMNS
from study import CONDITIONS, ESTIMATORS, LEVELS, TIES, AnyCell, cells, read

LIMIT = 0.01
VANISHING = ("scose", "fcose")
"""Estimators whose statistic is 0 for many arrangements."""
FEWEST = 5.0
"""Bins in which fewer p-values are expected are joined with the next."""


def tied(row: dict) -> bool:
    """Return whether arrangements may tie: the data are discrete, or the arrangements so few that they are repeated."""
    if "tied" in row:
        return bool(row["tied"])
    sizes = row["sizes"]
    arrangements = math.factorial(sizes[0]) if len(sizes) == 1 else math.comb(sum(sizes), sizes[0])
    return row["law"] in TIES or arrangements < MANY


def tail(row: dict, level: str) -> float:
    """Return the probability of a count as extreme, two-sided without ties, one-sided with."""
    count, trials, p = row["counts"][level], row["trials"], row["attained"][level]
    above = float(binom.sf(count - 1, trials, p))
    below = float(binom.cdf(count, trials, p))
    return above if tied(row) or p == 0.0 else min(1.0, 2 * min(above, below))


def uniformity(row: dict) -> float:
    """Return the probability that p-values are spread so unevenly, of a row whose distribution was kept."""
    counts, shares = (np.array(one) for one in row["cumulated"])
    trials = row["trials"]
    if tied(row) or row["estimator"] in VANISHING:
        tails = binom.sf(counts - 1, trials, shares)
        return float(min(1.0, len(tails) * tails.min()))
    found, wanted = joined(np.diff([0, *counts, trials]), trials * np.diff([0.0, *shares, 1.0]))
    if len(found) < 2:
        return 1.0
    return float(chi2.sf(np.sum((found - wanted) ** 2 / wanted), len(found) - 1))


def joined(found: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join bins from the left until each has enough; p-values where none can be are kept by the next bin."""
    ends, total = [], 0.0
    for index, share in enumerate(wanted):
        total += share
        if total >= FEWEST:
            ends.append(index)
            total = 0.0
    starts = [0, *(end + 1 for end in ends[:-1])] if ends else [0]
    return np.add.reduceat(found, starts), np.add.reduceat(wanted, starts)


def verdict(what: str, tails: Sequence[float], names: Sequence[str]) -> str:
    """Return a sentence on a family of probabilities."""
    adjusted = holm(tails)
    wrong, worst = int((adjusted < LIMIT).sum()), int(np.argmin(tails))
    said = "**pass**" if wrong == 0 else f"**fail**, {wrong} of them"
    return (
        f"{what}: {said}. The smallest probability of {len(tails)} is {tails[worst]:.2g}, adjusted for their number "
        f"{adjusted[worst]:.2g} ({with_commas(names[worst])})."
    )


def with_commas(name: str) -> str:
    """Return the name of a cell with numbers as pages have them: 3,000+200."""
    return re.sub(r"\d{4,}", lambda number: f"{int(number[0]):,}", name)


def table() -> None:
    served = [row for row in read() if row.get("served", True)]
    rows = of_today(served)
    checks = checked(rows)
    kept = [row for row in rows if "cumulated" in row]
    print(
        "# Levels of the tests\n\nDo the tests raise false alarms no more often than they promise? `study.py run` "
        "measures it, and"
    )
    print(
        "`python benchmarks/levels/report.py` wrote this page. [Calibration](calibration.md) says how counts are "
        "judged.\n"
    )
    trials = Counter(row["trials"] for row in rows).most_common()
    measured = " and ".join(f"{many} of {each:,} null data sets" for each, many in trials)
    print(f"{len(rows)} cells are measured, {measured}. For {len(kept)} the whole distribution of p-values is kept.")
    known = {row["key"]: row for row in read()}
    print(f"{listed_cells([cell for cell in cells() if cell.key not in known])} still to be measured.")
    dated = [cell for cell in cells() if known.get(cell.key, {}).get("dated")]
    if dated:
        print(f"{listed_cells(dated)} still to be measured again.")
        print(
            "Their figures (†) were measured before samples were tested by units, or with other members of the default "
            "test, and are not judged."
        )
    print()
    verdicts(checks, kept)
    outside = sorted((check for check in checks if check[2] < 0.001), key=lambda check: check[2])
    print(
        f"- Counts outside their exact 99.9 % interval: {len(outside)} of {len(checks)}; at most "
        f"{len(checks) / 1000:.1f} are expected by chance.\n"
    )
    for row, level, p in outside:
        share = row["counts"][level] / row["trials"]
        side = "too often" if share > float(level) else "too seldom, which breaks no promise"
        print(f"  - {with_commas(row['key'])}, level {level}: {share:.4f}, probability {p:.2g}: {side}")
    print(
        "\nThe table gives the share of p-values up to 0.05, with 99 permutations: the mean over schemes (lowest to "
        "highest).\n"
    )
    heads = list(CONDITIONS["two samples"])
    for test, conditions in CONDITIONS.items():
        described = (f"{one}: {law}, {'+'.join(map(str, sizes))}" for one, (law, sizes) in conditions.items())
        print(f"- {test}, distribution and rows: {'; '.join(described)}")
    print("\nNormal and binary data have two columns; heavy tails are Cauchy.\n")
    print("| test | estimator | " + " | ".join(heads) + " |\n| --- | --- |" + " --- |" * len(heads))
    for test, estimators in ESTIMATORS.items():
        for name in estimators:
            conditions = [CONDITIONS[test].get(condition) for condition in heads]
            print(f"| {test} | {name} | " + " | ".join(_shares(served, test, name, one) for one in conditions) + " |")


def of_today(rows: Sequence[dict]) -> list[dict]:
    """Return the rows that were measured with the members of today."""
    return [row for row in rows if not row.get("dated")]


def checked(rows: Sequence[dict]) -> list[tuple[dict, str, float]]:
    """Return the probability of every count."""
    return [(row, level, tail(row, level)) for row in rows for level in map(str, LEVELS)]


def verdicts(checks: Sequence[tuple[dict, str, float]], kept: Sequence[dict]) -> None:
    """Print what is to be said of some counts, and of the rows whose distributions were kept."""
    names = [f"{row['key']}, level {level}" for row, level, _ in checks]
    print("- " + verdict(f"Counts at the levels {listed()}", [p for *_, p in checks], names))
    if kept:
        tails = [uniformity(row) for row in kept]
        print("- " + verdict("Distributions of p-values", tails, [row["key"] for row in kept]))


def listed_cells(some: Sequence[AnyCell]) -> str:
    """Return how many there are of every test and estimator, as the beginning of a sentence."""
    named = Counter(" ".join(cell.key.split(" | ")[:2]) for cell in some)
    each = ", ".join(f"{many} of {what}" for what, many in named.items())
    return f"{len(some)} cells{f' ({each})' * bool(each)} are"


def default_tests() -> None:
    """Print the cells of the default tests, and what is to be said of these alone."""
    rows = {row["key"]: row for row in read()}
    mine = [rows[cell.key] for cell in DEFAULTS if cell.key in rows]
    print(
        "\n## The default tests\n\nThese are the tests without an estimator or a kernel: `mmd_test(X, Y)`, "
        "`hsic_test(X, Y)`,\n`k_sample_test(X, Y, Z)` and `dhsic_test(X, Y, Z)`, also with a "
        f"design. {len(mine)} of {len(DEFAULTS)} cells are measured, {len(of_today(mine))} of them with the members of "
        "today, which are judged.\nDistributions and designs are those of "
        "`tests/null_data.py`. If p-values may tie (*ties* in the table), only the upper bound is checked.\n"
    )
    if of_today(mine):
        verdicts(checked(of_today(mine)), of_today(mine))
        print()
    print_cells(
        ["test", "rows", "data", "ties"],
        [
            (rows.get(cell.key), cell.test, " + ".join(map(str, cell.rows)), cell.data, "ties" if cell.tied else "")
            for cell in DEFAULTS
        ],
    )


def tests_in_bins() -> None:
    """Print the cells of tests in bins, and what is to be said of these alone."""
    rows = {row["key"]: row for row in read()}
    mine = [rows[cell.key] for cell in BINNED if cell.key in rows]
    print(
        '\n## Tests in bins\n\nAbove 20,000 rows the default tests use `scheme="bins"`. Here they use it on fewer rows,'
        "\nso that bins are small and many rows are left over, and on 100,000 rows against 300. If p-values may tie, "
        "or rows\ndrift alike in both samples (*ties* in the table), only the upper bound is checked.\n"
    )
    if of_today(mine):
        verdicts(checked(of_today(mine)), of_today(mine))
        print()
    print_cells(
        ["test", "rows", "distribution, order", "ties"],
        [
            (
                rows.get(cell.key),
                cell.test,
                " + ".join(map(str, cell.sizes)),
                f"{cell.law}, {cell.order}",
                "ties" * cell.tied,
            )
            for cell in BINNED
        ],
    )


def tables_with_missing_cells() -> None:
    """Print the cells of ``compare`` and ``dependence``, each with its shares and the exact intervals of these."""
    rows = {row["key"]: row for row in read()}
    print(
        "\n## Tables with blank cells\n\nThis is the joint test of `compare` and `dependence`. Each column has its own "
        "rule and its own share of\nblank cells. All columns are independent, and blank cells are drawn "
        "independently.\n"
    )
    for name, (law, _) in COLUMNS.items():
        print(f"- {name}: {law}")
    print()
    print_cells(
        ["test", "estimator", "rows", "columns, rules, shares"],
        [(rows.get(case.key), case.test, case.estimator, " + ".join(map(str, case.sizes)), case.law) for case in CASES],
    )


def print_cells(heads: Sequence[str], cells: Sequence[tuple]) -> None:
    """Print a table of cells: the row of a result or None, then what stands under the heads, then the shares."""
    bounds = (f"up to {level:g} (99.9 % interval)" for level in LEVELS)
    print(f"| {' | '.join([*heads, *bounds])} |\n|{' --- |' * (len(heads) + len(LEVELS))}")
    for row, *described in cells:
        shares = ["not measured"] * len(LEVELS) if row is None else [share(row, str(level)) for level in LEVELS]
        print(f"| {' | '.join([*described, *shares])} |")


def share(row: dict, level: str) -> str:
    """Return the share of p-values up to a level, and where it is with 99.9 % in a test of exactly that level."""
    trials, p = row["trials"], row["attained"][level]
    low, high = binom.ppf([0.0005, 0.9995], trials, p) / trials
    return f"{row['counts'][level] / trials:.4f} ({low:.4f} to {high:.4f}){' †' * ('dated' in row)}"


def listed() -> str:
    return ", ".join(map(str, LEVELS))


def _shares(rows: list[dict], test: str, estimator: str, condition: tuple | None) -> str:
    if condition is None:
        return "–"
    wanted = (test, estimator, condition[0], list(condition[1]))
    mine = [row for row in rows if (row["test"], row["estimator"], row["law"], row["sizes"]) == wanted]
    recent = [row for row in mine if not row.get("dated")] or mine
    shares = [row["counts"]["0.05"] / row["trials"] for row in recent]
    dated = " †" * any("dated" in row for row in recent)
    return f"{np.mean(shares):.4f} ({min(shares):.3f} to {max(shares):.3f}){dated}" if shares else "not measured"


if __name__ == "__main__":
    table()
    default_tests()
    tests_in_bins()
    tables_with_missing_cells()
