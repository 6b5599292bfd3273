"""Several samples: all rows change places, and the distances between all kernel means are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ...core.array import Array
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..null import Null
from ..problem import KernelSide
from ..resampling_options import Resampling
from ..statistics import StatisticForm
from ..units.layout import Layout
from ..units.samples import several_null


@final
@dataclass(frozen=True)
class ManySamples:
    """Several samples of given sizes."""

    sizes: tuple[int, ...]

    plain_only: ClassVar[str | None] = "several samples"
    notes: ClassVar[tuple[str, ...]] = ()

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words."""
        what = f"test of {len(self.sizes)} samples, maximum mean discrepancies"
        return f"Permutation {what}", f"Adaptive permutation {what}"

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return the mean MMD² over all pairs of samples for every kernel, and the MMD² of the pairs."""
        sizes, (pooled,) = self.sizes, tables
        if statistic == "u" and min(sizes) < 2:
            raise ValueError(f"samples of {sizes} rows: the unbiased statistic needs two in each; pass statistic='v'")
        layout = Layout.of(np.repeat(np.arange(len(sizes)), sizes), np.ones(len(pooled)))
        with serial_blas:
            return several_null(KernelSide(pooled, tuple(kernels)), layout, statistic, how)
