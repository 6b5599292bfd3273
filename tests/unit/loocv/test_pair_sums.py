import numpy as np
import pytest

from kernelmean.loocv.pair_sums import pair_sum


def brute(A, B):
    gaps = A[:, None] - B
    exponents = -(gaps**2).sum(-1)
    np.fill_diagonal(exponents, -np.inf)
    weights = np.exp(exponents - exponents.max())
    means = [
        np.einsum("ij,ijk->k", weights, part) / weights.sum() for part in (A[:, None] ** 2 + 0 * B, B**2 + 0 * gaps)
    ]
    both = np.einsum("ij,ijk->k", weights, A[:, None] * B) / weights.sum()
    return np.log(weights.sum()) + exponents.max(), *means, both


@pytest.mark.parametrize("n", [2, 3, 30, 257, 600])
@pytest.mark.parametrize("unit", [0.1, 1.0, 100.0])
def test_sums_and_moments(n, unit):
    rng = np.random.default_rng(n)
    A = unit * rng.normal(size=(n, 2))
    for B in (A, A[::-1] * 0.9):
        found = pair_sum(A, B)
        log, left, right, both = brute(A, B)
        assert found.log == pytest.approx(log, rel=1e-11)
        for part, exact in ((found.left, left), (found.right, right), (found.both, both)):
            np.testing.assert_allclose(part, exact, rtol=1e-9, atol=1e-9 * unit**2)
        assert pair_sum(A, B, moments=False).log == pytest.approx(log, rel=1e-11)


def test_gaps_are_weighted_squared_differences():
    A = np.array([[0.0, 1.0], [0.5, 3.0]])
    np.testing.assert_allclose(pair_sum(A, A).gaps, [0.25, 4.0], rtol=1e-12)
