"""Several variables over the same rows, and the kernel of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.array import Array
from ..kernel_choice import Chosen, choose_kernel, representative_rows


def choose_kernels(
    tables: Sequence[Array], names: Sequence[str], kernel: Any, bandwidth: Any, estimator: Any
) -> list[Chosen]:
    """Return the kernel of every variable, found from its own rows; a tuple says it for each.

    Rules see the same rows in whatever order they come: rows drawn for both variables would depend on the pairing.
    """
    options = zip(tables, each(kernel, names), each(bandwidth, names), names, strict=True)
    return [
        choose_kernel(points, own, width, estimator, representative_rows(points), name)
        for points, own, width, name in options
    ]


def notes_of(chosen: Sequence[Chosen]) -> tuple[str, ...]:
    """Return what a reader should know of all kernels."""
    return tuple(note for own in chosen for note in own.notes)


def each(value: Any, names: Sequence[str]) -> tuple[Any, ...]:
    """Return one value per variable: those of a tuple, or one that holds for all."""
    if not isinstance(value, tuple):
        return (value,) * len(names)
    if len(value) != len(names):
        raise ValueError(
            f"{value!r} is a tuple of {len(value)}; pass one value for all variables, or a tuple "
            f"({', '.join(f'for {name}' for name in names)})"
        )
    return value
