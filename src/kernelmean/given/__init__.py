"""Does X still tell something about Y once Z is known? A test of conditional independence."""

from .ci_result import ConditionalResult
from .ci_test import ci_test

__all__ = ["ConditionalResult", "ci_test"]
