"""What commands show besides results: the content of a file, and the state of a monitor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.words import count, listed, number_range
from ..embedding.embedding import Embedding
from ..inference.monitoring import DriftState
from ..inference.wording import short
from ..kernels import Gaussian, Kernel
from ..noise import Noise, Normal
from ..report.description import Description, Grid, Shown


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
    state: DriftState,
    reference: str,
    size: int,
    changed: tuple[int, int] | None,
    batches: Sequence[dict[str, Any]],
    notes: Sequence[str],
) -> Description:
    """Return the state of a monitor, the verdict first."""
    facts = [("reference", f"{reference}, {count(size, 'row')}"), ("new", count(state.n_rows, "row"))]
    if changed is not None:
        facts.append(("began", "between rows {:,} and {:,} (95 %)".format(*changed)))
    facts.append(("evidence", f"wealth {_wealth(state.log_wealth)} now, {_wealth(state.log_peak)} at most so far"))
    rows = [(short(str(one["batch"])), f"{one['rows']:,}", _wealth(one["log_wealth"])) for one in batches]
    grid = Grid("Batches", ("batch", "rows", "wealth"), rows, noun="batch")
    return Description("Drift", state.verdict(), facts, (grid,), notes)


def _wealth(log_wealth: float) -> str:
    return f"{math.exp(min(log_wealth, 700.0)):.3g}"


def _kernel(kernel: Kernel) -> str:
    return f"Gaussian, bandwidth {number_range(kernel.bandwidth)}" if isinstance(kernel, Gaussian) else repr(kernel)


def _noise(noise: Noise, dim: int) -> str:
    if isinstance(noise, Normal):
        return f"Gaussian, {noise.form}, standard deviation {number_range(np.sqrt(noise.variances(dim)))}"
    return repr(noise)
