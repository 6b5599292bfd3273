"""kernelmean estimate and kernelmean density: what is fitted to one table of numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..core.words import count, listed
from ..estimators.files import save
from ..inference.facts import short
from ..studies.density import Densities, fit_densities
from ..studies.estimate import ESTIMATORS, fit_all
from ..tables.readers import PLAIN
from ..tables.reading import TextFormat
from .config import Config
from .inputs import FIT_LIMIT, read_numbers, reading, split_names
from .options import (
    Bandwidth,
    Columns,
    Csv,
    Drop,
    Json,
    Keep,
    MaxRows,
    Missing,
    Page,
    Picture,
    Quiet,
    Scale,
    Seed,
    Source,
    Text,
    bandwidth_from,
    counts,
)
from .outputs import Output, drawing, write_picture, write_rows
from .progress import progress
from .text import reads_text

ESTIMATES = (
    "kernelmean estimate wine --drop target",
    "kernelmean estimate data.csv --save mean.npz --estimator mmkme",
)
DENSITIES = (
    "kernelmean density wine --drop target --plot pairs.png",
    "kernelmean density data.csv --components 2,5,10 --estimator mkme --sample 1000 --sample-to new.csv",
)


@reads_text
def estimate(
    data: Annotated[str, typer.Argument(metavar="DATA", help=Source)],
    save_path: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save an estimate, in the units of DATA.")
    ] = None,
    estimator: Annotated[
        str | None, typer.Option(metavar="NAME", help="The estimate to save: by default that of the lowest score.")
    ] = None,
    bandwidth: Bandwidth = "median",
    scale: Scale = True,
    columns: Columns = None,
    drop: Drop = None,
    missing: Missing = "error",
    keep: Keep = None,
    text: TextFormat = PLAIN,
    max_rows: MaxRows = None,
    seed: Seed = 0,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Fit all estimators to a table: leave-one-out scores and chosen parameters side by side."""
    output = Output(json=json_path, quiet=quiet, config=config)
    output.check(data, save=save_path)
    if estimator is not None and estimator not in ESTIMATORS:
        raise ValueError(f"estimator is {estimator!r}; write one of {listed(ESTIMATORS)}")
    if estimator is not None and save_path is None:
        raise ValueError("--estimator names the estimate that --save writes; add --save FILE, or leave --estimator out")
    source = read_numbers(data, reading(columns, drop, max_rows, seed, text, FIT_LIMIT), missing)
    with progress(quiet) as report:
        fits = fit_all(
            source.frame,
            bandwidth=bandwidth_from(bandwidth),
            scale=scale,
            keep=split_names(keep or (), source.frame.names),
            progress=report,
        )
    fits = replace(fits, notes=(*source.notes, *fits.notes), name=short(source.name), seed=seed)
    written = []
    if save_path is not None:
        name = estimator or fits.best
        save(fits.embedding(name), save_path, columns=fits.table.names)
        written.append(f"{name} saved to {save_path}")
    output.put(fits, files=written)


@reads_text
def density(
    data: Annotated[str, typer.Argument(metavar="DATA", help=Source)],
    estimator: Annotated[
        str | None, typer.Option(metavar="NAME", help="What is matched: kme, s-kmse, f-kmse, mkme, mmkme or vpmkme.")
    ] = None,
    components: Annotated[str | None, typer.Option(metavar="N,M", help="Numbers of components to try.")] = None,
    covariance: Annotated[str | None, typer.Option(metavar="KIND", help="spherical, diag, tied or full.")] = None,
    held_out: Annotated[float, typer.Option(metavar="SHARE", help="Share of the rows to judge by.")] = 0.3,
    save_path: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save the mixture as an embedding.")
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="Draw N rows from the mixture.")] = None,
    sample_to: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them to this CSV file.")] = None,
    scale: Scale = True,
    columns: Columns = None,
    drop: Drop = None,
    missing: Missing = "error",
    keep: Keep = None,
    text: TextFormat = PLAIN,
    max_rows: MaxRows = None,
    seed: Seed = 0,
    plot_path: Picture = None,
    html_path: Page = None,
    markdown_path: Text = None,
    csv_path: Csv = None,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Fit a mixture density by kernel mean matching, and compare it with others on rows held out."""
    if (sample is None) != (sample_to is None):
        raise ValueError("--sample N and --sample-to FILE belong together; write both or none")
    output = Output(html_path, markdown_path, csv_path, json_path, quiet, config)
    output.check(data, figures=Densities.figures, plot=plot_path, save=save_path, sample_to=sample_to)
    plots = drawing(plot_path)
    source = read_numbers(data, reading(columns, drop, max_rows, seed, text, FIT_LIMIT), missing)
    with progress(quiet) as report:
        result = fit_densities(
            source.frame,
            estimator=estimator,
            n_components=counts(components),
            covariance_type=covariance,
            held_out=held_out,
            scale=scale,
            keep=split_names(keep or (), source.frame.names),
            rng=seed,
            progress=report,
        )
    result = replace(result, notes=(*source.notes, *result.notes), name=short(source.name), seed=seed)
    written = []
    if save_path is not None:
        save(result.embedding(), save_path, columns=result.table.names)
        written.append(f"the mixture saved to {save_path}")
    if sample is not None and sample_to is not None:
        write_rows(result.sample(sample, seed), result.table.names, sample_to)
        written.append(f"{count(sample, 'row')} drawn from the mixture written to {sample_to}")
    if plots is not None and plot_path is not None:
        write_picture(plots, plots.density_pairs(result), plot_path)
        written.append(f"marginals and pairs drawn in {plot_path}")
    output.put(result, result.document() if output.page else None, written)
