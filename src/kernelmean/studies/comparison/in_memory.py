"""The comparison of tables in memory: a joint test over all columns, and a test of every column alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import as_rng
from ...core.table import Frame
from ...core.words import count
from ...inference import Design
from ...kernels.bandwidth import Bandwidth
from ...tables.columns import ColumnSummary, Encoded, as_frames
from ...tables.columns.copies import same_rows
from ...tables.columns.encoded import encoded_and_seen
from ...tables.columns.scan import TableScan
from ..designs import Taken, series_notes, with_own_numbers
from ..rows.designed_rows import DesignedRows
from .answers import Answers
from .mean_gaps import GapsOfPairs, MeansInPlaces, Places
from .request import Asked
from .result import Comparison
from .row_weights import RowWeights
from .table_test import TableTest


def compare_in_memory(A: Any, B: Any, options: Asked) -> Comparison:
    """Compare two tables in memory, as :func:`kernelmean.compare` says."""
    options.check_estimator()
    options.design.check_estimator(options.estimator)
    frames, taken, dropped = _rows(A, B, options)
    encoded, scan = encoded_and_seen(frames, options.encoding)
    sizes = len(encoded.frames[0]), len(encoded.frames[1])
    options.check(sizes, encoded.codings)
    encoded.check_noise(options.estimator)
    encoded = encoded.called(options.names)
    design, order = Design() if taken is None else taken.of(encoded.frames), encoded.in_table_order()
    test = TableTest(options, design=design)
    stream, stream_alone = as_rng(options.rng).spawn(2)
    options.progress("all columns together", 0, 1 + len(order))
    joint, theta = test.run(encoded, order, stream, options.n_resamples)
    alone = test.columns(encoded, order, stream_alone)
    is_same, alike = same_rows(*encoded.points()), options.design.in_series(encoded.frames)
    clusters = None if taken is None else taken.clusters(encoded.frames)
    copies = () if is_same else encoded.repeated(clusters)
    return Answers(
        encoded=encoded,
        sizes=sizes,
        joint=joint,
        bandwidth=_in_table_order(theta, encoded),
        alone=alone,
        summaries=_summaries(encoded, scan, design),
        weights=None if taken is None else RowWeights.of(design),
        in_series=alike is not None,
        same_rows=is_same,
    ).compared(
        options,
        before=(*series_notes(alike), *options.notes, *dropped),
        after=(*copies, *encoded.notes(" over both tables"), *_on_bandwidth(theta)),
    )


def _rows(A: Any, B: Any, options: Asked) -> tuple[Sequence[Frame], Taken | None, tuple[str, ...]]:
    """Return the rows that are looked at, the columns of a design, and notes on rows that do not take part."""
    design, frames = options.design, tuple(map(with_own_numbers, as_frames((A, B), options.names)))
    if not design:
        return frames, None, ()
    rows = DesignedRows.of_frames(frames, design, options.encoding, (A, B))
    rest = design.beside(frames[0].names, frames[0].source)
    used = [frame.select(rest).take(kept) for frame, kept in zip(frames, rows.looked, strict=True)]
    return used, rows.taken, rows.notes


def _summaries(encoded: Encoded, scan: TableScan, design: Design) -> list[ColumnSummary]:
    """Return what the columns are like in either table, and how far their means are apart."""
    if design.says_more:
        sizes = [len(frame) for frame in encoded.frames]
        places = Places.of(design, sizes)
        means = MeansInPlaces(encoded.codings, places)
        for table, frame in enumerate(encoded.frames):
            means.add(frame, places.rows(table, 0, len(frame)))
        return means.summaries(places)
    summaries = scan.summaries(encoded.codings)
    if not design.paired:
        return summaries
    gaps = GapsOfPairs(encoded.codings)
    gaps.add(*encoded.frames)
    return gaps.summaries(summaries, encoded.codings)


def _in_table_order(theta: Any, encoded: Encoded) -> Any:
    """Return a bandwidth as plain numbers, one for each axis in the order of the table."""
    if theta is None or np.ndim(theta) == 0:
        return theta if theta is None else float(theta)
    return [float(theta[j]) for name in encoded.in_table_order() for j in encoded.groups[name]]


def _on_bandwidth(theta: Any) -> tuple[str, ...]:
    """Return a note on the rule that found a bandwidth."""
    if not isinstance(theta, Bandwidth):
        return ()
    used = "" if theta.exact else f" of {count(theta.n_points, 'random row')}"
    return (f"bandwidth: {theta.rule}{used}",)
