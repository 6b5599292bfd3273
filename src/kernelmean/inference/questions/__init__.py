"""Questions: samples and variables, with their sides, designs and kernels; and how a test answers them."""

from .base import Labelled, Question
from .joint_independence import JointIndependence
from .k_samples import KSamples
from .pairs import Pairs, hsic_problem
from .two_samples import TwoSamples

__all__ = [
    "JointIndependence",
    "KSamples",
    "Labelled",
    "Pairs",
    "Question",
    "TwoSamples",
    "hsic_problem",
]
