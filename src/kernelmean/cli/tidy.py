"""Results as rows of a table, one thing that was tested or fitted in each, for --csv."""

from __future__ import annotations

from typing import Any

from ..studies.comparison import Comparison
from ..studies.density import Densities
from ..studies.dependence import Dependence

Rows = list[dict[str, Any]]


def comparison(result: Comparison) -> Rows:
    """Return the joint test, then every column, those that differ most first."""
    joint: dict[str, Any] = {
        "tested": "all columns",
        "column": None,
        "kind": None,
        "mean_first": None,
        "mean_second": None,
    }
    joint |= {"gap": None, "noise": None, "statistic": result.test.statistic, "pvalue": result.test.pvalue}
    rows: Rows = [{**joint, "adjusted": None}]
    for column in result.columns:
        first, second = column.means
        known: dict[str, Any] = {"tested": "column", "column": column.name, "kind": column.kind, "mean_first": first}
        known |= {"mean_second": second, "gap": column.gap, "noise": column.noise, "statistic": column.statistic}
        rows.append({**known, "pvalue": column.pvalue, "adjusted": column.adjusted})
    return rows


def dependence(result: Dependence) -> Rows:
    """Return the joint test of two groups, where there is one, then every pair, those that depend most first."""
    rows: Rows = []
    if result.test is not None:
        groups: dict[str, Any] = {
            "tested": "groups",
            "x": ", ".join(result.x),
            "y": ", ".join(result.y),
            "strength": None,
        }
        found = {"statistic": result.test.statistic, "pvalue": result.test.pvalue, "adjusted": None}
        rows.append({**groups, **found, "n_resamples": result.test.n_resamples})
    for pair in result.pairs:
        names: dict[str, Any] = {
            "tested": "pair",
            "x": pair.x,
            "y": pair.y,
            "strength": pair.strength,
            "statistic": None,
        }
        rows.append({**names, "pvalue": pair.pvalue, "adjusted": pair.adjusted, "n_resamples": pair.n_resamples})
    return rows


def densities(result: Densities) -> Rows:
    """Return every density, the best first."""
    return [
        {
            "density": one.name,
            "loss": one.loss,
            "error": one.error,
            "behind": one.behind,
            "behind_error": one.behind_error,
            "choice": one.choice,
            "seconds": one.seconds,
        }
        for one in result.candidates
    ]
