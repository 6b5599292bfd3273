"""Noises: laws v(·|x) around points, which know nothing of kernels."""

from .base import Additive, Noise
from .dirac import Dirac
from .normal import Normal

__all__ = ["Additive", "Dirac", "Noise", "Normal"]
