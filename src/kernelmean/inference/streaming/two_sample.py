"""Two samples in constant memory: sums of features over bins of rows, then permutations of whole bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.validate import check_integer
from ...embedding.embedding import Embedding
from ...embedding.features import FeatureMap, FeaturePart, FeatureSums, Fourier, choose_noise
from ...embedding.features.base import HEAD, Summary
from ...embedding.features.compensated import Total
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan
from ..null import Null
from ..permutations import RandomPermutations
from ..resampling_options import check_n_resamples
from ..result import TestResult
from ..schemes.blocks import bin_size
from ..statistics import MMD, StatisticForm, Sums
from .bins import BinSums
from .mean import Estimator, check_addable, draw_note, noise_form, used_kernel

SCHEME = "bins"
_MOST_BINS = 4096
_BATCH = 1024


@final
@dataclass(eq=False)
class TwoSampleStream(Summary):
    """Two samples as sums of features over bins of rows, in constant memory; made by :func:`two_sample_stream`.

    Add rows of either sample in any order, merge with the sums of other rows, save, and test at the end.

    Attributes
    ----------
    features : FeatureMap
    first, second : BinSums
        Of the two samples.
    """

    features: FeatureMap
    first: BinSums
    second: BinSums

    def __post_init__(self) -> None:
        """Check what files may bring."""
        for bins in (self.first, self.second):
            if bins.sums.shape[1] != HEAD + self.features.size:
                raise ValueError(f"sums of shape {bins.sums.shape} do not fit {self.features!r}")

    @property
    def deal(self) -> tuple[tuple[int | None, int], tuple[int | None, int]]:
        """The length (None where unknown) and the seed of either sample, which say into which bin a row falls."""
        return (self.first.n_rows, self.first.seed), (self.second.n_rows, self.second.seed)

    def partial_fit(
        self,
        X: Any = None,
        Y: Any = None,
        *,
        starts: tuple[int | None, int | None] = (None, None),
        plan: Plan = DEFAULT,
    ) -> Self:
        """Add rows of the first sample, of the second, or of both.

        Parameters
        ----------
        X, Y : array of shape (b, d), optional
            Different numbers of rows are fine.
        starts : (int, int), optional
            The numbers of the first rows of X and Y within their samples, from 0; by default they follow those that
            were added last. Workers that share a sample pass them, and the bins do not depend on who adds a row.
        plan : Plan, optional
            Threads.

        Raises
        ------
        ValueError, TypeError
            When rows are no finite table of as many columns as the features, or more than were announced.
        """
        for rows, bins, start in ((X, self.first, starts[0]), (Y, self.second, starts[1])):
            if rows is not None:
                checked = self.features.check_rows(rows)
                bins.add(self.features, checked, None if start is None else check_integer(start, "start", 0), plan)
        return self

    def keep(self, X: Array, Y: Array, *, plan: Plan = DEFAULT) -> Self:
        """Add rows that no permutation moves, since a bandwidth was chosen by them; they count in the statistic."""
        for rows, bins in ((X, self.first), (Y, self.second)):
            bins.keep(self.features, self.features.check_rows(rows), plan)
        return self

    def mapped(self, features: FeatureMap, convert: Callable[[Array], Array], mass: float) -> TwoSampleStream:
        """Return the stream of other features, linear in those of this one, with |φ|² = ``mass`` for every row."""
        return TwoSampleStream(features, self.first.mapped(convert, mass), self.second.mapped(convert, mass))

    def __add__(self, other: TwoSampleStream) -> TwoSampleStream:
        """Return the sums over the rows of both; no row may be in both."""
        check_addable(self, other)
        return TwoSampleStream(self.features, self.first + other.first, self.second + other.second)

    def pooled(self) -> Embedding:
        """Return the mean of the rows of both samples together."""
        total = Total.of(self.first.total + self.second.total)
        mean = FeatureSums(Dirac(), self.first.total_rows + self.second.total_rows, total)
        return FeaturePart(self.features, (mean,)).embedding()

    def test(
        self,
        *,
        estimator: Estimator = "kme",
        statistic: StatisticForm = "u",
        n_resamples: int = 999,
        rng: RngLike = 0,
        notes: tuple[str, ...] = (),
    ) -> TestResult:
        r"""Test whether the two samples come from one distribution, by permutations of bins.

        Parameters
        ----------
        estimator : {"kme", "mkme", "mmkme"}
            With the last two the kernel is smoothed by the noise that leaving one out chooses for the pooled sample,
            from its sums alone; no permutation changes it.
        statistic : {"u", "v"}
            Of the squared maximum mean discrepancy under the kernel of the features.
        n_resamples : int
            Random permutations of the bins.
        rng : int or Generator
            Seeds them.
        notes : tuple of str
            What a caller wants the result to say besides.

        Returns
        -------
        TestResult
            Its notes say how many features there were, and the standard error over their draw.

        Raises
        ------
        ValueError
            When rows are missing, a sample is too small, or fills no bin.

        Notes
        -----
        Bins hold equally many rows, each of one sample; permuting them is a group of permutations of the rows, so
        P(p ≤ α) ≤ α for n ≠ m too, for whatever the features are. Rows that fill no bin stay in their sample, and so do
        those that features were chosen by.
        Domingo-Enrich, Dwivedi & Mackey (2025), section 3. O(P B m) time for P permutations of B bins.
        """
        check_n_resamples(n_resamples)
        form = noise_form(estimator)
        first, second = self._aligned()
        measure = MMD(first.total_rows, second.total_rows, statistic)
        noise = Dirac() if form is None else choose_noise(self.pooled(), form)
        problem = _Binned.of(self.features, first, second, noise)
        draws = RandomPermutations(len(problem.bins), n_resamples + 1, as_rng(rng))
        sums = Sums.joined([problem.sums(batch) for batch in draws.batches(_BATCH)], axis=1)
        values = measure(sums)
        memory = float(self.first.sums.nbytes + self.second.sums.nbytes + 2 * problem.bins.nbytes)
        null = Null(values, measure.tolerance(values, sums), measure.name, SCHEME, memory)
        own = (self._deal_note(first), f"{len(problem.bins)} bins of {first.size} rows", problem.error_note(measure))
        return TestResult(
            method="Two-sample permutation test, maximum mean discrepancy of features, one pass",
            kernel=used_kernel(self.features.kernel, noise, self.features.dim),
            noise=noise,
            sizes=(first.total_rows, second.total_rows),
            notes=(*notes, *own),
            **null.outcome(0),
        )

    def _aligned(self) -> tuple[BinSums, BinSums]:
        """Return both samples in bins of one size."""
        for bins, name in ((self.first, "the first sample"), (self.second, "the second sample")):
            bins.check_complete(name)
        size = max(self.first.size, self.second.size)
        first, second = self.first.coarsened(size), self.second.coarsened(size)
        if first.size != second.size:
            raise ValueError(f"bins of {first.size} and {second.size} rows cannot be exchanged; announce both sizes")
        if min(len(first.full), len(second.full)) < 1:
            kept = self.first.total_rows + self.second.total_rows - first.rows - second.rows
            apart = f", besides {kept} that the bandwidth was chosen by," if kept else ""
            mend = "take a part of the larger one" + ", or a smaller pilot=" * bool(kept)
            raise ValueError(
                f"samples of {first.rows} and {second.rows} rows{apart} are too unequal for bins of {size} rows; {mend}"
            )
        return first, second

    def _deal_note(self, bins: BinSums) -> str:
        if bins.n_rows is not None:
            return f"rows dealt to bins at random (seed {bins.seed})"
        return (
            "bins are runs of consecutive rows: exact for rows in random order; where rows are sorted, or drift alike "
            "in both samples, p is larger than need be"
        )


@final
@dataclass(frozen=True)
class _Binned:
    """Sums over bins of features that are centered at the pooled mean.

    ``bins`` (B, m) can be exchanged, the first ``n_first`` of them are of the first sample; ``fixed`` (m,) is the sum
    over its rows that fill no bin. ``diagonal`` (B,) and ``fixed_diagonal`` are sums of squared centered norms,
    ``trace`` that over all rows, ``label_trace`` the trace of the centered matrix of labels.
    """

    features: FeatureMap
    bins: Array
    n_first: int
    fixed: Array
    diagonal: Array
    fixed_diagonal: float
    trace: float
    label_trace: float
    noise: Noise
    means: tuple[Array, Array]
    left_out: float

    @classmethod
    def of(cls, features: FeatureMap, first: BinSums, second: BinSums, noise: Noise) -> Self:
        """Damp the sums by the noise, and center them."""
        totals = [bins.total for bins in (first, second)]
        n, m = first.total_rows, second.total_rows
        rows = float(n + m)
        raw = np.concatenate([first.full, second.full, first.left_over[None], *(total[None] for total in totals)])
        vectors, counts, squares = features.damped(raw[:, HEAD:], noise), raw[:, 0], raw[:, 2]
        if isinstance(features, Fourier) and not isinstance(noise, Dirac):
            squares = counts * float(features.weights @ features.damping(noise) ** 2)
        mean = (vectors[-2] + vectors[-1]) / rows
        centered = vectors - counts[:, None] * mean
        diagonal = squares - 2.0 * (vectors @ mean) + counts * (mean @ mean)
        return cls(
            features,
            centered[:-3],
            len(first.full),
            centered[-3],
            diagonal[:-3],
            float(diagonal[-3]),
            float(diagonal[-2:].sum()),
            n * m / rows,
            noise,
            (vectors[-2] / n, vectors[-1] / m),
            float(sum(total[3] / total[0] for total in totals)),
        )

    def sums(self, permutations: IntArray) -> Sums:
        """Return the sums under permutations of the bins, shape (P, B)."""
        labels = (permutations < self.n_first).astype(np.float64)
        inside = labels @ self.bins + self.fixed
        pairs = np.einsum("pm,pm->p", inside, inside)
        diagonal = labels @ self.diagonal + self.fixed_diagonal
        return Sums(pairs[None], diagonal[None], np.array([self.trace]), np.array([self.label_trace]))

    def error_note(self, measure: MMD) -> str:
        """Say how far the statistic may be from that of the kernel."""
        if not isinstance(self.features, Fourier):
            return f"{self.features.summary}: MMD² differs from that of the kernel by {self.left_out**2:.3g} at most"
        first, second = self.means
        parts = [
            self.features.power(left, right) for left, right in ((first, first), (second, second), (first, second))
        ]
        if measure.kind == "u":
            own = self.features.damping(self.noise) ** 2
            parts[:2] = [
                (n * part - own) / (n - 1) for n, part in zip((measure.n_first, measure.n_second), parts, strict=False)
            ]
        return draw_note(self.features, parts[0] + parts[1] - 2 * parts[2])


def two_sample_stream(features: FeatureMap, *, sizes: tuple[int, int] | None = None, seed: int = 0) -> TwoSampleStream:
    """Return an empty stream of two samples.

    Parameters
    ----------
    features : FeatureMap
        Fixed before the first row; never chosen by looking at which sample a row is in.
    sizes : (int, int), optional
        The numbers of rows, where they are known: then rows are dealt to bins at random, so that their order does not
        matter, and workers may add any rows. Otherwise bins are runs of consecutive rows.
    seed : int
        Of the deal.

    Raises
    ------
    ValueError
        When the sizes are no positive integers, or too unequal.

    Examples
    --------
    >>> from kernelmean.embedding.features import fourier
    >>> from kernelmean.kernels import Gaussian
    >>> stream = two_sample_stream(fourier(Gaussian(1.0), dim=1), sizes=(100, 50))
    >>> rows = np.random.default_rng(0).normal(size=(150, 1))
    >>> result = stream.partial_fit(rows[:100], rows[100:] + 2.0).test()
    >>> result.pvalue, result.scheme
    (0.001, 'bins')
    """
    if not isinstance(features, FeatureMap):
        raise TypeError(f"features is {features!r}; a map such as features.fourier(kernel, dim=2) is needed")
    check_integer(seed, "seed", 0)
    if sizes is None:
        return TwoSampleStream(features, BinSums.empty(features, seed), BinSums.empty(features, seed + 1))
    n, m = (check_integer(rows, "an entry of sizes", 1) for rows in sizes)
    size = max(bin_size(n, m), -(-(n + m) // _MOST_BINS))
    if min(n, m) < size:
        raise ValueError(
            f"samples of {n} and {m} rows are too unequal for bins of {size} rows; take a part of the larger one"
        )
    first, second = (BinSums.empty(features, seed + k, n_rows=rows, size=size) for k, rows in enumerate((n, m)))
    return TwoSampleStream(features, first, second)
