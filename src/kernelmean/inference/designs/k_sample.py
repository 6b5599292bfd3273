"""Several samples: all rows change places, and the distances between all kernel means are evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from ..null import Null
from ..resampling_options import Resampling
from ..units.layout import Layout
from ..units.samples import Summing, several_null


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

    def null(self, summed: Summing, statistic: Any, how: Resampling) -> Null:
        """Return the mean MMD² over all pairs of samples for every kernel, and the MMD² of the pairs."""
        sizes = self.sizes
        if statistic == "u" and min(sizes) < 2:
            raise ValueError(f"samples of {sizes} rows: the unbiased statistic needs two in each; pass statistic='v'")
        layout = Layout.of(np.repeat(np.arange(len(sizes)), sizes), np.ones(sum(sizes)))
        return several_null(summed, layout, statistic, how)
