"""compare on long tables: when it reads them batch by batch, what it says and writes, how it stops and goes on."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import Stopped, main, stoppable

RNG = np.random.default_rng(0)
QUICK = ("--resamples", "99")
LIMITS = {"kernelmean.tables.limits.ADAPTIVE_LIMIT": 200, "kernelmean.tables.limits.TEST_LIMIT": 500}


def table(n: int, shift: float = 0.0) -> pd.DataFrame:
    columns = {"a": RNG.normal(shift, 1.0, n), "b": RNG.normal(size=n), "kind": RNG.choice(["x", "y", "z"], n)}
    return pd.DataFrame(columns)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, limit in LIMITS.items():
        monkeypatch.setattr(name, limit)
    for name, n, shift in (("first", 400, 0.0), ("second", 300, 0.0), ("moved", 300, 0.8)):
        made = table(n, shift)
        made.to_parquet(tmp_path / f"{name}.parquet", index=False)
        made.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(("compare", *arguments))
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_long_files_are_streamed_and_said_to_be(ending: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, f"first.{ending}", f"moved.{ending}", *QUICK)
    assert (code, err) == (0, "")
    assert out.startswith(f"first.{ending} and moved.{ending} differ: p = 0.00143, ")
    for fact in ("400 of first", "300 of moved", "all rows were read twice"):
        assert fact in out
    for fact in ("features fitted to 700", "400 and 300 bins of 1 row", "drawn at random"):
        assert fact in " ".join(out.split())
    first = [line.split()[0] for line in out[out.index("Columns that differ most") :].splitlines()]
    assert next(name for name in first if name in ("a", "b", "c", "d")) == "a"


@pytest.mark.parametrize(
    ("options", "streamed"),
    [
        (("--estimator", "mkme"), False),
        (("--max-rows", "200"), False),
        (("--max-rows", "400", "--estimator", "kme"), False),
    ],
)
def test_one_kernel_and_a_number_of_rows_hold_them_in_memory(
    options: tuple[str, ...], streamed: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "first.parquet", "second.parquet", "--resamples", "99", *options)
    assert (code, "all rows were read twice" in " ".join(out.split())) == (0, streamed)


def test_sigterm_stops_between_two_batches() -> None:
    with stoppable(lambda *_: None) as watched:
        watched("rows", 1, 9)
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Stopped, match=r"stopped at 2 of 9 \(rows\)"):
            watched("rows", 2, 9)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("first.csv", "second.csv", "--bandwidth", "2"), "leave --bandwidth 2.0 out"),
        (("first.csv", "second.csv", "--missing", "noise"), "hold the rows, or a part of them, in memory"),
        (("first.csv", "none.csv"), "there is no file 'none.csv'"),
        (("first.csv", "second.csv", "--columns", "a,q"), "no column 'q'"),
    ],
)
def test_bad_input_is_one_line(
    options: tuple[str, ...], text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *options, "--resamples", "99")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert text in err


def test_types_that_only_later_rows_tell(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers with a fraction after whole ones, times after dates, cells after blank ones, text at last."""
    monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", 2000)
    early, late = ["1,2024-01-01,,x"] * 300, ["1.5,2024-01-01 10:00:00,7,y"] * 300
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text("\n".join(["n,t,m,c", *early, *late]) + "\n")
    code, out, err = run(capsys, "one.csv", "two.csv", "--missing", "category", *QUICK)
    assert (code, err) == (0, "")
    assert "600 of one.csv, 600 of two.csv; 4 columns" in out
    assert out.count("2024-01-01") == 2
    (folder / "bad.csv").write_text("\n".join(["n,t,m,c", *early, *late, "oops,2024-01-01,7,x"]) + "\n")
    code, _, err = run(capsys, "bad.csv", "two.csv", "--missing", "category", *QUICK)
    assert code == 2
    assert "column 'n' is text in which" in err
