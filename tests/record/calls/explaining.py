"""What follows a test: where, which rows, which columns, how much, little enough."""

from __future__ import annotations

from typing import Any

import explained
import kernelmean as km
from record import data, shown
from record.registry import Values, recorded, where_searched

K = km.kernels
X, Y = data.X, data.Y
U, W = data.pairs()
ONE, TWO = K.Gaussian(1.5), (K.Gaussian(1.5), K.Gaussian(1.2))
SMALL = ["kme", "mkme"]


@recorded("explain/witness, {estimator}", wider=where_searched, estimator=["kme", "mkme", "s-kmse", "f-kmse"])
def witness(estimator: str) -> Values:
    found = explained.witness(X, Y, ONE, estimator=estimator)
    return {"norm": found.norm, "values": shown.plain(found.function(data.GRID))}


@recorded("explain/witness of embeddings")
def witness_of_embeddings() -> Values:
    found = explained.witness(km.embed(X, ONE, weights=data.WEIGHTS), km.embed(Y, ONE, noise=km.noise.Normal(0.1)))
    return {"norm": found.norm, "values": shown.plain(found.function(data.GRID))}


@recorded("explain/bands of the witness, {estimator}", wider=where_searched, estimator=SMALL)
def bands(estimator: str) -> Values:
    found = explained.witness_bands(X, Y, data.GRID, ONE, estimator=estimator, level=0.9, n_resamples=99, rng=1)
    return {
        "values": shown.plain(found.values),
        "halfwidth": shown.plain(found.halfwidth),
        "adjusted pvalues": shown.plain(found.adjusted),
    }


@recorded(
    "explain/contributions, {estimator}, {statistic}", wider=where_searched, estimator=SMALL, statistic=["u", "v"]
)
def contributions(estimator: str, statistic: str) -> Values:
    found = explained.contributions(X, Y, ONE, estimator=estimator, statistic=statistic)
    return {
        "statistic": found.statistic,
        **shown.array("values", found.values),
        **shown.array("witness", found.witness),
        "strongest": shown.plain(found.strongest(5)),
    }


def columns(found: Any) -> Values:
    """Return what an attribution says of each column or pair, in the order of the table."""
    return {
        "statistic": found.statistic,
        "scheme": found.scheme,
        "names": [name if isinstance(name := column.name, str) else " / ".join(name) for column in found.columns],
        "statistics": [column.statistic for column in found.columns],
        "effects": [column.effect for column in found.columns],
        "drops": [column.drop for column in found.columns],
        "pvalues": [column.pvalue for column in found.columns],
        "adjusted pvalues": [column.adjusted for column in found.columns],
    }


@recorded(
    "explain/columns, {estimator}, {adjustment}", wider=where_searched, estimator=SMALL, adjustment=["max-t", "holm"]
)
def attribute(estimator: str, adjustment: str) -> Values:
    A, B = data.numbers(60, 30), data.numbers(61, 25, 0.3)
    options: dict[str, Any] = {"kernel": ONE, "estimator": estimator, "adjustment": adjustment}
    return columns(explained.attribute(A, B, **options, n_resamples=99, rng=1))


@recorded("explain/groups of columns")
def attribute_groups() -> Values:
    A, B = data.normal(62, 30, 4), data.normal(63, 25, 4, shift=0.3)
    groups = {"first": [0, 1], "second": [2, 3]}
    return columns(explained.attribute(A, B, kernel=ONE, estimator="kme", groups=groups, n_resamples=99, rng=1))


@recorded("explain/size of an effect, {estimator}", wider=where_searched, estimator=SMALL)
def effect(estimator: str) -> Values:
    found = explained.effect_size(X, Y + 0.3, ONE, estimator=estimator, level=0.9, n_resamples=99, rng=1)
    return {
        "statistic": found.statistic,
        "standard error": found.standard_error,
        "pvalue": found.pvalue,
        "maximum": found.maximum,
        **shown.estimate("distance", found.distance),
        **shown.estimate("ratio", found.ratio),
        **shown.estimate("explained", found.explained),
    }


@recorded("explain/equivalence in {unit}, {method}", unit=["distance"], method=["simulated", "bound"])
@recorded("explain/equivalence in {unit}, {method}", unit=["explained"], method=["simulated"])
def equivalence(unit: str, method: Any) -> Values:
    options: dict[str, Any] = {"estimator": "kme", "unit": unit, "method": method, "level": 0.9}
    drawn = {} if method == "bound" else {"n_resamples": 99, "rng": 1}
    found = explained.equivalence_test(X, Y, 0.4, ONE, **options, **drawn)
    return {"statistic": found.statistic, "pvalue": found.pvalue, "upper": found.upper, "method": found.method}


@recorded("explain/dependence, witness of {estimator}", wider=where_searched, estimator=SMALL)
def dependence_witness(estimator: str) -> Values:
    found = explained.dependence_witness(U, W, TWO, estimator=estimator)
    return {"norm": found.norm, "values": shown.plain(found(data.GRID, data.GRID[::-1]))}


@recorded(
    "explain/dependence, contributions, {estimator}, {statistic}",
    wider=where_searched,
    estimator=SMALL,
    statistic=["u", "v"],
)
def dependence_contributions(estimator: str, statistic: str) -> Values:
    found = explained.dependence_contributions(U, W, TWO, estimator=estimator, statistic=statistic)
    return {"statistic": found.statistic, **shown.array("values", found.values)}


@recorded("explain/dependence, columns, {adjustment}", adjustment=["max-t", "holm"])
def dependence_attribute(adjustment: str) -> Values:
    options: dict[str, Any] = {"kernel": TWO, "estimator": "kme", "adjustment": adjustment}
    names = (("u", "v"), ("w", "z"))
    return columns(explained.dependence_attribute(U, W, **options, names=names, n_resamples=99, rng=1))


@recorded("explain/dependence, size of an effect, {estimator}", wider=where_searched, estimator=SMALL)
def dependence_effect(estimator: str) -> Values:
    found = explained.dependence_effect_size(U, W, TWO, estimator=estimator, level=0.9, n_resamples=99, rng=1)
    return {
        "statistic": found.statistic,
        "standard error": found.standard_error,
        "pvalue": found.pvalue,
        **shown.estimate("distance", found.distance),
        **shown.estimate("alignment", found.alignment),
    }


@recorded("explain/dependence, equivalence in {unit}", unit=["distance", "alignment"])
def dependence_equivalence(unit: str) -> Values:
    options: dict[str, Any] = {"estimator": "kme", "unit": unit, "level": 0.9, "n_resamples": 99, "rng": 1}
    found = explained.dependence_equivalence_test(U, W, 0.3, TWO, **options)
    return {"statistic": found.statistic, "pvalue": found.pvalue, "upper": found.upper, "method": found.method}
