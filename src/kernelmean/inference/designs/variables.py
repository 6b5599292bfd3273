"""Several variables over the same rows, and the kernel of each."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.array import Array
from ...estimators import KernelMean
from ..kernel_choice import Chosen, KernelOf, choose_kernel, representative_rows


def choose_kernels(
    tables: Sequence[Array], names: Sequence[str], estimators: Sequence[KernelMean | KernelOf]
) -> list[Chosen]:
    """Return the kernel of every variable, found from its own rows.

    Rules see the same rows in whatever order they come: rows drawn for both variables would depend on the pairing.
    """
    return [
        choose_kernel(points, estimator, representative_rows(points), name)
        for points, estimator, name in zip(tables, estimators, names, strict=True)
    ]


def notes_of(chosen: Sequence[Chosen]) -> tuple[str, ...]:
    """Return what a reader should know of all kernels."""
    return tuple(note for own in chosen for note in own.notes)
