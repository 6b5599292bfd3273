"""Kernel mean embeddings: estimate them, test with them, and see where two data sets differ."""

from typing import TYPE_CHECKING

from .core import lazy as _lazy

if TYPE_CHECKING:
    from . import kernels, noise
    from .conditional import ConditionalMean
    from .density import KernelMeanMatching
    from .embedding import features
    from .embedding.embedding import embed
    from .embedding.linear_form import linear_form
    from .estimators import KME, MKME, MMKME, DistributionEncoder, GroupMeans, KernelMean
    from .estimators.files import load, save
    from .expected import expected
    from .expected.support import support
    from .inference import (
        Design,
        TestResult,
        ci_test,
        dhsic_test,
        hsic_test,
        k_sample_test,
        mmd_test,
    )
    from .inference.cluster import DaskPlan
    from .inference.monitoring import DriftMonitor
    from .kernels.bandwidth import median_bandwidth
    from .known import closer_test, fit_test
    from .plan.plan import Plan
    from .studies.changes import changes
    from .studies.comparison import compare
    from .studies.covariate_shift import match_weights
    from .studies.dependence import dependence
    from .studies.groups import compare_groups
    from .tables.columns import TableEncoder
    from .tables.read import read

__version__ = "0.1.0"

__all__ = [
    "KME",
    "MKME",
    "MMKME",
    "ConditionalMean",
    "DaskPlan",
    "Design",
    "DistributionEncoder",
    "DriftMonitor",
    "GroupMeans",
    "KernelMean",
    "KernelMeanMatching",
    "Plan",
    "TableEncoder",
    "TestResult",
    "changes",
    "ci_test",
    "closer_test",
    "compare",
    "compare_groups",
    "dependence",
    "dhsic_test",
    "embed",
    "expected",
    "features",
    "fit_test",
    "hsic_test",
    "k_sample_test",
    "kernels",
    "linear_form",
    "load",
    "match_weights",
    "median_bandwidth",
    "mmd_test",
    "noise",
    "read",
    "save",
    "support",
]

_lazy.attach(
    __name__,
    {
        "conditional": "ConditionalMean",
        "density": "KernelMeanMatching",
        "embedding": "embed features",
        "embedding.linear_form": "linear_form",
        "estimators": "DistributionEncoder GroupMeans KME MKME MMKME KernelMean",
        "estimators.files": "load save",
        "expected": "expected support",
        "inference": "Design TestResult ci_test dhsic_test hsic_test k_sample_test mmd_test",
        "inference.cluster": "DaskPlan",
        "inference.monitoring": "DriftMonitor",
        "kernels.bandwidth": "median_bandwidth",
        "known": "closer_test fit_test",
        "plan": "Plan",
        "studies.changes": "changes",
        "studies.comparison": "compare",
        "studies.covariate_shift": "match_weights",
        "studies.dependence": "dependence",
        "studies.groups": "compare_groups",
        "tables.columns": "TableEncoder",
        "tables.read": "read",
    },
)

del TYPE_CHECKING
