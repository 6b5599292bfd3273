"""The comparison of tables in memory: a joint test over all columns, and a test of every column alone."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...core.array import Array, as_rng
from ...core.words import count, listed, written
from ...inference import Resampling, TestResult, TwoSamples, mmd_test
from ...inference.adaptive.many_kernels import NAMED, check_renamed
from ...inference.request import MMD_ESTIMATORS as ESTIMATORS
from ...kernels import Gaussian
from ...kernels.bandwidth import Bandwidth, bandwidth_from
from ...tables import limits
from ...tables.columns import Encoded, encode, summarize
from ...tables.columns.missing import noise_needs_kme
from ...tables.read import read
from ..many_tests import UNSCREENED, Contrasts, ManyTests, OneTest, Run, runs
from .ranking import ranked
from .request import Asked
from .result import Comparison


def compare_in_memory(A: Any, B: Any, asked: Asked) -> Comparison:
    """Compare two tables in memory, as :func:`kernelmean.compare` says."""
    names, progress = asked.names, asked.progress
    test = _Test(asked)
    encoded = encode((A, B), names, asked.encoding)
    _check(encoded, names, test)
    stream, stream_alone = as_rng(asked.rng).spawn(2)
    order = encoded.in_table_order()
    progress("all columns together", 0, 1 + len(order))
    joint, theta = test.run(encoded, order, stream, asked.n_resamples)
    alone, screened = test.columns(encoded, order, stream_alone)
    summaries = [summarize(coding, encoded.frames) for coding in encoded.codings]
    return Comparison(
        names=names,
        sizes=(len(encoded.frames[0]), len(encoded.frames[1])),
        test=joint,
        estimator=asked.estimator,
        bandwidth=_in_table_order(theta, encoded),
        scaled=asked.encoding.scale,
        columns=ranked(encoded.codings, summaries, joint.noise, alone),
        notes=(*asked.notes, *_notes(encoded, theta), *screened, *joint.notes),
        missing=encoded.missing,
        encoded=encoded,
    )


@dataclass(frozen=True)
class _Test:
    """The test that all columns together and every column alone are put to."""

    asked: Asked

    def __post_init__(self) -> None:
        if self.asked.estimator not in ESTIMATORS and not self.adaptive:
            check_renamed(self.asked.estimator)
            raise ValueError(f"estimator is {self.asked.estimator!r}; write one of {listed([*ESTIMATORS, *NAMED])}")
        check_own_bandwidth(self.asked)

    @property
    def adaptive(self) -> bool:
        """Whether the test brings its own kernels."""
        return self.asked.estimator in NAMED

    def run(
        self, encoded: Encoded, columns: Iterable[str], rng: np.random.Generator, n_resamples: int
    ) -> tuple[TestResult, Any]:
        """Test some columns, and return the bandwidth; the kernel is smoothed by the noise of the pooled rows."""
        theta = None if self.adaptive else self._theta(encoded, columns)
        estimator: Any = self.asked.estimator
        if theta is not None:
            estimator = ESTIMATORS[estimator](encoded.kernel(Gaussian(theta)))
        options: dict[str, Any] = {"n_resamples": n_resamples, "rng": rng, "plan": self.asked.plan}
        samples: Sequence[Any] = encoded.points(columns)
        if self.adaptive and max(map(len, samples)) > limits.ADAPTIVE_LIMIT:  # which would be added up in bins
            samples = [read(own, in_memory=True) for own in samples]
        return mmd_test(*samples, estimator=estimator, **options), theta

    def columns(
        self, encoded: Encoded, order: Sequence[str], rng: np.random.Generator
    ) -> tuple[dict[str, OneTest], tuple[str, ...]]:
        """Test every column alone that a screen leaves, all by the same permutations, and say what it dropped."""
        planned = column_runs(self.asked.n_resamples, len(order))
        streams = [rng, *rng.spawn(len(planned) - 1)]

        def test(name: str, run: Run) -> OneTest:
            return self.of_column(encoded, name, copy.deepcopy(streams[run.number]), run.n_resamples)

        many = ManyTests(order, str, "column", test, self.asked.progress, 1 + len(order))
        kept = many.kept(partial(_evidence, encoded) if self.asked.screen else None)
        found = many.tested(kept, planned)
        dropped = {name: OneTest(self._statistic(encoded, name), 1.0, 0) for name in order if name not in found}
        return {name: found.get(name) or dropped[name] for name in order}, many.note(len(kept))

    def of_column(self, encoded: Encoded, name: str, rng: np.random.Generator, n_resamples: int) -> OneTest:
        """Return MMD², the p-value of one column, and its permutations."""
        found, _ = self.run(encoded, (name,), rng, n_resamples)
        statistic = self._statistic(encoded, name) if self.adaptive else found.statistic
        return OneTest(statistic, found.pvalue, found.n_resamples)

    def _statistic(self, encoded: Encoded, name: str) -> float:
        """Return MMD² of one column alone, of an adaptive test that of the Gaussian kernel."""
        if not self.adaptive:
            return self.run(encoded, (name,), np.random.default_rng(0), 1)[0].statistic
        kernel = Gaussian(self._theta(encoded, (name,)))
        first, second = encoded.points((name,))
        null = TwoSamples(first, second).null([kernel], "u", Resampling.of(n_resamples=1, rng=0))
        return float(null.values[0, 0])

    def _theta(self, encoded: Encoded, columns: Iterable[str]) -> Any:
        pooled, rule = np.concatenate(encoded.coordinates(columns)), self.asked.bandwidth
        if isinstance(rule, str) and not rule.startswith("median"):
            wide = [coding.name for coding in encoded.codings if len(coding.names) > 1 and coding.name in {*columns}]
            if wide:
                median = written("bandwidth='median'", "--bandwidth median")
                raise ValueError(
                    f"the bandwidth {rule!r} is a rule for columns of numbers, and {wide[0]!r} takes several "
                    f"coordinates; write {median} or a number"
                )
        return _bandwidth(pooled, rule)


def check_own_bandwidth(asked: Asked) -> None:
    """Raise when an adaptive test is asked for a bandwidth."""
    if asked.estimator in NAMED and asked.bandwidth != "median":
        given = written(f"bandwidth={asked.bandwidth!r}", f"--bandwidth {asked.bandwidth}")
        raise ValueError(
            f"the {asked.estimator} test brings its own bandwidths; leave {given} out, or take one of "
            f"{listed(ESTIMATORS)}"
        )


def column_runs(n_resamples: int, columns: int) -> tuple[Run, ...]:
    """Return the runs of the tests of so many columns: one where these are few."""
    planned = runs(n_resamples, columns)
    return planned if columns > UNSCREENED else (planned[0]._replace(n_resamples=planned[-1].n_resamples),)


def _evidence(encoded: Encoded, name: str) -> float:
    """Return what the screen finds in one column."""
    coding = encoded.codings[encoded.names.index(name)]
    first, second = encoded.coordinates((name,))
    return Contrasts.of(coding, np.concatenate([first, second])).of_samples(len(first))


def _bandwidth(pooled: Array, rule: Any) -> Any:
    """Return the bandwidth of a rule; of many rows some are drawn, but from sorted ones: no table comes first."""
    return bandwidth_from(pooled[np.lexsort(pooled.T)], rule)


def _check(encoded: Encoded, names: tuple[str, str], test: _Test) -> None:
    """Raise when there is nothing to compare, or no exact way to do it."""
    for frame, name in zip(encoded.frames, names, strict=True):
        if len(frame) < 2:
            raise ValueError(f"{name} has {count(len(frame), 'row')}; a comparison needs at least 2 in each table")
    if not encoded.names:
        raise ValueError(
            f"every column of {names[0]} and {names[1]} is constant and the same in both; there is nothing to compare"
        )
    if encoded.variances is not None and test.asked.estimator != "kme":
        raise noise_needs_kme(test.asked.estimator)


def _in_table_order(theta: Any, encoded: Encoded) -> Any:
    """Return a bandwidth as plain numbers, one per axis in the order of the table."""
    if theta is None or np.ndim(theta) == 0:
        return theta if theta is None else float(theta)
    return [float(theta[j]) for name in encoded.in_table_order() for j in encoded.groups[name]]


def _notes(encoded: Encoded, theta: Any) -> tuple[str, ...]:
    pooled = np.concatenate(encoded.points())
    notes = list(encoded.notes(" over both tables"))
    repeated = len(pooled) - len(np.unique(pooled, axis=0))
    if repeated > len(pooled) / 2:
        notes.append(f"{repeated} of {count(len(pooled), 'row')} repeat another row; rows should be independent")
    if isinstance(theta, Bandwidth):
        used = "" if theta.exact else f" of {count(theta.n_points, 'random row')}"
        notes.append(f"bandwidth: {theta.rule}{used}")
    return tuple(notes)
