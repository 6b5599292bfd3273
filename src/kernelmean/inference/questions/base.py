"""What a question is: rows, the kernels over them, and what permutations change. Every test answers a question.

The sides of a question are tables with kernels, or labels. Samples are one pooled table against the labels of the
samples, independence is one table against others; a design says which rows may change places. One kernel, many kernels,
or an estimator that is refitted under every permutation: all get their numbers from :meth:`Question.null`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import harmonic_mean
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ...core.array import Array, as_host, precision
from ...core.frozen import copied_elsewhere
from ...plan.plan import Plan, serial_blas
from ...tables import limits
from ..adaptive.candidates import Evaluated, candidates
from ..adaptive.coordinates import Columns
from ..adaptive.many_kernels import Adaptive, combined
from ..designs.design import AnyDesign
from ..designs.labelled import LabelDesign
from ..null import Null
from ..permuted_pairs import permutation_null
from ..problem import KernelSide, Problem
from ..request import (
    ESTIMATORS,
    ONE_KERNEL,
    Chosen,
    Estimators,
    Known,
    choose_kernel,
    median_rows,
    representative_rows,
)
from ..resampling import Resampling
from ..samples import alone
from ..statistics import ROUNDING, SINGLE, Statistic, StatisticForm
from ..units.dealing import MOST_PILOT, PILOT
from ..units.kernel_sums import kernel_sums
from ..units.layout import Layout
from ..units.samples import Labelings
from ..units.unit_sums import ListedRows, UnitSums, summed

Tables = tuple[Array, ...]


class RowDesign(Protocol):
    """A design applied to the rows of a question: which of them may change places, and the null that follows.

    Attributes
    ----------
    methods : (str, str)
        The test in words: with one estimator, and adaptive; empty if there is none.
    plain_only : str or None
        What does not work with an estimator's own weights or parameters, in words.
    notes : tuple of str
        What a reader should know.
    """

    @property
    def methods(self) -> tuple[str, str]: ...  # noqa: D102

    @property
    def plain_only(self) -> str | None: ...  # noqa: D102

    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102

    def null(self, *args: Any, **options: Any) -> Null:
        """Return the statistics of all kernels under the same permutations, from tables, or from sums over units."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(ABC):
    """What a test asks about some rows: subclasses hold the rows, and say what the sides are.

    Attributes
    ----------
    design : RowDesign or None
        Which rows may change places; None means all of them.
    asked : Estimators or None
        What answered it.
    """

    design: RowDesign | None = None
    asked: Estimators | None = None

    of_two: ClassVar[bool] = False
    """Whether it has two tables X and Y, as samples and pairs have; clusters and explanations need them."""

    plain_methods: ClassVar[tuple[str, str]]
    """The test in words without a design; some questions always have one."""

    # -- what every question says ------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def of(cls, data: Any, design: AnyDesign) -> Self:
        """Check the tables that were passed, which may be arrays of another library."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of the samples, or the number of observations."""

    @property
    @abstractmethod
    def tables(self) -> Tables:
        """Return the tables that kernels use, one for every side that has one: the rows that take part, in order."""

    @property
    @abstractmethod
    def table_names(self) -> tuple[str, ...]:
        """Return the names of the tables in notes."""

    # -- what some say otherwise -------------------------------------------------------------------------------------

    @classmethod
    def known(cls, design: AnyDesign) -> Known:
        """Return the estimators that can answer, by name, besides the adaptive ones."""
        del design
        return ESTIMATORS

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words: with one estimator, and the adaptive one."""
        return self.plain_methods if self.design is None else self.design.methods

    @property
    def typical_sizes(self) -> tuple[float, ...]:
        """Return the rows of the samples as no permutation changes them."""
        return self.sizes

    @property
    def any_rows(self) -> bool:
        """Whether an adaptive test takes any number of rows in memory."""
        return False

    def fitted_to(self, adaptive: Adaptive) -> tuple[str, ...]:
        """Return a note on the rows that features are fitted to, if these are not all."""
        del adaptive
        return ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know about the rows."""
        return () if self.design is None else self.design.notes

    def problem(self, tables: Tables, kernels: Sequence[Any], statistic: StatisticForm | Statistic) -> Problem:
        """Return the sides with the Gram matrices of these kernels, without a design."""
        raise NotImplementedError(f"{type(self).__name__} has a design with a null of its own")

    def explained(self) -> Question:
        """Return the question if it can be explained: those of two samples or of two variables can."""
        raise ValueError(
            "explanations need two samples or two variables, and this test asked something else; call mmd_test or "
            "hsic_test, and ask its result"
        )

    def estimated(self, estimators: Estimators, statistic: StatisticForm, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return the null of an estimator, and the kernel of every side with the noise in it."""
        return self.with_kernels(self.tables, estimators.sides, statistic, how)

    # -- the null ----------------------------------------------------------------------------------------------------

    def null(self, kernels: Sequence[Any], statistic: StatisticForm | Statistic, how: Resampling) -> Any:
        """Return the statistics of all kernels under the same permutations, shape (kernels, P), observed first.

        A kernel that is the same object in several tuples counts once.
        """
        return self.over(self.tables, kernels, statistic, how)

    def over(
        self, tables: Tables, kernels: Sequence[Any], statistic: StatisticForm | Statistic, how: Resampling
    ) -> Any:
        """Return the null on other columns of the same rows."""
        if self.design is None:
            return permutation_null(self.problem(tables, kernels, statistic), how)
        return self.design.null(tables, kernels, statistic, how)

    def with_kernels(
        self, tables: Tables, estimators: Sequence[Any], statistic: StatisticForm, how: Resampling
    ) -> tuple[Any, list[Chosen]]:
        """Return the null of the kernels that estimators find, and these kernels."""
        chosen = self.chosen(tables, estimators, how.rng)
        return self.over(tables, [alone(side.kernel for side in chosen)], statistic, how), chosen

    def chosen(self, tables: Tables, estimators: Sequence[Any], rng: np.random.Generator) -> list[Chosen]:
        """Return the kernel of every table, found from its own rows.

        For several tables the rows that rules look at do not depend on the order of the rows: rows drawn for all tables
        would depend on the pairing.
        """
        hosts = list(map(as_host, tables))
        rows = [median_rows(len(hosts[0]), rng)] if len(hosts) == 1 else list(map(representative_rows, hosts))
        return list(map(choose_kernel, hosts, estimators, rows, self.table_names))

    # -- the answer --------------------------------------------------------------------------------------------------

    def outcome(self, estimators: Estimators, statistic: StatisticForm, how: Resampling) -> dict[str, Any]:
        """Return the fields of the result of the test. It keeps the question; rows of other libraries are copied.

        If the caller chose no test, it is adaptive unless there are many rows.
        """
        many_rows = estimators.default and estimators.adaptive is not None and not self.any_rows
        many_rows = many_rows and max(self.sizes) > limits.ADAPTIVE_LIMIT
        if estimators.adaptive is not None and not many_rows:
            fields, estimators = self._adaptive(estimators.adaptive, statistic, how), estimators.many
        else:
            fields, estimators = self._of_estimator(estimators.plain, statistic, how, (ONE_KERNEL,) * many_rows)
        copies = {name: copy for name, value in vars(self).items() if (copy := copied_elsewhere(value)) is not value}
        return {**fields, "sizes": self.sizes, "question": replace(self, **copies, asked=estimators)}

    def _of_estimator(
        self, estimators: Estimators, statistic: StatisticForm, how: Resampling, notes: tuple[str, ...]
    ) -> tuple[dict[str, Any], Estimators]:
        """Return the fields of the result of an estimator, and what was asked with what was found in all rows."""
        null, chosen = self.estimated(estimators, statistic, how)
        fields = {
            "method": self.methods[0],
            "kernel": alone(side.kernel for side in chosen),
            "noise": alone(side.noise for side in chosen),
            "notes": (*(note for side in chosen for note in side.notes), *self.notes, *notes),
            **null.outcome(0),
        }
        return fields, estimators.settled(side.estimator for side in chosen)

    def _adaptive(self, adaptive: Adaptive, statistic: StatisticForm, how: Resampling) -> dict[str, Any]:
        """Run all members under the same permutations, and combine them."""
        null, members, counts = self.evaluated(adaptive, statistic, how)
        outcome = combined(null, adaptive.combination, members, counts)
        return {"method": self.methods[1], "notes": (*self.notes, *self.fitted_to(adaptive)), **outcome}

    def evaluated(self, adaptive: Adaptive, statistic: StatisticForm, how: Resampling) -> Evaluated:
        """Return the statistics of the members of an adaptive test; rows on a device are copied from there."""
        tables = tuple(map(as_host, self.tables))
        with serial_blas:
            ensemble = candidates(adaptive, tables, harmonic_mean(self.typical_sizes), how.rng)
        return ensemble.evaluated(lambda tables, part, resampling: self.over(tables, part, statistic, resampling), how)


class Labelled(Question):
    """Samples: permutations change the labels of units of the pooled rows, so their sums over units suffice.

    An adaptive test of many rows fits its features to some of them, which are drawn without looking at the labels.
    """

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Return the units of the pooled rows."""

    @abstractmethod
    def labelled(self, labelings: Labelings, statistic: Any) -> Null:
        """Return the null from units with their sums under permutations of their labels."""

    @property
    def by_labels(self) -> bool:
        """Whether the design permutes labels."""
        return True

    @property
    def typical_sizes(self) -> tuple[float, ...]:
        """Return the rows of the samples; of clusters, which may change places with larger ones, on average."""
        return self.design.typical_sizes if isinstance(self.design, LabelDesign) else self.sizes

    @property
    def any_rows(self) -> bool:
        """Whether an adaptive test takes any number of rows."""
        return self.by_labels

    def over(self, tables: Tables, kernels: Sequence[Any], statistic: Any, how: Resampling) -> Null:
        """Return the null on other columns of the same rows."""
        (points,), layout = tables, self._units(how)
        rounding = SINGLE if precision(points) == "float32" else ROUNDING
        with serial_blas:
            sums = kernel_sums(KernelSide(points, tuple(kernels)), layout.in_parts, how.resources)
            return self.labelled(Labelings.of(sums, layout.units, how, rounding), statistic)

    def _units(self, how: Resampling) -> Layout:
        """Return the layout, of many units in bins; the schemes that you ask for by name have units as they are."""
        return self.layout.in_bins(how.rng) if how.scheme == "auto" else self.layout

    def evaluated(self, adaptive: Adaptive, statistic: StatisticForm, how: Resampling) -> Evaluated:
        """Return the statistics of the members of an adaptive test."""
        if not self._drawn(adaptive):
            return super().evaluated(adaptive, statistic, how)
        pooled = as_host(self.tables[0])
        rows = np.sort(how.rng.choice(len(pooled), PILOT, replace=False))
        with serial_blas:
            ensemble = candidates(adaptive, (pooled[rows],), harmonic_mean(self.typical_sizes), how.rng)
            kernels = [kernel for each in ensemble.kernels for kernel in each]
            columns, layout = Columns.of(ensemble.sources[0], ensemble.views[0], kernels), self._units(how)
            units = layout.units
            sums = UnitSums(columns, ListedRows.of_layout(layout, (len(pooled),)))
            sums.add(pooled, plan=Plan(threads=how.resources.n_jobs))
            labelings = Labelings.of(summed(columns, sums.all(), units.masses), units, how)
            null = self.labelled(labelings, statistic)
        return null, ensemble.members, [len(each) for each in ensemble.kernels]

    def fitted_to(self, adaptive: Adaptive) -> tuple[str, ...]:
        """Return a note on the rows that features are fitted to."""
        return (f"features fitted to {PILOT:,} rows drawn from all",) if self._drawn(adaptive) else ()

    def _drawn(self, adaptive: Adaptive) -> bool:
        in_order = any(getattr(member, "view", "") == "order" for member in adaptive.members or ())
        return self.by_labels and self.tables[0].shape[0] > MOST_PILOT and not in_order


class OfMany(Question):
    """Several samples, or several variables: with two of them it is another question, which explains them."""

    noun: ClassVar[str]
    """The plural noun of what there are several of."""
    two: ClassVar[str]
    """What to do with two of them at a time, in words."""
    test: ClassVar[str]
    """The name of the test of two."""

    @property
    @abstractmethod
    def members(self) -> int:
        """Return how many there are."""

    @abstractmethod
    def of_both(self) -> Question:
        """Return the question of the two."""

    def explained(self) -> Question:
        """Return the question of two; only two can be explained."""
        if self.members == 2:
            return self.of_both().explained()
        raise ValueError(
            f"explanations need two {self.noun}, and this test had {self.members}; ask the test of two of them, such "
            f"as {self.test}(X, Y).effect_size()"
        )

    @classmethod
    def refuse(cls, design: AnyDesign) -> None:
        """Raise if a design says something: designs are for two samples or for pairs."""
        if design.paired or design.in_series or design.says_more:
            raise ValueError(
                f"{design!r} is for two samples or for pairs; leave design= out, or {cls.two} at a time, "
                f"{cls.test}(X, Y, design=...), and adjust the p-values by Holm's method"
            )
