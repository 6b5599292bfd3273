"""Where the rows of a test are, and who answers then: this process with all of them or in one pass, or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..core.table import Frame
from ..plan.plan import DEFAULT, Plan, RemotePlan
from ..tables import limits
from ..tables.batchwise import asked_for, measured
from ..tables.read import check_apart, hold, is_in_memory, read
from ..tables.source import READER, Source
from .questions import JointIndependence, Pairs, Question
from .request import Request
from .resampling_options import resources_of
from .result import TestResult
from .streaming.one_pass_request import BY_SCHEME, Reason
from .streaming.one_pass_test import one_pass


def answer(kind: type[Question], data: Sequence[Any], request: Request, plan: Plan | RemotePlan | None) -> TestResult:
    """Return the result of a test, wherever its rows are.

    Arrays and data frames are tested as they are. Files, folders, batches and what :func:`kernelmean.read` returns are
    held in memory where they are short, and give the same result then; longer ones are read once, and so is whatever
    ``scheme=OnePass(...)`` or the source asks it for.
    """
    if isinstance(plan, RemotePlan) and kind.of_two:
        X, Y = data
        return cast("TestResult", plan.answer(kind, X, Y, request))
    own = cast("Plan | None", plan)
    resources_of(own)  # checks it, and refuses a cluster
    if len(data) < 2:
        return _in_memory(kind, data, request, own)  # which says how many are needed
    if request.one_pass is None and all(isinstance(rows, np.ndarray) or is_in_memory(rows) for rows in data):
        return _in_memory(kind, data, request, own)
    check_apart(*data)
    tables = [rows if is_in_memory(rows) else _kept_together(read(rows), kind, request) for rows in data]
    tables, reason = _placed(tables, request)
    if reason is not None:
        if not kind.of_two:
            raise ValueError(
                "one pass over the rows is for two samples or two variables; test two at a time, or hold all rows in "
                "memory, kernelmean.read(..., in_memory=True)"
            )
        first, second = (read(table) for table in tables)
        return one_pass(kind, (first, second), request, DEFAULT if own is None else own, reason)
    held = [_held(table) for table in tables]
    result = _in_memory(kind, [rows for rows, _ in held], request, own)
    return replace(result, notes=(*result.notes, *(note for _, told in held for note in told)))


def _in_memory(kind: type[Question], data: Sequence[Any], request: Request, plan: Plan | None) -> TestResult:
    question = kind.of(data, request.design)
    return question.answered(request.wanted, request.statistic, request.resampling(plan))


def _kept_together(source: Source, kind: type[Question], request: Request) -> Source:
    """Return a source, or raise where it leaves out rows whose partners stay."""
    if source.missing == "drop" and (kind in (Pairs, JointIndependence) or request.design.paired):
        raise ValueError(
            f"{source.source} leaves out rows with blank cells, and row i of X and row i of Y are one observation; "
            "leave missing= out, and leave out the same rows of both beforehand"
        )
    return source


def _placed(tables: list[Any], request: Request) -> tuple[list[Any], Reason | None]:
    """Return the tables, and why they are read in one pass; None where they are held in memory.

    The same as of a comparison of tables: what the sources say, or else how many rows there are.
    """
    said = asked_for(*tables)
    if request.one_pass is not None:
        if said is False:
            raise ValueError("scheme is one pass, and in_memory=True holds all rows; leave one of the two out")
        return tables, BY_SCHEME
    if said is not None:
        return tables, _BY_SOURCE if said else None
    wanted = request.wanted
    limit = limits.TEST_LIMIT if wanted.adaptive is None or wanted.default else limits.ADAPTIVE_LIMIT
    found = [measured(table, limit) if isinstance(table, Source) else (table, False) for table in tables]
    if not any(long for _, long in found):
        return [table for table, _ in found], None
    instead = (
        "hold all rows in memory with kernelmean.read(..., in_memory=True), or take a part of them with "
        "kernelmean.tables.read_table"
    )
    reason = Reason(f"beyond {limit:,} rows", instead, asked=False)
    return [table for table, _ in found], reason


def _held(table: Any) -> tuple[Any, tuple[str, ...]]:
    """Return all rows in memory, and what their reader tells."""
    frame = hold(table, "this test")
    return (frame.to_table(reader=READER), frame.notes) if isinstance(frame, Frame) else (table, ())


_BY_SOURCE = Reason("as in_memory=False, passes= or checkpoint= of kernelmean.read asks for it", "leave these out")
