"""Closed forms on one axis: kernels as scaled densities of sums of normal, exponential and compact variables."""

from .exponential import LaplacePowers, sum_of_powers
from .profile import Profile, Smoothable, Tilted, product_of_profiles
from .spline import Spline, box, wendland

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
