"""Closed forms on one axis: kernels as scaled densities of sums of normal, exponential and compact variables."""

from .exponential import LaplacePowers, sum_of_powers
from .profile import Profile, Smoothable
from .spline import Spline, box, wendland
from .tilted import Tilted, product_of_profiles

__all__ = [
    "LaplacePowers",
    "Profile",
    "Smoothable",
    "Spline",
    "Tilted",
    "box",
    "product_of_profiles",
    "sum_of_powers",
    "wendland",
]
