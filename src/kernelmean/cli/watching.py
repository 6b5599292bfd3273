"""Batches of rows in the order of time, and what a monitor says about each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cells import label, missing_cells
from ..core.disk import parse, read_text, sealed, unsealed, write_file
from ..core.table import Frame
from ..core.validate import check_integer
from ..core.words import count
from ..inference.monitoring import DriftMonitor, DriftState
from ..inference.monitoring.checkpoint import digest
from ..tables.files import first_line
from ..tables.reading import read_frame
from .inputs import ReadOptions, check_once, select_columns
from .options import level_orders, missing_rule, split_names

if TYPE_CHECKING:
    from .monitor import Watched
    from .options import BatchTable, Seed

__all__ = ["UNITS", "Seen", "check_once", "watch"]

UNITS = {"hour": "h", "day": "D", "week": "D", "month": "M"}


@dataclass(frozen=True)
class Batch:
    """Rows that arrive together, and what to call them."""

    name: str
    frame: Frame

    @property
    def digest(self) -> str:
        """A text that differs between batches."""
        return digest(self.frame, self.name)

    def known_rows(self, seen: Sequence[Mapping[str, Any]]) -> int:
        """Return how many of the first rows were monitored before, for example in a file that has grown."""
        sizes = {one.get("rows", 0) for one in seen if one["name"] == self.name}
        known = {one["digest"] for one in seen}
        begun = (rows for rows in sorted(sizes, reverse=True) if 0 < rows < len(self.frame))
        return next((rows for rows in begun if Batch(self.name, self.frame.take(slice(0, rows))).digest in known), 0)


@dataclass(frozen=True)
class Seen:
    """What a monitor says after the last batch, and after each batch before."""

    state: DriftState
    known: int
    """The rows of the reference."""
    notes: list[str]
    batches: list[dict[str, Any]]
    """What was said after every batch."""
    changed: tuple[int, int] | None
    """The rows between which the change happened."""

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers after the last batch."""
        return _numbers(self.state)


def watch(watched: Watched, seed: Seed, table: BatchTable) -> Seen:
    """Monitor all batches, and keep the checkpoint."""
    reading = ReadOptions(tuple(table.columns or ()), tuple(table.drop or ()), text=table.text)
    first = read_frame(watched.reference, text=reading.text)
    known = _reference(first, reading, watched.by)
    drift = _monitor(known, watched, seed, table)
    seen = _resumed(drift, watched.checkpoint)
    notes, rows = list(known.notes), []
    for batch in (batch for path in watched.news for batch in _batches(path, first, reading, watched, notes)):
        if any(batch.digest == one["digest"] for one in seen):
            notes.append(f"{batch.name} was monitored before and left out")
            continue
        known_rows = batch.known_rows(seen)
        if known_rows:
            notes.append(
                f"{batch.name}: its first {count(known_rows, 'row')} had been monitored before, only the others count"
            )
        state = drift.update(batch.frame.take(slice(known_rows, None)))
        seen.append({"name": batch.name, "digest": batch.digest, "rows": len(batch.frame)})
        rows.append({"batch": batch.name, "rows": len(batch.frame) - known_rows, **_numbers(state)})
    if watched.checkpoint is not None:
        kept = {"batches": seen, "monitor": json.loads(drift.to_json())}
        write_file(watched.checkpoint, json.dumps(sealed(kept)).encode())
    return Seen(drift.state, len(known), [*notes, *drift.state.notes], rows, drift.changed_between())


def _monitor(known: Frame, watched: Watched, seed: Seed, table: BatchTable) -> DriftMonitor:
    """Return the monitor of a reference."""
    return DriftMonitor(
        known,
        missing=missing_rule(table.missing),
        ordinal=level_orders(table.ordinal or ()),
        categorical=split_names(table.categorical or (), known.names),
        keep=table.kept(known.names),
        alpha=watched.fail_on_drift,
        average_run_length=watched.average_run_length,
        seed=seed.seed,
    )


def _numbers(state: DriftState) -> dict[str, Any]:
    return {"pvalue": state.pvalue, "log_wealth": state.log_wealth, "drift": state.drift}


def _reference(frame: Frame, reading: ReadOptions, by: str | None) -> Frame:
    """Return the chosen columns of the reference; ignore names in --drop that only later tables have."""
    own = frame.select(drop=[by]) if by in frame.names else frame
    columns = tuple(name for name in split_names(reading.columns, frame.names) if name != by)
    reading = replace(reading, columns=columns)
    return select_columns(own, _dropping(reading, own.names, lambda name: name in own.names))


def _dropping(reading: ReadOptions, known: Sequence[str], wanted: Callable[[str], bool]) -> ReadOptions:
    names = split_names(reading.drop, known)
    return replace(reading, drop=tuple(name for name in names if wanted(name)))


def _batches(path: str, first: Frame, reading: ReadOptions, watched: Watched, notes: list[str]) -> Iterator[Batch]:
    """Yield the batches of a file in the order of time."""
    frame = read_frame(path, text=reading.text)
    notes += frame.notes
    only_before = set(first.names) - set(frame.names)
    reading = _dropping(reading, (*frame.names, *first.names), lambda name: name not in only_before)
    by = watched.by
    if by is None:
        yield Batch(Path(path).name, select_columns(frame, reading))
        return
    chosen = select_columns(frame, reading, also=() if by is None else (by,))
    rest, cells = chosen.select(drop=[by]), chosen[by]
    blank = missing_cells(cells)
    if blank.any():
        notes.append(f"{path}: {count(int(blank.sum()), 'row')} without {by!r} left out")
    keys, texts = _keys(cells[~blank], by, watched.every)
    for number, text in enumerate(texts):
        rows = np.flatnonzero(~blank)[keys == number]
        yield Batch(f"{by}={text}", replace(rest.take(rows), source=f"{path}, {by}={text}"))


def _keys(cells: Any, by: str, every: str | None) -> tuple[Any, Sequence[str]]:
    """Return the batch number of every row, and the names of the batches, in ascending order for times and numbers."""
    if cells.dtype.kind == "M" and every is not None:
        cells = cells.astype(f"datetime64[{UNITS[every]}]")
        if every == "week":
            cells = cells - (cells.astype(np.int64) + 3) % 7  # the Monday before; 1970 began on a Thursday
    elif every is not None:
        raise ValueError(
            f"--every {every} needs dates in the column {by!r}; write them as 2024-12-31, or leave --every"
        )
    if cells.dtype == object:
        texts = list(dict.fromkeys(map(str, cells)))
        return np.array([texts.index(str(cell)) for cell in cells]), texts
    values, keys = np.unique(cells, return_inverse=True)
    return keys, [str(label(value)) for value in (values.tolist() if cells.dtype.kind == "f" else values)]


def _resumed(watch: DriftMonitor, checkpoint: Path | None) -> list[dict[str, Any]]:
    """Let the monitor resume from an existing checkpoint; return the batches that it knows."""
    if checkpoint is None or not checkpoint.exists():
        return []
    try:
        content = unsealed(parse(read_text(checkpoint)), ("batches", "monitor"))
        seen = [_seen(one) for one in content["batches"]]
        text = json.dumps(content["monitor"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{checkpoint} is no checkpoint of kernelmean monitor ({first_line(error)}); remove it to start over"
        ) from error
    try:
        watch.resume(text)
    except ValueError as error:
        raise ValueError(f"{checkpoint}: {error}") from error
    return seen


def _seen(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint says about a batch; earlier versions did not save its number of rows."""
    rows = {"rows": check_integer(one["rows"], "rows", 1)} if "rows" in one else {}
    return {"name": str(one["name"]), "digest": str(one["digest"]), **rows}
