"""Where the rows of a test are, and what answers: this process with all rows or in bins, or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from ..core.row_order import check_one_order_of_all
from ..core.table import Frame
from ..core.validate import check_has_rows
from ..plan.plan import DEFAULT, Plan, RemotePlan
from ..tables import limits
from ..tables.batchwise import measured, to_be_held
from ..tables.read import check_apart, hold, is_in_memory, read
from ..tables.source import READER, UNNAMED, Source, refuse_dropped
from .bins.answering import binned_test
from .bins.reading import Held
from .bins.request import BY_SCHEME, BinnedTest, Reason
from .gram_matrices import looked_up
from .questions import JointIndependence, Labelled, Pairs, Question
from .request import Request
from .resampling import resources_of
from .result import TestResult
from .samples import points_elsewhere


def answer(kind: type[Question], data: Sequence[Any], request: Request, plan: Plan | RemotePlan | None) -> TestResult:
    """Return the result of a test, wherever its rows are.

    Arrays and data frames are tested as they are. Files, folders, batches and what :func:`kernelmean.read` returns are
    held in memory if they are short, and then give the same result. Longer ones are added up in bins, and so are as
    many rows in memory, and any rows for which ``scheme="bins"`` or the source asks for bins.
    """
    if request.design.in_series and kind.of_two:
        _check_series(data, request, plan)
    if any(request.wanted.of_matrices):
        data, request = looked_up(kind, data, request, plan)
    if isinstance(plan, RemotePlan) and kind is not JointIndependence:
        return cast("TestResult", plan.answer(kind, data, request))
    local_plan = cast("Plan | None", plan)
    resources_of(local_plan)  # checks it, and refuses a cluster for several variables
    if len(data) < 2:
        return answered_in_memory(kind, data, request, local_plan)  # which says how many are needed
    in_memory = all(map(is_in_memory, data))
    tables, reason = (_placed_here if in_memory else _placed)(kind, data, request)
    if reason is not None:
        if kind is JointIndependence:
            raise ValueError(
                "bins are for samples or two variables; test two variables at a time, or hold all rows in memory, "
                "kernelmean.read(..., in_memory=True)"
            )
        if kind is Pairs or request.design.paired:
            check_one_order_of_all({"X": tables[0], "Y": tables[1]})
        return binned_test(kind, _sources(tables), request, DEFAULT if local_plan is None else local_plan, reason)
    notes: tuple[str, ...] = ()
    for place, table in enumerate(tables if in_memory else map(hold, tables)):
        tables[place] = table
        if isinstance(table, Frame):
            tables[place], notes = table.to_table(reader=READER), (*notes, *table.notes)
    result = answered_in_memory(kind, tables, request, local_plan)
    return replace(result, notes=(*result.notes, *notes)) if notes else result


def answered_in_memory(kind: type[Question], data: Sequence[Any], request: Request, plan: Plan | None) -> TestResult:
    """Return the result of a test of tables that are in memory, by all of their rows."""
    question = kind.of(data, request.design)
    return TestResult(**question.outcome(request.wanted, request.statistic, request.resampling(plan)))


def _check_series(data: Sequence[Any], request: Request, plan: Any) -> None:
    """Raise for options that time series do not have."""
    if (request.statistic, request.scheme) != ("v", "auto"):
        raise ValueError(
            "a design with series= permutes nothing, and has the V-statistic only; leave scheme= and statistic= out"
        )
    if isinstance(plan, RemotePlan) or not all(map(is_in_memory, data)):
        raise ValueError(
            "a design with series= needs all rows in memory, in the order of time; pass arrays or data frames, and no "
            "cluster"
        )


def _placed_here(kind: type[Question], data: Sequence[Any], request: Request) -> tuple[list[Any], Reason | None]:
    """Return tables in memory, and why they are added up in bins; None if they are tested by all of their rows.

    Many rows are tested by all of them, too, where bins do not work with an option.
    """
    if request.in_bins:
        return list(data), BY_SCHEME
    limit, long = row_limit(kind, request), False
    for table, name in zip(data, names_of_tables(len(data)), strict=True):
        long |= _has_more(table, limit, name)
    return list(data), _beyond(limit) if long and _has_bins(kind, request) else None


def _placed(kind: type[Question], data: Sequence[Any], request: Request) -> tuple[list[Any], Reason | None]:
    """Return the tables, and why they are added up in bins; None if all rows are held in memory.

    The rule is that of a comparison of tables: what the sources say, otherwise the number of rows, wherever these are.
    """
    check_apart(*data)
    tables = [rows if is_in_memory(rows) else read(rows) for rows in data]
    if kind in (Pairs, JointIndependence) or request.design.paired:  # partners of rows that a source left out stay
        tables = [refuse_dropped(table) if isinstance(table, Source) else table for table in tables]
    held = to_be_held(*tables)
    if request.in_bins:
        if held:
            raise ValueError("scheme is 'bins', and in_memory=True holds all rows; leave one of the two out")
        return tables, BY_SCHEME
    if held:
        return tables, None
    limit = row_limit(kind, request)
    any_long = False
    for place, name in enumerate(names_of_tables(len(tables))):
        table = tables[place]
        tables[place], long = (
            measured(table, limit) if isinstance(table, Source) else (table, _has_more(table, limit, name))
        )
        any_long |= long
    return tables, _beyond(limit) if any_long else None


def _beyond(limit: int) -> Reason:
    """Return that there are more rows than a limit."""
    instead = (
        "hold all rows in memory with kernelmean.read(..., in_memory=True), or take a part of them with "
        "kernelmean.tables.read_table"
    )
    return Reason(f"beyond {limit:,} rows", instead, by_caller=False)


def row_limit(kind: type[Question], request: Request) -> int:
    """Return up to how many rows of a file, or of a table on a cluster, a test holds all of them."""
    adaptive = kind is not JointIndependence and request.wanted.adaptive is not None
    return limits.ADAPTIVE_LIMIT if adaptive else limits.TEST_LIMIT


def _has_bins(kind: type[Question], request: Request) -> bool:
    """Whether the test has a form in bins of rows."""
    test = BinnedTest.obstacles(request)
    takes = issubclass(kind, Labelled) or (kind is Pairs and request.statistic == "v")
    return takes and not any(test)


def _sources(tables: list[Any]) -> list[Any]:
    """Return tables as sources; arrays of another library stay where they are."""
    names = names_of_tables(len(tables))
    elsewhere = points_elsewhere(*tables) if len(tables) == 2 else None
    if elsewhere is not None:
        return list(map(Held, elsewhere, names))
    named = zip(map(read, tables), names, strict=True)
    return [replace(table, source=name) if table.source == UNNAMED else table for table, name in named]


def names_of_tables(many: int) -> list[str]:
    """Return what to call the tables of a test in its errors."""
    return ["X", "Y"] if many == 2 else [f"table {k + 1}" for k in range(many)]


def _has_more(table: Any, limit: int, name: str) -> bool:
    """Return whether a table in memory has more rows than a limit."""
    check_has_rows(table, name)
    shape = getattr(table, "shape", None)
    return (len(table) if shape is None else int(shape[0])) > limit
