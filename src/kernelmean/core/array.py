"""The array layer: the types that all layers share, and operations on arrays of any library.

Code on arrays uses the Python array API, ``namespace(x)``, which is the same for torch, CuPy, JAX and NumPy; arrays
stay in their library and on their device. Where NumPy or SciPy are faster, a function declares a second version with
:class:`array_api`. Code outside core never asks for the library of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeAlias, TypeGuard, TypeVar, final

import array_api_compat as compat
import numpy as np
import numpy.typing as npt
import scipy.special

Array: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
P = ParamSpec("P")
R = TypeVar("R")
RngLike: TypeAlias = np.random.Generator | np.random.SeedSequence | int | None
Progress: TypeAlias = Callable[[str, int, int], None]
"""Long work calls it with the name of the next step, the number of steps done, and the total."""
LARGEST_EXACT = 2**53
"""float64 tells integers apart up to here."""


class _Silent:
    """Progress that is not shown."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        return "silent"


SILENT: Progress = _Silent()

_OWN = (np.ndarray, np.generic, list, tuple, int, float, str)  # NumPy 2 arrays have __array_namespace__ as well
_MEDIAN_OF = 1024  # rows, approximately, for the median
_COPIES = 4  # of a tile in memory at once while it is computed and summed


def as_rng(rng: RngLike) -> np.random.Generator:
    """Return the generator that was passed, or a new one seeded with an integer (None: by the system)."""
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError):
        generator = None
    if generator is None or isinstance(rng, np.random.RandomState | bool):
        raise TypeError(f"rng is {rng!r}; pass a whole number from 0, numpy.random.default_rng(seed), or None")
    return generator


def centered(*samples: Array) -> tuple[Array, ...]:
    """Shift all samples by the median of some rows of the first one, which outliers do not move.

    Differences stay the same, and rounding errors of large offsets disappear.
    """
    first = samples[0]
    step = 1 + first.shape[0] // _MEDIAN_OF
    some = to_numpy(take_rows(first, np.arange(0, first.shape[0], step))) if is_foreign(first) else first[::step]
    origin = np.median(some, axis=0) if len(some) else np.zeros(first.shape[1])
    return tuple(sample - like(origin, sample) for sample in samples)


def slices(n: int, size: int, *, start: int = 0) -> list[slice]:
    """Cut ``range(start, n)`` into consecutive slices of at most ``size``."""
    return [slice(first, min(first + size, n)) for first in range(start, n, size)]


# -- which library an array is of --------------------------------------------------------------------------------------


def is_foreign(x: Any) -> TypeGuard[Any]:
    """Return whether ``x`` is an array of a library other than NumPy that computes itself, such as a torch tensor."""
    if type(x) is np.ndarray or isinstance(x, _OWN) or compat.is_dask_array(x):
        return False
    return compat.is_torch_array(x) or hasattr(x, "__array_namespace__")


@final
class array_api(Generic[P, R]):  # noqa: N801  # a decorator, with a name like those of functools
    """A function of arrays, written in the array API; the library of the first argument selects the version.

    Examples
    --------
    >>> @array_api
    ... def twice(x):
    ...     return x + x
    >>> @twice.numpy
    ... def _(x):
    ...     return np.multiply(x, 2.0)
    >>> twice(np.ones(2))
    array([2., 2.])
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self._general = self._of_numpy = function
        update_wrapper(self, function)

    def numpy(self, function: Callable[P, R]) -> Callable[P, R]:
        """Use ``function`` for NumPy arrays: equal up to rounding, and faster."""
        self._of_numpy = function
        return function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the version for the library of the first argument."""
        return (self._general if is_foreign(args[0]) else self._of_numpy)(*args, **kwargs)

    def __reduce__(self) -> str:
        return str(self.__name__)  # type: ignore[attr-defined]  # update_wrapper has set it


def namespace(x: Any) -> Any:
    """Return the library of an array: ``numpy`` itself, or another one wrapped by array-api-compat."""
    return compat.array_namespace(x) if is_foreign(x) else np


def home(x: Any) -> str:
    """Return the library and the device of an array, for errors."""
    name = str(namespace(x).__name__).removeprefix("array_api_compat.")
    return f"{name} on {compat.device(x)}" if is_foreign(x) else name


def check_same_home(X: Any, Y: Any, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise when two arrays are of different libraries or on different devices."""
    if not is_foreign(X) and not is_foreign(Y):
        return
    if namespace(X) is not namespace(Y) or compat.device(X) != compat.device(Y):
        raise TypeError(
            f"{names[0]} is of {home(X)} and {names[1]} of {home(Y)}; bring both to one library and device, such as "
            "torch.as_tensor(Y, device=X.device), or X.cpu().numpy() for NumPy"
        )


def check_numpy(X: Any, what: str) -> None:
    """Raise when an array is not NumPy's, but ``what`` needs NumPy arrays."""
    if is_foreign(X):
        raise TypeError(f"X is of {home(X)}, and {what} need NumPy's arrays; pass X.cpu().numpy(), say")


def of_one_type(X: Any, Y: Any) -> tuple[Any, Any]:
    """Return two tables of one library and device, both float64 if one is; raise when libraries or devices differ."""
    check_same_home(X, Y)
    if not is_foreign(X) or X.dtype == Y.dtype:
        return X, Y
    return as_float64(X), as_float64(Y)


def to_numpy(x: Any) -> Any:
    """Return a foreign array as a NumPy array, copied from its device if necessary; anything else as it is."""
    if not is_foreign(x):
        return x
    if compat.is_torch_array(x):
        return x.detach().cpu().numpy()
    if compat.is_cupy_array(x):
        return x.get()
    host = compat.array_namespace(x).__array_namespace_info__().default_device()
    return np.asarray(compat.to_device(x, host))


def as_host(x: Any) -> Array:
    """Return an array of any library as a float64 NumPy array."""
    return np.asarray(to_numpy(x), dtype=np.float64)


def like(values: Any, x: Any, dtype: str | None = "same") -> Any:
    """Return numbers from the host in the library and on the device of ``x``, with its type or ``dtype``.

    With ``dtype=None`` they keep the type of ``values``.
    """
    if not is_foreign(x):
        return np.asarray(values)
    xp = namespace(x)
    kind = x.dtype if dtype == "same" else None if dtype is None else getattr(xp, dtype)
    host = np.asarray(values)
    return xp.asarray(host if host.flags.writeable else host.copy(), dtype=kind, device=compat.device(x))


def take_rows(x: Any, index: Any) -> Any:
    """Return the rows of an array at positions given on the host."""
    return namespace(x).take(x, like(index, x, "int64"), axis=0) if is_foreign(x) else x[index]


def take_columns(x: Any, index: Sequence[int]) -> Any:
    """Return some columns of a table."""
    return namespace(x).take(x, like(list(index), x, "int64"), axis=1) if is_foreign(x) else x[:, list(index)]


def column_of(x: Any, index: int) -> Any:
    """Return a column of a table, contiguous in memory."""
    return namespace(x).asarray(x[:, index], copy=True) if is_foreign(x) else np.ascontiguousarray(x[:, index])


def full(x: Any, value: float) -> Any:
    """Return a float64 vector with the same number for every row of ``x``."""
    return like(np.full(x.shape[0], value), x, "float64")


def joined(arrays: Sequence[Any]) -> Any:
    """Return arrays of one library, concatenated."""
    return np.concatenate(arrays) if not is_foreign(arrays[0]) else namespace(arrays[0]).concat(arrays, axis=0)


def overwritten(function: str, values: Any) -> Any:
    """Return a function such as ``"exp"`` of an array, computed in place if its library can."""
    xp = namespace(values)
    run = getattr(xp, function)
    return run(values, out=values) if xp is np or compat.is_torch_array(values) else run(values)


def special(function: str, *arguments: Any) -> Any:
    """Return a special function such as ``"erfcx"`` of the last argument; the ones before it are numbers.

    Raises
    ------
    TypeError
        When the library of the array does not have it.
    """
    *numbers, x = arguments
    if not is_foreign(x):
        return getattr(scipy.special, function)(*arguments)
    if not compat.is_torch_array(x):
        raise TypeError(
            f"this kernel under this noise needs the function {function}, which {home(x)} does not have; pass torch "
            "tensors or NumPy arrays, or use a Gaussian kernel with Normal noise"
        )
    xp = namespace(x)
    return getattr(xp.special, function)(*(xp.full_like(x, number) for number in numbers), x)


def scaled_by(x: Any, exponents: IntArray) -> Any:
    """Return the columns of a table times powers of two."""
    if not is_foreign(x):
        return np.ldexp(x, exponents)
    half = exponents // 2
    return x * like(np.ldexp(1.0, half), x) * like(np.ldexp(1.0, exponents - half), x)


def rounded(x: Any, digits: int) -> Any:
    """Return numbers rounded to a number of decimals."""
    return namespace(x).round(x * 10.0**digits) / 10.0**digits if is_foreign(x) else np.round(x, digits)


def pairwise_products(x: Any, first: IntArray, second: IntArray) -> Any:
    """Return the products of some columns of a table with others, shape (n, pairs)."""
    if is_foreign(x):
        return take_columns(x, first.tolist()) * take_columns(x, second.tolist())
    columns, products = np.ascontiguousarray(x.T), np.empty((len(first), len(x)))
    for place, (i, j) in enumerate(zip(first, second, strict=True)):
        np.multiply(columns[i], columns[j], out=products[place])
    return products.T


def row_lengths(x: Any) -> Any:
    """Return |x_i| of every row, shape (n, 1)."""
    linalg = namespace(x).linalg
    return linalg.vector_norm(x, axis=1, keepdims=True) if is_foreign(x) else linalg.norm(x, axis=1, keepdims=True)


def added_where(value: Any, where: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``value`` plus a function of the arguments where a mask is true; NumPy evaluates it only there."""
    if is_foreign(value):
        xp = namespace(value)
        return value + xp.where(where, function(*arguments), xp.zeros_like(value))
    if where.any():
        value[where] += function(*(argument[where] for argument in arguments))
    return value


def empty(x: Any, shape: tuple[int, ...]) -> Any:
    """Return an uninitialized array with the library, device and type of ``x``."""
    if not is_foreign(x):
        return np.empty(shape)
    return namespace(x).empty(shape, dtype=x.dtype, device=compat.device(x))


def quadratic_forms(X: Any, matrix: Array) -> Any:
    """Return x_iᵀ M x_i, shape (n,)."""
    if not is_foreign(X):
        return np.einsum("ni,ij,nj->n", X, matrix, X)
    return total((X @ like(matrix, X)) * X, axis=1)


def positive_part(values: Any) -> Any:
    """Return max(x, 0)."""
    return namespace(values).clip(values, min=0.0) if is_foreign(values) else np.maximum(values, 0.0)


def as_type(x: Any, dtype: str) -> Any:
    """Return a foreign array converted to a type; a NumPy array as it is."""
    return namespace(x).astype(x, getattr(namespace(x), dtype), copy=False) if is_foreign(x) else x


def as_float64(x: Any) -> Any:
    """Return a foreign array as float64, the type of all sums; a NumPy array as it is."""
    return as_type(x, "float64")


def precision(x: Any) -> str:
    """Return the type of kernel values of points: "float32" or "float64" like theirs, "float64" for NumPy arrays."""
    return "float32" if is_foreign(x) and x.dtype == namespace(x).float32 else "float64"


def total(values: Any, axis: int | None = None) -> Any:
    """Return the sum of a foreign array over an axis, accumulated in float64."""
    xp = namespace(values)
    return xp.sum(values, axis=axis, dtype=xp.float64)


def mean_of(values: Any) -> float:
    """Return the mean of all entries as a number."""
    return float(namespace(values).mean(as_float64(values)))


def column_variances(X: Any) -> Array:
    """Return the variance of every column, shape (d,), on the host."""
    return np.asarray(to_numpy(namespace(X).var(as_float64(X), axis=0)))


def column_spans(X: Any) -> Array:
    """Return the range of every column, shape (d,), on the host."""
    if not is_foreign(X):
        return np.ptp(X, axis=0)
    xp = namespace(X)
    return np.asarray(to_numpy(as_float64(xp.max(X, axis=0)) - as_float64(xp.min(X, axis=0))))


def covariance(X: Any) -> Array:
    """Return the covariance of the columns, divided by n, shape (d, d), on the host."""
    if not is_foreign(X):
        return np.atleast_2d(np.cov(X.T, bias=True))
    gap = as_float64(X)
    gap = gap - namespace(X).mean(gap, axis=0)
    return np.asarray(to_numpy(gap.T @ gap / X.shape[0]))


def largest_norm(X: Any) -> float:
    """Return the largest squared norm of a row."""
    return float(namespace(X).max(squared_norms(as_float64(X)) if is_foreign(X) else np.square(X).sum(axis=1)))


def diagonal_of(matrix: Any) -> Array:
    """Return the diagonal of a square matrix, on the host."""
    if not is_foreign(matrix):
        return np.diagonal(matrix)
    return as_host(namespace(matrix).linalg.diagonal(matrix))


def squared_norms(X: Any) -> Any:
    """Return |x_i|² of every row, shape (n,)."""
    return total(X * X, axis=1) if is_foreign(X) else np.einsum("ij,ij->i", X, X)


def without_diagonal(tile: Any, value: float = 0.0) -> Any:
    """Return a square tile with ``value`` on its diagonal."""
    if not is_foreign(tile):
        np.fill_diagonal(tile, value)
        return tile
    xp, rows = namespace(tile), like(np.arange(tile.shape[0]), tile, "int64")
    return xp.where(rows[:, None] == rows[None, :], xp.asarray(value, dtype=tile.dtype, device=tile.device), tile)


def as_numbers(x: Any) -> Any:
    """Return an array of another library as it is, anything else as a float64 NumPy array."""
    return x if is_foreign(x) else np.asarray(x, dtype=np.float64)


def in_host_memory(x: Any) -> bool:
    """Return whether an array is in host memory: a NumPy array, or one of another library on the CPU."""
    return not is_foreign(x) or "cpu" in str(compat.device(x)).lower()


def tile_shape(x: Any, block: tuple[int, int], memory: float) -> tuple[int, int]:
    """Return the rows and columns of a tile: ``block`` on a CPU, or as many as ``memory`` bytes allow on a device."""
    if in_host_memory(x):
        return block
    side = max(1, int((memory / (8 * _COPIES)) ** 0.5))
    return side, side
