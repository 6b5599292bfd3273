"""Whatever has a value under two different noises has the mean of draws from both, also where only one is additive."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from kernelmean.core.type_rules import NoClosedFormError
from kernelmean.expected import expected
from kernelmean.expected.support import kernel_examples, noise_examples
from kernelmean.kernels import Categorical, Gaussian, Kernel, Laplacian, Polynomial, TensorProduct
from kernelmean.noise import Dirac, IndependentSum, Laplace, Noise, Normal, Sampled, Switch, Uniform

DRAWS = 16_000
TIED = np.array([[1.0, 0.8], [0.8, 1.0]])
KERNELS = (
    *kernel_examples(),
    0.5 * Gaussian(1.0) * Laplacian(1.0),
    2.0 * (Gaussian(1.0) + Polynomial(2)),
    TensorProduct((Gaussian(1.0),), ((0, 1),)),
    TensorProduct((Categorical(0.2), Gaussian(0.7)), ((0,), (1,))),
)
NOISES: dict[str, Noise] = {
    "Dirac": Dirac(),
    **noise_examples(),
    "tied": Normal(TIED),
    "tied, one per point": Normal(np.stack([TIED, 2.0 * TIED])),
    "tied and Laplace": IndependentSum((Normal(TIED), Laplace(0.3))),
    "Laplace and box": IndependentSum((Laplace(0.3), Uniform((0.5, 0.2)))),
    "drawn": Sampled(Normal(TIED), 16),
}
CODES, PLACES = (np.array([[0.0, 2.0], [1.0, 0.0]]), np.array([[0.5, -0.3], [1.2, 0.4]]))


def drawn(X: Any, noise: Noise, rng: np.random.Generator) -> Any:
    """Draw copies of every row, shape (n, draws, d)."""
    if isinstance(noise, Sampled):  # the distribution is that of its draws
        copies = noise.copies(X)
        return copies[rng.integers(len(copies), size=DRAWS)].swapaxes(0, 1)
    parts = [noise.take(np.array([i])) for i in range(len(X))] if noise.per_point else [noise] * len(X)
    tiled = [np.tile(row, (DRAWS, 1)) for row in X]
    if noise.per_point:
        parts = [Normal(part.covariance[0]) for part in parts]  # type: ignore[attr-defined]
    return np.stack([part.sample(rows, rng) for part, rows in zip(parts, tiled, strict=True)])


def by_pairs(kernel: Kernel, x: Any, y: Any) -> Any:
    """Evaluate the kernel at (x_i, y_i), in blocks of which only the diagonal is kept."""
    blocks = [np.diagonal(kernel(x[k : k + 40], y[k : k + 40])) for k in range(0, len(x), 40)]
    return np.concatenate(blocks)


@pytest.mark.parametrize("names", list(combinations_with_replacement(NOISES, 2)), ids=" and ".join)
def test_values_are_means_of_draws(names: tuple[str, str]) -> None:
    v, w = (NOISES[name] for name in names)
    codes = any(isinstance(noise, Switch) for noise in (v, w))
    X, Y = (CODES, CODES[::-1]) if codes else (PLACES, PLACES[::-1] + 0.1)
    copies: tuple[Any, Any] | None = None
    for kernel in KERNELS:
        try:
            values = expected(kernel, X, Y, v, w)
        except NoClosedFormError:
            continue
        except ValueError as error:
            assert "code" in str(error)  # noqa: PT017 (categories need codes)
            continue
        if copies is None:
            rng = np.random.default_rng(list("".join(names).encode()))
            copies = drawn(X, v, rng), drawn(Y, w, rng)
        for i, j in ((0, 0), (0, 1)):
            some = by_pairs(kernel, copies[0][i], copies[1][j])
            assert values[i, j] == pytest.approx(expected(kernel, Y, X, w, v)[j, i], rel=1e-12)
            error = some.std() / math.sqrt(DRAWS)
            assert abs(some.mean() - values[i, j]) <= 5.5 * error + 1e-9 * abs(values[i, j]), (kernel, i, j)
