"""Coresets of kernel means: a few weighted points, and the distance of their mean from that of all points."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np

from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.frozen import Frozen
from ...core.simplex_qp import solve_simplex_qp
from ...core.validate import check_integer
from ...plan.plan import serial_blas
from ..embedding import Embedding
from .thinning import DENSE, Atoms, Stage, compressed, swapped

Method = Literal["thinning", "split"]
ErrorKind = Literal["exact", "bound"]
EXACT_UP_TO = 20_000


@final
@dataclass(frozen=True, eq=False, repr=False)
class Coreset(Frozen):
    """A few weighted points that represent an embedding μ.

    Attributes
    ----------
    embedding : Embedding
        ν, the embedding of the chosen points with their weights and the noise of μ.
    indices : array of shape (m,)
        The numbers of the points in ``mu.points``; a point may be chosen twice.
    error : float
        |μ - ν| in the RKHS, or a bound of it: see ``error_kind``.
    error_kind : {"exact", "bound"}
        A "bound" is the sum of the norms by which each halving changed the mean. It always holds, is several times
        the distance, and is used where |μ| itself would take O(n²).
    sizes, errors : array of shape (s,)
        The error curve: the number of points after each round of halving, and the error of their mean, of the same
        kind as ``error``. ``error`` itself is the one after swaps and new weights.
    method : str
        How the points were found.
    """

    embedding: Embedding
    indices: IntArray
    error: float
    error_kind: ErrorKind
    sizes: IntArray
    errors: Array
    method: str

    @property
    def points(self) -> Array:
        """The points, shape (m, d)."""
        return self.embedding.points

    @property
    def weights(self) -> Array:
        """Their weights, shape (m,); they sum to those of μ."""
        return self.embedding.weights

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        word = "" if self.error_kind == "exact" else "at most "
        return f"Coreset({len(self)} points, error {word}{self.error:.3g}, {self.method})"


def compress(
    mu: Embedding,
    m: int,
    *,
    method: Method = "thinning",
    reweight: bool = False,
    exact_up_to: int = EXACT_UP_TO,
    rng: RngLike = 0,
) -> Coreset:
    r"""Return ``m`` points of an embedding, with weights, whose mean is near: |μ - ν| falls like 1/m, not 1/√m.

    Parameters
    ----------
    mu : Embedding
        With any weights, none negative; points with one noise or without noise.
    m : int
        From 1 to the number of points.
    method : {"thinning", "split"}
        "thinning" is kernel thinning: it halves the points, then swaps every point for the best one. "split" does not
        swap, so that E ν = μ for a sample of any size n and any m. For greedy points, use
        :func:`kernelmean.embedding.herding.herd`.
    reweight : bool
        Give the points the weights on the simplex that bring ν nearest to μ, by a quadratic programme: O(m³) per step.
    exact_up_to : int
        Up to this many points, |μ - ν| is computed, in O(n²) time; above, it is bounded.
    rng : int or Generator
        Seeds the pairs and the coin flips.

    Raises
    ------
    TypeError
        When ``mu`` is not an embedding.
    ValueError
        When weights are negative, parts have different noises, m is out of range, or an option is unknown.

    Notes
    -----
    Kernel thinning with the kernel itself, Dwivedi & Mackey (2022, 2024): KT-SPLIT, then the better of its points and
    a random draw, then KT-SWAP. Above 8192 points, Compress++ (Shetty, Dwivedi & Mackey 2022) runs in near-linear time.
    Any n and m are possible: a round merges only as many of the lightest points as needed, and weights add up. Beyond
    ``exact_up_to``, swaps, new weights and choices aim at the mean of the about 16√n points that Compress leaves.

    Examples
    --------
    >>> import kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> mu = km.embed(X, km.kernels.Gaussian(1.0))
    >>> few = compress(mu, 30)
    >>> few
    Coreset(30 points, error 0.0236, kernel thinning)
    >>> bool(np.isclose((mu - few.embedding).norm(), few.error)), bool(np.isclose(few.weights.sum(), 1.0))
    (True, True)
    """
    if not isinstance(mu, Embedding):
        raise TypeError(f"{mu!r} is not an Embedding; write km.embed(X, kernel) first")
    if method not in ("thinning", "split"):
        raise ValueError(f"method is {method!r}; write 'thinning' or 'split', or mu.herd(m) for herding")
    whole = Atoms.of(mu)
    used = np.flatnonzero(whole.weights > 0)
    if not check_integer(m, "m", 1) <= len(used):
        raise ValueError(f"m is {m}, but {len(used)} points have a weight; pass m ≤ {len(used)}")
    total = float(whole.weights.sum())
    atoms = (whole if len(used) == len(whole) else whole.take(used)).scaled(1.0 / total)
    with serial_blas:
        found = _Search(atoms, m, as_rng(rng), reweight, exact_up_to).found(swap=method == "thinning")
    sizes, errors = found.curve
    nu = replace(found.atoms.scaled(total).embedding(), names=mu.names)
    return Coreset(nu, used[found.rows], total * found.error, found.kind, sizes, total * errors, found.method)


@dataclass(frozen=True)
class _Found:
    atoms: Atoms
    rows: IntArray
    error: float
    kind: ErrorKind
    curve: tuple[IntArray, Array]
    method: str


@dataclass(frozen=True)
class _Search:
    """The search for a coreset of a given size."""

    atoms: Atoms
    size: int
    rng: np.random.Generator
    reweight: bool
    exact_up_to: int

    def found(self, *, swap: bool) -> _Found:
        """Halve, and swap."""
        stages = compressed(self.atoms, self.size, self.rng)
        name = "kernel thinning" if swap else "kernel halving"
        scheme = f"{name}{' by Compress++' if len(self.atoms) > DENSE else ''}"
        base = stages[0 if len(self.atoms) <= self.exact_up_to or len(stages) < 3 else 1]
        target = _Target(self.atoms.take(base.rows).weighted(base.weights))
        place: IntArray = np.empty(len(self.atoms), dtype=np.intp)
        place[base.rows] = np.arange(len(base.rows))
        chosen = place[stages[-1].rows], stages[-1].weights
        if swap and self.size < len(base.rows):
            rows, weights = min(chosen, self._drawn(base), key=lambda one: target.distance(*one))
            chosen = swapped(target.atoms, target.values, rows, weights), weights
        rows, weights = chosen
        if self.reweight:
            weights, scheme = target.best_weights(rows, weights), f"{scheme}, weights by quadratic programme"
        error = base.moved + target.distance(rows, weights)
        kind: ErrorKind = "bound" if base.moved else "exact"
        atoms, curve = target.atoms.take(rows).weighted(weights), self._curve(stages, target, base, place)
        return _Found(atoms, base.rows[rows], error, kind, curve, scheme)

    def _drawn(self, base: Stage) -> tuple[IntArray, Array]:
        """Return a random draw in proportion to the weights, with equal weights."""
        total = base.weights.sum()
        drawn = self.rng.choice(len(base.rows), self.size, replace=False, p=base.weights / total)
        return drawn, np.full(self.size, total / self.size)

    def _curve(self, stages: list[Stage], target: _Target, base: Stage, place: IntArray) -> tuple[IntArray, Array]:
        sizes = np.array([len(stage.rows) for stage in stages])
        if base is not stages[0]:
            return sizes, np.array([stage.moved for stage in stages])
        errors = [0.0, *(target.distance(place[stage.rows], stage.weights) for stage in stages[1:])]
        return sizes, np.array(errors)


class _Target:
    """The mean that points are chosen for, evaluated at all of its own points."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self.values = atoms.values(atoms)
        self.squared = float(atoms.weights @ self.values)

    def distance(self, rows: IntArray, weights: Array) -> float:
        """Return the distance of weighted points from the mean."""
        if len(rows) == len(self.atoms) == len(np.unique(rows)):
            change = np.zeros(len(rows))
            change[rows] = weights
            if np.array_equal(change, self.atoms.weights):
                return 0.0
        few = self.atoms.take(rows).weighted(weights)
        squared = self.squared - 2.0 * float(weights @ self.values[rows]) + float(weights @ few.values(few))
        return math.sqrt(max(squared, 0.0))

    def best_weights(self, rows: IntArray, weights: Array) -> Array:
        """Return the non-negative weights with the same sum that come nearest to the mean."""
        few, total = self.atoms.take(rows), float(weights.sum())
        gram = few.blocks()(slice(None), slice(None))
        return total * solve_simplex_qp(gram, self.values[rows] / total, start=weights / total).weights
