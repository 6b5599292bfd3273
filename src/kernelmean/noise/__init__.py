"""Noises: distributions v(·|x) around points, independent of any kernel."""

from .base import Additive, AxisWidths, Noise
from .blankout import Blankout, Switch
from .dirac import Dirac
from .laplace import Laplace
from .normal import Normal
from .sampled import Sampled
from .sums import IndependentSum
from .uniform import Uniform

__all__ = [
    "Additive",
    "AxisWidths",
    "Blankout",
    "Dirac",
    "IndependentSum",
    "Laplace",
    "Noise",
    "Normal",
    "Sampled",
    "Switch",
    "Uniform",
]
