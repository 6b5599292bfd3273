"""Whole tables: compare, dependence, density, estimate, encoders, readers, and monitors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import kernelmean as km
from kernelmean.studies import fit_all, fit_densities
from kernelmean.tables import TextFormat, match_columns, read_frame, read_table, split_groups
from record import data, shown
from record.registry import SEARCHED, Values, recorded, where_searched

BLANK: dict[str, Any] = {
    "drop": "drop",
    "category": {"city": "category", "age": "drop"},
    "noise": {"age": "noise", "city": "category"},
}
QUICK: dict[str, Any] = {"n_resamples": 99, "rng": 0}


def comparison(result: Any) -> Values:
    """Return what a comparison of two tables found."""
    columns = sorted(result.columns, key=lambda column: column.name)
    return {
        **shown.test(result.test),
        "sizes of tables": list(result.sizes),
        "columns": [column.name for column in columns],
        "kinds": [column.kind for column in columns],
        "gaps": [None if np.isnan(column.gap) else column.gap for column in columns],
        "statistics": [column.statistic for column in columns],
        "pvalues": [column.pvalue for column in columns],
        "adjusted pvalues": [column.adjusted for column in columns],
    }


@recorded(
    "compare/numbers, {estimator}",
    wider=where_searched,
    estimator=["kme", "s-kmse", "f-kmse", "mkme", "mmkme", "adaptive"],
)
def compare_numbers(estimator: str) -> Values:
    A, B = data.numbers(90, 30), data.numbers(91, 25, 0.3)
    brought = {} if estimator == "adaptive" else {"bandwidth": "median"}
    return comparison(km.compare(A, B, estimator=estimator, scale=True, **brought, **QUICK))


@recorded("compare/numbers as they are, bandwidth {bandwidth}", bandwidth=[1.5, "median-unsquared"])
def compare_unscaled(bandwidth: Any) -> Values:
    A, B = data.numbers(90, 30), data.numbers(91, 25, 0.3)
    return comparison(km.compare(A, B, estimator="kme", scale=False, bandwidth=bandwidth, **QUICK))


LIBRARIES: dict[str, Any] = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}


@recorded(
    "compare/mixed, {library}, {estimator}",
    wider=where_searched,
    library={"pandas": LIBRARIES["pandas"]},
    estimator=["adaptive"],
)
@recorded("compare/mixed, {library}, {estimator}", wider=where_searched, library=LIBRARIES, estimator=["kme"])
def compare_mixed(library: Any, estimator: str) -> Values:
    A, B = (library(data.mixed(seed, 40, tilt=tilt)) for seed, tilt in ((92, 0.4), (93, 0.6)))
    return comparison(km.compare(A, B, estimator=estimator, ordinal=data.ORDER, scale=True, **QUICK))


@recorded("compare/missing cells, {missing}", missing=BLANK)
def compare_missing(missing: Any) -> Values:
    A, B = (data.mixed(seed, 40, blank=True, tilt=tilt) for seed, tilt in ((94, 0.4), (95, 0.6)))
    options: dict[str, Any] = {"estimator": "kme", "ordinal": data.ORDER, "scale": True, "missing": missing}
    return comparison(km.compare(A, B, **options, **QUICK))


@recorded("compare/codes as categories")
def compare_codes() -> Values:
    A, B = (data.mixed(seed, 40, tilt=tilt)[["age", "amount"]] for seed, tilt in ((94, 0.4), (95, 0.6)))
    A["code"], B["code"] = data.strata(40, 4), data.strata(40, 3)
    return comparison(km.compare(A, B, estimator="kme", categorical=("code",), scale=True, **QUICK))


def dependence(result: Any) -> Values:
    """Return what a test of columns against columns found."""
    pairs = sorted(result.pairs, key=lambda pair: (pair.x, pair.y))
    joint = {} if result.test is None else shown.test(result.test)
    return {
        **joint,
        "rows": result.n_rows,
        "pairs": [f"{pair.x} / {pair.y}" for pair in pairs],
        "strengths": [pair.strength for pair in pairs],
        "pvalues of pairs": [pair.pvalue for pair in pairs],
        "adjusted pvalues": [pair.adjusted for pair in pairs],
    }


@recorded("dependence/numbers, {estimator}", wider=where_searched, estimator=["kme", "mkme", "adaptive"])
def dependence_numbers(estimator: str) -> Values:
    frame = data.numbers(96, 40).assign(d=lambda table: table["a"] ** 2 + 0.3 * table["b"])
    return dependence(km.dependence(frame, ["a", "b"], ["d"], estimator=estimator, scale=True, **QUICK))


@recorded("dependence/all pairs, {missing}", missing=BLANK)
def dependence_pairs(missing: Any) -> Values:
    options: dict[str, Any] = {"estimator": "kme", "ordinal": data.ORDER, "scale": True, "missing": missing}
    return dependence(km.dependence(data.mixed(97, 45, blank=True), **options, **QUICK))


@recorded("dependence/mixed, adaptive")
def dependence_mixed() -> Values:
    options: dict[str, Any] = {"estimator": "adaptive", "ordinal": data.ORDER, "scale": True}
    return dependence(km.dependence(data.mixed(97, 40), ["age", "city"], ["amount", "flag"], **options, **QUICK))


@recorded("density/held out, {estimator}", wider=SEARCHED, estimator=["mkme"])
def density(estimator: str) -> Values:
    options: dict[str, Any] = {"estimator": estimator, "n_components": (3,), "covariance_type": "diag", "held_out": 0.3}
    found = fit_densities(data.blobs(), **options, rng=0)
    mix = found.mixture()
    order = np.argsort(mix.means[:, 0])
    return {
        "sizes": list(found.sizes),
        "center": shown.plain(found.center),
        "unit": shown.plain(found.unit),
        "candidates": len(found.candidates),
        "weights": shown.plain(mix.weights[order]),
        "means": shown.plain(mix.means[order]),
        "covariances": shown.plain(mix.covariances[order]),
        "score": float(found.model.score((data.blobs() - found.center) / found.unit)),
    }


@recorded("estimate/all estimators", wider=SEARCHED)
def estimate() -> Values:
    found = fit_all(data.numbers(98, 40), bandwidth="median", scale=True)
    chosen = shown.flat({name: found.parameters(name) for name in found.estimators})
    chosen.pop("vpmkme contraction")  # an optimiser ends at 1e-8, next to its bound 0
    return {
        "best": found.best,
        "scores": [fit.loocv_ for fit in found.estimators.values()],
        "estimators": list(found.estimators),
        "norms": [found.embedding(name).norm() for name in found.estimators],
        **chosen,
    }


@recorded("tables/encoder, {missing}", missing={"category": "category", "noise": BLANK["noise"]})
def encoder(missing: Any) -> Values:
    made = km.TableEncoder(missing=missing, ordinal=data.ORDER, scale=True)
    table = data.mixed(99, 30, blank=True)
    if missing == "category":
        table = table.drop(columns=["age"])
    values = made.fit(table).transform(table)
    return {"names": [str(name) for name in made.get_feature_names_out()], **shown.array("values", values)}


@recorded("tables/file {ending}", ending=["csv", "tsv", "csv.gz", "parquet", "feather", "jsonl", "jsonl.gz"])
def files(ending: str, folder: Path) -> Values:
    frame, path = data.mixed(100, 20, blank=True), folder / f"table.{ending}"
    write(frame, path)
    read = read_frame(path)
    numbers = read_table(path, columns=["age", "amount"], missing="drop")
    return {
        "names": list(read.names),
        "cities": [None if city is None else str(city) for city in read["city"].tolist()[:4]],
        **shown.array("numbers", numbers.values),
        "batches": [len(batch) for batch in km.read(path, columns=["amount"], batch_rows=8)],
    }


def write(frame: Any, path: Path) -> None:
    """Write a table in the form that the ending of the file says."""
    form = path.name.split(".")[1]
    if form in {"csv", "tsv"}:
        frame.to_csv(path, index=False, sep="," if form == "csv" else "\t")
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    elif form == "parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_feather(path)


@recorded("tables/text of spreadsheets")
def spreadsheet(folder: Path) -> Values:
    path = folder / "sales.csv"
    path.write_text("day;price;share\n01.02.2024;1.234,50;12\n29.02.2024;7,25;8\n", encoding="latin-1")
    text = TextFormat(decimal=",", thousands=".", dates="dmy", encoding="latin-1")
    frame = read_frame(path, text=text)
    return {
        "prices": frame["price"].tolist(),
        "shares": frame["share"].tolist(),
        "days": [str(day)[:10] for day in frame["day"].astype(str).tolist()],
    }


@recorded("tables/split and matched")
def split_and_matched(folder: Path) -> Values:
    frame, path = data.numbers(101, 20).assign(group=lambda table: ["u", "v"] * 10), folder / "table.csv"
    frame.to_csv(path, index=False)
    first, second = split_groups(read_frame(path), "group", ["v", "u"])
    matched, moved = match_columns(first.select(["a", "b"]), second.select(["b", "a"]))
    return {
        "names": list(matched.names),
        "moved": moved,
        "sum": float(np.sum(matched["a"])),
        "other": float(np.sum(first["a"])),
    }


def monitored(state: Any) -> Values:
    """Return what a monitor says."""
    return {
        "rows": state.n_rows,
        "log wealth": state.log_wealth,
        "log peak": state.log_peak,
        "detected at": state.detected_at,
    }


@recorded("monitor/numbers, {shift}", shift=[0.0, 1.0])
def monitor(shift: float) -> Values:
    made = km.DriftMonitor(data.normal(102, 200), seed=1)
    for batch in data.batches(data.normal(103, 80, shift=shift), 20):
        made.update(batch)
    return monitored(made.state)


@recorded("monitor/mixed table, more reference, gone on from text")
def monitor_mixed() -> Values:
    options: dict[str, Any] = {
        "ordinal": data.ORDER,
        "missing": "drop",
        "seed": 2,
    }
    tables = [
        data.mixed(seed, 60, blank=True, tilt=tilt) for seed, tilt in ((104, 0.5), (105, 0.5), (106, 0.5), (107, 0.8))
    ]
    reference, early, more, late = (table.drop(columns=["when"]) for table in tables)
    made = km.DriftMonitor(reference, **options)
    made.update(early)
    made.add_reference(more)
    again = km.DriftMonitor(reference, **options)
    again.add_reference(more)
    again.resume(made.to_json())
    made.update(late)
    again.update(late)
    return {**monitored(again.state), "the same": made.state == again.state}


@recorded("monitor/run length, when it changed")
def monitor_run_length() -> Values:
    made = km.DriftMonitor(data.normal(108, 150), average_run_length=1000, shuffle=False, seed=3)
    made.update(data.normal(109, 50))
    made.update(data.normal(110, 100, shift=1.5))
    return {**monitored(made.state), "changed between": made.changed_between()}
