"""Noise damps high frequencies.

A kernel mean is the characteristic function of the data, seen through the spectrum of the kernel. Noise multiplies it
by its own characteristic function, which is near 1 at low frequencies and falls to 0 at high ones. At high frequencies
the characteristic function of a sample is mostly chance: there it pays to damp it.

Picture: three curves against frequency. The characteristic function of the distribution falls smoothly to 0; that of
the sample follows it at first and then goes on wiggling; the damped one follows that of the distribution and its
wiggles are smaller.
"""

import numpy as np

import kernelmean as km
from kernelmean.studies import plots

rng = np.random.default_rng(1)
X = rng.normal(size=(40, 1))
frequencies = np.linspace(0, 6, 200)
exact = np.exp(-(frequencies**2) / 2)
sample = np.abs(np.exp(1j * frequencies[:, None] * X[:, 0]).mean(axis=1))
noise = km.MKME(km.kernels.Gaussian(0.3)).fit(X).noise_
damped = sample * noise.characteristic(frequencies[:, None])

high = frequencies > 3
print(f"chosen noise: σ² = {noise.covariance:.3f}")
print("mean size above frequency 3")
for name, values in (("exact", exact), ("sample", sample), ("damped", damped)):
    print(f"  {name:8}{values[high].mean():.3f}")

ax = plots.new_figure((6.0, 3.2)).add_subplot()
ax.plot(frequencies, exact, color="black", label="standard normal, exact")
ax.plot(frequencies, sample, "--", color=plots.SECOND, label="the sample, 40 rows")
ax.plot(frequencies, damped, color=plots.FIRST, label="the sample with noise (MKME)")
ax.set(xlabel="frequency ω", ylabel="|characteristic function|", ylim=(0, 1.02))
ax.legend()
plots.save(ax, "noise_damps_frequencies.svg")
