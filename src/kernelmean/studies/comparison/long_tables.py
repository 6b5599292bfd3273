"""Do two tables of any length come from one distribution, and which columns tell? Constant memory."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ...core.array import Array, Progress
from ...core.option_names import written
from ...core.table import Frame
from ...core.validate import check_integer
from ...core.words import count, listed
from ...embedding.features import Fourier, fourier
from ...inference.multiple import enough_for_holm
from ...inference.streaming.checkpoint import Checkpoint
from ...inference.streaming.column_summaries import TablesSeen
from ...inference.streaming.first_look import Learnt, learn
from ...inference.streaming.first_look_file import packed, unpacked
from ...inference.streaming.mean import Estimator
from ...inference.streaming.pilot import kept_note
from ...inference.streaming.table_features import COLUMN_FREQUENCIES, TableFeatures
from ...inference.streaming.table_pass import Digests, TablePass, run_pass, verified
from ...inference.streaming.two_sample import TwoSampleStream, two_sample_stream
from ...kernels import Gaussian
from ...kernels.bandwidth import Bandwidth, Rule, bandwidth_from
from ...plan.plan import DEFAULT
from ...tables.batchwise import read_together
from ...tables.columns import Encoded, Encoding, match_columns
from ...tables.columns.column_codings import Categories, Coding
from ...tables.columns.encoding import groups_of
from ...tables.source import Source
from ..many_tests import OneTest
from .ranking import ranked
from .request import Asked
from .result import Comparison

ESTIMATORS = ("kme", "mkme", "mmkme")
RULES = ("median", "median-unsquared")
_FREQUENCIES = 512


def compare_in_batches(A: Source, B: Source, asked: Asked) -> Comparison:
    """Compare two tables of any length, as :func:`kernelmean.compare` says: all rows, linear time, constant memory."""
    names, plan, progress = asked.names, asked.plan or DEFAULT, asked.progress
    seed = _check(asked)
    tables, moved = _matched(A, B, names)
    passes, checkpoint = read_together(A, B)
    kept = None if checkpoint is None else _kept(checkpoint, passes, tables, asked)
    learnt, digests = _begun(kept, tables, asked.encoding, passes, seed, progress)
    _check_learnt(learnt, names)
    pilot = [learnt.coordinates(learnt.pilot(k)) for k in (0, 1)]
    features, theta = _features(learnt, np.concatenate(pilot), asked, seed)
    left = learnt.rows[0] - len(pilot[0]), learnt.rows[1] - len(pilot[1])
    stream = two_sample_stream(features, sizes=left, seed=seed).keep(pilot[0], pilot[1], plan=plan)
    found = packed(learnt, tables) if kept is not None else {}
    start = TablePass(stream, TablesSeen.start(tables[0].names), np.zeros(2), found)
    state = run_pass(start, tables, learnt, asked.encoding, plan, kept, digests, progress)
    tests = _StreamTests(state.stream, features, learnt, asked, seed)
    joint, encoded = tests.joint(), _shown(learnt)
    seen = {own.name: own for own in (state.seen if learnt.seen is None else learnt.seen).columns}  # of all rows
    summaries = [seen[coding.name].summary(coding) for coding in learnt.codings]
    return Comparison(
        names=names,
        sizes=learnt.rows,
        test=joint,
        estimator=asked.estimator,
        bandwidth=float(theta),
        scaled=asked.encoding.scale,
        columns=ranked(learnt.codings, summaries, joint.noise, tests.alone(progress)),
        notes=(*asked.notes, *_notes(learnt, encoded, names, theta, moved), *joint.notes),
        missing=learnt.missing,
        encoded=encoded,
    )


def _kept(
    checkpoint: str | os.PathLike[str], passes: int | None, tables: tuple[Source, Source], asked: Asked
) -> Checkpoint:
    """Return the file that sums are saved to, and what it holds already of these columns and options."""
    given = {"estimator": asked.estimator, "bandwidth": asked.bandwidth, "n_resamples": asked.n_resamples}
    given |= {"seed": asked.rng, "n_frequencies": _frequencies(asked)}
    reading = [passes, all(table.plain for table in tables)]  # which decides where it is None
    own = {"columns": tables[0].names, **given, "passes": reading}
    return Checkpoint(checkpoint, own | asked.encoding.options(), TablePass)


def _frequencies(asked: Asked) -> int:
    return _FREQUENCIES if asked.n_frequencies is None else asked.n_frequencies


def _begun(
    kept: Checkpoint | None,
    tables: tuple[Source, Source],
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


def _known(kept: Checkpoint, tables: tuple[Source, Source], encoding: Encoding) -> Learnt | None:
    """Return what a first pass found before the checkpoint was saved."""
    try:
        return unpacked(kept.found.learnt, tables, encoding)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise kept.damaged(error) from error


def _check(asked: Asked) -> int:
    """Return the seed, and raise for what needs all rows in memory."""
    if isinstance(asked.rng, np.random.Generator):
        raise TypeError("rng is a Generator; where rows are read batch by batch a seed is needed, so write an integer")
    check_integer(asked.rng, "rng", 0)
    if asked.estimator not in ESTIMATORS:
        raise ValueError(f"estimator is {asked.estimator!r}; over sums of features write one of {listed(ESTIMATORS)}")
    if isinstance(asked.bandwidth, str) and asked.bandwidth not in RULES:
        raise ValueError(
            f"bandwidth is {asked.bandwidth!r}, which needs all rows in memory; write {listed(map(repr, RULES))}, or a "
            "number"
        )
    missing = asked.encoding.missing
    if "noise" in ([missing] if isinstance(missing, str) else [*missing.values()]):
        rules = written("'category' or 'drop'", "--missing category or drop")
        part = written(
            "hold the rows in memory with kernelmean.read(..., in_memory=True)",
            "compare a part of the rows with --no-stream --max-rows N",
        )
        raise ValueError(
            "noise in missing cells gives every row a kernel of its own, which needs all rows in memory; write "
            f"{rules}, or {part}"
        )
    return cast(int, asked.rng)


def _matched(A: Source, B: Source, called: tuple[str, str]) -> tuple[tuple[Source, Source], tuple[str, ...]]:
    """Return both tables with their columns in one order, and what to tell where they had to be moved."""
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


def _features(learnt: Learnt, pilot: Array, asked: Asked, seed: int) -> tuple[TableFeatures, float]:
    """Return the features of all columns together and of each alone, and the bandwidth of the former."""
    origin, groups = np.median(pilot, axis=0), groups_of(learnt.codings)

    def made(block: tuple[int, ...], columns: int, many: int, design: Any) -> Fourier:
        theta = _theta(pilot[:, block], asked.bandwidth, columns)
        rng = np.random.default_rng([seed, len(block), block[0]])
        center = origin[list(block)]
        return fourier(Gaussian(theta), len(block), many, design=design, origin=center, dtype="float32", rng=rng)

    numbers = [coding.name for coding in learnt.codings if not isinstance(coding, Categories)]
    joint = made(tuple(range(pilot.shape[1])), len(learnt.codings), _frequencies(asked), "orthogonal")
    alone = tuple(made(groups[name], 1, COLUMN_FREQUENCIES, "quasi") for name in numbers)
    blocks = tuple(groups[name] for name in numbers)
    counted = tuple(j for coding in learnt.codings if isinstance(coding, Categories) for j in groups[coding.name])
    kernel = joint.kernel
    assert isinstance(kernel, Gaussian)
    return TableFeatures(kernel, joint, alone, blocks, counted), _theta(pilot, asked.bandwidth, len(learnt.codings))


def _theta(pilot: Array, bandwidth: Any, columns: int) -> float:
    """Return the bandwidth; where all rows of the pilot are equal, from the mean squared distance of all rows."""
    if not isinstance(bandwidth, str):
        return float(bandwidth)
    if not np.ptp(pilot, axis=0).any():
        return math.sqrt(2.0 * columns)
    return cast(float, bandwidth_from(pilot, cast(Rule, bandwidth)))


@dataclass(frozen=True)
class _StreamTests:
    """The tests of all columns together and of each alone, from the same sums and under the same permutations."""

    stream: TwoSampleStream
    features: TableFeatures
    learnt: Learnt
    asked: Asked
    seed: int

    @property
    def _estimator(self) -> Estimator:
        return cast(Estimator, self.asked.estimator)

    def joint(self) -> Any:
        """Return the test of all columns together."""
        rng = np.random.default_rng([self.seed, 0])
        return self.features.part_of(self.stream, None).test(
            estimator=self._estimator, n_resamples=self.asked.n_resamples, rng=rng
        )

    def alone(self, progress: Progress) -> dict[str, OneTest]:
        """Return the test of every column."""
        enough = enough_for_holm(self.asked.n_resamples, len(self.learnt.codings))
        found: dict[str, OneTest] = {}
        groups = groups_of(self.learnt.codings)
        for k, coding in enumerate(self.learnt.codings):
            progress(coding.name, k, len(self.learnt.codings))
            stream, estimator = self._of(coding, groups[coding.name])
            rng = np.random.default_rng([self.seed, 1])
            test = stream.test(estimator=estimator, n_resamples=enough, rng=rng)
            found[coding.name] = OneTest(test.statistic, test.pvalue, test.n_resamples)
        return found

    def _of(self, coding: Coding, block: tuple[int, ...]) -> tuple[TwoSampleStream, Estimator]:
        """Return the sums of one column; noise changes the kernel of categories by a factor only, so they have none."""
        if isinstance(coding, Categories):
            return self.features.counts_of(self.stream, coding, block, self.asked.bandwidth), "kme"
        return self.features.part_of(self.stream, self.features.blocks.index(block)), self._estimator


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
