"""Exact permutation tests of samples (MMD) and of independence (HSIC), designs included, and the wild bootstrap."""

from ..core import lazy as _lazy
from .adaptive.many_kernels import Adaptive
from .adaptive.members import Member, PairMember
from .answering import answer
from .base_result import Result
from .custom_statistic import CustomStatistic
from .designs.design import Design
from .engine import memory_estimate, permutation_null
from .independence import hsic_test, wild_hsic_test
from .many_samples import dhsic_test, k_sample_test
from .null import Null
from .questions import JointIndependence, KSamples, Pairs, Question, TwoSamples, hsic_problem, mmd_problem
from .resampling_options import Resampling
from .result import PairOutcome, TestResult
from .schemes import SCHEMES
from .two_sample import mmd_test, paired_mmd_test, wild_mmd_test

__all__ = [
    "SCHEMES",
    "Adaptive",
    "CustomStatistic",
    "Design",
    "JointIndependence",
    "KSamples",
    "Member",
    "Null",
    "PairMember",
    "PairOutcome",
    "Pairs",
    "Question",
    "Resampling",
    "Result",
    "TestResult",
    "TwoSamples",
    "answer",
    "dhsic_test",
    "hsic_problem",
    "hsic_test",
    "k_sample_test",
    "memory_estimate",
    "mmd_problem",
    "mmd_test",
    "paired_mmd_test",
    "permutation_null",
    "wild_hsic_test",
    "wild_mmd_test",
]

_lazy.attach(
    __name__,
    gone={
        "custom_null": "CustomStatistic(...).null((n, m), Resampling.of(...))",
        "relabelings": "CustomStatistic(...).null((n, m), Resampling.of(...)), which lists them itself",
    },
)
