"""What commands show that is no result: what a file holds, and where a monitor stands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.words import count, listed
from ..embedding.embedding import Embedding
from ..inference.monitoring import DriftState
from ..inference.wording import short
from ..kernels import Gaussian, Kernel
from ..noise import Noise, Normal
from ..report.description import Description, Grid
from ..report.numbers import number_range
from ..report.shown import Shown


def saved(value: Any, columns: Sequence[str]) -> Description:
    """Return what a file holds."""
    if not isinstance(value, Embedding):
        return value.describe() if isinstance(value, Shown) else Description(repr(value))
    n, dim = value.shape
    facts = [("columns", listed(columns) or "no names"), ("kernel", _kernel(value.kernel))]
    facts += [("features", value.features.summary)] if value.features else []
    facts += [("noise", _noise(noise, dim)) for part in value.parts for noise in part.noises]
    facts += [("weights", f"sum {sum(part.mass for part in value.parts):.6g}"), ("norm", f"{value.norm():.6g}")]
    return replace(
        value.describe(),
        title=f"An embedding of {count(n, 'row' if value.features else 'point')} with {count(dim, 'column')}.",
        facts=facts,
    )


def monitoring(
    state: DriftState, reference: str, size: int, batches: Sequence[dict[str, Any]], notes: Sequence[str]
) -> Description:
    """Return where a monitor stands, the verdict first."""
    facts = [
        ("reference", f"{reference}, {count(size, 'row')}, of which {state.waiting:,} or later ones still wait"),
        ("new", f"{count(state.n_rows, 'row')}, of which {state.n_pairs:,} were paired and bet on"),
        ("evidence", f"wealth {math.exp(min(state.log_wealth, 700.0)):.3g} now; p = 1/(largest wealth so far)"),
    ]
    rows = [(short(str(one["batch"])), f"{one['rows']:,}", f"{one['pvalue']:.3g}") for one in batches]
    grid = Grid("Batches", ("batch", "rows", "p so far"), rows, noun="batch")
    return Description("Drift", state.verdict(), facts, (grid,), notes)


def _kernel(kernel: Kernel) -> str:
    return f"Gaussian, bandwidth {number_range(kernel.bandwidth)}" if isinstance(kernel, Gaussian) else repr(kernel)


def _noise(noise: Noise, dim: int) -> str:
    if isinstance(noise, Normal):
        return f"Gaussian, {noise.form}, standard deviation {number_range(np.sqrt(noise.variances(dim)))}"
    return repr(noise)
