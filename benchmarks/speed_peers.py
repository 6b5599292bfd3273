"""What users have today, timed on request: a worker for speed.py that needs nothing of kernelmean.

Reads one JSON request a line, ``{"peer": ..., "n": ..., "dim": ..., "resamples": ...}``, and answers with one line of
``{"wall": ..., "cpu": ...}``; ``{"peer": null}`` lists what is installed. Data depend on n and dim only.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from importlib.util import find_spec

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402 (after the numbers of threads)


def data(n, dim):
    """Two tables of the same distribution."""
    return np.random.default_rng([n, dim]).standard_normal((2, n, dim))


def gram(points):
    """The Gaussian Gram matrix at the median bandwidth, 2 θ² = 2 median |x - y|²."""
    norms = np.einsum("ij,ij->i", points, points)
    squared = np.maximum(norms[:, None] + norms - 2 * points @ points.T, 0.0)
    few = squared[:1000, :1000]
    median = np.median(few[np.triu_indices(len(few), 1)])
    return np.exp(squared / (-2 * median))


def frouros(x, y, resamples):
    from functools import partial

    from frouros.callbacks import PermutationTestDistanceBased
    from frouros.detectors.data_drift import MMD
    from frouros.utils.kernels import rbf_kernel

    callback = PermutationTestDistanceBased(num_permutations=resamples, num_jobs=1, method="conservative", name="test")
    detector = MMD(kernel=partial(rbf_kernel, sigma=float(np.sqrt(2 * x.shape[1]))), callbacks=[callback])
    detector.fit(X=x)
    return detector.compare(X=y)[1]["test"]["p_value"]


def pted(x, y, resamples):
    from pted import pted as test

    return test(x, y, permutations=resamples, two_tailed=False, rng=0)


def mmd_loop(x, y, resamples):
    rng, n = np.random.default_rng(0), len(x)
    kernel = gram(np.vstack([x, y]))

    def statistic(order):
        first, second = order[:n], order[n:]
        within = [kernel[np.ix_(part, part)].mean() for part in (first, second)]
        return sum(within) - 2 * kernel[np.ix_(first, second)].mean()

    observed = statistic(np.arange(len(kernel)))
    return (1 + sum(statistic(rng.permutation(len(kernel))) >= observed for _ in range(resamples))) / (1 + resamples)


def hsic_loop(x, y, resamples):
    rng, n = np.random.default_rng(0), len(x)
    left, right = gram(x), gram(y)
    left = left - left.mean(0) - left.mean(1)[:, None] + left.mean()
    observed = (left * right).sum()
    orders = (rng.permutation(n) for _ in range(resamples))
    return (1 + sum((left * right[np.ix_(order, order)]).sum() >= observed for order in orders)) / (1 + resamples)


def dcor(x, y, resamples):
    from dcor.independence import distance_covariance_test

    return distance_covariance_test(x, y, num_resamples=resamples, random_state=0).pvalue


def mmd_agg(x, y, resamples):
    from rebuilt import mmd_agg as test

    return test(x, y, copies=resamples, spare=max(1, resamples // 2))


PEERS = {
    "frouros": frouros,
    "numpy loop, MMD": mmd_loop,
    "MMDAgg": mmd_agg,
    "pted": pted,
    "dcor": dcor,
    "numpy loop, HSIC": hsic_loop,
}
OURS = ("numpy loop, MMD", "numpy loop, HSIC", "MMDAgg")
"""Those that are written here, by definition or from a paper, and need no package."""


def cpu():
    """Seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measured(request):
    if request["peer"] is None:
        return [name for name in PEERS if name in OURS or find_spec(name)]
    x, y = data(request["n"], request["dim"])
    wall, before = time.perf_counter(), cpu()
    PEERS[request["peer"]](x, y, request["resamples"])
    return {"wall": time.perf_counter() - wall, "cpu": cpu() - before}


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints goes elsewhere
    for line in sys.stdin:
        print(json.dumps(measured(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
