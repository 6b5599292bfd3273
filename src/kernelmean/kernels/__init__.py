"""Kernels: values k(X, Y) that know nothing of noise."""

from .base import Kernel, Stationary
from .categorical import Categorical
from .compose import Product, Scaled, Sum, TensorProduct
from .distance_induced import DistanceInduced
from .gaussian import Gaussian
from .laplacian import Laplacian
from .matern import Matern
from .polynomial import Linear, Polynomial
from .rational_quadratic import RationalQuadratic
from .separable import Separable
from .wendland import Wendland

__all__ = [
    "Categorical",
    "DistanceInduced",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Separable",
    "Stationary",
    "Sum",
    "TensorProduct",
    "Wendland",
]
