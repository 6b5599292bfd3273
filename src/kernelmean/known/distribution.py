"""A known distribution as a value: how rows are drawn from it, and its kernel mean where it is a mixture."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.array import Array
from ..core.type_rules import NoClosedFormError
from ..core.validate import check_points, names_in
from ..core.words import count
from ..density import GaussianMixture, KernelMeanMatching
from ..embedding.embedding import Embedding, embed
from ..kernels import Gaussian, Kernel
from ..noise import Dirac, Noise, Normal
from ..noise.normal import as_normal

_ANY = Gaussian(1.0)
"""The kernel of mixtures that are kept as embeddings; another one replaces it."""
_OF_ONE = 1e-9
_TAKEN = (
    "pass a scipy.stats distribution such as norm(0, 1) or Normal(), a fitted GaussianMixture or KernelMeanMatching, "
    "km.embed(means, kernel, weights=weights, noise=km.noise.Normal(covariances)), or a function (n, rng) that returns "
    "n rows"
)
_SEVERAL = (
    "with arrays of parameters, which are several distributions of one number; pass numbers, or for rows of several "
    "columns a function (n, rng) that returns n rows"
)


@final
@dataclass(frozen=True, eq=False)
class KnownDistribution:
    """A distribution that rows can be drawn from.

    Attributes
    ----------
    name : str
        What to call it.
    draw : callable
        From a number of rows and a generator to these rows.
    mixture : Embedding or None
        The same distribution as noisy weighted points, which have exact kernel means; the kernel has no meaning.
    """

    name: str
    draw: Callable[[int, np.random.Generator], Any]
    mixture: Embedding | None = None

    @classmethod
    def of(cls, distribution: Any, name: str = "distribution") -> Self:
        """Return what a caller passed as a known distribution.

        Raises
        ------
        TypeError, ValueError
            When it is none, a sample, a family whose parameters are not fixed, a model that is not fitted, or a mixture
            whose weights are negative or do not sum to one.
        """
        if isinstance(distribution, cls):
            return distribution
        if isinstance(distribution, Embedding):
            return cls._of_embedding(distribution, name)
        fitted = _fitted_mixture(distribution)
        if fitted is not None:
            words = f"{type(distribution).__name__} of {count(len(fitted.weights), 'component')}"
            return cls(words, fitted.sample, replace(fitted.embedding(_ANY), names=names_in(distribution)))
        if hasattr(distribution, "rvs"):
            return cls._of_scipy(distribution, name)
        if hasattr(distribution, "icdf"):  # such as scipy.stats.Normal()
            return cls._of_random_variable(distribution, name)
        if callable(distribution) and not isinstance(distribution, type) and _takes_two(distribution):
            called = getattr(distribution, "__name__", "")
            return cls(called if called.isidentifier() else "a function that draws rows", distribution)
        raise TypeError(f"{name} is {type(distribution).__name__}, not a distribution; {_TAKEN}")

    @classmethod
    def _of_embedding(cls, embedding: Embedding, name: str) -> Self:
        parts = embedding.to_numpy().point_parts
        if any(isinstance(part.noise, Dirac) for part in parts):
            raise TypeError(
                f"{name} is an embedding of rows without noise, which are a sample; pass these rows themselves to "
                "km.mmd_test(X, Y) or km.closer_test, or a mixture: km.embed(means, kernel, weights=weights, noise=...)"
            )
        weights = np.concatenate([part.weights for part in parts])
        if (weights < 0.0).any() or abs(weights.sum() - 1.0) > _OF_ONE:
            raise ValueError(
                f"the weights of {name} sum to {weights.sum():.6g} and the smallest is {weights.min():.3g}; those of a "
                "distribution are not negative and sum to 1"
            )
        return cls(f"a mixture of {count(len(weights), 'component')}", embedding.sample, embedding.to_numpy())

    @classmethod
    def _of_scipy(cls, frozen: Any, name: str) -> Self:
        if callable(frozen):
            family = getattr(frozen, "name", type(frozen).__name__.removesuffix("_gen"))
            raise TypeError(
                f"{name} is the family {family} of scipy.stats, whose parameters are not fixed; freeze it by a call "
                "with them, such as norm(0, 1)"
            )
        label = str(getattr(getattr(frozen, "dist", None), "name", "") or type(frozen).__name__.removesuffix("_frozen"))
        parameters = (*getattr(frozen, "args", ()), *getattr(frozen, "kwds", {}).values())
        if any(np.ndim(parameter) > 0 for parameter in parameters):
            raise ValueError(f"{name} is scipy.stats.{label} {_SEVERAL}")
        mixture = None
        if label == "norm" and frozen.var() >= 0.0:  # else scipy says what is wrong when it draws
            mixture = embed([[frozen.mean()]], _ANY, noise=Normal(frozen.var()))
        elif label == "multivariate_normal":
            mixture = embed(np.atleast_2d(frozen.mean), _ANY, noise=Normal(np.atleast_2d(frozen.cov)))
        return cls(f"scipy.stats.{label}", lambda n, rng: frozen.rvs(size=n, random_state=rng), mixture)

    @classmethod
    def _of_random_variable(cls, variable: Any, name: str) -> Self:
        label = type(variable).__name__
        if np.ndim(variable.mean()) > 0:
            raise ValueError(f"{name} is scipy.stats.{label} {_SEVERAL}")
        mixture = None
        if label in ("Normal", "StandardNormal"):
            mixture = embed([[variable.mean()]], _ANY, noise=Normal(variable.variance()))
        return cls(f"scipy.stats.{label}", lambda n, rng: variable.sample((n,), rng=rng), mixture)

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> Array:
        """Draw rows, shape (n, dim); raise when what comes has another shape or is not finite."""
        drawn = np.array(self.draw(n, rng))  # a copy: a function may fill one array again and again
        if drawn.ndim == 0 or (drawn.ndim == 1 and dim > 1 and n == 1):
            drawn = drawn.reshape(1, -1)  # SciPy draws a single row as a number or a vector
        rows = check_points(drawn, f"what {self.name} draws")
        if rows.shape != (n, dim):
            raise ValueError(
                f"{self.name} draws shape {rows.shape} where {(n, dim)} was asked for; pass a distribution with the "
                f"{count(dim, 'column')} of X, in their order, that returns one row for each row asked for"
            )
        return rows

    def moved(self, kernel: Kernel, factor: Array, shift: Array) -> Embedding:
        """Return the kernel mean of the rows times a factor plus a shift, column by column, of a Gaussian mixture."""
        if self.mixture is None:
            raise NoClosedFormError(f"{self.name} is not a mixture")
        parts = [
            embed(part.points * factor + shift, kernel, weights=part.weights, noise=_scaled(part.noise, factor))
            for part in self.mixture.point_parts
        ]
        return sum(parts[1:], parts[0])


def is_distribution(value: Any) -> bool:
    """Whether a value is meant as a distribution, not as rows."""
    known = any(hasattr(value, name) for name in ("rvs", "icdf", "fit"))
    return known or callable(value) or isinstance(value, KnownDistribution)


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether a function may be called with a number of rows and a generator, as far as it says."""
    try:
        inspect.signature(function).bind(1, None)
    except (TypeError, ValueError) as error:
        return isinstance(error, ValueError)  # compiled functions may not say
    return True


def _scaled(noise: Noise, factor: Array) -> Normal:
    """Return the noise of rows times a factor; raise if it is not normal."""
    normal = as_normal(noise, "{noise!r} is not normal")
    if normal.form == "full":
        return Normal(normal.covariance * np.outer(factor, factor))
    return Normal.diagonal(normal.variances(len(factor)) * np.square(factor))


def _fitted_mixture(model: Any) -> GaussianMixture | None:
    """Return the mixture of a fitted model, with full matrices or one variance for every column; None of others."""
    if isinstance(model, GaussianMixture):
        return model
    if isinstance(model, KernelMeanMatching):
        return model.mixture
    from sklearn.mixture import BayesianGaussianMixture  # slow to import
    from sklearn.mixture import GaussianMixture as OfSklearn

    if not isinstance(model, OfSklearn | BayesianGaussianMixture):
        return None
    check_is_fitted(model)
    means, covariances = model.means_, model.covariances_
    if model.covariance_type == "tied":
        covariances = np.repeat(covariances[None], len(means), axis=0)
    elif model.covariance_type == "spherical":
        covariances = np.repeat(covariances[:, None], means.shape[1], axis=1)
    return GaussianMixture(model.weights_, means, covariances)
