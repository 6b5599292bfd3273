"""kernelmean estimate: all estimators side by side on one table of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..core.words import listed
from ..tables.limits import ESTIMATE_LIMIT
from .options import BandwidthOption, NumberTable, OneTable, ReportOutput, ScaleOption, Seed
from .parameters import command


@dataclass(frozen=True)
class Saved(OneTable):
    """A table, and the estimate to save."""

    save_path: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save an estimate, in the units of DATA.")
    ] = None
    estimator: Annotated[
        str | None, typer.Option(metavar="NAME", help="The estimate to save; by default the one with the lowest score.")
    ] = None


@dataclass(frozen=True)
class Fit(BandwidthOption, ScaleOption, Seed):
    """How the estimators are fitted."""


@command(
    "kernelmean estimate wine --drop target",
    "kernelmean estimate data.csv --save mean.npz --estimator mmkme",
    "kernelmean estimate data.csv --html report.html",
)
def estimate(saved: Saved, fit: Fit, table: NumberTable, report: ReportOutput) -> None:
    """Fit all estimators to a table: leave-one-out scores and chosen parameters side by side."""
    from ..estimators import NAMED  # slow to import, which help can do without
    from ..estimators.files import save
    from ..studies.estimate import fit_all
    from .inputs import read_numbers, reading
    from .progress import progress

    output = report.output
    output.check(saved.data, save=saved.save_path)
    if saved.estimator is not None and saved.estimator not in NAMED:
        raise ValueError(f"estimator is {saved.estimator!r}; write one of {listed(NAMED)}")
    if saved.estimator is not None and saved.save_path is None:
        raise ValueError("--estimator names the estimate that --save writes; add --save FILE, or leave --estimator out")
    source = read_numbers(saved.data, reading(table, fit.seed, ESTIMATE_LIMIT), table.missing)
    with progress(report.quiet) as step:
        fits = fit_all(
            source.frame,
            bandwidth=fit.theta,
            scale=fit.scale,
            keep=table.kept(source.frame.names),
            progress=step,
        )
    fits = source.told(fits, fit.seed)
    written = []
    if saved.save_path is not None:
        name = saved.estimator or fits.best
        save(fits.embedding(name), saved.save_path, columns=fits.table.names)
        written.append(f"{name} saved to {saved.save_path}")
    output.put(fits, [*written, *output.drawn("scores", fits.plot)])
