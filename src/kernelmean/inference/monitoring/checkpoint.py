"""Checkpoints of a monitor: JSON that records the reference, the settings and the promise."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.disk import check_members, parse
from ...core.table import Frame
from .digest import option_text

HEAD = {"format": "kernelmean drift monitor", "version": 5}
_OTHER = {
    True: "the same reference with other settings: the seed, the shuffling, or what is said about columns",
    False: "another reference: its rows, their order or its columns are others",
}
_GROUPS = ("births", "sizes", "directions", "learning_counts", "learning_shares")
GROWING = (*_GROUPS, "past", "starts", "added", "detected_at")
"""The arrays that may have any length."""


def digest_of(reference: str, options: Mapping[str, Any]) -> str:
    """Return a text that differs between references, given by their digest, and between options."""
    parts = [reference, *((name, option_text(options[name])) for name in sorted(options))]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def digest(frame: Frame, name: str) -> str:
    """Return a text that differs between batches of the same columns."""
    sha = hashlib.sha256(name.encode())
    for column in frame.names:
        cells = frame[column]
        sha.update(column.encode())
        sha.update(repr(cells.tolist()).encode() if cells.dtype == object else np.ascontiguousarray(cells).tobytes())
    return sha.hexdigest()


def checked(text: str, head: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return the arrays of a checkpoint that belongs to a monitor of this head and with such arrays.

    Raises
    ------
    ValueError
        When the text is not such a checkpoint, or belongs to another monitor.
    TypeError
        When it is not a text.
    """
    if not isinstance(text, str | bytes):
        raise TypeError(f"the checkpoint is of type {type(text).__name__}; pass the text that to_json() returned")
    try:
        content = parse(text)
    except ValueError as error:
        raise ValueError(f"the checkpoint is no JSON ({error}); pass what to_json() returned") from error
    if not isinstance(content, dict) or content.get("format") != HEAD["format"]:
        raise ValueError("this is no checkpoint of a drift monitor; pass what to_json() returned")
    if content.get("version") != HEAD["version"]:
        raise ValueError(
            f"the checkpoint has version {content.get('version')!r}, this kernelmean reads {HEAD['version']}; start "
            "over"
        )
    try:
        check_members(content, {*HEAD, *head, *arrays})
    except ValueError as error:
        raise ValueError(f"the checkpoint is damaged ({error}); start over") from error
    if content["digest"] != head["digest"]:
        other = _OTHER[content["reference"] == head["reference"]]
        raise ValueError(f"the checkpoint is of {other}; make the monitor as it was made then, or start over")
    promises = [{name: one[name] for name in ("alpha", "average_run_length")} for one in (content, head)]
    if promises[0] != promises[1]:
        texts = (", ".join(f"{k}={value:.10g}" for k, value in one.items() if value is not None) for one in promises)
        raise ValueError(
            "the checkpoint is of a monitor with {}, this one has {}; write it as it was, or nothing if nothing "
            "was written then".format(*texts)
        )
    try:
        return _arrays_of(content, arrays)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the checkpoint is damaged ({error}); start over") from error


def _arrays_of(content: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return arrays of the shapes and types of a monitor's own: all finite, counts not negative."""
    stored: dict[str, Any] = {}
    for name, like in arrays.items():
        array, first = np.array(content[name], dtype=np.float64), int(name in GROWING)
        array = array.reshape(0, *like.shape[1:]) if first and not array.size else array
        if array.shape[first:] != like.shape[first:] or array.ndim != like.ndim:
            raise ValueError(f"{name} has another shape")
        counts = like.dtype.kind == "i"
        if not np.isfinite(array).all() or (counts and ((array < 0) | (array >= 2**53) | (array % 1 != 0)).any()):
            raise ValueError(f"{name} holds impossible numbers")
        stored[name] = array.astype(like.dtype)
    groups, rows = (len(stored[name]) for name in ("births", "past"))
    members = [len(stored[name]) for name in _GROUPS]
    alike = members[1:3] == [groups, groups] and members[3] == members[4] and len(stored["starts"]) == rows
    inside = (stored["past"] < arrays["fixed_counts"].shape[1]).all() and (stored["sizes"] > 0).all()
    if not alike or not inside or (groups and members[3] % groups) or len(stored["detected_at"]) > 1:
        raise ValueError("its arrays do not belong together")
    return stored
