"""Sums over bins in a file: they answer for the rows and options that they are of, and a stopped test goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kernelmean as km
from checkered import checkered
from in_bins import hsic, mmd
from kernelmean.inference.bins import reading
from kernelmean.inference.bins.answering import Saving
from kernelmean.inference.bins.pairs import PairSums
from kernelmean.inference.bins.sample_sums import SampleSums
from kernelmean.kernels import Gaussian, Laplacian

Array = np.ndarray[Any, Any]
Test = Callable[..., Any]
TESTS = pytest.mark.parametrize("test", [mmd, hsic], ids=["mmd", "hsic"])
N, BATCH = 2600, 400
KME = {"estimator": "kme", "n_resamples": 15}


def named(value: Any) -> str:
    return {mmd: "mmd", hsic: "hsic"}[value] if callable(value) else str(value)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the sums after every batch."""
    monkeypatch.setattr(sys.modules[Saving.__module__], "_SECONDS", 0.0)


def rows(seed: int, n: int = N) -> Array:
    return np.random.default_rng(seed).normal(size=(n, 2)).round(3)


def parquet(path: Path, table: Array) -> Path:
    pl.DataFrame(table, schema=["a", "b"]).write_parquet(path.with_suffix(".parquet"), row_group_size=BATCH)
    return path.with_suffix(".parquet")


def csv(path: Path, table: Array) -> Path:
    pl.DataFrame(table, schema=["a", "b"]).write_csv(path.with_suffix(".csv"))
    return path.with_suffix(".csv")


def batches(_: Path, table: Array) -> list[Array]:
    return [table[k : k + BATCH] for k in range(0, len(table), BATCH)]


PLACES: dict[str, Callable[[Path, Array], Any]] = {
    "array": lambda _, table: table,
    "csv": csv,
    "parquet": parquet,
    "list of batches": batches,
    "iterator of batches": lambda path, table: iter(batches(path, table)),
}
IN_BATCHES: dict[str, Callable[[Path, Array], Any]] = {
    **PLACES,
    "parquet": lambda path, table: km.read(parquet(path, table), batch_rows=BATCH),
}
CHANGES: dict[str, Callable[[Array], Array]] = {
    "first cell": lambda table: np.concatenate([[[9.0, 9.0]], table[1:]]),
    "last cell": lambda table: np.concatenate([table[:-1], [[9.0, 9.0]]]),
    "two rows exchanged": lambda table: table[[*range(1, 5), 0, *range(5, len(table))]],
    "sorted": lambda table: np.sort(table, axis=0),
}


def same(one: Any, other: Any) -> None:
    assert (one.pvalue, one.sizes) == (other.pvalue, other.sizes)
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("test", "place"), checkered([mmd, hsic], list(PLACES)), ids=named)
def test_a_finished_test_answers_for_its_rows_only(tmp_path: Path, test: Test, place: str) -> None:
    X, Y, path, put = rows(0), rows(1), tmp_path / "sums.npz", PLACES[place]

    def asked(first: Array, second: Array, kept: Path | None = path) -> Any:
        return test(put(tmp_path / "x", first), put(tmp_path / "y", second), checkpoint=kept, **KME)

    found = asked(X, Y)
    same(found, asked(X, Y, None))
    content = path.read_bytes()
    same(asked(X, Y), found)
    for k, change in enumerate(CHANGES.values()):
        with pytest.raises(ValueError, match=r"sums\.npz is not of this test: it belongs to other data than"):
            asked(*((change(X), Y) if k % 2 else (X, change(Y))))
    for one, other in ((Y, X), (X[:-1], Y[:-1]), (X[:-BATCH], Y[:-BATCH])):
        with pytest.raises(ValueError, match=r"sums\.npz is not of this test: it belongs to other"):
            asked(one, other)
    assert path.read_bytes() == content
    same(asked(X, Y), found)


@TESTS
def test_a_finished_test_adds_no_row_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: Test) -> None:
    path = tmp_path / "sums.npz"
    found = test(rows(0), rows(1), checkpoint=path, **KME)

    def added(*_: Any) -> None:
        raise AssertionError("rows were added")

    monkeypatch.setattr(SampleSums, "add", added)
    monkeypatch.setattr(PairSums, "add", added)
    same(test(rows(0), rows(1), checkpoint=path, **KME), found)


@pytest.mark.parametrize(
    ("test", "place", "options"),
    checkered([mmd, hsic], ["array", "parquet", "list of batches", "iterator of batches"], [KME, {"n_resamples": 15}]),
    ids=named,
)
def test_a_finished_test_is_that_of_arrays(tmp_path: Path, test: Test, place: str, options: dict[str, Any]) -> None:
    X, Y, path = rows(0), rows(1), tmp_path / "sums.npz"
    put = PLACES[place]
    found = test(put(tmp_path / "x", X), put(tmp_path / "y", Y), checkpoint=path, **options)
    assert path.exists()
    same(test(put(tmp_path / "x", X), put(tmp_path / "y", Y), checkpoint=path, **options), found)
    same(test(X, Y, **options), found)


@TESTS
@pytest.mark.parametrize(
    "other",
    [
        {"estimator": "adaptive"},
        {"estimator": "aggregate"},
        {"estimator": "mkme"},
        {"estimator": km.KME(Laplacian(1.0))},
        {"estimator": km.KME(Gaussian(1.0))},
        {"estimator": km.KME(Gaussian(1.0 + 1e-15))},
        {"estimator": km.KME(Gaussian("median-unsquared"))},
        {"estimator": km.KME(bandwidth=2.0)},
        {"estimator": km.KernelMean(noise=km.noise.Normal(0.1))},
        {"n_resamples": 31},
        {"seed": 1},
    ],
    ids=repr,
)
def test_options_are_part_of_a_checkpoint(tmp_path: Path, test: Test, other: dict[str, Any]) -> None:
    path = tmp_path / "sums.npz"
    test(rows(0), rows(1), checkpoint=path, **KME)
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"sums\.npz is not of this test: it belongs to other options \("):
        test(rows(0), rows(1), checkpoint=path, **KME | other)
    assert path.read_bytes() == content


def test_the_statistic_and_the_question_are_part_of_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "sums.npz"
    mmd(rows(0), rows(1), checkpoint=path, **KME)
    with pytest.raises(ValueError, match=r"other options \(statistic\)|other options \(--statistic\)"):
        mmd(rows(0), rows(1), checkpoint=path, statistic="v", **KME)
    with pytest.raises(ValueError, match="it belongs to other options"):
        hsic(rows(0), rows(1), checkpoint=path, **KME)


@TESTS
def test_what_cannot_be_told_apart_is_refused(tmp_path: Path, test: Test) -> None:
    path = tmp_path / "sums.npz"
    with pytest.raises(TypeError, match="sums that are saved go on with one seed, so write an integer"):
        test(rows(0), rows(1), checkpoint=path, seed=np.random.default_rng(0), **KME)
    with pytest.raises(TypeError, match="a checkpoint cannot tell functions apart"):
        test(rows(0), rows(1), checkpoint=path, estimator=lambda points, kernel: (kernel, km.noise.Dirac()))
    assert not path.exists()


# -- checkpoints that are not finished --------------------------------------------------------------------------------


class StopError(Exception):
    """The machine went off."""


def stopped(source: km.tables.Source, after: int) -> km.tables.Source:
    """Return a source whose rows end with an error after some rows, whenever they are read."""

    def read() -> Iterator[Any]:
        seen = 0
        for batch in source:
            if seen >= after:
                raise StopError
            seen += len(batch)
            yield batch

    return replace(source, _arrays=read)


class Counted:
    """Calls of a method, of which one may stop everything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type, last: int | None = None) -> None:
        self.rows, calls = 0, [0]
        add = kind.add

        def counted(sums: Any, *arguments: Any) -> None:
            if calls[0] == last:
                raise StopError
            calls[0] += 1
            add(sums, *arguments)
            self.rows += arguments[0].shape[0]

        monkeypatch.setattr(kind, "add", counted)


@TESTS
@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("place", ["parquet", "list of batches", "iterator of batches"])
def test_a_stopped_test_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: Test, place: str) -> None:
    """Half of the sums were saved: the rest of the rows is added, and the result is that of one run."""
    X, Y, path, put = rows(0), rows(1), tmp_path / "sums.npz", IN_BATCHES[place]
    kind, window = (SampleSums, 0) if test is mmd else (PairSums, 64 * 16)
    monkeypatch.setattr(reading, "_MOST", BATCH)

    def asked(kept: Path | None = path) -> Any:
        return test(*(put(tmp_path / name, own) for name, own in (("x", X), ("y", Y))), checkpoint=kept, **KME)

    whole = asked(None)
    with monkeypatch.context() as patch:
        Counted(patch, kind, last=6 if test is mmd else 2)
        with pytest.raises(StopError):
            asked()
    done = 6 * BATCH if test is mmd else 2 * window
    content = path.read_bytes()
    with monkeypatch.context() as patch:
        counted = Counted(patch, kind)
        same(asked(), whole)
        assert counted.rows == (2 * N if test is mmd else N) - done
    for change in (CHANGES["first cell"], CHANGES["two rows exchanged"]):
        path.write_bytes(content)
        X, kept = change(X), X
        with pytest.raises(ValueError, match="it belongs to other data than"):
            asked()
        X = kept
        assert path.read_bytes() == content
    with pytest.raises(ValueError, match=r"it belongs to other options \("):
        test(X, Y, checkpoint=path, **KME | {"n_resamples": 31})


@TESTS
@pytest.mark.usefixtures("often")
def test_a_table_that_has_grown_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: Test) -> None:
    """Even where as many rows were looked at and all are alike: in a longer table they would fall into other bins."""
    path = tmp_path / "sums.npz"
    monkeypatch.setattr(reading, "_MOST", BATCH)
    with monkeypatch.context() as patch:
        Counted(patch, SampleSums if test is mmd else PairSums, last=2)
        with pytest.raises(StopError):
            test(*(batches(path, np.ones((N, 2))) for _ in range(2)), checkpoint=path, **KME)
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"sums\.npz is not of this test: it belongs to other data than"):
        test(*(batches(path, np.ones((N + 3, 2))) for _ in range(2)), checkpoint=path, **KME)
    assert path.read_bytes() == content
    assert test(*(batches(path, np.ones((N, 2))) for _ in range(2)), checkpoint=path, **KME).pvalue == 1.0


@TESTS
@pytest.mark.usefixtures("often")
def test_rows_that_could_not_be_read_leave_sums_that_go_on(tmp_path: Path, test: Test) -> None:
    X, Y, path = parquet(tmp_path / "x", rows(0)), parquet(tmp_path / "y", rows(1)), tmp_path / "sums.npz"
    whole = test(X, Y, **KME)
    source = km.read(X, batch_rows=BATCH)
    with pytest.raises(StopError):
        test(stopped(source, 2 * BATCH), Y, checkpoint=path, **KME)
    same(test(X, Y, checkpoint=path, **KME), whole)


@TESTS
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, test: Test) -> None:
    path = tmp_path / "sums.npz"
    path.write_text("nothing")
    with pytest.raises((ValueError, OSError)):
        test(rows(0), rows(1), checkpoint=path, **KME)
    km.save(km.embed(rows(0), Gaussian(1.0)), tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"other\.npz .*delete it"):
        test(rows(0), rows(1), checkpoint=tmp_path / "other.npz", **KME)
