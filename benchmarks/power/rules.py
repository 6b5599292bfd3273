"""Other rules than today's to combine the members' statistics, on the cases of the design alone: prints tables.

    python benchmarks/power/rules.py run [--trials 100] [--folder FOLDER]
    python benchmarks/power/rules.py report [--folder FOLDER]

``run`` keeps the standardized statistics of all members under all permutations, fifty data sets of a case at a time, in
a folder that is not committed; it goes on where it was stopped. ``report`` applies every rule to the same statistics. A
rule is a function of these that treats the observed permutation like all others, so the rank of what it makes of it is
an exact p-value. No rule has a number that was fitted here; three degrees of shrinkage are shown where there is one.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from cases import CASES
from design_cases import FIRST_TRIAL_OF_CASES
from learn import LEVEL, Question
from scipy.special import logsumexp
from scipy.stats import rankdata

from kernelmean.inference import Resampling
from kernelmean.inference.adaptive.many_kernels import evidence, standardized

BATCH, PERMUTATIONS, SHRINKAGES = 50, 300, (0.05, 0.3, 0.7)
MUCH = 0.05
"""A case that differs by more than this is counted."""
NAMED = (
    "blobs", "pu2 k1", "pu2 k2 n500", "pu2 k3", "waves d=2 k=1",
    "shift d1 n15", "shift d=1", "shift d1 n500", "one skewed of 6", "skewness", "skew n400",
    "one pair of 25, line", "one pair of 25, square",
)  # fmt: skip
"""Cases of the kinds in which the default is farthest from what was asked."""

Array = np.ndarray[Any, Any]


def drawn(question: Question) -> dict[str, Callable[[int], tuple[Array, Array]]]:
    """Return a function from a trial to its data for every case of the design, and for those without a difference."""
    null = {case.name: case for case in CASES.values() if case.null and case.kind == question.name}
    return question.cases() | {name: lambda t, c=case: c.data(FIRST_TRIAL_OF_CASES + t) for name, case in null.items()}


def run(folder: Path, trials: int) -> None:
    """Keep the statistics of all cases, the first batches of all of them first."""
    for first in range(0, trials, BATCH):
        for question in (Question("two samples"), Question("independence")):
            for name, draw in drawn(question).items():
                file = folder / question.name / f"{name} {first:04}.npz"
                if not file.exists():
                    file.parent.mkdir(parents=True, exist_ok=True)
                    found = [kept(question, draw(t), t) for t in range(first, first + BATCH)]
                    values, weights = zip(*found, strict=True)
                    several = max(table.shape[1] for table in draw(first)) > 1
                    np.savez(file, values=np.float32(values), weights=weights, several=several)


def kept(question: Question, data: tuple[Array, Array], seed: int) -> tuple[Array, Array]:
    """Return the standardized statistics of a data set, NaN of members that see nothing, and today's weights."""
    rows = question.statistics(*data, Resampling.of("auto", PERMUTATIONS - 1, seed))
    return np.where(np.isnan(rows), np.nan, standardized(rows)), question.todays_weights(*data)


# -- rules -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Members:
    """The statistics of the members that take part in a test, shape (m, P); of each its weight, kind and name, (m,)."""

    scores: Array
    weights: Array
    kinds: Array
    names: Array
    several: bool
    """Whether a table has several columns."""

    @cached_property
    def evidence(self) -> Array:
        """-log p of approximate p-values, as in the default test."""
        return evidence(self.scores)

    @cached_property
    def pvalues(self) -> Array:
        return np.clip(np.exp(-self.evidence), 1e-300, 1.0)

    @cached_property
    def ranks(self) -> Array:
        """The permutation p-value of every statistic."""
        return rankdata(-self.scores, method="max", axis=1) / self.scores.shape[1]

    @property
    def equal(self) -> Array:
        return np.full(len(self.weights), 1 / len(self.weights))

    @cached_property
    def by_kind(self) -> Members:
        """The kinds as members: of each the harmonic mean of its members, with all of their weight."""
        own = [self.kinds == name for name in dict.fromkeys(self.kinds)]
        rows = standardized(np.stack([harmonic(self.evidence[some], self.weights[some]) for some in own]))
        return replace(self, scores=rows, weights=np.array([self.weights[some].sum() for some in own]))

    def correlation(self, shrinkage: float) -> Array:
        """The correlation over the permutations, shrunk towards none."""
        return (1 - shrinkage) * np.corrcoef(self.scores) + shrinkage * np.eye(len(self.scores))

    def decorrelated(self, shrinkage: float) -> Array:
        """R^{-1/2} z."""
        values, vectors = np.linalg.eigh(self.correlation(shrinkage))
        return (vectors / np.sqrt(values)) @ vectors.T @ self.scores


def harmonic(evidence: Array, weights: Array) -> Array:
    return logsumexp(evidence + np.log(weights)[:, None], axis=0)


def by_columns(own: Members, single: float, curved: float) -> Array:
    """Return today's rule, with other weights where there are several columns.

    What looks at columns or pairs of them one by one counts ``single`` times as much, waves and clusters ``curved``
    times.
    """
    alone = np.char.find(own.names, "one ") >= 0
    times = np.where(alone, single, np.where(np.isin(own.kinds, ("curve", "local")), curved, 1.0))
    return harmonic(own.evidence, own.weights * times if own.several else own.weights)


def cauchy(p: Array, weights: Array) -> Array:
    return weights @ np.where(p < 1e-8, 1 / (np.pi * p), np.tan(np.pi * (0.5 - np.minimum(p, 1 - 1e-6))))


def whitened(own: Members, shrinkage: float) -> Array:
    """Return zᵀ R⁻¹ z, as in MMD-DUAL."""
    return (own.scores * np.linalg.solve(own.correlation(shrinkage), own.scores)).sum(axis=0)


def whitened_selected(own: Members, shrinkage: float) -> Array:
    """Return zᵀ R⁻¹ z of the members with a positive statistic, which are others under every permutation."""
    chosen = own.scores.T > 0
    between = np.where(chosen[:, :, None] & chosen[:, None, :], own.correlation(shrinkage), np.eye(len(own.scores)))
    some = np.where(chosen, own.scores.T, 0.0)
    return (some * np.linalg.solve(between, some[:, :, None])[:, :, 0]).sum(axis=1)


def whitened_positive(own: Members, shrinkage: float) -> Array:
    return np.square(np.maximum(own.decorrelated(shrinkage), 0.0)).sum(axis=0)


def whitened_harmonic(own: Members, shrinkage: float) -> Array:
    return harmonic(evidence(standardized(own.decorrelated(shrinkage))), own.weights)


def ascending(p: Array, weights: Array) -> tuple[Array, Array]:
    """Return p-values in ascending order, and the weight of those up to each."""
    order = np.argsort(p, axis=0)
    share = np.cumsum(weights[order], axis=0)
    return np.clip(np.take_along_axis(p, order, 0), 1e-12, 1 - 1e-9), np.minimum(share, 1 - 1e-9)


def higher_criticism(p: Array, weights: Array) -> Array:
    """Return the largest standardized excess of small p-values, among the smaller half of them (Donoho & Jin)."""
    p, share = ascending(p, weights)
    excess = (share - p) / np.sqrt(p * (1 - p))
    excess[1:][share[1:] > 0.5] = -np.inf
    return excess.max(axis=0)


def berk_jones(p: Array, weights: Array) -> Array:
    """Return the largest divergence between the share of small p-values and what is expected (Berk & Jones)."""
    p, share = ascending(p, weights)
    divergence = share * np.log(share / p) + (1 - share) * np.log((1 - share) / (1 - p))
    return np.where(share > p, divergence, 0.0).max(axis=0)


RULES: dict[str, Callable[[Members], Array]] = {
    "today: harmonic mean, learned weights": lambda own: harmonic(own.evidence, own.weights),
    "harmonic mean, equal weights": lambda own: harmonic(own.evidence, own.equal),
    "Cauchy, learned weights": lambda own: cauchy(own.pvalues, own.weights),
    "Cauchy, equal weights": lambda own: cauchy(own.pvalues, own.equal),
    "smallest p / learned weight": lambda own: (own.evidence + np.log(own.weights)[:, None]).max(axis=0),
    "largest standardized statistic": lambda own: own.scores.max(axis=0),
    "higher criticism, learned weights": lambda own: higher_criticism(own.pvalues, own.weights),
    "higher criticism": lambda own: higher_criticism(own.pvalues, own.equal),
    "higher criticism of ranks": lambda own: higher_criticism(own.ranks, own.equal),
    "Berk-Jones, learned weights": lambda own: berk_jones(own.pvalues, own.weights),
    "Berk-Jones": lambda own: berk_jones(own.pvalues, own.equal),
    "Berk-Jones of ranks": lambda own: berk_jones(own.ranks, own.equal),
    "two levels, learned weights": lambda own: harmonic(own.by_kind.evidence, own.by_kind.weights),
    "two levels, kinds alike": lambda own: harmonic(own.by_kind.evidence, own.by_kind.equal),
    "two levels, higher criticism": lambda own: higher_criticism(own.by_kind.pvalues, own.by_kind.weights),
}
for text, rule in (
    ("whitened", whitened),
    ("whitened, positive members", whitened_selected),
    ("whitened, positive part", whitened_positive),
    ("whitened, then today's rule", whitened_harmonic),
):
    RULES |= {f"{text}, shrunk by {own:g}": partial(rule, shrinkage=own) for own in SHRINKAGES}
for single, curved in ((2, 1), (1, 0.5), (1, 0.25), (2, 0.5), (3, 0.25)):
    RULES[f"several columns: single ones times {single:g}, curves and places times {curved:g}"] = partial(
        by_columns, single=single, curved=curved
    )
TODAY, SINGLE = next(iter(RULES)), "single members"


# -- what they find ----------------------------------------------------------------------------------------------------


def rejects(combined: Array) -> bool:
    return bool((combined >= combined[0] - 1e-9 * (1 + abs(combined[0]))).mean() <= LEVEL + 1e-9)


def decided(question: Question, file: Path) -> dict[str, Array]:
    """Return whether every rule, and every single member, rejects in the data sets of a file."""
    data, found = np.load(file), {name: [] for name in (*RULES, SINGLE)}
    for values, weights in zip(data["values"], data["weights"], strict=True):
        seen = ~np.isnan(values[:, 0])
        part = seen & (weights > 0.0)
        own = Members(
            values[part].astype(float),
            weights[part] / weights[part].sum(),
            question.kinds[part],
            np.array(question.names)[part],
            bool(data["several"]),
        )
        for name, rule in RULES.items():
            found[name].append(rejects(rule(own)))
        found[SINGLE].append([rejects(row) if sees else np.nan for row, sees in zip(values, seen, strict=True)])
    return {name: np.array(own, float) for name, own in found.items()}


def line(rule: str, cases: Mapping[str, Mapping[str, Array]], null: Mapping[str, Mapping[str, Array]]) -> str:
    """Return the mean power of a rule, its differences from today's, and its rejections where nothing differs."""
    gap = {name: own[rule] - own[TODAY] for name, own in cases.items()}
    mean = {name: own.mean() for name, own in gap.items()}
    error = np.sqrt(sum(own.var() / len(own) for own in gap.values())) / len(gap)
    least, most = (pick(mean, key=mean.__getitem__) for pick in (min, max))
    power, level = (np.mean([own[rule].mean() for own in of.values()]) for of in (cases, null))
    cells = [f"{np.mean(list(mean.values())):+.3f} ± {error:.3f}"]
    cells += [str(sum(side * own > MUCH for own in mean.values())) for side in (-1, 1)]
    cells += [f"{name} {mean[name]:+.2f}" for name in (least, most)]
    return " | ".join([rule, f"{power:.3f}", *(cells if rule != TODAY else [""] * 5), f"{level:.3f}"])


def named(name: str, case: Mapping[str, Array], members: Sequence[str]) -> str:
    """Return what the best single member and the best other rule find in a case."""
    single, power = case[SINGLE].mean(axis=0), {rule: case[rule].mean() for rule in RULES}
    best, rule = np.nanargmax(single), max(list(RULES)[1:], key=power.__getitem__)
    return f"{name} | {members[best]} | {single[best]:.2f} | {power[TODAY]:.2f} | {rule} | {power[rule]:.2f}"


def table(heads: str, lines: Iterable[str]) -> None:
    print(f"\n| {heads} |\n|{'---|' * (heads.count('|') + 1)}", *(f"| {own} |" for own in lines), sep="\n")


def report(folder: Path) -> None:
    """Print for either question a table of the rules, and one of named cases."""
    for question in (Question("two samples"), Question("independence")):
        parts: dict[str, list[dict[str, Array]]] = {}
        for file in sorted((folder / question.name).glob("*.npz")):
            parts.setdefault(file.stem[:-5], []).append(decided(question, file))
        found = {
            name: {key: np.concatenate([one[key] for one in own]) for key in own[0]} for name, own in parts.items()
        }
        null = {name: own for name, own in found.items() if name in CASES and CASES[name].null}
        cases = {name: own for name, own in found.items() if name not in null}
        sizes = " or ".join(map(str, sorted({len(own[TODAY]) for own in found.values()})))
        best = np.mean([np.nanmax(own[SINGLE].mean(axis=0)) for own in cases.values()])
        print(f"\n{question.name}: {len(cases)} cases, {sizes} data sets; the best member of every case {best:.3f}")
        table(
            "rule | power | difference | lower | higher | lowest | highest | level",
            (line(rule, cases, null) for rule in RULES),
        )
        table(
            "case | best member | its power | today | best other rule | its power",
            (named(name, cases[name], question.names) for name in NAMED if name in cases),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--trials", type=int, default=100, help="of every case")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "kernelmean_rules")
    options = parser.parse_args()
    if options.what == "run":
        run(options.folder, options.trials)
    else:
        report(options.folder)


if __name__ == "__main__":
    main()
