"""Kernels: values k(X, Y) that know nothing of noise."""

from .base import Kernel, Stationary
from .compose import Product, Scaled, Sum, TensorProduct
from .gaussian import Gaussian

__all__ = ["Gaussian", "Kernel", "Product", "Scaled", "Stationary", "Sum", "TensorProduct"]
