"""Questions: two samples and two variables, with their sides, designs and kernels; and how a test answers them."""

from .base import Question, answer
from .pairs import Pairs
from .two_samples import TwoSamples

__all__ = ["Pairs", "Question", "TwoSamples", "answer"]
