"""Other libraries, each as a function from a data set to a p-value, or to 0 and 1 where it gives only a decision.

Runs on its own in an interpreter that has the peers: ``python peers.py METHOD IN.npz OUT.json RESAMPLES``, or without
arguments lists what is there. Needs nothing of kernelmean. Tests whose authors' programs are in no package index are
those of ``benchmarks/rebuilt``.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))


def median_distance(pooled):
    gaps = np.sqrt(((pooled[:, None] - pooled[None]) ** 2).sum(-1))[np.triu_indices(len(pooled), 1)]
    return float(np.median(gaps) or gaps[gaps > 0].min())


def hyppo_mmd(x, y, b, _seed):
    from hyppo.ksample import MMD

    # a new object every time, and no chi-square approximation: its second use and its default are not the test
    return MMD().test(x, y, reps=b, auto=False)[1]


def hyppo_hsic(x, y, b, _seed):
    from hyppo.independence import Hsic

    return Hsic().test(x, y, reps=b, auto=False)[1]


def ranks(distances):
    """Return the ranks within every column, equal for equal entries: what SciPy finds column by column."""
    order = np.argsort(distances, axis=0, kind="stable")
    ascending = np.take_along_axis(distances, order, axis=0)
    steps = np.ones(distances.shape, dtype=np.int64)
    steps[1:] += np.cumsum(ascending[1:] != ascending[:-1], axis=0)
    found = np.empty_like(steps)
    np.put_along_axis(found, order, steps, axis=0)
    return found


def hyppo_mgc(x, y, b, seed):
    from hyppo.independence import MGC
    from scipy.stats import _stats

    _stats._rank_distance_matrix = ranks  # half of MGC's time; its statistic is the same to the last bit
    rng = np.random.default_rng(seed)
    return sequential(MGC().statistic(x, y), lambda: MGC().statistic(x, y[rng.permutation(len(y))]), b)


def hyppo_mgc_two(x, y, b, seed):
    from hyppo.ksample import KSample

    rng, pooled, n = np.random.default_rng(seed), np.concatenate([x, y]), len(x)

    def shuffled():
        z = pooled[rng.permutation(len(pooled))]
        return KSample("MGC").statistic(z[:n], z[n:])

    return sequential(KSample("MGC").statistic(x, y), shuffled, b)


ENOUGH = 20
"""Of 199 permuted copies: once so many reach the statistic, p is above 0.1 whatever the others are."""


def sequential(observed, copy, b):
    """Return the p-value over b permuted copies, or one above 0.1 as soon as that is certain."""
    reached = 0
    for _ in range(b):
        reached += copy() >= observed
        if reached == ENOUGH:
            break
    return (1 + reached) / (1 + b)


def dcor_energy(x, y, b, seed):
    import dcor

    return dcor.homogeneity.energy_test(x, y, num_resamples=b, random_state=seed).pvalue


def dcor_covariance(x, y, b, seed):
    import dcor

    return dcor.independence.distance_covariance_test(x, y, num_resamples=b, random_state=seed).pvalue


# Every row is its own bin: at a few hundred rows these tests are at their best without compression. They return the
# probability with which to reject at 0.05, which is 1 or 0 but for ties.
_BINS = 10_000


def ctt(x, y, b, seed):
    from goodpoints.ctt import ctt as test

    # its kernel is exp(-|x - y|² / lam²), ours exp(-|x - y|² / (2 θ²))
    lam = 2**0.5 * median_distance(np.vstack([x, y]))
    return decision(test(x, y, 0, B=b, s=_BINS, lam=lam, null_seed=seed, statistic_seed=seed).rejects, seed)


def actt(x, y, _b, seed):
    from goodpoints.ctt import actt as test

    lam = 2**0.5 * median_distance(np.vstack([x, y])) * 2.0 ** np.arange(-4, 3)
    weights = np.full(len(lam), 1 / len(lam))
    with contextlib.redirect_stdout(io.StringIO()):
        found = test(x, y, 0, B=299, s=_BINS, lam=lam, weights=weights, null_seed=seed, statistic_seed=seed)
    return decision(found.rejects, seed)


def decision(probability, seed):
    return float(np.random.default_rng(seed).random() >= np.max(probability))


def kci(x, y, _b, _seed):
    from causallearn.utils.KCI.KCI import KCI_UInd

    return float(KCI_UInd().compute_pvalue(x, y)[0])


def xi(x, y, b, seed):
    from scipy.stats import PermutationMethod, chatterjeexi

    if x.shape[1] + y.shape[1] > 2:
        return None
    method = PermutationMethod(n_resamples=b, rng=np.random.default_rng(seed))
    return float(chatterjeexi(x[:, 0], y[:, 0], method=method).pvalue)


def scipy_energy(x, y, b, seed):
    from scipy.stats import energy_distance, permutation_test

    if x.shape[1] > 1:
        return None
    return float(
        permutation_test(
            (x[:, 0], y[:, 0]),
            energy_distance,
            n_resamples=b,
            alternative="greater",
            vectorized=False,
            rng=np.random.default_rng(seed),
        ).pvalue
    )


def mmd_agg(x, y, _b, seed):
    from rebuilt import mmd_agg as test

    return test(x, y, seed=seed)


def mmd_fuse(x, y, b, seed):
    from rebuilt import mmd_fuse as test

    return test(x, y, b, seed)


def spectral_mmd(x, y, _b, seed):
    from rebuilt import spectral_mmd as test

    return test(x, y, seed=seed)


def hsic_agg(x, y, _b, seed):
    from rebuilt import hsic_agg as test

    return test(x, y, seed=seed)


PEERS = {
    "MMDAgg": ("two samples", "numpy", mmd_agg),
    "MMD-FUSE": ("two samples", "numpy", mmd_fuse),
    "spectral MMD": ("two samples", "numpy", spectral_mmd),
    "HSICAgg": ("independence", "numpy", hsic_agg),
    "hyppo MMD": ("two samples", "hyppo", hyppo_mmd),
    "hyppo MGC two-sample": ("two samples", "hyppo", hyppo_mgc_two),
    "dcor energy": ("two samples", "dcor", dcor_energy),
    "goodpoints CTT": ("two samples", "goodpoints", ctt),
    "goodpoints ACTT": ("two samples", "goodpoints", actt),
    "scipy energy": ("two samples", "scipy", scipy_energy),
    "hyppo Hsic": ("independence", "hyppo", hyppo_hsic),
    "hyppo MGC": ("independence", "hyppo", hyppo_mgc),
    "dcor covariance": ("independence", "dcor", dcor_covariance),
    "causal-learn KCI": ("independence", "causallearn", kci),
    "scipy xi": ("independence", "scipy", xi),
}


def available():
    return [name for name, (_, module, _) in PEERS.items() if find_spec(module)]


def evaluate(name, batch, b):
    """Return p-values, None where the method does not apply."""
    test = PEERS[name][2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [test(x, y, b, trial) for trial, x, y in batch]


def main():
    if len(sys.argv) == 1:
        print(json.dumps(available()))
        return
    name, source, target, b = sys.argv[1:]
    with np.load(source) as stored:
        batch = [(int(t), stored[f"x{t}"], stored[f"y{t}"]) for t in stored["trials"]]
    with open(target, "w", encoding="utf-8") as file:
        json.dump(evaluate(name, batch, int(b)), file)


if __name__ == "__main__":
    main()
