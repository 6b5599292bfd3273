"""Leave-one-out scores: the definition, and exact shortcuts that tests hold to it."""

from ...embedding.score import Criterion, Score
from . import axes, binned, contracted, isotropic, ridge
from .definition import leave_one_out
from .isotropic import Distances, SummedDistances
from .masked import Masked, score_of, spectral_score
from .pair_sums import pair_sum
from .ridge import GramSpectrum, printed_scores
from .stacked import sketched, stacked

__all__ = [
    "Criterion",
    "Distances",
    "GramSpectrum",
    "Masked",
    "Score",
    "SummedDistances",
    "axes",
    "binned",
    "contracted",
    "isotropic",
    "leave_one_out",
    "pair_sum",
    "printed_scores",
    "ridge",
    "score_of",
    "sketched",
    "spectral_score",
    "stacked",
]
