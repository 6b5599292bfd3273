"""Leave-one-out scores: the definition, and exact shortcuts that tests hold to it."""

from .definition import leave_one_out
from .score import Criterion, Score

__all__ = ["Criterion", "Score", "leave_one_out"]
