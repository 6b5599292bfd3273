"""Kernel mean embeddings: estimate them, test with them, and see where two data sets differ."""

from typing import TYPE_CHECKING

from . import _lazy

if TYPE_CHECKING:
    from . import features, kernels, noise, streaming
    from .cluster import DaskPlan
    from .columns import TableEncoder
    from .comparison import compare
    from .compression import compress, compress_then_test
    from .dependence import dependence
    from .embedding import Embedding, embed
    from .estimators import (
        FKMSE,
        KME,
        MKME,
        MMKME,
        SKMSE,
        VPMKME,
        BayesianKernelMean,
        KernelMean,
        LikelihoodBandwidth,
        MedianOfMeans,
        likelihood_bandwidth,
    )
    from .expected import difference, expected, smoothed
    from .expected.support import support
    from .explain import (
        attribute,
        dependence_attribute,
        dependence_contributions,
        dependence_effect_size,
        dependence_equivalence_test,
        dependence_witness,
        effect_size,
        equivalence_test,
        witness_bands,
    )
    from .explain.contributions import contributions
    from .explain.witness import witness
    from .features import FeatureEmbedding
    from .inference import (
        TestResult,
        dhsic_test,
        hsic_test,
        k_sample_test,
        memory_estimate,
        mmd_test,
        paired_mmd_test,
        wild_hsic_test,
        wild_mmd_test,
    )
    from .io import load, save
    from .kernels.bandwidth import median_bandwidth
    from .linear_form import linear_form
    from .matching import KernelMeanMatching
    from .monitoring import DriftMonitor
    from .plan import Plan
    from .streamed import compare_stream
    from .streaming import hsic_stream_test, mmd_stream_test, read_batches

__version__ = "0.1.0"

__all__ = [
    "FKMSE",
    "KME",
    "MKME",
    "MMKME",
    "SKMSE",
    "VPMKME",
    "BayesianKernelMean",
    "DaskPlan",
    "DriftMonitor",
    "Embedding",
    "FeatureEmbedding",
    "KernelMean",
    "KernelMeanMatching",
    "LikelihoodBandwidth",
    "MedianOfMeans",
    "Plan",
    "TableEncoder",
    "TestResult",
    "attribute",
    "compare",
    "compare_stream",
    "compress",
    "compress_then_test",
    "contributions",
    "dependence",
    "dependence_attribute",
    "dependence_contributions",
    "dependence_effect_size",
    "dependence_equivalence_test",
    "dependence_witness",
    "dhsic_test",
    "difference",
    "effect_size",
    "embed",
    "equivalence_test",
    "expected",
    "features",
    "hsic_stream_test",
    "hsic_test",
    "k_sample_test",
    "kernels",
    "likelihood_bandwidth",
    "linear_form",
    "load",
    "median_bandwidth",
    "memory_estimate",
    "mmd_stream_test",
    "mmd_test",
    "noise",
    "paired_mmd_test",
    "read_batches",
    "save",
    "smoothed",
    "streaming",
    "support",
    "wild_hsic_test",
    "wild_mmd_test",
    "witness",
    "witness_bands",
]

_lazy.attach(
    __name__,
    {
        "cluster": "DaskPlan",
        "columns": "TableEncoder",
        "comparison": "compare",
        "compression": "compress compress_then_test",
        "dependence": "dependence",
        "embedding": "Embedding embed",
        "estimators": "FKMSE KME MKME MMKME SKMSE VPMKME BayesianKernelMean KernelMean LikelihoodBandwidth "
        "MedianOfMeans likelihood_bandwidth",
        "expected": "difference expected smoothed support",
        "explain": "attribute contributions dependence_attribute dependence_contributions dependence_effect_size "
        "dependence_equivalence_test dependence_witness effect_size equivalence_test witness witness_bands",
        "features": "FeatureEmbedding",
        "inference": "TestResult dhsic_test hsic_test k_sample_test memory_estimate mmd_test paired_mmd_test "
        "wild_hsic_test wild_mmd_test",
        "io": "load save",
        "kernels.bandwidth": "median_bandwidth",
        "linear_form": "linear_form",
        "matching": "KernelMeanMatching",
        "monitoring": "DriftMonitor",
        "plan": "Plan",
        "streamed": "compare_stream",
        "streaming": "hsic_stream_test mmd_stream_test read_batches",
    },
)

del TYPE_CHECKING
