"""What explains a result: witness, contributions, columns, effect sizes, equivalence."""

from .attribution import Attribution, ColumnEvidence, ColumnTests, attribute
from .contributions import Contributions, contributions
from .effect import DependenceSize, EffectSize, effect_size
from .equivalence import EquivalenceResult, Hypothesis, equivalence
from .fluctuation import Estimate
from .subject import PairSubject, SampleSubject, subject_of
from .witness import JointWitness, Witness, WitnessBands, joint_witness, means_of, witness, witness_bands

__all__ = [
    "Attribution",
    "ColumnEvidence",
    "ColumnTests",
    "Contributions",
    "DependenceSize",
    "EffectSize",
    "EquivalenceResult",
    "Estimate",
    "Hypothesis",
    "JointWitness",
    "PairSubject",
    "SampleSubject",
    "Witness",
    "WitnessBands",
    "attribute",
    "contributions",
    "effect_size",
    "equivalence",
    "joint_witness",
    "means_of",
    "subject_of",
    "witness",
    "witness_bands",
]
