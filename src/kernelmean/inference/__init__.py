"""Exact permutation tests of samples (MMD) and of independence (HSIC), designs included, and the wild bootstrap."""

from .adaptive.candidates import candidates
from .adaptive.kinds import EvidenceKind
from .adaptive.many_kernels import Adaptive
from .adaptive.members import Member, PairMember
from .answering import answer
from .base_result import Result
from .designs.design import Design
from .engine import CustomStatistic, permutation_null
from .independence import hsic_test
from .low_rank import Coordinates, pivoted_cholesky
from .many_samples import dhsic_test, k_sample_test
from .null import Null, PairOutcome, holm, max_t
from .permutation_groups import ListedRotations, Rotations
from .permutations import AllLabelings, AllPermutations, Permutations, RandomPermutations
from .problem import KernelSide, LabelSide, Problem
from .questions import JointIndependence, KSamples, Pairs, Question, TwoSamples, hsic_problem, mmd_problem
from .resampling_options import Resampling, Resources, Shape
from .result import TestResult
from .schemes import SCHEMES, Cyclic, Scheme, label_sums, permutation_sums
from .schemes.blocks import RowBins
from .statistics import HSIC, MMD, RemovedMeans, Sums
from .two_sample import mmd_test

__all__ = [
    "HSIC",
    "MMD",
    "SCHEMES",
    "Adaptive",
    "AllLabelings",
    "AllPermutations",
    "Coordinates",
    "CustomStatistic",
    "Cyclic",
    "Design",
    "EvidenceKind",
    "JointIndependence",
    "KSamples",
    "KernelSide",
    "LabelSide",
    "ListedRotations",
    "Member",
    "Null",
    "PairMember",
    "PairOutcome",
    "Pairs",
    "Permutations",
    "Problem",
    "Question",
    "RandomPermutations",
    "RemovedMeans",
    "Resampling",
    "Resources",
    "Result",
    "Rotations",
    "RowBins",
    "Scheme",
    "Shape",
    "Sums",
    "TestResult",
    "TwoSamples",
    "answer",
    "candidates",
    "dhsic_test",
    "holm",
    "hsic_problem",
    "hsic_test",
    "k_sample_test",
    "label_sums",
    "max_t",
    "mmd_problem",
    "mmd_test",
    "permutation_null",
    "permutation_sums",
    "pivoted_cholesky",
]
