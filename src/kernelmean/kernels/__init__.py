"""Kernels: values k(X, Y) that know nothing of noise."""

from .base import Kernel, Stationary
from .categorical import Categorical
from .compose import Product, Scaled, Sum, TensorProduct
from .gaussian import Gaussian
from .polynomial import Linear, Polynomial

__all__ = [
    "Categorical",
    "Gaussian",
    "Kernel",
    "Linear",
    "Polynomial",
    "Product",
    "Scaled",
    "Stationary",
    "Sum",
    "TensorProduct",
]
