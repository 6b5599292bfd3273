"""Designs: strata, clusters, weights, pairs, several samples, several variables, and dependent rows.

A design of your own is one file: a subclass of :class:`AnyDesign`, which a test takes as ``design=``, and of
:class:`LabelDesign`, which it makes of the sizes of samples.
"""

from .design import AnyDesign, Design
from .labelled import LabelDesign

__all__ = ["AnyDesign", "Design", "LabelDesign"]
