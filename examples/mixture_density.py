"""A density by matching kernel means.

This is the mixture of Gaussians whose kernel mean is nearest to that of the data. It is a density: you can evaluate,
sample and save it. It is compared, on rows that the fit has not seen, with a kernel density estimate and a Gaussian
mixture fitted by likelihood.

Picture: contours of the density over the points of two columns of the iris data, petal length and petal width. Two
separate groups of flowers, a small one at low values and a long one at high values, each with its own contours.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

import kernelmean as km
from kernelmean.studies import plots

iris = load_iris()
X = iris.data[:, 2:] + np.random.default_rng(0).uniform(-0.05, 0.05, (150, 2))  # measured to 0.1 cm: undo the rounding
seen = np.arange(150) % 3 > 0

matching = km.KernelMeanMatching(n_components=3, covariance_type="full", random_state=0).fit(X[seen])
mixture = GaussianMixture(n_components=3, random_state=0).fit(X[seen])
smoothing = KernelDensity(bandwidth="scott").fit(X[seen])
print("mean log density of 50 rows that no fit has seen, higher is better")
for model in (matching, mixture, smoothing):
    print(f"{type(model).__name__:20}{model.score_samples(X[~seen]).mean():.3f}")

x, y = np.linspace(0.5, 7.5, 141), np.linspace(-0.2, 3.0, 121)
grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
ax = plots.new_figure((5.6, 4.0)).add_subplot()
ax.plot(*X[seen].T, ".", ms=4, color="0.5", label="rows of the fit")
ax.plot(*X[~seen].T, "x", ms=4, color=plots.SECOND, label="rows held out")
values = matching.score_samples(grid).reshape(len(y), len(x))
ax.contour(x, y, values, levels=np.arange(-5, 2), colors=plots.FIRST, linewidths=1, linestyles="solid")
ax.set(xlabel="petal length, cm", ylabel="petal width, cm")
ax.legend(loc="upper left")
plots.save(ax, "mixture_density.svg")
