"""How much noise every column gets.

MMKME chooses the variance of the noise for each column by leaving out one row at a time. Here two columns are smooth,
and noise helps. The third has two narrow peaks, which noise would only blur, and gets almost none.

Picture: the noise of each column in standard deviations of the column: two bars, and none for the peaked column.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(0)
peaks = rng.choice([-1.0, 1.0], size=80) + 0.1 * rng.normal(size=80)
X = np.column_stack([rng.normal(size=80), rng.uniform(-1.7, 1.7, size=80), peaks])
estimator = km.MMKME(km.kernels.Gaussian(0.4)).fit(X)
print(f"variances of the noise: {estimator.noise_.covariance.round(3)}")
for name, one in (("KME", km.KME), ("MKME", km.MKME), ("MMKME", km.MMKME)):
    print(f"leave-one-out score of {name:5} {one(km.kernels.Gaussian(0.4)).fit(X).loocv_:.4f}")

plots.save(plots.noise_per_column(estimator), "noise_of_every_column.svg")
