"""Hostile files of other kinds: checkpoints of the monitor, results in JSON, stored trials."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostile_saved import DEEP, PICKLE, PLACES, Damage, valid, writes

Valid = Callable[[], bytes]
"""What gives the bytes of a good file."""


def json_changes(good: Valid, inner: Callable[[Any], dict[str, Any]]) -> dict[str, Damage]:
    """Return ways to damage a file of JSON; ``inner`` gives the object in it whose members count."""

    def changed(change: Callable[[dict[str, Any]], Any]) -> Damage:
        def damage(path: Path) -> None:
            content = json.loads(good())
            found = change(inner(content))
            path.write_text(json.dumps(content if found is None else found))

        return damage

    def twice(path: Path) -> None:
        name = next(iter(json.loads(good())))
        path.write_bytes(good()[:-1] + f', "{name}": 0}}'.encode())

    return {
        "empty": writes(b""),
        "no JSON": writes(b"{"),
        "null": writes(b"null"),
        "a list": writes(b"[]"),
        "nothing": writes(b"{}"),
        "a number": writes(b"1"),
        "pickle": writes(PICKLE),
        "not UTF-8": writes(b'{"\xff": 1}'),
        "lists in each other": writes(b"[" * DEEP + b"]" * DEEP),
        "objects in each other": writes(b'{"a":' * DEEP + b"1" + b"}" * DEEP),
        "integer of 100 000 digits": writes(b'{"batches": ' + b"9" * DEEP + b"}"),
        "an archive": writes(valid),
        "a member more": changed(lambda content: content.update(extra=1)),
        "a member twice": twice,
        **{f"cut after {share:.0%}": _cut(good, share) for share in (0.1, 0.5, 0.9, 0.999)},
    }


def _cut(good: Valid, share: float) -> Damage:
    return lambda path: path.write_bytes(good()[: int(share * len(good()))])


def edited(good: Valid, change: Callable[[dict[str, Any]], Any]) -> Damage:
    """Change a checkpoint of a monitor."""

    def damage(path: Path) -> None:
        content = json.loads(good())
        change(content)
        path.write_text(json.dumps(content))

    return damage


def monitors(good: Valid) -> dict[str, Damage]:
    """Return hostile checkpoints of the drift monitor."""
    infinite, beyond = float("inf"), 10**400
    members_: dict[str, Any] = {
        "rows below nothing": {"n_rows": -1},
        "rows of text": {"n_rows": "many"},
        "rows without end": {"n_rows": infinite},
        "peak is NaN": {"log_wealth": [0.0, float("nan")]},
        "peak without end": {"log_wealth": [0.0, infinite]},
        "peak beyond float64": {"log_wealth": [0.0, beyond]},
        "shares of another shape": {"fixed_shares": [[0.0]]},
        "shares of NaN": {"fixed_shares": None},
        "counts below nothing": {"starts": [-1]},
        "counts of halves": {"starts": [0.5]},
        "groups without gamblers": {"births": [16], "sizes": [16]},
        "sums of text": {"total": "x"},
        "sums of lists of unequal length": {"windows": [[1.0], [1.0, 2.0]]},
        "added rows of another width": {"added": [[1.0, 2.0, 3.0, 4.0, 5.0]]},
        "row of detection without end": {"detected_at": [infinite]},
        "another level": {"alpha": 0.5},
        "another reference": {"digest": "0" * 64},
        "another format": {"format": "pickle"},
        "a later version": {"version": 99},
    }
    found = {
        name: edited(good, lambda content, change=change: content["monitor"].update(change))
        for name, change in members_.items()
    }
    return {
        **json_changes(good, lambda content: content),
        **found,
        "batches of numbers": edited(good, lambda content: content.update(batches=[1])),
        "batches of text": edited(good, lambda content: content.update(batches="none")),
        "monitor of text": edited(good, lambda content: content.update(monitor="{}")),
        "no monitor": edited(good, lambda content: content.pop("monitor")),
        **PLACES,
    }


def results(good: Valid) -> dict[str, Damage]:
    """Return hostile results of tests in JSON; they are read in Python only."""
    return {
        **json_changes(good, lambda content: content),
        **{
            name: _result(good, change)
            for name, change in {
                "p-value of text": {"pvalue": "small"},
                "p-value is null": {"pvalue": None},
                "null distribution of text": {"null_distribution": "x"},
                "statistic beyond float64": {"statistic": 10**400},
                "members of numbers": {"members": [1]},
                "members of other members": {"members": [{"__class__": 1}]},
                "sizes are a number": {"sizes": 3},
            }.items()
        },
    }


def _result(good: Valid, change: dict[str, Any]) -> Damage:
    def damage(path: Path) -> None:
        path.write_text(json.dumps({**json.loads(good()), **change}))

    return damage


def _line(record: Any, start: int = 0) -> bytes:
    body = json.dumps(record)[:-1]
    return f'{body}, "crc32": "{zlib.crc32(body.encode(), start):08x}"}}\n'.encode()


HEAD = {"format": 2, "experiment": "figure2", "seed": 0, "version": "0.1.0"}
START = zlib.crc32(json.dumps(HEAD, sort_keys=True).encode())
TRIALS: dict[str, Damage] = {
    "no line": writes(b"x"),
    "blank line": writes(b"\n"),
    "pickle": writes(PICKLE),
    "zero bytes": writes(bytes(1000)),
    "no checksum": writes(json.dumps(HEAD).encode() + b"\n"),
    "wrong checksum": writes(_line(HEAD).replace(b"0.1.0", b"0.1.1")),
    "first line cut": writes(_line(HEAD)[:-20] + b"\n"),
    "first line is a trial": writes(_line({"setting": "x", "trial": 1, "findings": [], "seconds": 1.0})),
    "later format": writes(_line({**HEAD, "format": 99})),
    "lists in each other": writes(b"[" * DEEP + b"]" * DEEP + b"\n"),
    "objects in each other with a checksum": writes(
        (body := b'{"format": 2, "a":' * 5000 + b"1" + b"}" * 4999)
        + f', "crc32": "{zlib.crc32(body):08x}"}}\n'.encode()
    ),
    "two logs in one": writes(_line(HEAD) + _line({**HEAD, "seed": 1})),
    "a folder": PLACES["folder"],
}
"""Whole logs that are refused."""
LINES: dict[str, bytes] = {
    "trial of no number": _line({"setting": "x", "trial": "one", "findings": [], "seconds": 1.0}, START),
    "trial without end": _line({"setting": "x", "trial": 1e308, "findings": 3, "seconds": 1.0}, START),
    "seconds of 400 digits": _line({"setting": "x", "trial": 1, "findings": [], "seconds": 10**400}, START),
    "findings of numbers": _line({"setting": "x", "trial": 1, "findings": [1], "seconds": 1.0}, START),
    "findings of lists": _line({"setting": "x", "trial": 1, "findings": [["a", "b", [1]]], "seconds": 1.0}, START),
    "infinite": _line({"setting": "x", "trial": float("inf"), "findings": [], "seconds": 1.0}, START),
    "other members": _line({"setting": "x", "trial": 1, "findings": [], "seconds": 1.0, "more": 1}, START),
    "of another origin": _line({"setting": "x", "trial": 1, "findings": [], "seconds": 1.0}, START + 1),
    "deep": (deep := b'{"setting":' * 5000 + b"1" + b"}" * 4999)
    + f', "crc32": "{zlib.crc32(deep, START):08x}"}}\n'.encode(),
    "no trial": b"np.load\n",
}
"""Lines after a good first one, which are not believed."""
