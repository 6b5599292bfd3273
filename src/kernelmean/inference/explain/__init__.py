"""Where two samples differ, why, and by how much: witness, contributions, columns, effect sizes, equivalence."""

from .attribution import Attribution, ColumnEvidence, attribute, dependence_attribute
from .contributions import Contributions, contributions, dependence_contributions
from .effect import DependenceSize, EffectSize, dependence_effect_size, effect_size
from .equivalence import EquivalenceResult, dependence_equivalence_test, equivalence_test
from .fluctuation import Estimate
from .joint_witness import JointWitness, dependence_witness
from .witness import Witness, WitnessBands, witness, witness_bands

__all__ = [
    "Attribution",
    "ColumnEvidence",
    "Contributions",
    "DependenceSize",
    "EffectSize",
    "EquivalenceResult",
    "Estimate",
    "JointWitness",
    "Witness",
    "WitnessBands",
    "attribute",
    "contributions",
    "dependence_attribute",
    "dependence_contributions",
    "dependence_effect_size",
    "dependence_equivalence_test",
    "dependence_witness",
    "effect_size",
    "equivalence_test",
    "witness",
    "witness_bands",
]
