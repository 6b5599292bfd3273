"""Tests in bins: with options of reading beside those of the test, and the sums themselves."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

import kernelmean as km
from kernelmean import Design
from kernelmean.inference import TestResult
from kernelmean.inference.adaptive.coordinates import Columns
from kernelmean.inference.bins.answering import pair_sums as sums_of_pairs
from kernelmean.inference.bins.fitting import Fitted, fitted
from kernelmean.inference.bins.request import BY_SCHEME, BinnedTest
from kernelmean.inference.bins.samples import pilot_question
from kernelmean.inference.questions import Pairs, TwoSamples
from kernelmean.inference.request import HSIC_ESTIMATORS, MMD_ESTIMATORS, Request, asked
from kernelmean.inference.rotations.stripes import StripeSums
from kernelmean.inference.rotations.windows import StripeWindows, rotations
from kernelmean.inference.units.dealing import Deals
from kernelmean.inference.units.unit_sums import UnitSums

Array = np.ndarray[Any, Any]


def in_bins(test: Any, X: Any, Y: Any, *, seed: Any = 0, **options: Any) -> TestResult:
    """Test two samples or two variables in bins, however few rows there are."""
    found: TestResult = test(X, Y, scheme="bins", rng=seed, **options)
    return found


mmd = partial(in_bins, km.mmd_test)
hsic = partial(in_bins, km.hsic_test)


class Prepared(NamedTuple):
    """A test in bins before any row was added."""

    test: BinnedTest
    fit: Fitted
    deals: Deals | None
    """Of two samples."""
    rows: tuple[Array, ...]


def samples(X: Array, Y: Array, *, estimator: Any = None, statistic: Any = "u", resamples: int = 19) -> Prepared:
    """Return a test of two samples with the features of its pilot."""
    wanted = asked(None, estimator, MMD_ESTIMATORS)
    test = BinnedTest.of(TwoSamples, Request(wanted, Design(), statistic, "bins", resamples, 3), BY_SCHEME)
    sizes = len(X), len(Y)
    deals = Deals.dealt(sizes, test.seed)
    pilot = X[deals.each[0].fitted_to], Y[deals.each[1].fitted_to]
    fit = fitted(pilot_question(test, _read(X, Y), pilot), test.request, sizes, test.seed)
    return Prepared(test, fit, deals, (X, Y))


def variables(X: Array, Y: Array, *, estimator: Any = None, resamples: int = 15) -> Prepared:
    """Return a test of two variables with the features of its pilot."""
    wanted = asked(None, estimator, HSIC_ESTIMATORS, 2)
    test = BinnedTest.of(Pairs, Request(wanted, Design(), "v", "bins", resamples, 3), BY_SCHEME)
    numbers = StripeWindows(rotations(len(X), resamples), test.seed).pilot(len(X))
    question = pilot_question(test, _read(X, Y), (X[numbers], Y[numbers]))
    return Prepared(test, fitted(question, test.request, (len(X),), test.seed), None, (X, Y))


def _read(*tables: Array) -> list[Any]:
    return [km.read(table) for table in tables]


def sample_sums(prepared: Prepared, *, rows: bool = True) -> UnitSums:
    """Return the sums of both samples, or of no rows."""
    assert prepared.deals is not None
    sums = UnitSums(prepared.fit.columns[0], prepared.deals)
    for sample, own in enumerate(prepared.rows if rows else ()):
        sums.add(own, sample)
    return sums


def windows_of(prepared: Prepared) -> StripeWindows:
    """Return how the rows of two variables become stripes."""
    return StripeWindows(rotations(len(prepared.rows[0]), prepared.test.request.n_resamples), prepared.test.seed)


def pair_sums(prepared: Prepared) -> StripeSums:
    """Return the sums of no rows of two variables."""
    return sums_of_pairs(prepared.fit.columns, prepared.fit.kernels, windows_of(prepared))


def coordinates(columns: Columns, rows: Array) -> Array:
    """Return the coordinates of rows side by side, shape (n, D)."""
    table = np.full((len(rows), columns.size), np.nan)
    for block, own in columns.at(rows):
        table[:, block.place] = own.T
    assert np.isfinite(table).all()
    return table
