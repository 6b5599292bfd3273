"""Does a sample come from a known distribution? The one-sample test on MMD², exact by samples that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, clone

from ..core.array import Array, RngLike, as_rng, slices
from ..core.points import check_names_agree
from ..core.table import as_table
from ..core.type_rules import NoClosedFormError
from ..inference.adaptive.candidates import candidates
from ..inference.adaptive.columns import NEAR
from ..inference.adaptive.coordinates import Columns
from ..inference.adaptive.many_kernels import Adaptive, combined
from ..inference.null import Null
from ..inference.permutations import BOOTSTRAP, DRAWS
from ..inference.resampling import check_n_resamples
from ..inference.result import TestResult
from ..inference.units.dealing import PILOT
from ..plan.plan import serial_blas
from .distribution import KnownDistribution

_AT_ONCE = 2**14
"""Rows that are held at a time besides X, or one sample."""
_DRAWN_PER_ROW = 4
"""Rows that are drawn, for each row of X, to find the mean of a distribution that was fitted to so many."""
_ROUNDING = 1e-12
_AFFINE = ("data", "blocks", *NEAR)
"""Views that are the columns times a factor, plus a shift."""
Fitting = Callable[[Array], KnownDistribution]
"""From rows to the distribution that is fitted to them."""


def fit_test(
    X: Any, distribution: Any = None, *, refit: Any = None, n_resamples: int = 999, rng: RngLike = None
) -> TestResult:
    r"""Test whether a sample comes from a known distribution P, by the distance of its kernel means from those of P.

    .. math:: T_k = |\hat\mu_X - \mu_P|_k^2, \qquad p = (1 + \#\{T(X_b) \ge T(X)\}) / (1 + B)

    About 20 kernels, those of :func:`kernelmean.mmd_test`, are combined into one statistic T. It is computed in the
    same way for X and for B samples of as many rows that are drawn from P.

    Parameters
    ----------
    X : array of shape (n, d), data frame or Series
        The sample, one row at least.
    distribution : scipy.stats distribution, fitted mixture, Embedding, or callable
        P, fixed before you saw X, such as ``norm(0, 1)`` or ``Normal()``. Mixtures are scikit-learn's
        ``GaussianMixture``, ``KernelMeanMatching`` and
        ``km.embed(means, kernel, weights=weights, noise=km.noise.Normal(covariances))``. Of an embedding only the
        distribution counts, not the kernel. A function ``(n, rng)`` returns n rows.
    refit : callable or scikit-learn estimator, instead of ``distribution``
        A function from rows to one of these distributions, or an estimator such as ``GaussianMixture(3)``: the question
        is then whether *some* distribution of this family fits. It is fitted to X and again to every drawn sample.
    n_resamples : int
        B, how many samples are drawn.
    rng : int, Generator, or None
        The seed.

    Returns
    -------
    TestResult
        Unpacks as ``(statistic, pvalue)``; ``members`` lists the kernels, ``notes`` says how the means of P were found.

    Raises
    ------
    TypeError, ValueError
        When X is not a finite table of numbers, P is not a distribution, draws other columns or always the same rows,
        or both or neither of ``distribution`` and ``refit`` are passed.

    Notes
    -----
    With ``distribution`` the p-value is exact for every n: if X comes from P, X and the drawn samples are
    exchangeable, kernels and features are fitted to 4,096 rows of P alone, and means of P are exact (Gaussian mixtures
    and kernels) or those of all samples together, X among them. **The test cannot see whether P was fitted to X.** If
    you pass a model that was fitted to the same rows, the p-value is far too large: hold rows out, or pass ``refit``, a
    parametric bootstrap whose level is right only asymptotically (Key et al. 2021). See :doc:`/guides/fit`.

    O(B n r (d + r)) time, r = 64 features a kernel: some seconds for n = 1,000 and B = 999; ``refit`` draws four times
    as many rows and fits B + 1 times. Memory does not grow with B n.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> X = np.random.default_rng(1).normal(size=(60, 1))
    >>> fit_test(X, stats.norm(0, 1), n_resamples=99, rng=0).pvalue > 0.05
    True
    >>> fit_test(X, stats.norm(1, 1), n_resamples=99, rng=0).pvalue
    0.01
    >>> fit_test(X, refit=lambda rows: stats.norm(rows.mean(), rows.std()), n_resamples=99, rng=0).pvalue > 0.05
    True
    """
    if (distribution is None) == (refit is None):
        raise ValueError("pass either distribution, which is fixed, or refit, which fits one to X; not both or neither")
    table, resamples = as_table(X), check_n_resamples(n_resamples)
    pilot_seed, draws_seed = as_rng(rng).spawn(2)
    fitting = None if refit is None else _fitting(refit, draws_seed)
    known = KnownDistribution.of(distribution) if fitting is None else fitting(table.values)
    if table.named and known.mixture is not None:
        check_names_agree(table.names, known.mixture.names, ("X", "the distribution"))
    n, dim = table.values.shape
    with serial_blas:
        pilot = known.sample(PILOT, dim, pilot_seed)
        chosen = candidates(Adaptive(), (pilot,), 2.0 * n, pilot_seed)
        _check_random(known, pilot, pilot_seed)
        columns = Columns.of(chosen.sources[0], chosen.views[0], list(chain.from_iterable(chosen.kernels)))
        draws = (known.sample(n, dim, draws_seed) for _ in range(resamples))
        exact, counts = exact_means(columns, known), list(map(len, chosen.kernels))
        null = statistics(columns, table.values, draws, exact, fitting, draws_seed)
    return TestResult(
        **combined(null, "harmonic", chosen.members, counts),
        method=f"Fit of {known.name}, adaptive, "
        + ("exact if X played no part in it" if fitting is None else "asymptotic: parametric bootstrap"),
        sizes=(n,),
        notes=(_of_means(columns, exact, counts, fitting is None),),
    )


def _check_random(known: KnownDistribution, rows: Array, rng: np.random.Generator) -> None:
    """Raise when the same rows are drawn again, unless they are all equal."""
    if (rows != rows[0]).any() and (rows == known.sample(len(rows), rows.shape[1], rng)).all():
        raise ValueError(
            f"{known.name} draws the same rows every time; draw them from the generator that it is given, such as "
            "lambda n, rng: rng.normal(size=(n, 1))"
        )


def _of_means(columns: Columns, means: Array, counts: Sequence[int], fixed: bool) -> str:
    """Return in words under how many members, with these counts of kernels, the means of a distribution are exact."""
    known = [number for block in columns.blocks if not np.isnan(means[block.place]).any() for number in block.numbers]
    exact = np.isin(np.cumsum([0, *counts[:-1]]), known).sum()
    others = "the mean of all samples together" if fixed else f"the mean of {_DRAWN_PER_ROW} n rows drawn from it"
    if exact == 0:
        return f"the mean of the distribution under every kernel is {others}"
    return f"the mean of the distribution is exact under {exact} of {len(counts)} kernels; of the others it is {others}"


def _fitting(refit: Any, rng: np.random.Generator) -> Fitting:
    """Return how a function or an estimator fits; an estimator without a seed gets one."""
    if isinstance(refit, BaseEstimator):
        model = clone(refit)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=int(rng.integers(2**31)))
        return lambda rows: KnownDistribution.of(clone(model).fit(rows))
    if not callable(refit) or isinstance(refit, type | stats.rv_continuous | stats.rv_discrete):
        raise TypeError(
            f"refit is {refit!r}; pass a function from rows to a distribution, such as "
            "lambda rows: stats.norm(*stats.norm.fit(rows)), or an estimator such as GaussianMixture(3)"
        )
    return lambda rows: KnownDistribution.of(refit(rows), "what refit returned")


def statistics(
    columns: Columns, X: Array, draws: Iterable[Array], exact: Array, fitting: Fitting | None, rng: Any
) -> Null:
    """Return the statistics of the kernels on columns for X and for drawn samples of as many rows.

    ``exact`` are the means of the columns under the distribution, where they are known; not used if it is ``fitting``.
    """
    batches, centres = [], []
    samples = chain([X], draws)
    while some := list(islice(samples, max(1, _AT_ONCE // len(X)))):
        batches.append(means_over(columns, some))
        if fitting is not None:
            centres.append(_fitted_means(columns, [fitting(rows) for rows in some], X.shape, rng))
    means = np.concatenate(batches)
    if fitting is None:
        centres.append(np.where(np.isnan(exact), means.mean(axis=0), exact)[None])
    gaps = means - np.concatenate(centres)
    values, tolerance = np.empty((2, columns.n_kernels, len(means)))
    for block in columns.blocks:
        place = block.place
        values[block.numbers] = block.weights @ np.square(gaps[:, place]).T
        tolerance[block.numbers] = block.weights @ np.square(np.abs(means[:, place]) + np.abs(gaps[:, place])).T
    scheme = DRAWS if fitting is None else BOOTSTRAP
    return Null(values, _ROUNDING * tolerance.max(axis=1), "MMD² from the distribution", scheme)


def means_over(columns: Columns, samples: Sequence[Array]) -> Array:
    """Return the means of columns over samples of n rows each, shape (samples, D), some rows at a time."""
    n = len(samples[0])
    if n > _AT_ONCE:
        parts, start = slices(n, _AT_ONCE), np.zeros(1, dtype=np.intp)
        shares = [(part.stop - part.start) / n for part in parts]
        each = [[columns.means(rows[part], start)[0] for part in parts] for rows in samples]
        return np.asarray(np.average(each, axis=1, weights=shares))
    groups = [samples[part] for part in slices(len(samples), _AT_ONCE // n)]
    return np.concatenate([columns.means(np.concatenate(group), n * np.arange(len(group))) for group in groups])


def _fitted_means(columns: Columns, fits: Sequence[KnownDistribution], shape: tuple[int, int], rng: Any) -> Array:
    """Return the means of columns under distributions, exact where they can be, else of drawn rows."""
    drawn = means_over(columns, [known.sample(_DRAWN_PER_ROW * shape[0], shape[1], rng) for known in fits])
    exact = np.stack([exact_means(columns, known) for known in fits])
    return np.where(np.isnan(exact), drawn, exact)


def exact_means(columns: Columns, known: KnownDistribution) -> Array:
    """Return the exact means of columns under a mixture, shape (D,), NaN where there is no closed form.

    They are lift E k(S, z) - origin, where the view z of a row is the row times a factor, plus a shift.
    """
    means, spreads = np.full(columns.size, np.nan), columns.fits.spreads
    for part in columns.parts:
        unit, projection = part.view.unit, part.projection
        is_affine = part.view.name in _AFFINE and not spreads.constant.any() and unit.origin is None
        if projection is None or not is_affine:
            continue
        factor = np.ldexp(1.0 / spreads.spreads, -spreads.exponents) / unit.divisor
        with suppress(NoClosedFormError):
            mean = known.moved(projection.kernel, factor, -spreads.means / spreads.spreads / unit.divisor)
            means[part.place] = projection(mean(projection.landmarks)[:, None])[:, 0]
    return means
