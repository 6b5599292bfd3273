"""The test of tables in memory: of all columns together and of every column alone, for two or several tables."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ...inference import Design, Resampling, TestResult, k_sample_test, mmd_test
from ...inference.adaptive.many_kernels import NAMED
from ...inference.questions import KSamples, TwoSamples
from ...inference.request import MMD_ESTIMATORS as ESTIMATORS
from ...inference.resampling import resources_of
from ...inference.statistics import StatisticForm
from ...kernels import Gaussian
from ...kernels.bandwidth import bandwidth_from
from ...plan.plan import RemotePlan, check_plan
from ...tables import limits
from ...tables.columns import Encoded
from ...tables.columns.encoded import named
from ...tables.read import read
from ..many_tests import ManyTests, OneTest, Run
from .column_tests import held_test
from .request import Testing

_ALL_ROWS = Design()
_AT_ONCE = 8
"""The most columns that are tested at once, whatever the threads: each test takes memory of its own."""


@dataclass(frozen=True)
class TableTest:
    """The test of tables: of all columns together, of every column alone, and of pairs of several tables."""

    options: Testing
    design: Design = _ALL_ROWS
    """The design of the rows of all tables."""

    @property
    def form(self) -> StatisticForm:
        """The V-statistic with strata, clusters or weights, otherwise the unbiased one."""
        return "v" if self.design.says_more else "u"

    @property
    def adaptive(self) -> bool:
        """Whether the test brings its own kernels."""
        return self.options.estimator in NAMED

    def run(
        self,
        encoded: Encoded,
        columns: Iterable[str],
        rng: np.random.Generator,
        n_resamples: int,
        tables: Sequence[int] | None = None,
    ) -> tuple[TestResult, Any]:
        """Test some columns of all tables or of some, and return the bandwidth.

        The kernel is smoothed by the noise of the pooled rows.
        """
        chosen = range(len(encoded.tables)) if tables is None else tables
        theta = None if self.adaptive else self._theta(encoded, columns, chosen)
        estimator: Any = self.options.estimator
        if theta is not None:
            estimator = ESTIMATORS[estimator](encoded.kernel(Gaussian(theta)))
        options: dict[str, Any] = {"n_resamples": n_resamples, "rng": rng, "plan": self.options.plan}
        every = encoded.points(columns)
        samples: Sequence[Any] = [every[k] for k in chosen]
        if self.adaptive:
            names = {*columns}
            samples = named((coding for coding in encoded.codings if coding.name in names), samples)
        if self.adaptive and max(map(len, samples)) > limits.ADAPTIVE_LIMIT:  # would otherwise be added up in bins
            samples = [read(sample, in_memory=True) for sample in samples]
        test: Any = mmd_test if len(samples) == 2 else k_sample_test
        return test(*samples, estimator=estimator, design=self.design, statistic=self.form, **options), theta

    def columns(
        self, encoded: Encoded, order: Sequence[str], rng: np.random.Generator, steps: int | None = None
    ) -> dict[str, OneTest]:
        """Test every column, all with the same permutations.

        The progress counts ``steps``, by default one for all columns together and one for each.
        """
        planned = self.options.runs(len(order))
        streams = [rng, *rng.spawn(len(planned) - 1)]
        n_jobs, alone = self._column_by_column()

        def test(name: str, run: Run) -> OneTest:
            return alone.column(encoded, name, copy.deepcopy(streams[run.number]), run.n_resamples)

        many = ManyTests(order, str, "column", test, self.options.progress, steps or 1 + len(order), n_jobs)
        tests = many.tested(order, planned)
        return {name: tests[name] for name in order}

    def column(self, encoded: Encoded, name: str, rng: np.random.Generator, n_resamples: int) -> OneTest:
        """Test one column."""
        if not self.adaptive:
            result, _ = self.run(encoded, (name,), rng, n_resamples)
            return OneTest(result.statistic, result.pvalue, result.n_resamples)
        plan: Any = self.options.plan
        how = Resampling.of("auto", n_resamples, rng, plan)
        coding = encoded.codings[encoded.names.index(name)]
        points, rule = encoded.points((name,)), NAMED[self.options.estimator].combination
        question = KSamples.of(points, self.design) if len(points) > 2 else TwoSamples.of(points, self.design)
        return held_test(question, coding, rule, self.form, how)

    def _column_by_column(self) -> tuple[int, Self]:
        """Return how many columns are tested at once, and the test of each, which has one thread and the memory."""
        plan = check_plan(self.options.plan)
        if isinstance(plan, RemotePlan):
            return 1, self
        alone = replace(self, options=replace(self.options, plan=replace(plan, threads=1)))
        return min(resources_of(plan).n_jobs, _AT_ONCE), alone

    def _theta(self, encoded: Encoded, columns: Iterable[str], tables: Iterable[int]) -> Any:
        every, rule = encoded.coordinates(columns), self.options.bandwidth
        pooled = np.concatenate([every[k] for k in tables])
        if isinstance(rule, str) and not rule.startswith("median"):
            wide = [coding.name for coding in encoded.codings if len(coding.names) > 1 and coding.name in {*columns}]
            if wide:
                raise ValueError(
                    f"the bandwidth {rule!r} is a rule for columns of numbers, and {wide[0]!r} takes several "
                    f"coordinates; write bandwidth='median' or a number"
                )
        return bandwidth_from(pooled[np.lexsort(pooled.T)], rule)  # sorted: drawn rows do not depend on the table
