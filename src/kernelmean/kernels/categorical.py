"""A kernel for columns that hold categories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import imul

from ..core.array import Array, full, like, namespace
from ..core.validate import as_value, check_numbers
from .base import Kernel, as_rows, two_tables


@dataclass(frozen=True)
class Categorical(Kernel):
    r"""The agreement kernel :math:`k(x, y) = Π_j (ρ + (1-ρ)\,1\{x_j = y_j\})` for coded categories.

    Parameters
    ----------
    similarity : float
        ρ in [0, 1]: the factor of a column in which the rows disagree. With 0, only equal rows are similar; with 1, the
        kernel ignores the columns.

    Examples
    --------
    >>> import numpy as np
    >>> Categorical(0.5)(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]]))
    array([[0.5]])
    """

    similarity: float = 0.0

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return (cls(0.1),)

    def __post_init__(self) -> None:
        similarity = check_numbers(self.similarity, "similarity")
        if similarity.ndim or not 0.0 <= similarity <= 1.0:
            raise ValueError(f"similarity is {self.similarity!r}, a number in [0, 1] is needed")
        object.__setattr__(self, "similarity", as_value(similarity))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        X, Y = two_tables(X, Y)
        same, other = like(1.0, X), like(self.similarity, X)
        equal = (X[:, axis][:, None] == Y[:, axis][None, :] for axis in range(X.shape[1]))
        gram: Array = reduce(imul, (namespace(X).where(agree, same, other) for agree in equal))
        return gram

    def diag(self, X: Array) -> Array:
        """Return ones, shape (n,)."""
        return full(as_rows(X), 1.0)
