"""Tiny tables: results say which p-values are out of reach, and draw no conclusion from what they cannot find."""

from __future__ import annotations

import html
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
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
    assert "Nothing here calls for action" not in page
    assert "Collect more rows" in page
    assert "on its own either" not in page
    assert "Of all 19 other arrangements, in which the rows were dealt to the two tables" in page
    assert "random arrangement" not in page
    assert result.to_dict()["notes"][0].startswith(
        "with so few rows or permutations no adjusted p-value of 2 columns below 0.2 is possible"
    )
    test = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]])
    assert test.origin == "0.1, exact, from 19 permutations (scheme exact); with these none below 0.1 is possible"


def test_columns_that_holms_method_cannot_reach() -> None:
    result = apart(4, 4, 10)
    assert result.differ()
    assert not any(column.adjusted <= 0.05 for column in result.columns)
    least = 10 * 2 / comb(8, 4)
    assert f"no adjusted p-value of 10 columns below {least:.2g} is possible" in result.limits()[0]
    assert result.grid().title.startswith("Columns, none of which can be found to differ")
    assert not apart(4, 4, 1).limits()
    assert not apart(6, 6, 10).limits()


def test_groups_of_three_rows_say_so_of_pairs_but_not_of_columns() -> None:
    groups = np.repeat(["a", "b", "c"], 3)
    table = pd.DataFrame(RNG.normal(size=(9, 2)) + 20.0 * np.arange(9)[:, None] // 3, columns=["x", "y"])
    result = km.compare_groups(table.assign(g=groups), "g")
    (note,) = result.limits()
    assert "no adjusted p-value of 3 pairs below 0.3 is possible" in note
    assert min(pair.adjusted for pair in result.pairs) >= 0.3 - 1e-12
    assert result.on_pairs() == "none of 3 can be found to differ on its own (adjusted p above 0.05)"
    assert note in result.to_dict()["notes"]
    assert len(result.differing_columns()) == 2


def test_a_design_with_few_arrangements() -> None:
    rows = pd.DataFrame({"x": [0.0, 0.1, 0.0, 5.0, 5.1, 5.2], "c": [1, 1, 2, 3, 3, 4]})
    result = km.compare(rows[:3], rows[3:], clusters="c")
    assert result.test.smallest > 0.05
    assert "is possible, so this test cannot find any difference at level 0.05." in result.verdict()
    pairs = km.dependence(pd.DataFrame(RNG.normal(size=(4, 3))))
    assert "no adjusted p-value of 3 pairs below 0.12 is possible: no single pair" in str(pairs).replace("\n    ", " ")
    one = km.dependence(pd.DataFrame({"a": [0.0, 1.0, 5.0, 7.0], "b": [0.0, 0.0, 1.0, 1.0]}), "a", "b")
    assert one.verdict().endswith("so this test cannot find any dependence at level 0.05.")


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


def test_no_column_is_out_of_reach_that_is_found() -> None:
    A, B = pd.DataFrame({"a": [0, 0], "b": [0, 0]}), pd.DataFrame({"a": [2, 2, 0], "b": [1, 1, 1]})
    found = km.compare(A, B, n_resamples=99, level=0.2, estimator="kme")
    assert min(column.adjusted for column in found.columns) <= 0.2
    assert not [note for note in found.notes + found.limits() if "no single column can be found" in note]


def test_a_small_level_asks_for_no_more_permutations_than_can_be_drawn() -> None:
    rng = np.random.default_rng(0)
    A, B = (pd.DataFrame(rng.normal(size=(12, 2)), columns=["a", "b"]) for _ in range(2))
    found = km.compare(A, B.assign(a=B.a + 5.0), level=1e-6, estimator="kme", n_resamples=99)
    assert max(column.n_resamples for column in found.columns) <= 100_000
    assert [note for note in (*found.limits(), *found.notes) if "no single column can be found at level 1e-06" in note]


def test_a_table_of_three_rows_says_how_little_it_can_show() -> None:
    rows = np.random.default_rng(1).normal(size=(80, 2))
    alike = km.compare(rows[:3], rows[3:43])
    assert alike.verdict().endswith(
        "That does not show that there is none: with 3 and 40 rows only a very clear difference can be found."
    )
    assert alike.verdict() in " ".join(str(alike).split())
    long = km.compare(rows[:40], rows[40:])
    assert long.verdict().endswith("That does not show that there is none.")
