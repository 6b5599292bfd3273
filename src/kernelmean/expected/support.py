"""The table of closed forms, found by trying every pair rather than by being written down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import kernels as k
from .. import noise as v
from ..core.rules import NoClosedFormError
from ..kernels.base import Kernel
from ..noise.base import Noise
from ._core import expected

KERNELS: tuple[Kernel, ...] = (
    k.Gaussian(1.0),
    k.Gaussian((1.0, 2.0)),
    k.Laplacian(1.0),
    k.Matern(1.5, 1.0),
    k.Matern(2.5, 1.0),
    k.Matern(3.5, 1.0),
    k.Wendland(0, 1.0),
    k.Wendland(2, 1.0),
    k.RationalQuadratic(1.0, 1.0),
    k.Linear(),
    k.Polynomial(2),
    k.Polynomial(3),
    k.Categorical(0.1),
    k.Gaussian(1.0) + k.Linear(),
    k.Gaussian(1.0) * k.Gaussian(2.0),
    k.Gaussian(1.0) * k.Laplacian(1.0),
    k.TensorProduct((k.Gaussian(1.0), k.Laplacian(1.0)), ((0,), (1,))),
)

_COVARIANCE = np.array([[1.0, 0.3], [0.3, 0.5]])
NOISES: dict[str, Noise] = {
    "Normal": v.Normal(0.1),
    "Normal, diagonal": v.Normal.diagonal([0.1, 0.2]),
    "Normal, full": v.Normal(_COVARIANCE),
    "Normal, one per point": v.Normal(np.stack([_COVARIANCE, 2 * _COVARIANCE])),
    "Laplace": v.Laplace(0.3),
    "Uniform": v.Uniform(0.5),
    "Blankout": v.Blankout(0.2),
    "Switch": v.Switch(0.2, levels=3),
}


@dataclass(frozen=True)
class SupportTable:
    """Which expectations have a closed form: rows (kernel, noise, sides), printed as a Markdown table.

    ``sides`` is ``"both"``, ``"one"`` or ``"none"``.
    """

    rows: tuple[tuple[str, str, str], ...]

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.rows)

    def __str__(self) -> str:
        names = list(NOISES)
        lines = ["| kernel | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        sides = {(kernel, noise): cell for kernel, noise, cell in self.rows}
        for kernel in dict.fromkeys(row[0] for row in self.rows):
            lines += [f"| {kernel} | " + " | ".join(sides[kernel, name] for name in names) + " |"]
        return "\n".join(lines)


def support() -> SupportTable:
    """Return the table of closed forms, by trying every kernel with every noise, on one and on both sides.

    Examples
    --------
    >>> ("Linear()", "Laplace", "both") in support().rows
    True
    """
    return SupportTable(
        tuple((repr(kernel), name, _sides(kernel, noise)) for kernel in KERNELS for name, noise in NOISES.items())
    )


def _sides(kernel: Kernel, noise: Noise) -> str:
    if not _works(kernel, noise, v.Dirac()):
        return "none"
    return "both" if _works(kernel, noise, noise) else "one"


def _works(kernel: Kernel, left: Noise, right: Noise) -> bool:
    points = np.zeros((2, 2))
    try:
        expected(kernel, points, points, left, right)
    except NoClosedFormError:
        return False
    return True
