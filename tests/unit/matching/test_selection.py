"""Cross-validation picks by scores on training folds only."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from kernelmean.density import KernelMeanMatching, recommended, select


def test_scores_are_those_of_the_folds_and_the_best_is_refitted():
    X = np.random.default_rng(0).normal(size=(60, 2))
    few = [KernelMeanMatching(K, estimator="kme", update="weights", random_state=0) for K in (1, 12)]
    found = select(X, few, n_splits=3)
    folds = KFold(3, shuffle=True, random_state=0).split(X)
    truth = [
        KernelMeanMatching(1, estimator="kme", update="weights", random_state=0).fit(X[a]).score(X[b]) for a, b in folds
    ]
    np.testing.assert_allclose(found.scores[0], truth, rtol=1e-12)
    assert found.best.n_components_ == (1, 12)[int(np.argmax(found.scores.mean(axis=1)))]
    assert not hasattr(few[0], "weights_")


def test_recommended_candidates_fit_the_number_of_rows():
    X = np.random.default_rng(0).normal(size=(12, 2))
    assert {one.n_components for one in recommended(X)} == {1, 2, 3}
    assert {one.update for one in recommended(np.repeat(X, 20, axis=0) + np.arange(240)[:, None])} == {"weights", "all"}


def test_nothing_to_choose_from_raises():
    with pytest.raises(ValueError, match="no candidate"):
        select(np.eye(6), [])


def test_columns_of_unlike_scales_are_told_once() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 100.0]
    with pytest.warns(UserWarning, match="varies more than") as told:
        select(X, [KernelMeanMatching(K, update="weights", random_state=0) for K in (1, 2)], n_splits=2)
    assert [str(each.message).partition(",")[0] for each in told] == [
        "column 1 varies more than 5 times as much as column 0"
    ]
