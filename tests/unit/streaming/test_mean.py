"""Means of features over batches: the same as of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean import features
from kernelmean.inference import streaming
from kernelmean.kernels import Gaussian
from kernelmean.noise import Dirac

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(230, 2)), RNG.normal(size=(170, 2)) * 1.2
PHI = features.fourier(Gaussian(1.5), 2, 32)


def test_mean_stream_is_the_embedding_of_all_rows(tmp_path):
    stream = streaming.MeanStream(PHI)
    with pytest.raises(ValueError, match="no row"):
        stream.estimate()
    for start in range(0, 230, 50):
        stream.partial_fit(X[start : start + 50])
        km.save(stream, tmp_path / "mean.npz")
        stream = km.load(tmp_path / "mean.npz")
    whole = features.embed(X, PHI)
    np.testing.assert_allclose(stream.estimate().parts[0].vector, whole.parts[0].vector, rtol=1e-12, atol=1e-15)
    both = stream + streaming.MeanStream(PHI).partial_fit(Y)
    assert both.rows == 400
    assert (stream + streaming.MeanStream(PHI)).rows == 230
    noise = features.choose_noise(whole)
    assert stream.estimate("mkme").noise.covariance == pytest.approx(noise.covariance, rel=1e-9)
    assert stream.estimate().noise == Dirac()
    with pytest.raises(ValueError, match="'mkme'"):
        stream.estimate("f-kmse")
