"""How the noise is chosen.

MKME adds noise of variance σ² around every point, exactly and not by simulation. Too little noise keeps the scatter of
the sample; too much blurs it. The leave-one-out score needs no knowledge of the distribution, but its minimum is near
that of the true loss. We can draw the true loss here because we made up the distribution.

Picture: two curves against the variance of the noise on a logarithmic axis, both falling from a flat start to a minimum
and rising after it. A dot marks the minimum of each; the two are close to each other.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(3)
means = np.array([[0.0, 0.0], [2.0, 1.0]])
X = means[rng.integers(2, size=40)] + 0.7 * rng.normal(size=(40, 2))
kernel = km.kernels.Gaussian(0.6)
truth = km.embed(means, kernel, noise=km.noise.Normal(0.49))

variances = np.geomspace(0.005, 2.0, 25)
loss, score = [], []
for variance in variances:
    estimate = km.KernelMean(kernel, noise=km.noise.Normal(variance)).fit(X)
    loss.append((estimate.embedding_ - truth).norm() ** 2)
    score.append(estimate.loocv_)

plain, chosen = km.KME(kernel).fit(X), km.MKME(kernel).fit(X)
print(f"no noise                         loss {(plain.embedding_ - truth).norm() ** 2:.4f}")
print(f"leave-one-out     σ² = {chosen.noise_.covariance:.3f}, loss {(chosen.embedding_ - truth).norm() ** 2:.4f}")
print(f"best of the grid  σ² = {variances[np.argmin(loss)]:.3f}, loss {min(loss):.4f}")

ax = plots.new_figure((6.0, 3.4)).add_subplot()
ax.plot(variances, loss, color=plots.FIRST, label="true loss (left axis)")
ax.plot(variances[np.argmin(loss)], min(loss), "o", color=plots.FIRST)
ax.set(xscale="log", xlabel="variance of the noise, σ²", ylabel="squared distance to the truth")
other = ax.twinx()
other.plot(variances, score, "--", color=plots.SECOND, label="leave-one-out score (right axis)")
other.plot(variances[np.argmin(score)], min(score), "s", color=plots.SECOND)
other.set_ylabel("leave-one-out score")
lines = [*ax.lines[:1], *other.lines[:1]]
ax.legend(lines, [line.get_label() for line in lines], loc="upper center")
plots.save(ax.figure, "choosing_the_noise.svg")
