"""The kernel on coordinates is the product of the documented kernels of the columns; every column weighs the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.noise import Normal
from kernelmean.tables import Encoded, Encoding, NoisyRows, encode

RNG = np.random.default_rng(8)
N = 40
UNITS = 1e-11
"""The units of columns are their deviations to 2⁻⁴⁰."""


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "dose": RNG.gamma(2.0, 30.0, N),
            "arm": RNG.choice(["a", "b", "c"], N, p=[0.7, 0.2, 0.1]),
            "sex": RNG.choice(["f", "m"], N),
            "smoker": RNG.random(N) < 0.3,
            "size": pd.Categorical(RNG.choice(["low", "mid", "high"], N), ["low", "mid", "high"], ordered=True),
            "visit": pd.Timestamp("2024-03-01") + pd.to_timedelta(RNG.integers(0, 9, N), "h"),
            "wait": pd.to_timedelta(RNG.integers(0, 900, N), "s"),
        }
    )


MIXED = table()
NUMBERS = {
    "dose": MIXED["dose"].to_numpy(),
    "size": MIXED["size"].cat.codes.to_numpy(dtype=float),
    "visit": MIXED["visit"].to_numpy().astype("datetime64[s]").astype(float),
    "wait": MIXED["wait"].to_numpy() / np.timedelta64(1, "s"),
}
CATEGORIES = ("arm", "sex", "smoker")


def distances_of_numbers(name: str) -> np.ndarray:
    """Return |x - y| in standard deviations."""
    values = NUMBERS[name]
    return np.abs(values[:, None] - values) / values.std()


def differ(name: str) -> np.ndarray:
    cells = MIXED[name].to_numpy()
    return cells[:, None] != cells


def weight(name: str) -> float:
    """Return 1 / (1 - Σ p²), p the shares of the categories."""
    return 1.0 / (1.0 - np.square(MIXED[name].value_counts(normalize=True)).sum())


def mean_squared_distance(points: np.ndarray) -> float:
    return float(np.square(points[:, None] - points).sum(axis=-1).mean())


def test_the_gaussian_kernel_is_the_product_of_a_kernel_for_each_column() -> None:
    theta = 1.7
    product = np.ones((N, N))
    for name in NUMBERS:
        product *= np.exp(-np.square(distances_of_numbers(name)) / (2 * theta**2))
    for name in CATEGORIES:
        product *= np.where(differ(name), np.exp(-weight(name) / theta**2), 1.0)
    points = km.TableEncoder().fit_transform(MIXED)
    np.testing.assert_allclose(Gaussian(theta)(points, points), product, rtol=UNITS)


def test_the_laplacian_kernel_is_a_product_with_one_number_for_all_different_categories() -> None:
    theta = 2.5
    product = np.ones((N, N))
    for name in NUMBERS:
        product *= np.exp(-distances_of_numbers(name) / theta)
    for name in CATEGORIES:
        step = 2.0 if MIXED[name].nunique() > 2 else np.sqrt(2.0)
        product *= np.where(differ(name), np.exp(-step * np.sqrt(weight(name)) / theta), 1.0)
    points = km.TableEncoder().fit_transform(MIXED)
    np.testing.assert_allclose(Laplacian(theta)(points, points), product, rtol=UNITS)


@pytest.mark.parametrize("name", list(MIXED.columns))
def test_two_independent_rows_are_as_far_apart_in_every_column(name: str) -> None:
    points = km.TableEncoder().fit_transform(MIXED[[name]])
    assert mean_squared_distance(points) == pytest.approx(2.0, rel=UNITS)


@pytest.mark.parametrize("name", list(MIXED.columns))
@pytest.mark.parametrize("blank", [1, 13, 39])
def test_missing_cells_as_a_category_leave_the_weight_of_a_column(name: str, blank: int) -> None:
    some = MIXED[[name]].mask(np.arange(N)[:, None] < blank)
    points = km.TableEncoder(missing="category").fit_transform(some)
    assert mean_squared_distance(points) == pytest.approx(2.0, rel=UNITS)


def test_a_missing_number_has_its_own_coordinate_and_the_mean() -> None:
    some = MIXED[["dose"]].mask(np.arange(N)[:, None] < 10)
    encoder = km.TableEncoder(missing="category").fit(some)
    points, observed = encoder.transform(some), NUMBERS["dose"][10:]
    assert encoder.get_feature_names_out().tolist() == ["dose", "dose is missing"]
    np.testing.assert_allclose(points[:10], np.tile([observed.mean() / observed.std(), 1 / np.sqrt(0.75)], (10, 1)))
    np.testing.assert_allclose(points[10:], np.column_stack([observed / observed.std(), np.zeros(30)]))


def test_a_missing_category_is_as_far_from_all_others_as_these_from_each_other() -> None:
    some = MIXED[["arm"]].mask(np.arange(N)[:, None] < 10)
    points = km.TableEncoder(missing="category").fit_transform(some)
    cells = some["arm"].astype(object).where(some["arm"].notna(), "none").to_numpy()
    squared = np.square(points[:, None] - points).sum(axis=-1)
    c = 1.0 / (1.0 - np.square(pd.Series(cells).value_counts(normalize=True)).sum())
    np.testing.assert_allclose(squared, np.where(cells[:, None] == cells, 0.0, 2 * c), atol=1e-12)


def test_columns_as_they_are_keep_their_units_and_categories_their_weight() -> None:
    points = km.TableEncoder(scale=False).fit_transform(MIXED[["dose", "arm"]])
    np.testing.assert_array_equal(points[:, 0], NUMBERS["dose"])
    np.testing.assert_allclose(np.unique(points[:, 1:]), [0.0, np.sqrt(weight("arm"))])


def test_times_keep_every_nanosecond_that_float64_has() -> None:
    start = np.datetime64("2026-05-01T00:00:00.000000000", "ns")
    times = pd.DataFrame({"t": start + np.arange(3).astype("timedelta64[ns]")})
    points = km.TableEncoder(scale=False).fit_transform(times)
    np.testing.assert_array_equal(points[:, 0], [0.0, 1e-9, 2e-9])


# -- noise ------------------------------------------------------------------------------------------------------------


def noisy() -> tuple[Encoded, np.ndarray, np.ndarray]:
    """Return a table of which some numbers are missing, its coordinates with the mean filled in, and the variances."""
    some = MIXED[["dose", "arm", "wait"]].copy()
    some.loc[some.index < 9, "dose"] = np.nan
    some.loc[some.index % 5 == 0, "wait"] = pd.NaT
    encoded = encode((some,), ("table",), Encoding("noise"))
    (rows,) = encoded.points()
    half = rows.shape[1] // 2
    return encoded, rows[:, :half], rows[:, half:]


def test_a_missing_number_is_the_mean_with_the_variance_of_the_column() -> None:
    encoded, points, variances = noisy()
    (at,) = encoded.groups["dose"]
    observed = NUMBERS["dose"][9:]
    np.testing.assert_allclose(points[:9, at], observed.mean() / observed.std())
    np.testing.assert_allclose(points[9:, at], observed / observed.std())
    np.testing.assert_array_equal(variances[:, at], np.arange(N) < 9)
    assert not variances[:, list(encoded.groups["arm"])].any()


def test_the_noisy_kernel_is_the_expectation_over_the_missing_cells() -> None:
    encoded, points, variances = noisy()
    kernel = encoded.kernel(Gaussian(1.3))
    (rows,) = encoded.points()
    noise = Normal.diagonal(variances)
    gram = kernel(rows, rows)
    np.testing.assert_allclose(gram, km.expected(Gaussian(1.3), points, points, noise, noise), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(rows), np.diag(gram), rtol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-12


def test_the_noisy_kernel_of_one_cell_is_its_integral() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    x, e, y, f = 0.3, 1.0, -0.4, 0.6
    draws = (x + np.sqrt(e) * nodes)[:, None] - (y + np.sqrt(f) * nodes)
    literal = weights @ np.exp(-np.square(draws) / (2 * 0.9**2)) @ weights
    found = NoisyRows(Gaussian(0.9))(np.array([[x, e]]), np.array([[y, f]]))[0, 0]
    assert found == pytest.approx(literal, rel=1e-10)


def test_the_noise_of_the_transformer_is_that_of_the_kernel() -> None:
    some = MIXED[["dose"]].mask(np.arange(N)[:, None] < 9)
    encoder = km.TableEncoder(missing="noise").fit(some)
    points, noise = encoder.transform(some), encoder.noise(some)
    mean = km.embed(points, Gaussian(1.0), noise=noise)
    rows = np.concatenate([points, noise.variances(1)], axis=1)
    assert mean.norm() ** 2 == pytest.approx(NoisyRows(Gaussian(1.0))(rows, rows).mean(), rel=1e-12)


def test_rows_without_variances_are_refused() -> None:
    with pytest.raises(ValueError, match="3 numbers were passed; d coordinates and d variances"):
        NoisyRows(Gaussian(1.0))(np.ones((2, 3)), np.ones((2, 3)))


# -- order ------------------------------------------------------------------------------------------------------------


def test_the_order_of_coordinates_depends_on_values_only() -> None:
    turned = MIXED[MIXED.columns[::-1]]
    first, second = (encode((each,), ("table",), Encoding()) for each in (MIXED, turned))
    assert first.names == second.names
    np.testing.assert_array_equal(first.tables[0], second.tables[0])
    assert second.in_table_order() == tuple(turned.columns)


def test_groups_are_consecutive_and_complete() -> None:
    groups = list(km.TableEncoder().fit(MIXED).groups_.values())
    assert [j for block in groups for j in block] == list(range(9))
    assert all(b == a + 1 for block in groups for a, b in pairwise(block))
