"""Questions: two samples and two variables, with their sides, designs and kernels; and how a test answers them."""

from .base import Question
from .pairs import Pairs, hsic_problem
from .two_samples import TwoSamples, mmd_problem

__all__ = ["Pairs", "Question", "TwoSamples", "hsic_problem", "mmd_problem"]
