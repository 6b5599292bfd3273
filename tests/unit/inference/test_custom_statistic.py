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


def test_values_of_a_custom_statistic_tie_within_its_precision() -> None:
    def values(permutations: np.ndarray) -> np.ndarray:
        return np.array([1.0, 0.99, 1.95])[permutations[:, :1].T]

    for share, reached in ((1e-9, 4), (0.011, 6)):
        null = CustomStatistic(values, "value", precision=(share, 0.0)).null((3,), resampling(n_resamples=5))
        assert null.pvalues[0] == reached / 6
    wide = CustomStatistic(values, "value", magnitude=20.0, precision=(0.0, 1e-3)).null((3,), resampling(n_resamples=5))
    assert (wide.pvalues[0], wide.tolerance[0]) == (1.0, 0.02)


def test_the_last_row_of_a_custom_statistic_may_be_a_magnitude() -> None:
    def values(permutations: np.ndarray) -> np.ndarray:
        first = permutations[:, 0]
        return np.array([first, -40.0 * first, first - 1.0, 10.0 + first])

    how = resampling(n_resamples=5)
    sized = CustomStatistic(values, "value", batch=2, sized=True, precision=(0.0, 0.5)).null((3,), how)
    np.testing.assert_array_equal(sized.values, np.array([[0, 0, 1, 1, 2, 2]]) * [[1], [-40], [1]] - [[0], [0], [1]])
    np.testing.assert_array_equal(sized.tolerance, [6.0, 40.0, 6.0])
    plain = CustomStatistic(values, "value", precision=(0.0, 0.5)).null((3,), how)
    np.testing.assert_array_equal(plain.tolerance, [1.0, 40.0, 0.5, 6.0])
