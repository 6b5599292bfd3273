"""What commands show besides results: the content of a file, and the state of a monitor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.words import count, listed, number_range
from ..embedding.embedding import Embedding
from ..inference.wording import brief
from ..kernels import Gaussian, Kernel
from ..noise import Noise, Normal
from ..report.description import Description, Shown
from ..studies.pages.monitor import EVIDENCE, batch_grid, in_words, threshold

if TYPE_CHECKING:
    from .watching import Seen

_SHOWN = 10
_NAMED = "a monitor looks at all columns together; kernelmean compare, as written above, names those that differ"
_NEXT = (
    "the monitor stays in alarm and does not look for later changes; to go on, start over with rows from after the "
    "change as the reference, and another checkpoint"
)
_EVIDENCE = f"{EVIDENCE[0].lower()}{EVIDENCE[1:]}"


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


def monitoring(result: Seen, reference: str) -> Description:
    """Return the state of a monitor, the verdict first."""
    state, alarm = result.state, result.alarm
    facts = [("reference", f"{reference}, {count(result.known, 'row')}"), ("new", count(state.n_rows, "row"))]
    if alarm is not None:
        rows = f"rows {alarm.first:,} to {alarm.last:,}"
        facts.append(("alarm", f"in {brief(alarm.batch)}, {rows}; within a batch rows come in random order"))
    if state.drift:
        facts.append(("began", _began(result)))
    most = f"{in_words(state.log_wealth)} now, {in_words(state.log_peak)} at most so far"
    facts.append(("evidence", f"{most}; an alarm is raised at {math.exp(threshold(state)):,.4g}"))
    facts += [*result.advice, *([("next", _NEXT)] if state.drift else [])]
    grid = batch_grid(result.batches, result.position, _SHOWN, result.earlier)
    notes = [*([_NAMED] if result.advice else []), *result.notes, *([_EVIDENCE] if result.batches else [])]
    return Description("Drift", result.verdict, facts, (grid,), notes)


def _began(result: Seen) -> str:
    """Return in which batch the change began, as far as the rows that the monitor keeps can tell."""
    whole = "to find out, run kernelmean changes on a table of all new rows"
    if result.changed is None:
        return f"unknown, no single change explains the rows that are kept; {whole}"
    low, high = result.changed
    first, last = map(result.batch_of, result.changed)
    if low > 1:
        rows = f"between rows {low:,} and {high:,} (95 %)"
        named = f"in {first}" if first == last else f"in {first} to {last}"
        return f"{named}, {rows}" if first and last else rows
    if last and last == result.batch_of(1):
        return f"in {last}, the first batch (95 %)"
    by = f"in {last} or before" if last else f"by row {high:,}"
    if result.first_kept == 1:
        return f"{by} (95 %), perhaps with the first new row"
    return f"{by} (95 %); how early, the rows that are kept, from row {result.first_kept:,} on, cannot tell; {whole}"


def _kernel(kernel: Kernel) -> str:
    return f"Gaussian, bandwidth {number_range(kernel.bandwidth)}" if isinstance(kernel, Gaussian) else repr(kernel)


def _noise(noise: Noise, dim: int) -> str:
    if isinstance(noise, Normal):
        return f"Gaussian, {noise.form}, standard deviation {number_range(np.sqrt(noise.variances(dim)))}"
    return repr(noise)
