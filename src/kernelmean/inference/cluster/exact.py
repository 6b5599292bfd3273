"""Exact tests on a cluster: one worker sets up the test, all evaluate its tiles, and their sums give the null.

A test of n² kernel values has few rows: every worker holds them in the order of the tiles. A tile depends only on the
tiling, and tiles are added up in a fixed order, so no result depends on partitions, workers, or losses of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...core.array import Array, as_rng, slices
from ...core.words import count
from ...plan.plan import Plan, serial_blas
from .. import TestResult
from ..engine import TiledNull, begin
from ..questions import Pairs, PendingResult, Question, TwoSamples
from ..request import Request
from ..schemes.base import Tile, Tiling, Total, added
from ..schemes.blocks import bin_size
from .rows import Rows
from .running import folded, gathered, task

_FEW_ROWS = 8000  # one worker takes a second
_SHARES, _FEWEST = 64, 4
_TOTAL_NUMBERS = 2**25  # of all shares of the sums over pairs of bins


def exact_test(question: type[Question], data: tuple[Rows, Rows], request: Request, worker: Plan) -> TestResult:
    """Return the result that the same rows have in one process, with the resources of a worker.

    A generator in the request ends in the same state as in one process.
    """
    X, Y = data
    rng, n = as_rng(request.rng), len(X) + (len(Y) if question is TwoSamples else 0)
    posed = task(_posed, question, list(X.parts), list(Y.parts), replace(request, rng=rng), worker)
    shares = _shares(question, len(X), len(Y))
    total = folded(_added, [task(_share, posed, share, shares) for share in range(shares)]) if n > _FEW_ROWS else None
    result, state = gathered(X.client, [task(_concluded, posed, total, n)])[0]
    rng.bit_generator.state = state
    return result


def _shares(question: type[Question], n: int, m: int) -> int:
    """Return the number of shares that the tiles are dealt into: fewer if two samples have many bins."""
    if question is not TwoSamples:
        return _SHARES
    bins = (n + m) / bin_size(n, m)
    return int(np.clip(_TOTAL_NUMBERS / bins**2, _FEWEST, _SHARES))


# -- on the workers ---------------------------------------------------------------------------------------------------

State = Mapping[str, Any]
Asked = tuple[PendingResult | TestResult, State]  # and the generator's state after everything was drawn


def _posed(kind: type[TwoSamples | Pairs], X: list[Array], Y: list[Array], request: Request, worker: Plan) -> Asked:
    """Choose the kernel, the scheme and the permutations; if no tiles are left to evaluate, return the null."""
    rng = as_rng(deepcopy(request.rng))
    question = replace(kind.of((np.concatenate(X), np.concatenate(Y)), request.design), engine=begin)
    with serial_blas:
        posed = question.posed(request.wanted, request.statistic, replace(request, rng=rng).resampling(worker))
    return posed, rng.bit_generator.state


def _left(posed: PendingResult | TestResult) -> TiledNull | None:
    """Return what is left to evaluate."""
    return posed.null if isinstance(posed, PendingResult) and isinstance(posed.null, TiledNull) else None


def _share(asked: Asked, share: int, shares: int) -> Total | None:
    """Evaluate one share of the tiles; None if nothing is left, or there are fewer tiles than shares."""
    begun = _left(asked[0])
    if begun is None:
        return None
    with serial_blas:
        tiles, evaluate = _prepared(begun.tiling)
        cuts = slices(len(tiles), -(-len(tiles) // shares))
        if share >= len(cuts):
            return None
        own = tiles[cuts[share]]
        return begun.tiling.total(zip(own, map(evaluate, own), strict=True))


_known: WeakKeyDictionary[Tiling, tuple[list[Tile], Callable[[Tile], Any]]] = WeakKeyDictionary()


def _prepared(tiling: Tiling) -> tuple[list[Tile], Callable[[Tile], Any]]:
    """Return the tiles and their evaluator, prepared once for all shares that a worker gets."""
    if tiling not in _known:
        _known[tiling] = tiling.tiles(), tiling.evaluator()
    return _known[tiling]


def _added(*totals: Total | None) -> Total | None:
    known = [total for total in totals if total is not None]
    return added(known) if known else None


def _concluded(asked: Asked, total: Total | None, n: int) -> tuple[TestResult, State]:
    """Put the result together, with a note on who computed it."""
    posed, state = asked
    begun = _left(posed)
    why = f"since {count(n, 'row')} are few" if n <= _FEW_ROWS else "since there were no tiles to share out"
    note = f"on a Dask cluster: one worker did all, {why}"
    if isinstance(posed, TestResult):
        return replace(posed, notes=(*posed.notes, note)), state
    if begun is None:
        return posed.result(posed.null, note), state
    tiling = begun.tiling
    tiles = tiling.tiles()
    with serial_blas:
        if total is None:
            return posed.result(begun.null(tiling.sums(tiling.part(tiles))), note), state
        return posed.result(
            begun.null(tiling.sums(total)), f"on a Dask cluster: {count(len(tiles), 'tile')} shared out"
        ), state
