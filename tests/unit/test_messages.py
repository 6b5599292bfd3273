"""What errors offer works: a rule for blank cells, the function for several tables."""

import re

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import in_batches

NUMBERS = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
BLANK = NUMBERS.assign(a=[None, *NUMBERS["a"][1:]])


@pytest.mark.filterwarnings("ignore")
def test_a_mend_that_is_offered_for_blank_cells_works() -> None:
    """missing='noise' was offered by tests that have no exact kernel for it."""
    for function in (km.compare, in_batches):
        with pytest.raises(ValueError, match="missing=") as error:
            function(BLANK, NUMBERS)
        for rule in re.findall(r"missing='(\w+)'", str(error.value)):
            assert 0 < function(BLANK, NUMBERS, missing=rule, n_resamples=19).test.pvalue <= 1
    with pytest.raises(ValueError, match="missing=") as error:
        km.TableEncoder().fit(BLANK)
    for rule in re.findall(r"missing='(\w+)'", str(error.value)):
        assert km.TableEncoder(missing=rule).fit_transform(BLANK).shape[0] == 40


def test_several_tables_are_sent_to_the_function_for_them() -> None:
    first, second, third = np.random.default_rng(0).normal(size=(3, 12, 2))
    with pytest.raises(
        TypeError, match=r"compare takes 2 tables, 3 were passed; .* compare_groups\(table, 'that column'\)"
    ):
        km.compare(first, second, third)
    with pytest.raises(
        ValueError, match=r"1 sample was passed.*k_sample_test\(X, Y, Z\), or k_sample_test\(\*samples\)"
    ):
        km.k_sample_test([first, second])
    with pytest.raises(ValueError, match=r"k_sample_test\(\*samples\.values\(\)\)"):
        km.k_sample_test({"a": first, "b": second})


@pytest.mark.parametrize(
    "call",
    [
        km.mmd_test,
        lambda one, rows: km.mmd_test(rows, one),
        km.hsic_test,
        lambda one, rows: km.k_sample_test(rows, one),
        lambda one, rows: km.dhsic_test(rows, rows, one),
        lambda one, rows: km.KME().fit(one),
        lambda one, rows: km.MKME().fit(one),
        lambda one, rows: km.embed(one, km.kernels.Gaussian(1.0)),
    ],
)
def test_one_value_is_no_table(call) -> None:
    with pytest.raises(ValueError, match="is a single value, and this takes rows"):
        call(np.array(1.0), np.eye(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda table, series: km.ConditionalMean().fit(table, series),
        lambda table, series: km.GroupMeans().fit(table, series > 0.0),
        lambda table, series: km.embed(table, km.kernels.Gaussian(1.0), weights=series.abs()),
    ],
    ids=["outcomes", "groups", "weights"],
)
def test_indexes_that_name_the_same_rows_in_another_order_are_refused(call) -> None:
    draws = np.random.default_rng(0)
    table = pd.DataFrame(draws.normal(size=(20, 2)), index=[f"unit {k}" for k in range(20)])
    series = pd.Series(draws.normal(size=20), index=table.index)
    call(table, series)
    with pytest.raises(ValueError, match="are one unit, and their indexes differ"):
        call(table, series[::-1])
