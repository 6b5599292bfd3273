"""A kernel mean that is fitted batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, final

from ...core.array import Array
from ...core.type_rules import NoClosedFormError
from ...embedding.embedding import Embedding
from ...embedding.features import FeatureMap, Fourier, choose_noise, embed, pooled, smoothed
from ...embedding.features.base import Summary
from ...embedding.features.error import standard_error
from ...expected import difference
from ...expected import smoothed as smoothed_kernel
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...plan.plan import DEFAULT, Plan

Estimator = Literal["kme", "mkme", "mmkme"]
FORMS = {"mkme": "isotropic", "mmkme": "diagonal"}


def used_kernel(kernel: Kernel, noise: Noise, dim: int) -> Kernel:
    """Return the kernel that a test under a noise on both sides uses; without closed form the one that is smoothed."""
    try:
        return smoothed_kernel(kernel, difference(noise, noise), dim)
    except NoClosedFormError:
        return kernel


def noise_form(estimator: str) -> str | None:
    """Return the form of the noise that an estimator of streams chooses, or None for the one without noise."""
    if estimator not in ("kme", *FORMS):
        raise ValueError(f"estimator is {estimator!r}; pass 'kme', 'mkme' or 'mmkme'")
    return FORMS.get(estimator)


def check_addable(one: Any, other: Any, *same: str) -> None:
    """Raise unless streams are of one kind, and have the same features and whatever else is named."""
    if not isinstance(other, type(one)):
        raise TypeError(f"{other!r} is no {type(one).__name__}")
    if any(getattr(one, name) != getattr(other, name) for name in ("features", *same)):
        raise ValueError(f"the streams have different features, {one.features!r} and {other.features!r}")


def draw_note(features: Fourier, parts: Array) -> str:
    """Say how far a statistic may be from that of the kernel, by what single frequencies add to it."""
    error = standard_error(features, parts)
    return f"{features.summary}; standard error of the statistic over their draw: {error:.3g}"


@final
@dataclass(eq=False)
class MeanStream(Summary):
    """A kernel mean in constant memory: add batches, merge with others, save, and estimate at any time.

    Parameters
    ----------
    features : FeatureMap
        From :func:`kernelmean.embedding.features.fourier` and the like; fixed before the first row.
    total : Embedding, optional
        Of the rows so far; None before the first.

    Examples
    --------
    >>> from kernelmean import features
    >>> from kernelmean.kernels import Gaussian
    >>> stream = MeanStream(features.fourier(Gaussian(1.0), dim=1))
    >>> for start in range(0, 10, 4):
    ...     stream = stream.partial_fit([[x] for x in range(start, min(start + 4, 10))])
    >>> stream.rows, round(stream.estimate().norm(), 1)
    (10, 0.5)
    """

    features: FeatureMap
    total: Embedding | None = None

    def __post_init__(self) -> None:
        """Check what files may bring."""
        if not isinstance(self.features, FeatureMap):
            raise TypeError(f"features is {self.features!r}; a map such as features.fourier(kernel, dim=2) is needed")
        if self.total is not None and self.total.features != self.features:
            raise ValueError("the rows so far have other features than the stream")

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return 0 if self.total is None else self.total.shape[0]

    def partial_fit(self, X: Any, *, weights: Any = None, plan: Plan = DEFAULT) -> Self:
        """Add the rows of ``X`` (b, d), weights (b,) or none; errors as of :func:`.features.embed`."""
        found = embed(X, self.features, weights=weights, plan=plan)
        self.total = found if self.total is None else pooled(self.total, found)
        return self

    def __add__(self, other: MeanStream) -> MeanStream:
        """Return the stream of the rows of both."""
        check_addable(self, other)
        if self.total is None or other.total is None:
            return MeanStream(self.features, self.total or other.total)
        return MeanStream(self.features, pooled(self.total, other.total))

    def estimate(self, estimator: Estimator = "kme") -> Embedding:
        """Return the embedding of the rows so far.

        Parameters
        ----------
        estimator : {"kme", "mkme", "mmkme"}
            The empirical mean, or with the Gaussian noise that leaving one out chooses, exactly and from the sums
            alone (Fourier features, rows without weights).

        Raises
        ------
        ValueError
            When no row was added, or the estimator is unknown.
        """
        if self.total is None:
            raise ValueError("no row was added yet; call partial_fit first")
        form = noise_form(estimator)
        return self.total if form is None else smoothed(self.total, choose_noise(self.total, form))
