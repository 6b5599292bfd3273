"""The options of a test in one pass: features in the place of all pairs of rows, in memory that does not grow."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, final

from ..core.conflicts import refuse
from ..core.validate import check_integer
from ..embedding.features import DESIGNS, FeatureMap
from ..embedding.features.draws import Design

NAME = "one-pass"
"""What ``scheme=`` calls the options as they are by default."""
PILOT = 500
"""Rows of each sample that a rule looks at, when nothing else is said."""


@final
@dataclass(frozen=True)
class OnePass:
    """How a test of rows of any number reads them once; it is passed as ``scheme=OnePass(...)``.

    Parameters
    ----------
    features : FeatureMap, optional
        From :func:`kernelmean.embedding.features.fourier` or ``nystrom``; it brings its kernel, and the place of the
        other options. Independence takes Fourier features of a kernel on X times one on Y, see
        :func:`kernelmean.inference.streaming.pair_stream`.
    n_frequencies : int, optional
        Random Fourier frequencies: 512 for two samples. For two variables, of (x, y) together, 256 for every column,
        512 at least and 4096 at most: the null distribution is wider the fewer there are, and the more columns the
        more it takes.
    design, dtype : as in :func:`kernelmean.embedding.features.fourier`
        In float32 a feature has an error of 1e-7, far below that of the number of features.
    pilot : int
        Rows of each sample that a rule for the bandwidth, such as "median", looks at. Where all lengths are known, so
        many on average and a tenth at most, the same share of both samples.

    Raises
    ------
    ValueError, TypeError
        When an option is none of these, or stands beside features that leave it without effect.

    Notes
    -----
    *Two samples.* Rows that a rule looked at count in the statistic, but every permutation leaves them in their
    sample, since the kernel was chosen by them. Where lengths are known they are drawn at random, which reads a file
    once more; otherwise they are the first ones. The other rows are added up in bins, and permutations exchange bins:
    rows of sources whose length is known beforehand (arrays, Parquet) are dealt to them at random, of others bins are
    runs of rows. The p-value is exact for these permutations, whatever the number of features; with more of them the
    test is nearer to that of the kernel. O((n + m) M d) time, O(M B) memory for M frequencies and B bins.

    *Two variables.* A rule looks at the first pairs, which the test leaves out. The p-value is exact for pairs in
    random order, see :meth:`kernelmean.inference.streaming.PairStream.test`. O(n M d) time, O(M) memory, 33 kB for each
    frequency.

    Equal seeds give equal results, to rounding, whatever the batches; bitwise where the batches are equal.
    Rahimi & Recht (2007); Domingo-Enrich, Dwivedi & Mackey (2025).

    Examples
    --------
    >>> import numpy as np, kernelmean as km
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(3000, 2)), rng.normal(size=(2000, 2)) + 0.2
    >>> result = km.mmd_test(X, Y, scheme=km.streaming.OnePass(n_frequencies=64), rng=0)
    >>> result.pvalue, result.sizes, result.scheme
    (0.001, (3000, 2000), 'bins')

    >>> result = km.hsic_test(X, X[:, :1] ** 2, scheme=km.streaming.OnePass(n_frequencies=64), rng=0)
    >>> result.pvalue, result.sizes, result.scheme
    (0.001, (2700,), 'shifts')
    """

    features: FeatureMap | None = None
    n_frequencies: int | None = None
    design: Design = "orthogonal"
    dtype: Literal["float64", "float32"] = "float32"
    pilot: int = PILOT

    def __post_init__(self) -> None:
        check_integer(self.pilot, "pilot", 2)
        if self.n_frequencies is not None:
            check_integer(self.n_frequencies, "n_frequencies", 1)
        if self.design not in DESIGNS:
            raise ValueError(f"design is {self.design!r}; pass one of {', '.join(map(repr, DESIGNS))}")
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"dtype is {self.dtype!r}; write 'float64' or 'float32'")
        if self.features is not None:
            self._check_features()

    def _check_features(self) -> None:
        """Raise when there are none, or what makes others was passed beside them."""
        if not isinstance(self.features, FeatureMap):
            raise TypeError(f"features is {self.features!r}; a map such as features.fourier(kernel, dim=2) is needed")
        others = {own.name: (getattr(self, own.name), own.default) for own in fields(self) if own.name != "features"}
        refuse("features= brings its kernel and its frequencies", **others)
