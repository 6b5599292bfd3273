"""Coverage-guided fuzzing of every reader of files: whatever bytes come, one line of an error or a good value.

    python tests/fuzz/coverage_guided.py saved --seconds 600
    python tests/fuzz/coverage_guided.py --list

It needs Atheris (``pip install atheris``; Linux, and a Python that it has a wheel for), which watches the branches of
kernelmean while libFuzzer changes bytes. The seeds are the hostile files of tests/hostile and good files. Every new
finding is printed once, with its traceback, and its bytes are kept in the folder --findings, which is not made when
there is none. What goes through a checksum is fuzzed before the checksum is made: "saved" changes the members of an
archive, "archive" its raw bytes.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import traceback
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path += [str(Path(__file__).parent), str(Path(__file__).parent.parent / "hostile")]

try:
    import atheris
except ImportError:
    sys.exit("coverage-guided fuzzing needs Atheris; write: pip install atheris")

with atheris.instrument_imports(include=["kernelmean"]):
    import kernelmean as km
    import kernelmean.inference.monitoring
    import kernelmean.inference.result
    import kernelmean.studies.comparison
    import kernelmean.tables
    import kernelmean.tables.read
    import kernelmean_paper.store

import hostile_saved  # noqa: E402 (after what is watched)
import hostile_tables  # noqa: E402
import numpy as np  # noqa: E402

BETWEEN = b"\n====\n"
"""Stands between the members of an archive in a seed."""
FAIR = (ValueError, TypeError, OSError)
WORK = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(size=(120, 2)), RNG.normal(size=(90, 2))


def monitor() -> km.DriftMonitor:
    return km.DriftMonitor(FIRST)


def at(name: str, data: bytes) -> Path:
    path = WORK / name
    path.write_bytes(data)
    return path


def joined(data: bytes) -> bytes:
    """Return the archive that the parts of a seed are the members of."""
    header, *arrays = data.split(BETWEEN)
    return hostile_saved.archive({"header.json": header, **{f"a{k}.npy": each for k, each in enumerate(arrays)}})


def parts(data: bytes) -> bytes:
    found = hostile_saved.members(data)
    return BETWEEN.join([found.pop("header.json"), *found.values()])


def read_archive(data: bytes) -> None:
    """Load; what loads must be saved and load again."""
    path = at("value.npz", data)
    value, columns = km.load(path), km.estimators.files.read_columns(path)
    km.save(value, path, columns=columns)
    km.load(path)


def read_table(data: bytes, ending: str) -> None:
    table = km.tables.read_table(at(f"table{ending}", data))
    if not np.isfinite(table.values).all():
        raise AssertionError("a table holds numbers that are not finite")


def read_batches(data: bytes, ending: str) -> None:
    for frame in km.read(at(f"batches{ending}", data)).frames():
        frame.to_table("drop")


def read_monitor(data: bytes) -> None:
    state = monitor().resume(data.decode()).update(SECOND[:20])
    if not 0.0 <= state.pvalue <= 1.0:
        raise AssertionError(f"the p-value is {state.pvalue}")


def read_result(data: bytes) -> None:
    kernelmean.inference.result.TestResult.from_json(data.decode())


def read_log(data: bytes) -> None:
    """Read lines whose checksums fit: each is made here."""
    head, *lines = data.split(b"\n")
    start = zlib.crc32(head)
    seal = [f', "crc32": "{zlib.crc32(line, 0 if k == 0 else start):08x}"}}\n' for k, line in enumerate([head, *lines])]
    whole = b"".join(line + end.encode() for line, end in zip([head, *lines], seal, strict=True))
    kernelmean_paper.store.read_log(at("log.jsonl", whole))


READERS: dict[str, Callable[[bytes], None]] = {
    "saved": lambda data: read_archive(joined(data)),
    "archive": read_archive,
    "csv": lambda data: read_table(data, ".csv"),
    "csv-batches": lambda data: read_batches(data, ".csv"),
    "parquet": lambda data: read_table(data, ".parquet"),
    "parquet-batches": lambda data: read_batches(data, ".parquet"),
    "monitor": read_monitor,
    "result": read_result,
    "log": read_log,
}


def built(builds: dict[str, Any]) -> list[bytes]:
    """Return the bytes of hostile files that are small."""
    found, path = [], WORK / "seed"
    for build in builds.values():
        build(path)
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 20_000:
            found.append(path.read_bytes())
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    return found


def seeds(reader: str) -> list[bytes]:
    """Return good files, and the hostile ones of the corpus."""
    good = [hostile_saved.valid(what) for what in hostile_saved.KINDS]
    if reader == "archive":
        return [*good, *built(hostile_saved.SAVED)]
    if reader == "saved":
        return [*map(parts, good), *(data for data in map(opened, built(hostile_saved.SAVED)) if data)]
    if reader.startswith("csv"):
        return [hostile_tables.GOOD.encode(), b"a;b\n1;x\n2;y\n", *built(hostile_tables.TEXTS)]
    if reader.startswith("parquet"):
        return [hostile_tables.valid_parquet(), *built(hostile_tables.PARQUETS)]
    if reader == "monitor":
        return [monitor().to_json().encode()]
    if reader == "result":
        return results()
    head = b'{"format": 2, "experiment": "figure2", "seed": 0, "version": "0.1.0"'
    trial = b'{"setting": "s", "trial": 0, "findings": [["m", "loss", 1.5], ["m", "loss", "inf"]], "seconds": 1.0'
    return [head, head + b"\n" + trial, head + b"\n" + b'{"made by": {"kernelmean": "1"}']


def results() -> list[bytes]:
    result = km.mmd_test(FIRST[:8], SECOND[:7], estimator="kme", n_resamples=19, rng=0)
    return [result.to_json(null_distribution=True).encode()]


def opened(data: bytes) -> bytes | None:
    try:
        return parts(data)
    except Exception:  # no archive
        return None


class Watch:
    """Runs a reader on bytes and keeps what it should not have raised, each place once."""

    def __init__(self, reader: str, folder: Path) -> None:
        self.read, self.name, self.folder = READERS[reader], reader, folder
        self.known: set[str] = set()

    def __call__(self, data: bytes) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.read(data)
        except FAIR as error:
            if "\n" in str(error) and "JSON" not in str(error) and self.name not in ("parquet", "parquet-batches"):
                self.keep(data, error)
        except Exception as error:
            self.keep(data, error)

    def keep(self, data: bytes, error: BaseException) -> None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        if place in self.known:
            return
        self.known.add(place)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.name}-{len(self.known)}-{os.getpid()}"
        path.write_bytes(data)
        text = io.StringIO()
        traceback.print_exception(error, file=text, limit=-6)
        print(f"FINDING {self.name}: {place}; its bytes are in {path}\n{text.getvalue()[-1500:]}", flush=True)


def main() -> None:
    """Fuzz one reader for some seconds; libFuzzer says at the end how many inputs it ran."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=list(READERS), nargs="?")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    parser.add_argument("--list", action="store_true", help="print the readers")
    options = parser.parse_args()
    if options.list or options.reader is None:
        print("\n".join(READERS))
        return
    corpus = WORK / "corpus"
    corpus.mkdir()
    for number, data in enumerate(seeds(options.reader)):
        (corpus / f"{number:04}").write_bytes(data)
    watch = Watch(options.reader, options.findings)

    flags = [f"-max_total_time={options.seconds}", f"-seed={options.seed}", "-max_len=32768", "-timeout=60"]
    flags += ["-rss_limit_mb=4096", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *flags, str(corpus)], watch)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
