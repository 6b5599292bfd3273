"""Files: whatever is saved comes back equal, and a damaged or foreign file is one plain error."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import load, save
from kernelmean.embedding import Embedding
from kernelmean.estimators import Landweber, read_columns, saved_kinds
from kernelmean.kernels import Kernel
from kernelmean.noise import Noise

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 2))
K, N = km.kernels, km.noise
FULL = np.array([[2.0, 0.5], [0.5, 1.0]])
KERNELS = [
    K.Gaussian(1.5),
    K.Gaussian([0.1, 3.0]),
    K.Gaussian(km.median_bandwidth(X)),
    0.5 * K.Gaussian(1.0) + K.Gaussian(2.0) * K.Gaussian(1e-300),
    K.TensorProduct([K.Gaussian(1.0), K.Categorical(0.25)], [[0], [1]]),
]
NOISES = [
    N.Dirac(),
    N.Normal(0.1),
    N.Normal(FULL),
    N.Normal(np.stack([FULL] * 5)),
    N.Normal.diagonal([0.1, 0.2]),
    N.Normal.isotropic(np.arange(5.0)),
    N.Blankout(0.25, (1.0, 2.0)),
    N.Sampled(N.Normal(0.5), 16, seed=7),
]
ESTIMATORS = [
    km.KME(bandwidth=2.0),
    km.estimators.SKMSE(),
    km.estimators.FKMSE(K.Laplacian),
    km.MKME(K.Gaussian([1.0, 2.0])),
    km.MMKME(),
    km.estimators.VPMKME(),
    km.KernelMean(noise=N.Normal(FULL), filter=Landweber(), strength=3),
    km.estimators.BayesianKernelMean(),
    km.estimators.MedianOfMeans(n_blocks=2, random_state=0),
]


def same(a: Embedding, b: Embedding) -> bool:
    parts = zip(a.parts, b.parts, strict=True)
    return a.kernel == b.kernel and all(
        np.array_equal(p.points, q.points) and np.array_equal(p.weights, q.weights) and p.noise == q.noise
        for p, q in parts
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mean.npz"


class TestRoundTrip:
    @pytest.mark.parametrize("kernel", KERNELS, ids=repr)
    def test_kernels(self, kernel: Kernel, path: Path) -> None:
        save(kernel, path)
        assert load(path) == kernel

    @pytest.mark.parametrize("noise", NOISES, ids=repr)
    def test_noises(self, noise: Noise, path: Path) -> None:
        save(noise, path)
        assert load(path) == noise

    @pytest.mark.parametrize("noise", NOISES, ids=repr)
    def test_embeddings(self, noise: Noise, path: Path) -> None:
        mu = km.embed(X, KERNELS[1], weights=RNG.standard_normal(5), noise=noise)
        save(mu, path)
        assert same(load(path), mu)

    def test_sums_keep_their_parts_and_their_values(self, path: Path) -> None:
        mu, nu = (km.embed(Z, KERNELS[0], noise=noise) for Z, noise in ((X, N.Dirac()), (X + 1, N.Normal(0.3))))
        save(mu - 2.0 * nu, path)
        np.testing.assert_array_equal(load(path)(X), (mu - 2.0 * nu)(X))

    def test_a_bandwidth_remembers_its_rule(self, path: Path) -> None:
        save(K.Gaussian(km.median_bandwidth(X)), path)
        assert load(path) == KERNELS[2]

    def test_columns(self, path: Path) -> None:
        save(km.embed(X, KERNELS[0]), path, columns=["left", "right"])
        assert read_columns(path) == ("left", "right")

    @pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
    def test_estimators(self, estimator: Any, path: Path) -> None:
        estimator.fit(X)
        save(estimator, path)
        back = load(path)
        assert repr(back) == repr(estimator)
        assert vars(back).keys() == vars(estimator).keys()
        assert same(back.embedding_, estimator.embedding_)
        assert back.noise_ == estimator.noise_
        np.testing.assert_array_equal(back.weights_, estimator.weights_)
        np.testing.assert_array_equal(back.evaluate(X), estimator.evaluate(X))
        assert back.bandwidth_ == estimator.bandwidth_
        assert getattr(back, "criterion_", None) == getattr(estimator, "criterion_", None)

    def test_an_estimator_before_it_is_fitted_and_one_of_a_data_frame(self, path: Path) -> None:
        save(km.MKME(), path)
        assert vars(load(path)) == vars(km.MKME())
        save(km.MMKME().fit(pd.DataFrame(X, columns=["left", "right"])), path)
        assert list(load(path).feature_names_in_) == ["left", "right"]
        with pytest.raises(TypeError, match="cannot be saved"):
            save(km.estimators.MedianOfMeans(random_state=np.random.RandomState(0)).fit(X), path)

    def test_every_kernel_and_noise_of_the_library_is_known(self) -> None:
        known = {kind.cls for kind in saved_kinds().values()}
        public = [getattr(module, name) for module in (K, N) for name in module.__all__]
        concrete = [cls for cls in public if isinstance(cls, type) and issubclass(cls, (Kernel, Noise))]
        missing = [cls for cls in concrete if cls not in known and not getattr(cls, "__abstractmethods__", None)]
        assert missing == [K.KernelFunction, K.Precomputed]
        assert len(known) == len(saved_kinds())

    def test_the_same_object_gives_the_same_bytes(self, path: Path) -> None:
        files = []
        for _ in range(2):
            save(km.embed(X, KERNELS[0]), path)
            files.append(path.read_bytes())
        assert files[0] == files[1]


class TestSaving:
    def test_what_is_not_of_the_library_is_refused_and_nothing_is_written(self, path: Path) -> None:
        @dataclass(frozen=True)
        class Mine(Kernel):
            def __call__(self, X: Any, Y: Any) -> Any:
                return X @ Y.T

        for value in (
            Mine(),
            km.embed(X, Mine()),
            {1: 2},
            np.array([None]),
            np.array([1j]),
            object(),
            Path,
            3.0,
            "x",
            K.Gaussian,
            [K.Gaussian(1.0)],
        ):
            with pytest.raises(TypeError, match="cannot be saved"):
                save(value, path)
        assert list(path.parent.iterdir()) == []

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            save(KERNELS[0], tmp_path / "no" / "mean.npz")


def loads_or_says_why(path: Path, mu: Embedding) -> bool:
    try:
        return same(load(path), mu)
    except ValueError as error:
        return str(path) in str(error)


class TestDamage:
    def test_any_changed_byte_outside_the_data_is_one_plain_line_or_harmless(self, path: Path) -> None:
        mu = km.embed(X, K.Gaussian(1.0))
        save(mu, path)
        data = path.read_bytes()
        for position in [*range(60), *range(len(data) - 300, len(data))]:
            for flip in (1, 64, 255):
                path.write_bytes(data[:position] + bytes([data[position] ^ flip]) + data[position + 1 :])
                assert loads_or_says_why(path, mu)

    def test_a_file_that_is_not_there(self, path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe, mean = tmp_path / "pipe", km.embed([[0.0], [1.0]], km.kernels.Gaussian(1.0))
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        km.save(mean, pipe)
        km.save(mean, tmp_path / "file.npz")
        assert read.result(timeout=10) == (tmp_path / "file.npz").read_bytes()
    assert pipe.is_fifo()


def test_a_disk_that_cannot_flush_folders_is_no_error_but_a_broken_one_is(tmp_path, monkeypatch):
    def refuse(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))

    mean = km.embed([[0.0], [1.0]], km.kernels.Gaussian(1.0))
    monkeypatch.setattr(os, "fsync", refuse)
    number = errno.EINVAL
    km.save(mean, tmp_path / "mean.npz")
    assert load(tmp_path / "mean.npz").kernel == mean.kernel
    number = errno.EIO
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        km.save(mean, tmp_path / "mean.npz")
