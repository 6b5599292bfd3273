"""The coordinates of several columns side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.frozen import sealed
from ...core.table import Frame, Table
from .kinds import Coding


def coordinates_of(codings: Sequence[Coding], frame: Frame) -> Array:
    """Return the coordinates of several columns side by side, shape (n, D)."""
    return side_by_side(codings, [coding.coordinates(frame) for coding in codings], len(frame))


def named(codings: Iterable[Coding], samples: Sequence[Array]) -> list[Any]:
    """Return coordinates with their names, or as they are where two of them are called the same."""
    labels = tuple(label for coding in codings for label in coding.names)
    return [Table(sealed(own), labels) for own in samples] if len({*labels}) == len(labels) else [*samples]


def variances_of(codings: Sequence[Coding], frame: Frame) -> Array:
    """Return the variances of the noise of :func:`coordinates_of`, shape (n, D)."""
    return side_by_side(codings, [coding.variances(frame) for coding in codings], len(frame))


def side_by_side(codings: Sequence[Coding], blocks: Sequence[Array], n: int) -> Array:
    """Return the blocks of all columns as one array, after checking their shapes against the names of coordinates."""
    for coding, block in zip(codings, blocks, strict=True):
        if block.shape != (n, len(coding.names)):
            raise AssertionError(f"{coding.name!r} has the coordinates {coding.names}, not a block of {block.shape}")
    return np.concatenate(blocks, axis=1) if blocks else np.zeros((n, 0))


def notes_on(codings: Iterable[Coding], where: str = "") -> tuple[str, ...]:
    """Return notes on how columns are encoded."""
    return tuple(note for coding in codings if (note := coding.note(where)) is not None)
