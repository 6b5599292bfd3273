"""Leave-one-out scores: the definition, and exact shortcuts that tests hold to it."""

from ...embedding.score import Criterion, Score
from .definition import leave_one_out

__all__ = ["Criterion", "Score", "leave_one_out"]
