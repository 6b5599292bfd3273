"""compare on long tables: when it reads them batch by batch, what it says and writes, how it stops and goes on."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
    assert out.startswith(f"first.{ending} and moved.{ending} differ: p = 0.01")
    for fact in ("400 of first", "300 of moved", "all rows were read twice"):
        assert fact in out
    for fact in ("features fitted to 700", "400 and 300 bins of 1 row", "drawn at random"):
        assert fact in out
    first = [line.split()[0] for line in out[out.index("Columns that differ most") :].splitlines()]
    assert next(name for name in first if name in ("a", "b", "c", "d")) == "a"


@pytest.mark.parametrize(
    ("options", "streamed"),
    [
        (("--estimator", "mkme"), False),
        (("--estimator", "mkme", "--stream"), True),
        (("--max-rows", "200", "--estimator", "kme"), False),
        (("--no-stream", "--estimator", "kme"), False),
    ],
)
def test_an_option_forces_either_way(
    options: tuple[str, ...], streamed: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "first.parquet", "second.parquet", "--resamples", "99", *options)
    assert (code, "all rows were read twice" in " ".join(out.split())) == (0, streamed)


def test_all_outputs_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ("--html", "r.html", "--json", "r.json", "--csv", "r.csv", "--plot", "p.svg", "--markdown", "r.md")
    code, _, err = run(capsys, "first.csv", "moved.csv", "--fail-on-drift", "0.05", *files, *QUICK)
    assert (code, err) == (1, "kernelmean: drift: p = 0.01, at most 0.05\n")
    content = json.loads((folder / "r.json").read_text())
    assert (content["sizes"], content["scheme"], content["estimator"]) == ([400, 300], "bins", "adaptive")
    assert {column["name"] for column in content["columns"]} == {"a", "b", "kind"}
    page = (folder / "r.html").read_text()
    assert "first.csv and moved.csv differ" in page
    assert "All rows were read twice" in page
    assert (folder / "p.svg").stat().st_size > 1000
    assert len((folder / "r.csv").read_text().splitlines()) == 5
    same, _, err = run(capsys, "first.csv", "second.csv", "--fail-on-drift", "0.05", *QUICK)
    assert (same, err) == (0, "")


def test_pictures_of_a_part_are_said_to_be(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.studies.comparison.first_look._SHOWN", 100)
    run(capsys, "first.csv", "moved.csv", "--html", "r.html", *QUICK)
    assert "distributions rest on 100 and 100 rows drawn at random" in (folder / "r.html").read_text()


def test_a_stream_that_is_stopped_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.studies.comparison.table_pass._BATCH_NUMBERS", 250)
    handler = signal.getsignal(signal.SIGINT)
    command = ("first.parquet", "moved.parquet", "--checkpoint", "sums.npz", *QUICK)
    expected = run(capsys, *command[:2], *QUICK)[1]

    def interrupted(label: str, done: int, total: int) -> None:
        if label.startswith("sums"):
            signal.raise_signal(signal.SIGINT)

    @contextmanager
    def progress(*_: Any) -> Iterator[Any]:
        yield interrupted

    with monkeypatch.context() as patched:
        patched.setattr("kernelmean.cli.progress.progress", progress)
        code, out, err = run(capsys, *command)
    assert (code, out) == (130, "")
    assert err.startswith(
        "kernelmean: stopped at 100 of 700 (sums of features); the same command goes on from sums.npz"
    )
    assert run(capsys, *command)[1] == expected
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_yesterdays_checkpoint_does_not_answer_for_todays_file(
    folder: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    """A nightly job: today's file has the name, the rows and the bytes of yesterday's."""

    def today(share: float) -> None:
        rng = np.random.default_rng(1)
        flags = pd.DataFrame({"flag": (rng.random(500) < share).astype(int), "code": rng.integers(10, 99, 500)})
        flags.to_csv("today.csv", index=False)
        flags.to_parquet("today.parquet", index=False)

    today(0.5)
    Path(f"today.{ending}").replace(f"reference.{ending}")
    today(0.5)
    command = (f"reference.{ending}", f"today.{ending}", "--stream", "--fail-on-drift", "0.05", *QUICK)
    checkpoint = ("--checkpoint", "sums.npz")
    monday, size = run(capsys, *command, *checkpoint), Path(f"today.{ending}").stat().st_size
    assert monday[0] == 0
    today(0.95)
    assert ending == "parquet" or Path(f"today.{ending}").stat().st_size == size
    assert run(capsys, *command)[0] == 1
    assert run(capsys, *command, *checkpoint) == (
        2,
        "",
        f"kernelmean: sums.npz is not of this test: it belongs to other data than today.{ending}; delete it to start "
        "over, or name another file with --checkpoint\n",
    )
    today(0.5)
    assert run(capsys, *command, *checkpoint) == monday


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--resamples", "199"), "--resamples"),
        (("--seed", "1"), "--seed"),
        (("--estimator", "kme"), "--estimator"),
        (("--no-scale",), "--scale"),
        (("--missing", "drop"), "--missing"),
        (("--categorical", "b"), "--categorical"),
        (("--ordinal", "kind=z,y,x"), "--ordinal"),
        (("--drop", "kind"), "names of columns"),
        (("--columns", "b,a,kind"), "names of columns"),
    ],
)
def test_a_checkpoint_of_other_options_is_refused_by_their_names(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], named: str
) -> None:
    (folder / "first.csv").write_text("a,b,kind\n" + "1,2,x\n2,1,y\n3,3,z\n" * 100)
    command = ("first.csv", "first.csv", "--stream", "--checkpoint", "sums.npz", *QUICK)
    assert run(capsys, *command)[0] == 0
    code, out, err = run(capsys, *command, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"sums.npz is not of this test: it belongs to other options ({named}); delete it" in err


def test_what_a_stop_says_without_a_checkpoint() -> None:
    with stoppable(lambda *_: None, None) as watched:
        watched("rows", 1, 9)
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Stopped, match=r"stopped at 2 of 9 .* with --checkpoint FILE"):
            watched("rows", 2, 9)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("first.csv", "second.csv", "--stream", "--max-rows", "9"), "leave --max-rows out"),
        (("first.csv", "--by", "kind", "--stream"), "compare A B --stream"),
        (("first.csv", "second.csv", "--no-stream", "--checkpoint", "s.npz"), "add --stream"),
        (
            ("first.csv", "second.csv", "--checkpoint", "second.csv"),
            "is named twice: --checkpoint would write over 'second.csv', which is read",
        ),
        (("first.csv", "second.csv", "--checkpoint", "no/s.npz"), "there is no folder"),
        (("first.csv", "second.csv", "--estimator", "s-kmse", "--stream"), "aggregate, kme, mkme"),
        (("first.csv", "second.csv", "--bandwidth", "2"), "leave --bandwidth 2.0 out"),
        (("first.csv", "second.csv", "--bandwidth", "scott", "--estimator", "kme", "--stream"), "all rows in memory"),
        (("first.csv", "second.csv", "--missing", "noise"), "--max-rows N"),
        (("wine", "wine", "--stream"), "built-in table"),
        (("first.csv", "none.csv", "--stream"), "there is no file 'none.csv'"),
        (("first.csv", "second.csv", "--columns", "a,q"), "no column 'q'"),
    ],
)
def test_bad_input_is_one_line(
    options: tuple[str, ...], text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *options, "--resamples", "99")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert text in err


def test_columns_are_chosen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in (("--columns", "a,b"), ("--drop", "kind")):
        out = run(capsys, "first.parquet", "moved.parquet", *options, *QUICK)[1]
        assert "2 columns" in out


def test_types_that_only_later_rows_tell(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers with a fraction after whole ones, times after dates, cells after blank ones, text at last."""
    monkeypatch.setattr("kernelmean.tables.text.BLOCK_BYTES", 2000)
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
