"""A design whose clusters have rows in both samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean.inference.designs.design import AnyDesign
from kernelmean.inference.designs.labelled import LabelDesign
from kernelmean.inference.units.layout import Layout, Units
from kernelmean.inference.units.samples import Differences, within_strata


@dataclass(frozen=True)
class PartsOfClusters(LabelDesign):
    """Clusters with rows in both samples: the rows of one take on the samples of another's."""

    sizes: tuple[int, ...]
    rows: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    def layout(self, order: Sequence[int]) -> Layout:
        parts = [np.full(self.sizes[sample], label) for label, sample in enumerate(order)]
        clusters = np.concatenate([np.arange(self.sizes[sample]) // 3 + 4 * sample for sample in order])
        return Layout.of(np.concatenate(parts), np.ones(sum(self.sizes)), None, clusters)

    def differences(self, units: Units) -> Differences:
        return within_strata(units)


class InBoth(AnyDesign):
    strata = weights = None

    def of_samples(self, sizes: Sequence[int]) -> PartsOfClusters:
        n, m = sizes
        return PartsOfClusters(tuple(sizes), (np.arange(n), np.arange(n, n + m)))

    def of_pairs(self, n: int) -> Any:
        raise NotImplementedError
