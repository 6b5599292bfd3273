"""The table of closed forms, made by trying every pair of the families' examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..core.type_rules import NoClosedFormError
from ..kernels.base import Kernel
from ..kernels.gaussian import Gaussian
from ..kernels.laplacian import Laplacian
from ..kernels.polynomial import Linear
from ..noise.base import Noise
from ..noise.dirac import Dirac
from .expectations import expected


def kernel_examples() -> tuple[Kernel, ...]:
    """Return the examples of every family of kernels, with families ordered by name."""
    shown = {family.__name__: family.examples() for family in _families(Kernel)}
    shown |= {
        "Sum": (Gaussian(1.0) + Linear(),),
        "Product": (Gaussian(1.0) * Gaussian(2.0), Gaussian(1.0) * Laplacian(1.0)),
    }
    return tuple(chain.from_iterable(shown[name] for name in sorted(shown)))


def noise_examples() -> dict[str, Noise]:
    """Return the examples of every family of noises, by names that begin with that of the family."""
    return dict(chain.from_iterable(family.examples().items() for family in _families(Noise)))


def _families(base: Any) -> list[Any]:
    """Return the subclasses of ``base`` that have their own examples."""
    families, left = [], [base]
    while left:
        left += (cls := left.pop()).__subclasses__()
        families += [cls] * ("examples" in vars(cls) and cls is not base)
    return sorted(families, key=lambda cls: cls.__name__)


@dataclass(frozen=True)
class SupportTable:
    """Which expectations have a closed form: rows (kernel, noise, sides), printed as a Markdown table.

    ``sides`` is ``"both"``, ``"one"`` or ``"none"``.
    """

    rows: tuple[tuple[str, str, str], ...]

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.rows)

    def __str__(self) -> str:
        names = list(dict.fromkeys(row[1] for row in self.rows))
        lines = ["| kernel | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        sides = {(kernel, noise): cell for kernel, noise, cell in self.rows}
        for kernel in dict.fromkeys(row[0] for row in self.rows):
            lines += [f"| {kernel} | " + " | ".join(sides[kernel, name] for name in names) + " |"]
        return "\n".join(lines)


def support() -> SupportTable:
    """Return the table of closed forms, made by trying every kernel with every noise on one and on both sides.

    Examples
    --------
    >>> ("Linear()", "Laplace", "both") in support().rows
    True
    """
    noises = noise_examples().items()
    return SupportTable(
        tuple((repr(kernel), name, _sides(kernel, noise)) for kernel in kernel_examples() for name, noise in noises)
    )


def _sides(kernel: Kernel, noise: Noise) -> str:
    if not _works(kernel, noise, Dirac()):
        return "none"
    return "both" if _works(kernel, noise, noise) else "one"


def _works(kernel: Kernel, left: Noise, right: Noise) -> bool:
    points = np.zeros((2, 2))
    try:
        expected(kernel, points, points, left, right)
    except NoClosedFormError:
        return False
    return True
