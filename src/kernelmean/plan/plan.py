"""How big reductions run: tiles, threads, precision. A sum never makes an n × n array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any, Literal, TypeVar, final

import numpy as np
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

from ..core.array import Array, array_api, as_float64, as_numbers, joined, namespace, slices, tile_shape
from ..core.validate import check_integer
from ..kernels.distances import Blocks, ExponentialBlocks
from .tiles import Task, TileSums, accumulate, rectangle, tile_sums, triangle

Job = TypeVar("Job")
Result = TypeVar("Result")

_MIRRORED_WEIGHTS = 16  # with more columns of weights, products cost more than the kernel: mirroring saves nothing
_FAST_COLUMNS, _FAST_WEIGHTS = 8, 2  # up to here, compiled sums are clearly faster than matrix products
_FAST_FROM = 2**29  # kernel values from which loading the compiler pays off


@final
@dataclass(frozen=True)
class Plan:
    """How to run big sums over pairs of points: tiles, threads, precision, memory.

    Parameters
    ----------
    block : (int, int)
        Rows and columns of a tile. A tile of float64 should fit the second-level cache, or nearly.
    threads : int, optional
        How many threads; None is the number of usable cores. Results are the same to the last bit for any number.
    dtype : {"float64", "float32"}
        The type of kernel values; sums are always accumulated in float64. In float32, a Gaussian kernel value has
        an error of about 1e-6 and takes half the time; other kernels stay in float64.
    use_fast : bool, optional
        Whether numba (the extra ``fast``) compiles Gaussian sums in at most 8 columns. None compiles if numba is
        installed and the sum is long enough to be worth loading it. Results agree to 1e-12 of the sum of magnitudes.
    max_dense : int
        The largest n for which :meth:`gram` makes an n × n matrix.
    device_memory : float
        Bytes that tiles of arrays on a device, such as a GPU, may take; ``block`` and ``threads`` are for processors.
        Tiles on a device have the type of the points, or float32 with ``dtype="float32"``.
    memory : float
        Bytes by which a test cuts its batches of permutations, its tiles on a device, and the threads and kernels that
        work at once; 1 GiB by default. The p-value does not depend on it.

    Raises
    ------
    ValueError
        When a number is not positive, or ``dtype`` is another type.
    ImportError
        When ``use_fast`` is True and numba is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.kernels import Gaussian
    >>> X = np.linspace(0.0, 1.0, 5)[:, None]
    >>> blocks = Gaussian(1.0).blocks(X, X)
    >>> Plan(threads=1).matmul(blocks, 5, 5, np.ones(5)).round(3)
    array([4.213, 4.576, 4.703, 4.576, 4.213])
    """

    block: tuple[int, int] = (256, 1024)
    threads: int | None = None
    dtype: Literal["float64", "float32"] = "float64"
    use_fast: bool | None = None
    max_dense: int = 5000
    device_memory: float = 2.0**30
    memory: float = 2.0**30

    def __post_init__(self) -> None:
        if len(tuple(self.block)) != 2 or not min(*self.block, self.max_dense) >= 1:
            raise ValueError(f"{self!r}: block is two positive integers, max_dense is a positive one")
        if self.threads is not None:
            check_integer(self.threads, "threads", 1)
        for name in ("device_memory", "memory"):
            size = getattr(self, name)
            if not isinstance(size, int | float) or not 0 < size < float("inf"):
                raise ValueError(f"{name} is {size!r}, a finite positive number is needed")
        if self.dtype not in ("float64", "float32"):
            raise ValueError(f"dtype is {self.dtype!r}; write 'float64' or 'float32'")
        if self.use_fast and find_spec("numba") is None:
            raise ImportError("use_fast=True needs numba; install kernelmean[fast], or leave use_fast=None")

    def matmul(self, blocks: Blocks, n: int, m: int, weights: Array, *, symmetric: bool = False) -> Array:
        r"""Return :math:`Σ_j f(i, j) w_j`, the product of a tiled matrix and weights.

        Parameters
        ----------
        blocks : callable
            ``f(i, j)`` returns the tile of two slices; see :meth:`kernelmean.kernels.Kernel.blocks`.
        n, m : int
            The shape of the whole matrix.
        weights : array of shape (m,) or (m, k)
        symmetric : bool
            Pass True only if the matrix is symmetric; then only half of the tiles are computed.

        Returns
        -------
        array of shape (n,) or (n, k)

        Raises
        ------
        ValueError
            When the weights do not fit, or a symmetric matrix is not square.

        Notes
        -----
        O(n m) kernel values; memory O(block) per thread and O((n + m) k).
        """
        W = as_numbers(weights)
        if W.ndim not in (1, 2) or W.shape[0] != m:
            raise ValueError(f"weights have shape {W.shape}; ({m},) or ({m}, k) is needed")
        _check_square(n, m, symmetric)
        columns = W[:, None] if W.ndim == 1 else W
        product = _product(columns, self, blocks, n, symmetric)
        return product if W.ndim == 2 else product[:, 0]

    def bilinear(self, blocks: Blocks, beta: Array, gamma: Array, *, symmetric: bool = False) -> float:
        r"""Return :math:`Σ_{ij} β_i f(i, j) γ_j` for weights of shape (n,) and (m,), as :meth:`matmul` does.

        Examples
        --------
        >>> import numpy as np
        >>> total = DEFAULT.bilinear(lambda i, j: np.ones((3, 3))[i, j], np.ones(3), np.ones(3), symmetric=True)
        >>> total
        9.0
        """
        return float(beta @ self.matmul(blocks, beta.shape[0], gamma.shape[0], gamma, symmetric=symmetric))

    def gram(self, blocks: Blocks, n: int, m: int, *, symmetric: bool = False) -> Array:
        """Return the whole matrix in float64, shape (n, m), computed by tiles in threads.

        Raises
        ------
        ValueError
            When it has more than ``max_dense``² entries, or a symmetric matrix is not square.
        """
        _check_square(n, m, symmetric)
        if n * m > self.max_dense**2:
            raise ValueError(
                f"the matrix is {n} × {m}, but this plan allows at most {self.max_dense} × {self.max_dense}; "
                "write a sum as plan.matmul or plan.bilinear, or allow more: Plan(max_dense=...)"
            )
        out = np.empty((n, m))
        tasks = triangle(n, self.block) if symmetric else rectangle(n, m, self.block)

        def fill(task: Task) -> None:
            for i, j, mirrored in task[1]:
                out[i, j] = blocks(i, j)
                if mirrored:
                    out[j, i] = out[i, j].T

        for _ in self.map(fill, tasks, n * m):
            pass
        return out

    def tiles(self, x: Any) -> tuple[int, int]:
        """Return the rows and columns of a tile on the device of ``x``."""
        return tile_shape(x, self.block, self.device_memory)

    def _prepare(self, blocks: Blocks, W: Array, n: int) -> tuple[TileSums, Any]:
        """Return the sums of one tile, and the exponents of two taken out of the weights for float32."""
        W = blocks.factor * W if isinstance(blocks, ExponentialBlocks) else W
        exponent = np.frexp(np.abs(W).max(axis=0, initial=0.0))[1]
        W = np.ldexp(W, -exponent)
        if not isinstance(blocks, ExponentialBlocks):
            return tile_sums(blocks, W), exponent
        unit = blocks.unit(self.dtype)
        few = unit.X.shape[1] <= _FAST_COLUMNS and W.shape[1] <= _FAST_WEIGHTS
        if few and self.compiles(n * len(W)):
            from . import compiled as _fast

            return _fast.tile_sums(unit, W), exponent
        return tile_sums(unit, W.astype(self.dtype, copy=False)), exponent

    def compiles(self, size: int) -> bool:
        """Return whether to compile so many steps: as requested, or if numba is installed and worth loading."""
        return size >= _FAST_FROM and find_spec("numba") is not None if self.use_fast is None else self.use_fast

    def map(self, run: Callable[[Job], Result], jobs: Iterable[Job], size: int) -> Iterator[Result]:
        """Yield results in the order of the jobs, whichever thread runs them; ``size`` is the work in entries."""
        enough = 1 + size // (self.block[0] * self.block[1])
        threads = 1 if enough == 1 else min(self.threads or cpu_count(), enough)  # counting costs a small sum
        with serial_blas:
            if threads == 1:
                yield from map(run, jobs)
                return
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(run, jobs)


DEFAULT = Plan()


class RemotePlan(ABC):
    """A plan that computes where the data are, outside this process: :class:`kernelmean.DaskPlan`.

    Functions that take ``plan=`` pass their arguments on to such a plan and return what it returns.
    """

    @abstractmethod
    def feature_embed(
        self, X: Any, features: Any, *, weights: Any = None, noise: Any = None, moments: bool = False
    ) -> Any:
        """Return what :func:`kernelmean.embedding.features.embed` returns."""

    @abstractmethod
    def fit(self, estimator: Any, X: Any) -> None:
        """Set what :meth:`kernelmean.KernelMean.fit` sets."""

    @abstractmethod
    def answer(self, question: Any, data: Sequence[Any], request: Any) -> Any:
        """Return the result of a test, from a class of questions, the tables, and the request."""

    @abstractmethod
    def table(self, X: Any, name: str) -> Any:
        """Return a table of columns of any kind, with its ``names`` and its ``parts`` in the order of the rows."""

    @abstractmethod
    def fold(
        self, run: Any, merge: Any, jobs: Iterable[tuple[Any, Any]], shared: Any = None, finish: Any = None
    ) -> Any:
        """Return the results of a function on all parts of tables, merged in the order of the parts.

        Parameters
        ----------
        run : callable
            ``run(part, own, shared)``; ``part`` is a :class:`kernelmean.core.table.Frame` with at least one row. It
            must be pure and importable elsewhere: when a machine is lost, its work is done again. Parts without rows
            are skipped.
        merge : callable
            ``merge(*found)`` merges results of neighbouring parts, also merged ones; it must not change them.
        jobs : iterable of (part, own)
            Parts of tables of this plan, and what each of them needs.
        shared : object
            What all parts need; it is sent to every machine once.
        finish : callable, optional
            ``finish(found, shared)``, applied to the merged result (None without rows) before it is sent to this
            process.
        """


def check_plan(plan: Any) -> Plan | RemotePlan:
    """Return the plan that was passed, or the default one for None; raise for anything else."""
    if plan is None:
        return DEFAULT
    if not isinstance(plan, Plan | RemotePlan):
        raise TypeError(
            f"plan is {plan!r}; pass a Plan, such as Plan(threads=2), a DaskPlan(client) for rows on a cluster, or None"
        )
    return plan


@array_api
def _product(columns: Array, plan: Plan, blocks: Blocks, n: int, symmetric: bool) -> Array:
    """Return a tiled matrix (n, m) times columns (m, k), float64; for other libraries, one tile after another."""
    if plan.dtype == "float32" and isinstance(blocks, ExponentialBlocks):
        blocks = replace(blocks.unit("float32"), factor=blocks.factor)
    height, width = plan.tiles(columns)
    if not symmetric:
        groups = slices(columns.shape[0], width)
        sums = [sum(as_float64(blocks(i, j)) @ columns[j, :] for j in groups) for i in slices(n, height)]
        whole: Array = joined(sums)
        return whole
    rows, xp = slices(n, min(height, width)), namespace(columns)
    parts = [xp.zeros_like(columns[i, :]) for i in rows]
    for a, i in enumerate(rows):
        for b, j in enumerate(rows[a:], start=a):
            tile = as_float64(blocks(i, j))
            parts[a] = parts[a] + tile @ columns[j, :]
            if b > a:  # tiles right of the diagonal are used twice
                parts[b] = parts[b] + tile.T @ columns[i, :]
    product: Array = joined(parts)
    return product


@_product.numpy
def _(columns: Array, plan: Plan, blocks: Blocks, n: int, symmetric: bool) -> Array:
    m, k = columns.shape
    tasks = triangle(n, plan.block) if symmetric and k <= _MIRRORED_WEIGHTS else rectangle(n, m, plan.block)
    out = np.zeros((n, k))
    sums, exponent = plan._prepare(blocks, columns, n)
    for span, part in plan.map(lambda task: accumulate(task, sums, k), tasks, n * m):
        out[span] += part
    return np.ldexp(out, exponent, out=out)


_RUNNING: ContextVar[Plan] = ContextVar("running plan", default=DEFAULT)


def running() -> Plan:
    """Return the plan of the running fit (see :func:`run_by`), or the default one."""
    return _RUNNING.get()


@contextmanager
def run_by(plan: Plan) -> Iterator[None]:
    """Run all sums of a fit by a plan, however deep in the call stack; formulas need no plan argument."""
    token = _RUNNING.set(plan)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def _check_square(n: int, m: int, symmetric: bool) -> None:
    if symmetric and n != m:
        raise ValueError(f"a matrix of {n} × {m} cannot be symmetric; leave symmetric=False")


@cache
def _blas() -> ThreadpoolController:
    """Find the loaded libraries once, because this takes as long as a small sum."""
    return ThreadpoolController()


def _for_any_thread() -> None:
    """Let the next thread set the limit: threadpoolctl 3.8 heeds only the first one, as long as that is alive.

    OpenBLAS has one limit for the whole process; here a lock and a count decide which thread sets it.
    """
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@final
class _SerialBlas:
    """Limits BLAS to one thread while any reduction runs; the last one to end restores the threads."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                _for_any_thread()
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                _for_any_thread()
                self._limit.restore_original_limits()
                _for_any_thread()


serial_blas = _SerialBlas()
