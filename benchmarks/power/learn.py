"""Weights of the default members, learned on random problems and on the cases of the design: prints a table.

    python benchmarks/power/learn.py run [--question independence] [--problems 4000] [--trials 60]
    python benchmarks/power/learn.py fit [--question independence] [--without MEMBER ...]

``run`` keeps what every member found in random problems (``prior.py``) and in the design cases, batch by batch, in a
folder beside this file that is not committed; it goes on where it was stopped. ``fit`` maximizes a smooth form of the
mean power of the harmonic mean at level .05 by its gradient, starting at today's weights and held near them by a
penalty. Half of the design cases are left out in turn, so the power that is shown is that of cases a fit has not seen.
The table in the package has these weights, rounded, and smoothed where neighboring sizes differ by chance.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from data_cases import DESIGN
from design_cases import design_cases
from prior import draw_pairs, draw_two_samples

from kernelmean.inference import Adaptive, Design, Resampling
from kernelmean.inference.adaptive.candidates import ViewSource
from kernelmean.inference.adaptive.default_members import (
    INDEPENDENCE,
    PAIR_NUMBERS,
    SAMPLE_SIZES,
    TWO_SAMPLES,
    independence_members,
    two_sample_members,
)
from kernelmean.inference.adaptive.many_kernels import _per_member, evidence, standardized
from kernelmean.inference.adaptive.member import PairMember
from kernelmean.inference.questions import Pairs, TwoSamples

KEPT = Path(__file__).parent / "learned"
PERMUTATIONS, BATCH, LEVEL = 300, 100, 0.05
FIRST_TRIAL = 70_000
TWICE = "shift", "trend"
"""Families and cases of shifts and trends, which users meet most, count twice."""
LEAST, EPOCHS, PENALTY = 0.15, 25, 0.001

Array = np.ndarray[Any, Any]


class Question:
    """Two samples or two variables: members, their names and weights, and how a problem is drawn."""

    def __init__(self, name: str) -> None:
        self.name, self.two = name, name == "two samples"
        rows = TWO_SAMPLES if self.two else INDEPENDENCE
        self.sizes = np.array(SAMPLE_SIZES[:5] if self.two else PAIR_NUMBERS)
        looks = [(row, (row.look,) if self.two else tuple(PairMember(*pair) for pair in row.looks)) for row in rows]
        self.members = [member for _, own in looks for member in own]
        self.names = [row.name for row, own in looks for _ in own]
        self.kinds = np.array([row.group for row, own in looks for _ in own])
        self.weights = np.array(
            [np.array(row.weights[: len(self.sizes)]) / len(own) for row, own in looks for _ in own]
        )
        self.far = np.array([row.weight_in_clusters if self.two else 0.0 for row, own in looks for _ in own])
        self.test, self.kind = (TwoSamples, "u") if self.two else (Pairs, "v")
        self.draw = draw_two_samples if self.two else draw_pairs

    def cases(self) -> dict[str, Any]:
        """Return a function from a trial to its data for every case of the design."""
        data = {case.name: case for case in DESIGN.values() if case.kind == self.name}
        return design_cases(self.name) | {
            name: lambda t, c=case: c.data(FIRST_TRIAL + t) for name, case in data.items()
        }

    def statistics(self, x: Array, y: Array, how: Resampling) -> Array:
        """Return the statistics of every member under all permutations, NaN of those that see nothing."""
        null, members, counts = self.test.of([x, y], Design()).evaluated(Adaptive(members=self.members), self.kind, how)
        rows = _per_member(null, counts)
        out, places = np.full((len(self.members), rows.shape[1]), np.nan), iter(range(len(self.members)))
        for member, row in zip(members, rows, strict=True):
            out[next(k for k in places if _same(self.members[k], member))] = row
        return np.where(np.ptp(out, axis=1, keepdims=True) > 0.0, out, np.nan)

    def size(self, x: Array, y: Array) -> tuple[float, float]:
        """Return the rows that decide on weights, and how surely rows lie in far clusters."""
        if not self.two:
            return len(x), 0.0
        pooled = np.vstack([x, y])
        some = np.arange(0, len(pooled), max(1, len(pooled) // 256))
        return 2 / (1 / len(x) + 1 / len(y)), ViewSource(pooled).table(some).clustered

    def todays_weights(self, x: Array, y: Array) -> Array:
        """Return the weight of every member in the default test, 0 of those that take no part."""
        size, clustered = self.size(x, y)
        members = two_sample_members(size, clustered) if self.two else independence_members(size)
        weights = {replace(own, weight=1.0, group=""): own.weight for own in members}
        return np.array([weights.get(replace(own, weight=1.0, group=""), 0.0) for own in self.members])

    def found(self, x: Array, y: Array, seed: int) -> tuple[Array, tuple[float, float]]:
        """Return the evidence of every member under the first permutations, and what decides on weights."""
        rows = self.statistics(x, y, Resampling.of("auto", PERMUTATIONS - 1, seed))
        rows = rows[:, :PERMUTATIONS]
        varies = np.ptp(rows, axis=1, keepdims=True) > 0.0
        return np.where(varies, evidence(standardized(rows)), np.nan).astype(np.float16), self.size(x, y)


def _same(member: Any, found: Any) -> bool:
    """Whether a member is the one that was found; in a single column scores stand in for some views."""
    pairs = zip(member.sides, found.sides, strict=True)
    return all(a.kernel == b.kernel and a.ridge == b.ridge and b.view in (a.view, "scores") for a, b in pairs)


def run(question: Question, problems: int, trials: int) -> None:
    """Keep the evidence of random problems and of design cases."""
    folder = KEPT / question.name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    jobs: dict[str, Iterator[tuple[str, Array, Array]]] = {
        f"prior {first}": (question.draw(seed) for seed in range(first, first + BATCH))
        for first in range(0, problems, BATCH)
    }
    jobs |= {f"case {name}": drawn(name, draw, trials) for name, draw in question.cases().items()}
    for name, job in jobs.items():
        file = folder / f"{name.replace('/', '-')}.npz"
        if not file.exists():
            parts = [(family, *question.found(x, y, seed)) for seed, (family, x, y) in enumerate(job)]
            families, kept, sizes = zip(*parts, strict=True)
            np.savez(file, families=families, evidence=np.stack(kept), sizes=np.array(sizes))
            print(name, flush=True)


def drawn(name: str, draw: Any, trials: int) -> Iterator[tuple[str, Array, Array]]:
    """Yield the name of a case and its data sets."""
    for trial in range(trials):
        yield name, *draw(trial)


def hats(question: Question, sizes: Array) -> Array:
    """Return the shares of every size in the weights of a problem: linear in the logarithm."""
    knots = np.log(question.sizes)
    place = np.clip(np.log(sizes), knots[0], knots[-1])
    return np.stack([np.interp(place, knots, one) for one in np.eye(len(knots))], axis=1)


def combined(values: Array, logs: Array) -> tuple[Array, Array]:
    """Return log Σ w / p of problems, (b, P), and the share of every member, (b, m, P)."""
    terms = values + logs[:, :, None]
    top = terms.max(axis=1, keepdims=True)
    terms = np.exp(terms - top)
    total = terms.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], terms / total


def fitted(values: Array, shares: Array, counts: Array, start: Array) -> Array:
    """Return log weights (m, sizes) by stochastic gradient ascent on the mean smooth power."""
    rng, logs = np.random.default_rng(0), start.copy()
    mean, square, step = np.zeros_like(logs), np.zeros_like(logs), 0
    places = [int(PERMUTATIONS * (1 - LEVEL)) + k for k in (-4, -2, 0, 2, 4)]
    for epoch in range(EPOCHS):
        for some in np.array_split(rng.permutation(len(values)), max(1, len(values) // 400)):
            whole, own = combined(values[some].astype(np.float32), (shares[some] @ logs.T).astype(np.float32))
            order, each = np.argsort(whole[:, 1:], axis=1) + 1, np.arange(len(some))
            gap = np.mean([whole[:, 0] - whole[each, order[:, k]] for k in places], axis=0)
            turn = own[:, :, 0] - np.mean([own[each, :, order[:, k]] for k in places], axis=0)
            found = 1 / (1 + np.exp(-gap / 0.7))
            slope = -((found * (1 - found) * counts[some])[:, None] * turn).T @ shares[some] / len(some)
            slope += PENALTY * (logs - start)
            step += 1
            mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
            rate = 0.04 * (1 - 0.9 * epoch / EPOCHS)
            logs -= rate * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-6)
    return logs


def power(question: Question, values: Array, shares: Array, clustered: Array, logs: Array) -> Array:
    """Return which problems the harmonic mean finds, with the fixed weights of far clusters mixed in."""
    found = []
    for part in np.array_split(np.arange(len(values)), max(1, len(values) // 400)):
        weights = np.exp(shares[part] @ logs.T)
        weights *= 100 / weights.sum(axis=1, keepdims=True)
        weights = (1 - clustered[part, None]) * weights + clustered[part, None] * question.far
        whole, _ = combined(values[part].astype(np.float32), np.log(np.maximum(weights, 1e-12)).astype(np.float32))
        found.append((whole >= whole[:, :1] - 1e-6).mean(axis=1) <= LEVEL)
    return np.concatenate(found)


def fit(question: Question, without: Sequence[str]) -> None:
    """Print the power of fits on cases they have not seen, and the weights of a fit on all."""
    files = sorted((KEPT / question.name.replace(" ", "_")).glob("*.npz"))
    kept = [np.load(file) for file in files]
    values = np.concatenate([one["evidence"] for one in kept])
    values = np.where(np.isnan(values), -np.inf, values)
    values[:, np.isin(question.names, without)] = -np.inf
    families = np.concatenate([one["families"] for one in kept])
    sizes, clustered = np.concatenate([one["sizes"] for one in kept]).T
    prior = np.concatenate(
        [np.full(len(one["families"]), file.name[0] == "p") for file, one in zip(files, kept, strict=True)]
    )
    shares = hats(question, sizes)
    counts = np.where([any(word in own for word in TWICE) for own in families], 2.0, 1.0)
    counts[~prior] *= prior.sum() / max(1, (~prior).sum())
    start = np.log(np.maximum(question.weights, LEAST))
    usable = clustered == 0.0
    half = np.array([zlib.crc32(str(own).encode()) % 2 == 0 for own in families])
    unseen = np.zeros(len(values), bool)
    for side in (half, ~half):
        chosen = usable & (prior | side)
        logs = fitted(values[chosen], shares[chosen], counts[chosen], start)
        rest = ~prior & ~side
        unseen[rest] = power(question, values[rest], shares[rest], clustered[rest], logs)
    today = power(question, values, shares, clustered, np.log(np.maximum(question.weights, 1e-12)))
    for family in np.unique(families[~prior]):
        own = ~prior & (families == family)
        print(f"{family:28} {today[own].mean():.2f} {unseen[own].mean():.2f}")
    means = [
        np.mean([of[~prior & (families == own)].mean() for own in np.unique(families[~prior])])
        for of in (today, unseen)
    ]
    print(f"design cases: {means[0]:.3f} with today's weights, {means[1]:.3f} with weights fitted to other cases")
    logs = fitted(values[usable], shares[usable], counts[usable], start)
    for name, row in zip(question.names, 100 * np.exp(logs) / np.exp(logs).sum(axis=0), strict=True):
        print(f"{name:34}" + "".join(f"{weight:8.2f}" for weight in row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "fit"])
    parser.add_argument("--question", default="two samples", choices=["two samples", "independence"])
    parser.add_argument("--problems", type=int, default=4000, help="random problems")
    parser.add_argument("--trials", type=int, default=60, help="of every design case")
    parser.add_argument("--without", nargs="*", default=[], help="members that take no part")
    options = parser.parse_args()
    question = Question(options.question)
    if options.what == "run":
        run(question, options.problems, options.trials)
    else:
        fit(question, options.without)


if __name__ == "__main__":
    main()
