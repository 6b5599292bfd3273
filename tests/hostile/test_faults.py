"""A full disk, a closed folder, little memory, a reader that goes away, Ctrl-C: a word, and no ruins."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from forked import Done, Forks

import kernelmean as km
from kernelmean.cli import main
from kernelmean.core import disk as _disk
from kernelmean.studies import plots

SMALL = ("compare", "first.csv", "second.csv", "--estimator", "kme", "--resamples", "19")
OUTPUTS: dict[str, tuple[str, ...]] = {
    "json": (*SMALL, "--json", "out.json"),
    "csv": (*SMALL, "--csv", "out.csv"),
    "html": (*SMALL, "--html", "out.html"),
    "plot": (*SMALL, "--plot", "out.png"),
    "embedding": ("estimate", "first.csv", "--save", "out.npz"),
    "monitor": ("monitor", "first.csv", "second.csv", "--checkpoint", "out.json"),
}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("first", "second"):
        pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).to_csv(f"{name}.csv", index=False)
    return tmp_path


def call(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    out, err = capfd.readouterr()
    return int(exit_.value.code or 0), out, err


def no_space(patch: pytest.MonkeyPatch) -> None:
    """Let the disk be full when the last bytes are to reach it."""

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    patch.setattr(_disk.os, "fsync", fail)


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("old", [True, False], ids=["over an old file", "anew"])
def test_a_full_disk_leaves_the_old_file_or_none(
    name: str, old: bool, tables: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words = OUTPUTS[name]
    if old and name in ("json", "csv", "html", "plot", "embedding"):  # which replace whatever has the name
        Path(words[-1]).write_bytes(b"old")
    elif old:
        assert call(words, capfd)[0] == 0
    before = {path.name: path.read_bytes() for path in tables.iterdir()}
    with monkeypatch.context() as patch:
        no_space(patch)
        code, out, err = call(words, capfd)
    if old and name == "stream":  # whose sums are finished, so that nothing is written
        assert (code, err) == (0, "")
        assert {path.name: path.read_bytes() for path in tables.iterdir()} == before
        return
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert "No space left on device" in err
    assert "out" in err
    assert {path.name: path.read_bytes() for path in tables.iterdir()} == before


@pytest.mark.parametrize(
    "write",
    [
        lambda path: km.save(km.kernels.Gaussian(1.0), path),
        lambda path: plots.save(plots.new_figure((2, 2)), path.with_suffix(".svg")),
        lambda path: plots.save(plots.new_figure((2, 2)), path.with_suffix(".png")),
        lambda path: _disk.write_file(path, b"text"),
    ],
    ids=["save", "svg", "png", "text"],
)
def test_every_writer_replaces_whole_files(
    write: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 1
    no_space(monkeypatch)
    with pytest.raises(OSError, match="No space left") as caught:
        write(tmp_path / "out")
    assert str(caught.value.filename).startswith(str(tmp_path / "out"))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_link_stays_a_link_and_what_it_names_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "link.npz").symlink_to("file.npz")
    km.save(km.kernels.Gaussian(1.0), tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert km.load(tmp_path / "file.npz") == km.kernels.Gaussian(1.0)


LIMITED = """
import resource, signal, sys

sys.dont_write_bytecode = True  # what no process has compiled yet would be cut off, and stay so
from kernelmean.cli import run
import kernelmean.studies.comparison.table_pass, pyarrow.csv, pyarrow.parquet
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
{limit}
sys.exit(run(sys.argv[1:]))
"""


def limited(limit: str, words: tuple[str, ...], fork: Forks) -> Done:
    return fork(words, LIMITED.format(limit=limit))


def test_files_that_may_not_grow(tables: Path, fork: Forks) -> None:
    """The system refuses more than 4 kB a file, half way through it."""
    words = ("estimate", "first.csv", "--save", "out.npz", "--json", "out.json")
    pd.DataFrame(np.random.default_rng(0).normal(size=(900, 2)), columns=["a", "b"]).to_csv("first.csv", index=False)
    done = limited("resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))", words, fork)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "out.npz: File too large" in done.stderr
    assert sorted(path.name for path in tables.iterdir()) == ["first.csv", "second.csv"]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="sizes of a process are read from /proc")
def test_little_memory_is_one_line(tables: Path, fork: Forks) -> None:
    rng = np.random.default_rng(0)
    for name in ("first", "second"):
        pd.DataFrame(rng.normal(size=(4000, 2)), columns=["a", "b"]).to_parquet(f"{name}.parquet")
    room = "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + 60 * 2**20\n"
    room += "resource.setrlimit(resource.RLIMIT_AS, (size, size))"
    done = limited(room, ("estimate", "first.parquet", "--json", "out.json"), fork)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "not enough memory" in done.stderr
    assert not Path("out.json").exists()


@pytest.mark.parametrize("words", [("estimate", "first.csv"), ("--help",)])
def test_a_reader_that_goes_away_is_no_error(words: tuple[str, ...], tables: Path, fork: Forks) -> None:
    """As with other programs in a pipe: silence, and the exit code of one that SIGPIPE ended."""
    reading, writing = os.pipe()
    os.close(reading)
    done = fork(words, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_ctrl_c_says_a_word_and_leaves_nothing(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kernelmean.studies.comparison.compare", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have set it aside
    try:
        found = call((*SMALL, "--json", "out.json"), capfd)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found == (130, "", "kernelmean: stopped; nothing was written\n")
    assert sorted(path.name for path in tables.iterdir()) == ["first.csv", "second.csv"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may write everywhere")
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_folder_that_may_not_be_written_in(name: str, tables: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tables.chmod(0o500)
    try:
        code, out, err = call(OUTPUTS[name], capfd)
    finally:
        tables.chmod(0o700)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sorted(path.name for path in tables.iterdir()) == ["first.csv", "second.csv"]
