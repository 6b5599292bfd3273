"""Trials on disk: one line each, written as soon as it is known, so that a killed run neither loses nor repeats one."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, final

from .experiment import Finding, Scalar
from .wording import count, listed

_FORMAT = 2
_CHECK = ', "crc32": "'
_MEMBERS = {"setting", "trial", "findings", "seconds"}
_INFINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


@final
@dataclass(frozen=True)
class Trial:
    """The findings of one trial, and the seconds it took."""

    setting: str
    """The key of the setting."""
    number: int
    findings: tuple[Finding, ...]
    seconds: float


@final
@dataclass(frozen=True)
class Contents:
    """The contents of a log: its origin, the trials in the order in which they ended, and the states of the code."""

    origin: Mapping[str, Scalar]
    trials: Mapping[tuple[str, int], Trial]
    makers: tuple[Mapping[str, str], ...]
    damaged: tuple[int, ...] = ()
    """The numbers of the lines that do not match what was written for this origin; their trials are unknown."""
    torn: bool = False
    """Whether the last line is incomplete."""


@final
class Log:
    """The trials of one experiment in one file of JSON lines, each with a checksum; see `open_log`.

    The checksum of a trial continues that of the first line, so a line of another origin counts as damaged.

    Parameters
    ----------
    path : Path
        The file, which must exist.
    contents : Contents
        The contents of the file.
    maker : mapping from str to str
        The state of the code. It is written before the first new trial if it differs from that of the last one.
    """

    def __init__(self, path: Path, contents: Contents, maker: Mapping[str, str]) -> None:
        self.path, self.origin, self.trials = path, contents.origin, dict(contents.trials)
        self._makers, self._maker = list(contents.makers), dict(maker)
        self._start = _start(contents.origin)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

    def __enter__(self) -> Log:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)

    @property
    def makers(self) -> tuple[Mapping[str, str], ...]:
        """The states of the code that made the trials, in order."""
        return tuple(self._makers)

    def append(self, trial: Trial) -> None:
        """Write a trial; when this returns, it is on the disk.

        Raises
        ------
        OSError
            When it cannot be written; the next run then finds an incomplete line.
        """
        text = ""
        if not self._makers or self._makers[-1] != self._maker:
            self._makers.append(self._maker)
            text = _line({"made by": self._maker}, self._start)
        data = (text + _line(_plain(trial), self._start)).encode()
        if os.write(self._file, data) < len(data):
            raise OSError(f"{self.path}: there is no room for another trial; free some and run the same command again")
        os.fsync(self._file)
        self.trials[trial.setting, trial.number] = trial


def open_log(path: Path, origin: Mapping[str, Scalar], maker: Mapping[str, str]) -> tuple[Log, list[str]]:
    """Return the log of an experiment, created or repaired if necessary, and notes on repairs.

    Parameters
    ----------
    path : Path
        The file, in an existing folder that this process has locked.
    origin : mapping from str to str or number
        What the trials depend on besides their setting and number: experiment, seed, version.
    maker : mapping from str to str
        The state of the code and the versions of libraries, for the record.

    Raises
    ------
    ValueError
        When the file holds trials of another origin, its first line is damaged, or logs were joined in it.
    """
    if not path.exists() or not path.stat().st_size:
        write_whole(path, _line(_header(origin)).encode())
    _check_origin(path, read_log(path).origin, origin)
    notes = _mend(path)
    return Log(path, read_log(path), maker), notes


def read_log(path: Path) -> Contents:
    """Return the contents of a log without damaged lines; the file is not changed.

    Raises
    ------
    ValueError
        When its first line, which says where the trials come from, is damaged or has another version, or when it
        contains the first line of another log.
    """
    lines, torn = _lines(path)
    origin = _origin(path, lines)
    start = _start(origin)
    reading = _Reading()
    for number, line in enumerate(lines[1:], start=2):
        record = _parsed(line, start)
        if record is None and "format" in (_parsed(line) or ()):
            raise ValueError(
                f"{path}: line {number} is the first line of a log, so logs were joined in this file; put each into a "
                "folder of its own, or remove the file to run its trials again"
            )
        reading.add(number, record)
    return Contents(origin, reading.trials, tuple(reading.makers), tuple(reading.damaged), torn)


def _origin(path: Path, lines: Sequence[bytes]) -> dict[str, Scalar]:
    """Return what the first line of a log says about its trials."""
    first = _parsed(lines[0]) if lines else None
    if first is None or "format" not in first or not all(isinstance(each, Scalar) for each in first.values()):
        raise ValueError(
            f"{path}: the first line, which says of which seed the trials are, is damaged; put a copy of the file in "
            "its place, or remove it to run its trials again"
        )
    if first["format"] != _FORMAT:
        raise ValueError(
            f"{path} was written by another version of kernelmean (format {first['format']}, this one writes "
            f"{_FORMAT}); write to another folder with --out, or remove that file to run its trials again"
        )
    return {name: value for name, value in first.items() if name != "format"}


@dataclass
class _Reading:
    """The contents of the lines after the first one."""

    trials: dict[tuple[str, int], Trial] = field(default_factory=dict)
    makers: list[Mapping[str, str]] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)

    def add(self, number: int, record: dict[str, Any] | None) -> None:
        trial = _trial(record or {})
        if trial is not None:
            self.trials.setdefault((trial.setting, trial.number), trial)
        elif record is not None and isinstance(record.get("made by"), dict):
            self.makers.append(record["made by"])
        else:
            self.damaged.append(number)


def _mend(path: Path) -> list[str]:
    """Remove damaged lines from a log, so that their trials run again; return notes about this."""
    contents = read_log(path)
    if not contents.damaged and not contents.torn:
        return []
    lines, _ = _lines(path)
    kept = [line for number, line in enumerate(lines, start=1) if number not in contents.damaged]
    notes = []
    if contents.torn:
        notes.append(f"{path}: its last trial was not written to its end and runs again")
    if contents.damaged:
        spoilt = path.with_suffix(".damaged")
        with spoilt.open("ab") as file:
            file.writelines(lines[number - 1] + b"\n" for number in contents.damaged)
        which = listed(str(number) for number in contents.damaged)
        notes.append(
            f"{path}: {count(len(contents.damaged), 'line')} ({which}) had been changed since written, or come from "
            f"another log; what they hold was moved to {spoilt} and the trials run again"
        )
    write_whole(path, b"".join(line + b"\n" for line in kept))
    return notes


def _check_origin(path: Path, found: Mapping[str, Scalar], wanted: Mapping[str, Scalar]) -> None:
    for name in dict.fromkeys([*wanted, *found]):
        if found.get(name) != wanted.get(name):
            raise ValueError(
                f"{path} holds trials of {name} {found.get(name)}, this run is of {name} {wanted.get(name)}; write to "
                "another folder with --out, or remove that file to run its trials again"
            )


def _lines(path: Path) -> tuple[list[bytes], bool]:
    """Return the complete lines of a file without line ends, and whether a part of a line follows."""
    *lines, rest = path.read_bytes().split(b"\n")
    return lines, bool(rest)


def _header(origin: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {"format": _FORMAT, **origin}


def _start(origin: Mapping[str, Scalar]) -> int:
    """Return the checksum that those of the trials of an origin continue."""
    return zlib.crc32(json.dumps(_header(origin), sort_keys=True).encode())


def _line(record: Mapping[str, Any], start: int = 0) -> str:
    """Return a line of JSON whose last member is a checksum of the rest."""
    body = json.dumps(record, ensure_ascii=True, allow_nan=False)[:-1]
    return f'{body}{_CHECK}{zlib.crc32(body.encode(), start):08x}"}}\n'


def _parsed(line: bytes, start: int = 0) -> dict[str, Any] | None:
    """Return the record of a line, or None when the line was changed."""
    body, check, rest = line.rpartition(_CHECK.encode())
    if not check or rest != f'{zlib.crc32(body, start):08x}"}}'.encode():
        return None
    try:
        record = json.loads(body + b"}")
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _plain(trial: Trial) -> dict[str, Any]:
    return {
        "setting": trial.setting,
        "trial": trial.number,
        "findings": [[f.method, f.measure, _number(f.value)] for f in trial.findings],
        "seconds": round(trial.seconds, 4),
    }


def _trial(record: Mapping[str, Any]) -> Trial | None:
    """Return the trial that a record holds, or None when it holds none."""
    if set(record) != _MEMBERS:
        return None
    try:
        findings = tuple(
            Finding(method, measure, float(_INFINITE.get(value, value)))
            for method, measure, value in record["findings"]
        )
        return Trial(str(record["setting"]), int(record["trial"]), findings, float(record["seconds"]))
    except (TypeError, ValueError, OverflowError):
        return None


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: if the process is killed, the old file or the new one remains."""
    part = path.with_name(f".{path.name}.new")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _number(value: float) -> float | str:
    """Return a number in a form for JSON: float64 in full, infinities and NaN as text."""
    number = float(value)
    return number if abs(number) < float("inf") else str(number)
