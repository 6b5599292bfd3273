"""Any function of permutations as a statistic: its permutations, and its ties."""

from __future__ import annotations

import numpy as np

from kernelmean.inference import CustomStatistic
from nulls import resampling


def test_a_custom_statistic_over_all_labelings_and_over_random_ones() -> None:
    labels, x = np.repeat([1.0, 0.0], [3, 4]), np.arange(7.0)[::-1]

    def mean_gap(permutations: np.ndarray) -> np.ndarray:
        moved = labels[permutations]
        return (moved @ x / 3 - (1 - moved) @ x / 4)[None]

    exact = CustomStatistic(mean_gap, "gap", batch=10).null((3, 4), resampling(n_resamples=99))
    assert exact.scheme == "exact"
    assert exact.pvalues[0] == 1 / 35
    drawn = CustomStatistic(mean_gap, "gap").null((3, 4), resampling(n_resamples=20, rng=0))
    assert (drawn.scheme, drawn.values.shape) == ("random", (1, 21))
    pairs = CustomStatistic(lambda order: order[:, :1].T, "partner of the first")
    assert pairs.null((3,), resampling(n_resamples=5)).values.tolist() == [[0, 0, 1, 1, 2, 2]]


def test_values_of_a_custom_statistic_tie_by_their_magnitude() -> None:
    def values(permutations: np.ndarray) -> np.ndarray:
        return np.array([1.0, 0.99, 1.95])[permutations[:, :1].T]

    for magnitude, reached in ((0.0, 4), (2.0**42, 6)):
        null = CustomStatistic(values, "value", magnitude=magnitude).null((3,), resampling(n_resamples=5))
        assert null.pvalues[0] == reached / 6
