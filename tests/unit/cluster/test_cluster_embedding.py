"""Means of features of rows on a cluster are those of the same rows in one process."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import features
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal

da = pytest.importorskip("dask.array", reason="clusters need the extra 'dask'")
dd = pytest.importorskip("dask.dataframe", reason="clusters need the extra 'dask'")
pytestmark = pytest.mark.filterwarnings("default")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(130, 2))
WEIGHTS = RNG.uniform(size=130) * (np.arange(130) >= 40)  # the first partition counts nothing
NOISE = Normal(0.2)
PHI = features.fourier(Gaussian(1.5), 2, 64)


def there(array, size):
    return da.from_array(array, chunks=size)


@pytest.mark.parametrize("weighted", [False, True])
def test_features_in_one_pass(plan, weighted):
    w = WEIGHTS if weighted else None
    mu = features.embed(there(X, 40), PHI, weights=None if w is None else there(w, 50), noise=NOISE, plan=plan)
    nu = features.embed(X, PHI, weights=w, noise=NOISE)
    assert mu.parts[0].vector == pytest.approx(nu.parts[0].vector, rel=1e-13, abs=1e-16)
    weights = [each.parts[0].terms[0].weight for each in (mu, nu)]
    assert weights[0] == pytest.approx(weights[1], rel=1e-14)


def test_weights_are_one_column_of_a_table_or_an_array(plan):
    near = features.embed(X, PHI, weights=WEIGHTS)
    frame = dd.from_pandas(pd.DataFrame({"w": WEIGHTS}), npartitions=3)
    for weights in (there(WEIGHTS, 50), frame["w"], frame):
        far = features.embed(there(X, 40), PHI, weights=weights, plan=plan)
        assert far.norm() == pytest.approx(near.norm(), rel=1e-13)
    with pytest.raises(ValueError, match=r"weights have shape \(70, 1\), one number per row, \(130,\), is needed"):
        features.embed(there(X, 40), PHI, weights=there(WEIGHTS[:70], 50), plan=plan)


def test_embeddings_of_single_rows_are_made_in_one_process(plan):
    with pytest.raises(TypeError, match=r"write features\.embed\(X, features, plan=plan\), which adds up rows"):
        km.embed(there(X, 40), Gaussian(1.0), plan=plan)
