"""What a person reads, as lines of text: the verdict first, then the numbers, then notes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from .._table import count, listed
from ..comparison import ColumnDifference, Comparison
from ..densities import Densities
from ..dependence import Dependence, PairDependence
from ..embedding import Embedding
from ..fits import Fits
from ..inference import TestResult
from ..inference.kernel_choice import ESTIMATORS
from ..kernels import Gaussian, Kernel
from ..noise import Noise, Normal

_SHOWN = 10
_LONGEST_NAME = 32


def comparison(result: Comparison) -> list[str]:
    """Return the lines of a comparison, the verdict first."""
    hidden = len(result.columns) - _SHOWN
    rest = [f"  and {count(hidden, 'column')} more, which differ less (--json FILE has all)"] if hidden > 0 else []
    noisy = any(column.noise for column in result.columns)
    heads = ["column", *(f"mean {_short(name)}" for name in result.names), "gap/sd", *(["noise sd"] if noisy else [])]
    heads += ["MMD²", "p", "adjusted p"]
    rows = [_difference(column, noisy) for column in result.columns[:_SHOWN]]
    facts = _facts(_comparison_facts(result))
    return [result.verdict(), "", *facts, "", "Columns that differ most", *_grid([heads, *rows]), *rest]


def fits(result: Fits, name: str) -> list[str]:
    """Return the lines of a table of scores, the best estimator first."""
    rows, columns = result.table.values.shape
    score = result.estimators[result.best].loocv_
    best = f"{result.best} has the lowest leave-one-out score on {name}: {score:.6g}."
    heads = ["estimator", "score", "below kme", "noise sd", "other"]
    size = f"  {count(rows, 'row')}, {count(columns, 'column')}; lower scores are better"
    return [best, "", size, "", *_grid([heads, *(_scores(result, each) for each in result.estimators)])]


def densities(result: Densities, name: str) -> list[str]:
    """Return the lines of densities side by side, the best first."""
    best, (fit, held) = result.candidates[0], result.sizes
    verdict = f"{best.name} describes {name} best: {best.loss:.4g} nats a row on {count(held, 'row')} held out."
    heads = ["density", "chosen on the training rows", "nats a row", "error", "seconds"]
    rows = [[c.name, c.choice, f"{c.loss:.2f}", f"{c.error:.2f}", f"{c.seconds:.1f}"] for c in result.candidates]
    unit = "columns standardised" if result.scaled else "columns in their own units"
    facts = _facts(
        [
            ("rows", f"{fit:,} to fit, {held:,} held out; {count(len(result.table.names), 'column')}"),
            ("loss", f"mean negative log density of the rows held out, {unit}; lower is better"),
        ]
    )
    return [verdict, "", *facts, "", *_grid([heads, *rows], 2)]


def saved(value: Any, columns: Sequence[str]) -> list[str]:
    """Return the lines that say what a file holds."""
    if not isinstance(value, Embedding):
        return [repr(value)]
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
    facts = [("rows", f"{result.n_rows:,}"), ("test", f"HSIC, estimator {result.estimator}")]
    if result.test is not None:
        facts += [("statistic", f"{result.test.statistic:.4g}, {result.test.statistic_name}")]
        facts += [("p-value", _pvalue(result.test)), *_kernel_facts(result.test)]
    heads = ["column", "column", "strength", "p", "adjusted p"]
    rows = [_pair(pair) for pair in result.pairs[:_SHOWN]]
    return [result.verdict(), "", *_facts(facts), "", "Pairs that depend most", *_grid([heads, *rows], 2), *rest]


def _pair(pair: PairDependence) -> list[str]:
    return [_short(pair.x), _short(pair.y), f"{pair.strength:.2f}", f"{pair.pvalue:.2g}", f"{pair.adjusted:.2g}"]


def _pvalue(test: TestResult) -> str:
    finest = test.pvalue * (test.n_resamples + 1) < 1.5
    source = f"{test.pvalue:.3g}, exact, from {count(test.n_resamples, 'permutation')} (scheme {test.scheme})"
    return source + ("; no smaller one is possible with so many" if finest else "")


def _kernel_facts(test: TestResult) -> list[tuple[str, str]]:
    """Say how many kernels an adaptive test used, and which told most."""
    if not test.members:
        return []
    most = ", ".join(member.label for member in test.strongest(3))
    return [("kernels", f"{len(test.members)}, which make one p-value; strongest: {most}")]


def _comparison_facts(result: Comparison) -> list[tuple[str, str]]:
    test, (n, m) = result.test, result.sizes
    unit = "standard deviations" if result.scaled else "the units of the data"
    scale = "every column divided by its standard deviation over both tables (--no-scale leaves them as they are)"
    of = f" of the {result.estimator} estimates" if result.estimator in ESTIMATORS else ""
    bandwidth = [] if result.bandwidth is None else [("bandwidth", f"{_numbers(result.bandwidth)}, in {unit}")]
    return [
        ("rows", f"{n:,} of {result.names[0]}, {m:,} of {result.names[1]}; {count(len(result.columns), 'column')}"),
        ("statistic", f"{test.statistic:.4g}, {test.statistic_name}{of}"),
        ("p-value", _pvalue(test)),
        *_kernel_facts(test),
        *bandwidth,
        ("scale", scale if result.scaled else "columns as they are, so those with large numbers weigh most"),
    ]


def _difference(column: ColumnDifference, noisy: bool) -> list[str]:
    gap = "" if math.isnan(column.gap) else f"{column.gap:+.2f}"
    noise = [f"{column.noise:.2g}"] if noisy else []
    tests = [f"{column.statistic:.2g}", f"{column.pvalue:.2g}", f"{column.adjusted:.2g}"]
    return [_short(column.name), *column.describe(), gap, *noise, *tests]


def _scores(result: Fits, name: str) -> list[str]:
    fit, chosen = result.estimators[name], result.parameters(name)
    gain = result.estimators["kme"].loocv_ - fit.loocv_
    words = {"strength": "λ", "contraction": "r"}
    other = ", ".join(f"{word} = {chosen[key]:.4g}" for key, word in words.items() if key in chosen)
    return [name, f"{fit.loocv_:.8g}", f"{gain:.3g}", _numbers(chosen["noise"]) if "noise" in chosen else "none", other]


def _kernel(kernel: Kernel) -> str:
    return f"Gaussian, bandwidth {_numbers(kernel.bandwidth)}" if isinstance(kernel, Gaussian) else repr(kernel)


def _noise(noise: Noise, dim: int) -> str:
    if isinstance(noise, Normal):
        return f"Gaussian, {noise.form}, standard deviation {_numbers(np.sqrt(noise.variances(dim)))}"
    return repr(noise)


def _numbers(values: Any) -> str:
    """Return one number, or the range of several."""
    array = np.asarray(values, dtype=np.float64)
    if np.ptp(array) == 0:
        return f"{array.flat[0]:.4g}"
    return f"{array.min():.3g} to {array.max():.3g}"


def _short(name: str) -> str:
    """Return the end of a path, and the start of what is still long."""
    end = PurePath(name).name if "=" not in name and PurePath(name).suffix else name
    return end if len(end) <= _LONGEST_NAME else end[: _LONGEST_NAME - 1] + "…"


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
