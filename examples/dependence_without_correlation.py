"""Dependence without correlation.

On a noisy circle the correlation of x and y is near 0, although x says much about y. The test of
independence looks at whole distributions, so it sees the circle. The second picture shows where: pairs are more
frequent (orange) at the sides of the ring than they would be if x and y were independent, and less (violet) in its
middle.

Picture: left a ring of points; right the same ring over a heat map, positive at the left, right, top and bottom of the
ring and negative in its middle.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 200)
x, y = (f(angle)[:, None] + 0.15 * rng.normal(size=(200, 1)) for f in (np.cos, np.sin))

print(f"correlation  {np.corrcoef(x[:, 0], y[:, 0])[0, 1]:+.3f}")
print(f"HSIC         p = {km.hsic_test(x, y, rng=0).pvalue:.3f}")
print(f"adaptive     p = {km.hsic_test(x, y, estimator='adaptive', rng=0).pvalue:.3f}")

witness = km.hsic_test(x, y, kernel=km.kernels.Gaussian(0.4), rng=0).witness()
axis = np.linspace(-1.6, 1.6, 61)
a, b = np.meshgrid(axis, axis)
values = witness(a.reshape(-1, 1), b.reshape(-1, 1)).reshape(a.shape)

figure = plots.new_figure((8.6, 4.0))
left, right = figure.subplots(1, 2, sharey=True)
limit = abs(values).max()
image = right.pcolormesh(axis, axis, values, cmap="PuOr_r", vmin=-limit, vmax=limit, shading="auto", rasterized=True)
figure.colorbar(image, label="witness of the dependence")
for ax in (left, right):
    ax.plot(x, y, ".", ms=3, color="black")
    ax.set(xlabel="x", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6))
left.set_ylabel("y")
plots.save(figure, "dependence_without_correlation.svg")
