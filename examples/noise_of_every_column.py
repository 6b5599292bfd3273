"""How much noise every column gets.

MMKME chooses the variance of the noise for each column by leaving out one row at a time. Here two columns are smooth,
and noise helps. The third has two narrow peaks, which noise would only blur, and gets almost none. Each curve changes
the noise of one column and keeps the others as chosen. So all marks are at the same height, which is the gain of the
whole choice over no noise.

Picture: on the left three curves of the leave-one-out score over the standard deviation of the noise, each with a mark
at its minimum; that of the peaked column is flat at first, rises early, and has its mark far to the left. On the right
the noise of each column in standard deviations of the column: two bars, and none for the peaked column.
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

left, right = plots.new_figure((8.8, 3.4)).subplots(1, 2, width_ratios=(3, 2))
plots.loocv_curve(estimator, ax=left)
plots.noise_per_column(estimator, ax=right)
plots.save(left, "noise_of_every_column.svg")
