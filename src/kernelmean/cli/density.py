"""kernelmean density: a mixture density of one table of numbers, compared with other densities on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..core.words import count
from ..tables.limits import FIT_LIMIT
from .options import NumberTable, OneTable, ReportOutput, ScaleOption, Seed
from .parameters import command


@dataclass(frozen=True)
class MixtureFit(OneTable):
    """A table, and the mixtures to try."""

    estimator: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The estimate to match: kme, s-kmse, f-kmse, mkme, mmkme or vpmkme."),
    ] = None
    components: Annotated[str | None, typer.Option(metavar="N,M", help="The numbers of components to try.")] = None
    covariance: Annotated[
        str | None, typer.Option(metavar="KIND", help="The covariances: spherical, diag, tied or full.")
    ] = None
    held_out: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of the rows to hold out and judge by.")
    ] = 0.3
    check: Annotated[
        bool, typer.Option("--check", help="Test whether the held-out rows come from the mixture that was fitted.")
    ] = False


@dataclass(frozen=True)
class Written:
    """Files for the mixture itself and for draws from it."""

    save_path: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save the mixture as an embedding.")
    ] = None
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Draw N rows from the mixture of kernel mean matching.")
    ] = None
    sample_to: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the drawn rows to this CSV file.")] = (
        None
    )


@dataclass(frozen=True)
class Scaling(ScaleOption, Seed):
    """Whether columns are scaled, and the seed."""


@command(
    "kernelmean density wine --drop target --plot pairs.png",
    "kernelmean density data.csv --components 2,5,10 --estimator mkme --sample 1000 --sample-to new.csv",
)
def density(fit: MixtureFit, kept: Written, units: Scaling, table: NumberTable, report: ReportOutput) -> None:
    """Fit a mixture density by kernel mean matching, and compare it with other densities on held-out rows."""
    from ..estimators.files import save  # slow to import, which help can do without
    from ..studies.density import fit_densities
    from .inputs import read_numbers, reading
    from .outputs import write_rows
    from .progress import progress

    if (kept.sample is None) != (kept.sample_to is None):
        raise ValueError("--sample N and --sample-to FILE belong together; write both or none")
    output = report.output
    output.check(fit.data, save=kept.save_path, sample_to=kept.sample_to)
    source = read_numbers(fit.data, reading(table, units.seed, FIT_LIMIT), table.missing)
    with progress(report.quiet) as step:
        result = fit_densities(
            source.frame,
            estimator=fit.estimator,
            n_components=_counts(fit.components),
            covariance_type=fit.covariance,
            held_out=fit.held_out,
            scale=units.scale,
            keep=table.kept(source.frame.names),
            check=fit.check,
            rng=units.seed,
            progress=step,
        )
    result = source.told(result, units.seed)
    written = []
    if kept.save_path is not None:
        save(result.embedding(), kept.save_path, columns=result.table.names)
        written.append(f"the mixture saved to {kept.save_path}")
    if kept.sample is not None and kept.sample_to is not None:
        write_rows(result.sample(kept.sample, units.seed), result.table.names, kept.sample_to)
        written.append(
            f"{count(kept.sample, 'row')} drawn from the mixture of kernel mean matching written to {kept.sample_to}"
        )
    output.put(result, [*written, *output.drawn("marginals and pairs", result.plot)])


def _counts(text: str | None) -> list[int]:
    try:
        numbers = [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        numbers = [0]
    if any(number < 1 for number in numbers):
        raise ValueError(f"--components is {text!r}; write whole numbers from 1, such as 2,5,10")
    return numbers
