"""Leave-one-out scores: the definition, and exact shortcuts that tests compare with it."""

from ...embedding.score import Criterion, Score
from . import binned, isotropic
from .definition import leave_one_out
from .isotropic import Distances, SummedDistances
from .pair_sums import axis_terms, contracted_on_grid, contracted_terms, pair_sum
from .spectral import GramSpectrum, Masked, printed_scores, ridge_scores, score_of, spectral_score

__all__ = [
    "Criterion",
    "Distances",
    "GramSpectrum",
    "Masked",
    "Score",
    "SummedDistances",
    "axis_terms",
    "binned",
    "contracted_on_grid",
    "contracted_terms",
    "isotropic",
    "leave_one_out",
    "pair_sum",
    "printed_scores",
    "ridge_scores",
    "score_of",
    "spectral_score",
]
