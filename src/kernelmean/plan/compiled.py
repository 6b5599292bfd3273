"""Sums of exp(-|x - y|²) in few columns, compiled by numba: no tile of the Gram matrix is ever written.

Importing this module imports numba (the extra ``fast``); :mod:`kernelmean.plan` does so only when it pays off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from ..core.array import Array
from ..kernels.distances import ExponentialBlocks, recentered

# 2^r on [-1/2, 1/2], highest degree first: the Chebyshev interpolant of (2^r - 1) / r, so that 2^0 is exactly 1.
_POWER_64 = (
    *(4.4549605981865186e-10, 7.072585949269223e-09, 1.0178062445845774e-07, 1.321544258792169e-06),
    *(1.525273382983612e-05, 0.0001540353044173605, 0.0013333558146416936, 0.009618129107606888),
    *(0.0555041086648216, 0.24022650695910097, 0.6931471805599453, 1.0),
)
_POWER_32 = tuple(map(np.float32, (0.00015453163, 0.0013390863, 0.009618083, 0.05550357, 0.2402265, 0.6931472, 1.0)))
# The scaled coordinate up to which rounding it to float32 moves no kernel value by more than about 1e-6.
_FLOAT32_REACH = 20.0


def tile_sums(blocks: ExponentialBlocks, weights: Array) -> Callable[[slice, slice, bool], tuple[Array, Array]]:
    """Prepare ``f(i, j, mirrored)``: the tile times weights[j] and, if mirrored, its transpose times weights[i].

    The factor of ``blocks`` is left out; ``weights`` has shape (m, k), and each column evaluates the tile again.
    """
    X, Y, dtype = _points(blocks)
    rows, columns, weights = (np.ascontiguousarray(Z.T, dtype=dtype) for Z in (X, Y, weights))
    axes = (0,) * len(rows)

    def sums(i: slice, j: slice, mirrored: bool) -> tuple[Array, Array]:
        x, y = np.ascontiguousarray(rows[:, i]), np.ascontiguousarray(columns[:, j])
        ahead, back = (np.zeros((len(weights), z.shape[1]), dtype) for z in (x, y))
        idle = np.zeros(x.shape[1], dtype)
        for c, w in enumerate(weights):
            _row_and_column_sums(axes, x, y, w[j], w[i] if mirrored else idle, ahead[c], back[c])
        return ahead.T, back.T

    return sums


def _points(blocks: ExponentialBlocks) -> tuple[Array, Array, str]:
    """Return both tables, and a type in which their differences are accurate enough."""
    if blocks.dtype == "float32":
        X, Y = recentered(blocks.X, blocks.Y)
        if max(np.abs(X).max(initial=0.0), np.abs(Y).max(initial=0.0)) <= _FLOAT32_REACH:
            return X, Y, "float32"
    return blocks.X, blocks.Y, "float64"


def _power_of_two(x: Any) -> Any:
    """Return 2^x for x ≤ 0 to 2 ulp; 0 where that is not a normal number, exactly 1 at 0."""
    raise NotImplementedError("this is the name under which numba finds the compiled form")


def _compile_power_of_two(x: Any) -> Any:
    """Round x to k + r by adding 1.5 · 2^bits, and add k to the exponent of the polynomial in r."""
    double = x == types.float64
    real: Any
    integer: Any
    real, integer, bits = (np.float64, np.int64, 52) if double else (np.float32, np.int32, 23)
    leading, *rest = _POWER_64 if double else _POWER_32
    coefficients = tuple(rest)
    rounder, lowest, zero = real(1.5 * 2.0**bits), real(np.finfo(real).minexp), real(0.0)
    shift = integer(bits)

    def power(x: Any) -> Any:
        rounded = x + rounder
        r = x - (rounded - rounder)
        p = leading
        for coefficient in coefficients:
            p = p * r + coefficient
        exponent = integer(real(rounded).view(integer) << shift)
        return zero if x < lowest else integer(real(p).view(integer) + exponent).view(real)

    return power


# No reassociation here: it would remove the rounding by a large constant.
overload(_power_of_two, jit_options={"fastmath": {"contract"}})(_compile_power_of_two)


def _row_and_column_sums_of_tile(axes: Any, X: Array, Y: Array, w: Array, v: Array, ahead: Array, back: Array) -> None:
    """Add Σ_j exp(-|x_i - y_j|²) w_j to ``ahead`` and Σ_i exp(-|x_i - y_j|²) v_i to ``back``; X (d, n), Y (d, m)."""
    base = ahead.dtype.type(-1.4426950408889634)  # -log2(e)
    for i in range(X.shape[1]):
        total = ahead[i]
        for j in range(Y.shape[1]):
            squared = ahead.dtype.type(0)
            for axis in range(len(axes)):  # a tuple's length is known when compiling, so that this loop unrolls
                gap = X[axis, i] - Y[axis, j]
                squared += gap * gap
            value = _power_of_two(base * squared)
            total += value * w[j]
            back[j] += value * v[i]
        ahead[i] = total


def compiled(function: Any) -> Any:
    """Compile on the first call and cache the code on disk; without a writable folder, once per process."""
    options = {"nogil": True, "fastmath": {"contract", "reassoc", "nsz"}}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:
        return njit(**options)(function)


_row_and_column_sums = compiled(_row_and_column_sums_of_tile)
