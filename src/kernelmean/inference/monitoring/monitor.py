"""Sequential drift monitoring: a two-sample test that may be looked at after every row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array
from ...core.checksums import sealed
from ...core.option_names import written
from ...core.table import check_size, to_frame
from ...core.validate import check_integer
from ...core.words import passed
from ...estimators.options import KernelLike
from ...plan.tiles import serial_blas
from ...tables.columns.encoding import Encoding
from ..wording import beside
from .betting import Wealth
from .checkpoint import HEAD, MonitorOptions, checked
from .coordinates import RowCoder, refuse_noise
from .pool import Pool
from .witnesses import Features, Witnesses, feature_maps, kernels_for

_LEAST_ROWS, _MOST_SCALE_ROWS = 8, 300
_BATCH = 4096


@final
@dataclass(frozen=True)
class DriftState:
    """What a monitor has found so far.

    Attributes
    ----------
    n_rows : int
        New rows that came.
    n_pairs : int
        Pairs of a row of the reference and a new row that were bet on.
    waiting : int
        Rows of the reference that can still be paired with new ones.
    log_wealth : float
        The logarithm of the wealth now, an e-value: its expectation is 1 without drift.
    pvalue : float
        1 / (largest wealth so far), at most 1: valid whenever one looks, P(p ≤ α at any time) ≤ α without drift.
    alpha : float
        The level of ``detected_at``.
    detected_at : int or None
        The number of the new row, from 1, with which the p-value came down to ``alpha``; within a shuffled batch in the
        shuffled order.
    """

    n_rows: int
    n_pairs: int
    waiting: int
    log_wealth: float
    pvalue: float
    alpha: float
    detected_at: int | None

    @property
    def drift(self) -> bool:
        """Whether drift was found at level ``alpha``."""
        return self.detected_at is not None

    def verdict(self) -> str:
        """Return one sentence for a reader."""
        p = beside(self.pvalue, self.alpha)
        if self.detected_at is None:
            return f"No drift found in {self.n_rows:,} rows (p = {p}, level {self.alpha:g})."
        where = f"found at row {self.detected_at:,} of {self.n_rows:,}"
        return f"Drift: {where} (p = {p}, level {self.alpha:g})."

    def as_dict(self) -> dict[str, Any]:
        """Return plain names and numbers."""
        return {**asdict(self), "drift": self.drift}


@final
class DriftMonitor:
    r"""Ask after every batch of new rows whether they still follow the distribution of a reference, as often as wanted.

    Every new row y is paired with a row x of the reference that was not looked at before, and a gambler bets on

    .. math:: u = \tanh\frac{h(y) - h(x)}{s}, \qquad K_t = K_{t-1} (1 + λ u_t),

    where the witness h, its scale s and the share λ ∈ [0, 1) come from earlier rows only. The p-value is
    :math:`1 / \max_t K_t`.

    Parameters
    ----------
    reference : array of shape (N, d), data frame, or Frame
        At least 8 rows, in any order (the seed shuffles them). A quarter, 300 at most, sets bandwidth and scales; the
        others wait to be paired. Columns may be mixed, as for :class:`kernelmean.TableEncoder`; a category that only
        new rows have is evidence, not an error.
    kernel : str, class or Kernel
        "gaussian", a class that takes a bandwidth, or a kernel of the coordinates as it is, which then is the only one.
    bandwidth : float or str
        "median" or "median-unsquared", for the quarter; the kernels have 1/4, 1/2, 1 and 2 times it, see ``FACTORS``.
    n_frequencies : int
        Of the Fourier features of every kernel; a kernel without a spectrum gets twice as many landmarks among the
        quarter. The number of features costs power, never the level.
    recycle : bool
        Once half of the waiting reference is used up, keep every second new row, unseen, as reference for later rows.
        Then the monitor never ends, and compares with rows that are older by the length of the queue. False stops
        betting when no row waits.
    shuffle : bool
        Shuffle the rows of a batch, which then may be sorted. False takes them as they come, and nothing depends on how
        a stream is cut into batches, but for rounding.
    scale : bool
        Divide numbers by their standard deviation.
    missing : {"error", "drop", "category"}, or dict from column to one of them
    ordinal, categorical, keep : as in :class:`kernelmean.TableEncoder`
    alpha : float
        The level of ``detected_at``; p-values do not depend on it.
    seed : int
        Of the shuffles and of the features.

    Raises
    ------
    ValueError, TypeError
        When the reference is too short, a cell is missing without a rule or infinite, or an option is unknown.

    Notes
    -----
    *Why it is valid.* Without drift all rows, of the reference and new, are independent and of one distribution. Given
    all that was looked at before, x and y can be exchanged, and u changes its sign when they are: its conditional
    expectation is 0 whatever h and s are, and it lies in [-1, 1] whatever the tails. So 1 + λu ≥ 0 has conditional
    expectation 1, K and every average of such K is a non-negative martingale from 1, and P(K_t ≥ 1/α for any t) ≤ α
    (Ville 1939). Nothing else is used: not the kernel, nor the number of features, nor continuity. Shekhar & Ramdas
    (2023; arXiv 2112.09162), with a payoff that is odd in (x, y) instead of linear.

    *A reference is a sample.* The null is that new rows come from the distribution of the reference, not that they are
    draws from its rows. A reference that is looked at as a whole (its mean, say) and compared with every new row makes
    dependent payoffs that do not have expectation 0: an odd reference would be called drift some day. So each of its
    rows is held back until it is paired, and used once.

    *Strategies.* Wealth is the average over 4 kernels × 3 memories of the witness (all new rows; half-lives of 100 and
    25 pairs) × 6 shares λ. After every block of pairs a share of about 1/t is dealt anew, so that a change after t
    pairs costs a factor of the order of t. Witnesses are renewed after an eighth more pairs, 32 at most.

    O(m) time a row for m features; O(N D + m) memory, whatever the number of new rows.

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
        kernel: KernelLike = "gaussian",
        bandwidth: Any = "median",
        n_frequencies: int = 64,
        recycle: bool = True,
        shuffle: bool = True,
        scale: bool = True,
        missing: str | Mapping[str, str] = "error",
        ordinal: Mapping[str, Iterable[Any]] | None = None,
        categorical: str | Sequence[str] = (),
        keep: str | Sequence[str] = (),
        alpha: float = 0.05,
        seed: int = 0,
    ) -> None:
        self.alpha = _check_level(alpha)
        self.seed = check_integer(seed, "seed", 0)
        self.shuffle = shuffle
        frame = to_frame(reference, "reference")
        check_size(frame)
        refuse_noise(missing)
        encoding = Encoding(missing, ordinal, categorical, scale, keep=keep)
        encoding.inspect([frame])
        choice = MonitorOptions(kernel, bandwidth, n_frequencies, recycle, shuffle, encoding, self.seed)
        self._digest, self._earlier_digest = choice.digest(frame), choice.earlier_digest(frame)
        self._told_apart = choice.told_apart_earlier(frame)
        order = np.random.default_rng([self.seed, len(frame)]).permutation(len(frame))
        some = min(len(frame) // 4, _MOST_SCALE_ROWS)
        if len(frame) < _LEAST_ROWS:
            raise ValueError(f"{passed(len(frame), 'row')} as reference, at least {_LEAST_ROWS} are needed")
        self._coder = RowCoder.fit(frame.take(order[:some]), encoding)
        known, waiting = (self._coder(self._coder.frame(frame.take(o), frame.source)) for o in np.split(order, [some]))
        maps = feature_maps(kernels_for(kernel, bandwidth, known), known, n_frequencies, self.seed)
        with serial_blas:
            self._witnesses = Witnesses.start(Features(maps, known))
        self._pool = Pool(waiting, recycle, 0, waiting[:0])
        self._wealth = Wealth.start(self._witnesses.count)
        self._n_rows = self._n_pairs = self._updates = 0
        self._block_start = 0
        self._detected_at: int | None = None

    @property
    def state(self) -> DriftState:
        """What was found so far."""
        return DriftState(
            n_rows=self._n_rows,
            n_pairs=self._n_pairs,
            waiting=len(self._pool),
            log_wealth=self._wealth.log,
            pvalue=math.exp(-self._wealth.log_peak),
            alpha=self.alpha,
            detected_at=self._detected_at,
        )

    def update(self, rows: Any) -> DriftState:
        """Bet on new rows, and return what was found so far.

        Parameters
        ----------
        rows : array of shape (b, d), data frame, or Frame
            The columns of the reference; b ≥ 1.

        Raises
        ------
        ValueError, TypeError
            When columns differ, or a cell is missing without a rule or infinite. The monitor stays as it was.
        """
        new = self._coordinates(rows, "rows")
        before = {name: copy(value) for name, value in vars(self).items()}  # arrays are replaced, never written to
        try:
            with serial_blas:
                self._take(new)
        except Exception:
            vars(self).update(before)
            raise
        return self.state

    def _take(self, new: Array) -> None:
        """Pair new rows and bet on them."""
        if self.shuffle:
            new = new[np.random.default_rng([self.seed, self._updates, 1]).permutation(len(new))]
        self._updates += 1
        for start in range(0, len(new), _BATCH):
            part = new[start : start + _BATCH]
            reference, paired = self._pool.pair(part)
            self._bet(reference, part[paired], self._n_rows + 1 + paired)
            self._n_rows += len(part)

    def add_reference(self, rows: Any) -> None:
        """Let more rows of the reference wait: of a second stream, say, which then is compared with the new rows.

        Raises
        ------
        ValueError, TypeError
            As :meth:`update`.
        """
        self._pool.add(self._coordinates(rows, "rows"))

    def to_json(self) -> str:
        """Return all that was learned, without the reference: what :meth:`resume` takes."""
        witnesses, pool = self._witnesses, self._pool
        content = {
            **HEAD,
            "digest": self._digest,
            "alpha": self.alpha,
            "n_rows": self._n_rows,
            "n_pairs": self._n_pairs,
            "updates": self._updates,
            "block_start": self._block_start,
            "detected_at": self._detected_at,
            "log_peak": self._wealth.log_peak,
            "log_shares": self._wealth.log_shares.tolist(),
            "taken": pool.taken,
            "added": pool.added.tolist(),
            "reference_count": witnesses.reference_count,
            **{name: getattr(witnesses, name).tolist() for name in ("reference", "new", "new_counts", "directions")},
        }
        return json.dumps(sealed(content), allow_nan=False)

    def resume(self, text: str) -> Self:
        """Go on where a monitor with the same reference and settings stopped; all that follows is equal bit by bit.

        Parameters
        ----------
        text : str
            What :meth:`to_json` returned.

        Raises
        ------
        ValueError
            When the text is no such checkpoint, or one of another reference or other settings.

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
        content = checked(text)
        self._check_digest(content.get("digest"))
        if content.get("alpha") != self.alpha:
            raise ValueError(f"the checkpoint is of the level {content.get('alpha')}, this monitor of {self.alpha:g}")
        try:
            self._restore(content)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"the checkpoint is damaged ({error}); begin anew") from error
        return self

    def _check_digest(self, found: Any) -> None:
        """Raise when a checkpoint is not known to be of this reference and these settings."""
        if found == self._digest or (found == self._earlier_digest and self._told_apart):
            return
        if found == self._earlier_digest:
            raise ValueError(
                "the checkpoint was written by an earlier version, which did not record the types of columns; "
                + written("begin anew", "delete it to begin anew, or name another file with --checkpoint")
            )
        raise ValueError(
            "the checkpoint is of another reference, or of other settings; "
            + written(
                "make the monitor as it was made then, or begin anew",
                "repeat the command as it was, delete the file to begin anew, or name another one with --checkpoint",
            )
        )

    def _restore(self, content: dict[str, Any]) -> None:
        """Take over what a checkpoint holds, all of it or nothing."""
        features, width = self._witnesses.features, self._pool.original.shape[1]
        own = self._witnesses
        arrays = {name: np.array(content[name], dtype=np.float64) for name in ("reference", "new", "new_counts")}
        directions = np.array(content["directions"], dtype=np.float64)
        shares = np.array(content["log_shares"], dtype=np.float64)
        shapes = [(arrays[name], getattr(own, name)) for name in arrays] + [(directions, own.directions)]
        if any(found.shape != like.shape for found, like in [*shapes, (shares, self._wealth.log_shares)]):
            raise ValueError("its arrays have other shapes")
        added = np.array(content["added"], dtype=np.float64).reshape(-1, width)
        if not all(np.isfinite(each).all() for each in (*arrays.values(), directions, shares, added)):
            raise ValueError("its arrays hold numbers that are not finite")
        counts = [int(content[name]) for name in ("n_rows", "n_pairs", "updates", "block_start", "taken")]
        detected = content["detected_at"]
        if min(counts) < 0 or counts[-1] > len(self._pool.original):
            raise ValueError("its counts are out of range")
        count, peak = float(content["reference_count"]), float(content["log_peak"])
        if not (math.isfinite(count) and math.isfinite(peak) and min(count, peak) >= 0.0):
            raise ValueError("its counts are out of range")
        self._n_rows, self._n_pairs, self._updates, self._block_start, taken = counts
        self._detected_at = None if detected is None else int(detected)
        self._pool = Pool(self._pool.original, self._pool.recycle, taken, added)
        self._wealth = Wealth(shares, peak)
        self._witnesses = Witnesses(features, **arrays, reference_count=count, directions=directions)

    def _coordinates(self, rows: Any, name: str) -> Array:
        frame = to_frame(rows, name)
        check_size(frame)
        return self._coder(self._coder.frame(frame, frame.source))

    def _bet(self, reference: Array, new: Array, numbers: Any) -> None:
        """Bet on pairs of rows, block by block; ``numbers`` are those of the new rows, from 1."""
        features = self._witnesses.features
        X, Y = features(reference), features(new)
        start = 0
        while start < len(new):
            end = min(start + self._block_end() - self._n_pairs, len(new))
            block = slice(start, end)
            path = self._wealth.bet(self._witnesses.payoffs(X[block], Y[block]))
            self._note(path, numbers[block])
            self._witnesses.add(X[block], Y[block])
            self._n_pairs += end - start
            self._end_block()
            start = end

    def _block_end(self) -> int:
        """Return the number of pairs with which the block ends: after an eighth more, from 2 to 32."""
        return self._block_start + max(2, min(self._block_start // 8, 32))

    def _end_block(self) -> None:
        """Where a block ends, deal wealth anew and renew the witnesses."""
        if self._n_pairs < self._block_end():
            return
        self._wealth.switch((self._n_pairs - self._block_start) / self._n_pairs)
        self._witnesses.renew()
        self._block_start = self._n_pairs

    def _note(self, path: Array, numbers: Any) -> None:
        """Remember the first row at which the wealth reached 1/alpha."""
        reached = np.flatnonzero(path >= -math.log(self.alpha))
        if self._detected_at is None and len(reached):
            self._detected_at = int(numbers[reached[0]])


def _check_level(alpha: float) -> float:
    if not 0.0 < float(alpha) < 1.0:
        raise ValueError(f"alpha is {alpha!r}; a level between 0 and 1 is needed, such as 0.01")
    return float(alpha)
