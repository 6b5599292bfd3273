"""Six estimators against the truth.

The kernel mean of a mixture of Gaussians is known exactly, so the loss of an estimate needs no simulation: it is the
norm of a difference. The picture has the mean squared loss for samples of growing size: of the empirical mean (KME),
the two shrinkage estimators, the two marginalized ones of the paper, and the variance-preserving one. Leave-one-out on
the sample itself chose the parameters of each.

Picture: a plot on logarithmic axes of the loss relative to KME against the number of rows, six lines. All five others
are below 1 at ten rows and come closer to 1 as the rows grow.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

MAKERS = {
    "KME": km.KME,
    "S-KMSE": km.estimators.SKMSE,
    "F-KMSE": km.estimators.FKMSE,
    "MKME": km.MKME,
    "MMKME": km.MMKME,
    "VPMKME": km.estimators.VPMKME,
}
SIZES, TRIALS = (10, 20, 40), 6

rng = np.random.default_rng(0)
losses = np.zeros((len(MAKERS), len(SIZES)))
for size_index, n in enumerate(SIZES):
    for _ in range(TRIALS):
        means, covariances = rng.uniform(-5, 5, (3, 4)), np.stack([np.cov(rng.normal(size=(4, 9))) for _ in range(3)])
        which = rng.integers(3, size=n)
        X = np.stack([rng.multivariate_normal(means[k], covariances[k]) for k in which])
        kernel = km.kernels.Gaussian(km.median_bandwidth(X, squared=False))
        truth = km.embed(means, kernel, noise=km.noise.Normal(covariances))
        for row, make in enumerate(MAKERS.values()):
            losses[row, size_index] += (make(kernel).fit(X).embedding_ - truth).norm() ** 2 / TRIALS

print("mean squared loss relative to KME")
print("rows    " + "".join(f"{n:>8}" for n in SIZES))
for name, row in zip(MAKERS, losses / losses[0], strict=True):
    print(f"{name:8}" + "".join(f"{value:8.3f}" for value in row))

ax = plots.new_figure((6.0, 3.6)).add_subplot()
for name, row, style in zip(MAKERS, losses / losses[0], ("k-", "C0--", "C0:", "C1--", "C1:", "C2-"), strict=True):
    ax.plot(SIZES, row, style, marker="o", ms=4, label=name)
ax.set(xscale="log", xlabel="rows", ylabel="mean squared loss / that of KME")
ax.set_xticks(SIZES, SIZES)
ax.minorticks_off()
ax.legend(ncols=2)
plots.save(ax, "estimators_and_the_truth.svg")
