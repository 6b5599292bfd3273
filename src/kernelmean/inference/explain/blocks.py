"""The columns of a table as blocks of coordinates, and a kernel for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.table import as_table
from ...core.words import listed
from ...estimators import KernelMean
from ...estimators.base import KernelLike
from ...kernels import Kernel, TensorProduct
from ..kernel_choice import KernelOf
from .subject import kernel_for

Groups = Mapping[str, Sequence[int]]
"""The columns of a table by the positions of their coordinates, as ``TableEncoder.groups_``."""
Blocks = tuple[tuple[int, ...], ...]


def _names(table: Any, side: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns, given or their own."""
    own = as_table(table, side)
    if names is None:
        return own.names
    if isinstance(names, str):
        raise TypeError(f"names is {names!r}; pass a sequence of names, one per column")
    given = tuple(str(name) for name in names)
    if len(given) != len(own.names) or len(set(given)) != len(given):
        needed = len(own.names)
        raise ValueError(f"the names of {side} are {listed(given)}; {needed} different ones are needed, one per column")
    return given


def named_blocks(
    table: Any, side: str, names: Sequence[str] | None, groups: Groups | None
) -> tuple[tuple[str, ...], Blocks]:
    """Return the names of the columns, and the coordinates of each: one, unless groups are given."""
    if groups is None:
        found = _names(table, side, names)
        return found, tuple((j,) for j in range(len(found)))
    if names is not None:
        raise ValueError("names and groups were both passed; groups name the columns, so leave names out")
    dim = len(as_table(table, side).names)
    blocks = _coordinates(groups)
    if not all(blocks) or sorted(j for block in blocks for j in block) != list(range(dim)):
        raise ValueError(
            f"the groups of {side} are {dict(groups)!r}; every one of its {dim} coordinates, 0 to {dim - 1}, must "
            "stand in one group"
        )
    return tuple(str(name) for name in groups), blocks


def _coordinates(groups: Groups) -> Blocks:
    """Return the coordinates of every group."""
    try:
        return tuple(tuple(map(index, block)) for block in groups.values())
    except (AttributeError, TypeError) as error:
        raise TypeError(
            f"groups is {groups!r}; pass a mapping from names to lists of coordinates, such as "
            "{'a': [0], 'b': [1, 2]}"
        ) from error


def block_kernels(
    points: Array, blocks: Blocks, estimator: KernelMean | KernelOf
) -> tuple[Array, list[Kernel], Kernel]:
    """Return a table in the units of the kernels, a kernel for every column, and one for all columns."""
    whole = isinstance(estimator, KernelMean) and is_whole(estimator.kernel)
    points = points if whole else _in_deviations(points, blocks)
    joint = kernel_for(points, estimator, "the table")
    if whole:
        return points, [on_columns(joint, block) for block in blocks], joint
    own = (kernel_for(points[:, block], estimator, f"column {j}") for j, block in enumerate(blocks))
    return points, [TensorProduct((each,), (block,)) for each, block in zip(own, blocks, strict=True)], joint


def is_whole(kernel: KernelLike) -> bool:
    """Whether a kernel is used as it is, in the units of the data: it is no family, and has no rule for a bandwidth."""
    return isinstance(kernel, Kernel) and not isinstance(getattr(kernel, "bandwidth", None), str)


def _in_deviations(pooled: Array, blocks: Blocks) -> Array:
    """Return the columns less their mean, divided by their deviation where that is not 0; nothing overflows.

    All coordinates of a column are divided by the same number, the root of their summed variances.
    """
    _, exponent = np.frexp(np.abs(pooled).max(axis=0))
    for block in blocks:
        exponent[list(block)] = exponent[list(block)].max()
    scaled = np.ldexp(pooled, -exponent)
    scaled = scaled - scaled.mean(axis=0)
    varies = np.ptp(pooled, axis=0) > 0.0
    scaled = np.where(varies, scaled, 0.0)
    deviation = scaled.std(axis=0)
    for block in blocks:
        deviation[list(block)] = np.linalg.norm(deviation[list(block)])
    return np.asarray(scaled / np.where(deviation > 0.0, deviation, 1.0))


def on_columns(kernel: Kernel, columns: tuple[int, ...]) -> Kernel:
    """Return the kernel on some columns; one bandwidth per axis is cut to them."""
    bandwidth = getattr(kernel, "bandwidth", None)
    if isinstance(bandwidth, tuple):
        kernel = replace(kernel, bandwidth=tuple(bandwidth[j] for j in columns))  # type: ignore[type-var]
    return TensorProduct((kernel,), (columns,))
