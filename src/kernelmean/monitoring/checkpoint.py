"""Checkpoints of a monitor: JSON that says of which reference and which settings it is."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .._sealed import parse, unsealed
from .._table import Frame
from ..estimators.options import KernelLike

HEAD = {"format": "kernelmean drift monitor", "version": 1}
_NUMBERS = ("alpha", "n_rows", "n_pairs", "updates", "block_start", "detected_at", "log_peak", "log_shares", "taken")
_SUMS = ("added", "reference_count", "reference", "new", "new_counts", "directions")


def kernel_name(kernel: KernelLike) -> str:
    """Return a text for a kernel that is the same in every process."""
    return getattr(kernel, "__name__", "") or repr(kernel)


def digest(frame: Frame, settings: str) -> str:
    """Return a text that differs between references and settings."""
    found = hashlib.sha256(settings.encode())
    for name in frame.names:
        cells = frame[name]
        found.update(name.encode())
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
            f"the checkpoint has version {content.get('version')!r}, this kernelmean reads {HEAD['version']}"
        )
    try:
        return unsealed(content, (*HEAD, "digest", *_NUMBERS, *_SUMS))
    except ValueError as error:
        raise ValueError(f"the checkpoint is damaged ({error}); begin anew") from error
