"""The page of public benchmarks, from what ``run.py`` kept."""

from __future__ import annotations

from dataclasses import dataclass

from methods import CHECKS, OURS, RESAMPLES, THEIR_RULE
from settings import HSICAGG, SETTINGS

COLUMNS = {
    "two samples": (
        "MMDAgg",
        "MMD-FUSE",
        "spectral MMD",
        "goodpoints ACTT",
        "goodpoints CTT",
        "dcor energy",
        "hyppo MMD",
        "scipy energy",
    ),
    "independence": ("HSICAgg", "dcor covariance", "hyppo Hsic", "hyppo MGC", "causal-learn KCI", "scipy xi"),
}
REBUILT = ("MMDAgg", "MMD-FUSE", "spectral MMD", "HSICAgg")
PRINTED_AS = {"goodpoints ACTT": "ACTT", THEIR_RULE: "spectral MMD"}
"""Methods by the names under which powers were published."""
RULE = """By `python benchmarks/public/run.py --check`. *Their rule* is that by which the powers of the spectral test
were published, with their kernel: a rejection where one of 35 statistics exceeds all of 300 permutations. In the
tables above it has a Gaussian kernel and a Bonferroni correction of exact p-values."""


@dataclass(frozen=True)
class Share:
    """A power: rejections of so many trials."""

    rejections: int
    trials: int

    @property
    def power(self) -> float:
        return self.rejections / self.trials

    @property
    def error(self) -> float:
        return (self.power * (1 - self.power) / self.trials) ** 0.5


def shares(rows: list[dict]) -> dict[tuple[str, str], Share]:
    """Add up the batches by setting and method."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for row in rows:
        key = row["setting"], row["method"]
        rejected, trials = counts.get(key, (0, 0))
        counts[key] = rejected + row["rejections"], trials + row["trials"]
    return {key: Share(*count) for key, count in counts.items()}


def short(power: float) -> str:
    return f"{power:.3f}".rstrip("0").rstrip(".").removeprefix("0") if 0 < power < 1 else f"{power:g}"


def cell(name: str, method: str, found: dict[tuple[str, str], Share]) -> str:
    """Return the power found here, and in brackets what the authors published for the same test."""
    share = found.get((name, method))
    printed = SETTINGS[name].published.get(PRINTED_AS.get(method, method))
    parts = [short(share.power) if share else "", f"({short(printed)})" if printed is not None else ""]
    return " ".join(part for part in parts if part)


def others(name: str, columns: list[str]) -> str:
    """Return the published powers of tests that have no column."""
    shown = {PRINTED_AS.get(method, method) for method in columns}
    return "; ".join(f"{test} {short(power)}" for test, power in SETTINGS[name].published.items() if test not in shown)


def verdict(share: Share | None, asked: float | None) -> str:
    if asked is None:
        return "not asked"
    if share is None:
        return f"{short(asked)}: not run"
    missed = f"**missed** by {short(asked - share.power)}"
    return f"{short(asked)}: {'met' if share.power >= asked else missed}"


def table(question: str, found: dict[tuple[str, str], Share]) -> list[str]:
    names = [name for name, setting in SETTINGS.items() if setting.question == question]
    columns = [method for method in COLUMNS[question] if any((name, method) in found for name in names)]
    lines = [
        f"| setting | kernelmean | asked | {' | '.join(columns)} | published, of others |",
        "|---|---|---|" + "---|" * (len(columns) + 1),
    ]
    for name in names:
        ours = found.get((name, OURS))
        mine = f"{short(ours.power)} ± {short(ours.error)}" if ours else ""
        cells = [cell(name, method, found) for method in columns]
        row = [name, mine, verdict(ours, SETTINGS[name].asked), *cells, others(name, columns)]
        lines.append(f"| {' | '.join(row)} |")
    trials = {
        method: sorted({found[name, method].trials for name in names if (name, method) in found})
        for method in (OURS, *columns)
    }
    words = [
        " to ".join(str(size) for size in dict.fromkeys((sizes[0], sizes[-1]))) if sizes else ""
        for sizes in trials.values()
    ]
    return [*lines, f"| trials | {words[0]} | | {' | '.join(words[1:])} | |"]


def lost(found: dict[tuple[str, str], Share]) -> list[str]:
    """Return where a test that was run here rejects more often than ours, by more than two standard errors."""
    lines = []
    for (name, method), share in found.items():
        ours = found.get((name, OURS))
        if ours is None or method in (OURS, THEIR_RULE):
            continue
        gap, error = share.power - ours.power, (share.error**2 + ours.error**2) ** 0.5
        if gap > 2 * error:
            lines.append(f"- {name}: {method} by {short(gap)} ± {short(error)}.")
    return lines or ["- nowhere."]


def check_table(rows: list[dict]) -> list[str]:
    """Return the rebuilt tests beside published powers, and the difference in standard errors of both."""
    found = shares(rows)
    lines = ["| test | setting | here | published | difference, in standard errors |", "|---|---|---|---|---|"]
    for method, names in CHECKS.items():
        for name in names:
            share, setting = found.get((name, method)), SETTINGS[name]
            if share is None:
                continue
            printed = setting.published[PRINTED_AS.get(method, method)]
            theirs = Share(round(printed * published_trials(name)), published_trials(name))
            apart = (share.power - printed) / (share.error**2 + theirs.error**2) ** 0.5
            mine = f"{short(share.power)} ± {short(share.error)} of {share.trials}"
            other = f"{short(printed)} ± {short(theirs.error)} of {theirs.trials}"
            lines.append(f"| {method} | {name} | {mine} | {other} | {apart:+.1f} |")
    return lines


def published_trials(name: str) -> int:
    return 100 if SETTINGS[name].source == HSICAGG else 200


def page(rows: list[dict]) -> str:
    """Return what was found as a page."""
    found = shares(rows)
    sections = [f"## {question.capitalize()}\n\n" + "\n".join(table(question, found)) for question in COLUMNS]
    about = [f"- {name}: {setting.text} ({setting.source})." for name, setting in SETTINGS.items()]
    head = f"""# Public benchmarks

Written by `python benchmarks/public/run.py --page`.

Settings of other authors' papers, drawn anew from their definitions. None took part in the design; an early look at 60
trials a setting, of other numbers, led to design cases with more rows. *kernelmean* is `mmd_test(X, Y)` or
`hsic_test(X, Y)` without any option, with its standard error. *Asked* is the power that was set as a target before it
was run, and whether it is met. Of the other tests, each cell has the power here on the same data sets as every other
one of them, and in brackets what was published for the same test on data sets of its authors'. No power is published as
a number for blobs and HDGM at these sizes.

MMDAgg, MMD-FUSE, HSICAgg and the spectral test are rebuilt from their definitions (`benchmarks/rebuilt/`), with
{RESAMPLES} to 1399 permutations where the authors have up to 2000; the others are the programs of their libraries."""
    return "\n\n".join(
        [
            head,
            *sections,
            "## Where another test finds more\n\nBy more than two standard errors, on different data sets:\n\n"
            + "\n".join(lost(found)),
            "## The rebuilt tests against published powers\n\n" + RULE + "\n\n" + "\n".join(check_table(rows)),
            "## The settings\n\n" + "\n".join(about),
        ]
    )
