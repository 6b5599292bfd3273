"""What the paper uses and prints: the names of its estimators, its two readings of a bandwidth, its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..estimators import FKMSE, KME, MKME, MMKME, SKMSE, KernelMean
from ..kernels import Kernel

ESTIMATORS: Mapping[str, Callable[[Kernel], KernelMean]] = MappingProxyType(
    {"KME": KME, "S-KMSE": SKMSE, "F-KMSE": FKMSE, "MKME": MKME, "MMKME": MMKME}
)
"""The five estimators by the paper's names, in its order."""

BASELINES = ("KME", "S-KMSE", "F-KMSE")
"""What the paper compares with."""

BANDWIDTHS: Mapping[str, str] = MappingProxyType(
    {"median": "θ² = median of squared distances", "median-unsquared": "θ² = median of distances"}
)
"""The rule that the paper prints, and the one that the published curves of Muandet et al. (2014) fit."""
