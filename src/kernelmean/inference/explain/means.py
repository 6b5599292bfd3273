"""The two means whose difference is looked at, by the estimator of the test."""

from __future__ import annotations

from dataclasses import replace

from sklearn.base import clone

from ...embedding.embedding import Embedding, embed
from ...estimators import KME, KernelMean
from ...noise import Noise
from ..kernel_choice import choose_kernel, representative_rows
from ..questions import TwoSamples
from .subject import SampleSubject, kernel_for


def means_of(question: TwoSamples, subject: SampleSubject) -> tuple[Embedding, Embedding]:
    """Return the means of two samples in the space of one kernel.

    A noise without weights is fitted to the pooled rows, as in tests; anything else to each sample. A test of many
    kernels, or of a function, has plain means under the kernel that explains it.
    """
    sides = () if question.asked is None else question.asked.sides
    estimator = sides[0] if sides else None
    first, second = (subject.pooled[part] for part in subject.parts)
    if not isinstance(estimator, KernelMean):
        return _named(question, [embed(own, subject.kernel, plan=subject.plan) for own in (first, second)])
    pooled = subject.pooled
    base = kernel_for(pooled, KME(estimator.kernel, bandwidth=estimator.bandwidth), "the pooled sample")
    own = clone(estimator).set_params(kernel=base, bandwidth="median")
    if own.filter is not None or own.contraction is not None:
        return _named(question, [clone(own).fit(table).embedding_ for table in (first, second)])
    noise = choose_kernel(pooled, own, representative_rows(pooled), "the pooled sample").noise
    assert isinstance(noise, Noise), "pairs of noises are for pairs of kernels"
    return _named(question, [embed(table, base, noise=noise, plan=subject.plan) for table in (first, second)])


def _named(question: TwoSamples, means: list[Embedding]) -> tuple[Embedding, Embedding]:
    first, second = (replace(mean, names=question.names) for mean in means)
    return first, second
