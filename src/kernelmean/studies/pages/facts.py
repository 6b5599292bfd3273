"""Facts about results as pairs of a name and a text: what the screen and the pages both say."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.surface import written
from ...core.words import count
from ...inference.facts import Facts, brief, facts_of, short, titles
from ...inference.kernel_choice import ESTIMATORS
from ..comparison import Comparison
from ..density import Densities
from ..dependence import Dependence

__all__ = [
    "brief",
    "comparison_facts",
    "density_facts",
    "dependence_facts",
    "number_range",
    "short",
    "titles",
]


def comparison_facts(result: Comparison) -> Facts:
    """Return the rows, the statistic, its p-value, the kernels and the scale of a comparison."""
    test, (n, m) = result.test, result.sizes
    unit = "standard deviations" if result.scaled else "the units of the data"
    unscaled = written("scale=False", "--no-scale")
    scale = f"every column divided by its standard deviation over both tables ({unscaled} leaves them as they are)"
    of = f" of the {result.estimator} estimates" if result.estimator in ESTIMATORS else ""
    bandwidth = [] if result.bandwidth is None else [("bandwidth", f"{number_range(result.bandwidth)}, in {unit}")]
    return [
        ("rows", f"{n:,} of {result.names[0]}, {m:,} of {result.names[1]}; {count(len(result.columns), 'column')}"),
        *facts_of(test, of),
        *bandwidth,
        ("scale", scale if result.scaled else "columns as they are, so those with large numbers weigh most"),
    ]


def dependence_facts(result: Dependence) -> Facts:
    """Return the rows, the estimator, and the joint test of a study of dependence, where there is one."""
    facts = [("rows", f"{result.n_rows:,}"), ("test", f"HSIC, estimator {result.estimator}")]
    return facts if result.test is None else [*facts, *facts_of(result.test)]


def density_facts(result: Densities) -> Facts:
    """Return the rows of densities side by side, and what the loss is."""
    fit, held = result.sizes
    unit = "columns standardised" if result.scaled else "columns in their own units"
    return [
        ("rows", f"{fit:,} to fit, {held:,} held out; {count(len(result.table.names), 'column')}"),
        ("loss", f"mean negative log density of the rows held out, {unit}; lower is better"),
    ]


def number_range(values: Any) -> str:
    """Return one number, or the range of several."""
    array = np.asarray(values, dtype=np.float64)
    if np.ptp(array) == 0:
        return f"{array.flat[0]:.4g}"
    return f"{array.min():.3g} to {array.max():.3g}"
