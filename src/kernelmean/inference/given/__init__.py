"""Does X still tell something about Y once Z is known? A test of conditional independence."""

from .ci_result import ConditionalResult, MemberPvalue
from .ci_test import ci_test

__all__ = ["ConditionalResult", "MemberPvalue", "ci_test"]
