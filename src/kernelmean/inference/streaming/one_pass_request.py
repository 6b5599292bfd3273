"""What is asked of a test in one pass: whose features are added up, and how their sums are tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, Self, cast, final

import numpy as np

from ...core.array import Array, RngLike, as_rng
from ...core.conflicts import is_passed, refuse
from ...core.validate import check_integer
from ...embedding.features import FeatureMap, fourier
from ...estimators import KernelMean
from ...kernels.base import Kernel, rules_of
from ...kernels.tensor_product import TensorProduct
from ..designs.design import Design
from ..kernel_choice import base_kernel
from ..one_pass import OnePass
from ..questions import Question, TwoSamples
from ..request import Request, check_fit_on
from ..resampling_options import check_n_resamples
from ..result import TestResult
from ..statistics import StatisticForm
from .mean import FORMS, Estimator
from .shifts import PairStream
from .two_sample import TwoSampleStream

_NAMES: dict[str | None, Any] = {None: "kme", **{form: name for name, form in FORMS.items()}}
_TWO_SAMPLES, _PER_COLUMN, _LIMITS = 512, 256, (512, 4096)  # frequencies


@final
@dataclass(frozen=True)
class Reason:
    """Why a test goes by one pass over features, and what to write where it cannot."""

    why: str
    instead: str
    """In words."""
    asked: bool = True
    """Whether the caller asked for it."""

    def noted(self, result: TestResult) -> TestResult:
        """Return a result that says so where nobody asked for it."""
        if self.asked:
            return result
        note = f"one pass over features instead of all pairs of rows, {self.why}"
        return replace(result, notes=(*result.notes, note))


BY_SCHEME = Reason("as scheme= asks for it", "leave scheme= out")
"""Where the caller said so."""


@final
@dataclass(frozen=True, eq=False)
class StreamTest:
    """A test of sums of features."""

    sides: tuple[KernelMean, ...]
    """Whose kernels the features are of: one for two samples, or one for each of two variables."""
    options: OnePass
    seed: int
    """Of the features, of the deal of rows to bins, and of the permutations."""
    estimator: Estimator
    """"kme", "mkme" or "mmkme"."""
    statistic: StatisticForm
    n_resamples: int
    default: bool
    """Whether the caller chose neither kernel nor estimator."""

    @classmethod
    def of(cls, question: type[Question], request: Request, reason: Reason) -> Self:
        """Return what a caller asks for.

        Raises
        ------
        ValueError
            When one pass does not have it.
        """
        name = _checked(question, request, reason)
        options = request.one_pass or OnePass()
        sides = tuple(cast("KernelMean", side) for side in request.wanted.sides)
        if options.features is not None:
            for side in sides:
                given = {"kernel": (side.kernel, "gaussian"), "bandwidth": (side.bandwidth, "median")}
                refuse("OnePass(features=...) brings its kernel", **given)
        n_resamples, default = check_n_resamples(request.n_resamples), request.wanted.default
        return cls(sides, options, seed_of(request.rng), name, request.statistic, n_resamples, default)

    @property
    def n_frequencies(self) -> int | None:
        """The number of frequencies; None where the columns of two variables decide."""
        return self.options.n_frequencies or (_TWO_SAMPLES if len(self.sides) == 1 else None)

    def looks(self, *columns: int) -> bool:
        """Whether a rule looks at rows to find a bandwidth, of tables of so many columns."""
        if self.options.features is not None:
            return False
        return any(
            bool(rules_of(side.kernel, dim)) if isinstance(side.kernel, Kernel) else isinstance(side.bandwidth, str)
            for side, dim in zip(self.sides, columns, strict=True)
        )

    def features(self, *tables: Array) -> tuple[FeatureMap, tuple[str, ...]]:
        """Return features for rows like these, of one sample or of two variables, and what to tell the reader."""
        if self.options.features is not None:
            return self.options.features, ()
        called = ("some rows",) if len(tables) == 1 else ("some rows of X", "some rows of Y")
        chosen = [
            base_kernel(rows, side.kernel, side.bandwidth, np.arange(len(rows)), name)
            for side, rows, name in zip(self.sides, tables, called, strict=True)
        ]
        kernels, rows = [own.kernel for own in chosen], np.hstack(tables)
        kernel = kernels[0] if len(kernels) == 1 else _product(kernels, [table.shape[1] for table in tables])
        return self._made(kernel, rows), tuple(note for own in chosen for note in own.notes)

    def _made(self, kernel: Kernel, rows: Array) -> FeatureMap:
        """Return features with an origin amid the rows."""
        dim, origin, options = rows.shape[1], np.median(rows, axis=0), self.options
        number = self.n_frequencies or int(np.clip(_PER_COLUMN * dim, *_LIMITS))
        rng = np.random.default_rng([self.seed, dim])
        return fourier(kernel, dim, number, design=options.design, origin=origin, dtype=options.dtype, rng=rng)

    def result(self, stream: TwoSampleStream | PairStream, notes: tuple[str, ...]) -> TestResult:
        """Return what the sums of all rows say."""
        name, many, seed = self.estimator, self.n_resamples, self.seed
        if isinstance(stream, PairStream):
            return stream.test(estimator=name, n_resamples=many, rng=seed, notes=notes)
        return stream.test(estimator=name, statistic=self.statistic, n_resamples=many, rng=seed, notes=notes)

    def record(self) -> dict[str, Any]:
        """Return all that a result depends on besides the rows, by name."""
        (side,), options = self.sides, self.options
        own: dict[str, Any] = {"features": options.features}
        if options.features is None:
            own = {"kernel": side.kernel, "bandwidth": side.bandwidth, "n_frequencies": self.n_frequencies}
            own |= {"design": options.design, "dtype": options.dtype}
        test = {"estimator": self.estimator, "statistic": self.statistic, "n_resamples": self.n_resamples}
        return {"pilot": options.pilot, "seed": self.seed, **own, **test}


def _checked(question: type[Question], request: Request, reason: Reason) -> Estimator:
    """Return the name of the estimator, or say which option one pass does not have."""
    for other in _others(request):
        raise ValueError(
            f"{other} does not go with the one-pass test, which is used {reason.why}; it has estimator='kme', 'mkme' "
            f"or 'mmkme' and no designs; {reason.instead}"
        )
    two = question is TwoSamples
    if not two and request.statistic != "v":
        raise ValueError(
            f"statistic is {request.statistic!r}; the one-pass test of independence has the V-statistic, 'v'"
        )
    for side in request.wanted.sides:
        check_fit_on(side, ("auto", "pooled" if two else "separate"))
    return cast("Estimator", _name(request.wanted.one))


def _others(request: Request) -> Iterator[str]:
    """Yield the options that one pass does not have."""
    for field in fields(Design):
        value = getattr(request.design, field.name)
        if is_passed(value, field.default):
            yield f"design = Design({field.name}={value if value is True else '...'})"
    if request.one_pass is None and request.scheme != "auto":
        yield f"scheme = {request.scheme!r}"
    sides = request.wanted.sides
    for side in sides or (request.wanted.adaptive,):
        if _name(side) is None:
            yield f"estimator = {side!r}"
    if len({_name(side) for side in sides}) > 1:
        yield f"estimator = {sides!r}"


def _name(estimator: Any) -> Estimator | None:
    """Return the name of an estimator that one pass over features has, None for others."""
    if not isinstance(estimator, KernelMean) or estimator.fit_on in ("each", "joint"):
        return None
    plain = estimator.filter is None and estimator.contraction is None and estimator.criterion == "loocv"
    known = estimator.noise is None or isinstance(estimator.noise, str)
    return _NAMES.get(cast("str | None", estimator.noise)) if plain and known else None


def seed_of(rng: RngLike) -> int:
    """Return the seed of a test in one pass, which a generator or nothing draws."""
    if isinstance(rng, Integral) and not isinstance(rng, bool):
        return check_integer(rng, "rng", 0)
    return int(as_rng(rng).integers(2**63))


def _product(kernels: list[Kernel], columns: list[int]) -> Kernel:
    """Return the product of a kernel on the columns of X and one on those of Y."""
    split, dim = columns[0], sum(columns)
    return TensorProduct(tuple(kernels), (range(split), range(split, dim)))
