"""Exact permutation tests of samples (MMD) and of independence (HSIC), designs included, and the wild bootstrap."""

from ..core import lazy as _lazy
from .custom import custom_null, relabelings
from .designs.joint import dhsic_test
from .designs.k_sample import k_sample_test
from .designs.paired import paired_mmd_test
from .designs.wild import wild_hsic_test, wild_mmd_test
from .engine import memory_estimate, permutation_null
from .independence import hsic_null, hsic_test
from .null import Null
from .result import PairOutcome, TestResult
from .schemes import SCHEMES
from .two_sample import mmd_null, mmd_test

__all__ = [
    "SCHEMES",
    "Null",
    "PairOutcome",
    "TestResult",
    "custom_null",
    "dhsic_test",
    "hsic_null",
    "hsic_test",
    "k_sample_test",
    "memory_estimate",
    "mmd_null",
    "mmd_test",
    "paired_mmd_test",
    "permutation_null",
    "relabelings",
    "wild_hsic_test",
    "wild_mmd_test",
]

_lazy.attach(__name__)
