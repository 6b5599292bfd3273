"""The comparison of tables in memory: a joint test over all columns, and a test of every column alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import as_rng
from ...core.table import Frame
from ...core.words import count
from ...inference import Design
from ...inference.adaptive.many_kernels import NAMED
from ...inference.request import ESTIMATORS as PLAIN
from ...kernels.bandwidth import Bandwidth
from ...tables.columns import ColumnSummary, Encoded, as_frames
from ...tables.columns.copies import same_rows
from ...tables.columns.encoded import encoded_and_seen
from ...tables.columns.missing import noise_needs_kme
from ...tables.columns.scan import TableScan
from ..designs import Taken, series_notes, with_own_numbers
from ..rows.designed_rows import DesignedRows, columns_of
from .mean_gaps import GapsOfPairs, MeansInPlaces, Places
from .ranking import ranked
from .request import Asked
from .result import Comparison
from .row_weights import RowWeights
from .table_test import TableTest, check_estimator


def compare_in_memory(A: Any, B: Any, asked: Asked) -> Comparison:
    """Compare two tables in memory, as :func:`kernelmean.compare` says."""
    check_estimator(asked)
    asked.design.check_estimator(asked.estimator, (*PLAIN, *NAMED))
    frames, taken, dropped = _rows(A, B, asked)
    encoded, scan = encoded_and_seen(frames, asked.encoding)
    _check(encoded, asked)
    encoded = encoded.called(asked.names)
    design = taken.of(encoded.frames)
    test = TableTest(asked, design=design)
    stream, stream_alone = as_rng(asked.rng).spawn(2)
    order = encoded.in_table_order()
    asked.progress("all columns together", 0, 1 + len(order))
    joint, theta = test.run(encoded, order, stream, asked.n_resamples)
    alone = test.columns(encoded, order, stream_alone)
    weigh = RowWeights.of(design)
    summaries = _summaries(encoded, scan, design)
    is_same, alike = same_rows(*encoded.points()), asked.design.in_series(encoded.frames)
    return Comparison(
        names=asked.names,
        sizes=(len(encoded.frames[0]), len(encoded.frames[1])),
        test=joint,
        estimator=asked.estimator,
        bandwidth=_in_table_order(theta, encoded),
        scaled=asked.encoding.scale,
        columns=ranked(encoded.codings, summaries, joint.noise, alone, asked),
        notes=_once(
            *series_notes(alike),
            *asked.notes,
            *dropped,
            *asked.design.notes(numbers=any(coding.category_weight is None for coding in encoded.codings)),
            *([] if weigh is None else weigh.notes()),
            *(() if is_same else encoded.repeated(taken.clusters(encoded.frames))),
            *_notes(encoded, theta),
            *joint.notes,
        ),
        missing=encoded.missing,
        encoded=encoded,
        level=asked.level,
        adjustment=asked.adjustment,
        design=asked.design,
        row_weights=weigh,
        same_rows=is_same,
        in_series=alike is not None,
    )


def _rows(A: Any, B: Any, asked: Asked) -> tuple[Sequence[Frame], Taken, tuple[str, ...]]:
    """Return the rows that are looked at, what is known of them, and notes on those that do not take part."""
    design, frames = asked.design, tuple(map(with_own_numbers, as_frames((A, B), asked.names)))
    if not design:
        return frames, design.taken(frames), ()
    names, source = frames[0].names, frames[0].source
    dropped = columns_of(names, source, design, asked.encoding)[1]
    if design.paired:
        rows = DesignedRows.of_pairs(frames, design, dropped, asked.encoding, (A, B))
    else:
        rows = DesignedRows.of(frames, design, dropped)
    rest = design.beside(names, source)
    return [own.select(rest).take(kept) for own, kept in zip(frames, rows.looked, strict=True)], rows.taken, rows.notes


def _summaries(encoded: Encoded, scan: TableScan, design: Design) -> list[ColumnSummary]:
    """Return what the columns are like in either table, and how far their means are apart."""
    if design.says_more:
        sizes = [len(frame) for frame in encoded.frames]
        places = Places.of(design, sizes)
        means = MeansInPlaces(encoded.codings, places)
        for table, frame in enumerate(encoded.frames):
            means.add(frame, places.rows(table, 0, len(frame)))
        return means.summaries(places)
    found = scan.summaries(encoded.codings)
    if not design.paired:
        return found
    gaps = GapsOfPairs(encoded.codings)
    gaps.add(*encoded.frames)
    return gaps.summaries(found, encoded.codings)


def _check(encoded: Encoded, asked: Asked) -> None:
    """Raise if there is nothing to compare, or no exact way to do it."""
    asked.check_sizes(map(len, encoded.frames))
    asked.check_columns(encoded.codings)
    if encoded.variances is not None and asked.estimator != "kme":
        raise noise_needs_kme(asked.estimator)


def _in_table_order(theta: Any, encoded: Encoded) -> Any:
    """Return a bandwidth as plain numbers, one for each axis in the order of the table."""
    if theta is None or np.ndim(theta) == 0:
        return theta if theta is None else float(theta)
    return [float(theta[j]) for name in encoded.in_table_order() for j in encoded.groups[name]]


def _once(*notes: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


def _notes(encoded: Encoded, theta: Any) -> tuple[str, ...]:
    notes = [*encoded.notes(" over both tables")]
    if isinstance(theta, Bandwidth):
        used = "" if theta.exact else f" of {count(theta.n_points, 'random row')}"
        notes.append(f"bandwidth: {theta.rule}{used}")
    return tuple(notes)
