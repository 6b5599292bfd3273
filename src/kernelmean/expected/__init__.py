"""Expectations of kernels under noise: one verb, three tables, one file a family of closed forms."""

from .._rules import NoClosedFormError
from . import composite, gaussian, polynomial, replacing, sampled, separable  # noqa: F401 (they register their rules)
from ._core import difference, expected, expected_blocks, expected_diag, smoothed
from .support import SupportTable, support

__all__ = [
    "NoClosedFormError",
    "SupportTable",
    "difference",
    "expected",
    "expected_blocks",
    "expected_diag",
    "smoothed",
    "support",
]
