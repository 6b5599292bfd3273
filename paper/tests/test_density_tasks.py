import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import multivariate_normal
from threadpoolctl import threadpool_limits

from kernelmean import KernelMeanMatching, median_bandwidth
from kernelmean.density import recipe, sample
from kernelmean_paper import density_table
from kernelmean_paper.density_tasks import (
    OWN,
    PROTOCOLS,
    REFERENCE,
    START,
    TARGETS,
    StudentT,
    Task,
    quietly,
    reference,
    standard_normal,
    standardized_split,
    unit_range,
)
from kernelmean_paper.rounded_rows import RoundedRows


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):  # k-means of few rows waits for its threads far longer than it computes
        yield


def table(n=40, dim=3, seed=0):
    return np.random.default_rng(seed).gamma(2.0, size=(n, dim)) * [1.0, 10.0, 100.0][:dim] + 5.0


def small_task():
    return standardized_split(table(40), np.random.default_rng(3), seed=7)


def test_a_split_scores_by_training_rows_only():
    rows = table()
    task = standardized_split(rows, np.random.default_rng(1), seed=0)
    order = np.random.default_rng(1).permutation(40)
    test, train = rows[order[:12]], rows[order[12:]]
    np.testing.assert_allclose(task.train, (train - train.mean(0)) / train.std(0))
    np.testing.assert_allclose(task.test, (test - train.mean(0)) / train.std(0))


def test_blank_rows_and_columns_constant_in_training_are_dropped():
    rows = np.column_stack([table(), np.zeros(40)])
    first = np.random.default_rng(1).permutation(38)[0]  # a test row
    rows[[5, 30], 1] = np.nan
    kept = np.delete(np.arange(40), [5, 30])
    rows[kept[first], 3] = 1.0
    task = standardized_split(rows, np.random.default_rng(1), seed=0)
    assert (task.train.shape, task.test.shape) == ((27, 3), (11, 3))


def test_the_t_law_is_its_density_and_its_samples():
    rng = np.random.default_rng(0)
    law = StudentT.random(3, 5.0, rng)
    scale = law.factor @ law.factor.T
    rows = law.sample(2000, rng)
    quadratic = np.einsum("ni,ij,nj->n", rows, np.linalg.inv(scale), rows)
    logs = gammaln(4.0) - gammaln(2.5) - 1.5 * np.log(5 * np.pi) - 0.5 * np.linalg.slogdet(scale)[1]
    assert law.nll(rows) == pytest.approx(-np.mean(logs - 4.0 * np.log1p(quadratic / 5)))
    assert np.mean(quadratic / 3) == pytest.approx(5 / 3, rel=0.1)  # F(3, 5)
    task = law.task(15, 100, np.random.default_rng(1), seed=4)
    assert (task.train.shape, task.test.shape, task.seed) == ((15, 3), (100, 3), 4)


@pytest.mark.slow
def test_the_common_bandwidth_has_the_best_sum_of_scores():
    task = small_task()
    fits = quietly(PROTOCOLS["joint"], task)
    assert set(fits) == {*TARGETS, *(target + OWN for target in TARGETS)}
    options = {"random_state": 7, "early_stopping": False, "max_iter": 2000}
    units = RoundedRows.of(task.train)
    own = [KernelMeanMatching(10, estimator=t, **options).fit(units.rows(task.train)) for t in TARGETS]
    sums = {f: sum(t.score for mix in own for t in mix.trials_ if t.factor == f) for f in (0.1, 0.3, 1.0, 3.0)}
    theta = np.sqrt(max(sums, key=sums.get)) * median_bandwidth(task.train)
    assert [fits[target].notes["theta"] for target in TARGETS] == pytest.approx([theta] * len(TARGETS))
    assert fits["mkme" + OWN].nll == pytest.approx(-units.mixture_back(own[3].mixture).logpdf(task.test).mean())


@pytest.mark.parametrize(
    "protocol",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "weights")) for name in (*PROTOCOLS, "reference")],
)
def test_nothing_is_chosen_on_test_rows(protocol):
    run = PROTOCOLS.get(protocol, reference)
    task = small_task()
    seen = quietly(run, task)
    moved = quietly(run, Task(task.train, task.test + 3.0, task.seed))
    for method in seen.keys() - {START}:
        assert seen[method].notes == moved[method].notes
        assert seen[method].nll < moved[method].nll


@pytest.mark.slow
def test_the_reference_is_among_its_options():
    (method, fit), *rest = reference(small_task())
    assert (method, rest) == (REFERENCE, [])
    assert fit.notes["chosen"]["n_components"] in {1, 2, 3, 5, 10, 20}
    assert fit.notes["chosen"]["reg_covar"] >= 0.01


def test_a_standard_normal_and_another_scale():
    task = small_task()
    law = multivariate_normal(np.zeros(3), np.eye(3))
    found = standard_normal(task)
    assert found.nll == pytest.approx(-law.logpdf(task.test).mean())
    rows = np.concatenate([task.train, task.test])
    half = np.ptp(rows, axis=0) / 2
    scaled = multivariate_normal(np.zeros(3), np.diag(half**-2.0))  # the same density, columns divided by half
    assert found.nll + unit_range(task) == pytest.approx(-scaled.logpdf(task.test / half).mean())


def test_rounded_rows_are_near_the_rows_and_come_back():
    rows = 37.0 + 1e4 * table(60)
    units = RoundedRows.of(rows)
    inner = units.rows(rows)
    np.testing.assert_allclose(units.origin + units.unit * inner, rows, rtol=0, atol=1e-9 * rows.std(axis=0).max())
    np.testing.assert_array_equal(RoundedRows.of(rows / 3.0).rows(rows / 3.0), inner)
    assert units.length(2.0 * units.unit) == 2.0


def test_the_table_says_what_matching_holds_fixed():
    assert tuple(t.factor for t in KernelMeanMatching(2).fit(small_task().train).trials_) == density_table.FACTORS
    assert (density_table.PATIENCE, density_table.FLOOR, density_table.HELD) == (
        recipe.PATIENCE,
        sample.FLOOR,
        sample.HELD,
    )
