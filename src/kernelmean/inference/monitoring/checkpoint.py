"""Checkpoints of a monitor: JSON that says of which reference and which settings it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.checksums import parse, unsealed
from ...core.table import Frame
from ...estimators.options import KernelLike
from ...tables.columns.encoding import Encoding
from ..digest import RowDigest, option_text

HEAD = {"format": "kernelmean drift monitor", "version": 1}
_NUMBERS = ("alpha", "n_rows", "n_pairs", "updates", "block_start", "detected_at", "log_peak", "log_shares", "taken")
_SUMS = ("added", "reference_count", "reference", "new", "new_counts", "directions")


@final
@dataclass(frozen=True)
class MonitorOptions:
    """What a monitor depends on besides its reference; see :class:`kernelmean.DriftMonitor`."""

    kernel: KernelLike
    bandwidth: Any
    n_frequencies: int
    recycle: bool
    shuffle: bool
    encoding: Encoding
    seed: int

    def digest(self, reference: Frame) -> str:
        """Return a text that differs between references, the types of their columns included, and between choices."""
        rows = RowDigest()
        rows.add(reference)
        options = {name: value for name, value in vars(self).items() if name != "encoding"} | self.encoding.options()
        parts = [rows.text, *((name, _text(options[name])) for name in sorted(options))]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def earlier_digest(self, reference: Frame) -> str:
        """Return the text that checkpoints held before :meth:`digest`.

        It knew neither types of columns nor orders of levels, and long arrays and classes by what is printed of them.
        """
        name = getattr(self.kernel, "__name__", "") or repr(self.kernel)
        return digest(reference, repr((name, *(value for field, value in vars(self).items() if field != "kernel"))))

    def told_apart_earlier(self, reference: Frame) -> bool:
        """Whether :meth:`earlier_digest` stood for this reference and this choice only."""
        plain = all(reference[column].dtype.kind in "fO" for column in reference.names) and not reference.declared
        own = isinstance(self.kernel, type) and not self.kernel.__module__.startswith("kernelmean.")
        return plain and not own and "..." not in repr(self)


def _text(value: Any) -> str:
    """Return a text for an option; a kernel that is not of the library is known by what it says of itself."""
    try:
        return option_text(value)
    except TypeError:
        return f"{value.__module__}.{value.__qualname__}" if isinstance(value, type) else repr(value)


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
            f"the checkpoint has version {content.get('version')!r}, this kernelmean reads {HEAD['version']}"
        )
    try:
        return unsealed(content, (*HEAD, "digest", *_NUMBERS, *_SUMS))
    except ValueError as error:
        raise ValueError(f"the checkpoint is damaged ({error}); begin anew") from error
