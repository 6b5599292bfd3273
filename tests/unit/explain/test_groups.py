"""Columns that take several coordinates are one column: one kernel, one p-value, one name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import explained
import kernelmean as km
from kernelmean.kernels import Gaussian

N, M = 24, 18


def tables(seed=0, shares=(0.4, 0.3, 0.3)):
    rng = np.random.default_rng(seed)
    both = [
        pd.DataFrame(
            {
                "arm": rng.choice(["a", "b", "c"], n, p=p),
                "dose": rng.gamma(2.0, 9.0, n),
                "sex": rng.choice(["f", "m"], n),
            }
        )
        for n, p in ((N, (0.4, 0.3, 0.3)), (M, shares))
    ]
    encoder = km.TableEncoder().fit_tables(*both)
    return encoder, *map(encoder.transform, both), *both


def unbiased(gram):
    np.fill_diagonal(gram, 0.0)
    within = gram[:N, :N].sum() / (N * (N - 1)) + gram[N:, N:].sum() / (M * (M - 1))
    return within - 2 * gram[:N, N:].mean()


def test_groups_of_one_coordinate_are_columns():
    _, X, Y, *_ = tables()
    plain = explained.attribute(X, Y, n_resamples=99, rng=0)
    names = explained.attribute(X, Y, n_resamples=99, rng=0, groups={f"x{j}": (j,) for j in range(X.shape[1])})
    assert names.columns == plain.columns


def test_a_category_is_tested_by_its_kernel():
    encoder, X, Y, A, B = tables()
    found = {
        c.name: c
        for c in explained.attribute(X, Y, groups=encoder.groups_, bandwidth=1.5, n_resamples=99, rng=0).columns
    }
    assert set(found) == {"arm", "dose", "sex"}
    for name in ("arm", "sex"):
        cells = pd.concat([A, B])[name].to_numpy()
        c = 1.0 / (1.0 - np.square(pd.Series(cells).value_counts(normalize=True)).sum())
        gram = np.where(cells[:, None] == cells, 1.0, np.exp(-c / 1.5**2))
        assert found[name].statistic == pytest.approx(unbiased(gram), rel=1e-9)


def test_coordinates_of_a_column_keep_their_proportions_in_any_units():
    encoder, X, Y, *_ = tables()
    units = np.array([7.0, 7.0, 7.0, 0.01, 1e6])
    first, second = (
        explained.attribute(*pair, groups=encoder.groups_, n_resamples=99, rng=0)
        for pair in ((X, Y), (X * units, Y * units))
    )
    for one, other in zip(first.columns, second.columns, strict=True):
        assert (one.name, one.pvalue, one.adjusted) == (other.name, other.pvalue, other.adjusted)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-9, abs=1e-12)


def test_the_drop_of_a_group_leaves_all_its_coordinates_out():
    encoder, X, Y, *_ = tables()
    found = {
        c.name: c
        for c in explained.attribute(X, Y, groups=encoder.groups_, bandwidth=2.0, n_resamples=99, rng=0).columns
    }
    pooled = np.concatenate([X, Y])
    joint = unbiased(Gaussian(2.0)(pooled, pooled))
    for name, block in encoder.groups_.items():
        rest = np.delete(pooled, block, axis=1)
        assert found[name].drop == pytest.approx(joint - unbiased(Gaussian(2.0)(rest, rest)), abs=1e-10)


def test_the_effect_of_a_group_is_that_of_its_coordinates():
    encoder, X, Y, *_ = tables()
    arm = list(encoder.groups_["arm"])
    column = next(
        c
        for c in explained.attribute(X, Y, groups=encoder.groups_, n_resamples=99, rng=0, bandwidth=1.0).columns
        if c.name == "arm"
    )
    whole = explained.effect_size(X[:, arm], Y[:, arm], kernel=Gaussian(1.0))
    assert column.effect == pytest.approx(whole.explained.value, rel=1e-9)


def test_a_kernel_as_it_is_is_cut_to_the_groups():
    encoder, X, Y, *_ = tables()
    theta = (1.0, 1.0, 1.0, 2.0, 3.0)
    found = {
        c.name: c
        for c in explained.attribute(
            X, Y, kernel=Gaussian(theta), groups=encoder.groups_, n_resamples=99, rng=0
        ).columns
    }
    pooled = np.concatenate([X, Y])
    assert found["arm"].statistic == pytest.approx(unbiased(Gaussian(1.0)(pooled[:, :3], pooled[:, :3])), rel=1e-9)
    assert found["dose"].statistic == pytest.approx(unbiased(Gaussian(2.0)(pooled[:, 3:4], pooled[:, 3:4])), rel=1e-9)


@pytest.mark.slow
def test_no_column_is_named_often_where_none_differs():
    wrong, runs, level = 0, 40, 0.1
    for seed in range(runs):
        encoder, X, Y, *_ = tables(seed + 10)
        wrong += bool(explained.attribute(X, Y, groups=encoder.groups_, n_resamples=19, rng=seed).differing(level))
    assert wrong <= binom.ppf(1 - 1e-4, runs, level)


def test_the_category_that_differs_is_named():
    encoder, X, Y, *_ = tables(1, shares=(0.0, 0.05, 0.95))
    assert explained.attribute(X, Y, groups=encoder.groups_, rng=0).differing() == ("arm",)


def test_dependence_of_groups():
    rng = np.random.default_rng(0)
    dose = rng.gamma(2.0, 9.0, 50)
    left = pd.DataFrame(
        {"grade": np.where(dose > 15, "late", np.where(dose > 8, "mid", "early")), "sex": rng.choice(["f", "m"], 50)}
    )
    encoder = km.TableEncoder().fit(left)
    found = explained.dependence_attribute(
        encoder.transform(left), dose[:, None], groups=(encoder.groups_, {"dose": (0,)}), n_resamples=199, rng=0
    )
    assert [c.name for c in found.columns] == [("grade", "dose"), ("sex", "dose")]
    assert found.differing() == (("grade", "dose"),)
    alone = explained.dependence_attribute(
        encoder.transform(left), dose[:, None], groups=(encoder.groups_, None), n_resamples=199, rng=0
    )
    assert [c.statistic for c in alone.columns] == [c.statistic for c in found.columns]


@pytest.mark.parametrize(
    "groups", [{"a": (0, 1), "b": (1, 2, 3, 4)}, {"a": (0, 1)}, {"a": (), "b": range(5)}, {"a": range(6)}]
)
def test_groups_that_are_no_partition(groups):
    _, X, Y, *_ = tables()
    with pytest.raises(ValueError, match="every one of its 5 coordinates, 0 to 4, must be in one group"):
        explained.attribute(X, Y, groups=groups)


def test_names_and_groups_at_once():
    _, X, Y, *_ = tables()
    with pytest.raises(ValueError, match="leave names out"):
        explained.attribute(X, Y, names=list("abcde"), groups={"a": range(5)})


@pytest.mark.parametrize("groups", [["a", "b"], np.arange(2), {"a": 0, "b": 1}, {"a": ["x"], "b": ["y"]}, "ab"])
@pytest.mark.parametrize("ask", [explained.attribute, explained.dependence_attribute])
def test_groups_that_are_no_mapping_to_coordinates_are_refused_with_what_to_write(ask, groups):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(TypeError, match="pass a mapping from names to lists of coordinates"):
        ask(X, X[::-1], groups=groups, n_resamples=19, rng=0)
