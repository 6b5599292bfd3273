"""What the tests of two tables found, whether rows were held or added up, and the comparison that is made of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...inference import TestResult
from ...inference.null import adjusted
from ...noise import Normal
from ...tables.columns import ColumnSummary, Encoded
from ..many_tests import OneTest
from .column import ColumnDifference
from .request import Asked, margins_of
from .result import Comparison
from .row_weights import RowWeights


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """What the tests of two tables found, whether rows were held or added up."""

    encoded: Encoded
    """The rows that pictures show."""
    sizes: tuple[int, int]
    joint: TestResult
    bandwidth: Any
    """Of the joint test."""
    alone: Mapping[str, OneTest]
    """The test of every column."""
    summaries: Sequence[ColumnSummary]
    weights: RowWeights | None
    in_series: bool
    same_rows: bool = False

    def compared(self, options: Asked, before: Iterable[str], after: Iterable[str]) -> Comparison:
        """Return the comparison, with notes before and after those on the design."""
        of_numbers = any(coding.category_weight is None for coding in self.encoded.codings)
        on_design = *options.design.notes(numbers=of_numbers), *(() if self.weights is None else self.weights.notes())
        return Comparison(
            names=options.names,
            sizes=self.sizes,
            test=self.joint,
            estimator=options.estimator,
            bandwidth=self.bandwidth,
            scaled=options.encoding.scale,
            columns=self.ranked(options),
            notes=tuple(dict.fromkeys((*before, *on_design, *after, *self.joint.notes))),
            missing=self.encoded.missing,
            encoded=self.encoded,
            level=options.level,
            adjustment=options.adjustment,
            design=options.design,
            row_weights=self.weights,
            same_rows=self.same_rows,
            in_series=self.in_series,
        )

    def ranked(self, options: Asked) -> tuple[ColumnDifference, ...]:
        """Return the columns, those that differ most first, with the test of each and the joint test's noise."""
        values = adjusted((test.pvalue for test in self.alone.values()), options.adjustment)
        by_name, groups = dict(zip(self.alone, values, strict=True)), self.encoded.groups
        dim, noise = sum(map(len, groups.values())), self.joint.noise
        variances = np.broadcast_to(noise.variances(dim), (dim,)) if isinstance(noise, Normal) else np.zeros(dim)
        margins, columns = margins_of(options.margins, self.encoded.codings), []
        for coding, summary in zip(self.encoded.codings, self.summaries, strict=True):
            places = groups[coding.name]
            if coding.category_weight is None:
                places = places[:1]  # an indicator of missing cells has no unit
            first, second = summary.means
            test = self.alone[coding.name]
            columns.append(
                ColumnDifference(
                    name=coding.name,
                    means=(first, second),
                    gap=summary.gap,
                    noise=coding.scale * float(np.sqrt(variances[list(places)].sum())),
                    statistic=test.statistic,
                    pvalue=test.pvalue,
                    adjusted=by_name[coding.name],
                    n_resamples=test.n_resamples,
                    kind=coding.type.kind,
                    shares=summary.shares,
                    interval=summary.interval,
                    margin=margins.get(coding.name, math.nan),
                )
            )
        return tuple(sorted(columns, key=lambda column: (column.adjusted, -column.statistic)))
