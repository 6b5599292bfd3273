"""Embeddings of rows on a cluster are those of the same rows in one process."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean import features
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.noise import Normal

da = pytest.importorskip("dask.array", reason="clusters need the extra 'dask'")
dd = pytest.importorskip("dask.dataframe", reason="clusters need the extra 'dask'")
pytestmark = pytest.mark.filterwarnings("default")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(130, 2)), RNG.normal(size=(70, 2)) + 1.0
KERNEL, NOISE = Gaussian(1.5), Normal(0.2)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr("kernelmean.inference.cluster.rows._LEAST_PIECE", 40)


@pytest.mark.parametrize("kernel", [KERNEL, Laplacian(2.0)], ids=repr)
@pytest.mark.parametrize("chunks", [130, 33])
def test_inner_products_and_values(plan, kernel, chunks):
    mu = km.embed(da.from_array(X, chunks=(chunks, 1)), kernel, noise=NOISE, plan=plan)
    nu = km.embed(da.from_array(Y, chunks=(20, 2)), kernel, plan=plan)
    P, Q = km.embed(X, kernel, noise=NOISE), km.embed(Y, kernel)
    assert mu @ nu == pytest.approx(P @ Q, rel=1e-13)
    assert mu @ mu == pytest.approx(P @ P, rel=1e-13)
    assert (mu - 2.0 * nu).norm() == pytest.approx((P - 2.0 * Q).norm(), rel=1e-12)
    assert mu(Y) == pytest.approx(P(Y), rel=1e-13)


def test_rows_here_and_there_mix(plan):
    mu, P, Q = km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, plan=plan), km.embed(X, KERNEL), km.embed(Y, KERNEL)
    assert mu @ Q == pytest.approx(P @ Q, rel=1e-13)
    assert Q @ mu == pytest.approx(P @ Q, rel=1e-13)
    assert (Q + mu).norm() == pytest.approx((P + Q).norm(), rel=1e-13)
    assert (Q - mu)(Y[:3]) == pytest.approx((Q - P)(Y[:3]), rel=1e-12, abs=1e-15)


def test_partitions_do_not_change_the_last_bit(plan):
    norms = {km.embed(da.from_array(X, chunks=(size, 2)), KERNEL, plan=plan).norm() for size in (130, 41, 7)}
    assert len(norms) == 1


def test_weights_and_their_sum(plan):
    w = RNG.uniform(-1.0, 2.0, size=130)
    frame = dd.from_pandas(__import__("pandas").DataFrame({"w": w}), npartitions=3)
    for weights in (da.from_array(w, chunks=50), frame["w"], frame):
        mu = km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, weights=weights, plan=plan)
        assert (3.0 * mu).norm() == pytest.approx(3.0 * km.embed(X, KERNEL, weights=w).norm(), rel=1e-13)
    with pytest.raises(ValueError, match=r"weights have shape \(70, 1\), one number per row, \(130,\), is needed"):
        km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, weights=da.from_array(w[:70], chunks=50), plan=plan)


@pytest.mark.parametrize("weighted", [False, True])
def test_features_in_one_pass(plan, weighted):
    w = RNG.uniform(size=130) * (np.arange(130) >= 40) if weighted else None  # the first partition counts nothing
    phi = features.fourier(KERNEL, 2, 64)
    there = None if w is None else da.from_array(w, chunks=50)
    mu = features.embed(da.from_array(X, chunks=(40, 2)), phi, weights=there, noise=NOISE, plan=plan)
    nu = features.embed(X, phi, weights=w, noise=NOISE)
    assert mu.parts[0].vector == pytest.approx(nu.parts[0].vector, rel=1e-13, abs=1e-16)
    weights = [each.parts[0].terms[0].weight for each in (mu, nu)]
    assert weights[0] == pytest.approx(weights[1], rel=1e-14)


def test_what_a_cluster_does_not_do_is_said(plan, tmp_path):
    mu = km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, noise=NOISE, plan=plan)
    for call in (lambda: mu.points, lambda: mu.sample(3), lambda: mu.logpdf(Y)):
        with pytest.raises(TypeError, match="the 130 rows of X are on a cluster"):
            call()
    with pytest.raises(TypeError):
        km.save(mu, tmp_path / "mu.npz")
    with pytest.raises(ValueError, match="one distribution per point; on a cluster all rows share one"):
        km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, noise=Normal.diagonal(np.ones((130, 2))), plan=plan)
    with pytest.raises(ValueError, match="made for 3 columns"):
        km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, noise=Normal.diagonal(np.ones(3)), plan=plan)


def test_other_columns_are_refused(plan):
    mu = km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, plan=plan)
    with pytest.raises(ValueError, match="columns"):
        mu @ km.embed(Y[:, :1], KERNEL)
    assert repr(mu) == "Embedding(n=130, d=2, kernel=Gaussian(bandwidth=1.5), noise=Dirac())"


def test_an_embedding_of_rows_elsewhere_says_what_it_is_made_of(plan):
    rows = da.from_array(X, chunks=(40, 2))
    mu, weighted = (
        km.embed(rows, KERNEL, weights=w, plan=plan) for w in (None, da.from_array(np.ones(130), chunks=50))
    )
    assert str(3 * mu).endswith("weights  sum 3")
    assert str(weighted).endswith("weights  one a row, where the rows are")


@pytest.mark.parametrize("kernel", [Gaussian("median"), Gaussian("median") + Laplacian("silverman")], ids=repr)
def test_rules_look_at_the_rows_on_the_cluster(plan, kernel):
    mu, P = km.embed(da.from_array(X, chunks=(40, 2)), kernel, plan=plan), km.embed(X, kernel)
    assert mu.kernel == P.kernel
    assert mu.norm() == pytest.approx(P.norm(), rel=1e-13)


def test_rules_refuse_more_rows_than_one_worker_joins(plan):
    few = km.DaskPlan(plan.client, exact_rows=100)
    with pytest.raises(
        ValueError, match="'median', which looks at all rows on one worker, at most 100; X has 130 rows"
    ):
        km.embed(da.from_array(X, chunks=(40, 2)), Gaussian("median"), plan=few)
    assert km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, plan=few).shape == (130, 2)


def test_rows_elsewhere_are_not_saved(plan, tmp_path):
    mu = km.embed(da.from_array(X, chunks=(40, 2)), KERNEL, plan=plan)
    with pytest.raises(TypeError, match="what is on a cluster, 130 rows of X, cannot be saved"):
        km.save(mu, tmp_path / "mu.npz")
