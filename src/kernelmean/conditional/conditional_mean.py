"""The distribution of Y given x as a kernel mean: regression to distributions, as scikit-learn knows regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np
from scipy.special import ndtri
from scipy.stats.qmc import Sobol
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array, as_host, slices
from ..core.capped_qp import on_capped_simplex
from ..core.frozen import FrozenAttributes, sealed
from ..core.row_order import check_one_order
from ..core.validate import check_fraction, check_integer, check_numbers, check_points, validated
from ..core.words import count, listed, refuse
from ..density import KernelMeanMatching
from ..embedding.embedding import Embedding, embed
from ..embedding.features import nystrom
from ..estimators.base import KernelLike, make_kernel
from ..estimators.group_means import NAMED
from ..kernels.any_kernel import as_kernel
from ..kernels.base import Kernel, Stationary
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..noise.normal import Normal
from ..plan.plan import serial_blas
from .candidates import Curves, GaussianFeatures, KernelFeatures, PlainColumns, Quadratic, Radial
from .outcomes import OutcomeFeatures, best_fit, landmarks_of, noisy_quantiles, rising_steps
from .ridge import Kind, RidgeFits, ridges_of
from .rows import DealtRows, FitRows, ScaledColumns, rows_of
from .stacking import Stack, best_stack, kinds_of, r2_of
from .units import OutcomeUnits, in_cells

_RANK_X, _CELLS, _FEW, _NOISES = 500, 2**23, 50, 64
_SHORT = f"below {_FEW} rows intervals are too short: those of 90 % held .84 of outcomes with 40 rows, .6 with 8"
_ESTIMATORS = ("kme", "mkme", "mmkme")


@final
@dataclass(eq=False, repr=False)
class ConditionalMean(FrozenAttributes, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Estimate the kernel mean of Y given X = x: the whole conditional distribution, not its mean alone.

    :math:`\hat μ_{Y|x} = Σ_i w_i(x) \, E\, k(y_i + ε, ·)`, where w(x) are the weights of a stack of ridge regressions;
    or the same of what the predicted mean leaves of the outcomes, with that mean added.

    Parameters
    ----------
    kernel_y : {"gaussian"}, Kernel, or a class of kernels such as ``kernels.Laplacian``
        k, of the outcomes.
    kernel_x : Kernel, optional
        One kernel for the rows of X as they are, instead of the stack of seven kinds of regression.
    bandwidth : rule, float or array of shape (q,)
        θ of ``kernel_y``, as in :class:`kernelmean.KernelMean`; a rule is that of what the predicted mean leaves.
    estimator : {"kme", "mkme", "mmkme"}
        Which noise ε the outcomes get: none, isotropic noise, or noise in proportion to the residual variance of each
        column of Y. Its variance is chosen together with the weights.
    about_mean : {"loocv", True, False}
        Whether the weights are those of what the predicted mean leaves of the outcomes, :math:`y_i - \hat f_{-i}(x_i)`,
        to which the predicted mean is added: for outcomes that move with x. "loocv": whether that has the smaller
        ``loocv_``. Without it, the estimate is made of the outcomes themselves, as categories need it.
    noise_x : Noise, optional
        Noise of the rows of X, shared by all: needs ``kernel_x``.
    random_state : int, RandomState instance or None
        Draws landmarks, folds and, beyond 500 rows, the rows that strengths and weights are chosen on.

    Attributes
    ----------
    kinds_ : dict from str to float
        The weight of every kind of regression.
    kernel_, noise_ : Kernel, Noise
        Of the outcomes.
    about_mean_ : bool
        What was chosen.
    points_ : array of shape (n, q) or (units, q)
        What the weights are of: the outcomes, or what is left of them; of many rows, means of units of rows.
    loocv_ : float
        The mean squared distance in the RKHS between :math:`k(y_i, ·)` and the estimate at x_i without row i; of many
        rows, over 5,000 drawn at random. So are the next two.
    r2_ : float
        One minus ``loocv_`` over that of the estimate that ignores x: how much x says about the distribution of Y.
    r2_mean_ : array of shape (q,)
        The same of the columns of Y and their predicted means. Strengths and weights are chosen on the same rows, so
        both are optimistic for few rows: above 0, perhaps, where x says nothing.
    notes_ : tuple of str
        What stands for the kernels and for many rows, and where rows are too few for intervals.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    λ of every kind, their weights and the noise minimize ``loocv_`` over axes with all but a thousandth of the variance
    of k(y, ·): with landmarks, learned axes, λ and weights as they are, leaving row i out is exact, but that with
    ``about_mean_`` what is left of the other outcomes is from fits that have seen row i; of few rows that makes
    ``loocv_`` some percent too large. Kinds: linear, products of degree 2, a curve of every column, Gaussian kernels
    (two widths), a Gaussian kernel on learned axes, curves of learned columns, and the constant. Columns of X are
    divided by their deviations; for mixed columns write ``make_pipeline(TableEncoder(), ...)``. O(n m (m + q)) time for
    m = 120 landmarks.

    Beyond 20,000 rows, whatever holds them, rows are read three times, a few at a time; ``read(X, in_memory=True)``
    takes all as fewer. First 5,000 rows are drawn, by which all is chosen as above. Then features of all rows are added
    up, so that predicted means are exact. Last, rows are dealt to the nearest of 2,000 outcomes: units, with the sums
    of the weights of their rows, and their mean outcome; samples are outcomes of the rows drawn. Memory does not grow.

    Conditional mean embeddings: Song, Huang, Smola & Fukumizu (2009); Park & Muandet (2020). Weights are made
    non-negative for all but ``weights`` and ``embedding``, see ``probabilities``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, size=(300, 1))
    >>> y = np.sin(X[:, 0]) + (0.1 + 0.2 * np.abs(X[:, 0])) * rng.normal(size=300)
    >>> model = ConditionalMean().fit(X, y)
    >>> low, high = model.interval([[0.0], [2.0]]).T
    >>> model.predict([[0.0]]).round(1) + 0.0, bool(high[1] - low[1] > 1.5 * (high[0] - low[0]))
    (array([0.]), True)
    """

    holds: ClassVar = (
        *(Stack, RidgeFits, DealtRows, ScaledColumns, OutcomeUnits),
        *(PlainColumns, Quadratic, Curves, Radial, GaussianFeatures, KernelFeatures),
    )
    kernel_y: KernelLike = "gaussian"
    _: KW_ONLY
    kernel_x: Kernel | None = None
    bandwidth: Any = "median"
    estimator: str = "kme"
    about_mean: bool | str = "loocv"
    noise_x: Noise | None = None
    random_state: Any = 0
    kernel_: Kernel = field(init=False)
    noise_: Noise = field(init=False)
    loocv_: float = field(init=False)
    r2_: float = field(init=False)
    r2_mean_: Array = field(init=False)
    notes_: tuple[str, ...] = field(init=False)
    stack_: Stack = field(init=False)
    mean_stack_: Stack = field(init=False)
    scaling_: ScaledColumns = field(init=False)
    dealt_: DealtRows = field(init=False)
    units_: OutcomeUnits = field(init=False)
    about_mean_: bool = field(init=False)
    single_: bool = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the distribution of the outcomes given the rows of ``X``.

        Parameters
        ----------
        X : array or data frame of shape (n, d), or what :func:`kernelmean.read` takes (files, batches, Dask tables)
            At least two rows.
        y : the same, of shape (n,) or (n, q)
            The outcomes: row i of X and row i of y are one observation. A single column that is read batch by batch
            counts as (n,). What can be read only once is put into a temporary file.

        Raises
        ------
        ValueError, TypeError, OSError
            When X or y is not a finite table of numbers, their rows are not as many, all outcomes are equal, or
            options do not go together, and as :func:`kernelmean.read`.
        """
        self._check_options()
        check_one_order(X, y, ("X", "y"))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        with serial_blas, rows_of(self, X, y, int(rng.spawn(1)[0].integers(2**31))) as (rows, self.single_):
            self._estimate(rows, rng)
        return self

    def _check_options(self) -> None:
        if self.estimator not in _ESTIMATORS:
            raise ValueError(f"estimator is {self.estimator!r}; write one of {listed(map(repr, _ESTIMATORS))}")
        if self.about_mean not in (True, False, "loocv"):
            raise ValueError(f"about_mean is {self.about_mean!r}; write 'loocv', True or False")
        if self.kernel_x is not None and not isinstance(as_kernel(self.kernel_x), Kernel):
            raise TypeError(f"kernel_x is {self.kernel_x!r}; pass a kernel such as kernels.Gaussian(1.0), or None")
        if self.kernel_x is None:
            refuse("noise of x needs a kernel; pass kernel_x=", noise_x=(self.noise_x, None))

    def _estimate(self, rows: FitRows, rng: np.random.Generator) -> None:
        targets = rows.targets(rows.overview.rows)
        self.scaling_ = scaling = rows.scaling(plain=self.kernel_x is not None)
        self.dealt_ = dealt = rows.dealt(scaling, rng)
        outcomes, variance = targets.values, rows.overview.variance[rows.split :]
        shares = 1.0 / np.where(variance > 0.0, variance, 1.0)
        features = landmarks_of(make_kernel(self.kernel_y, self.bandwidth, outcomes), outcomes, dealt)(outcomes)
        kinds = self._kinds(dealt, np.hstack([outcomes * np.sqrt(shares), features]))
        ridges = ridges_of(kinds, ((block.rows, y.values) for block, y in rows.blocks(scaling)), targets.mean)
        self.mean_stack_ = best_stack(ridges, dealt, targets, shares)
        left = self.mean_stack_.errors(dealt, targets)
        self.r2_mean_ = sealed(r2_of(left, targets))
        self.kernel_ = make_kernel(self.kernel_y, self.bandwidth, left if np.ptp(left) > 0.0 else outcomes)
        if self.about_mean is True and not isinstance(self.kernel_, Stationary):
            raise ValueError(f"about_mean is True, and {self.kernel_!r} is no kernel of differences; write 'loocv'")
        kept = [outcomes, left] if self.about_mean and isinstance(self.kernel_, Stationary) else [outcomes]
        blocks = self._outcomes(rows, about=len(kept) > 1)
        singles = [(OutcomeUnits.single(each), ridges) for each in kept]
        units = in_cells(ridges, kept, blocks) if dealt.drawn else singles
        landmarks = [landmarks_of(self.kernel_, values, dealt) for values in kept]
        choices = [OutcomeFeatures(y, marks, *unit) for y, marks, unit in zip(kept, landmarks, units, strict=True)]
        self._choose(choices, NAMED[self.estimator][0]((left**2).mean(axis=0)))

    def _outcomes(self, rows: FitRows, *, about: bool) -> Iterator[tuple[Array, Sequence[Array]]]:
        """Yield all rows scaled, with the outcomes and, if asked for, what is left of them without the row."""
        for block, targets in rows.blocks(self.scaling_):
            left = (self.mean_stack_.errors(block, targets),) if about else ()
            yield block.rows, (targets.values, *left)

    def _choose(self, choices: Sequence[OutcomeFeatures], noises: Sequence[Noise]) -> None:
        """Choose between the outcomes and what is left of them, and among noises, by leave-one-out scores."""
        plain, dealt = choices[0], self.dealt_
        allowed = choices[1:] if self.about_mean is True else choices
        best, self.noise_, self.stack_, self.loocv_ = best_fit(dealt, allowed, noises)
        without_x = (plain.with_noise(noise)[0] for noise in noises)
        constant = min(plain.loss(targets.constant_errors(), targets) for targets in without_x)
        self.units_, self.about_mean_, self.r2_ = best.units, best is not plain, 1.0 - self.loocv_ / constant
        notes = [f"{plain.landmarks.summary} stand for the kernel of y"]
        if dealt.drawn:
            notes.append(
                f"{len(self.points_):,} units stand for {dealt.n_rows:,} rows: points_, and what predict(X, f) takes f "
                f"of, are means of rows with like outcomes; scores are over {len(dealt.rows):,} rows drawn at random"
            )
        self.notes_ = (*notes, *((_SHORT,) if dealt.n_rows < _FEW else ()))

    def _kinds(self, dealt: DealtRows, targets: Array) -> list[Kind]:
        if self.kernel_x is None:
            return kinds_of(dealt, targets)
        map_x = nystrom(self.kernel_x.resolved(dealt.rows), dealt.rows[dealt.order[:_RANK_X]], _RANK_X)
        noise = Dirac() if self.noise_x is None else self.noise_x
        map_x.check_noise(noise)
        return [(KernelFeatures(map_x, noise), None)]

    @property
    def points_(self) -> Array:
        """What the weights are of: outcomes or what is left of them, means of units where there are many."""
        check_is_fitted(self)
        return self.units_.points

    @property
    def kinds_(self) -> dict[str, float]:
        """The weight of every kind of regression."""
        check_is_fitted(self)
        names = (*(ridge.features.name for ridge in self.stack_.ridges), "constant")
        return dict(zip(names, self.stack_.weights[:, 0].tolist(), strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _scaled(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.scaling_(as_host(validated(self, X, reset=False)))

    def weights(self, X: Any) -> Array:
        """Return the weights of ``points_`` at the rows of ``X``, shape (m, n).

        They sum to 1 and may be negative: the estimate is the best in the RKHS, not among distributions. With
        ``about_mean_`` the points are what the predicted mean leaves of the outcomes: outcomes with these weights at
        the row ``X[i]`` are ``model.predict(X)[i] + model.points_``.
        """
        return self._weights(self._scaled(X))

    def _weights(self, rows: Array) -> Array:
        with serial_blas:
            return self.stack_.smoother(rows, self.dealt_, self.units_.shares)

    def probabilities(self, X: Any) -> Array:
        """Return non-negative weights of ``points_`` that sum to 1, shape (m, n): of samples, means and densities.

        Of one column of outcomes they are the steps of a distribution function; of several, the nearest of all weights.
        """
        return self._probabilities(self._scaled(X))

    def _probabilities(self, rows: Array) -> Array:
        weights = self._weights(rows)
        if self.points_.shape[1] > 1:
            return np.stack([on_capped_simplex(row, 1.0) for row in weights])
        order = np.argsort(self.points_[:, 0], kind="stable")
        probabilities = np.empty_like(weights)
        probabilities[:, order] = rising_steps(weights[:, order])
        return probabilities

    def embedding(self, x: Any) -> Embedding:
        """Return the kernel mean of the outcomes given one row ``x``, shape (d,) or (1, d)."""
        return self._embedded(x, self._weights)

    def _embedded(self, x: Any, weights: Callable[[Array], Array]) -> Embedding:
        row = self._scaled(np.asarray(x)[None] if np.ndim(x) < 2 else x)
        if len(row) != 1:
            raise ValueError(f"x has {count(len(row), 'row')}, and an embedding is that of one; pass X[[i]]")
        return embed(self.points_ + self._shifts(row), self.kernel_, weights=weights(row)[0], noise=self.noise_)

    def _shifts(self, rows: Array) -> Array:
        """Return what is added to the points at scaled rows, shape (m, q): the predicted means, or nothing."""
        if not self.about_mean_:
            return np.zeros((len(rows), self.points_.shape[1]))
        with serial_blas:
            return self.mean_stack_.predict(rows)

    def predict(self, X: Any, f: Callable[[Array], Any] | None = None) -> Array:
        """Return the conditional means of outcomes, or of a function of them, at the rows of ``X``.

        That of a function is over the distribution that ``sample`` draws from: probabilities and variances are not
        negative. Without f it is a regression of its own, near the mean of this distribution.

        Parameters
        ----------
        X : array or data frame of shape (m, d)
        f : function, optional
            Of any number of outcomes, in the shape that those of the fit had, to an array of shape (n,) or (n, k). With
            ``about_mean_`` they are predicted means plus ``points_``, and may lie beyond all outcomes that occurred.

        Returns
        -------
        array of shape (m,), (m, q) or (m, k)
        """
        rows = self._scaled(X)
        if f is None:
            with serial_blas:
                return self._shaped(self.mean_stack_.predict(rows))
        deviations = self._noise_deviations()
        gaps = (
            deviations * ndtri(Sobol(len(deviations), seed=0).random(_NOISES)) if deviations.any() else deviations[None]
        )
        predictions, shifts = [], self._shifts(rows)
        for block in slices(len(rows), max(1, _CELLS // (8 * len(self.points_) * len(gaps)))):
            weights = self._probabilities(rows[block])
            at, units = np.nonzero(weights)
            outcomes = ((shifts[block][at] + self.points_[units])[:, None] + gaps).reshape(-1, gaps.shape[1])
            values = np.asarray(f(self._shaped(outcomes)), dtype=np.float64)
            if values.ndim not in (1, 2) or len(values) != len(outcomes):
                raise ValueError(f"f returned the shape {values.shape}; it must return a row for each outcome")
            means = as_host(check_points(values, "f(y)")).reshape(len(at), len(gaps), -1).mean(axis=1)
            sums = np.add.reduceat(weights[at, units, None] * means, np.flatnonzero(np.diff(at, prepend=-1)))
            predictions.append(sums.reshape(-1, *values.shape[1:]))
        return np.concatenate(predictions)

    def _noise_deviations(self) -> Array:
        """Return the deviations of the noise of the outcomes, shape (q,)."""
        q = self.points_.shape[1]
        return np.sqrt(self.noise_.variances(q)) if isinstance(self.noise_, Normal) else np.zeros(q)

    def _shaped(self, values: Array) -> Array:
        """Return values without their last axis where y had one axis."""
        return values[..., 0] if self.single_ else values

    def quantiles(self, X: Any, levels: Any) -> Array:
        """Return conditional quantiles of every column of the outcomes, shape (m, levels), or (m, levels, q).

        Between outcomes they are interpolated; with noise they are those of the noisy outcomes.
        """
        levels = check_numbers(levels, "levels", finite=False)
        if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"levels is {levels.tolist()}; pass numbers between 0 and 1, such as [0.1, 0.5, 0.9]")
        rows, q = self._scaled(X), self.points_.shape[1]
        quantiles = np.empty((len(rows), len(levels), q))
        for block in slices(len(rows), max(1, _CELLS // (len(self.points_) * len(levels)))):
            weights = self._weights(rows[block])
            for column in range(q):
                quantiles[block, :, column] = self._quantiles(weights, column, levels)
        return self._shaped(quantiles + self._shifts(rows)[:, None])

    def _quantiles(self, weights: Array, column: int, levels: Array) -> Array:
        order = np.argsort(self.points_[:, column], kind="stable")
        values, steps = self.points_[order, column], rising_steps(weights[:, order])
        if deviation := float(self._noise_deviations()[column]):
            return noisy_quantiles(values, steps, deviation, levels)
        middles = np.cumsum(steps, axis=1) - steps / 2.0
        return np.stack([np.interp(levels, m[w > 0], values[w > 0]) for m, w in zip(middles, steps, strict=True)])

    def interval(self, X: Any, level: float = 0.9) -> Array:
        """Return the lower and upper ends of intervals that hold the outcome with a probability, shape (m, 2[, q])."""
        level = check_fraction(level, "level", 0.9)
        return self.quantiles(X, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])

    def sample(self, X: Any, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw outcomes given each row of ``X``, shape (m, n_samples), or (m, n_samples, q)."""
        check_integer(n_samples, "n_samples", 1)
        rows = self._scaled(X)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
        drawn = np.stack([rng.choice(len(w), n_samples, p=w / w.sum()) for w in self._probabilities(rows)])
        points = self.units_.drawn(drawn, rng) + self._shifts(rows)[:, None]
        return self._shaped(self.noise_.sample(points.reshape(drawn.size, -1), rng).reshape(points.shape))

    def density(self, x: Any, n_components: int = 5) -> KernelMeanMatching:
        """Return the Gaussian mixture whose kernel mean matches that of the outcomes given one row ``x``."""
        embedding = self._embedded(x, self._probabilities)
        return KernelMeanMatching(n_components, update="weights").fit_embedding(embedding)
