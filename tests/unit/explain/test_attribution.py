"""Columns: enumeration by hand, drops by brute force, and what must not change an answer."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

from explained import attribute, dependence_attribute, dependence_effect_size
from kernelmean import hsic_test, median_bandwidth, mmd_test
from kernelmean.inference.adaptive.many_kernels import evidence
from kernelmean.inference.explain.attribution import on_columns
from kernelmean.inference.explain.moments import moments, without_each
from kernelmean.inference.explain.samples import SampleSubject
from kernelmean.inference.null import standardized
from kernelmean.kernels import Gaussian, Laplacian, Polynomial


def samples(n=30, m=20, dim=4, shift=1.5):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(n, dim)), rng.normal(size=(m, dim))
    Y[:, 1] += shift
    return X * [1.0, 1e6, 1e-6, 3.0][:dim], Y * [1.0, 1e6, 1e-6, 3.0][:dim]


def unbiased(K, first):
    n = len(K)
    second = [i for i in range(n) if i not in first]
    first = list(first)
    inside = sum((K[np.ix_(p, p)].sum() - np.trace(K[np.ix_(p, p)])) / (len(p) * (len(p) - 1)) for p in (first, second))
    return inside - 2 * K[np.ix_(first, second)].mean()


def test_all_labelings_by_hand():
    X, Y = samples(3, 5, 3)
    pooled = np.concatenate([X, Y])
    values = []
    for x in pooled.T:
        theta = float(median_bandwidth(x[:, None]))
        K = np.exp(-(np.subtract.outer(x, x) ** 2) / (2 * theta**2))
        values.append([unbiased(K, first) for first in combinations(range(8), 3)])
    values = np.array(values)
    scores = evidence(standardized(values))
    observed = scores[:, 0]
    order = np.argsort(-observed)
    expected, so_far = np.empty(3), 0.0
    for k, j in enumerate(order):
        so_far = max(so_far, np.mean(scores[order[k:]].max(axis=0) >= observed[j] - 1e-9))
        expected[j] = so_far
    found = attribute(X, Y, n_resamples=999)
    assert (found.scheme, found.n_resamples) == ("exact", 55)
    for column in found.columns:
        j = int(column.name[1:])
        assert abs(column.adjusted - expected[j]) < 1e-12
        assert abs(column.pvalue - np.mean(values[j] >= values[j, 0] - 1e-9)) < 1e-12
        assert abs(column.statistic - values[j, 0]) < 1e-9


def test_the_column_that_differs_is_found_and_the_others_are_not():
    found = attribute(*samples(), rng=0)
    assert found.differing() == ("x1",)
    first = found.columns[0]
    assert first.adjusted == 1 / 1000
    assert first.effect > 0.1 > found.columns[1].effect
    assert first.drop > 0.05
    assert max(column.drop for column in found.columns[1:]) < 0.01
    assert "x1" in found.summary()


def test_swapping_shifting_and_rescaling_change_nothing():
    X, Y = samples()
    reference = attribute(X, Y, rng=0)
    for A, B in ((Y, X), (X * 8.0 + [1.0, 1e7, 0.0, -4.0], Y * 8.0 + [1.0, 1e7, 0.0, -4.0])):
        other = attribute(A, B, rng=0)
        assert [c.name for c in other.columns] == [c.name for c in reference.columns]
        for a, b in zip(other.columns, reference.columns, strict=True):
            assert (a.pvalue, a.adjusted) == (b.pvalue, b.adjusted)
            np.testing.assert_allclose([a.statistic, a.effect, a.drop], [b.statistic, b.effect, b.drop], atol=1e-7)


def test_many_columns_share_their_permutations_with_one_test_a_column():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(25, 200)), rng.normal(size=(15, 200))
    found = attribute(X, Y, rng=0, n_resamples=199)
    assert len(found.columns) == 200
    assert all(column.adjusted >= column.pvalue - 1e-12 for column in found.columns)
    assert [c.adjusted for c in found.columns] == sorted(c.adjusted for c in found.columns)
    alone = attribute(X[:, :1], Y[:, :1], rng=0, n_resamples=199).columns[0]
    same = next(column for column in found.columns if column.name == "x0")
    assert alone.pvalue == same.pvalue
    assert alone.adjusted == alone.pvalue
    assert alone.drop == pytest.approx(alone.statistic, abs=1e-12)


def test_the_single_p_value_is_that_of_the_test():
    X, Y = samples(20, 12, 2)
    found = attribute(X, Y, rng=3, n_resamples=199)
    for column in found.columns:
        j = int(column.name[1:])
        tested = mmd_test(X[:, [j]], Y[:, [j]], rng=3, n_resamples=199, estimator="kme")
        assert column.pvalue == tested.pvalue
        assert column.statistic == pytest.approx(tested.statistic, abs=1e-12)


def test_a_constant_column_has_p_one():
    X, Y = samples()
    X[:, 2] = Y[:, 2] = 7.0
    found = attribute(X, Y, rng=0)
    constant = found.columns[-1]
    assert (constant.name, constant.pvalue, constant.adjusted, constant.effect) == ("x2", 1.0, 1.0, 0.0)
    assert found.differing() == ("x1",)


def test_names_come_from_data_frames_or_the_argument():
    X, Y = samples(10, 12, 2)
    frames = [pd.DataFrame(Z, columns=["age", "height"]) for Z in (X, Y)]
    assert attribute(*frames, rng=0).columns[0].name == "height"
    assert attribute(X, Y, names=["a", "b"], rng=0).columns[0].name == "b"
    with pytest.raises(ValueError, match="2 different ones"):
        attribute(X, Y, names=["a", "a"])
    with pytest.raises(ValueError, match="at least 2 in each"):
        attribute(X[:1], Y)


@pytest.mark.parametrize("kernel", [Gaussian((1.0, 0.5, 2.0)), Gaussian(1.3)])
def test_leaving_columns_out_of_a_gaussian_kernel(kernel):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(300, 3)), rng.normal(0.2, size=(260, 3))
    subject = SampleSubject.of(X, Y, kernel)
    fast = without_each(subject.pooled, subject.sizes, np.broadcast_to(kernel.bandwidth, 3))
    for j in range(3):
        others = [k for k in range(3) if k != j]
        own = kernel if np.isscalar(kernel.bandwidth) else Gaussian(tuple(kernel.bandwidth[k] for k in others))
        K = own(subject.pooled[:, others], subject.pooled[:, others])
        assert abs(fast[j] - unbiased(K, range(300))) < 1e-12


def test_any_family_and_a_kernel_as_it_is():
    X, Y = samples(20, 14, 3)
    X, Y = X / [1, 1e6, 1e-6], Y / [1, 1e6, 1e-6]
    for kernel in (Laplacian, Laplacian((1.0, 2.0, 3.0)), Polynomial(2, 1.0)):
        found = attribute(X, Y, kernel=kernel, rng=0, n_resamples=199)
        assert found.columns[0].name == "x1"
        assert found.differing(0.05) == ("x1",)
    joint, left = Laplacian((1.0, 2.0, 3.0)), Laplacian((1.0, 3.0))
    pooled = np.concatenate([X, Y])
    drop = unbiased(joint(pooled, pooled), range(20)) - unbiased(left(pooled[:, [0, 2]], pooled[:, [0, 2]]), range(20))
    found = attribute(X, Y, kernel=joint, rng=0, n_resamples=199)
    assert abs(found.columns[0].drop - drop) < 1e-13
    assert repr(on_columns(joint, (0, 2))) == f"TensorProduct({left!r} on (0, 2))"


def test_moments_of_factors_and_of_the_whole_gram_agree():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(400, 1)), rng.normal(0.3, size=(250, 1))
    subject = SampleSubject.of(X, Y, Gaussian(1.0))
    by_factor = moments(subject)
    K = Gaussian(1.0)(subject.pooled, subject.pooled)
    assert abs(by_factor.squared - unbiased(K, range(400))) < 1e-9
    inside = (K[:400, :400].sum() - 400) / (400 * 399)
    assert abs(by_factor.variances[0] - (1 - inside)) < 1e-9


def test_all_pairs_by_hand():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    H = np.eye(5) - 1 / 5

    def gram(x):
        theta = float(median_bandwidth(x[:, None]))
        return H @ np.exp(-(np.subtract.outer(x, x) ** 2) / (2 * theta**2)) @ H

    lists = np.array(list(permutations(range(5))))
    values = np.array([[(gram(x) * gram(y)[np.ix_(p, p)]).sum() / 25 for p in lists] for x in X.T for y in Y.T])
    scores = evidence(standardized(values))
    found = dependence_attribute(X, Y, n_resamples=999)
    assert (found.scheme, found.n_resamples) == ("exact", 119)
    order = np.argsort(-scores[:, 0])
    so_far = 0.0
    for k, column in enumerate(found.columns):
        row = int(column.name[0][1:]) * 2 + int(column.name[1][1:])
        assert row == order[k]
        so_far = max(so_far, np.mean(scores[order[k:]].max(axis=0) >= scores[row, 0] - 1e-9))
        assert abs(column.adjusted - so_far) < 1e-12
        assert abs(column.pvalue - np.mean(values[row] >= values[row, 0] - 1e-9)) < 1e-12
        assert abs(column.statistic - values[row, 0]) < 1e-12
        alignment = dependence_effect_size(X[:, [row // 2]], Y[:, [row % 2]], n_resamples=99, rng=0).alignment.value
        assert column.effect == pytest.approx(alignment, rel=1e-9) or np.isnan(alignment)
    joint = found.statistic
    assert joint == pytest.approx(
        hsic_test(X / X.std(axis=0), Y / Y.std(axis=0), n_resamples=9, estimator="kme").statistic, abs=1e-12
    )


def test_the_pair_that_depends_is_found_in_any_order_and_unit():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    Y[:, 1] += X[:, 2] ** 2
    Y[:, 0] = 3.0
    reference = dependence_attribute(X, Y, rng=0, names=(list("abc"), ["constant", "square"]))
    assert reference.differing() == (("c", "square"),)
    assert all(c.adjusted == 1.0 for c in reference.columns if c.name[1] == "constant")
    assert "c ~ square" in reference.summary()
    order = [2, 0, 1]
    other = dependence_attribute(X[:, order] * 1e6 + 5.0, Y, rng=0, names=(list("cab"), ["constant", "square"]))
    pvalues = [{c.name: (c.pvalue, c.adjusted) for c in found.columns} for found in (reference, other)]
    assert pvalues[0] == pvalues[1]
    with pytest.raises(ValueError, match="at least 4"):
        dependence_attribute(X[:3], Y[:3])
    with pytest.raises(ValueError, match="X has 50 rows and Y has 49"):
        dependence_attribute(X, Y[1:])


def test_holm_adjusts_the_single_p_values():
    X, Y = samples()
    found = attribute(X, Y, rng=0, adjustment="holm")
    ordered = sorted(found.columns, key=lambda column: column.pvalue)
    expected = np.maximum.accumulate([min(1.0, (4 - k) * column.pvalue) for k, column in enumerate(ordered)])
    np.testing.assert_allclose([column.adjusted for column in ordered], expected, rtol=1e-12)
    with pytest.raises(ValueError, match="'max-t', 'holm'"):
        attribute(X, Y, adjustment="bonferroni")
    with pytest.raises(TypeError, match="a sequence of names"):
        attribute(X[:, :2], Y[:, :2], names="ab")


def test_the_order_of_columns_and_rows_does_not_matter():
    X, Y = samples()
    there = {c.name: (c.pvalue, c.adjusted) for c in attribute(X, Y, rng=0).columns}
    back = {
        c.name: (c.pvalue, c.adjusted)
        for c in attribute(X[:, ::-1], Y[:, ::-1], rng=0, names=["x3", "x2", "x1", "x0"]).columns
    }
    assert there == back
    small = {c.name: c.adjusted for c in attribute(X[:4], Y[:4], n_resamples=99).columns}
    assert small == {c.name: c.adjusted for c in attribute(X[3::-1], Y[[2, 0, 3, 1]], n_resamples=99).columns}
    same = attribute(X, X, rng=0)
    assert all(column.pvalue > 0.5 for column in same.columns)


def test_noise_is_fitted_to_every_column():
    X, Y = samples(20, 14, 2)
    found = attribute(X, Y, estimator="mkme", rng=0, n_resamples=199)
    deviation = np.concatenate([X, Y]).std(axis=0)
    for column in found.columns:
        j = [int(column.name[1:])]
        tested = mmd_test(X[:, j] / deviation[j], Y[:, j] / deviation[j], estimator="mkme", rng=0, n_resamples=199)
        assert column.statistic == pytest.approx(tested.statistic, rel=1e-6, abs=1e-9)
        assert column.pvalue == tested.pvalue
