"""Expectations of kernels under noise: one function, tables of rules, and one file per family of closed forms."""

from ..core.type_rules import NoClosedFormError
from . import composite, gaussian, polynomial, replacement  # noqa: F401 (they register their rules)
from .expectations import (
    difference,
    difference_rules,
    expected,
    expected_blocks,
    expected_diag,
    smoothed,
    smoothed_rules,
)
from .independent_axes import SmoothedSeparable, axis_noise, fused_separable, separable_pairs, smooth_separable
from .support import SupportTable, kernel_examples, noise_examples, support

__all__ = [
    "NoClosedFormError",
    "SmoothedSeparable",
    "SupportTable",
    "axis_noise",
    "difference",
    "difference_rules",
    "expected",
    "expected_blocks",
    "expected_diag",
    "fused_separable",
    "kernel_examples",
    "noise_examples",
    "separable_pairs",
    "smooth_separable",
    "smoothed",
    "smoothed_rules",
    "support",
]
