"""Adjustments of p-values that are read together: max-T, Holm and Benjamini-Hochberg against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference import holm
from kernelmean.inference.null import Null, adjusted, check_adjustment, enough_for_holm, max_t, standardized


def by_loops(values):
    d, P = values.shape
    order = sorted(range(d), key=lambda j: -values[j, 0])
    adjusted, so_far = {}, 0.0
    for k, j in enumerate(order):
        count = sum(max(values[row, b] for row in order[k:]) >= values[j, 0] - 1e-9 for b in range(P))
        so_far = max(so_far, count / P)
        adjusted[j] = so_far
    return np.array([adjusted[j] for j in range(d)])


def test_loops_agree():
    rng = np.random.default_rng(0)
    for trial in range(30):
        values = np.round(rng.normal(size=(1 + trial % 6, 40)), trial % 3)
        values[:, 0] += rng.integers(0, 4, size=len(values))
        np.testing.assert_array_equal(max_t(values), by_loops(values))


def test_a_copy_of_a_row_costs_nothing():
    values = np.random.default_rng(1).normal(size=(3, 99))
    values[:, 0] = [2.5, 2.0, 0.0]
    np.testing.assert_array_equal(max_t(np.vstack([values, values[:1]]))[:3], max_t(values))


def test_never_below_the_single_p_value_and_never_zero():
    values = np.random.default_rng(2).normal(size=(8, 50))
    values[:, 0] = 100.0
    assert (max_t(values) == 1 / 50).all()


def test_values_tie_that_differ_by_no_more_than_rounding() -> None:
    """That is 1e-9 of one plus the size of the observed value."""
    for observed in (0.0, 2.0, -2.0, 1000.0):
        allowed = 1e-9 * (1.0 + abs(observed))
        for share, expected in ((0.9, 1.0), (1.1, 0.5)):
            assert max_t(np.array([[observed, observed - share * allowed]])) == [expected]


P_VALUES = np.random.default_rng(3).choice([0.001, 0.004, 0.004, 0.01, 0.02, 0.03, 0.2, 0.9, 1.0], size=(50, 6))


def test_holm_rejects_what_the_step_down_procedure_does_at_every_level() -> None:
    for p in P_VALUES:
        found = holm(p.tolist())
        for level in (0.01, 0.05, 0.2, 0.999):
            rejected = np.zeros(6, dtype=bool)
            for rank, j in enumerate(np.argsort(p)):
                if p[j] * (6 - rank) > level:
                    break
                rejected[j] = True
            np.testing.assert_array_equal(found <= level, rejected)
        assert found.max() <= 1.0
    assert holm([1, 1]).dtype == np.float64


def test_benjamini_and_hochberg_reject_what_the_step_up_procedure_does_at_every_level() -> None:
    for p in P_VALUES:
        found = np.array(adjusted(p, "bh"))
        for level in (0.011, 0.051, 0.21, 0.999):
            below = [p <= level * k / 6 for k in range(1, 7) if (p <= level * k / 6).sum() >= k]
            np.testing.assert_array_equal(found <= level, below[-1] if below else np.zeros(6, dtype=bool))


@pytest.mark.parametrize("tests", [1, 4, 7, 10, 10_000])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.03])
def test_the_smallest_p_value_passes_holm_with_room_and_no_fewer_permutations_do(tests: int, level: float) -> None:
    enough = enough_for_holm(1, tests, level)
    assert tests / (enough + 1) <= level / 2.5 * (1.0 + 1e-9)
    assert tests / enough > level / 2.5
    assert enough_for_holm(enough + 5, tests, level) == enough + 5
    assert enough_for_holm(1, tests) == enough_for_holm(1, tests, 0.05) == 50 * tests - 1
    assert enough_for_holm(1, tests, room=1.0) == 20 * tests - 1


@pytest.mark.parametrize("shape", [(7,), (3, 7), (2, 3, 7)])
def test_statistics_are_standardized_over_the_permutations_of_every_row(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(4).normal(size=shape)
    values[..., 0] += 3.0
    for found, row in zip(standardized(values).reshape(-1, 7), values.reshape(-1, 7), strict=True):
        np.testing.assert_allclose(found, (row - row.mean()) / row.std(), rtol=1e-12)
    assert (standardized(np.ones(shape)) == 0.0).all()


PAIRS = [(0, 1), (0, 2), (1, 2)]


def test_a_null_beside_another_has_the_rows_and_the_pairs_of_samples_of_both() -> None:
    rows = np.random.default_rng(5).normal(size=(3, 9))

    def null(some: slice) -> Null:
        parts = {pair: Null(rows[some] + g, np.zeros(len(rows[some])), "T", "s") for g, pair in enumerate(PAIRS)}
        return Null(rows[some], np.arange(3.0)[some], "T", "s", parts)

    both = null(slice(2)).beside(null(slice(2, 3)))
    np.testing.assert_array_equal(both.values, rows)
    np.testing.assert_array_equal(both.tolerance, [0.0, 1.0, 2.0])
    assert (both.statistic_name, both.scheme) == ("T", "s")
    assert list(both.parts) == PAIRS
    for g, part in enumerate(both.parts.values()):
        np.testing.assert_array_equal(part.values, rows + g)


def test_another_adjustment_is_refused() -> None:
    assert [check_adjustment(name) for name in ("holm", "bh")] == ["holm", "bh"]
    with pytest.raises(ValueError, match=r"^adjustment is 'by'; write 'holm', or 'bh' for the false discovery rate"):
        adjusted([0.1, 0.2], "by")
