"""Speed of kernel mean matching: weights only at n = 10 000, joint at n = 500, and the joint objective by torch.

    python benchmarks/matching.py --rounds 5

torch is optional (CPU wheel is enough); both sides run on one thread if OPENBLAS_NUM_THREADS=1 is set. The torch side is
written as its users write it: broadcast differences, float64, softmax and squared factors, ``backward()``; it starts
from the same prototypes, and its optimiser (Adam, or the same L-BFGS fed by autograd) runs until it has reached our
final objective or runs out of steps.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from kernelmean.kernels.bandwidth import median_bandwidth
from kernelmean.kernels.gaussian import Gaussian
from kernelmean.matching import KernelMeanMatching
from kernelmean.matching.joint import descend
from kernelmean.matching.objective import Objective
from kernelmean.matching.parameters import Layout
from kernelmean.matching.recipe import Sample, make_recipe

FLOOR = 0.01


def clusters(n: int, dim: int) -> np.ndarray:
    """Ten Gaussian clusters."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(10, dim))[rng.integers(10, size=n)] * 2 + rng.normal(size=(n, dim))


def fastest(function: Callable[[], object], rounds: int) -> float:
    """Return the least time of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def torch_objective(objective: Objective, mu, layout: Layout):
    """Return the same function of the same vector, its gradient by autograd."""
    import torch

    torch.set_num_threads(1)
    K, dim = layout.n_components, layout.dim
    X, beta = (torch.tensor(a) for a in (mu.points, mu.weights))
    theta2, noise = float(mu.kernel.bandwidth) ** 2, float(mu.noise.covariance)

    def bumps(gaps, variances):
        return torch.exp(-0.5 * ((gaps**2 / variances).sum(-1) + torch.log(variances / theta2).sum(-1)))

    def function(vector: np.ndarray) -> tuple[float, np.ndarray]:
        v = torch.tensor(vector, requires_grad=True)
        w = torch.softmax(v[:K], dim=0)
        m = v[K : K + K * dim].reshape(K, dim)
        S = (v[K + K * dim :].reshape(K, -1) ** 2 + layout.floor).expand(K, dim)
        linear = beta @ bumps(X[:, None] - m, theta2 + noise + S)
        gram = bumps(m[:, None] - m, theta2 + S[:, None] + S)
        value = w @ gram @ w - 2 * w @ linear
        value.backward()
        return float(value.detach()), v.grad.numpy()

    return function


def adam(function, start: np.ndarray, goal: float, limit: int) -> tuple[int, float, bool]:
    """Run Adam until the goal; return steps, seconds and whether it was reached."""
    import torch

    x = torch.tensor(start.copy())
    optimizer, began = torch.optim.Adam([x], lr=0.02), time.perf_counter()
    for step in range(1, limit + 1):
        value, gradient = function(x.numpy())
        if value <= goal:
            return step, time.perf_counter() - began, True
        x.grad = torch.tensor(gradient)
        optimizer.step()
    return limit, time.perf_counter() - began, False


def weights_only(rounds: int) -> None:
    """Time whole fits of the weights, k-means and bandwidth included."""
    X = clusters(10_000, 20)
    for kind in ("spherical", "full"):
        for bandwidth in ("median", "validation"):
            model = KernelMeanMatching(
                10, estimator="kme", update="weights", covariance_type=kind, bandwidth=bandwidth, random_state=0
            )
            print(f"weights only, n=10000 d=20 K=10, {kind}, {bandwidth}: {fastest(lambda: model.fit(X), rounds):.3f} s")  # noqa: B023


def joint(kind: str, rounds: int) -> None:
    """Time one start of a joint fit, and the objective by autograd."""
    X = clusters(500, 30)
    options = {"update": "all", "covariance_type": kind, "variance_floor": FLOOR, "pooling": 1.0, "max_iter": 2000}
    recipe, _ = make_recipe(10, prototypes=None, estimator="mkme", tol=1e-10, kmeans_n_init=1, **options)
    sample = Sample.of(X)
    mu = recipe.target(sample, Gaussian(0.5 * float(median_bandwidth(X))))
    start, floor = recipe.start(sample, 10, 0), recipe.floor(sample)
    layout, objective = Layout(kind, 10, 30, floor), Objective(mu)
    vector = layout.pack(start)

    def own(x: np.ndarray) -> tuple[float, np.ndarray]:
        mixture = layout.unpack(x)
        value = objective(mixture)
        return value.value, layout.pull(x, mixture, value)

    descent = descend(objective, layout, start, 2000, 1e-10)
    fit = fastest(lambda: descend(objective, layout, start, 2000, 1e-10), rounds)
    once = fastest(lambda: [own(vector) for _ in range(50)], rounds) / 50
    print(f"joint, n=500 d=30 K=10, {kind}: one start {fit:.3f} s, {len(descent.objective) - 1} steps; one evaluation {1e3 * once:.3f} ms")
    if kind in ("spherical", "diag"):
        compare(torch_objective(objective, mu, layout), own, vector, descent.objective[-1], fit, once, rounds)


def compare(auto, own, vector: np.ndarray, goal: float, fit: float, once: float, rounds: int) -> None:
    """Print the ratio of times per evaluation and to the same objective."""
    ours, theirs = own(vector), auto(vector)
    assert abs(ours[0] - theirs[0]) < 1e-12 and np.abs(ours[1] - theirs[1]).max() < 1e-12
    each = fastest(lambda: [auto(vector) for _ in range(50)], rounds) / 50
    print(f"  torch, one evaluation: {1e3 * each:.3f} ms, {each / once:.1f} × ours")
    goal += 1e-6 * abs(goal)
    steps, seconds, reached = adam(auto, vector, goal, 5000)
    print(f"  torch, Adam: {seconds:.2f} s, {steps} steps, {'reached' if reached else 'did not reach'} ours: {seconds / fit:.0f} ×")
    began = time.perf_counter()
    scale = abs(ours[0])
    options = {"maxiter": 2000, "maxfun": 40000, "ftol": 1e-10, "gtol": 1e-9, "maxcor": 20}
    result = minimize(lambda x: tuple(part / scale for part in auto(x)), vector, jac=True, method="L-BFGS-B", options=options)
    seconds = time.perf_counter() - began
    print(f"  torch, the same L-BFGS: {seconds:.2f} s, {result.nit} steps: {seconds / fit:.1f} ×")


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
