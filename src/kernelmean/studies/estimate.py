"""All estimators side by side on one table: the library behind ``kernelmean estimate``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from ..core.array import SILENT, Array, Progress
from ..core.frozen import Frozen
from ..core.table import Table
from ..core.words import count, listed, number_range, percent, signed
from ..embedding.embedding import Embedding, embed
from ..embedding.parts import PointPart
from ..estimators import NAMED, KernelMean
from ..estimators.by_features import RANK
from ..estimators.loocv.spectral import LIMIT
from ..kernels import Gaussian
from ..kernels.bandwidth import Bandwidth, bandwidth_from
from ..noise import Dirac, Noise, Normal
from ..report.description import Description, Grid
from .numbers import Needs
from .plots.estimators import scores_below_kme
from .study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDING = 1e-12
_FEW = 50
"""Up to so many rows parameters are chosen again without each of them, to see how much less the error really is."""
_NOTHING = 0.01
"""A squared norm, as a share of that of KME, of an estimate that is nearly zero; and a factor r that collapses rows."""
_MOST_TOLD = 0.95
"""Of a share; beyond, what is left of an error is lost in the scatter of the score."""
_NEEDS = Needs("estimate", 2, "", "there is nothing to estimate")


@final
@dataclass(frozen=True, eq=False)
class Fits(Frozen, Study):
    """Estimators fitted to one table.

    Attributes
    ----------
    table : Table
        The table, without constant columns, in its own units.
    estimators : dict from str to KernelMean
        The fitted estimators, in the units of ``unit``.
    unit : array of shape (d,)
        What every column was divided by; ones if the table was not scaled.
    notes : tuple of str
        What else a reader should know.
    name : str
        What to call the table.
    seed : int or None
        The seed of the run, if reports are to name it.
    again : dict from str to float
        Of up to 50 rows: the leave-one-out scores with all parameters chosen again without the row that is left out.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (Table,)

    table: Table
    estimators: dict[str, KernelMean]
    unit: Array
    notes: tuple[str, ...]
    name: str = "the table"
    seed: int | None = None
    again: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The name of the estimator with the lowest leave-one-out score."""
        return min(self.estimators, key=lambda name: self.estimators[name].criterion_)

    def verdict(self) -> str:
        """Return which estimator, or estimators, have the lowest leave-one-out error, and by how much."""
        best = self.estimators[self.best]
        equal = [name for name, one in self.estimators.items() if not best.criterion_ < one.criterion_]
        if "kme" in equal:
            return "No estimator has a lower leave-one-out score than kme, the plain mean."
        names = f"{listed(equal[:-1])} and {equal[-1]} have" if len(equal) > 1 else f"{self.best} has"
        gain = self._told_gain(self.best)
        if not self.again:
            return (
                f"{names} the smallest leave-one-out error, {gain} below that of kme (optimistic: the parameters were "
                "fitted to this score)."
            )
        if self.relative_gain(self.best) <= 0.0:
            return (
                f"{names} the smallest leave-one-out error, but none below that of kme once the parameters are chosen "
                f"without the row left out: {count(len(self.table), 'row')} are too few to tell."
            )
        return (
            f"{names} the smallest leave-one-out error, {gain} below that of kme with parameters chosen without the "
            "row left out; of so few rows that is rough."
        )

    def embedding(self, name: str) -> Embedding:
        """Return an estimate in the units of the table, whatever units it was fitted in."""
        if name not in self.estimators:
            raise ValueError(f"estimator is {name!r}; write one of {listed(self.estimators)}")
        return rescaled(self.estimators[name].embedding_, self.unit)

    def parameters(self, name: str) -> dict[str, Any]:
        """Return what an estimator chose: λ, r, and the standard deviation of its noise in every column."""
        estimator = self.estimators[name]
        chosen: dict[str, Any] = {}
        if estimator.strength_ is not None:
            chosen["strength"] = float(estimator.strength_)
        if estimator.contraction is not None:
            chosen["contraction"] = float(estimator.contraction_)
        if isinstance(estimator.noise_, Normal):
            chosen["noise"] = np.sqrt(self.embedding(name).noise.variances(len(self.unit))).tolist()  # type: ignore[attr-defined]
        return chosen

    def describe(self) -> Description:
        """Return the estimator with the lowest leave-one-out score, and the scores and choices of all."""
        n, dim = self.table.values.shape
        header = ("estimator", "score", "error below kme", "noise sd", "other")
        facts = [("rows", f"{n:,}"), ("columns", f"{dim:,}"), ("score", "leave-one-out; lower is better")]
        again = "" if not self.again else " of parameters chosen without the row left out"
        facts.append(("error", f"squared distance to the kernel mean of the distribution, by the score{again}"))
        rows = []
        for name, fit in self.estimators.items():
            chosen, words = self.parameters(name), {"strength": "λ", "contraction": "r"}
            noise = number_range(chosen["noise"]) if "noise" in chosen else "none"
            other = ", ".join(f"{word} = {chosen[key]:.4g}" for key, word in words.items() if key in chosen)
            rows.append((name, f"{fit.loocv_:.8g}", self._told_gain(name), noise, other))
        grid = Grid("Scores and what was chosen", header, rows)
        return Description(f"Estimates of the kernel mean of {self.name}", self.verdict(), facts, (grid,), self.notes)

    def relative_gain(self, name: str) -> float:
        """Return how much smaller the estimated squared error of an estimator is than that of KME, as a share.

        Scores contain the spread of the rows, which no estimator changes; the error of KME is 1/n of its score. Of up
        to 50 rows the scores are those of ``again``: the lowest score would promise far too much.
        """
        gain = self.again["kme"] - self.again[name] if self.again else self.gain(name)
        return len(self.table) * gain / self.estimators["kme"].loocv_

    def _told_gain(self, name: str) -> str:
        share = self.relative_gain(name)
        digits = "z.2g" if abs(share) < 0.1 else "z.0f"
        return f"more than {percent(_MOST_TOLD)}" if share > _MOST_TOLD else signed(100.0 * share, digits) + " %"

    def gain(self, name: str) -> float:
        """Return how much lower the score of an estimator is than that of KME."""
        return float(self.estimators["kme"].loocv_ - self.estimators[name].loocv_)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how much lower the score of every estimator is than that of KME: ``plots.scores_below_kme``.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        return scores_below_kme({name: self.gain(name) for name in self.estimators}, ax=ax)

    def rows(self) -> list[dict[str, Any]]:
        """Return every estimator with its score; of a noise per column the smallest and largest standard deviation."""
        rows = []
        for name, fit in self.estimators.items():
            chosen = self.parameters(name)
            noise = chosen.get("noise", [0.0])
            scores = {"estimator": name, "loocv": fit.loocv_, "below_kme": self.gain(name)}
            others = {"strength": chosen.get("strength"), "contraction": chosen.get("contraction")}
            rows.append({**scores, "least_noise": min(noise), "most_noise": max(noise), **others})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the scores and parameters as plain names and numbers, for JSON."""
        scores = {
            name: {"loocv": fit.loocv_, "excess": fit.criterion_.excess, **self.parameters(name)}
            for name, fit in self.estimators.items()
        }
        return {
            "verdict": self.verdict(),
            "rows": len(self.table),
            "columns": list(self.table.names),
            "unit": self.unit.tolist(),
            "best": self.best,
            "error_below_kme": {name: self.relative_gain(name) for name in self.estimators},
            "estimators": scores,
            "notes": list(self.notes),
            "seed": self.seed,
        }


def fit_all(
    X: Any,
    *,
    bandwidth: Any = "median",
    scale: bool = True,
    keep: str | Iterable[str] = (),
    progress: Progress = SILENT,
) -> Fits:
    """Fit KME, S-KMSE, F-KMSE, MKME, MMKME and VPMKME to one table with the same kernel.

    Parameters
    ----------
    X : array of shape (n, d), data frame, path, or what :func:`kernelmean.read` returns
        At least two rows. Above 5,000 rows the estimators use landmarks, and a note says so.
    bandwidth : {"median", "median-unsquared", "silverman", "scott"} or float
        θ: a rule, or a number.
    scale : bool
        Whether to divide every column by its standard deviation.
    keep : str or iterable of str
        Integer columns to use although they look like identifiers.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.

    Raises
    ------
    ValueError
        When there are fewer than two rows, all columns are constant, or one looks like an identifier.

    Notes
    -----
    Of up to 50 rows all parameters are chosen again without each row, which takes three seconds for 50. O(n² d) time
    for a score, O(n³) for F-KMSE; O(n r (r + d)) with r = 512 landmarks. Constant columns are left out,
    and a note says so.

    Examples
    --------
    >>> fits = fit_all(np.random.default_rng(0).normal(size=(30, 2)))
    >>> fits.estimators["mmkme"].loocv_ <= fits.estimators["mkme"].loocv_ <= fits.estimators["kme"].loocv_
    True
    """
    table, remarks = _NEEDS.numbers(X, keep)
    deviations = table.deviations()
    unit = deviations if scale else np.ones_like(deviations)
    values = table.values / unit
    theta = bandwidth_from(values, bandwidth)
    if np.ndim(theta) and np.ptp(theta) <= _ROUNDING * np.max(theta):  # one for all columns if they are equal
        theta = float(np.mean(theta))
    chosen = {name: make for name, make in NAMED.items() if name != "vpmkme" or not np.ndim(theta)}
    fitted: dict[str, KernelMean] = {}
    features: Any = None if len(values) <= LIMIT else RANK
    left_out = len(values) if 2 < len(values) <= _FEW else 0
    for step, (name, make) in enumerate(chosen.items()):
        progress(name, step, len(chosen) + left_out)
        fitted[name] = make(Gaussian(theta), features=features).fit(values)
        features = fitted[name].features_  # one set of landmarks for all
    again = _chosen_again(chosen, Gaussian(theta), values, progress) if left_out else {}
    notes = [*remarks, *fitted["kme"].notes_]
    if len(chosen) < len(NAMED):
        notes.append("vpmkme is left out: it needs one bandwidth for all columns")
    if isinstance(theta, Bandwidth):
        notes.append(f"bandwidth {float(theta):.4g}: {theta.rule}")
    fits = Fits(table, fitted, unit, tuple(notes), again=again)
    return replace(fits, notes=(*notes, *_collapsed(fits)))


def _chosen_again(
    makers: Mapping[str, Callable[..., KernelMean]], kernel: Gaussian, values: Array, progress: Progress
) -> dict[str, float]:
    """Return the mean squared distance between every row and the estimates that were fitted without it."""
    scores = dict.fromkeys(makers, 0.0)
    for i in range(len(values)):
        progress(f"again without row {i + 1}", len(makers) + i, len(makers) + len(values))
        row, others = embed(values[i : i + 1], kernel), np.delete(values, i, axis=0)
        for name, make in makers.items():
            with warnings.catch_warnings(action="ignore"):  # the fits to all rows say the same
                mu = make(kernel).fit(others).embedding_
            scores[name] += (mu @ mu - 2.0 * (mu @ row) + row @ row) / len(values)
    return scores


def _collapsed(fits: Fits) -> Iterator[str]:
    """Yield notes if the best estimate is nearly zero, or has moved all rows to one point."""
    best, kme = fits.estimators[fits.best], fits.estimators["kme"].embedding_
    if best.embedding_ @ best.embedding_ < _NOTHING * (kme @ kme):
        yield (
            f"the estimate of {fits.best} is nearly zero: with this bandwidth rows have next to nothing in common, so "
            "leaving out their mean costs no more than estimating it; write a larger bandwidth"
        )
    if best.contraction is not None and best.contraction_ < _NOTHING:
        yield (
            f"the estimate of {fits.best} is one cloud around the mean (r = {best.contraction_:.2g}): no row is seen "
            "any more, only mean and spread"
        )


def rescaled(mu: Embedding, unit: Array) -> Embedding:
    """Return the embedding of the points times ``unit``, shape (d,): the same function in other units.

    Takes Gaussian kernels, without noise or with Gaussian noise of axis-aligned covariance.

    Examples
    --------
    >>> from kernelmean import embed
    >>> mu = embed([[1.0]], Gaussian(2.0), noise=Normal(0.25))
    >>> rescaled(mu, np.array([10.0]))
    Embedding(n=1, d=1, kernel=Gaussian(bandwidth=20.0), noise=Normal.diagonal([25.]))
    """
    if not isinstance(mu.kernel, Gaussian):
        raise TypeError(f"{mu.kernel!r} has no bandwidth per column; only Gaussian kernels change units")
    bandwidth = mu.kernel.bandwidth * unit if len(unit) > 1 else float(np.squeeze(mu.kernel.bandwidth * unit))
    parts = (PointPart(part.points * unit, part.weights, _rescaled_noise(part.noise, unit)) for part in mu.point_parts)
    return replace(mu, kernel=Gaussian(bandwidth), parts=tuple(parts))


def _rescaled_noise(noise: Noise, unit: Array) -> Noise:
    if isinstance(noise, Dirac):
        return noise
    if not isinstance(noise, Normal) or noise.form == "full":
        raise TypeError(f"{noise!r} has no variance per column; only such noises change units")
    return Normal.diagonal(noise.variances(len(unit)) * unit**2)
