"""A design is one file: matched sets, written here, in memory, in files, on a cluster and with the adaptive test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.inference.designs import AnyDesign, LabelDesign
from kernelmean.inference.units.layout import DesignError, Layout, Units
from kernelmean.inference.units.samples import Differences

# -- the design --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MatchedSets(AnyDesign):
    """Sets of rows, such as a patient with controls of the same age: every set counts once, whatever its size.

    The statistic is |1/S Σ_s (μ_X,s - μ_Y,s)|² over the S sets with rows of both samples.
    """

    sets: tuple[Any, ...]
    """The sets of the rows of every sample."""

    def of_samples(self, sizes: Sequence[int]) -> LabelDesign:
        if list(map(len, self.sets)) != list(sizes):
            raise ValueError(f"sets of {[*map(len, self.sets)]} rows for samples of {sizes}; pass one label for a row")
        _, numbers = np.unique(np.concatenate(self.sets), return_inverse=True)
        sample = np.repeat(np.arange(len(sizes)), sizes)
        whole = np.all([np.bincount(numbers[sample == k], minlength=numbers.max() + 1) for k in range(2)], axis=0)
        if not whole.any():
            raise DesignError("no set holds rows of both samples; pass coarser sets")
        rows = tuple(np.flatnonzero(whole[numbers] & (sample == k)) for k in range(2))
        notes = (f"labels are exchanged within {whole.sum()} matched sets, each of which counts once",)
        return MatchedRows(tuple(sizes), rows, numbers, notes)

    def of_pairs(self, n: int) -> Any:
        raise ValueError(f"matched sets are for two samples, not for {n} pairs of variables; pass strata instead")


@dataclass(frozen=True, eq=False)
class MatchedRows(LabelDesign):
    """Two samples in matched sets."""

    sizes: tuple[int, ...]
    rows: tuple[Any, ...]
    numbers: Any
    """The set of every row."""
    notes: tuple[str, ...]

    def layout(self, order: Sequence[int]) -> Layout:
        rows = np.concatenate([self.rows[k] for k in order])
        labels = np.repeat([0, 1], [len(self.rows[k]) for k in order])
        return Layout.of(labels, np.ones(len(rows)), self.numbers[rows])

    def differences(self, units: Units) -> Differences:
        starts = np.flatnonzero(np.diff(units.stratum, prepend=-1))

        def means(labels: Any, sample: int) -> Any:
            inside = (labels == sample).astype(float)
            masses = np.add.reduceat(units.masses[:, None] * inside, starts, axis=0)
            return inside / masses[units.stratum] / len(starts)

        return lambda labels, g, h: (means(labels, g) - means(labels, h), np.ones(labels.shape[1]))


# -- the same by its definition ----------------------------------------------------------------------------------------


def by_definition(rows: Any, first: Any, sets: Any) -> float:
    """MMD² of rows of which some are the first sample, from weights of the rows."""
    weights = np.zeros(len(rows))
    for own in np.unique(sets):
        for sign, side in ((1.0, first), (-1.0, ~first)):
            weights[side & (sets == own)] = sign / np.sum(side & (sets == own)) / len(np.unique(sets))
    return float(weights @ km.kernels.Gaussian(1.0)(rows, rows) @ weights)


def relabelled(sets: Any, first: Any) -> Iterator[Any]:
    """All ways to exchange labels within sets, as masks of the first sample."""
    choices = [combinations(np.flatnonzero(sets == own), int(first[sets == own].sum())) for own in np.unique(sets)]
    for chosen in product(*choices):
        yield np.isin(np.arange(len(sets)), np.concatenate(chosen))


SETS, FIRST = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2]), np.array([1, 1, 0, 0, 1, 0, 0, 1, 0], dtype=bool)
ROWS = np.random.default_rng(0).normal(size=(9, 2)).round(1) + SETS[:, None]


def matched(first: Any, **options: Any) -> km.TestResult:
    design = MatchedSets((SETS[first], SETS[~first]))
    return km.mmd_test(ROWS[first], ROWS[~first], design=design, n_resamples=99, rng=0, **options)


def test_its_statistic_and_pvalue_are_those_of_the_definition() -> None:
    everything = [by_definition(ROWS, first, SETS) for first in relabelled(SETS, FIRST)]
    observed = by_definition(ROWS, FIRST, SETS)
    result = matched(FIRST, kernel=km.kernels.Gaussian(1.0))
    assert (result.scheme, result.n_resamples + 1) == ("exact", len(everything)) == ("exact", 36)
    assert result.statistic == pytest.approx(observed, rel=1e-12)
    assert result.pvalue == np.mean(np.array(everything) >= observed - 1e-12)
    strata = km.Design(strata=(SETS[FIRST], SETS[~FIRST]))
    other = km.mmd_test(ROWS[FIRST], ROWS[~FIRST], design=strata, kernel=km.kernels.Gaussian(1.0))
    assert abs(other.statistic - observed) > 0.01 * observed  # sets count alike here, strata by their rows


@pytest.mark.parametrize("options", [{"kernel": km.kernels.Gaussian(1.0)}, {}])
def test_its_level_is_exact_over_all_labels(options: dict[str, Any]) -> None:
    pvalues = np.array([matched(first, **options).pvalue for first in relabelled(SETS, FIRST)])
    for alpha in np.unique(pvalues):
        assert np.mean(pvalues <= alpha + 1e-12) <= alpha + 1e-12
    assert pvalues.min() < 0.1


def long_samples(n: int, shift: float) -> tuple[list[pd.DataFrame], MatchedSets]:
    rng = np.random.default_rng(n)
    sets = [rng.choice(5, n, p=p) for p in ([0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3])]
    rows = [rng.normal(size=(n, 2)) + own[:, None] + shift * k for k, own in enumerate(sets)]
    return [pd.DataFrame(own, columns=["a", "b"]) for own in rows], MatchedSets(tuple(sets))


def alike_wherever(n: int, shift: float, folder: Path, plan: km.DaskPlan | None = None) -> list[float]:
    """P-values of the adaptive test and of one kernel, which are the same in memory, in files and in batches."""
    tables, design = long_samples(n, shift)
    files = [folder / f"{k}.parquet" for k in range(2)]
    for table, path in zip(tables, files, strict=True):
        table.to_parquet(path, row_group_size=n // 3)
    pvalues = []
    for options in ({}, {"kernel": "gaussian", "scheme": "bins"}):
        given: dict[str, Any] = {"design": design, "n_resamples": 99, "rng": 0, **options}
        whole, read = km.mmd_test(*tables, **given), km.mmd_test(*files, **given)
        batches = km.mmd_test(*(iter(np.array_split(table.to_numpy(), 4)) for table in tables), **given)
        others = [read, batches, *([km.mmd_test(*files, plan=plan, **given)] if plan is not None else [])]
        for other in others:
            assert other.pvalue == whole.pvalue
            np.testing.assert_allclose(other.null_distribution, whole.null_distribution, rtol=1e-10)
        assert any("matched sets" in note for note in whole.notes)
        pvalues.append(whole.pvalue)
    return pvalues


def test_it_is_one_computation_for_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 500)
    assert max(alike_wherever(600, 0.4, tmp_path)) < 0.05


@pytest.mark.slow
def test_it_takes_files_of_50_000_rows_also_on_a_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        assert max(alike_wherever(50_000, 0.05, tmp_path, km.DaskPlan(client))) < 0.05


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="for two samples"):
        km.hsic_test(ROWS, ROWS, design=MatchedSets((SETS, SETS)))
    with pytest.raises(ValueError, match="rows for samples"):
        km.mmd_test(ROWS[:4], ROWS[4:], design=MatchedSets((SETS, SETS)))
    with pytest.raises(DesignError, match="no set"):
        km.mmd_test(ROWS[:4], ROWS[4:], design=MatchedSets((SETS[:4], SETS[4:])))


def test_coefficients_that_are_no_difference_of_means_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MatchedRows, "differences", lambda self, units: lambda a, g, h: (a + 1.0, np.ones(a.shape[1])))
    with pytest.raises(ValueError, match="add up to 0"):
        matched(FIRST, kernel="gaussian")
