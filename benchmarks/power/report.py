"""Tables and figures of the power study, from results/trials.jsonl.

``python benchmarks/power/report.py`` writes docs/evidence/power.md, the table of the README, and with matplotlib the
figures docs/figures/power_*.svg. It prints which of the three rules hold that decide whether the adaptive test is a
good default.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cases import CASES
from data_cases import DESIGN, HELD_OUT
from peers import PEERS
from run import LEVELS, OF_DATA, read

from kernelmean.studies import plots

DOCS, README = (Path(__file__).parents[2] / name for name in ("docs", "README.md"))
BLOCK = re.compile(r"(?<=<!-- power -->\n).*?(?=<!-- /power -->)", flags=re.DOTALL)
ASKED = {"two samples": "do two tables differ?", "independence": "do two variables depend?"}
PARTS = {True: "held-out cases", False: "cases of the design"}
"""What cases are called that took no part in the design of the adaptive test, and those that did."""
WHERE_PLAIN = ("shift d=1", "dcor energy")
"""A case, and a test of one kernel that finds more in it than the default."""
NEAREST = 2
"""How many peers the README shows of every question."""
REBUILT = ("MMDAgg", "MMD-FUSE", "spectral MMD", "HSICAgg")
"""Peers that are written anew from their definitions."""
KINDS = {"two samples": ("adaptive MMD", "MMD kme"), "independence": ("adaptive HSIC", "HSIC kme")}
NOTES = {
    "two samples": " For unequal samples the statistic of CTT is not MMD: it rises if the smaller sample is the wider"
    " one, and is blind if it is the narrower one.",
    "independence": " KCI uses a gamma approximation, with a default bandwidth that fits few columns; xi is a test for"
    " two columns.",
}
ADAPTING = ("goodpoints ACTT", "hyppo MGC", "MMDAgg", "MMD-FUSE", "spectral MMD", "HSICAgg")
"""Peers that choose more from the data than a bandwidth."""

STUDIED = 500
"""Trials from this one on repeat single cases, and count in no other table."""

LEAST = 50
"""Fewer trials than this are not shown."""


class Study:
    """Rejections at 0.05 by case and method."""

    def __init__(self, rows: list[dict]) -> None:
        self.decisions: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        self.counts: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros(len(LEVELS), dtype=int))
        self.resamples = sorted({row["resamples"] for row in rows})
        for row in rows:
            if "trials" not in row:
                continue
            key = row["case"], row["method"]
            self.decisions[key][row["first"]] = f"{int(row['decisions'], 16):0{row['trials']}b}"
            self.counts[key] += [row["rejections"][str(level)] for level in LEVELS]

    def bits(self, case: str, method: str) -> np.ndarray:
        """Return one 0 or 1 a trial, in the order of the trials."""
        parts = self.decisions.get((case, method), {})
        return np.array([int(bit) for first in sorted(parts) for bit in parts[first]])

    def power(self, case: str, method: str) -> float:
        bits = self.bits(case, method)
        return float(bits.mean()) if len(bits) >= LEAST else np.nan

    def deviation(self, case: str, method: str) -> float:
        bits = self.bits(case, method)
        return float(np.sqrt(bits.mean() * (1 - bits.mean()) / len(bits))) if len(bits) else np.nan

    def gap(self, case: str, method: str, other: str) -> tuple[float, float]:
        """Return the difference of two powers on the trials that both have seen, and its standard error."""
        one, two = self.bits(case, method), self.bits(case, other)
        both = min(len(one), len(two))
        if not both:
            return np.nan, np.nan
        difference = one[:both] - two[:both]
        return float(difference.mean()), float(difference.std() / np.sqrt(both))

    def trials(self, kind: str, method: str) -> str:
        """Return how many there are of a case, as text."""
        sizes = {len(self.bits(case.name, method)) for case in of(kind)} - {0}
        return f"{min(sizes)}" if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"

    def known(self, method: str, cases: list) -> bool:
        """Whether a method was run on any of some cases."""
        return any(len(self.bits(case.name, method)) >= LEAST for case in cases)

    def methods(self, kind: str) -> list[str]:
        names = {method for case, method in self.decisions if CASES[case].kind == kind}
        present = [name for name in names if any(len(self.bits(case.name, name)) >= LEAST for case in of(kind))]
        return sorted(present, key=lambda name: (not name.startswith(KINDS[kind][0]), name in PEERS, name))


def of(kind: str, *, null: bool = False) -> list:
    return [case for case in CASES.values() if case.kind == kind and case.null == null]


def cell(value: float, best: float) -> str:
    if np.isnan(value):
        return ""
    text = f"{value:.2f}".removeprefix("0") if value < 1 else "1"
    return f"**{text}**" if value >= best - 0.005 else text


def power_table(study: Study, kind: str) -> list[str]:
    methods = study.methods(kind)
    lines = [f"| case | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
    for case in of(kind):
        row = [study.power(case.name, method) for method in methods]
        mark = " ◦" if case.held_out else ""
        lines.append(f"| {case.name}{mark} | " + " | ".join(cell(value, np.nanmax(row)) for value in row) + " |")
    for title, chosen in (("mean", of(kind)), ("mean ◦", [case for case in of(kind) if case.held_out])):
        means = [np.mean([study.power(case.name, method) for case in chosen]) for method in methods]
        lines.append(f"| {title} | " + " | ".join(cell(value, np.nanmax(means)) for value in means) + " |")
    return [*lines, f"| trials | {' | '.join(study.trials(kind, method) for method in methods)} |"]


def fixed(study: Study, kind: str) -> list[str]:
    """Return the methods that choose nothing from the data but a bandwidth."""
    return [method for method in study.methods(kind) if not method.startswith((KINDS[kind][0], *ADAPTING))]


def verdict_table(study: Study, kind: str) -> list[str]:
    ours, plain = KINDS[kind]
    lines = ["| case | adaptive | best fixed method | difference | to the plain test |", "|---|---|---|---|---|"]
    for case in of(kind):
        best = max(fixed(study, kind), key=lambda method: np.nan_to_num(study.power(case.name, method), nan=-1.0))
        (gap, error), (plain_gap, plain_error) = (study.gap(case.name, ours, other) for other in (best, plain))
        mine = f"{study.power(case.name, ours):.3f} ± {study.deviation(case.name, ours):.3f}"
        theirs = f"{best} {study.power(case.name, best):.3f}"
        flag = " ✗" if gap < -0.03 else ""
        lines.append(
            f"| {case.name} | {mine} | {theirs} | {gap:+.3f} ± {error:.3f}{flag} | {plain_gap:+.3f} ± {plain_error:.3f}"
            f"{' ✗' if plain_gap < -2 * plain_error - 1e-12 else ''} |"
        )
    return lines


def repeated(study: Study, again: Study, kind: str) -> list[str]:
    """Return the differences of cases that were looked at again, on data sets that had no part in picking them."""
    ours, plain = KINDS[kind]
    lines = []
    for case in of(kind):
        for other in again.methods(kind)[1:]:
            if len(again.bits(case.name, other)):
                before, after = (each.gap(case.name, ours, other) for each in (study, again))
                words = " | ".join(f"{gap:+.3f} ± {error:.3f}" for gap, error in (before, after))
                mark = " ✗" if after[0] < (-2 * after[1] if other == plain else -0.03) else ""
                lines.append(f"| {case.name} | {other} | {words}{mark} | {len(again.bits(case.name, other))} |")
    if not lines:
        return []
    head = "| case | other test | adaptive above it | on other data sets | of them |"
    return [
        "This table repeats some cases, most of them marked ✗, with the best other test and the plain one. The data"
        " sets above picked these cases; the data sets of the fourth column, marked by the same rules, did not.",
        "",
        head,
        "|---|---|---|---|---|",
        *lines,
        "",
    ]


@dataclass(frozen=True)
class Rules:
    """What is asked of a default test, and where it fails: lines of text, none where a rule holds."""

    near_best: list[str]
    above_plain: list[str]
    above_peers: list[str]

    @classmethod
    def of(cls, study: Study, kind: str) -> Rules:
        ours, plain = KINDS[kind]
        near, above = [], []
        for case in of(kind):
            rivals = [method for method in fixed(study, kind) if not np.isnan(study.power(case.name, method))]
            for rival in rivals:
                gap, error = study.gap(case.name, ours, rival)
                if gap < -0.03:
                    near.append(f"{case.name}: {gap:+.3f} ± {error:.3f} to {rival}")
            gap, error = study.gap(case.name, ours, plain)
            if gap < -2 * error - 1e-12:
                above.append(f"{case.name}: {gap:+.3f} ± {error:.3f}")
        peers = [
            f"{peer}: {average.gap:+.3f} on {PARTS[held_out]}"
            for held_out in PARTS
            for peer, average in averages(study, kind, held_out=held_out).items()
            if average.gap <= 0
        ]
        return cls(near, above, peers)

    def lines(self, kind: str) -> list[str]:
        """Return one line for every rule."""
        ours, plain = KINDS[kind]
        texts = (
            (f"{ours} within 0.03 of every method that adapts at most a bandwidth, in every case", self.near_best),
            (f"{ours} never more than two standard errors below {plain}", self.above_plain),
            (f"{ours} above every peer on average, on {' and on '.join(PARTS.values())} alike", self.above_peers),
        )
        return [f"- {text}: {'**no**: ' + '; '.join(fails) if fails else 'yes'}." for text, fails in texts]


@dataclass(frozen=True)
class Average:
    """The mean power of a peer over some cases, how far the adaptive test lies above it on the same trials."""

    cases: int
    power: float
    gap: float
    error: float

    @property
    def above(self) -> str:
        return f"{self.gap:+.3f} ± {self.error:.3f}"


def averages(study: Study, kind: str, *, held_out: bool) -> dict[str, Average]:
    """Return an average for every peer, over those of the cases held out, or of the others, to which it applies."""
    ours, found = KINDS[kind][0], {}
    for peer in (method for method in study.methods(kind) if method in PEERS):
        cases = [case.name for case in of(kind) if case.held_out == held_out]
        served = [name for name in cases if not np.isnan(study.power(name, peer))]
        gaps, errors = np.array([study.gap(name, ours, peer) for name in served]).T
        mean = float(np.mean([study.power(name, peer) for name in served]))
        found[peer] = Average(len(served), mean, float(gaps.mean()), float(np.linalg.norm(errors) / len(errors)))
    return found


def average_table(study: Study, kind: str) -> list[str]:
    head = " | ".join(f"{PARTS[held_out]} | its mean power | the adaptive test above it" for held_out in PARTS)
    lines = [f"| peer | {head} |", "|---" * 7 + "|"]
    held_out, others = (averages(study, kind, held_out=part) for part in PARTS)
    for peer in held_out:
        both = (f"{each.cases} | {each.power:.3f} | {each.above}" for each in (held_out[peer], others[peer]))
        lines.append(f"| {peer} | {' | '.join(both)} |")
    return lines


def in_short(study: Study) -> str:
    """Return the table of the README: of every question the peers that come nearest to the default where it is new.

    That is on the cases held out. Below stands the case that shows best what many kernels cost.
    """
    lines = [
        f"| question | test of another library | {PARTS[True]} | its power | kernelmean | gain | {PARTS[False]} | gain"
        " |",
        "| --- " * 8 + "|",
    ]
    for kind, asked in ASKED.items():
        held_out, others = (averages(study, kind, held_out=part) for part in PARTS)
        for peer in sorted(held_out, key=lambda name: held_out[name].gap)[:NEAREST]:
            new, old, star = held_out[peer], others[peer], "\\*" if peer in REBUILT else ""
            lines.append(
                f"| {asked} | {peer}{star} | {new.cases} | {new.power:.3f} | {new.power + new.gap:.3f} | {new.above} |"
                f" {old.cases} | {old.above} |"
            )
    return "\n".join([*lines, "", plain_is_better(study)]) + "\n"


def plain_is_better(study: Study) -> str:
    """Return a sentence on a case in which a test of one kernel finds more than the default."""
    case, plain = WHERE_PLAIN
    theirs, ours = (study.power(case, method) for method in (plain, KINDS["two samples"][0]))
    return (
        f"Where only the mean of one column moves, a plain test finds more: the energy distance of dcor {theirs:.2f},"
        f" kernelmean {ours:.2f}."
    )


def level_table(study: Study, kind: str) -> list[str]:
    methods, cases = study.methods(kind), of(kind, null=True)
    heads = [f"{case.name}, {level}" for case in cases for level in LEVELS]
    lines = [f"| method | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for method in methods:
        row = []
        for case in cases:
            trials = len(study.bits(case.name, method))
            rates = study.counts[case.name, method] / trials if trials else np.full(len(LEVELS), np.nan)
            row += ["" if np.isnan(rate) else f"{rate:.3f}" for rate in rates]
        lines.append(f"| {method} | " + " | ".join(row) + " |")
    return lines


def figure(study: Study, kind: str, path: Path) -> None:
    """Draw one dot per method and case."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    ours, plain = KINDS[kind]
    cases = sorted(of(kind), key=lambda case: study.power(case.name, ours) - study.power(case.name, plain))
    shown = [method for method in study.methods(kind) if not method.startswith(f"{ours},")]
    colors = colormaps["tab20"]
    axes = Figure(figsize=(8, 0.26 * len(cases) + 1.2), layout="constrained").add_subplot()
    for method in shown:
        style = {"marker": "D", "s": 46, "color": "black", "zorder": 3} if method == ours else {"s": 18}
        if method != ours:
            style |= {"marker": "o" if method in PEERS else "^", "color": colors(shown.index(method))}
        axes.scatter([study.power(case.name, method) for case in cases], range(len(cases)), label=method, **style)
    axes.set_yticks(range(len(cases)), [case.name for case in cases], fontsize=8)
    axes.set(xlabel="power at level 0.05", xlim=(0, 1.02))
    axes.grid(axis="y", linewidth=0.3)
    axes.figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    plots.save(axes, path)


def section(study: Study, again: Study, kind: str) -> list[str]:
    return [
        f"## {kind.capitalize()}",
        "",
        *Rules.of(study, kind).lines(kind),
        "",
        f"![Power]({'../figures/power_' + kind.replace(' ', '_') + '.svg'})",
        "",
        f"The table gives the power at level 0.05 with {study.resamples[-1]} permutations; the best of each row is in "
        "bold. ◦ marks cases that took no part in the design of the adaptive test. A cell is blank if a method does "
        "not apply (several columns) or was not run.",
        "",
        *power_table(study, kind),
        "",
        "This table compares the adaptive test with the best method that adapts at most a bandwidth, and with the "
        "plain test at the median bandwidth; standard errors are paired. ✗ marks more than 0.03 below the former, or "
        "more than two standard errors below the latter. The best of many methods was picked on the same trials, which "
        "favors it." + NOTES[kind],
        "",
        *verdict_table(study, kind),
        "",
        *repeated(study, again, kind),
        "On average over the cases to which a peer applies, those held out (◦) and those of the design apart:",
        "",
        *average_table(study, kind),
        "",
        "Rejections where the null hypothesis holds:",
        "",
        *level_table(study, kind),
        "",
        *[f"- {case.name}: {case.text}." for case in of(kind) + of(kind, null=True)],
        "",
    ]


def of_data(study: Study) -> list[str]:
    """Return the tables of data that people have, those for design and those held out apart."""
    if not study.decisions:
        return []
    lines = [
        "## Data that people have",
        "",
        "Heaped and rounded values, many zeros, angles, limits of detection, a few odd rows, few rows beside many; and "
        "losses that the default had before its members were last chosen. Half of the cases took part in that "
        "choice. The others, marked ◦, were written down before it, are of another making, and no change was made for "
        "them; they are run again whenever members change. "
        "`python benchmarks/power/run.py --data` runs them. A cell is blank if a method was not run.",
        "",
    ]
    for kind in KINDS:
        cases = [case for case in (DESIGN | HELD_OUT).values() if case.kind == kind]
        offered = (KINDS[kind][0], *REBUILT, KINDS[kind][1])
        methods = [name for name in offered if study.known(name, cases)]
        lines += [f"| {kind} | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
        for case in cases:
            row = [study.power(case.name, method) for method in methods]
            mark = " ◦" if case.held_out else ""
            lines.append(f"| {case.name}{mark} | " + " | ".join(cell(value, np.nanmax(row)) for value in row) + " |")
        for held_out, title in ((False, "mean"), (True, "mean ◦")):
            whole = [
                [study.power(case.name, method) for method in methods] for case in cases if case.held_out == held_out
            ]
            means = np.mean([row for row in whole if not np.isnan(row).any()], axis=0)
            lines.append(f"| {title} | " + " | ".join(cell(value, means.max()) for value in means) + " |")
        trials = {len(study.bits(case.name, method)) for case in cases for method in methods} - {0}
        lines += ["", f"{' to '.join(map(str, sorted(trials)))} trials. Means are over the cases that all have.", ""]
        lines += [f"- {case.name}: {case.text}." for case in cases]
        lines.append("")
    return lines


def write_readme(study: Study) -> None:
    """Put the table into the README."""
    README.write_text(BLOCK.sub(lambda _: in_short(study), README.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    rows = read()
    study = Study([row for row in rows if row["first"] < STUDIED])
    again = Study([row for row in rows if row["first"] >= STUDIED])
    head = [
        "# Power study",
        "",
        "Written by `benchmarks/power/report.py` from what `benchmarks/power/run.py` found.",
        "",
        "How often does a test find a difference or a dependence that is there? This page compares the default test, "
        "called *adaptive* here, with tests of other libraries (*peers*) and with tests of one kernel. The adaptive "
        "test has about twenty kernels and one p-value; [Speed and memory of the tests](speed.md) says how many "
        "times as long as one kernel it takes. The cases are of our choice. "
        "MMDAgg, MMD-FUSE, HSICAgg and a spectral regularised MMD are in no "
        "package index. We rebuilt them from their definitions (`benchmarks/rebuilt/`), and "
        "[Public benchmarks](public-benchmarks.md) compares them with published powers. "
        "ACTT, CTT, MMDAgg and HSICAgg decide at level 0.05 and have the same "
        "decisions at other levels. The spectral test, with a Bonferroni correction, has no p-value below 0.025. "
        "Tests of the variance-preserving estimator, which had the most power where two samples of few columns differ "
        "by a shift (.76 and .74 in one and two), are no longer part of the package, and of this page.",
        "",
    ]
    kinds = [kind for kind in KINDS if study.methods(kind)]
    for kind in kinds:
        print(f"{kind}:", *Rules.of(study, kind).lines(kind), sep="\n")
    pages = [line for kind in kinds for line in section(study, again, kind)]
    text = "\n".join([*head, *pages, *of_data(Study(read(OF_DATA)))])
    (DOCS / "evidence" / "power.md").write_text(text.rstrip() + "\n", encoding="utf-8")
    write_readme(study)
    try:
        (DOCS / "figures").mkdir(exist_ok=True)
        for kind in kinds:
            figure(study, kind, DOCS / "figures" / f"power_{kind.replace(' ', '_')}.svg")
    except ImportError:
        print("matplotlib is not installed: no figures")


if __name__ == "__main__":
    main()
