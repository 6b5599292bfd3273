"""What explains a result: witness, contributions, columns, effect sizes, equivalence."""

from .attribution import Attribution, ColumnEvidence, ColumnTests, attribute
from .contributions import Contributions, contributions
from .effect import DependenceSize, EffectSize, effect_size
from .equivalence import EquivalenceResult, Hypothesis, equivalence
from .fluctuation import Estimate
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject
from .subjects import subject_of
from .witness import JointWitness, Witness, WitnessBands, joint_witness, witness, witness_bands

__all__ = [
    "Attribution",
    "ColumnEvidence",
    "ColumnTests",
    "Contributions",
    "DependenceSize",
    "DesignedSubject",
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
    "subject_of",
    "witness",
    "witness_bands",
]
