"""The two means whose difference is looked at, by the estimator of the test."""

from __future__ import annotations

from dataclasses import replace

from ...core.array import Array
from ...embedding.embedding import Embedding, embed
from ...estimators import KernelMean
from ...noise import Noise
from ...plan.plan import Plan
from ..estimated.mmd import refitted
from ..kernel_choice import is_plain
from ..questions import TwoSamples
from .subject import SampleSubject


def means_of(question: TwoSamples, subject: SampleSubject) -> tuple[Embedding, Embedding]:
    """Return the means of two samples in the space of one kernel: those that the test compared.

    What the test found in the pooled rows, a bandwidth, a noise or λ, is taken from there; what it finds in each sample
    is found in each. A test of many kernels, or of a function, has plain means under the kernel that explains it.
    """
    found = next(iter(question.asked.found), None) if question.asked is not None else None
    tables = [subject.pooled[part] for part in subject.parts]
    if found is None:
        means = [embed(points, subject.kernel, plan=subject.plan) for points in tables]
    else:
        means = [_mean(points, found, subject.plan) for points in tables]
    first, second = (replace(mean, names=question.names) for mean in means)
    return first, second


def _mean(points: Array, found: KernelMean, plan: Plan) -> Embedding:
    """Return the mean of a sample by an estimator whose parameters were found, or are to be found in the sample."""
    if hasattr(found, "contraction_"):  # fitted to the pooled rows; with the shift of either sample to its own center
        return _drawn(points, found, plan)
    if is_plain(found) and isinstance(found.noise, Noise):
        return embed(points, found.kernel, noise=found.noise, plan=plan)  # type: ignore[arg-type]  # it was resolved
    return refitted(found, found.kernel)(points)  # type: ignore[arg-type]


def _drawn(points: Array, found: KernelMean, plan: Plan) -> Embedding:
    """Return the mean of a sample whose points are drawn to its center."""
    center = points.mean(axis=0)
    scale = 1.0 if found.strength_ is None else 1.0 / (1.0 + found.strength_)
    drawn = embed(center + found.contraction_ * (points - center), found.kernel_, noise=found.noise_, plan=plan)
    return scale * drawn
