"""Tiny tables: results say which p-values are out of reach, and draw no conclusion from what they cannot find."""

from __future__ import annotations

import html
from itertools import combinations
from math import comb

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference.joint_test import JointTest
from kernelmean.studies.many_tests import out_of_reach

RNG = np.random.default_rng(0)


def apart(n: int, m: int, d: int = 2) -> km.Comparison:
    return km.compare(RNG.normal(size=(n, d)), 50.0 + RNG.normal(size=(m, d)))


@pytest.mark.parametrize("sizes", [(2, 3), (3, 3), (2, 6), (3, 4)])
def test_the_smallest_p_value_is_that_of_the_clearest_division_of_the_rows(sizes: tuple[int, int]) -> None:
    rows = RNG.normal(size=(sum(sizes), 2))
    found = []
    for first in combinations(range(sum(sizes)), sizes[0]):
        rest = [row for row in range(sum(sizes)) if row not in first]
        found.append(km.mmd_test(rows[list(first)], rows[rest]))
    assert {one.smallest for one in found} == {min(one.pvalue for one in found)}
    assert found[0].smallest == (1 + (sizes[0] == sizes[1])) / comb(sum(sizes), sizes[0])


def test_three_rows_against_three_cannot_differ_and_the_result_says_so() -> None:
    result = apart(3, 3)
    assert result.verdict().endswith(
        "p = 0.1, above 0.05. With these 3 and 3 rows no p-value below 0.1 is possible, so this test cannot find any "
        "difference at level 0.05."
    )
    assert result.verdict(0.1).endswith("differ: p = 0.1, at most 0.1.")
    page = result.to_html()
    assert "as large as the intervals allow" not in page
    assert "Collect more rows" in page
    assert "on its own either" not in page
    assert "Of all 19 other arrangements, in which the rows were dealt to the two tables" in page
    assert "random arrangement" not in page
    assert result.to_dict()["notes"][0].startswith(
        "with so few rows or permutations no adjusted p-value of 2 columns below 0.2 is possible"
    )
    test = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]])
    assert (
        test.origin
        == "0.1, exact if what is permuted is exchangeable, from 19 permutations (scheme exact); with these none below "
        "0.1 is possible"
    )


def test_columns_that_holms_method_cannot_reach() -> None:
    result = apart(4, 4, 10)
    assert result.differ()
    assert not any(column.adjusted <= 0.05 for column in result.columns)
    least = 10 * 2 / comb(8, 4)
    assert f"no adjusted p-value of 10 columns below {least:.2g} is possible" in result.limits()[0]
    assert result.grid().title.startswith("Columns, none of which can be found to differ")
    assert not apart(4, 4, 1).limits()
    assert not apart(6, 6, 10).limits()


def test_too_few_permutations_are_not_called_too_few_rows() -> None:
    table = RNG.normal(size=(40, 1))
    result = km.compare(table[:20], table[20:], n_resamples=9)
    assert "With these 9 permutations of 20 and 20 rows no p-value below 0.1 is possible" in result.verdict()
    assert JointTest.finest(result, 0) == 1.0


def test_holm_reaches_with_its_smallest_test() -> None:
    assert out_of_reach([0.001, 1.0, 1.0], 0.003, "pair") == ()
    assert out_of_reach([0.001, 1.0, 1.0], 0.0029, "pair") != ()


def test_a_column_that_differs_does_not_take_back_the_verdict_on_all_columns_together() -> None:
    noise = RNG.normal(size=(2, 30, 12))
    noise[0, :, 0] += 1.2
    result = km.compare(*noise, estimator="kme", bandwidth=0.3)
    assert not result.differ()
    assert result.adjusted()["x0"] <= 0.05
    assert result.verdict().startswith("No difference between A and B was found, all columns taken together: p = ")
    page = html.unescape(result.to_html())
    assert "One of 12 columns differs on its own: x0." in page
    for text in (str(result), page, result.to_dict()["verdict"]):
        assert "Still, " not in text
        assert " ".join(result.verdict().split()) in " ".join(text.split())


def test_arrangements_that_were_not_drawn_are_not_called_impossible() -> None:
    rows = np.zeros((100, 1))
    rows[[0, 50]] = 1.0
    for seed in range(8):
        apart = km.mmd_test(rows[:5], rows[5:], estimator="kme", rng=seed)
        assert apart.smallest == 1.0 / (1 + apart.n_resamples)
        assert "no p-value below" not in apart.nothing_found(0.05, "difference")
