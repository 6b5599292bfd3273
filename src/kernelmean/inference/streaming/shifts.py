"""Pairs as sums of products of waves over groups of rows, under all cyclic shifts of one side within the groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
from scipy.fft import fft, ifft
from scipy.sparse import csr_array

from ...core.array import Array, IntArray, RngLike, as_rng, slices
from ...core.validate import check_finite, check_points
from ...embedding.features import FeaturePart, FeatureSums, Fourier, choose_noise
from ...embedding.features.base import HEAD, Summary
from ...embedding.features.compensated import Total
from ...kernels.base import Kernel
from ...kernels.tensor_product import TensorProduct
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan
from ..null import Null
from ..resampling_options import check_n_resamples
from ..result import TestResult
from ..statistics import ties
from .mean import Estimator, check_addable, draw_note, noise_form, used_kernel

GROUP = 16
"""Rows that exchange partners: a shift leaves a sixteenth of the dependence in place on average."""
BINS = 128
SCHEME = "shifts"
_AT_ONCE, _HELD = 2**13, 2**18
"""Frequencies times groups: what one call transforms, and what waits to be added."""

Complex = npt.NDArray[np.complexfloating[Any, Any]]


@final
@dataclass(eq=False)
class PairStream(Summary):
    """Pairs (x, y) in constant memory; made by :func:`pair_stream`.

    Attributes
    ----------
    features : Fourier
        Of a kernel on the columns of X and one on those of Y, as a TensorProduct.
    split : int
        The number of columns of X.
    products : array of shape (bins, 16, M, 2)
        Sums over groups of the products of waves, real and imaginary parts, Fourier transformed along the shifts.
    margins : array of shape (2, M, 2)
        Sums of the waves of X and of Y over all grouped rows.
    pending : array of shape (p, d), p < 16
        Rows that fill no group yet.
    rows : int
        Rows in groups.
    """

    features: Fourier
    split: int
    products: Array
    margins: Array
    pending: Array
    rows: int

    def __post_init__(self) -> None:
        """Check what files may bring."""
        count, dim = len(self.features.frequencies), self.features.dim
        shapes = (self.products.shape, self.margins.shape, self.pending.shape[1:])
        fits = shapes == ((BINS, GROUP, count, 2), (2, count, 2), (dim,)) and 0 < self.split < dim
        if not fits or self.rows % GROUP or self.rows < 0 or len(self.pending) >= GROUP:
            raise ValueError("products, margins and pending rows do not go together; write pair_stream(...)")
        for array in (self.products, self.margins, self.pending):
            check_finite(array, "the sums of pairs")

    def partial_fit(self, X: Any, Y: Any, *, plan: Plan = DEFAULT) -> Self:
        """Add pairs: the rows of ``X`` (b, dx) and those of ``Y`` (b, dy).

        Raises
        ------
        ValueError, TypeError
            When they are no finite tables of equally many rows and of the columns that the features are made for.
        """
        X, Y = check_points(X, "X"), check_points(Y, "Y")
        wanted = (self.split, self.features.dim - self.split)
        if len(X) != len(Y) or (X.shape[1], Y.shape[1]) != wanted:
            raise ValueError(
                f"X {X.shape} and Y {Y.shape} were passed; equally many rows of {wanted} columns are needed"
            )
        self._add(np.concatenate([self.pending, np.hstack([X, Y])]), plan)
        return self

    def _add(self, pairs: Array, plan: Plan) -> None:
        """Add whole groups, and keep what is left."""
        whole = len(pairs) // GROUP
        groups = pairs[: whole * GROUP].reshape(whole, GROUP, self.features.dim)
        for part in slices(whole, max(1, _HELD // len(self.features.frequencies))):
            self._add_groups(groups[part], plan)
        self.pending = pairs[whole * GROUP :].copy()

    def _add_groups(self, groups: Array, plan: Plan) -> None:
        """Add a number of groups whose transformed products the memory holds, the next group to the next bin."""
        first = self.rows // GROUP % BINS
        cuts = _without_wrapping(first, len(groups), max(1, _AT_ONCE // len(self.features.frequencies)))
        parts = plan.map(lambda cut: self._transformed(groups[cut]), cuts, groups.size * GROUP)
        for cut, (products, margins) in zip(cuts, parts, strict=True):
            start = (first + cut.start) % BINS
            sums = self.products[start : start + len(products)]
            np.add(sums, products.view(products.real.dtype).reshape(sums.shape), out=sums)
            self.margins += margins
        self.rows += len(groups) * GROUP

    def _transformed(self, groups: Array) -> tuple[Complex, Array]:
        """Return the products of the transformed waves of groups, (G, 16, M), and the sums of the waves."""
        left, right = self._waves(groups.reshape(-1, groups.shape[2]))
        shape = (len(groups), GROUP, -1)
        one, other = (fft(waves.reshape(shape), axis=1, overwrite_x=True) for waves in (left, right))
        sums = np.stack([waves[:, 0].sum(axis=0, dtype=np.complex128) for waves in (one, other)])
        backwards = one[:, -np.arange(GROUP)]
        return np.multiply(backwards, other, out=other), sums[..., None].view(np.float64)

    def _waves(self, pairs: Array) -> tuple[Complex, Complex]:
        """Return exp(i ωᵀx) and exp(i ηᵀy) for rows, shape (n, M)."""
        kind = np.complex64 if self.features.dtype == "float32" else np.complex128
        found = []
        for columns in (slice(None, self.split), slice(self.split, None)):
            angles = self.features.angles(pairs, columns)
            waves = np.empty(angles.shape, kind)
            np.cos(angles, out=waves.real)
            np.sin(angles, out=waves.imag)
            found.append(waves)
        return found[0], found[1]

    def __add__(self, other: PairStream) -> PairStream:
        """Return the stream of the pairs of both.

        The groups of both stay as they are and their pending rows form new ones; the test is exact, but equal to that
        of one stream only where all but the last have multiples of 2048 rows.
        """
        check_addable(self, other, "split")
        rows = self.rows + other.rows
        none = np.empty((0, self.features.dim))
        rolled = np.roll(other.products, self.rows // GROUP, axis=0)
        merged = PairStream(self.features, self.split, self.products + rolled, self.margins + other.margins, none, rows)
        merged._add(np.concatenate([self.pending, other.pending]), DEFAULT)
        return merged

    def test(
        self, *, estimator: Estimator = "kme", n_resamples: int = 999, rng: RngLike = 0, notes: tuple[str, ...] = ()
    ) -> TestResult:
        r"""Test whether x and y are independent, by cyclic shifts of y within groups of 16 rows.

        Parameters
        ----------
        estimator : {"kme", "mkme", "mmkme"}
            The last two smooth either kernel by the noise that leaving one out chooses for its side.
        n_resamples : int
            Random choices of one shift for each of 128 bins of groups.
        rng, notes
            As in :meth:`TwoSampleStream.test`.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            When there are fewer than 32 pairs, or an option is unknown.

        Notes
        -----
        The statistic is the V-statistic of HSIC for the kernel of the features,
        :math:`Σ_j w_j |\overline{e^{i(ω_j^⊤x + η_j^⊤y)}} - \overline{e^{iω_j^⊤x}}\;\overline{e^{iη_j^⊤y}}|^2`. Shifts
        within groups, the same for all groups of a bin, are a group of permutations of the rows of Y: P(p ≤ α) ≤ α
        for pairs in random order. Rows sorted by x keep their level and lose power, as neighbours are alike.
        """
        check_n_resamples(n_resamples)
        form = noise_form(estimator)
        n = self.rows + len(self.pending)
        if n < 2 * GROUP:
            raise ValueError(f"{n} pairs were added, at least {2 * GROUP} are needed")
        noises = self._noises(form)
        shifts = as_rng(rng).integers(0, GROUP, (n_resamples + 1, BINS))
        shifts[0] = 0
        gaps, weights = self._gaps(shifts), self.features.weights
        damping = self._damping(noises)
        parts = (gaps.real**2 + gaps.imag**2) * damping**2
        values = (parts @ weights)[None]
        tolerance = ties(values, np.array([self.features.mass]))
        null = Null(values, tolerance, "HSIC (V-statistic)", SCHEME, 4.0 * self.products.nbytes)
        own = (
            f"{BINS} bins of groups of {GROUP} consecutive rows, y shifted within groups",
            draw_note(self.features, parts[0]),
        )
        return TestResult(
            method="Permutation test of independence, HSIC of features, one pass",
            kernel=tuple(used_kernel(own.kernel, v, own.dim) for own, v in zip(self._sides(), noises, strict=True)),
            noise=noises,
            sizes=(n,),
            notes=(*notes, *own),
            **null.outcome(0),
        )

    def _gaps(self, shifts: IntArray) -> Complex:
        """Return the mean product of waves under shifts less the product of the means, shape (P, M)."""
        n = self.rows + len(self.pending)
        products = ifft(_complex(self.products), axis=1).reshape(BINS * GROUP, -1)
        margins, left_over = _complex(self.margins), np.zeros(products.shape[1], np.complex128)
        if len(self.pending):
            left, right = self._waves(self.pending)
            margins = margins + np.stack([left.sum(axis=0), right.sum(axis=0)])
            left_over = (left * right).sum(axis=0)
        count = len(shifts)
        columns = (shifts + GROUP * np.arange(BINS)).ravel()
        chosen = csr_array((np.ones(columns.size), columns, BINS * np.arange(count + 1)), shape=(count, len(products)))
        total = np.asarray(chosen @ products) + left_over
        return total / n - margins[0] * margins[1] / n**2

    def _noises(self, form: str | None) -> tuple[Noise, Noise]:
        """Return the noise of either side."""
        if form is None:
            return Dirac(), Dirac()
        found = []
        for side, features in enumerate(self._sides()):
            waves = _complex(self.margins)[side]
            if len(self.pending):
                waves = waves + self._waves(self.pending)[side].sum(axis=0)
            n = self.rows + len(self.pending)
            vector = np.tile(np.sqrt(features.weights), 2) * np.concatenate([waves.real, waves.imag])
            head = np.array([n, n, n * features.mass, 0.0])
            mean = FeatureSums(Dirac(), n, Total.of(np.concatenate([head, vector])))
            found.append(choose_noise(FeaturePart(features, (mean,)).embedding(), form))
        assert len(head) == HEAD
        return found[0], found[1]

    def _damping(self, noises: tuple[Noise, Noise]) -> Array:
        return np.multiply(*(features.damping(noise) for features, noise in zip(self._sides(), noises, strict=True)))

    def _sides(self) -> tuple[Fourier, Fourier]:
        """Return the features of either side alone, at the same frequencies."""
        whole = self.features
        made = [
            Fourier(kernel, whole.frequencies[:, part], whole.strata, whole.origin[part], whole.design, whole.dtype)
            for kernel, part in zip(
                _kernels(whole.kernel), (slice(None, self.split), slice(self.split, None)), strict=True
            )
        ]
        return made[0], made[1]


def _without_wrapping(first: int, count: int, most: int) -> list[slice]:
    """Return slices of so many groups, none of which goes beyond the last bin."""
    edges = sorted({*range(0, count, most), *range(-first % BINS, count, BINS), count})
    return [slice(start, stop) for start, stop in pairwise([0, *edges[edges[0] == 0 :]])]


def pair_stream(features: Fourier) -> PairStream:
    """Return an empty stream of pairs.

    Parameters
    ----------
    features : Fourier
        Of ``TensorProduct((k, l), (columns of x, columns of y))``, columns in order: x first.

    Raises
    ------
    TypeError
        When the features are others.

    Examples
    --------
    >>> from kernelmean.embedding.features import fourier
    >>> from kernelmean.kernels import Gaussian
    >>> both = TensorProduct((Gaussian(1.0), Gaussian(1.0)), ((0,), (1,)))
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> pair_stream(fourier(both, dim=2)).partial_fit(x, x**2).test().pvalue
    0.001
    """
    kernel = getattr(features, "kernel", None)
    if not isinstance(features, Fourier) or not isinstance(kernel, TensorProduct) or len(kernel.kernels) != 2:
        raise TypeError(f"features is {features!r}; Fourier features of a TensorProduct of two kernels are needed")
    first, second = kernel.columns
    if [*first, *second] != list(range(features.dim)):
        raise ValueError(f"the kernels use the columns {first} and {second}; those of x come first, then those of y")
    count = len(features.frequencies)
    products, margins = np.zeros((BINS, GROUP, count, 2)), np.zeros((2, count, 2))
    return PairStream(features, len(first), products, margins, np.empty((0, features.dim)), 0)


def _kernels(kernel: Kernel) -> tuple[Kernel, Kernel]:
    assert isinstance(kernel, TensorProduct), "pair_stream checks it"
    return kernel.kernels[0], kernel.kernels[1]


def _complex(reals: Array) -> Complex:
    return np.ascontiguousarray(reals).view(np.complex128)[..., 0]
