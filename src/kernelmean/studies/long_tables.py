"""Do two tables of any length come from the same law, and which columns tell? All rows, in constant memory."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any, Unpack, cast

import numpy as np

from ..core.array import SILENT, Array, Progress
from ..core.surface import written
from ..core.table import Frame
from ..core.validate import check_integer
from ..core.words import count, listed
from ..embedding.features import Fourier, fourier
from ..inference.multiple import enough_for_holm
from ..inference.streaming.checkpoint import Checkpoint
from ..inference.streaming.kept import packed, unpacked
from ..inference.streaming.learn import Learnt, learn
from ..inference.streaming.mean import Estimator
from ..inference.streaming.mmd import kept_note
from ..inference.streaming.seen import TablesSeen
from ..inference.streaming.table_features import COLUMN_FREQUENCIES, TableFeatures
from ..inference.streaming.table_pass import Digests, TablePass, run_pass, verified
from ..inference.streaming.two_sample import TwoSampleStream, two_sample_stream
from ..kernels import Gaussian
from ..kernels.bandwidth import Bandwidth, Rule, bandwidth_from
from ..plan.plan import DEFAULT, Plan
from ..tables.columns import Encoded, Encoding, EncodingOptions, Missing, match_columns, spells_out
from ..tables.columns.coding import Categories, Coding
from ..tables.columns.encoded import groups_of
from ..tables.frames import Frames, read_frames
from .comparison import Comparison
from .comparison.ranking import ranked

ESTIMATORS = ("kme", "mkme", "mmkme")
RULES = ("median", "median-unsquared")


@spells_out
def compare_stream(
    A: Any,
    B: Any,
    *,
    names: tuple[str, str] | None = None,
    estimator: str = "mkme",
    bandwidth: Any = "median",
    n_resamples: int = 999,
    seed: int = 0,
    n_frequencies: int = 512,
    passes: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
    plan: Plan = DEFAULT,
    encoding: Encoding | None = None,
    **columns: Unpack[EncodingOptions],
) -> Comparison:
    """Compare two tables of any length: all rows, linear time, constant memory, and a test of every column alone.

    Parameters
    ----------
    A, B : what :func:`kernelmean.inference.streaming.read_frames` takes
        Paths of CSV or Parquet files, folders of Parquet files, data frames or arrays, with the same columns of any
        kind; see :class:`kernelmean.TableEncoder` for the kernel of each.
    names : (str, str), optional
        What to call them; by default the paths.
    estimator : {"kme", "mkme", "mmkme"}
        The last two smooth the kernel by the noise that leaving one out chooses for all rows together, from the sums.
    bandwidth : {"median", "median-unsquared"} or float
        θ: a rule, applied to a pilot of about 1000 rows of each table, or a number.
    n_resamples : int
        Permutations of bins of rows in the joint test; columns use more where Holm's method needs them.
    seed : int
        Of features, pilot, bins and permutations: the same seed gives the same numbers.
    encoding, **columns
        As in :func:`kernelmean.compare`; ``missing="noise"`` needs all rows in memory.
    n_frequencies : int
        Of all columns together; a column of numbers alone has 32, and categories are exact.
    passes : {1, 2}, optional
        2 reads the tables twice, first for the scale of columns and their categories, which then are those of all
        rows. 1 finds the scale by the pilot, which needs Parquet files of numbers without missing cells. By default 1
        where that is possible.
    checkpoint : str or path, optional
        A file that the sums are saved to about once a minute and at the end. Where it exists already, the pass goes on
        from there, once the rows that the sums hold were read again and are the same by their digest (SHA-256).
    progress : callable, optional
        Called between two batches with what is going on, the rows read, and the rows in all. When it raises, the
        checkpoint is saved before.
    plan : Plan, optional
        Threads.

    Returns
    -------
    Comparison
        Sizes, tests, means and shares are of all rows; ``encoded`` holds 2000 rows of each table, drawn at random.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.compare` and :func:`kernelmean.inference.streaming.read_frames`; when a rule needs all
        rows in memory; when the checkpoint is of other rows or other options.

    Notes
    -----
    O((n + m) (M D + M c)) time for M frequencies, D coordinates and c columns; memory does not grow with the rows. The
    p-value is exact: scale and categories are those of all rows together, or of the pilot, the bandwidth is that of the
    pilot, and permutations leave the pilot in place. In one pass the pilot comes from at most eight row groups of each
    table, which is exact for rows in random order, and for any order where there are no more groups.
    See :func:`kernelmean.inference.streaming.mmd_stream_test`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(5000, 2)), rng.normal([0.0, 0.2], size=(4000, 2))
    >>> result = compare_stream(X, Y, n_frequencies=64)
    >>> result.differ(), result.columns[0].name, result.sizes
    (True, 'x1', (5000, 4000))
    """
    encoding = Encoding.of(encoding, columns)
    _check(estimator, bandwidth, encoding.missing, seed)
    tables, moved = _matched(_read(A, "A"), _read(B, "B"), names)
    given = {"estimator": estimator, "bandwidth": bandwidth, "n_resamples": n_resamples, "seed": seed}
    given |= {"n_frequencies": n_frequencies, "passes": passes}
    kept = None if checkpoint is None else _kept(checkpoint, tables, given, encoding)
    learnt, digests = _begun(kept, tables, encoding, passes, seed, progress)
    called = (tables[0].source, tables[1].source) if names is None else names
    _check_learnt(learnt, called)
    pilot = [learnt.coordinates(learnt.pilot(k)) for k in (0, 1)]
    features, theta = _features(learnt, np.concatenate(pilot), bandwidth, n_frequencies, seed)
    left = learnt.rows[0] - len(pilot[0]), learnt.rows[1] - len(pilot[1])
    stream = two_sample_stream(features, sizes=left, seed=seed).keep(pilot[0], pilot[1], plan=plan)
    found = packed(learnt, tables) if kept is not None else {}
    start = TablePass(stream, TablesSeen.start(tables[0].names), np.zeros(2), found)
    state = run_pass(start, tables, learnt, encoding, plan, kept, digests, progress)
    tests = _Tests(state.stream, features, learnt, cast(Estimator, estimator), bandwidth, n_resamples, seed)
    joint, encoded = tests.joint(), _shown(learnt)
    return Comparison(
        names=called,
        sizes=learnt.rows,
        test=joint,
        estimator=estimator,
        bandwidth=float(theta),
        scaled=encoding.scale,
        columns=ranked(learnt.codings, _summaries(learnt, state.seen), joint.noise, tests.alone(progress)),
        notes=(*_notes(learnt, encoded, called, theta, moved), *joint.notes),
        missing=learnt.missing,
        encoded=encoded,
    )


def _kept(
    checkpoint: str | os.PathLike[str], tables: tuple[Frames, Frames], given: dict[str, Any], encoding: Encoding
) -> Checkpoint:
    """Return the file that sums are saved to, and what it holds already of these columns and options."""
    passes = [given["passes"], all(table.plain for table in tables)]  # which decides where it is None
    own = {"columns": tables[0].names, **given, "passes": passes}
    return Checkpoint(checkpoint, own | encoding.options(), TablePass)


def _begun(
    kept: Checkpoint | None,
    tables: tuple[Frames, Frames],
    encoding: Encoding,
    passes: int | None,
    seed: int,
    progress: Progress,
) -> tuple[Learnt, Digests]:
    """Return what must be known before the sums, from the checkpoint where it is there, and digests of its rows."""
    known = None if kept is None or kept.found is None else _known(kept, tables, encoding)
    digests = verified(kept, tables, progress)
    learnt = learn(tables, encoding, passes, seed, progress, kept is not None) if known is None else known
    return learnt, digests


def _summaries(learnt: Learnt, seen: TablesSeen) -> list[Any]:
    """Return the means and shares of every column, of all rows: those of the first pass where there was one."""
    columns = {column.name: column for column in (seen if learnt.seen is None else learnt.seen).columns}
    return [columns[coding.name].summary(coding) for coding in learnt.codings]


def _known(kept: Checkpoint, tables: tuple[Frames, Frames], encoding: Encoding) -> Learnt | None:
    """Return what a first pass found before the checkpoint was saved."""
    try:
        return unpacked(kept.found.learnt, tables, encoding)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise kept.damaged(error) from error


def _read(source: Any, name: str) -> Frames:
    """Return a table in batches; what is in memory has no name of its own."""
    frames = read_frames(source)
    return frames if isinstance(source, str | os.PathLike | Frames) else replace(frames, source=name)


def _check(estimator: str, bandwidth: Any, missing: Missing, seed: int) -> None:
    """Raise for what needs all rows in memory."""
    check_integer(seed, "seed", 0)
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator is {estimator!r}; over sums of features write one of {listed(ESTIMATORS)}")
    if isinstance(bandwidth, str) and bandwidth not in RULES:
        raise ValueError(
            f"bandwidth is {bandwidth!r}, which needs all rows in memory; write {listed(map(repr, RULES))}, or a number"
        )
    if "noise" in ([missing] if isinstance(missing, str) else [*missing.values()]):
        rules = written("'category' or 'drop'", "--missing category or drop")
        part = written(
            "take a part of the rows and kernelmean.compare", "compare a part of the rows with --no-stream --max-rows N"
        )
        raise ValueError(
            "noise in missing cells gives every row a kernel of its own, which needs all rows in memory; write "
            f"{rules}, or {part}"
        )


def _matched(A: Frames, B: Frames, names: tuple[str, str] | None) -> tuple[tuple[Frames, Frames], tuple[str, ...]]:
    """Return both tables with their columns in one order, and what to tell where they had to be moved."""
    called = (A.source, B.source) if names is None else names
    if not (A.named and B.named) and len(A.names) == len(B.names):  # an array takes the names of the other table
        A, B = (A.called(B.names), B) if B.named else (A, B.called(A.names))
    first, second = (
        Frame({name: np.empty(0) for name in table.names}, source, named=table.named)
        for table, source in zip((A, B), called, strict=True)
    )
    moved = match_columns(first, second)[1]
    note = (f"{called[1]}: its columns stand in another order and were matched by name",) if moved else ()
    return (A, B.reordered(A.names)), note


def _check_learnt(learnt: Learnt, names: tuple[str, str]) -> None:
    for rows, pilot, name in zip(learnt.rows, learnt.pilots, names, strict=True):
        if rows - pilot < 2:
            raise ValueError(
                f"{name} has {count(rows, 'row')}, too few for sums over bins; compare the rows themselves"
            )
    if not learnt.codings:
        raise ValueError(
            f"every column of {names[0]} and {names[1]} is constant and the same in both; there is nothing to compare"
        )


def _features(
    learnt: Learnt, pilot: Array, bandwidth: Any, n_frequencies: int, seed: int
) -> tuple[TableFeatures, float]:
    """Return the features of all columns together and of each alone, and the bandwidth of the former."""
    origin, groups = np.median(pilot, axis=0), groups_of(learnt.codings)

    def made(block: tuple[int, ...], columns: int, many: int, design: Any) -> Fourier:
        theta = _theta(pilot[:, block], bandwidth, columns)
        rng = np.random.default_rng([seed, len(block), block[0]])
        center = origin[list(block)]
        return fourier(Gaussian(theta), len(block), many, design=design, origin=center, dtype="float32", rng=rng)

    numbers = [coding.name for coding in learnt.codings if not isinstance(coding, Categories)]
    joint = made(tuple(range(pilot.shape[1])), len(learnt.codings), n_frequencies, "orthogonal")
    alone = tuple(made(groups[name], 1, COLUMN_FREQUENCIES, "quasi") for name in numbers)
    blocks = tuple(groups[name] for name in numbers)
    counted = tuple(j for coding in learnt.codings if isinstance(coding, Categories) for j in groups[coding.name])
    kernel = joint.kernel
    assert isinstance(kernel, Gaussian)
    return TableFeatures(kernel, joint, alone, blocks, counted), _theta(pilot, bandwidth, len(learnt.codings))


def _theta(pilot: Array, bandwidth: Any, columns: int) -> float:
    """Return the bandwidth; where all rows of the pilot are equal, from the mean squared distance of all rows."""
    if not isinstance(bandwidth, str):
        return float(bandwidth)
    if not np.ptp(pilot, axis=0).any():
        return math.sqrt(2.0 * columns)
    return cast(float, bandwidth_from(pilot, cast(Rule, bandwidth)))


class _Tests:
    """The tests of all columns together and of each alone, from the same sums and under the same permutations."""

    def __init__(
        self,
        stream: TwoSampleStream,
        features: TableFeatures,
        learnt: Learnt,
        estimator: Estimator,
        bandwidth: Any,
        n_resamples: int,
        seed: int,
    ) -> None:
        self.bandwidth = bandwidth
        self.stream, self.features, self.learnt = stream, features, learnt
        self.estimator, self.n_resamples, self.seed = estimator, n_resamples, seed

    def joint(self) -> Any:
        """Return the test of all columns together."""
        rng = np.random.default_rng([self.seed, 0])
        return self.features.part_of(self.stream, None).test(
            estimator=self.estimator, n_resamples=self.n_resamples, rng=rng
        )

    def alone(self, progress: Progress) -> dict[str, tuple[float, float]]:
        """Return MMD² and p-value of every column."""
        enough, found = enough_for_holm(self.n_resamples, len(self.learnt.codings)), {}
        groups = groups_of(self.learnt.codings)
        for k, coding in enumerate(self.learnt.codings):
            progress(coding.name, k, len(self.learnt.codings))
            stream, estimator = self._of(coding, groups[coding.name])
            rng = np.random.default_rng([self.seed, 1])
            found[coding.name] = tuple(stream.test(estimator=estimator, n_resamples=enough, rng=rng))
        return cast(dict[str, tuple[float, float]], found)

    def _of(self, coding: Coding, block: tuple[int, ...]) -> tuple[TwoSampleStream, Estimator]:
        """Return the sums of one column; noise changes the kernel of categories by a factor only, so they have none."""
        if isinstance(coding, Categories):
            return self.features.counts_of(self.stream, coding, block, self.bandwidth), "kme"
        return self.features.part_of(self.stream, self.features.blocks.index(block)), self.estimator


def _shown(learnt: Learnt) -> Encoded:
    """Return the rows that are kept in memory, in the order of the tables."""
    frames = [frame.take(np.argsort(frame.row_numbers(), kind="stable")) for frame in learnt.drawn]
    tables = [learnt.coordinates(frame) for frame in frames]
    return Encoded(
        codings=learnt.codings,
        tables=(tables[0], tables[1]),
        variances=None,
        frames=(frames[0], frames[1]),
        constant=learnt.constant,
        missing=learnt.missing,
        remarks=learnt.remarks,
    )


def _notes(
    learnt: Learnt, encoded: Encoded, names: tuple[str, str], theta: float, moved: tuple[str, ...]
) -> tuple[str, ...]:
    how = (
        "all rows, read twice: scale and categories of the columns, then sums of features"
        if learnt.passes == 2
        else "all rows, read once, after a pilot that the scale of the columns was chosen by"
    )
    shown = " and ".join(f"{len(frame):,}" for frame in encoded.frames)
    rule = (
        (f"bandwidth: {theta.rule}, of {count(theta.n_points, 'random row')}",) if isinstance(theta, Bandwidth) else ()
    )
    sources = [replace(frame, source=name) for frame, name in zip(encoded.frames, names, strict=True)]
    left_out = replace(encoded, frames=(sources[0], sources[1])).notes(" over both tables")
    return (
        *moved,
        *left_out,
        how,
        *rule,
        kept_note(sum(learnt.pilots)),
        f"columns alone: {COLUMN_FREQUENCIES} frequencies each, categories exactly",
        f"rows that stand out, effect size and pictures are of {shown} rows drawn at random",
    )
