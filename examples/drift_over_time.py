"""Drift, week by week.

A service sends rows every week. From week 7 on, one of three columns slowly moves. Each week is compared with a
reference sample. An exact p-value says whether there is drift, and the effect size with its interval says how much. If
you look every week at level 0.05, you get a false alarm in one week of twenty. Here the level is 0.005, one week in two
hundred. With many rows a tiny drift is significant; the interval shows whether it matters.

Picture: ten intervals, one a week. Those of weeks 1 to 7 begin at or close to 0; then they rise, and those of weeks 9
and 10 lie above the line that was set as the margin.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(0)
reference = rng.normal(size=(400, 3))
kernel = km.kernels.Gaussian(km.median_bandwidth(reference))
level, margin = 0.005, 0.1

sizes = []
for week in range(1, 11):
    rows = rng.normal([0.15 * max(0, week - 6), 0, 0], size=(200, 3))
    result = km.mmd_test(reference, rows, kernel=kernel, rng=week)
    size = result.effect_size(n_resamples=199, rng=week).distance
    sizes.append(size)
    alarm = "  alarm" if result.pvalue <= level else ""
    print(f"week {week:2}: p = {result.pvalue:.3f}, MMD {size.value:.3f} ({size.low:.3f} to {size.high:.3f}){alarm}")

ax = plots.new_figure((6.0, 3.2)).add_subplot()
weeks = np.arange(1, 11)
ax.vlines(weeks, [size.low for size in sizes], [size.high for size in sizes], color=plots.FIRST, lw=3)
ax.plot(weeks, [size.value for size in sizes], "o", color="black", ms=4, label="MMD, with its 95 % interval")
ax.axhline(margin, color=plots.SECOND, ls="--", label="margin that matters")
ax.set(xlabel="week", ylabel="distance to the reference", ylim=(0, None))
ax.set_xticks(weeks)
ax.legend(loc="upper left")
plots.save(ax, "drift_over_time.svg")
