"""Noises: laws v(·|x) around points, which know nothing of kernels."""

from .base import Additive, Noise
from .blankout import Blankout, Switch
from .dirac import Dirac
from .normal import Normal
from .sampled import Sampled

__all__ = ["Additive", "Blankout", "Dirac", "Noise", "Normal", "Sampled", "Switch"]
