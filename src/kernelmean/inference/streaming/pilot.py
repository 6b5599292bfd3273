"""What must be known before a pass: the kernel and the features, from a few rows that no permutation moves then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.conflicts import refuse
from ...core.table import Table
from ...core.validate import check_integer
from ...core.words import count
from ...embedding.features import Fourier, fourier
from ...estimators.options import KernelLike, make_kernel
from ...kernels.base import Kernel
from ...kernels.tensor_product import TensorProduct
from ...tables.source import Source
from ..kernel_choice import base_kernel
from ..units import is_default, units_notes

PILOT = 500
"""Rows of each sample that a rule looks at, when nothing else is said."""
_PER_COLUMN, _LIMITS = 256, (512, 4096)


@final
@dataclass(frozen=True)
class Recipe:
    """How features come about.

    Parameters
    ----------
    kernel : str, class or Kernel
    bandwidth : float, array of shape (d,), or str
    n_frequencies : int or None
        None: 256 for every column, 512 at least and 4096 at most.
    design : {"plain", "orthogonal", "quasi"}
    dtype : {"float64", "float32"}
    seed : int
    """

    kernel: KernelLike
    bandwidth: Any
    n_frequencies: int | None
    design: Any
    dtype: Any
    seed: int

    def __post_init__(self) -> None:
        if self.n_frequencies is not None:
            check_integer(self.n_frequencies, "n_frequencies", 1)
        check_integer(self.seed, "seed", 0)

    @property
    def looks(self) -> bool:
        """Whether a rule looks at rows to find the bandwidth."""
        return not isinstance(self.kernel, Kernel) and isinstance(self.bandwidth, str)

    def chosen(self, rows: Array, name: str) -> tuple[Kernel, tuple[str, ...]]:
        """Return the kernel for rows like these, and what to tell the reader; without a rule no row is looked at."""
        if not self.looks:
            return make_kernel(self.kernel, self.bandwidth, rows), ()
        found = base_kernel(rows, self.kernel, self.bandwidth, np.arange(len(rows)), name)
        return found.kernel, found.notes

    def features(self, rows: Array) -> tuple[Fourier, tuple[str, ...]]:
        """Return features made for rows like these, and what to tell the reader."""
        kernel, notes = self.chosen(rows, "some rows")
        return self._made(kernel, rows), notes

    def product(self, other: Recipe, X: Array, Y: Array) -> tuple[Fourier, tuple[str, ...]]:
        """Return features of the product of this kernel on X and another one on Y."""
        (k, notes), (second, more) = self.chosen(X, "some rows of X"), other.chosen(Y, "some rows of Y")
        split, dim = X.shape[1], X.shape[1] + Y.shape[1]
        kernel = TensorProduct((k, second), (range(split), range(split, dim)))
        return self._made(kernel, np.hstack([X, Y])), notes + more

    def _made(self, kernel: Kernel, rows: Array) -> Fourier:
        """Return features with an origin amid the rows."""
        dim, origin = rows.shape[1], np.median(rows, axis=0)
        number = self.n_frequencies or int(np.clip(_PER_COLUMN * dim, *_LIMITS))
        rng = np.random.default_rng([self.seed, dim])
        return fourier(kernel, dim, number, design=self.design, origin=origin, dtype=self.dtype, rng=rng)


def check_asked(features: Any, estimator: Any, frequencies: int | None, **options: Any) -> bool:
    """Say whether nobody chose a kernel; raise when features were passed beside options that make others.

    ``frequencies`` is the default number.
    """
    check_integer(options["pilot"], "pilot", 2)
    if features is None:
        return is_default(options["kernel"], options["bandwidth"], estimator)
    defaults = {"kernel": "gaussian", "bandwidth": "median", "n_frequencies": frequencies, "design": "orthogonal"}
    defaults |= {"dtype": "float32", "pilot": PILOT}
    given = {name: (value, defaults[name]) for name, value in options.items()}
    refuse("features= brings its kernel and its frequencies", **given)
    return False


def units_of(samples: Sequence[Array], names: tuple[str, ...], study: str = "compare") -> tuple[str, ...]:
    """Return what to tell of the spreads of columns, as some rows show them."""
    return units_notes(*(Table(rows, names) for rows in samples), study=study, adaptive=False)


def pilot_rows(lengths: Sequence[int | None], pilot: int) -> list[int]:
    """Return how many rows of every sample a rule looks at: ``pilot`` each where a length is unknown.

    Where all are known so many on average, a tenth of all rows at most, and the same share of every sample.
    """
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return [pilot] * len(lengths)
    share = min(pilot * len(known) / max(sum(known), 1), 0.1)
    return [max(1, round(share * length)) for length in known]


def drawn_rows(batches: Source, n: int, many: int, seed: int) -> tuple[Array, Iterator[Array]]:
    """Return rows drawn at random out of n, for which the batches are read once, and a pass over the others.

    First rows would not do: of sorted samples they are the smallest ones, and what is left is cut off at two places.
    """
    drawn = drawn_numbers(n, many, seed)
    head = [batch[rows] for batch, rows in _located(batches, drawn)]
    return np.concatenate(head), (np.delete(batch, rows, axis=0) for batch, rows in _located(batches, drawn))


def drawn_numbers(n: int, many: int, seed: int) -> IntArray:
    """Return the ascending numbers of rows drawn at random out of n."""
    return np.sort(np.random.default_rng([seed, n]).choice(n, min(many, n), replace=False, shuffle=False))


def _located(batches: Source, rows: IntArray) -> Iterator[tuple[Array, IntArray]]:
    """Yield every batch with the positions in it of some rows, given by their ascending numbers."""
    start = 0
    for batch in batches:
        first, last = np.searchsorted(rows, [start, start + len(batch)])
        yield batch, rows[first:last] - start
        start += len(batch)


def left_out_note(rows: int) -> str:
    """Say that rows which a rule looked at take no part in the test."""
    return f"{count(rows, 'row')} that the bandwidth was chosen by left out"
