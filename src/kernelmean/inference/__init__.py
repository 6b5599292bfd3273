"""Exact permutation tests: two samples (MMD) and independence (HSIC), on one engine."""

from .custom import custom_null, relabelings
from .engine import memory_estimate, permutation_null
from .independence import hsic_null, hsic_test
from .null import Null
from .result import TestResult
from .schemes import SCHEMES
from .two_sample import mmd_null, mmd_test

__all__ = [
    "SCHEMES",
    "Null",
    "TestResult",
    "custom_null",
    "hsic_null",
    "hsic_test",
    "memory_estimate",
    "mmd_null",
    "mmd_test",
    "permutation_null",
    "relabelings",
]
