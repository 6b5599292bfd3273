"""A difference that no single column shows.

Both samples have normal columns with the same means and variances. In the first the columns rise together, in the
second one falls as the other rises. No test of a single column can see that; the test of the whole rows does, and the
witness shows where: it is positive (blue) where the first sample is denser and negative (orange) where the second is.
Where the map is hatched, chance alone makes as much.

Picture: a heat map over two columns with the points of both samples. A cross: along the rising diagonal the witness is
positive, more of the first sample; along the falling diagonal it is negative, more of the second. Between the arms it
is hatched.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(0)
X = rng.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]], size=150)
Y = rng.multivariate_normal([0, 0], [[1.0, -0.8], [-0.8, 1.0]], size=150)

print(f"rows:     p = {km.mmd_test(X, Y, rng=0).pvalue:.3f}")
for j in (0, 1):
    print(f"column {j}: p = {km.mmd_test(X[:, [j]], Y[:, [j]], rng=0).pvalue:.3f}")

plots.save(plots.witness_map(X, Y, names=("first sample", "second sample")), "witness_in_two_columns.svg")
