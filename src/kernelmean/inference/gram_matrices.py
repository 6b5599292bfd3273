"""Tests of Gram matrices, ``kernel="precomputed"``: rows become their numbers, and the matrix a kernel of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.row_order import check_one_order_of_all
from ..core.table import as_table
from ..estimators import KernelMean
from ..kernels.any_kernel import Precomputed
from ..plan.plan import Plan, RemotePlan
from ..tables.read import is_in_memory
from .questions import Labelled, Question, TwoSamples
from .request import Request, settled


def looked_up(
    kind: type[Question], data: Sequence[Any], request: Request, plan: Plan | RemotePlan | None
) -> tuple[Sequence[Any], Request]:
    """Return the data and the request with numbers of rows and a kernel of these wherever a matrix was passed.

    Of samples it is one matrix of all rows, of which every sample has its own rows; of variables one for each.
    """
    sides, of_matrices = request.wanted.sides, request.wanted.of_matrices
    if request.in_bins or isinstance(plan, RemotePlan) or not all(map(is_in_memory, data)):
        raise ValueError(
            "kernel='precomputed' holds a Gram matrix of all rows; pass arrays in memory, without scheme='bins' or a "
            "cluster"
        )
    if not issubclass(kind, Labelled) or request.design.paired:
        names = ("X", "Y") if len(data) == 2 else [f"variables[{number}]" for number in range(len(data))]
        check_one_order_of_all(dict(zip(names, data, strict=True)))
    if issubclass(kind, Labelled):
        rows, kernel = _of_samples(kind, data)
        kernels: list[Precomputed | None] = [kernel]
    else:
        pairs = zip(data, of_matrices, strict=True)
        kernels = [Precomputed(as_table(table, "a Gram matrix").values) if one else None for table, one in pairs]
        rows = [table if kernel is None else kernel.rows for table, kernel in zip(data, kernels, strict=True)]
    estimators = tuple(
        settled(side, kernel) if isinstance(side, KernelMean) and kernel else side
        for side, kernel in zip(sides, kernels, strict=True)
    )
    return rows, replace(request, wanted=replace(request.wanted, sides=estimators))


def _of_samples(kind: type[Question], data: Sequence[Any]) -> tuple[list[Array], Precomputed]:
    """Return the numbers of the rows of every sample, and the kernel of all rows."""
    samples = [as_table(sample, "a Gram matrix").values for sample in data]
    shapes, ends = [sample.shape for sample in samples], np.cumsum(list(map(len, samples))).tolist()
    if {columns for _, columns in shapes} != {ends[-1]}:
        raise ValueError(
            f"kernel='precomputed' was passed with tables of shapes {', '.join(map(str, shapes))}; K is the Gram "
            "matrix of all rows, those of the first sample first, and every sample is its rows: mmd_test(K[:n], K[n:], "
            "kernel='precomputed')"
        )
    gram, numbers = np.concatenate(samples), np.split(np.arange(ends[-1]), ends[:-1])
    if kind is TwoSamples and len(samples[0]) == len(samples[1]):
        parts = (gram[np.ix_(rows, rows)] for rows in numbers)
        first, second = (part.diagonal().mean() - part.mean() for part in parts)  # mean squared distances from the mean
        if first < second:  # as samples of one size do, so that swapping them changes nothing
            order, numbers = np.concatenate(numbers[::-1]), numbers[::-1]
            gram = gram[np.ix_(order, order)]
    return [rows.astype(np.float64)[:, None] for rows in numbers], Precomputed(gram)
