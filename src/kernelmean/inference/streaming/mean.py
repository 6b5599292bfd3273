"""What the one-pass tests share: the estimators they know, and what they say of features."""

from __future__ import annotations

from typing import Any, Literal

from ...core.array import Array
from ...core.type_rules import NoClosedFormError
from ...embedding.features import Fourier
from ...embedding.features.error import standard_error
from ...expected import difference
from ...expected import smoothed as smoothed_kernel
from ...kernels.base import Kernel
from ...noise.base import Noise

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
