"""A difference that no single column shows.

Both samples have normal columns with the same means and variances. In the first the columns rise together, in the
second one falls as the other rises. No test of a single column can see that; the test of the whole rows does, and the
witness shows where: it is positive (orange) where the first sample is denser and negative (violet) where the second is.

Picture: a heat map over two columns with the points of both samples. A cross: along the rising diagonal the witness is
positive, more of the first sample; along the falling diagonal it is negative, more of the second.
"""

import numpy as np
from matplotlib.figure import Figure

import kernelmean as km
from kernelmean import plots

rng = np.random.default_rng(0)
X = rng.multivariate_normal([0, 0], [[1.0, 0.8], [0.8, 1.0]], size=150)
Y = rng.multivariate_normal([0, 0], [[1.0, -0.8], [-0.8, 1.0]], size=150)

print(f"rows:     p = {km.mmd_test(X, Y, rng=0).pvalue:.3f}")
for j in (0, 1):
    print(f"column {j}: p = {km.mmd_test(X[:, [j]], Y[:, [j]], rng=0).pvalue:.3f}")

witness = km.witness(X, Y)
axis = np.linspace(-3, 3, 61)
points = np.stack(np.meshgrid(axis, axis), axis=-1)
values = witness(points.reshape(-1, 2)).reshape(61, 61)

ax = Figure(figsize=(5.6, 4.6), layout="constrained").add_subplot()
limit = abs(values).max()
image = ax.pcolormesh(axis, axis, values, cmap="PuOr_r", vmin=-limit, vmax=limit, shading="auto", rasterized=True)
ax.plot(*X.T, "o", ms=3, mfc="none", color="black", label="first sample")
ax.plot(*Y.T, "x", ms=4, color="black", label="second sample")
ax.figure.colorbar(image, label="witness")
ax.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="column 0", ylabel="column 1")
ax.legend(loc="upper right")
plots.save(ax, "witness_in_two_columns.svg")
