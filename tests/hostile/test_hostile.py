"""Every hostile file is refused by one plain line: nothing runs, nothing is written, no number comes out."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hostile_saved import BOMBS, SAVED, valid
from hostile_states import HEAD, LINES, TRIALS, _line, monitors, results
from hostile_tables import GOOD, TABLES, swelling

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean import TestResult
from kernelmean.cli import main
from kernelmean.estimators import read_columns
from kernelmean.tables import read_table
from kernelmean_paper.store import read_log

SECONDS = 10.0


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return good files of all kinds, made once."""
    folder = tmp_path_factory.mktemp("good")
    rng, here = np.random.default_rng(0), Path.cwd()
    os.chdir(folder)
    try:
        for name, n in (("first", 120), ("second", 90)):
            pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).to_csv(f"{name}.csv", index=False)
        with pytest.raises(SystemExit) as exit_:
            main(["monitor", "first.csv", "second.csv", "--checkpoint", "monitor.json"])
        assert exit_.value.code == 0
        result = km.mmd_test(rng.normal(size=(8, 1)), rng.normal(size=(7, 1)), estimator="kme", n_resamples=99, rng=0)
        Path("result").write_text(result.to_json(null_distribution=True))
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    finally:
        os.chdir(here)


@pytest.fixture
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder within the test's own, so that what is written above it is seen."""
    folder = tmp_path / "inner"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Hold that nothing is written, above neither, and that it does not take long."""
    before, start = state(folder.parent), time.process_time()
    yield
    assert time.process_time() - start < SECONDS
    assert state(folder.parent) == before


def state(folder: Path) -> dict[str, str]:
    return {str(path): digest(path) for path in sorted(folder.rglob("*"))}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special"


def refused(words: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """Run the command line, which must refuse by one line; return that line."""
    with pytest.raises(SystemExit) as exit_:
        main(words)
    out, err = capfd.readouterr()
    assert (exit_.value.code, out) == (2, ""), err
    assert err.startswith("kernelmean: ")
    assert (err.count("\n"), len(err.splitlines())) == (1, 1), err
    assert "Traceback" not in err
    assert err[:-1].isprintable()
    return err


def is_refused(read: Callable[[], object]) -> None:
    """Call a reader, which must raise one line."""
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        read()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", SAVED)
def test_saved_files(name: str, inner: Path, capfd: pytest.CaptureFixture[str]) -> None:
    SAVED[name](inner / "bad.npz")
    with untouched(inner):
        is_refused(lambda: km.load("bad.npz"))
        assert "bad.npz" in refused(["info", "bad.npz"], capfd)


def test_columns_of_a_saved_file_are_read_as_carefully(inner: Path) -> None:
    for name in ("pickle", "bomb", "Python member", "object array that runs", "pipe", "endless device"):
        (inner / "bad.npz").unlink(missing_ok=True)
        SAVED[name](inner / "bad.npz")
        with untouched(inner):
            is_refused(lambda: read_columns("bad.npz"))


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str, inner: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ending, build = TABLES[name]
    (inner / "good.csv").write_text(GOOD)
    build(inner / f"bad{ending}")
    with untouched(inner):
        is_refused(lambda: read_table(f"bad{ending}"))
        for words, limit in ((["estimate"], None), (["compare", "good.csv"], None), (["compare", "good.csv"], 0)):
            with every_table_is_long(limit):
                refused([*words, f"bad{ending}"], capfd)


def none() -> bytes:
    return b""


@pytest.mark.parametrize("name", [name for name in monitors(none) if name != "link to nowhere"])
def test_checkpoints_of_a_monitor(
    name: str, inner: Path, good: dict[str, bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    for table in ("first.csv", "second.csv"):
        (inner / table).write_bytes(good[table])
    monitors(lambda: good["monitor.json"])[name](inner / "bad.json")
    with untouched(inner):
        refused(["monitor", "first.csv", "second.csv", "--checkpoint", "bad.json"], capfd)


@pytest.mark.parametrize("name", results(none))
def test_results(name: str, inner: Path, good: dict[str, bytes]) -> None:
    results(lambda: good["result"])[name](inner / "bad.json")
    text = (inner / "bad.json").read_bytes().decode(errors="replace")
    with untouched(inner):
        is_refused(lambda: TestResult.from_json(text))


@pytest.mark.parametrize("name", TRIALS)
def test_logs_of_trials(name: str, inner: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (inner / "out" / "trials").mkdir(parents=True)
    TRIALS[name](inner / "out" / "trials" / "figure2.jsonl")
    with untouched(inner):
        refused(["reproduce", "figure2", "--status", "--out", "out"], capfd)


@pytest.mark.parametrize("name", LINES)
def test_lines_among_trials_are_not_believed(name: str, tmp_path: Path) -> None:
    trial = _line({"setting": "s", "trial": 0, "findings": [], "seconds": 1.0}, _start())
    (tmp_path / "log.jsonl").write_bytes(_line(HEAD) + LINES[name] + trial)
    contents = read_log(tmp_path / "log.jsonl")
    assert (list(contents.trials), contents.damaged) == ([("s", 0)], (2,))


def _start() -> int:
    from hostile_states import START

    return START


ROOM = """
import resource, sys
from pathlib import Path
from kernelmean.cli import run
from kernelmean.tables import reading
import kernelmean.studies.comparison.table_pass
import pyarrow.parquet, pyarrow.csv
soft = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + {room}
resource.setrlimit(resource.RLIMIT_AS, (soft, soft))
codes = [run(words.split()) for words in sys.argv[1:]]
print(codes, file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="sizes of a process are read from /proc")
def test_bombs_need_little_memory(inner: Path) -> None:
    """With 300 MB beside what the program needs by itself, what asks for more is refused by a word about itself."""
    for number, name in enumerate(BOMBS):
        SAVED[name](inner / f"{number}.npz")
    swelling(inner / "swelling.parquet")
    TABLES["CSV, gzip bomb"][1](inner / "bomb.csv")
    commands = [f"info {number}.npz" for number in range(len(BOMBS))]
    commands += ["estimate swelling.parquet", "estimate bomb.csv"]
    program = [sys.executable, "-c", ROOM.format(room=300 * 2**20), *commands]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    *lines, codes = done.stderr.splitlines()
    assert codes == str([2] * len(commands)), done.stderr
    assert len(lines) == len(commands)
    assert not any("memory" in line for line in lines[: len(BOMBS)])


@pytest.mark.parametrize("what", ["embedding", "features"])
def test_every_flipped_bit_is_found_or_does_not_matter(what: str, tmp_path: Path) -> None:
    """One bit of every seventh byte here, the slow test flips all of them."""
    check_bits(what, tmp_path / "file.npz", range(0, len(valid(what)), 7), [2])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["embedding", "mixture", "estimator", "features"])
def test_all_flipped_bits_and_all_truncations(what: str, tmp_path: Path) -> None:
    data, path = valid(what), tmp_path / "file.npz"
    check_bits(what, path, range(len(data)), range(8))
    for length in range(len(data)):
        path.write_bytes(data[:length])
        is_refused(lambda: km.load(path))


def check_bits(what: str, path: Path, places: range, bits: range | list[int]) -> None:
    """Flip bits one at a time; the file is refused or holds what it held."""
    data, again = valid(what), path.with_suffix(".again")
    for place in places:
        for bit in bits:
            path.write_bytes(data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :])
            try:
                found, columns = km.load(path), read_columns(path)
            except ValueError:
                continue
            km.save(found, again, columns=columns)
            assert again.read_bytes() == data, (place, bit)
