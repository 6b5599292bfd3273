"""What stands beside a header or above it: the row numbers of pandas are left out, and lines above are skipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import run
from kernelmean.tables import Frame, TextFormat, column_names, joined, read_frame

ABOVE = 'Logger,X7\nSerial,"007\n\nOwner,A, B and C\n'


def in_batches(path: Path, text: TextFormat) -> Frame:
    return joined(list(km.read(path, text=text).frames()))


def in_memory(path: Path, text: TextFormat) -> Frame:
    return read_frame(path, text=text)


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = [*rng.integers(0, 9, 199).tolist(), 1.5]  # the type changes late, in another block
    return pd.DataFrame({"x": x, "town": rng.choice(["Rom", "Oslo"], 200)})


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", 400)


@pytest.mark.parametrize("read", [in_memory, in_batches])
@pytest.mark.parametrize("index", [range(200), range(700, 900), [f"r{k}" for k in range(200)]])
def test_the_unnamed_row_numbers_of_pandas_are_left_out(
    index: object, read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    table().set_axis(index).to_csv(path)
    frame = read(path, TextFormat())
    assert frame.names == tuple(column_names(path)) == ("x", "town")
    np.testing.assert_array_equal(frame["x"], table()["x"])
    assert frame["town"].tolist() == table()["town"].tolist()


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_note_says_that_a_column_without_a_name_was_left_out(in_memory: bool, tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for seed, path in enumerate(paths):
        table(seed).to_csv(path)
    result = km.compare(*(km.read(path, in_memory=in_memory) for path in paths), n_resamples=99, rng=0)
    assert sorted(column.name for column in result.columns) == ["town", "x"]
    for path in paths:
        assert [note for note in result.notes if f"{path}: the first column has no name" in note], result.notes


def test_numbers_of_a_file_of_pandas_are_those_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table()[["x"]].to_csv(path)
    np.testing.assert_array_equal(np.concatenate(list(km.read(path))), table()[["x"]])


@pytest.mark.parametrize(
    ("header", "position"), [(",,a", 2), ("a,,b", 2), ("a,b,", 3), (",,", 2)], ids=["levels", "middle", "end", "all"]
)
def test_other_columns_need_names(header: str, position: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1,2,3\n4,5,6\n")
    for read in (in_memory, in_batches):
        with pytest.raises(ValueError, match=f"column {position} has no name"):
            read(path, TextFormat())


@pytest.mark.parametrize("read", [in_memory, in_batches])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_above_a_header_are_skipped(
    end: str, encoding: str, read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes((ABOVE + table().to_csv(index=False)).replace("\n", end).encode(encoding))
    frame = read(path, TextFormat(skip=4, encoding="latin-1" if encoding == "latin-1" else None))
    np.testing.assert_array_equal(frame["x"], table()["x"])
    assert frame["town"].tolist() == table()["town"].tolist()


def test_lines_above_json_lines_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('# a log\n{"x": 1}\n{"x": 2}\n')
    assert read_frame(tmp_path / "t.jsonl", text=TextFormat(skip=1))["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("above", "option", "lines"),
    [
        ("Device: X7\nSerial: 99\n\n", "--skip 3", 3),
        ("# one line of a comment\n", "--skip 1", 1),
        ("# two\n# lines\n", "--skip 2", 2),
        ("Logger,X7\nSerial,99\n\nOwner,A\n", "--skip N", 4),
        ("Report,,\n,,\n", "--skip N", 2),
    ],
)
def test_a_file_with_lines_above_its_header_is_refused_with_the_option_that_skips_them(
    above: str, option: str, lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(above + table().assign(z=[0, 1] * 100).to_csv(index=False))
    assert run(["describe", str(path)]) == 2
    assert option in capsys.readouterr().err
    assert run(["describe", str(path), "--skip", str(lines)]) == 0
    assert "town" in capsys.readouterr().out


@pytest.mark.parametrize("skip", [2, 3, 7])
def test_a_file_without_a_line_below_those_that_are_skipped_is_refused(skip: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=f"no more than the {skip} lines to skip"):
        read_frame(path, text=TextFormat(skip=skip))


@pytest.mark.parametrize("skip", [-1, 1.5, "2"])
def test_the_number_of_lines_is_an_integer_from_0(skip: object) -> None:
    with pytest.raises((TypeError, ValueError), match="skip"):
        TextFormat(skip=skip)  # type: ignore[arg-type]
