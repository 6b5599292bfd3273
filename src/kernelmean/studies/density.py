"""Density estimates side by side on held-out rows: the library behind ``kernelmean density``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from ..core.array import SILENT, Array, Progress, RngLike, as_rng
from ..core.frozen import Frozen
from ..core.table import Table, as_table, named_frame
from ..core.words import count, listed
from ..density import GaussianMixture, KernelMeanMatching, KMeansPrototypes, settings
from ..density.recipe import Trial
from ..density.sample import scales_as_they_are, unlike_scales
from ..embedding.embedding import Embedding
from ..inference import TestResult
from ..inference.adaptive.kinds import LEVEL
from ..kernels import Gaussian
from ..known import fit_test
from ..report.description import Description, Grid
from .numbers import Needs
from .plots.density import density_pairs
from .study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOLDS = 5
_TIED = 0.1
"""Share of the rows from which on one value of a column is told."""
_CLEAR = 2.0
"""Standard errors beyond which a difference of losses counts."""
_COMPONENTS = (1, 2, 3, 5, 10, 20)
_WHY = " to hold some out and compare densities; KernelMeanMatching(1).fit(X) in Python fits one to fewer"
_NEEDS = Needs("density", 2 * _FOLDS, _WHY, "a constant has no density")


@final
@dataclass(frozen=True)
class Candidate:
    """One density estimate."""

    name: str
    loss: float
    """The mean negative log density of the held-out rows, in nats, in the scale of the fit; lower is better."""
    error: float
    """Its standard error over the held-out rows."""
    choice: str
    """The parameters chosen on the training rows."""
    seconds: float
    """The time of the fit, including the choice of parameters."""
    behind: float = 0.0
    behind_error: float = 0.0
    """The mean loss minus that of the best candidate, and the standard error of this difference, computed row by row;
    both are 0 for the best."""

    @property
    def clearly_behind(self) -> bool:
        """Whether the best candidate is better by more than two standard errors of the difference."""
        return bool(self.behind > _CLEAR * self.behind_error)

    @property
    def told_behind(self) -> str:
        """How far it is behind the best, as a table shows it."""
        return f"{self.behind:.3f} ± {self.behind_error:.3f}" if self.behind else "–"


@final
@dataclass(frozen=True, eq=False)
class Densities(Frozen, Study):
    """Density estimates of one table.

    Attributes
    ----------
    table : Table
        The table, without constant columns, in its own units.
    sizes : (int, int)
        The numbers of training and held-out rows.
    candidates : tuple of Candidate
        The density estimates, lowest loss first.
    model : KernelMeanMatching
        Kernel mean matching with the chosen parameters, fitted to all rows in the scale of the fit: it takes rows less
        ``center`` over ``unit``. ``score_samples``, ``sample`` and ``mixture`` are in the units of the table.
    center, unit : arrays of shape (d,)
        What was subtracted from every column, and what it was then divided by.
    notes : tuple of str
        What else a reader should know.
    name : str
        What to call the table.
    seed : int or None
        The seed of the run, if reports are to name it.
    check : TestResult or None
        Whether the held-out rows come from the mixture that was fitted to the training rows, if it was asked.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (
        *(Candidate, Table, KernelMeanMatching, KMeansPrototypes, GaussianMixture, Trial, TestResult),
        *(TestResult.holds or ()),
    )

    table: Table
    sizes: tuple[int, int]
    candidates: tuple[Candidate, ...]
    model: KernelMeanMatching
    center: Array
    unit: Array
    notes: tuple[str, ...]
    name: str = "the table"
    seed: int | None = None
    check: TestResult | None = None

    def verdict(self) -> str:
        """Return in one sentence which density describes the held-out rows best, and whether that is clear."""
        best, *others = self.candidates
        rows = f"{count(self.sizes[1], 'row')} held out"
        near = [best.name, *(other.name for other in others if not other.clearly_behind)]
        if len(near) > 1:
            return f"{listed(near[:-1])} and {near[-1]} describe {rows} equally well, as far as so many rows can tell."
        return f"{best.name} describes {rows} best: {best.loss:.4g} nats a row."

    @property
    def scaled(self) -> bool:
        """Whether the columns were standardised."""
        return bool((self.unit != 1.0).any())

    def mixture(self) -> GaussianMixture:
        """Return the fitted mixture in the units of the table."""
        fitted = self.model.mixture
        scale = self.unit if fitted.covariances.ndim == 2 else np.outer(self.unit, self.unit)
        covariances = fitted.covariances * (scale**2 if fitted.covariances.ndim == 2 else scale)
        return GaussianMixture(fitted.weights, fitted.means * self.unit + self.center, covariances)

    def marginal(self, index: Sequence[int]) -> GaussianMixture:
        """Return the mixture of some columns, in the units of the table."""
        whole, chosen = self.mixture(), list(index)
        axes = whole.covariances.ndim == 2
        covariances = whole.covariances[:, chosen] if axes else whole.covariances[:, chosen][:, :, chosen]
        return GaussianMixture(whole.weights, whole.means[:, chosen], covariances)

    def embedding(self) -> Embedding:
        """Return the kernel mean of the mixture, in the units of the table, with the density and draws of the model.

        The kernel is that of the fit, with one bandwidth for each column.
        """
        bandwidth = np.broadcast_to(np.asarray(self.model.bandwidth_), self.unit.shape) * self.unit
        return self.mixture().embedding(Gaussian(bandwidth))

    def score_samples(self, X: Any) -> Array:
        """Return the log density of rows, under the model and in the units of the table, shape (m,).

        Parameters
        ----------
        X : array of shape (m, d), or data frame
            Rows with the columns of ``table``; those of a data frame are found by name, and others do not count.

        Raises
        ------
        ValueError
            When a column is missing, or a cell.

        Notes
        -----
        O(m K d²) time for K components, O(m K d) where each has a variance for every column.

        Examples
        --------
        >>> fits = fit_densities(np.random.default_rng(0).normal(100.0, 5.0, size=(60, 1)), n_components=[1])
        >>> fits.score_samples([[100.0], [130.0]]).round(1)
        array([ -2.4, -24.2])
        """
        frame = named_frame(X, "X")
        rows = as_table(X, "X") if frame is None else frame.select(self.table.names).to_table()
        if rows.values.shape[1] != len(self.table.names):
            raise ValueError(
                f"X has {count(rows.values.shape[1], 'column')}; pass those of the table, in this order: "
                f"{listed(self.table.names)}"
            )
        return self.mixture().logpdf(rows.values)

    def sample(self, n: int, rng: RngLike = None) -> Array:
        """Draw rows from the model, in the units of the table, shape (n, d)."""
        return self.mixture().sample(n, as_rng(rng))

    def plot(self, columns: Sequence[str] = ()) -> Figure:
        """Draw the model beside the data, for every column and pair of columns: ``plots.density_pairs``.

        ``columns`` are some of the table's; by default the first five.
        """
        return density_pairs(self, columns)

    def describe(self) -> Description:
        """Return which density is best on the held-out rows, and the losses of all."""
        rows = [
            (c.name, c.choice, f"{c.loss:.3f}", f"{c.error:.3f}", c.told_behind, f"{c.seconds:.1f}")
            for c in self.candidates
        ]
        header = ("density", "chosen on the training rows", "nats a row", "error", "behind the best", "seconds")
        grid = Grid("Losses on the rows held out, the best first", header, rows, 2, strong=frozenset({(0, 2)}), names=0)
        return Description(f"Densities of {self.name}", self.verdict(), self.facts(), (grid,), self.notes)

    def facts(self) -> list[tuple[str, str]]:
        """Return the numbers of rows, and what the loss is."""
        fit, held = self.sizes
        unit = "columns standardised" if self.scaled else "columns in their own units"
        return [
            ("rows", f"{fit:,} to fit, {held:,} held out; {count(len(self.table.names), 'column')}"),
            ("loss", f"mean negative log density of the rows held out, {unit}; lower is better"),
            *([] if self.check is None else [("check", self._checked(self.check))]),
        ]

    def _checked(self, check: TestResult) -> str:
        verb = "do not come" if check.pvalue <= LEVEL else "may come"
        return f"the rows held out {verb} from the fitted mixture: p = {check.origin}"

    def rows(self) -> list[dict[str, Any]]:
        """Return every density, the best first."""
        names = ("loss", "error", "behind", "behind_error", "choice", "seconds")
        return [{"density": one.name, **{name: getattr(one, name) for name in names}} for one in self.candidates]

    def to_dict(self) -> dict[str, Any]:
        """Return the losses and the mixture as plain names and numbers, for JSON."""
        mixture = self.mixture()
        return {
            "verdict": self.verdict(),
            "rows": {"training": self.sizes[0], "held out": self.sizes[1]},
            "columns": list(self.table.names),
            "center": self.center.tolist(),
            "unit": self.unit.tolist(),
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "mixture": {
                "weights": mixture.weights.tolist(),
                "means": mixture.means.tolist(),
                "covariances": mixture.covariances.tolist(),
            },
            "notes": list(self.notes),
            "seed": self.seed,
            "check": None if self.check is None else self.check.to_dict(),
        }


def fit_densities(
    X: Any,
    *,
    estimator: str | None = None,
    n_components: Sequence[int] = (),
    covariance_type: str | None = None,
    held_out: float = 0.3,
    scale: bool = True,
    keep: str | Iterable[str] = (),
    check: bool = False,
    rng: RngLike = 0,
    progress: Progress = SILENT,
) -> Densities:
    """Fit kernel mean matching and scikit-learn's densities to a part of the rows, and compare them on the rest.

    Every choice (number of components, kind of covariance, bandwidth, floor of the variances) is made by
    cross-validation in five folds of the training rows; the held-out rows serve only for the losses.

    Parameters
    ----------
    X : array of shape (n, d), data frame, path, or what :func:`kernelmean.read` returns
        At least ten rows.
    estimator : {"kme", "s-kmse", "f-kmse", "mkme", "mmkme", "vpmkme"}, optional
        The estimator of the kernel mean that is matched. If you pass it, ``n_components`` or ``covariance_type``, only
        joint fits with these are tried; otherwise :func:`kernelmean.density.settings`.
    n_components : sequence of int
        Numbers of components to try, of kernel mean matching and of scikit-learn's mixture.
    covariance_type : {"spherical", "diag", "tied", "full"}, optional
    held_out : float
        The share of the rows to hold out, between 0 and 1.
    scale : bool
        Whether to subtract the mean of every column and divide by its standard deviation, both of the training rows.
    keep : str or iterable of str
        Integer columns to use although they look like identifiers.
    check : bool
        Whether to test by :func:`kernelmean.fit_test` if the held-out rows come from the mixture of the training rows.
    rng : int or Generator
        Draws the rows to hold out, and seeds the fits.
    progress : callable, optional
        Called with what comes next, the steps done, and the steps in all.

    Raises
    ------
    ValueError
        When there are fewer than ten rows, all columns are constant, one looks like an identifier, or an option is out
        of range.

    Examples
    --------
    >>> table = np.random.default_rng(0).normal(size=(60, 1))
    >>> fits = fit_densities(table, estimator="mkme", n_components=[1, 2])
    >>> fits.sizes, fits.model.n_components_, fits.sample(3, rng=0).shape
    ((42, 18), 1, (3, 1))
    """
    table, notes = _NEEDS.numbers(X, keep)
    if not 0.0 < held_out < 1.0:
        raise ValueError(f"held_out is {held_out}; a share of the rows between 0 and 1 is needed")
    generator = as_rng(rng)
    order = generator.permutation(len(table))
    n_test = int(np.clip(round(held_out * len(table)), 1, len(table) - _FOLDS))
    seed = int(generator.integers(2**31))
    train = table.take(order[n_test:])
    center = train.values.mean(axis=0) if scale else np.zeros(len(table.names))
    unit = train.deviations() if scale else np.ones(len(table.names))
    fit, held = ((rows - center) / unit for rows in (train.values, table.values[order[:n_test]]))
    searches: dict[str, _Search] = {
        "kernel mean matching": partial(_matching, estimator, tuple(n_components), covariance_type, seed),
        "GaussianMixture": partial(_gaussian_mixture, tuple(n_components), seed),
        "KernelDensity": partial(_kernel_density, seed),
    }
    fits = []
    with scales_as_they_are():  # a note tells
        for name, search in searches.items():
            fits.append(_measured(name, search, fit, held, progress))
        model = clone(fits[0][2]).fit((table.values - center) / unit)
    test = fit_test(held, fits[0][2], rng=generator) if check else None
    (best, least, _), *others = sorted(fits, key=lambda one: one[0].loss)
    behind = (replace(c, behind=c.loss - best.loss, behind_error=_standard_error(x - least)) for c, x, _ in others)
    unlike = () if scale else (unlike_scales(table.values, table.names),)
    found_notes = (*notes, *filter(None, unlike), *_ties(table))
    return Densities(table, (len(fit), len(held)), (best, *behind), model, center, unit, found_notes, check=test)


def _ties(table: Table) -> Iterator[str]:
    """Yield notes on columns of many values of which one takes so many rows that no density has it."""
    for name, cells in zip(table.names, table.values.T, strict=True):
        values, counts = np.unique(cells, return_counts=True)
        most = int(np.argmax(counts))
        if len(values) > _COMPONENTS[-1] and counts[most] > _TIED * len(cells):
            yield (
                f"{counts[most]:,} of {count(len(cells), 'row')} have the same {name}, {values[most]:.6g}: a density "
                "spreads such ties over a range"
            )


_Steps = Callable[[int, int], object]
"""Is told the steps done, and the steps in all."""
_Search = Callable[[_Steps, Array], tuple[Any, str]]
"""From training rows to a fitted model, and its chosen parameters in words."""


def _measured(name: str, search: _Search, fit: Array, held: Array, progress: Progress) -> tuple[Candidate, Array, Any]:
    start = time.perf_counter()
    with threadpool_limits(1):  # hundreds of small fits: threads would only wait for each other
        model, choice = search(partial(progress, name), fit)
    seconds = time.perf_counter() - start
    losses = -model.score_samples(held)
    return Candidate(name, float(losses.mean()), _standard_error(losses), choice, seconds), losses, model


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _searched(model: Any, grid: Any, X: Array, seed: int, folds: int, progress: _Steps) -> Any:
    """Return the finished search; steps are components, as the time of a fit grows with their number."""
    from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid  # slow to import

    done = 0
    total = folds * sum(setting.get("n_components", 1) for setting in ParameterGrid(grid))
    parts = KFold(folds, shuffle=True, random_state=seed)
    progress(done, total)

    def scored(fitted: Any, rows: Array, _: None = None) -> float:
        nonlocal done
        done += fitted.get_params().get("n_components", 1)
        progress(done, total)
        return float(fitted.score(rows))

    return GridSearchCV(model, grid, scoring=scored, cv=parts, error_score="raise").fit(X)


def _matching(
    estimator: str | None,
    components: tuple[int, ...],
    covariance: str | None,
    seed: int,
    progress: _Steps,
    X: Array,
) -> tuple[Any, str]:
    """Choose among recommended settings of kernel mean matching, or among joint fits with what was named."""
    possible = components or [K for K in _COMPONENTS if len(X) // 2 >= K]
    named = {"estimator": [estimator or "mkme"], "covariance_type": [covariance or "spherical"]}
    grid = [named | {"n_components": possible}] if estimator or components or covariance else settings(X, _COMPONENTS)
    best = _searched(KernelMeanMatching(random_state=seed), grid, X, seed, _FOLDS, progress).best_estimator_
    update = "weights" if best.update == "weights" else "joint fit"
    return best, f"{count(best.n_components_, 'component')}, {best.covariance_type}, {update} to {best.estimator}"


def _gaussian_mixture(components: tuple[int, ...], seed: int, progress: _Steps, X: Array) -> tuple[Any, str]:
    from sklearn.mixture import GaussianMixture  # slow to import

    grid = {
        "n_components": components or [K for K in _COMPONENTS if len(X) // 2 >= K],
        "covariance_type": ["spherical", "diag", "tied", "full"],
        "reg_covar": [0.01, 0.1],
    }
    search = _searched(GaussianMixture(random_state=seed % 2**31), grid, X, seed, _FOLDS, progress)
    chosen = search.best_params_
    return search.best_estimator_, f"{count(chosen['n_components'], 'component')}, {chosen['covariance_type']}"


def _kernel_density(seed: int, progress: _Steps, X: Array) -> tuple[Any, str]:
    from sklearn.neighbors import KernelDensity  # slow to import

    search = _searched(KernelDensity(), {"bandwidth": list(np.logspace(-1.5, 0.5, 25))}, X, seed, _FOLDS, progress)
    return search.best_estimator_, f"bandwidth {search.best_params_['bandwidth']:.3g}"
