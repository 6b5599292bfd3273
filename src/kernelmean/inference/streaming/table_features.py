"""Features of whole tables: those of all columns together, and beside them those of every column alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...embedding.features import FeatureMap, Fourier, nystrom
from ...embedding.features.base import HEAD, grouped_sums, scratch
from ...embedding.features.fourier import wrapped
from ...kernels import Gaussian
from ...kernels.bandwidth import bandwidth_from
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...tables.columns.column_codings import Categories
from .two_sample import TwoSampleStream

COLUMN_FREQUENCIES = 32
_TILE_NUMBERS = 2**19


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableFeatures(FeatureMap):
    """Waves over all coordinates, waves over the one or two of single columns, and coordinates themselves."""

    kernel: Kernel
    """That of ``joint``."""
    joint: Fourier
    """Of all D coordinates."""
    alone: tuple[Fourier, ...]
    """Of columns of numbers, equally many frequencies each."""
    blocks: tuple[tuple[int, ...], ...]
    """The coordinates of each of these."""
    counted: tuple[int, ...]
    """The coordinates of categories: their sums count rows."""

    def __post_init__(self) -> None:
        """Check what files may bring."""
        fits = all(len(block) == one.dim <= 2 for one, block in zip(self.alone, self.blocks, strict=True))
        inside = all(0 <= j < self.joint.dim for block in (*self.blocks, self.counted) for j in block)
        if not fits or not inside or len({len(one.frequencies) for one in self.alone}) > 1:
            raise ValueError("features of columns, their coordinates and features of the table do not go together")

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.joint.dim

    @property
    def size(self) -> int:
        """The number of features."""
        return self.joint.size + sum(one.size for one in self.alone) + len(self.counted)

    @property
    def summary(self) -> str:
        """Say in words what the features are."""
        return self.joint.summary

    def check_noise(self, noise: Noise) -> None:
        """Raise for any noise: it is added after the pass, to the part that is tested."""
        if not isinstance(noise, Dirac):
            raise TypeError(f"{noise!r} cannot be added to the features of a table; add it to a part of them")

    def part_of(self, stream: TwoSampleStream, k: int | None) -> TwoSampleStream:
        """Return the stream of the features of all columns together (None), or of column k of ``alone``."""
        features = self.joint if k is None else self.alone[k]
        if k is None:
            places = HEAD + np.arange(self.joint.size)
        else:  # the cosines of all columns come first, then their sines
            count = len(features.frequencies)
            cosines = HEAD + self.joint.size + k * count + np.arange(count)
            places = np.concatenate([cosines, cosines + len(self.alone) * count])
        return stream.mapped(features, lambda sums: sums[..., places], features.mass)

    def counts_of(
        self, stream: TwoSampleStream, coding: Categories, block: Sequence[int], bandwidth: Any
    ) -> TwoSampleStream:
        """Return the stream of a column of categories: exact features of the Gaussian kernel on its coordinates."""
        places = [HEAD + self.size - len(self.counted) + self.counted.index(j) for j in block]
        height = np.sqrt(2.0) * coding.weight if coding.size == 2 else coding.weight
        points = height * (np.array([[0.0], [1.0]]) if coding.size == 2 else np.eye(coding.size))
        features = nystrom(Gaussian(float(bandwidth_from(points, bandwidth))), points, len(points))
        vertices = features(points)

        def convert(sums: Array) -> Array:
            counts = sums[..., places]
            if coding.size == 2:
                counts = np.concatenate([sums[..., :1] - counts, counts], axis=-1)
            return np.asarray(counts @ vertices)

        return stream.mapped(features, convert, 1.0)

    @cached_property
    def _first(self) -> IntArray:
        return np.array([block[0] for block in self.blocks], dtype=np.intp)

    @cached_property
    def _second(self) -> tuple[IntArray, IntArray]:
        """The columns that have two coordinates, and the second ones of these."""
        pairs = [(k, block[1]) for k, block in enumerate(self.blocks) if len(block) == 2]
        found = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    @cached_property
    def _turns(self) -> Array:
        """The frequencies of columns alone in turns, shape (2, columns, f)."""
        out = np.zeros((2, len(self.alone), len(self.alone[0].frequencies)))
        for k, one in enumerate(self.alone):
            out[: one.dim, k] = one.frequencies.T / (2 * np.pi)
        return out

    @cached_property
    def _amplitudes(self) -> Array:
        parts = [np.sqrt(one.weights) for one in self.alone]
        return np.tile(np.concatenate(parts), 2) if parts else np.empty(0)

    def _waves(self, X: Array) -> Array:
        """Return the cosines of every column, then the sines, shape (n, 2 f columns)."""
        if not self.alone:
            return np.empty((len(X), 0))
        columns, count = len(self.alone), len(self.alone[0].frequencies)
        turns = scratch("turns of columns", (len(X), columns, count))
        np.multiply((X - self.joint.origin)[:, self._first, None], self._turns[0], out=turns)
        own, others = self._second
        if len(own):
            turns[:, own] += (X - self.joint.origin)[:, others, None] * self._turns[1][own]
        dtype = self.joint.dtype
        angles = wrapped(turns.reshape(len(X), -1), dtype)
        waves = scratch(f"waves of columns {dtype}", (len(X), 2 * columns * count), dtype)
        np.cos(angles, out=waves[:, : columns * count])
        np.sin(angles, out=waves[:, columns * count :])
        return waves

    def tiles(self, n: int) -> list[slice]:
        """Cut n rows into slices that are larger than those of other features, as more calls belong to each."""
        return slices(n, min(max(_TILE_NUMBERS // self.size, 32), 1024))

    def _present(self, X: Array) -> Array:
        """Return 1 where a row is of a category and 0 elsewhere."""
        return (X[:, list(self.counted)] > 0.0).astype(np.float64)

    def fill(self, X: Array, noise: Noise, out: Array) -> None:
        """Write all features of few rows to ``out``."""
        cut = self.joint.size
        self.joint.fill(X, noise, out[:, :cut])
        last = out.shape[1] - len(self.counted)
        np.multiply(self._waves(X), self._amplitudes, out=out[:, cut:last])
        out[:, last:] = self._present(X)

    def grouped(self, X: Array, starts: IntArray) -> Array:
        """Return the sums of all features from one start to the next."""
        parts = [self.joint.grouped(X, starts), grouped_sums(self._waves(X), starts) * self._amplitudes]
        return np.concatenate([*parts, grouped_sums(self._present(X), starts)], axis=1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableFeatures):
            return NotImplemented
        same = (self.blocks, self.counted, self.alone) == (other.blocks, other.counted, other.alone)
        return same and self.joint == other.joint

    def __hash__(self) -> int:
        return hash((self.joint, self.blocks))

    def __repr__(self) -> str:
        return f"TableFeatures({self.joint!r}, {len(self.alone)} columns alone, {len(self.counted)} counted)"
