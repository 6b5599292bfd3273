"""Speed of kernel mean matching: weights only at n = 10,000, joint at n = 500, and the joint objective by torch.

    python benchmarks/matching.py --rounds 5

torch is optional (the CPU wheel is enough); set OPENBLAS_NUM_THREADS=1 for one thread on both sides. The torch side
is written as its users write it: broadcast differences, float64, softmax and squared factors, ``backward()``. It
starts from the same prototypes; its optimiser is Adam, until it has our final objective or took 40 times as long,
or our L-BFGS.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import minimize

from kernelmean.density import KernelMeanMatching, KMeansPrototypes
from kernelmean.density.joint import ParameterLayout, descend
from kernelmean.density.objective import MatchingObjective
from kernelmean.density.recipe import Recipe
from kernelmean.density.sample import Sample
from kernelmean.estimators import MKME
from kernelmean.kernels.bandwidth import median_bandwidth
from kernelmean.kernels.gaussian import Gaussian


def heavy_tails(n: int, dim: int) -> np.ndarray:
    """Draw a t-distribution with 5 degrees of freedom and a random covariance, standardised."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, dim)) @ rng.normal(size=(dim, dim)) * np.sqrt(5 / rng.chisquare(5, n))[:, None]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def fastest(function: Callable[[], object], rounds: int) -> float:
    """Return the least time of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def torch_objective(mu, layout: ParameterLayout):
    """Return the same function of the same vector, its gradient by autograd."""
    import torch

    torch.set_num_threads(1)
    K, dim = layout.n_components, layout.dim
    X, beta = (torch.tensor(a) for a in (mu.points, mu.weights))
    theta2, noise = float(mu.kernel.bandwidth) ** 2, float(mu.noise.covariance)

    def axis_bumps(gaps, variances):
        return torch.exp(-0.5 * ((gaps**2 / variances).sum(-1) + torch.log(variances / theta2).sum(-1)))

    def full_bumps(gaps, covariances):
        roots = torch.linalg.cholesky(covariances)
        white = torch.linalg.solve_triangular(roots, gaps[..., None], upper=False)[..., 0]
        log_det = torch.log(torch.diagonal(roots, dim1=-2, dim2=-1) / theta2**0.5).sum(-1)
        return torch.exp(-0.5 * (white**2).sum(-1) - log_det)

    triangular, rows = layout.covariance_type in ("tied", "full"), torch.tril_indices(dim, dim)
    unit, bumps = (torch.eye(dim, dtype=X.dtype), full_bumps) if triangular else (1.0, axis_bumps)

    def covariances(factors):
        if not triangular:
            return (factors.reshape(K, -1) ** 2 + layout.floor).expand(K, dim)
        flat = factors.reshape(-1, rows.shape[1])
        L = torch.zeros(len(flat), dim, dim, dtype=X.dtype)
        L[:, rows[0], rows[1]] = flat
        return (L @ L.mT + layout.floor * unit).expand(K, dim, dim)

    def function(vector: np.ndarray) -> tuple[float, np.ndarray]:
        v = torch.tensor(vector, requires_grad=True)
        w = torch.softmax(v[:K], dim=0)
        m = v[K : K + K * dim].reshape(K, dim)
        S = covariances(v[K + K * dim :])
        linear = beta @ bumps(X[:, None] - m, (theta2 + noise) * unit + S)
        gram = bumps(m[:, None] - m, theta2 * unit + S[:, None] + S)
        value = w @ gram @ w - 2 * w @ linear
        value.backward()
        return float(value.detach()), v.grad.numpy()

    return function


def adam(function, start: np.ndarray, goal: float, longest: float) -> tuple[int, float, bool]:
    """Run Adam until the goal or so many seconds; return steps, seconds and whether the goal was reached."""
    import torch

    x = torch.tensor(start.copy())
    optimizer, began = torch.optim.Adam([x], lr=0.02), time.perf_counter()
    seconds, steps, reached = 0.0, 0, False
    while not reached and seconds < longest:
        value, gradient = function(x.numpy())
        x.grad = torch.tensor(gradient)
        optimizer.step()
        steps, seconds, reached = steps + 1, time.perf_counter() - began, value <= goal
    return steps, seconds, reached


def weights_only(rounds: int) -> None:
    """Time whole fits of the weights, k-means, bandwidth and of the target's own search; the first one loads numba."""
    X = heavy_tails(10_000, 20)
    cases = product(("kme", "mkme"), ("spherical", "full"), (("median", Gaussian("median")), ("validation", None)))
    for target, kind, (bandwidth, kernel) in cases:
        options = {"estimator": target, "covariance_type": kind, "kernel": kernel}
        model = KernelMeanMatching(10, update="weights", random_state=0, **options)
        first, best = fastest(partial(model.fit, X), 1), fastest(partial(model.fit, X), rounds)
        times = f"{best:.3f} s (first fit {first:.3f} s)"
        print(f"weights only, n=10000 d=20 K=10, to {target}, {kind}, bandwidth {bandwidth}: {times}")


def joint(kind: str, rounds: int) -> None:
    """Time one start of a joint fit, and the objective by autograd."""
    X = heavy_tails(500, 30)
    recipe = Recipe(MKME(), "all", kind, 10, KMeansPrototypes(n_init=1), 1000, seed=0)
    sample = Sample.of(X)
    mu = recipe.target(sample, Gaussian(0.5 * float(median_bandwidth(X))))
    start, floor = recipe.start(sample), sample.floor
    layout, objective = ParameterLayout(kind, 10, 30, floor), MatchingObjective(mu)
    vector = layout.pack(start)

    def own(x: np.ndarray) -> tuple[float, np.ndarray]:
        mixture = layout.unpack(x)
        value = objective(mixture)
        return value.value, layout.pull(x, mixture, value)

    descent = descend(objective, layout, start, 1000, 1e-10)
    fit = fastest(lambda: descend(objective, layout, start, 1000, 1e-10), rounds)
    once = fastest(lambda: own(vector), 10 * rounds)
    steps = len(descent.objective) - 1
    print(f"joint, n=500 d=30 K=10, {kind}: one start {fit:.3f} s, {steps} steps; one evaluation {1e3 * once:.3f} ms")
    compare(torch_objective(mu, layout), own, vector, descent.objective[-1], fit, once, rounds)


def compare(auto, own, vector: np.ndarray, goal: float, fit: float, once: float, rounds: int) -> None:
    """Print the ratio of times per evaluation and to the same objective."""
    ours, theirs = own(vector), auto(vector)
    np.testing.assert_allclose(theirs[0], ours[0], rtol=1e-9)
    np.testing.assert_allclose(theirs[1], ours[1], atol=1e-9 * np.abs(ours[1]).max())
    each = fastest(lambda: auto(vector), 10 * rounds)
    print(f"  torch, one evaluation: {1e3 * each:.3f} ms, {each / once:.1f} × ours")
    steps, seconds, reached = adam(auto, vector, goal + 1e-8 * abs(goal), 40 * fit)
    outcome = "has our objective" if reached else "is not there yet"
    print(f"  torch, Adam: {outcome} after {steps} steps, {seconds:.2f} s: {seconds / fit:.0f} × ours")
    began, scale = time.perf_counter(), abs(ours[0])
    options = {"maxiter": 2000, "maxfun": 40000, "ftol": 1e-10, "gtol": 1e-9, "maxcor": 20}
    function = lambda x: tuple(part / scale for part in auto(x))  # noqa: E731
    result = minimize(function, vector, jac=True, method="L-BFGS-B", options=options)
    seconds = time.perf_counter() - began
    print(f"  torch, our L-BFGS: {result.nit} steps, {seconds:.2f} s: {seconds / fit:.1f} × ours")


def main() -> None:
    """Print all timings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="the fastest of so many")
    rounds = parser.parse_args().rounds
    weights_only(rounds)
    for kind in ("spherical", "diag", "tied", "full"):
        joint(kind, rounds)


if __name__ == "__main__":
    main()
