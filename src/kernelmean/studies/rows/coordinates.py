"""The coordinates of all rows that a study uses, batch by batch, and kernels of categories as weights of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, slices
from ...core.table import Frame
from ...inference.adaptive.columns import AS_IT_IS
from ...inference.adaptive.member import LINEAR, Member
from ...kernels import Kernel
from ...tables.columns.encoded import coordinates_of
from ...tables.columns.kinds import Coding, ColumnKind
from ...tables.columns.missing import Missing, sifted
from ...tables.source import Source
from .first_look import Learnt

LABEL = "sums of features"
_BATCH_NUMBERS = 2**22


@dataclass(frozen=True)
class CoordinateBatch:
    """Coordinates of the used rows of a batch, and the number of rows of its table that were read up to its end."""

    rows: Array
    read: int
    frame: Frame
    """The same rows as they are in the table."""


def coordinate_batches(frames: Source, learnt: Learnt) -> Iterator[CoordinateBatch]:
    """Yield the coordinates of all used rows."""
    used = UsedRows.of(learnt)
    for frame in frames.frames():
        for rows in used.parts(frame):
            left = used.left(rows)
            yield CoordinateBatch(coordinates_of(used.codings, left), int(rows.row_numbers()[-1]), left)


@final
@dataclass(frozen=True, eq=False)
class UsedRows:
    """How rows become coordinates: those with missing cells are left out where the rule of a column says so."""

    codings: tuple[Coding, ...]
    types: dict[str, ColumnKind]
    missing: Missing

    @classmethod
    def of(cls, learnt: Learnt) -> Self:
        """Return what a first pass found."""
        return cls(learnt.codings, learnt.scan.types, learnt.missing.rule)

    def parts(self, frame: Frame) -> Iterator[Frame]:
        """Yield the rows in parts whose coordinates fit in memory."""
        many = max(1, sum(len(coding.names) for coding in self.codings))
        return (frame.take(part) for part in slices(len(frame), max(1, _BATCH_NUMBERS // many)))

    def left(self, rows: Frame) -> Frame:
        """Return the rows used."""
        return sifted(rows, self.types, self.missing)[0]


def category_weights(coding: Coding, points: Array, gaussian: Kernel, *, several: bool) -> dict[Member, Array]:
    """Return weights of the coordinates of categories that reproduce the Gaussian kernel, and others, a row each.

    k = e + (1 - e) [x = y], and coordinates are c [x = y]: noise would change the kernel only by a factor.
    """
    weight = coding.category_weight
    assert weight is not None, f"{coding.name} holds no categories"
    height = np.sqrt(2.0) * weight
    near, far = gaussian(np.zeros((1, 1)), np.array([[0.0], [height]]))[0]
    weights = {Member(AS_IT_IS, gaussian): np.full((1, points.shape[1]), (near - far) / weight**2)}
    if several and points.shape[1] > 1:
        shares = (np.count_nonzero(points, axis=0) + 1.0) / (len(points) + points.shape[1])
        weights[Member(AS_IT_IS, LINEAR)] = 1.0 / shares[None]
    return weights
