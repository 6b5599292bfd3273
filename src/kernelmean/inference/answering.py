"""Where the rows of a test are, and what answers: this process with all rows or in bins, or a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from ..core.points import points_elsewhere
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
from .samples import check_one_order_of_all


def answer(kind: type[Question], data: Sequence[Any], request: Request, plan: Plan | RemotePlan | None) -> TestResult:
    """Return the result of a test, wherever its rows are.

    Arrays and data frames are tested as they are. Files, folders, batches and what :func:`kernelmean.read` returns are
    held in memory if they are short, and then give the same result. Longer ones are added up in bins, and so are as
    many rows in memory, and any rows for which ``scheme="bins"`` or the source asks for bins.
    """
    if request.design.in_series and kind.of_two:
        _check_series(data, request, plan)
    data, request = looked_up(kind, data, request, plan)
    if isinstance(plan, RemotePlan) and kind is not JointIndependence:
        return cast("TestResult", plan.answer(kind, data, request))
    own = cast("Plan | None", plan)
    resources_of(own)  # checks it, and refuses a cluster for several variables
    if len(data) < 2:
        return answered_in_memory(kind, data, request, own)  # which says how many are needed
    check_apart(*data)
    tables = [rows if is_in_memory(rows) else _kept_together(read(rows), kind, request) for rows in data]
    tables, reason = _placed(kind, tables, request)
    if reason is not None:
        if kind is JointIndependence:
            raise ValueError(
                "bins are for samples or two variables; test two variables at a time, or hold all rows in memory, "
                "kernelmean.read(..., in_memory=True)"
            )
        if kind is Pairs or request.design.paired:
            check_one_order_of_all({"X": tables[0], "Y": tables[1]})
        return binned_test(kind, _sources(tables), request, DEFAULT if own is None else own, reason)
    held = [_held(table) for table in tables]
    result = answered_in_memory(kind, [rows for rows, _ in held], request, own)
    return replace(result, notes=(*result.notes, *(note for _, told in held for note in told)))


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


def _kept_together(source: Source, kind: type[Question], request: Request) -> Source:
    """Return a source, or raise if it leaves out rows whose partners stay."""
    together = kind in (Pairs, JointIndependence) or request.design.paired
    return refuse_dropped(source) if together else source


def _placed(kind: type[Question], tables: list[Any], request: Request) -> tuple[list[Any], Reason | None]:
    """Return the tables, and why they are added up in bins; None if all rows are held in memory.

    The rule is that of a comparison of tables: what the sources say, otherwise the number of rows, wherever these are.
    Many rows that are in memory already are tested by all of them where bins do not work with an option.
    """
    held = to_be_held(*tables)
    if request.in_bins:
        if held:
            raise ValueError("scheme is 'bins', and in_memory=True holds all rows; leave one of the two out")
        return tables, BY_SCHEME
    if held:
        return tables, None
    limit = row_limit(kind, request)
    found = [_measured(table, limit, name) for table, name in zip(tables, names_of_tables(len(tables)), strict=True)]
    here = not any(isinstance(table, Source) for table in tables)
    if not any(long for _, long in found) or (here and not _has_bins(kind, request)):
        return [table for table, _ in found], None
    instead = (
        "hold all rows in memory with kernelmean.read(..., in_memory=True), or take a part of them with "
        "kernelmean.tables.read_table"
    )
    return [table for table, _ in found], Reason(f"beyond {limit:,} rows", instead, asked=False)


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
    return [replace(own, source=name) if own.source == UNNAMED else own for own, name in named]


def names_of_tables(many: int) -> list[str]:
    """Return what to call the tables of a test in its errors."""
    return ["X", "Y"] if many == 2 else [f"table {k + 1}" for k in range(many)]


def _measured(table: Any, limit: int, name: str) -> tuple[Any, bool]:
    """Return a table, and whether it has more rows than a limit."""
    if isinstance(table, Source):
        return measured(table, limit)
    check_has_rows(table, name)
    shape = getattr(table, "shape", None)
    return table, (len(table) if shape is None else int(shape[0])) > limit


def _held(table: Any) -> tuple[Any, tuple[str, ...]]:
    """Return all rows in memory, and the notes of their reader."""
    frame = hold(table)
    return (frame.to_table(reader=READER), frame.notes) if isinstance(frame, Frame) else (table, ())
