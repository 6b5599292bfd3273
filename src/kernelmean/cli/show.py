"""What a person reads, as lines of text: the verdict first, then the numbers, then notes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.words import count, listed
from ..embedding.embedding import Embedding
from ..inference.monitoring import DriftState
from ..kernels import Gaussian, Kernel
from ..noise import Noise, Normal
from ..studies.comparison import ColumnDifference, Comparison
from ..studies.density import Densities
from ..studies.dependence import Dependence, PairDependence
from ..studies.estimate import Fits
from ..studies.pages.facts import comparison_facts, density_facts, dependence_facts, number_range, short

_SHOWN = 10


def comparison(result: Comparison, level: float = 0.05) -> list[str]:
    """Return the lines of a comparison, the verdict at some level first."""
    hidden = len(result.columns) - _SHOWN
    rest = [f"  and {count(hidden, 'column')} more, which differ less (--json FILE has all)"] if hidden > 0 else []
    noisy = any(column.noise for column in result.columns)
    heads = ["column", *(f"mean {short(name)}" for name in result.names), "gap/sd", *(["noise sd"] if noisy else [])]
    heads += ["MMD²", "p", "adjusted p"]
    rows = [_difference(column, noisy) for column in result.columns[:_SHOWN]]
    facts = _facts(comparison_facts(result))
    return [result.verdict(level), "", *facts, "", "Columns that differ most", *_grid([heads, *rows]), *rest]


def fits(result: Fits) -> list[str]:
    """Return the lines of a table of scores, the best estimator first."""
    rows, columns = result.table.values.shape
    heads = ["estimator", "score", "below kme", "noise sd", "other"]
    size = f"  {count(rows, 'row')}, {count(columns, 'column')}; lower scores are better"
    return [result.verdict(), "", size, "", *_grid([heads, *(_scores(result, each) for each in result.estimators)])]


def densities(result: Densities) -> list[str]:
    """Return the lines of densities side by side, the best first."""
    heads = ["density", "chosen on the training rows", "nats a row", "error", "seconds"]
    rows = [[c.name, c.choice, f"{c.loss:.2f}", f"{c.error:.2f}", f"{c.seconds:.1f}"] for c in result.candidates]
    return [result.verdict(), "", *_facts(density_facts(result)), "", *_grid([heads, *rows], 2)]


def saved(value: Any, columns: Sequence[str]) -> list[str]:
    """Return the lines that say what a file holds."""
    if not isinstance(value, Embedding):
        return repr(value).splitlines()
    n, dim = value.points.shape
    facts = [("columns", listed(columns) or "no names"), ("kernel", _kernel(value.kernel))]
    facts += [("noise", _noise(part.noise, dim)) for part in value.parts]
    facts += [("weights", f"sum {value.weights.sum():.6g}"), ("norm", f"{value.norm():.6g}")]
    return [f"An embedding of {count(n, 'point')} with {count(dim, 'column')}.", *_facts(facts)]


def notes(texts: Iterable[str]) -> list[str]:
    """Return notes as lines."""
    return [f"  note: {text}" for text in texts]


def dependence(result: Dependence) -> list[str]:
    """Return the lines of a dependence study, the verdict first."""
    hidden = len(result.pairs) - _SHOWN
    rest = [f"  and {count(hidden, 'pair')} more, which depend less (--json FILE has all)"] if hidden > 0 else []
    heads = ["column", "column", "strength", "p", "adjusted p"]
    rows = [_pair(pair) for pair in result.pairs[:_SHOWN]]
    return [
        result.verdict(),
        "",
        *_facts(dependence_facts(result)),
        "",
        "Pairs that depend most",
        *_grid([heads, *rows], 2),
        *rest,
    ]


def _pair(pair: PairDependence) -> list[str]:
    return [short(pair.x), short(pair.y), f"{pair.strength:.2f}", f"{pair.pvalue:.2g}", f"{pair.adjusted:.2g}"]


def _difference(column: ColumnDifference, noisy: bool) -> list[str]:
    gap = "" if math.isnan(column.gap) else f"{column.gap:+.2f}"
    noise = [f"{column.noise:.2g}"] if noisy else []
    tests = [f"{column.statistic:.2g}", f"{column.pvalue:.2g}", f"{column.adjusted:.2g}"]
    return [short(column.name), *column.describe(), gap, *noise, *tests]


def _scores(result: Fits, name: str) -> list[str]:
    fit, chosen = result.estimators[name], result.parameters(name)
    gain = result.estimators["kme"].loocv_ - fit.loocv_
    words = {"strength": "λ", "contraction": "r"}
    other = ", ".join(f"{word} = {chosen[key]:.4g}" for key, word in words.items() if key in chosen)
    return [
        name,
        f"{fit.loocv_:.8g}",
        f"{gain:.3g}",
        number_range(chosen["noise"]) if "noise" in chosen else "none",
        other,
    ]


def _kernel(kernel: Kernel) -> str:
    return f"Gaussian, bandwidth {number_range(kernel.bandwidth)}" if isinstance(kernel, Gaussian) else repr(kernel)


def _noise(noise: Noise, dim: int) -> str:
    if isinstance(noise, Normal):
        return f"Gaussian, {noise.form}, standard deviation {number_range(np.sqrt(noise.variances(dim)))}"
    return repr(noise)


def _facts(facts: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(facts)
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {fact}" for name, fact in rows]


def _grid(rows: Sequence[Sequence[str]], words: int = 1) -> list[str]:
    """Return rows as aligned lines, the first ``words`` columns to the left and numbers to the right."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = (
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(f"  {first}  {'  '.join(others)}".rstrip())
    return lines


def monitoring(state: DriftState, reference: str, size: int, batches: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of a monitor, the verdict first."""
    facts = _facts(
        [
            ("reference", f"{reference}, {count(size, 'row')}, of which {state.waiting:,} or later ones still wait"),
            ("new", f"{count(state.n_rows, 'row')}, of which {state.n_pairs:,} were paired and bet on"),
            ("evidence", f"wealth {math.exp(min(state.log_wealth, 700.0)):.3g} now; p = 1/(largest wealth so far)"),
        ]
    )
    rows = [[short(str(one["batch"])), f"{one['rows']:,}", f"{one['pvalue']:.3g}"] for one in batches]
    table = ["", "Batches", *_grid([["batch", "rows", "p so far"], *rows])] if rows else []
    return [state.verdict(), "", *facts, *table]
