"""What estimators damp.

Both families of estimators keep the smooth part of the empirical kernel mean and damp the rest. Shrinkage
works in the coordinates of the sample: F-KMSE multiplies the part along an eigenvector of the Gram matrix by γ/(γ + λ),
so that small eigenvalues γ lose most. Noise works on frequencies: MKME multiplies the characteristic function by that
of the noise, which falls from 1 at frequency 0. The kernel itself sees low frequencies most, the grey area.

Picture: two curves that fall from 1. On the left the factor of F-KMSE over the eigenvalues, largest first, with dots at
those of the sample: most of the dots are near 0. On the right the factor of MKME over the frequency beside a grey hill,
the weight that the kernel gives each frequency: the curve is above the hill and falls more slowly.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

X = np.random.default_rng(0).normal(size=(60, 2))
kernel = km.kernels.Gaussian(0.7)
shrunk, noisy = km.estimators.FKMSE(kernel).fit(X), km.MKME(kernel).fit(X)
truth = km.embed([[0.0, 0.0]], kernel, noise=km.noise.Normal(1.0))
for estimator in (km.KME(kernel).fit(X), shrunk, noisy):
    print(f"{estimator!r:60} loss {(estimator.embedding_ - truth).norm() ** 2:.5f}")

left, right = plots.new_figure((8.8, 3.2)).subplots(1, 2)
plots.spectrum_damping(shrunk, ax=left)
plots.spectrum_damping(noisy, ax=right)
plots.save(left, "what_estimators_damp.svg")
