"""Kernels k(X, Y), as values independent of any noise."""

from .any_kernel import KernelFunction, Precomputed
from .bandwidth import Bandwidth, bandwidth_from, median_bandwidth, normal_rule_bandwidth
from .base import Blockwise, Kernel, Product, Scaled, Separable, Stationary, Sum, WithBandwidth
from .categorical import Categorical
from .distance_induced import DistanceInduced
from .distances import squared_distance_blocks
from .gaussian import Gaussian, QuadraticGaussian
from .laplacian import Laplacian
from .matern import Matern
from .polynomial import Linear, Polynomial
from .rational_quadratic import RationalQuadratic
from .tensor_product import TensorProduct
from .wendland import Wendland

__all__ = [
    "Bandwidth",
    "Blockwise",
    "Categorical",
    "DistanceInduced",
    "Gaussian",
    "Kernel",
    "KernelFunction",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "Product",
    "QuadraticGaussian",
    "RationalQuadratic",
    "Scaled",
    "Separable",
    "Stationary",
    "Sum",
    "TensorProduct",
    "Wendland",
    "WithBandwidth",
    "bandwidth_from",
    "median_bandwidth",
    "normal_rule_bandwidth",
    "squared_distance_blocks",
]
