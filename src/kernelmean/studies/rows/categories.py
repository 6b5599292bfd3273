"""The kernels of a column of categories as weights of its coordinates."""

from __future__ import annotations

import numpy as np

from ...core.array import Array
from ...inference.adaptive.columns import AS_IT_IS
from ...inference.adaptive.member import LINEAR, Member
from ...kernels import Kernel
from ...tables.columns.kinds import Coding


def category_weights(coding: Coding, points: Array, gaussian: Kernel, *, several: bool) -> dict[Member, Array]:
    """Return weights of the coordinates of categories that reproduce the Gaussian kernel, and others, a row each.

    k = e + (1 - e) [x = y], and coordinates are c [x = y]: noise would change the kernel only by a factor.
    """
    weight = coding.category_weight
    assert weight is not None, f"{coding.name} holds no categories"
    height = np.sqrt(2.0) * weight
    near, far = gaussian(np.zeros((1, 1)), np.array([[0.0], [height]]))[0]
    found = {Member(AS_IT_IS, gaussian): np.full((1, points.shape[1]), (near - far) / weight**2)}
    if several and points.shape[1] > 1:
        shares = (np.count_nonzero(points, axis=0) + 1.0) / (len(points) + points.shape[1])
        found[Member(AS_IT_IS, LINEAR)] = 1.0 / shares[None]
    return found
