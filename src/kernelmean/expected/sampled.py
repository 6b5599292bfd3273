"""Sampled noise: an average over its draws, for every kernel and every noise on the other side."""

from __future__ import annotations

from itertools import product

from ..core.array import Array
from ..kernels.base import Kernel, Product
from ..kernels.blocks import Blocks
from ..kernels.polynomial import Polynomial
from ..kernels.tensor_product import TensorProduct
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..noise.sampled import Sampled
from .expectations import blocks_rules, expected_blocks


def _sampled(kernel: Kernel, X: Array, v: Noise, Y: Array, w: Noise) -> Blocks:
    left, right = _copies(X, v), _copies(Y, w)
    inner = [expected_blocks(kernel, a, va, b, wb) for (a, va), (b, wb) in product(left, right)]

    def block(i: slice, j: slice) -> Array:
        total = inner[0](i, j)
        for other in inner[1:]:
            total = total + other(i, j)
        return total / len(inner)

    return block


def _copies(X: Array, noise: Noise) -> list[tuple[Array, Noise]]:
    if not isinstance(noise, Sampled):
        return [(X, noise)]
    copies = noise.copies(X)
    return [(copies[k, :, :], Dirac()) for k in range(noise.n_samples)]


# Also for the families with a rule for any noise: draws of a joint distribution must not be taken apart.
for family in (Kernel, Product, TensorProduct, Polynomial):
    for sides in ((Sampled, Sampled), (Sampled, Noise), (Noise, Sampled)):
        blocks_rules.register(family, *sides)(_sampled)
