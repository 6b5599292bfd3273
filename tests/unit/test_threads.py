"""Threads: many columns or pairs at once, and the same numbers whatever their number is."""

import threading

import numpy as np
import pandas as pd
import pytest

import kernelmean as km


def tables(columns: int = 44) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables of numbers, categories and blank cells, some of which differ."""
    rng = np.random.default_rng(0)
    found = {}
    for k in range(columns):
        values = pd.Series(rng.lognormal(size=160).round(k % 3))
        values[80:] *= 1.8 if k % 7 == 0 else 1.0
        found[f"x{k}"] = pd.Series(rng.choice(["a", "b", "c"], 160)) if k % 5 == 0 else values
    found["x1"][rng.random(160) < 0.1] = np.nan
    whole = pd.DataFrame(found)
    return whole[:80], whole[80:].reset_index(drop=True)


@pytest.mark.parametrize(("estimator", "columns"), [("adaptive", 5), ("kme", 44)])
def test_a_comparison_has_the_same_numbers_with_any_number_of_threads(columns: int, estimator: str) -> None:
    A, B = tables(columns)
    one, *more = (
        km.compare(A, B, estimator=estimator, missing="category", plan=plan).to_dict()
        for plan in (km.Plan(threads=1), km.Plan(threads=3), None)
    )
    assert all(other == one for other in more)


def test_a_comparison_tests_several_columns_at_once() -> None:
    def workers(threads: int) -> set[str]:
        """Return the threads that are there while columns are tested, besides those of the tests around this one."""
        before, seen = {*threading.enumerate()}, set()
        km.compare(
            *tables(6),
            missing="category",
            n_resamples=19,
            plan=km.Plan(threads=threads),
            progress=lambda *_: seen.update(own.name for own in threading.enumerate() if own not in before),
        )
        return seen

    assert not workers(1)
    assert len(workers(2)) == 2
