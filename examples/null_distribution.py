"""What a permutation test does.

If both samples come from one distribution, any way to deal the rows to two samples is as likely as the observed one. So
the test deals them a thousand times and counts how often the statistic is at least as large. That share is the p-value.
It is exact for any size and any distribution.

Here only the spread differs, not the mean, and the test finds it.

Picture: a histogram of the statistic over 999 permutations, around 0, and a vertical line for the observed value, far
to the right of all of them.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(0)
X, Y = rng.normal(scale=1.0, size=(120, 2)), rng.normal(scale=1.6, size=(80, 2))
result = km.mmd_test(X, Y, rng=0)
print(result.summary())

ax = plots.new_figure((6.0, 3.2)).add_subplot()
plots.save(result.plot(ax), "null_distribution.svg")
