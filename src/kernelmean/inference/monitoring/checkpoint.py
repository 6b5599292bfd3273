"""Checkpoints of a monitor: JSON that says of which reference and which settings it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.checksums import parse, unsealed
from ...core.option_names import written
from ...core.table import Frame
from ...tables.columns.encoding import Encoding
from ..digest import RowDigest, option_text

HEAD = {"format": "kernelmean drift monitor", "version": 2}
_NUMBERS = (
    "alpha",
    "average_run_length",
    "n_rows",
    "updates",
    "log_wealth",
    "log_peak",
    "detected_at",
    "past_until",
)
COUNTS = ("fixed_counts", "learning_counts", "births", "sizes", "past", "starts", "before")
SUMS = ("fixed_shares", "learning_shares", "total", "windows", "directions", "added")


@final
@dataclass(frozen=True)
class MonitorOptions:
    """What a monitor depends on besides its reference; see :class:`kernelmean.DriftMonitor`."""

    shuffle: bool
    encoding: Encoding
    seed: int

    def digest(self, reference: Frame) -> str:
        """Return a text that differs between references, the types of their columns included, and between choices."""
        rows = RowDigest()
        rows.add(reference)
        options = {"shuffle": self.shuffle, "seed": self.seed, **self.encoding.options()}
        parts = [rows.text, *((name, option_text(options[name])) for name in sorted(options))]
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def digest(frame: Frame, name: str) -> str:
    """Return a text that differs between batches of the same columns."""
    found = hashlib.sha256(name.encode())
    for column in frame.names:
        cells = frame[column]
        found.update(column.encode())
        found.update(repr(cells.tolist()).encode() if cells.dtype == object else np.ascontiguousarray(cells).tobytes())
    return found.hexdigest()


def checked(text: str) -> dict[str, Any]:
    """Return what a checkpoint holds, or say what is wrong with it as a whole."""
    try:
        content = parse(text)
    except ValueError as error:
        raise ValueError(f"the checkpoint is no JSON ({error}); pass what to_json() returned") from error
    if not isinstance(content, dict) or content.get("format") != HEAD["format"]:
        raise ValueError("this is no checkpoint of a drift monitor; pass what to_json() returned")
    if content.get("version") != HEAD["version"]:
        raise ValueError(
            f"the checkpoint has version {content.get('version')!r}, this kernelmean reads {HEAD['version']}; "
            + written("begin anew", "delete it to begin anew, or name another file with --checkpoint")
        )
    try:
        return unsealed(content, (*HEAD, "digest", *_NUMBERS, *COUNTS, *SUMS))
    except ValueError as error:
        raise ValueError(f"the checkpoint is damaged ({error}); begin anew") from error


def arrays_of(content: Mapping[str, Any], shapes: Mapping[str, tuple[int | None, ...]]) -> dict[str, Any]:
    """Return the arrays of a checkpoint, all finite, counts whole and not negative, of these shapes; None is any length.

    Raises
    ------
    ValueError, TypeError, OverflowError
        When one of them is anything else.
    """
    found: dict[str, Any] = {}
    for name, shape in shapes.items():
        array = np.array(content[name], dtype=np.float64)
        if not array.size:
            array = array.reshape([own or 0 for own in shape])
        if array.ndim != len(shape) or any(own not in (None, n) for own, n in zip(shape, array.shape, strict=True)):
            raise ValueError(f"{name} has another shape")
        whole = name not in COUNTS or bool(((array >= 0) & (array < 2**53) & (array == np.floor(array))).all())
        if not (np.isfinite(array).all() and whole):
            raise ValueError(f"{name} holds numbers that cannot be")
        found[name] = array.astype(np.int64) if name in COUNTS else array
    return found
