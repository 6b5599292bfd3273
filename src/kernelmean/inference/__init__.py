"""Exact permutation tests of samples (MMD) and of independence (HSIC), designs included, and the wild bootstrap."""

from .adaptive.kinds import EvidenceKind
from .adaptive.many_kernels import Adaptive
from .adaptive.member import Member, PairMember
from .base_result import Result
from .designs.design import Design
from .given import AdjustedDifference, AdjustedResult, ConditionalResult, MemberPvalue, ci_test
from .independence import hsic_test
from .many_samples import dhsic_test, k_sample_test
from .null import PairOutcome, holm
from .permuted_pairs import CustomStatistic
from .resampling import Resampling
from .result import TestResult
from .two_sample import mmd_test

__all__ = [
    "Adaptive",
    "AdjustedDifference",
    "AdjustedResult",
    "ConditionalResult",
    "CustomStatistic",
    "Design",
    "EvidenceKind",
    "Member",
    "MemberPvalue",
    "PairMember",
    "PairOutcome",
    "Resampling",
    "Result",
    "TestResult",
    "ci_test",
    "dhsic_test",
    "holm",
    "hsic_test",
    "k_sample_test",
    "mmd_test",
]
