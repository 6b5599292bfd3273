"""What holds once other columns are known: conditional independence, and differences of samples."""

from .adjusted import adjusted_test
from .adjusted_result import AdjustedDifference, AdjustedResult
from .ci_result import ConditionalResult, MemberPvalue
from .ci_test import ci_test

__all__ = ["AdjustedDifference", "AdjustedResult", "ConditionalResult", "MemberPvalue", "adjusted_test", "ci_test"]
