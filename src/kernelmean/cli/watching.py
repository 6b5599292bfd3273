"""Batches of rows in the order of time, and what a monitor says about each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.array import Progress
from ..core.cells import label, missing_cells
from ..core.disk import check_members, parse, read_text, write_file
from ..core.table import Frame
from ..core.validate import check_integer, check_numbers
from ..core.words import Unwrapped, count, did_you_mean, listed
from ..inference.monitoring import DriftMonitor, DriftState
from ..inference.monitoring.checkpoint import digest
from ..inference.wording import brief
from ..tables.files import first_line
from ..tables.readers.text_file import STANDARD_INPUT
from ..tables.reading import column_names, read_frame
from .errors import Stopped
from .inputs import ReadOptions, select_columns, whole_table
from .named_tables import files_of, named_table, told_apart
from .option_texts import split_names
from .spelling import worded, worded_names

if TYPE_CHECKING:
    from .options import BatchTable, Seed, Watched

UNITS = {"hour": "h", "day": "D", "week": "D", "month": "M"}
_PART = "part.csv"
"""A name for a file of the rows of one batch."""
_APART = 20.0
"""The time from one checkpoint to the next, in times that it took to write one: a kill costs hardly more."""


@dataclass(frozen=True)
class Batch:
    """Rows that arrive together, and what to call them."""

    name: str
    frame: Frame
    file: str = ""
    """The name of the file that is the batch; in another run, ``name`` may have more or less of its path."""

    @property
    def digest(self) -> str:
        """A text that differs between batches."""
        return digest(self.frame, self.file or self.name)

    def known_rows(self, history: Sequence[Mapping[str, Any]], known: Collection[str]) -> int:
        """Return how many of the first rows were monitored before, for example in a file that has grown."""
        names = {self.name, self.file}
        sizes = {one.get("rows", 0) for one in history if names & {one["name"], Path(one["name"]).name}}
        begun = (rows for rows in sorted(sizes, reverse=True) if 0 < rows < len(self.frame))
        return next((rows for rows in begun if replace(self, frame=self.frame.take(slice(0, rows))).digest in known), 0)


@dataclass(frozen=True)
class Alarm:
    """The batch in which drift was found, and its new rows, counted from 1."""

    batch: str
    first: int
    last: int


@dataclass(frozen=True)
class Seen:
    """What a monitor says after the last batch, and after each batch before."""

    state: DriftState
    known: int
    """The rows of the reference."""
    notes: list[str]
    batches: list[dict[str, Any]]
    """What was said after every batch."""
    path: list[dict[str, Any]]
    """The evidence after every batch, also of earlier runs."""
    changed: tuple[int, int] | None
    """The rows between which the change happened."""
    alarm: Alarm | None
    """None also if the checkpoint does not know it."""
    first_kept: int
    """The first new row that the monitor still had to find the change."""
    advice: tuple[tuple[str, str], ...]
    """Facts after an alarm: the command that shows what changed."""

    @property
    def place(self) -> str:
        """The batch of the alarm, if it is known."""
        return "" if self.alarm is None else brief(self.alarm.batch)

    @property
    def verdict(self) -> str:
        """One sentence, with the batch of the alarm."""
        return self.state.verdict(self.place)

    def batch_of(self, row: int) -> str:
        """Return the batch of a new row, or "" if it is not one of this run."""
        held = (str(one["batch"]) for one in self.batches if one["last_row"] - one["rows"] < row <= one["last_row"])
        return next(map(brief, held), "")

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers after the last batch."""
        return _numbers(self.state)

    @property
    def position(self) -> int | None:
        """The position of the batch of the alarm among those of this run."""
        last = None if self.alarm is None else self.alarm.last
        return next((k for k, one in enumerate(self.batches) if one["last_row"] == last), None)

    @property
    def earlier(self) -> dict[str, Any] | None:
        """The batch of the alarm, if that was in an earlier run."""
        if self.alarm is None or self.position is not None:
            return None
        known = next((one for one in self.path if one["batch"] == self.alarm.batch), None)
        return known and {**known, "rows": self.alarm.last - self.alarm.first + 1}


def watch(watched: Watched, seed: Seed, table: BatchTable, progress: Progress) -> Seen:
    """Monitor all batches, and keep the checkpoint."""
    reading = ReadOptions(tuple(table.columns or ()), tuple(table.drop or ()), text=table.text)
    first = whole_table(named_table(watched.reference), reading)
    watched = replace(watched, news=files_of(watched.news))
    _check_dropped(first, reading, watched.news)
    known = _reference(first, reading, watched.by)
    drift = _monitor(known, watched, seed, table)
    run = _Run(drift, watched.checkpoint, progress, _resumed(drift, watched.checkpoint), list(known.notes))
    for number, (path, name) in enumerate(zip(watched.news, told_apart(watched.news), strict=True)):
        progress("files", number, len(watched.news))
        run.take_all(_batches(path, name, first, reading, watched, run.notes))
    run.save()
    notes = [*drift.state.notes, *run.left_out(), *run.notes]
    changed = drift.changed_between()
    advice = tuple(_advice(watched, table, known, first, run, changed)) if drift.state.drift else ()
    return Seen(drift.state, len(known), notes, run.batches, run.path, changed, run.alarm, drift.first_kept, advice)


@dataclass
class _Run:
    """One run of a monitor, which saves itself between batches."""

    drift: DriftMonitor
    checkpoint: Path | None
    progress: Progress
    history: list[dict[str, Any]]
    """The batches that were monitored, also in earlier runs."""
    notes: list[str]
    batches: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """The batches that were left out."""
    next_save: float = 0.0
    digests: set[str] = field(init=False)
    names: set[str] = field(init=False)
    """Those of the batches that were monitored."""

    def __post_init__(self) -> None:
        self.digests, self.names = ({one[key] for one in self.history} for key in ("digest", "name"))

    def take_all(self, batches: Iterator[Batch]) -> None:
        """Take the batches of a file, and save; when the run is stopped, save what was taken."""
        try:
            for batch in batches:
                self._take(batch)
        except Stopped as stop:
            if self.checkpoint is None:
                raise
            if not self.history:
                raise Stopped("stopped before the first batch was complete; nothing was written") from stop
            self.save()
            done = count(len(self.history), "batch")
            raise Stopped(f"stopped after {done}; the same command goes on from {self.checkpoint}") from stop

    def _take(self, batch: Batch) -> None:
        fingerprint = batch.digest
        if fingerprint in self.digests:
            self.skipped.append(batch.name)
            return
        known_rows = batch.known_rows(self.history, self.digests)
        if known_rows:
            had = f"its first {count(known_rows, 'row')} had been monitored before, only the others count"
            self.notes.append(f"{batch.name}: {had}")
        elif batch.file and batch.name in self.names:
            self.notes.append(f"{batch.name}: another batch of this name was monitored before; its rows count as new")
        before = self.drift.state
        new = batch.frame.take(slice(known_rows, None))
        state = self.drift.update(new, progress=lambda _, done, of: self.progress(f"rows of {batch.name}", done, of))
        alarm = {"alarm": [before.n_rows + 1, state.n_rows]} if state.drift and not before.drift else {}
        known = {"rows": len(batch.frame), "log_wealth": state.log_wealth}
        self.history.append({"name": batch.name, "digest": fingerprint, **known, **alarm})
        self.digests.add(fingerprint)
        self.names.add(batch.name)
        rows = {"rows": len(batch.frame) - known_rows, "last_row": state.n_rows}
        self.batches.append({"batch": batch.name, **rows, **_numbers(state)})
        if time.monotonic() >= self.next_save:
            self.save()

    def save(self) -> None:
        """Write the checkpoint, if one was asked for."""
        begin = time.monotonic()
        if self.checkpoint is not None:
            kept = {"batches": self.history, "monitor": json.loads(self.drift.to_json())}
            write_file(self.checkpoint, json.dumps(kept).encode())
        self.next_save = begin + (1.0 + _APART) * (time.monotonic() - begin)

    def left_out(self) -> Iterator[str]:
        """Yield a note on the batches that were monitored before."""
        if len(self.skipped) == 1:
            yield f"{self.skipped[0]} was monitored before and left out"
        elif self.skipped:
            yield f"{count(len(self.skipped), 'batch')}, {listed(self.skipped)}, were monitored before and left out"

    @property
    def path(self) -> list[dict[str, Any]]:
        """The evidence after every batch, in this run and before."""
        return [{"batch": one["name"], "log_wealth": one["log_wealth"]} for one in self.history]

    @property
    def alarm(self) -> Alarm | None:
        """The batch in which drift was found, in this run or before."""
        return next((Alarm(one["name"], *one["alarm"]) for one in self.history if "alarm" in one), None)


def _advice(
    watched: Watched, table: BatchTable, known: Frame, first: Frame, run: _Run, changed: tuple[int, int] | None
) -> Iterator[tuple[str, str]]:
    """Yield the command that compares rows before and after the change, if they can be read again."""
    by, last, alarm = watched.by, watched.news[-1], run.alarm
    if STANDARD_INPUT in (watched.reference, last):
        return
    news = last if alarm is None else _file_of(watched, alarm.batch, last)
    how = "see what changed"
    if by is not None:
        news, rows = _PART, "the batch of the alarm" if alarm is None else alarm.batch
        yield how, f"write the rows of {rows} to {news}, and run the command below"
        how = "command"
    options = {each.name: getattr(table, each.name) for each in fields(table)}
    if by in first.names and table.drop and not table.columns:
        options["drop"] = [*table.drop, str(by)]
    elif by is not None:
        options |= {"drop": None, "columns": None}
    if any(name not in first.names for name in split_names(options["drop"] or (), first.names)):
        options |= {"drop": None, "columns": None}
    chosen = [] if options["drop"] or options["columns"] else [worded_names("--columns", known.names)]
    texts = [
        worded(f"--{name.replace('_', '-')}", text)
        for name, value in options.items()
        if value and value != getattr(type(table), name, None)
        for text in ([value] if isinstance(value, str) else value)
    ]
    before = watched.reference if by is not None or changed is None else _before(watched, run, changed[0])
    command = " ".join([worded("kernelmean compare", before), worded("", news).strip(), *chosen, *texts])
    yield how, Unwrapped(command)
    if before != watched.reference:
        yield (
            "slow change",
            f"if slow, compare with {brief(watched.reference)}: {brief(before)} may have changed too",
        )


def _file_of(watched: Watched, name: str, default: str) -> str:
    """Return the file after the reference with a name."""
    return dict(zip(told_apart(watched.news), watched.news, strict=True)).get(name, default)


def _before(watched: Watched, run: _Run, low: int) -> str:
    """Return the last file of this run whose rows all came before the change, or the reference."""
    names = [one["batch"] for one in run.batches if one["last_row"] < low]
    return _file_of(watched, names[-1], watched.reference) if names else watched.reference


def _check_dropped(first: Frame, reading: ReadOptions, news: Sequence[str]) -> None:
    """Raise if a column to leave out is in no table; one that only some tables have is fine."""
    unknown = [name for name in split_names(reading.drop, first.names) if name not in first.names]
    if not unknown or STANDARD_INPUT in news:
        return
    known = list(dict.fromkeys([*first.names, *(name for path in news for name in column_names(path))]))
    for name in split_names(reading.drop, known):
        if name not in known:
            raise ValueError(
                f"--drop names {name!r}, which no table has{did_you_mean(name, known)}; the columns are {listed(known)}"
            )


def _monitor(known: Frame, watched: Watched, seed: Seed, table: BatchTable) -> DriftMonitor:
    """Return the monitor of a reference."""
    kinds = table.kinds(known.names, scale=True)
    return DriftMonitor(
        known,
        **{name: getattr(kinds, name) for name in ("missing", "ordinal", "categorical", "keep", "max_categories")},
        alpha=watched.alpha,
        average_run_length=watched.average_run_length,
        seed=seed.seed,
    )


def _numbers(state: DriftState) -> dict[str, Any]:
    return {"pvalue": state.pvalue, "log_wealth": state.log_wealth, "drift": state.drift}


def _reference(frame: Frame, reading: ReadOptions, by: str | None) -> Frame:
    """Return the chosen columns of the reference; ignore names in --drop that only later tables have."""
    rest = frame.select(drop=[by]) if by in frame.names else frame
    columns = tuple(name for name in split_names(reading.columns, frame.names) if name != by)
    reading = replace(reading, columns=columns)
    return select_columns(rest, _dropping(reading, rest.names, lambda name: name in rest.names))


def _dropping(reading: ReadOptions, known: Sequence[str], condition: Callable[[str], bool]) -> ReadOptions:
    return replace(reading, drop=tuple(filter(condition, split_names(reading.drop, known))))


def _batches(
    path: str, name: str, first: Frame, reading: ReadOptions, watched: Watched, notes: list[str]
) -> Iterator[Batch]:
    """Yield the batches of a file in the order of time; ``name`` is that of a file which is one batch."""
    frame = read_frame(path, text=reading.text)
    notes += frame.notes
    only_before = set(first.names) - set(frame.names)
    reading = _dropping(reading, (*frame.names, *first.names), lambda name: name not in only_before)
    by = watched.by
    if by is None:
        yield Batch(name, select_columns(frame, reading), Path(path).name)
        return
    chosen = select_columns(frame, reading, also=(by,))
    rest, cells = chosen.select(drop=[by]), chosen[by]
    blank = missing_cells(cells)
    if blank.any():
        notes.append(f"{path}: {count(int(blank.sum()), 'row')} without {by!r} left out")
    keys, texts = _keys(cells[~blank], by, watched.every)
    known = np.flatnonzero(~blank)[np.argsort(keys, kind="stable")]
    for text, rows in zip(texts, np.split(known, np.cumsum(np.bincount(keys))[:-1]), strict=False):
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
    elif cells.dtype.kind == "M" and (cells != cells.astype("datetime64[D]")).any():
        raise ValueError(
            f"the column {by!r} holds times, each of which would be a batch; add --every hour, day, week or month"
        )
    if cells.dtype == object:
        texts = [str(cell) for cell in cells]
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        return np.array([places[text] for text in texts], dtype=np.intp), [*places]
    values, keys = np.unique(cells, return_inverse=True)
    return keys, [str(label(value)) for value in (values.tolist() if cells.dtype.kind == "f" else values)]


def _resumed(watch: DriftMonitor, checkpoint: Path | None) -> list[dict[str, Any]]:
    """Let the monitor resume from an existing checkpoint; return the batches that it knows."""
    if checkpoint is None or not checkpoint.exists():
        return []
    try:
        content = parse(read_text(checkpoint))
        check_members(content, ("batches", "monitor"))
        history = [_seen(one) for one in content["batches"]]
        text = json.dumps(content["monitor"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{checkpoint} is no checkpoint of kernelmean monitor ({first_line(error)}); remove it to start over"
        ) from error
    try:
        watch.resume(text)
    except ValueError as error:
        raise ValueError(
            f"{checkpoint}: {error}; delete the file to start over, or name another one with --checkpoint"
        ) from error
    return history


def _seen(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint says about a batch."""
    rows: dict[str, Any] = {
        "rows": check_integer(one["rows"], "rows", 1),
        "log_wealth": float(check_numbers(one["log_wealth"], "log_wealth")),
    }
    if "alarm" in one:
        first, last = one["alarm"]
        rows["alarm"] = [check_integer(first, "alarm", 1), check_integer(last, "alarm", 1)]
    return {"name": str(one["name"]), "digest": str(one["digest"]), **rows}
