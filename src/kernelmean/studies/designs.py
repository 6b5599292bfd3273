"""The design of whole tables: columns of strata, clusters and weights, or pairs of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, final

import numpy as np

from ..core.array import BoolArray, IntArray
from ..core.cells import column_name, missing_cells
from ..core.labels import codes
from ..core.row_order import check_one_order
from ..core.table import Frame, reading_of
from ..core.words import count, did_you_mean, listed
from ..inference import Design
from ..inference.adaptive.many_kernels import NAMED
from ..inference.designs.labels import weightless
from ..inference.designs.samples import pooled_codes, taking_part
from ..inference.request import ESTIMATORS
from ..tables.columns.missing import costly_drop
from ..tables.neighbors import Alike, Neighbors
from .row_keys import check_row_order, row_key

_PARTS = ("strata", "clusters", "weights")
MEANS, STRENGTHS = "means, gaps and shares", "strengths"
"""What is shown beside the tests of two tables, and beside those of pairs of columns and of several groups."""
_OF_PAIRS = (
    "the tests ask whether the two tables differ as a whole; changes within pairs that go in both directions can leave "
    'them alike: test the differences, see "Changes within pairs" in docs/designs.md'
)
_CROSS = "to cross several, make one column of them beforehand"


@final
@dataclass(frozen=True)
class TableDesign:
    """The design of tables by the names of columns; see :class:`kernelmean.Design` for its effect on tests.

    Parameters
    ----------
    strata : str, optional
        The column of the strata, such as the center of a study. Rows are permuted only within their stratum.
    clusters : str, optional
        The column that says which rows belong together, such as the visits of a patient. Clusters are permuted whole.
    weights : str, optional
        The column of survey or importance weights.
    paired : bool
        Whether row i of one table and row i of the other are a pair. For two tables only, without the other options.

    Raises
    ------
    TypeError
        When the name of a column is not a string, or ``paired`` is not a truth value.
    ValueError
        When pairs have strata, clusters or weights, or one column is named twice.

    Examples
    --------
    >>> TableDesign(strata="center").assumed()
    'rows are exchangeable within strata of center'
    """

    strata: str | None = None
    clusters: str | None = None
    weights: str | None = None
    paired: bool = False

    def __post_init__(self) -> None:
        for part, name in self._named():
            object.__setattr__(self, part, _name_of_column(part, name))
        if not isinstance(self.paired, bool):
            raise TypeError(f"paired is {self.paired!r}; pass True or False")
        if self.paired and self.columns:
            others = listed(f"{part}=" for part, _ in self._named())
            raise ValueError(f"paired=True goes without {others}; leave one of them out")
        if len(set(self.columns)) < len(self.columns):
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            parts = " and ".join(f"{part}=" for part, name in self._named() if name == twice)
            raise ValueError(f"{parts} name the same column, {twice!r}; name different ones")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the design, which are not tested themselves."""
        return tuple(name for _, name in self._named())

    def __bool__(self) -> bool:
        """Whether there is any design."""
        return self.paired or bool(self.columns)

    def _named(self) -> Iterator[tuple[str, str]]:
        for part in _PARTS:
            name = getattr(self, part)
            if name is not None:
                yield part, name

    def options(self) -> str:
        """Return the options that set the design, as the caller writes them."""
        named = [f"{part}=" for part, _ in self._named()]
        return " and ".join(named or ["paired=True"])

    def assumed(self) -> str:
        """Return in words what the tests assume about the rows."""
        if self.paired:
            return "row i of either table is one pair; the two rows of a pair are exchangeable"
        units = "rows are exchangeable"
        if self.clusters is not None:
            units = f"whole clusters of {self.clusters} are exchangeable"
        weighted = "" if self.weights is None else f", each with its weight in column {self.weights}"
        return f"{units}{self.within}{weighted}"

    @property
    def within(self) -> str:
        """Within what means are compared, in words that begin with a blank; nothing without strata."""
        return "" if self.strata is None else f" within strata of {self.strata}"

    def counted(self, shown: str = MEANS) -> str | None:
        """Return in words how rows count in the numbers beside the tests; None where no design has columns."""
        if self.strata is not None:
            return f"{shown} are{self.within}: {self.weighted}"
        if self.weights is not None:
            return f"{shown} are of {self.weighted}"
        return f"{shown} count all rows alike; the tests follow the design" if self.columns else None

    @property
    def weighted(self) -> str:
        """How rows count in means and pictures; nothing where all count alike."""
        strata = "every stratum counts as much as in the tests"
        facts = ((self.strata, strata), (self.weights, f"rows weighted by {self.weights}"))
        return ", ".join(words for column, words in facts if column is not None)

    def notes(self, shown: str = MEANS, *, numbers: bool = False) -> tuple[str, ...]:
        """Return a note on what is shown beside the tests, or with ``numbers`` on what tests of pairs do not see."""
        if self.paired:
            return (_OF_PAIRS,) if numbers else ()
        return tuple(filter(None, [self.counted(shown)]))

    def in_series(self, frames: Sequence[Frame]) -> Alike | None:
        """Return where rows next to each other are alike, unless clusters or pairs say which belong together."""
        return None if self.clusters is not None or self.paired else Neighbors.of(frames).alike()

    def permuted(self, dealt: str) -> str:
        """Return in words what happens to rows under a random arrangement, which is ``dealt`` without a design."""
        if self.paired:
            return "the two rows of every pair were dealt at random to the two tables"
        whole = f", whole clusters of {self.clusters} at a time"
        return f"{dealt}{self.within}{'' if self.clusters is None else whole}"

    def check_estimator(self, estimator: str) -> None:
        """Raise for an estimator with weights or parameters of its own, found again under every permutation."""
        known = (*ESTIMATORS, *NAMED)
        if self and estimator not in known:
            raise ValueError(
                f"the estimator {estimator!r} does not go with {self.options()}; write one of {listed(known)}"
            )

    def as_dict(self, shown: str = MEANS) -> dict[str, Any] | None:
        """Return the names of the columns, and what the numbers ``shown`` are of, for JSON; None without a design."""
        beside = {shown.partition(",")[0]: self.counted(shown)}
        return {**asdict(self), "assumes": self.assumed(), **beside} if self else None

    def refuse_witness(self, plot: str) -> None:
        """Raise if a witness would be drawn: its band of chance is for rows without a design."""
        if self:
            raise ValueError(
                f"{plot} draws a band of chance, which is for rows without a design, and these have {self.options()}; "
                f"write to_html(path) or --html FILE for the distributions of the columns"
            )

    def refuse_cluster(self, otherwise: str) -> None:
        """Raise for pairs, whose two rows are on different workers, and say what to write."""
        if self.paired:
            raise ValueError(
                f"{self.options()} brings both rows of a pair together, which stand in different partitions on a "
                f"cluster; {otherwise}"
            )

    def split(self, frames: Sequence[Frame]) -> tuple[tuple[Frame, ...], Taken]:
        """Return the tables without the columns of the design, and these columns."""
        frames = [with_own_numbers(frame) for frame in frames]
        taken = self.taken(frames)
        self.beside(frames[0].names, frames[0].source)
        return tuple(frame.select(drop=self.columns) for frame in frames), taken

    def taken(self, frames: Sequence[Frame]) -> Taken:
        """Return the columns of the design of tables that have them."""
        for frame in frames:
            self._check(frame)
        cells = {part: [frame[name] for frame in frames] for part, name in self._named()}
        return Taken(self, cells, [frame.row_numbers() for frame in frames])

    def beside(self, names: Sequence[str], source: str) -> list[str]:
        """Return the columns of a table that are not of the design, at least one."""
        rest = [name for name in names if name not in self.columns]
        if not rest:
            raise ValueError(
                f"{source} has no column beside {listed(map(repr, self.columns))}; there is nothing to test"
            )
        return rest

    def complete_pairs(
        self,
        frames: Sequence[Frame],
        dropped: Sequence[str],
        measured: Sequence[str],
        inputs: tuple[Any, Any],
    ) -> tuple[BoolArray, tuple[str, ...]]:
        """Return which pairs have no blank cell in the columns with the rule "drop", and notes.

        Rows in another order are refused, by a column that names them, or else by the indexes of the ``inputs``.
        ``measured`` are columns that the user called measurements or categories.
        """
        first, second = frames
        if len(first) != len(second):
            key = row_key(first, second, first.names, measured)
            raise ValueError(
                f"{first.source} has {count(len(first), 'row')} and {second.source} has {len(second):,}; pairs need "
                "as many of both, row i of one with row i of the other"
                + ("" if key is None else f"; {key.name!r} names them: write {key.as_strata}")
            )
        if not check_row_order(first, second, first.names, measured):
            check_one_order(*inputs, (first.source, second.source))
        kept = np.ones(len(first), dtype=bool)
        for name in dropped:
            kept &= ~(missing_cells(first[name]) | missing_cells(second[name]))
        if len(kept) and not kept.any():
            raise ValueError(
                f"no pair of {first.source} and {second.source} is complete: one or the other of its rows has a blank "
                f"cell; write missing='category', or leave columns out"
            )
        left, many = int(kept.sum()), int((~kept).sum())
        left_out = (f"{count(many, 'pair')} with blank cells left out",) if many else ()
        return kept, (*left_out, *costly_drop(many, left, "pair"))

    def check_names(self, names: Sequence[str], source: str) -> None:
        """Raise if a column does not exist."""
        for part, name in self._named():
            if name not in names:
                several = "," in name and {*name.split(",")} <= {*names}
                cross = f"; it takes one: {_CROSS}" if several else ""
                raise ValueError(
                    f"{source} has no column {name!r}, which {part}= names{cross or did_you_mean(name, names)}"
                )

    def _check(self, frame: Frame) -> None:
        """Raise if a column does not exist, has blank cells, or holds weights that are not numbers."""
        self.check_names(frame.names, frame.source)
        for part, name in self._named():
            blank = missing_cells(frame[name])
            if blank.any():
                row = frame.row_numbers()[int(np.argmax(blank))]
                raise ValueError(
                    f"{frame.source}: row {row} has no value in {name!r}, the column of the {part} "
                    f"({count(int(blank.sum()), 'such row')} in all); fill them, or leave these rows out beforehand"
                )
            if part == "weights":
                _check_weights(frame, name)


def _name_of_column(part: str, name: Any) -> str:
    """Return the name of a column of a design, or raise where it is anything but a text."""
    if isinstance(name, str):
        return column_name(name)
    text = repr(name) if np.ndim(name) == 0 else f"a {type(name).__name__}"
    cross = f"; {_CROSS}" if isinstance(name, list | tuple) else ""
    raise TypeError(f"{part} is {text}; pass the name of a column of the table, such as {part}='center'{cross}")


def _check_weights(frame: Frame, name: str) -> None:
    """Raise when a column holds something other than weights."""
    cells = frame[name]
    if cells.dtype != np.float64:
        instead = reading_of(frame, name) or "name another one"
        raise ValueError(f"{frame.source}: column {name!r} holds no numbers, but weights are numbers; {instead}")
    negative = cells < 0.0
    if negative.any():
        where = int(np.argmax(negative))
        raise ValueError(
            f"{frame.source}: row {frame.row_numbers()[where]} has the weight {cells[where]:g} in {name!r} "
            f"({count(int(negative.sum()), 'such row')} in all); weights must not be negative"
        )
    if not cells.any():
        raise ValueError(f"{frame.source}: all weights in {name!r} are zero; at least one row needs a positive weight")


NO_DESIGN = TableDesign()
"""No design: all rows are exchangeable."""


def series_notes(alike: Alike | None) -> tuple[str, ...]:
    """Return a note on rows next to each other that are alike; none where they are not."""
    if alike is None:
        return ()
    return (
        f"{alike.words}: if neighbours belong together (one person, one interviewer, one day), p-values are far too "
        f"small; name the column that says which do, clusters='COLUMN'; a series in time needs a column of blocks, "
        "such as the week, and kernelmean.changes has Search(block=N)",
    )


def exactness(design: TableDesign, *, in_series: bool = False) -> str:
    """Return in a few words when p-values are exact; rows that look like a series may depend on each other."""
    if in_series:
        return "exact only if rows do not depend on each other (see the note)"
    return "exact under this design" if design else "exact if rows are exchangeable"


@final
@dataclass(frozen=True, eq=False)
class Taken:
    """The columns of a design, taken out of their tables."""

    design: TableDesign
    cells: dict[str, list[Any]]
    """For strata, clusters and weights: the cells of every table."""
    numbers: list[IntArray]
    """The numbers of the rows of every table."""

    def of(self, frames: Sequence[Frame]) -> Design:
        """Return the design of the rows that remain of the tables: for two samples, or for one table."""
        places = [_places(numbers, frame.row_numbers()) for numbers, frame in zip(self.numbers, frames, strict=True)]
        kept = {
            part: tuple(cells[rows] for cells, rows in zip(every, places, strict=True))
            for part, every in self.cells.items()
        }
        parts = {part: values if len(frames) > 1 else values[0] for part, values in kept.items()}
        strata, clusters, weights = (parts.get(part) for part in _PARTS)
        return Design(strata=strata, clusters=clusters, weights=weights, paired=self.design.paired)

    def only(self, tables: Iterable[int]) -> Taken:
        """Return the columns of some of the tables."""
        chosen = [*tables]
        cells = {part: [every[k] for k in chosen] for part, every in self.cells.items()}
        return replace(self, cells=cells, numbers=[self.numbers[k] for k in chosen])

    def clusters(self, frames: Sequence[Frame]) -> tuple[IntArray, ...] | None:
        """Return the numbers of the clusters of the rows that remain of the tables; None without clusters."""
        clusters = self.of(frames).clusters
        if clusters is None:
            return None
        numbers, _ = codes(np.concatenate(clusters if len(frames) > 1 else (clusters,)), "clusters")
        return tuple(np.split(numbers, np.cumsum([*map(len, frames)])[:-1]))

    def taking_part(self, frames: tuple[Frame, ...]) -> tuple[tuple[Frame, ...], tuple[str, ...]]:
        """Return tables without the rows that no test takes, and notes.

        These have weight zero, or are in strata of one of two tables only. They are left out before columns are looked
        at, so that the units and scales of columns are those of the rows that are tested.
        """
        design, sizes = self.of(frames), [len(frame) for frame in frames]
        weights = () if design.weights is None else design.weights if len(frames) > 1 else (design.weights,)
        weighted = np.concatenate(weights) > 0.0 if weights else np.ones(sum(sizes), dtype=bool)
        if len(frames) == 2:
            strata, names = pooled_codes(design.strata, (sizes[0], sizes[1]), "strata")
            kept, _, notes = taking_part(weighted, strata, np.repeat([1, 0], sizes), names)
        else:
            kept, notes = weighted, weightless(weighted)
        if kept.all():
            return frames, ()
        parts = np.split(kept, np.cumsum(sizes)[:-1])
        return tuple(frame.take(part) for frame, part in zip(frames, parts, strict=True)), notes


def with_own_numbers(frame: Frame) -> Frame:
    """Return a frame whose rows have different numbers; rows of several files are numbered again from 1."""
    numbers = frame.row_numbers()
    return frame if len(np.unique(numbers)) == len(numbers) else replace(frame, rows=None)


def _places(numbers: IntArray, kept: IntArray) -> IntArray:
    """Return the positions of the rows with the kept numbers."""
    order = np.argsort(numbers, kind="stable")
    return np.asarray(order[np.searchsorted(numbers, kept, sorter=order)])
