"""The libraries that stand beside NumPy: how their arrays are made, and how close they come.

Tensors of torch are made on the device named by KERNELMEAN_TEST_DEVICE, such as "cuda"; without it on the CPU.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

DEVICE = os.environ.get("KERNELMEAN_TEST_DEVICE", "cpu")


@dataclass(frozen=True)
class Library:
    """A library with a device: makes its arrays of NumPy's, and takes numbers as it rounds them."""

    name: str
    make: Callable[[Any], Any]
    dtype: str
    tolerance: float

    def rounded(self, x: Any) -> Any:
        """Return what NumPy is given in comparison."""
        return np.asarray(x).astype(self.dtype).astype(np.float64)


def _torch(dtype: str) -> Callable[[Any], Any]:
    def make(x: Any) -> Any:
        import torch

        return torch.as_tensor(np.array(x, dtype=dtype), device=DEVICE)

    return make


def _strict(x: Any) -> Any:
    """Return an array on a device from which nothing but an explicit copy leads to NumPy: what a GPU would refuse."""
    import array_api_strict

    return array_api_strict.asarray(np.array(x, dtype=np.float64), device=array_api_strict.Device("device1"))


def _needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(module) is None, reason=f"{module} IS MISSING: its arrays are not checked")


TORCH = pytest.param(Library("torch", _torch("float64"), "float64", 1e-12), marks=_needs("torch"), id="torch")
SINGLE = pytest.param(Library("torch", _torch("float32"), "float32", 1e-5), marks=_needs("torch"), id="torch-float32")
STRICT = pytest.param(
    Library("array_api_strict", _strict, "float64", 1e-12), marks=_needs("array_api_strict"), id="strict"
)
LIBRARIES = [TORCH, SINGLE, STRICT]
