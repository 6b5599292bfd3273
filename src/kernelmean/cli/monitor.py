"""kernelmean monitor: batch after batch against a reference, by p-values that hold at any time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..core.cells import label, missing_cells
from ..core.disk import read_text, write_file
from ..core.sealed import parse, sealed, unsealed
from ..core.table import Frame
from ..core.validate import check_integer
from ..core.words import count
from ..inference.facts import beside
from ..inference.monitoring import DriftMonitor, DriftState
from ..inference.monitoring.checkpoint import digest
from ..tables.files import first_line
from ..tables.readers import PLAIN
from ..tables.reading import TextFormat, read_frame
from . import show, tell
from .config import Config
from .drift import DRIFTED, LEVEL
from .inputs import Reading, check_once, level_orders, missing_rule, select_columns, split_names
from .options import Category, Columns, Csv, Drop, Json, Keep, Ordinal, Quiet, Scale, Seed, Source, bandwidth_from
from .outputs import Output
from .text import reads_text

EXAMPLES = (
    "kernelmean monitor before.csv after.csv",
    "kernelmean monitor reference.csv monday.csv tuesday.csv --checkpoint state.json --fail-on-drift 0.01",
    "kernelmean monitor before.parquet visits.parquet --by day --every week",
)
_UNITS = {"hour": "h", "day": "D", "week": "D", "month": "M"}

News = Annotated[list[str], typer.Argument(metavar="NEW...", help="Later tables, in the order of their time.")]
By = Annotated[str | None, typer.Option(metavar="COLUMN", help="Cut every NEW into batches by this column.")]
Every = Annotated[str | None, typer.Option(metavar="hour|day|week|month", help="Batches of that length, of --by.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Go on from this JSON file if it is there, and write it. Known batches pass."),
]
Fail = Annotated[
    float | None,
    typer.Option("--fail-on-drift", metavar="ALPHA", help="End with exit code 1 once p was at most ALPHA."),
]
MissingRule = Annotated[
    str, typer.Option("--missing", metavar="RULE", help="What a blank cell is: error, drop, or category; or a=drop,….")
]
Bandwidth = Annotated[str, typer.Option(metavar="RULE|NUMBER", help="The kernels have 1/4, 1/2, 1 and 2 times it.")]


@dataclass(frozen=True)
class Batch:
    """Rows that come together, and what to call them."""

    name: str
    frame: Frame

    @property
    def digest(self) -> str:
        """A text that differs between batches."""
        return digest(self.frame, self.name)


@reads_text
def monitor(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help=Source)],
    news: News,
    by: By = None,
    every: Every = None,
    checkpoint: Checkpoint = None,
    fail_on_drift: Fail = None,
    bandwidth: Bandwidth = "median",
    scale: Scale = True,
    recycle: Annotated[
        bool, typer.Option("--recycle/--no-recycle", help="Keep every second new row as reference for later ones.")
    ] = True,
    columns: Columns = None,
    drop: Drop = None,
    missing: MissingRule = "error",
    ordinal: Ordinal = None,
    categorical: Category = None,
    keep: Keep = None,
    text: TextFormat = PLAIN,
    seed: Seed = 0,
    csv_path: Csv = None,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Ask after every batch of new rows whether they have drifted from a reference; look as often as you want.

    The exit code is 0; 2 for bad input; with --fail-on-drift 1 when drift was found;
    70 when kernelmean itself failed.
    """
    output = Output(csv=csv_path, json=json_path, quiet=quiet, config=config)
    output.check(reference, *news, checkpoint=checkpoint)
    if every is not None and (by is None or every not in _UNITS):
        raise ValueError(f"--every is {every!r}; write --by COLUMN --every hour, day, week or month")
    check_once(reference, *news)
    reading = Reading(tuple(columns or ()), tuple(drop or ()), text=text)
    first = read_frame(reference, text=text)
    known = _reference(first, reading, by)
    watch = DriftMonitor(
        known,
        bandwidth=bandwidth_from(bandwidth),
        recycle=recycle,
        scale=scale,
        missing=missing_rule(missing),
        ordinal=level_orders(ordinal or ()),
        categorical=split_names(categorical or (), known.names),
        keep=split_names(keep or (), known.names),
        alpha=LEVEL if fail_on_drift is None else fail_on_drift,
        seed=seed,
    )
    seen = _resumed(watch, checkpoint)
    notes, rows = list(known.notes), []
    for batch in (batch for path in news for batch in _batches(path, first, reading, by, every, notes)):
        if any(batch.digest == one["digest"] for one in seen):
            notes.append(f"{batch.name} was monitored before and left out")
            continue
        known_rows = _known_rows(batch, seen)
        if known_rows:
            notes.append(
                f"{batch.name}: its first {count(known_rows, 'row')} had been monitored before, only the others count"
            )
        state = watch.update(batch.frame.take(slice(known_rows, None)))
        seen.append({"name": batch.name, "digest": batch.digest, "rows": len(batch.frame)})
        rows.append({"batch": batch.name, "rows": len(batch.frame) - known_rows, **_numbers(state)})
    state = watch.state
    if checkpoint is not None:
        kept = {"batches": seen, "monitor": json.loads(watch.to_json())}
        write_file(checkpoint, json.dumps(sealed(kept)).encode())
    content = {**state.as_dict(), "verdict": state.verdict(), "reference": reference, "batches": rows, "seed": seed}
    output.write(show.monitoring(state, reference, len(known), rows, notes), content, rows or [_numbers(state)])
    return _exit_code(state, fail_on_drift)


def _numbers(state: DriftState) -> dict[str, Any]:
    return {"pvalue": state.pvalue, "log_wealth": state.log_wealth, "drift": state.drift}


def _reference(frame: Frame, reading: Reading, by: str | None) -> Frame:
    """Return the chosen columns; what only later tables have may be left out of them alone."""
    own = frame.select(drop=[by]) if by in frame.names else frame
    columns = tuple(name for name in split_names(reading.columns, frame.names) if name != by)
    reading = replace(reading, columns=columns)
    return select_columns(own, _dropping(reading, own.names, lambda name: name in own.names))


def _dropping(reading: Reading, known: Sequence[str], wanted: Callable[[str], bool]) -> Reading:
    names = split_names(reading.drop, known)
    return replace(reading, drop=tuple(name for name in names if wanted(name)))


def _batches(
    path: str, first: Frame, reading: Reading, by: str | None, every: str | None, notes: list[str]
) -> Iterator[Batch]:
    """Yield the batches of a file in the order of their time."""
    frame = read_frame(path, text=reading.text)
    notes += frame.notes
    only_before = set(first.names) - set(frame.names)
    reading = _dropping(reading, (*frame.names, *first.names), lambda name: name not in only_before)
    if by is None:
        yield Batch(Path(path).name, select_columns(frame, reading))
        return
    chosen = select_columns(frame, reading, also=by)
    rest, cells = chosen.select(drop=[by]), chosen[by]
    blank = missing_cells(cells)
    if blank.any():
        notes.append(f"{path}: {count(int(blank.sum()), 'row')} without {by!r} left out")
    keys, texts = _keys(cells[~blank], by, every)
    for number, text in enumerate(texts):
        rows = np.flatnonzero(~blank)[keys == number]
        yield Batch(f"{by}={text}", replace(rest.take(rows), source=f"{path}, {by}={text}"))


def _keys(cells: Any, by: str, every: str | None) -> tuple[Any, Sequence[str]]:
    """Return the number of the batch of every row, and the names of the batches; times and numbers ascend."""
    if cells.dtype.kind == "M" and every is not None:
        cells = cells.astype(f"datetime64[{_UNITS[every]}]")
        if every == "week":
            cells = cells - (cells.astype(np.int64) + 3) % 7  # the Monday before; 1970 began with a Thursday
    elif every is not None:
        raise ValueError(
            f"--every {every} needs dates in the column {by!r}; write them as 2024-12-31, or leave --every"
        )
    if cells.dtype == object:
        texts = list(dict.fromkeys(map(str, cells)))
        return np.array([texts.index(str(cell)) for cell in cells]), texts
    values, keys = np.unique(cells, return_inverse=True)
    return keys, [str(label(value)) for value in (values.tolist() if cells.dtype.kind == "f" else values)]


def _known_rows(batch: Batch, seen: Sequence[Mapping[str, Any]]) -> int:
    """Return how many rows a batch begins with that were monitored before: of a file that has grown, say."""
    sizes = {one.get("rows", 0) for one in seen if one["name"] == batch.name}
    known = {one["digest"] for one in seen}
    begun = (rows for rows in sorted(sizes, reverse=True) if 0 < rows < len(batch.frame))
    return next((rows for rows in begun if Batch(batch.name, batch.frame.take(slice(0, rows))).digest in known), 0)


def _resumed(watch: DriftMonitor, checkpoint: Path | None) -> list[dict[str, Any]]:
    """Let the monitor go on from a checkpoint that is there; return the batches that it knows."""
    if checkpoint is None or not checkpoint.exists():
        return []
    try:
        content = unsealed(parse(read_text(checkpoint)), ("batches", "monitor"))
        seen = [_seen(one) for one in content["batches"]]
        text = json.dumps(content["monitor"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{checkpoint} is no checkpoint of kernelmean monitor ({first_line(error)}); remove it to begin anew"
        ) from error
    try:
        watch.resume(text)
    except ValueError as error:
        raise ValueError(f"{checkpoint}: {error}") from error
    return seen


def _seen(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint says of a batch; those of earlier versions do not say how many rows it had."""
    rows = {"rows": check_integer(one["rows"], "rows", 1)} if "rows" in one else {}
    return {"name": str(one["name"]), "digest": str(one["digest"]), **rows}


def _exit_code(state: DriftState, alpha: float | None) -> int:
    """Return the exit code, and say on stderr why it is not 0."""
    if alpha is None or not state.drift:
        return 0
    tell(f"kernelmean: drift: p = {beside(state.pvalue, alpha)}, at most {alpha:g}, found at row {state.detected_at:,}")
    return DRIFTED
