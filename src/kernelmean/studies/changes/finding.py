"""The study: a table in time order, its change points, and what changes at each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from ...core.array import SILENT, IntArray, Progress, RngLike, as_rng
from ...core.cells import missing_cells
from ...core.table import Frame
from ...core.words import count, leave_out, listed
from ...inference import mmd_test
from ...inference.changes import Change, ChangeFeatures, Search
from ...inference.null import enough_for_holm
from ...inference.resampling import resources_of
from ...plan.plan import DEFAULT, Plan
from ...tables.columns import Encoded, Encoding, EncodingOptions, as_frames, encode, spells_out
from ...tables.columns.encoded import named
from ...tables.neighbors import Alike, Neighbors
from ...tables.read import hold
from ...tables.readers import PLAIN, TextColumns
from ..cells import texts_of
from ..many_tests import Contrasts
from .result import ChangePoint, Changes

MOST_ROWS, _RESAMPLES = 2000, 199
"""At most so many rows on either side of a change decide what changes, and so many permutations its kind."""
_TELLS = 0.05
"""A column is named where its p-value, times the number of columns, is at most this."""
_COLUMN_RESAMPLES = 999
_LEAST_MONOTONE = 10
_MOST_ALIKE = 5
"""The most changes of rows that are alike without blocks: most of them are none, and hundreds take hours."""


@spells_out
def changes(
    table: Any,
    time: str | None = None,
    *,
    search: Search | None = None,
    n_changes: int | None = None,
    block: int | None = None,
    rng: RngLike = 0,
    plan: Plan | None = None,
    progress: Progress = SILENT,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Changes:
    r"""Find where the distribution of the rows of a table changes over time.

    Parameters
    ----------
    table : array of shape (n, d), data frame, path, or what :func:`kernelmean.read` returns
        Its rows are in the order of time, and its columns of any kind that :class:`kernelmean.TableEncoder` knows.
    time : str, optional
        The column of the time: times, ISO text such as 2024-12-31T08:00, or numbers. It is not searched for changes,
        and gives every change point a time.
    search : Search, optional
        The level (0.05 by default), the number of changes if you know it, the shortest segment, blocks for series whose
        neighboring rows depend on each other, and the number of permutations; see
        :class:`kernelmean.studies.changes.Search`.
    n_changes, block : int, optional
        Short for ``search=Search(n_changes=..., block=...)``: the number of changes if you know it, and how many
        neighboring rows permutations keep together.
    rng : int or Generator
        The same seed gives the same numbers.
    plan : Plan, optional
        The number of threads, by default one for each core; it changes no result.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all that are known so far.
    encoding, **columns
        As in :func:`kernelmean.compare`: ``missing`` ("error", "drop", "category"), ``ordinal``, ``categorical``,
        ``keep``, ``scale``.

    Returns
    -------
    Changes
        The change points with their intervals and p-values, the segments between them, and the p-value of "no change
        at all".

    Raises
    ------
    ValueError
        When there are too few rows for two segments, the rows are not in the order of ``time``, a column rises or falls
        with every row, a cell is missing without a rule for it, a column has too many categories or looks like an
        identifier, or all columns are constant.
    TypeError
        When a column holds anything but numbers, categories and times, or ``time`` holds neither numbers nor times.

    Notes
    -----
    Every row has features :math:`φ`: those of nine kernels on views of all rows. Neighboring windows of many lengths
    a, b are compared by :math:`\frac{ab}{a+b} \|\bar φ_1 - \bar φ_2\|²`, and all windows and kernels are combined into
    one statistic, with a p-value under permutations of the rows. The table is split at the best place while that is
    small enough, and its parts are scanned. If nothing is found in several columns, each is searched alone.

    ``pvalue`` is exact at any size: if rows are in random order, as independent rows of one distribution are, it is at
    most α with probability at most α. So where nothing changes, any change point is reported with probability at most
    ``level``. Where something does change, the adjusted p-values keep the probability of any false change point near
    ``level`` (Meinshausen 2008). With ``block`` the same holds for rows that depend on nearby rows, as far as blocks
    are independent. With ``n_changes`` the search does not stop at the level. ``kind`` and ``columns`` describe a
    change, and are no tests. :doc:`/changes` has the adjustment, the intervals and simulations.

    O(n d + n r²) time for r = 32 landmarks of every kernel, O(m D) time for every permutation of m ≤ 256 bins with D
    coordinates in all, and O(n D) memory. Kernel change points: Harchaoui & Cappé (2007); Arlot, Celisse & Harchaoui
    (2019).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 1.0, size=(80, 2)), rng.normal(1.5, 1.0, size=(60, 2))])
    >>> found = changes(X)
    >>> [point.row for point in found.points], found.pvalue
    ([80], 0.00125)
    """
    search, rng, n_jobs = _search(search, n_changes, block), as_rng(rng), resources_of(plan or DEFAULT).n_jobs
    held = hold(table)
    (whole,) = as_frames((held,), ("the table",))
    stamps = None if time is None else TextColumns(PLAIN, iso=True).read(whole.select([time]))
    if stamps is not None:
        _check_order(stamps)
    searched = whole.select(drop=() if time is None else (time,))
    options = Encoding.of(encoding, columns).restricted(whole, searched.names)
    _check_varying(searched, options)
    encoded = encode((searched,), ("the table",), options)
    _check(encoded, search)
    alike = Neighbors.of(encoded.frames).alike() if search.block == 1 else None
    features = ChangeFeatures.of(encoded.tables[0], rng)
    limit = None if alike is None else _MOST_ALIKE
    together, single = search.shares(len(encoded.codings))
    pvalue, change_points = search.run(features, rng, progress, limit, together, n_jobs)
    names: dict[Change, tuple[str, ...]] = dict.fromkeys(change_points, ())
    if single and pvalue > search.level:
        least, alone = _alone(encoded, search, rng, progress, n_jobs)
        pvalue, names = min(pvalue, least), _joined(names, alone, search)
    return Changes(
        pvalue=pvalue,
        points=tuple(_points(encoded, names, stamps, rng, progress)),
        n_rows=len(whole),
        time=time,
        search=search,
        notes=(
            *_in_time(alike, limit, search, len(change_points)),
            *(() if held is table else held.notes),
            *encoded.notes(),
        ),
        missing=encoded.missing,
        encoded=encoded,
        stamps=stamps,
    )


def _search(search: Search | None, n_changes: int | None, block: int | None) -> Search:
    """Return how to search; raise if it is said twice."""
    if search is not None and (n_changes is not None or block is not None):
        raise ValueError(
            "search= says n_changes and block too; write them there: search=Search(n_changes=..., block=...)"
        )
    return search or Search(n_changes=n_changes, block=1 if block is None else block)


def _in_time(alike: Alike | None, limit: int | None, search: Search, n_changes: int) -> Iterator[str]:
    """Yield notes where rows are alike and no blocks keep them together."""
    if alike is not None:
        yield (
            f"{alike.words}: if rows depend on the rows before them, changes are found where nothing changes; write "
            f"block=N, with N several times the rows that this lasts, such as those of a week"
        )
    if limit and search.n_changes is None and n_changes == limit:
        yield f"the search stopped at the {n_changes} clearest changes, as rows are alike; n_changes=N finds others"


def _alone(
    encoded: Encoded, search: Search, rng: np.random.Generator, progress: Progress, n_jobs: int
) -> tuple[float, list[tuple[str, Change]]]:
    """Search every column alone for one change; return the smallest p-value, and the columns that change."""
    names = [coding.name for coding in encoded.codings]
    _, share = search.shares(len(encoded.codings))
    least, changed = 1.0, list[tuple[str, Change]]()
    for k, name in enumerate(names):
        progress("columns one at a time", k, len(names))
        (points,) = encoded.coordinates((name,))
        pvalue, changes = search.run(ChangeFeatures.of(points, rng), rng, limit=1, share=share, n_jobs=n_jobs)
        least, changed = min(least, pvalue), changed + [(name, change) for change in changes]
    return least, changed


def _joined(
    together: dict[Change, tuple[str, ...]], alone: list[tuple[str, Change]], search: Search
) -> dict[Change, tuple[str, ...]]:
    """Return all changes in time order with the columns that show them alone; those of one place are one change."""
    names = dict(together)
    for name, change in sorted(alone, key=lambda each: each[1].pvalue):
        close = search.least_segment - 1
        low, high = min(change.low, change.row - close), max(change.high, change.row + close)
        place = next((other for other in names if low <= other.row <= high), change)
        names[place] = (*names.get(place, ()), name)
    return dict(sorted(names.items(), key=lambda each: each[0].row))


def _points(
    encoded: Encoded,
    names: dict[Change, tuple[str, ...]],
    stamps: Frame | None,
    rng: np.random.Generator,
    progress: Progress,
) -> Iterator[ChangePoint]:
    """Yield the changes with row numbers of the whole table, their times, and what changes.

    ``names`` has the columns in which a change was found, if it was not found in all together.
    """
    (points,) = encoded.tables
    ends = [0, *(change.row for change in names), len(points)]
    for k, (change, first, last) in enumerate(zip(names, ends, ends[2:], strict=False)):
        progress("what changes", k, len(names))
        sides = [
            np.sort(rng.choice(np.arange(*ends), min(ends[1] - ends[0], MOST_ROWS), replace=False))
            for ends in ((first, change.row), (change.row, last))
        ]
        test = mmd_test(*named(encoded.codings, [points[side] for side in sides]), n_resamples=_RESAMPLES, rng=rng)
        columns = tuple(dict.fromkeys((*names[change], *_telling(encoded, sides, rng))))
        yield replace(_placed(encoded, change, stamps), kind=test.kind, columns=columns)


def _placed(encoded: Encoded, change: Change, stamps: Frame | None) -> ChangePoint:
    """Return a change with row numbers of the whole table, and its times."""
    rows = encoded.frames[0].row_numbers() - 1
    row, low, high = numbers = rows[[change.row, change.low - 1, change.high]] + [
        0,
        1,
        0,
    ]  # rows before low may be left out
    times = ["", "", ""]
    if stamps is not None:
        times = texts_of(stamps, stamps.names[0], np.searchsorted(stamps.row_numbers() - 1, numbers), exact=True)
    return ChangePoint(int(row), int(low), int(high), change.pvalue, None, (), *times)


def _telling(encoded: Encoded, sides: list[IntArray], rng: np.random.Generator) -> tuple[str, ...]:
    """Return the columns that differ on their own between some rows and others, those that differ most first.

    Approximate p-values choose them, and permutations confirm them, as there may be few rows on one side.
    """
    evidence, names = {}, [coding.name for coding in encoded.codings]
    limit, resamples = _TELLS / len(names), enough_for_holm(_COLUMN_RESAMPLES, len(names), _TELLS)
    for coding in encoded.codings:
        (points,) = encoded.coordinates((coding.name,))
        contrasts = replace(Contrasts.of(coding, points[np.concatenate(sides)]), in_clusters=False)
        pvalue = contrasts.of_samples(len(sides[0]))
        if pvalue <= limit and contrasts.permuted(len(sides[0]), resamples, rng) <= limit:
            evidence[coding.name] = pvalue
    return tuple(sorted(evidence, key=lambda name: evidence[name]))


def _check_order(stamps: Frame) -> None:
    """Raise if the time column holds no times, or the rows are not in their order."""
    (name,), (cells,) = stamps.names, stamps.cells.values()
    if cells.dtype.kind not in "fmM":
        instead = f"write ISO times, read it with dates='dmy', 'mdy' or 'ymd', or pandas.to_datetime(table[{name!r}])"
        raise TypeError(f"{stamps.source}: the column {name!r} of the time holds neither numbers nor times; {instead}")
    if missing_cells(cells).any():
        row = int(np.argmax(missing_cells(cells))) + 1
        raise ValueError(f"{stamps.source}: the column {name!r} of the time is blank in row {row}; fill it first")
    earlier = cells[1:] < cells[:-1]
    if earlier.any():
        row = int(np.argmax(earlier)) + 2
        raise ValueError(
            f"{stamps.source}: row {row} is earlier than row {row - 1} by {name!r}; sort the rows by this column first"
        )


def _check_varying(frame: Frame, options: Encoding) -> None:
    """Raise for a column that counts rows or is a time: every place in it would be a change."""
    kept = (options.keep,) if isinstance(options.keep, str) else tuple(options.keep)
    for name, cells in frame.cells.items():
        if name in kept or cells.dtype.kind not in "fmM" or len(cells) < _LEAST_MONOTONE:
            continue
        if (cells[1:] > cells[:-1]).all() or (cells[1:] < cells[:-1]).all():
            raise ValueError(
                f"{frame.source}: the column {name!r} rises or falls with every row, so every place would be a change; "
                f"write time={name!r} if it is the time, leave it out {leave_out([name])}, or write keep={name!r} to "
                "search it"
            )


def _check(encoded: Encoded, search: Search) -> None:
    """Raise if there is nothing to search."""
    rows = len(encoded.frames[0])
    if encoded.variances is not None:
        raise ValueError("missing cells as noise are for tests with one kernel; write missing='category' or 'drop'")
    if not encoded.codings:
        raise ValueError(f"all columns are constant ({listed(encoded.constant)}); there is no change to find")
    if rows < search.least_rows:
        raise ValueError(
            f"the table has {count(rows, 'row')}; at least {search.least_rows} are needed for two segments of "
            f"{search.shortest} rows in blocks of {search.block}"
        )
