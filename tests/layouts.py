"""Random layouts of rows with strata, clusters and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean.inference.units.layout import Layout

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rows:
    """What is said of n rows, in the order in which they are passed."""

    labels: Array
    weights: Array
    strata: Array | None
    clusters: Array | None
    equal_sizes: bool

    def layout(self) -> Layout:
        """Return them in the order of their units."""
        return Layout.of(self.labels, self.weights, self.strata, self.clusters, equal_sizes=self.equal_sizes)


def random_rows(seed: int, n: int, parts: str = "", samples: int = 2) -> Rows:
    """Draw rows with some of "strata", "clusters", "weights" and "equal sizes"; labels and strata are of clusters."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, n // 3, n) if "clusters" in parts else np.arange(n)
    cluster = np.unique(cluster, return_inverse=True)[1]
    many = cluster.max() + 1
    labels = rng.permutation(np.arange(many) % samples if seed % 2 else np.minimum(np.arange(many) // 3, samples - 1))
    return Rows(
        labels[cluster],
        rng.uniform(0.1, 3.0, n) if "weights" in parts else np.ones(n),
        rng.integers(0, 3, many)[cluster] if "strata" in parts else None,
        cluster if "clusters" in parts else None,
        "equal sizes" in parts,
    )


ALL = "clusters strata weights"
PARTS = ["", "weights", "strata", "clusters", "strata weights", ALL, "clusters equal sizes weights"]
