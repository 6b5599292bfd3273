"""What a test in bins adds up, fitted to a pilot of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import harmonic_mean
from typing import Any, final

from ...core.words import count
from ..adaptive.candidates import candidates
from ..adaptive.columns import row_order
from ..adaptive.coordinates import Columns
from ..adaptive.many_kernels import Adaptive, combined
from ..adaptive.views import Views, ViewSource
from ..designs.independence import PairDesign
from ..null import Null
from ..questions import Question
from ..questions.kernel_features import kernel_features, share_held
from ..request import Request, choose_kernel, representative_rows
from ..resampling import Resampling
from ..result import TestResult


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """The columns of every table, the kernels on them, and how their statistics are combined."""

    columns: tuple[Columns, ...]
    kernels: list[Any]
    """One per statistic: a kernel, or for two variables a pair of kernels."""
    how: Resampling
    """Its generator has drawn what the columns need, and next draws the permutations."""
    question: Question
    """The rows of the pilot."""
    outcome: Callable[[Null], dict[str, Any]]
    """From the statistics of all kernels to the content of a result."""
    notes: tuple[str, ...]

    def within(self, design: PairDesign) -> Fitted:
        """Return the same of rows that change partners within a design."""
        return replace(self, question=replace(self.question, design=design.in_outline))

    def result(self, null: Null, sizes: tuple[int, ...], *notes: str) -> TestResult:
        """Return the result of a test of these sizes."""
        estimators = self.question.asked
        adaptive = estimators is not None and estimators.adaptive is not None
        rows = sum(self.question.sizes)
        explained = self.question.of_two and self.question.design is None
        of_these = "; effect sizes, witnesses and attributions are of these" if explained else ""
        notes = (f"features fitted to {count(rows, 'row')} drawn from all{of_these}", *notes)
        return TestResult(
            method=f"{self.question.methods[adaptive]}, in bins",
            sizes=sizes,
            notes=(*self.notes, *notes),
            question=self.question,
            **self.outcome(null),
        )


def fitted(question: Question, request: Request, sizes: tuple[float, ...], seed: int) -> Fitted:
    """Fit what a test needs to a question about a pilot; ``sizes`` are for all rows.

    Everything is a symmetric function of the rows of every table.
    """
    how = Resampling.of("auto", request.n_resamples, seed)
    estimators = request.wanted
    if estimators.adaptive is not None:
        ensemble = candidates(estimators.adaptive, question.tables, harmonic_mean(sizes), how.rng)
        columns, kernels = _columns(ensemble.sources, ensemble.views, [k for each in ensemble.kernels for k in each])
        outcome = _Combined(estimators.adaptive, tuple(ensemble.members), list(map(len, ensemble.kernels)), question)
        return Fitted(columns, kernels, how, replace(question, asked=estimators.many), outcome, ())
    tables = [table[row_order(table)] for table in question.tables]
    chosen = [
        choose_kernel(table, estimator, representative_rows(table), name)
        for table, estimator, name in zip(tables, estimators.sides, question.table_names, strict=True)
    ]
    theirs = [side.kernel for side in chosen]
    sources, views, of_features = kernel_features(tables, theirs, how.rng)
    columns, kernels = _columns(sources, views, [of_features])
    kernel, noise = _alone(tuple(side.kernel for side in chosen)), _alone(tuple(side.noise for side in chosen))
    estimators = estimators.plain.settled(side.estimator for side in chosen)
    notes = (*(note for side in chosen for note in side.notes), *map(share_held, sources, theirs, views))
    return Fitted(columns, kernels, how, replace(question, asked=estimators), _Alone(kernel, noise), notes)


def _columns(
    sources: Sequence[ViewSource], views: Sequence[Views], kernels: list[Any]
) -> tuple[tuple[Columns, ...], list[Any]]:
    """Return the columns of every table; for a single table with the squares of its kernels."""
    alone = kernels if len(sources) == 1 else ()
    return tuple(Columns.of(source, view, alone) for source, view in zip(sources, views, strict=True)), kernels


def _alone(parts: tuple[Any, ...]) -> Any:
    return parts[0] if len(parts) == 1 else parts


@final
@dataclass(frozen=True, eq=False)
class _Combined:
    """The members of an adaptive test, combined."""

    adaptive: Adaptive
    members: tuple[Any, ...]
    counts: list[int]
    question: Question

    def __call__(self, null: Null) -> dict[str, Any]:
        return combined(null, self.adaptive.combination, self.members, self.counts)


@final
@dataclass(frozen=True, eq=False)
class _Alone:
    """One kernel."""

    kernel: Any
    noise: Any

    def __call__(self, null: Null) -> dict[str, Any]:
        return {"kernel": self.kernel, "noise": self.noise, **null.outcome(0)}
