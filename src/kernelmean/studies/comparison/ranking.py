"""The columns of a comparison, those that differ most first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...inference.null import adjusted
from ...noise import Noise, Normal
from ...tables.columns import ColumnSummary
from ...tables.columns.encoded import groups_of
from ...tables.columns.kinds import Coding
from ..many_tests import OneTest
from .closeness import margins_of
from .column import ColumnDifference
from .request import Asked


def ranked(
    codings: Sequence[Coding],
    summaries: Sequence[ColumnSummary],
    noise: Noise | tuple[Noise, Noise],
    alone: Mapping[str, OneTest],
    asked: Asked,
) -> tuple[ColumnDifference, ...]:
    """Return the columns, those that differ most first, with the test of each and the joint test's noise."""
    values = dict(zip(alone, adjusted((own.pvalue for own in alone.values()), asked.adjustment), strict=True))
    groups = groups_of(codings)
    dim = sum(map(len, groups.values()))
    variances = np.broadcast_to(noise.variances(dim), (dim,)) if isinstance(noise, Normal) else np.zeros(dim)
    margins, columns = margins_of(asked.equivalence, codings), []
    for coding, found in zip(codings, summaries, strict=True):
        own = groups[coding.name]
        own = own[:1] if coding.category_weight is None else own  # an indicator of missing cells has no unit
        spread = coding.scale * float(np.sqrt(variances[list(own)].sum()))
        first, second = found.means
        own_test = alone[coding.name]
        columns.append(
            ColumnDifference(
                name=coding.name,
                means=(first, second),
                gap=found.gap,
                noise=spread,
                statistic=own_test.statistic,
                pvalue=own_test.pvalue,
                adjusted=values[coding.name],
                n_resamples=own_test.n_resamples,
                kind=coding.type.kind,
                shares=found.shares,
                interval=found.interval,
                margin=margins.get(coding.name, math.nan),
            )
        )
    return tuple(sorted(columns, key=lambda column: (column.adjusted, -column.statistic)))
