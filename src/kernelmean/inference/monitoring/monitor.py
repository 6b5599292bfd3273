"""Sequential drift monitoring: a two-sample test that you may look at after every row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Self, final

import numpy as np

from ...core.array import SILENT, Array, IntArray, Progress
from ...core.table import Frame
from ...core.validate import check_fraction, check_integer
from ...core.words import count, passed
from ...plan.plan import serial_blas
from ...tables.columns.encoding import Encoding
from ...tables.neighbors import Neighbors
from .bag import Bag, levels, open_uniforms
from .betting import BROKE, Wealth
from .change import Past
from .checkpoint import HEAD, checked, digest_of
from .coordinates import RowCoder, check_rules, checked_reference
from .gamblers import BLOCK, FixedGamblers, Known, LearningGamblers
from .guarantee import Guarantee
from .rows import Reference, passed_over
from .scores import Scores
from .state import DriftState

_LEAST_ROWS = 8
_BATCH = 4096
_MOST_HELD = 2000
_LEARNING = 0.3


@final
class DriftMonitor:
    r"""Test after every batch of new rows whether they still follow the distribution of a reference.

    You may ask as often as you like. Gamblers rank every new row by a number, such as one of its columns, among the
    reference and all rows before it, and bet on the rank. Without drift, ranks are uniform and independent, and no
    gambler can expect to win: P(the richest ever owns 1 / α) ≤ α.

    Parameters
    ----------
    reference : array of shape (N, d), data frame, path, or anything else that :func:`kernelmean.read` takes or returns
        Or several paths or results of :func:`kernelmean.read`, one after another. At least 8 rows, in any order, and
        columns of any kind that :class:`kernelmean.TableEncoder` knows. Of more than 100,000 rows the seed draws that
        many, and ``state.notes`` says so.
    alpha : float, optional
        The probability of ever finding drift where there is none, however long the stream; by default .05.
    average_run_length : float, optional
        Instead of ``alpha``: without drift, the first false alarm comes after this many rows on average, or later. A
        change is then found as fast after a million rows as after a hundred.
    shuffle : bool
        Shuffle the rows of each batch, which may then be sorted; a table in memory is one batch, and a file is cut as
        :func:`kernelmean.read` cuts it. With False rows are taken as they come, and apart from rounding nothing
        depends on batches.
    missing : {"error", "drop", "category"}, or dict from column to one of them
    ordinal, categorical, keep, max_categories : as in :class:`kernelmean.TableEncoder`
    seed : int
        The seed of the shuffles, and of the places of rows among equal ones.

    Raises
    ------
    ValueError, TypeError
        When the reference is too short, a cell is missing without a rule or infinite, an option is unknown, or both a
        level and a run length are passed.

    Notes
    -----
    Both promises are exact at any size, for rows that do not depend on each other (Vovk, Nouretdinov & Gammerman 2003;
    run lengths: Shin, Ramdas & Rinaldo 2022, arXiv 2203.03532). Rows of a series in time do, and the monitor then finds
    drift where there is none; ``state.notes`` says if rows next to each other are alike. A category that only new rows
    have is evidence. New rows join those with which later rows are compared, so a change that is not found for a long
    time becomes ordinary. :doc:`/guides/drift` has the proof, who bets, and the power.

    Memory is O(d) for each of N ≤ 100,000 rows of the reference and for one batch, whatever the number of new rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(rng.normal(size=(600, 2)))
    >>> monitor.update(rng.normal(size=(100, 2))).drift
    False
    >>> state = monitor.update(rng.normal(1.0, 1.0, size=(100, 2)))
    >>> state.drift, state.n_rows
    (True, 200)
    """

    def __init__(
        self,
        reference: Any,
        *,
        alpha: float | None = None,
        average_run_length: float | None = None,
        shuffle: bool = True,
        missing: str | Mapping[str, str] = "error",
        ordinal: Mapping[str, Iterable[Any]] | None = None,
        categorical: str | Sequence[str] = (),
        keep: str | Sequence[str] = (),
        max_categories: int = Encoding.max_categories,
        seed: int = 0,
    ) -> None:
        self.guarantee = Guarantee.of(alpha, average_run_length)
        self.seed = check_integer(seed, "seed", 0)
        self.shuffle = shuffle
        check_rules(missing)
        encoding = Encoding(missing, ordinal, categorical, keep=keep, max_categories=max_categories)
        known = Reference.of(reference, encoding, self.seed)
        frame = checked_reference(known.frame, encoding)
        self._digest = digest_of(known.digest, {"shuffle": shuffle, "seed": self.seed, **encoding.options()})
        if len(frame) < _LEAST_ROWS:
            raise ValueError(f"{passed(len(frame), 'row')} as reference, at least {_LEAST_ROWS} are needed")
        self._blank = {"reference": len(known.frame) - len(frame), "new rows": 0}
        self._neighbors = Neighbors.of((frame,))
        order = np.random.default_rng([self.seed, len(frame)]).permutation(len(frame))
        some = max(min(len(frame) // 4, 100), min(len(frame) // 20, 1000))
        self._coder = RowCoder.fit(frame.take(order[:some]), encoding)
        self._notes, self._rows_digest = (*known.notes, *self._coder.notes(some)), known.digest
        pilot, others = (self._coder(self._coder.frame(frame.take(o), frame.source)) for o in np.split(order, [some]))
        with serial_blas:
            self._start(Scores.of(pilot, len(self._coder.codings)), pilot, others)

    def _start(self, scores: Scores, pilot: Array, others: Array) -> None:
        learning = 0.0 if scores.views is None else _LEARNING
        self._scores = scores
        self._fixed = FixedGamblers.start((1.0 - learning) * scores.weights, scores(pilot), scores(others))
        self._known = Known(scores.features(pilot), scores.features(others[:_MOST_HELD]), scores.metrics)
        self._learning = LearningGamblers.start(self._known, learning)
        self._n_rows = self._updates = 0
        self._log_wealth = BROKE if self.guarantee.alpha is None else float(np.log(self._fixed.weights.max()))
        self._log_peak = self._log_wealth
        self._detected_at: int | None = None
        self._added = others[:0]
        none = np.empty((0, len(scores.weights)), dtype=np.int64)
        self._past, self._reference = Past(none, none[:, 0], 0), self._fixed.bag

    @property
    def state(self) -> DriftState:
        """What was found so far."""
        wealth = {"log_wealth": self._log_wealth, "log_peak": self._log_peak}
        return DriftState(
            self._n_rows, **wealth, **asdict(self.guarantee), detected_at=self._detected_at, notes=(*self._said(),)
        )

    def _said(self) -> Iterator[str]:
        """Yield what else a reader should know."""
        alike = self._neighbors.alike()
        if alike is not None:
            yield (
                f"{alike.words}: if they are a series in time, false alarms are likely at any level; keep rows that "
                "are far apart, such as one a day, or monitor means of days"
            )
        yield from self._notes
        yield from (
            f"{who}: {count(rows, 'row')} with blank cells left out" for who, rows in self._blank.items() if rows
        )

    def update(self, rows: Any, *, progress: Progress = SILENT) -> DriftState:
        """Bet on new rows, and return what was found so far.

        Parameters
        ----------
        rows : array of shape (b, d), data frame, path, or anything else that :func:`kernelmean.read` takes or returns
            With the columns of the reference; b ≥ 1. Or several paths or results of :func:`kernelmean.read`, as a list
            or a generator. A file, a list of tables or any other source is taken batch by batch, in order, unless
            ``read(..., in_memory=True)`` makes it one batch.
        progress : callable, optional
            Called with what comes next, the rows of a batch that are done, and its rows in all.

        Raises
        ------
        ValueError, TypeError
            When columns differ, a cell is missing without a rule or infinite, or rows cannot be read. The monitor then
            stays as it was before the call, even if earlier batches were fine.
        """
        self._pass_over(rows, partial(self._take, progress=progress))
        return self.state

    def _pass_over(self, rows: Any, take: Callable[[Array], None]) -> None:
        """Pass on the coordinates of all batches; if that fails, the monitor stays as it was."""
        before = {name: copy(value) for name, value in vars(self).items()}  # arrays are replaced, never written to

        def one_pass(frames: Iterable[Frame]) -> None:
            vars(self).update({name: copy(value) for name, value in before.items()})
            for frame in frames:
                kept = self._coder.frame(frame, frame.source)
                self._neighbors = self._neighbors.and_of(kept)
                self._blank["new rows"] += len(frame) - len(kept)
                new = self._coder(kept)
                with serial_blas:
                    take(new)

        try:
            passed_over(rows, "rows", one_pass)
        except BaseException:
            vars(self).update(before)
            raise

    def _take(self, new: Array, progress: Progress) -> None:
        """Bet on new rows, block by block: blocks begin after multiples of 16 rows."""
        first = self._n_rows
        if self.shuffle:
            new = new[np.random.default_rng([self.seed, 4, self._updates]).permutation(len(new))]
        self._updates += 1
        for start in range(0, len(new), _BATCH):
            progress("rows", start, len(new))
            part = new[start : start + _BATCH]
            cells, features = levels(self._scores(part), self._fixed.edges), self._scores.features(part)
            while self._n_rows < first + start + len(part):
                now = self._n_rows - first - start
                block = slice(now, min(now + BLOCK - self._n_rows % BLOCK, len(part)))
                self._bet(cells[block], features[block], first + 1)

    def _bet(self, cells: IntArray, features: Array, first: int) -> None:
        """Bet on rows of one block, from a batch that begins with this row."""
        start, end = self._n_rows, self._n_rows + len(cells)
        block, inside = start // BLOCK, slice(start % BLOCK, start % BLOCK + len(cells))
        fixed = self._fixed.play(cells, self._uniforms(0, block, cells.shape[1])[inside], start, self.guarantee)
        learning = self._learning.play(features, self._uniforms(1, block, len(self._learning.edges))[inside])
        path = np.maximum(fixed.max(axis=1), learning.max(axis=1, initial=-np.inf))
        self._log_wealth, self._log_peak = float(path[-1]), max(self._log_peak, float(path.max()))
        reached = np.flatnonzero(path >= self.guarantee.log_threshold)
        if self._detected_at is None and len(reached):
            self._detected_at = start + 1 + int(reached[0])
        starts = np.full(len(cells), first) if self.shuffle else start + 1 + np.arange(len(cells))
        self._past = self._past.then(cells, starts, self._detected_at)
        self._learning.learn(features, end, self.guarantee)
        self._n_rows = end

    def _uniforms(self, who: int, block: int, count: int) -> Array:
        return open_uniforms((self.seed, who, block), (BLOCK, count))

    def changed_between(self, confidence: float = 0.95) -> tuple[int, int] | None:
        r"""Return the first and the last row at which the change may have happened, after an alarm.

        Let T be the first row of the new distribution, which all later rows follow. Then the rows before T are
        exchangeable with the reference, and those from T on with each other. Gamblers test both: they rank the rows
        before T, last row first, among the reference, and the rows from T on among themselves. T is kept if no gambler
        wins much; the first and the last such T are returned. Both tests hold at any time, so that

        .. math:: P(T \text{ is ever outside, and no alarm came before } T) ≤ 1 - \text{confidence}

        for every T at most 1,023 rows before the alarm. Older rows are not kept; a change that long ago is excluded
        when a change at the first kept rows is. The interval narrows with up to 1,024 rows after the alarm. This is an
        inversion of tests, as in Saha & Ramdas (2025). It takes .1 to .5 seconds, however long the stream.

        Parameters
        ----------
        confidence : float
            Between 0 and 1.

        Returns
        -------
        (int, int) or None
            Numbers of new rows, counted from 1; a shuffled batch is included whole or not at all. None before an alarm,
            or if no single change explains the rows.

        Raises
        ------
        ValueError
            When the confidence is not a number between 0 and 1.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> monitor = DriftMonitor(rng.normal(size=(600, 2)), shuffle=False)
        >>> state = monitor.update(np.concatenate([rng.normal(size=(100, 2)), rng.normal(1.0, 1.0, size=(100, 2))]))
        >>> state.detected_at, monitor.changed_between()
        (117, (66, 110))
        """
        check_fraction(confidence, "confidence", 0.95)
        if self._detected_at is None:
            return None
        with serial_blas:
            return self._past.interval(self._reference, self._fixed, 1.0 - confidence, self.seed)

    @property
    def first_kept(self) -> int:
        """The number of the first new row that ``changed_between`` can use."""
        return self._past.last - len(self._past.cells) + 1

    def add_reference(self, rows: Any) -> None:
        """Add any number of rows to the reference for later comparisons: all are counted, at most 2,000 are kept.

        Parameters
        ----------
        rows : as in :meth:`update`

        Raises
        ------
        ValueError, TypeError
            As :meth:`update`.
        """
        self._pass_over(rows, self._add)

    def _add(self, more: Array) -> None:
        self._fixed.bag += Bag.of_scores(self._scores(more), self._fixed.edges)
        self._hold(np.concatenate([self._added, more]))

    def _hold(self, added: Array) -> None:
        """Pass the first rows that were added to the reference to the learning gamblers."""
        self._added = added[: max(_MOST_HELD - len(self._known.held), 0)]
        held = np.concatenate([self._known.held, self._scores.features(self._added)])
        self._learning.known = replace(self._known, held=held)

    def _arrays(self) -> dict[str, Array]:
        """Return what was learned; the arrays that ``GROWING`` names are of any length."""
        return {
            **{"fixed_counts": self._fixed.bag.counts, "fixed_shares": self._fixed.wealth.log_shares},
            **self._learning.arrays,
            **{"past": self._past.cells, "starts": self._past.starts},
            **{"added": self._added, "past_until": np.array([self._past.last])},
            **{"log_wealth": np.array([self._log_wealth, self._log_peak])},
            "detected_at": np.array([] if self._detected_at is None else [self._detected_at], dtype=np.int64),
            "n_rows": np.array([self._n_rows, self._updates]),
            "blank": np.array([self._blank["new rows"]]),
            "neighbors": self._neighbors.sums,
        }

    def _head(self) -> dict[str, Any]:
        return {"digest": self._digest, "reference": self._rows_digest, **asdict(self.guarantee)}

    def to_json(self) -> str:
        """Return everything learned, without the reference, for :meth:`resume`."""
        arrays = {name: array.tolist() for name, array in self._arrays().items()}
        return json.dumps({**HEAD, **self._head(), **arrays}, allow_nan=False)

    def resume(self, text: str) -> Self:
        """Continue where a monitor with the same reference and settings stopped; all that follows is equal bit for bit.

        Parameters
        ----------
        text : str
            What :meth:`to_json` returned.

        Raises
        ------
        ValueError
            When the text is not such a checkpoint, or belongs to another reference, other settings or another promise.
        TypeError
            When it is not a text.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> reference, day = rng.normal(size=(100, 1)), rng.normal(size=(20, 1))
        >>> first = DriftMonitor(reference)
        >>> _ = first.update(day)
        >>> again = DriftMonitor(reference).resume(first.to_json())
        >>> again.update(day) == first.update(day)
        True
        """
        arrays = checked(text, self._head(), self._arrays())
        self._fixed = replace(self._fixed, bag=Bag(arrays["fixed_counts"]), wealth=Wealth(arrays["fixed_shares"]))
        self._learning = self._learning.restored(arrays)
        self._hold(arrays["added"])
        self._past = Past(arrays["past"], arrays["starts"], int(arrays["past_until"][0]))
        self._log_wealth, self._log_peak = arrays["log_wealth"].tolist()
        self._n_rows, self._updates = arrays["n_rows"].tolist()
        self._blank["new rows"] = int(arrays["blank"][0])
        self._neighbors = replace(self._neighbors, sums=arrays["neighbors"])
        self._detected_at = int(arrays["detected_at"][0]) if len(arrays["detected_at"]) else None
        return self
