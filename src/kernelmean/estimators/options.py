"""What a user asks of an estimator, checked and turned into values before any work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.array import Array
from ..core.validate import check_positive
from ..core.words import refuse
from ..embedding.score import Criterion
from ..kernels.bandwidth import bandwidth_from
from ..kernels.base import Kernel, Stationary
from ..kernels.gaussian import Gaussian
from ..noise.base import Noise
from ..noise.dirac import Dirac
from .filters import Filter, Ridge, Scale, as_filter

NoiseForm = Literal["isotropic", "diagonal", "full"]
Contraction = Literal["tied", "free"]
FitOn = Literal["auto", "pooled", "each", "separate", "joint"]
NOISE_FORMS = ("isotropic", "diagonal", "full")
KernelLike = Kernel | str | Callable[[Any], Kernel]


@dataclass(frozen=True)
class Options:
    """A point of noise × filter × contraction, with the way its parameters are chosen."""

    noise: NoiseForm | Noise | None
    filter: Filter | None
    strength: float | None  # None: chosen
    contraction: Contraction | None
    criterion: Criterion

    @property
    def scale(self) -> float | None:
        """The factor of all weights: 1 without a filter, 1/(1+λ) of a scale, None when it is to be chosen."""
        if not isinstance(self.filter, Scale):
            return 1.0
        return None if self.strength is None else 1.0 / (1.0 + self.strength)

    @property
    def spectral(self) -> Filter | None:
        """The filter when it acts on eigenvalues, None when there is none or a plain scale."""
        return None if isinstance(self.filter, Scale) else self.filter

    def check_contraction(self, kernel: Kernel) -> None:
        """Raise when a contraction does not go with the other options, or with the kernel."""
        if self.contraction is None:
            return
        if self.contraction not in ("tied", "free"):
            raise ValueError(f"contraction is {self.contraction!r}; write None, 'tied' or 'free'")
        if self.noise != "isotropic":
            raise ValueError(
                f"a contraction gives back the lost variance as isotropic noise, noise is {self.noise!r}; write "
                "noise='isotropic'"
            )
        if self.criterion != "loocv":
            raise ValueError(
                "a contraction moves the mean with every point, so it has no risk estimate; write criterion='loocv'"
            )
        if self.spectral is not None:
            raise ValueError(f"a contraction goes with filter=None or 'scale', not with {self.filter!r}")
        if not isinstance(kernel, Gaussian) or np.ndim(kernel.bandwidth) > 0:
            raise ValueError(
                f"a contraction needs a Gaussian kernel with one bandwidth for all columns, not {kernel!r}"
            )

    def check_spectral(self) -> None:
        """Raise when the other options do not go with a filter that acts on eigenvalues."""
        if self.noise in NOISE_FORMS:
            raise ValueError(
                f"{self.filter!r} acts on a Gram matrix, which a search for the noise would change at every step; "
                "pass a fixed noise such as Normal(0.1), or filter='scale', which is searched jointly"
            )
        if self.criterion == "risk":
            raise ValueError(f"there is no unbiased risk estimate for {self.filter!r}; write criterion='loocv'")
        if self.criterion == "printed" and not (self.noise is None or isinstance(self.noise, Dirac)):
            raise ValueError("the printed score is for points without noise; write noise=None")
        if self.strength == 0:
            raise ValueError("strength is 0; a spectral filter needs a positive one, and filter=None is no filter")


def check_options(noise: Any, filter_: Any, strength: Any, contraction: Any, criterion: Any, kernel: Kernel) -> Options:
    """Return the options, or say which combination is missing and what to write instead."""
    if criterion not in ("loocv", "risk", "printed"):
        raise ValueError(f"criterion is {criterion!r}; write 'loocv', 'risk' or 'printed'")
    options = Options(_check_noise(noise), as_filter(filter_), _check_strength(strength), contraction, criterion)
    if options.strength is not None and options.filter is None:
        raise ValueError(f"strength is {strength!r}, and no filter has it; write filter='scale' or 'ridge'")
    options.check_contraction(kernel)
    if options.spectral is not None:
        options.check_spectral()
    if criterion == "printed" and not (isinstance(options.filter, Ridge) and isinstance(kernel, Stationary)):
        raise ValueError(
            "the printed score is that of filter='ridge' with a stationary kernel; write criterion='loocv'"
        )
    if options.noise == "diagonal" and not isinstance(kernel, Gaussian):
        raise ValueError(
            f"a noise per column is searched by gradient, which exists for Gaussian kernels only, not for {kernel!r}; "
            "use noise='isotropic', noise='full', or a fixed noise such as Normal.diagonal(e)"
        )
    return options


def _check_noise(noise: Any) -> NoiseForm | Noise | None:
    if noise is None or isinstance(noise, Noise) or noise in NOISE_FORMS:
        return noise
    raise ValueError(f"noise is {noise!r}; write None, 'isotropic', 'diagonal', 'full', or a value of kernelmean.noise")


def _check_strength(strength: Any) -> float | None:
    if isinstance(strength, str):
        if strength == "loocv":
            return None
        raise ValueError(f"strength is {strength!r}; write 'loocv' or a number")
    return float(check_positive(strength, "strength", zero=True))


def make_kernel(
    kernel: KernelLike, bandwidth: Any, X: Array, bandwidth_of: Callable[[Array, str], Any] = bandwidth_from
) -> Kernel:
    """Return the kernel: a value, with what its rules find in ``X``, or a family at the bandwidth for ``X``."""
    if isinstance(kernel, Kernel):
        refuse(f"kernel={kernel!r} has its bandwidth already", bandwidth=(bandwidth, "median"))
        return kernel.resolved(X, bandwidth_of)
    family = {"gaussian": Gaussian}.get(kernel) if isinstance(kernel, str) else kernel
    if family is None or not callable(family):
        raise ValueError(f"kernel is {kernel!r}; write 'gaussian', a class such as kernels.Laplacian, or a Kernel")
    theta = bandwidth_from(X, bandwidth)
    try:
        return family(theta)
    except TypeError as error:
        name = getattr(family, "__name__", repr(family))
        raise TypeError(
            f"kernel is {name}, of which a bandwidth alone makes no kernel ({error}); pass a value, such as "
            "kernels.Matern(1.5, 'median')"
        ) from error
