"""Two files of any length: the two-sample test in one pass."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, cast

import numpy as np

from ...core.array import Array
from ...core.column_order import column_order
from ...core.words import count, listed
from ...embedding.features import FeatureMap
from ...embedding.features.draws import Design
from ...estimators.options import KernelLike
from ...plan.plan import DEFAULT, Plan, RemotePlan
from ...tables.read import read
from ...tables.source import Source, split_rows
from ..digest import RowDigest
from ..result import TestResult
from ..statistics import Kind
from .checkpoint import Checkpoint
from .mean import Estimator
from .pilot import PILOT, Recipe, check_asked, drawn_rows, pilot_rows, units_of
from .two_sample import TwoSampleStream, two_sample_stream

_SECONDS = 60.0  # between two checkpoints


def mmd_stream_test(
    X: Any,
    Y: Any,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Any = "median",
    features: FeatureMap | None = None,
    n_frequencies: int = 512,
    design: Design = "orthogonal",
    dtype: str = "float32",
    estimator: Estimator | None = None,
    statistic: Kind = "u",
    n_resamples: int = 999,
    pilot: int = PILOT,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    plan: Plan | RemotePlan = DEFAULT,
) -> TestResult:
    r"""Test whether two samples of any length come from one law: one pass, constant memory, linear time.

    Parameters
    ----------
    X, Y : whatever :func:`kernelmean.read` takes
        Two samples of the same columns, of different lengths if need be; files of CSV or Parquet, say.
    kernel, bandwidth : as in :func:`kernelmean.mmd_test`
        A rule such as "median" looks at ``pilot`` rows of both samples. They count in the statistic, but every
        permutation leaves them in their sample, since the kernel was chosen by them. Where lengths are known these rows
        are drawn at random, which reads a file once more; otherwise they are the first ones. With a number there is one
        pass only.
    features : FeatureMap, optional
        Instead of kernel, bandwidth, n_frequencies, design and dtype.
    n_frequencies, design, dtype : as in :func:`kernelmean.embedding.features.fourier`
        In float32 a feature has an error of 1e-7, far below that of the number of features.
    estimator : {"kme", "mkme", "mmkme"}
        The last two smooth the kernel by the noise that leaving one out chooses for all rows of both samples together.
    statistic : {"u", "v"}
    n_resamples : int
    pilot : int
        Rows of each sample for a rule, on average and a tenth at most where the lengths are known; the same share of
        both samples then.
    seed : int
        Of the features, of the deal of rows to bins, and of the permutations. Equal seeds give equal results, to
        rounding, whatever the batches; bitwise where the batches are equal.
    checkpoint : str or path, optional
        A file that the sums are saved to about once a minute and at the end. Where it exists already, the pass goes on
        from there, once the rows that the sums hold were read again and are the same by their digest (SHA-256).
        ``kernelmean.load(checkpoint)`` gives the :class:`kernelmean.inference.streaming.TwoSampleStream`.
    plan : Plan or DaskPlan, optional
        Threads, or a cluster, where X and Y are dask arrays, dask data frames or folders of Parquet files.

    Returns
    -------
    TestResult
        Notes say which features and bins there were, and the standard error of the statistic over the features.

    Raises
    ------
    ValueError, TypeError, OSError
        As :func:`kernelmean.read`; and when the columns differ, a sample is too small for the pilot and the test, or
        the checkpoint is of other rows or other options.

    Notes
    -----
    O((n + m) M d) time, O(M B) memory for M frequencies and B bins. The p-value is exact for the permutations of bins,
    whatever the number of features; with more features the test is nearer to that of the kernel. Rows of files whose
    length is known beforehand (Parquet, arrays) are dealt to bins at random. Of others, bins are runs of rows.
    Rahimi & Recht (2007); Domingo-Enrich, Dwivedi & Mackey (2025).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = mmd_stream_test(rng.normal(size=(3000, 2)), rng.normal(size=(2000, 2)) + 0.2, n_frequencies=64)
    >>> result.pvalue, result.sizes
    (0.001, (3000, 2000))
    """
    own = {"kernel": kernel, "bandwidth": bandwidth, "n_frequencies": n_frequencies, "design": design, "dtype": dtype}
    default = check_asked(features, estimator, 512, **own, pilot=pilot)
    recipe = Recipe(kernel, bandwidth, n_frequencies, design, dtype, seed)
    asked = recipe if features is None else features
    estimator = "kme" if estimator is None else estimator
    test: dict[str, Any] = {"estimator": estimator, "statistic": statistic, "n_resamples": n_resamples, "rng": seed}
    if isinstance(plan, RemotePlan):
        options = {"asked": asked, "pilot": pilot, "seed": seed, "checkpoint": checkpoint, "test": test}
        return cast("TestResult", plan.mmd_stream_test(X, Y, **options))
    samples = matched(read(X).in_one_pass(), read(Y).in_one_pass())
    kept = None
    if checkpoint is not None:
        columns = [list(batches.names) for batches in samples]
        given = {"columns": columns, "pilot": pilot, "seed": seed, **_named(asked), **test}
        del given["rng"]  # which is the seed
        kept = Checkpoint(checkpoint, given, TwoSampleStream)
    begun = _begin(samples, asked, pilot)
    notes = units_of(begun.kept, samples[0].names) if default and begun.kept is not None else ()
    stream = two_sample_stream(begun.features, sizes=begun.sizes, seed=seed)
    if begun.kept is not None:
        stream.keep(*begun.kept, plan=plan)
    sources = f"X ({samples[0].source})", f"Y ({samples[1].source})"
    return _filled(stream, begun, plan, kept, sources).test(notes=(*begun.notes, *notes), **test)


def _named(asked: Recipe | FeatureMap) -> dict[str, Any]:
    """Return the options that features come from; the map itself where it was passed."""
    return {"features": asked} if isinstance(asked, FeatureMap) else vars(asked)


@dataclass(frozen=True)
class _Begun:
    """Features, the rows that move and their numbers (None where unknown), those that stay, what to tell the reader."""

    features: FeatureMap
    sizes: tuple[int, int] | None
    rows: tuple[Iterator[Array], Iterator[Array]]
    notes: tuple[str, ...] = ()
    kept: tuple[Array, Array] | None = None


def _begin(samples: tuple[Source, Source], recipe: Recipe | FeatureMap, pilot: int) -> _Begun:
    """Look at a few rows, and keep them apart where a rule chose a bandwidth by them."""
    first, second = samples
    sizes = None if first.n_rows is None or second.n_rows is None else (first.n_rows, second.n_rows)
    if isinstance(recipe, FeatureMap):
        return _Begun(recipe, sizes, (iter(first), iter(second)))
    taken = pilot_rows((first.n_rows, second.n_rows), pilot)
    if sizes is not None and recipe.looks:
        others = sizes[0] - taken[0], sizes[1] - taken[1]
        if min(others) < 1:
            raise ValueError(f"samples of {sizes} rows are too small to choose a bandwidth by some; pass a number")
        parts = [
            drawn_rows(*one, seed=recipe.seed + k) for k, one in enumerate(zip(samples, sizes, taken, strict=True))
        ]
        return _looked(recipe, parts, others)
    parts = [_first_rows(batches, many) for batches, many in zip(samples, taken, strict=True)]
    if recipe.looks:
        return _looked(recipe, parts, None)
    (head, left), (other, right) = parts
    features, notes = recipe.features(np.concatenate([head, other]))
    return _Begun(features, sizes, (chain([head], left), chain([other], right)), notes)


def _first_rows(batches: Source, many: int) -> tuple[Array, Iterator[Array]]:
    head, rest = split_rows(iter(batches), many)
    if head is None:
        raise ValueError(f"{batches.source} has no rows")
    return head, rest


def _looked(recipe: Recipe, parts: list[tuple[Array, Iterator[Array]]], sizes: tuple[int, int] | None) -> _Begun:
    """Return the features that a rule makes of some rows, and the others."""
    (head, left), (other, right) = parts
    features, notes = recipe.features(np.concatenate([head, other]))
    return _Begun(features, sizes, (left, right), (*notes, kept_note(len(head) + len(other))), (head, other))


def kept_note(rows: int) -> str:
    """Say what becomes of the rows that a bandwidth was chosen by."""
    return f"{count(rows, 'row')} that the bandwidth was chosen by stay in their sample under every permutation"


def _filled(
    stream: TwoSampleStream, begun: _Begun, plan: Plan, kept: Checkpoint | None, sources: tuple[str, str]
) -> TwoSampleStream:
    """Return the stream with all rows, which is saved on the way, or goes on from where it was saved."""
    if kept is None:
        for X, Y in zip_longest(*begun.rows):
            stream.partial_fit(X, Y, plan=plan)
        return stream
    stream, rows, digests = _resumed(stream, begun, kept, sources)
    saved = time.monotonic()
    for batches in zip_longest(*rows):
        stream.partial_fit(*batches, plan=plan)
        for batch, digest in zip(batches, digests, strict=True):
            if batch is not None:
                digest.add(batch)
        if time.monotonic() - saved >= _SECONDS:
            kept.save(stream, digests)
            saved = time.monotonic()
    kept.save(stream, digests, finished=True)
    return stream


_Rows = tuple[Iterator[Array], Iterator[Array]]


def _resumed(
    stream: TwoSampleStream, begun: _Begun, kept: Checkpoint, sources: tuple[str, str]
) -> tuple[TwoSampleStream, _Rows, tuple[RowDigest, RowDigest]]:
    """Return the sums so far, the rows that are left, and the digests of those that were added."""
    pilot, digests = RowDigest(), (RowDigest(), RowDigest())
    for rows in begun.kept or ():
        pilot.add(rows)
    kept.check_pilot(pilot.text, *sources)
    found, record = kept.found, kept.record
    if found is None or record is None:
        return stream, begun.rows, digests
    same = (found.first.stop, found.second.stop) == record.rows
    if not same or found.features != stream.features or found.deal != stream.deal:
        raise kept.of_other_data(*sources)
    left, right = (kept.after(rows, k, digests[k], sources[k]) for k, rows in enumerate(begun.rows))
    return found, (left, right), digests


def matched(first: Source, second: Source) -> tuple[Source, Source]:
    """Return two tables of the same variables; columns with names are matched by name."""
    order = column_order(first, second)
    if order is None:
        raise ValueError(
            f"the samples have different columns: {first.source} has {listed(first.names)}, {second.source} has "
            f"{listed(second.names)}; choose the same ones with kernelmean.read(..., columns=...)"
        )
    return first, second if order == list(range(len(order))) else second.reordered(first.names)
