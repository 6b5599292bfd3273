"""Bad input ends with exit code 2 and one line that says what to do: never a traceback, never a number."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import main
from kernelmean.tables import FIT_LIMIT

GOOD = "a,b\n1,2\n2,1\n3,5\n4,3\n"
OTHER = "a,b\n1,7\n2,9\n5,5\n0,3\n"


def in_folder(name: str, content: str | bytes) -> Callable[[Path], list[str]]:
    """Compare a good table with one of this content."""

    def build(folder: Path) -> list[str]:
        (folder / "good.csv").write_text(GOOD)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return ["compare", "good.csv", name]

    return build


def one_table(command: str, content: str) -> Callable[[Path], list[str]]:
    """Run a command on a table of this content; compare it with itself."""

    def build(folder: Path) -> list[str]:
        (folder / "bad.csv").write_text(content)
        return [command, "bad.csv", "bad.csv"][: 3 if command == "compare" else 2]

    return build


def words(*arguments: str) -> Callable[[Path], list[str]]:
    """Run a command among two good tables."""

    def build(folder: Path) -> list[str]:
        (folder / "good.csv").write_text(GOOD)
        (folder / "other.csv").write_text(OTHER)
        return list(arguments)

    return build


def compare(*options: str) -> Callable[[Path], list[str]]:
    return words("compare", "good.csv", "other.csv", *options)


def grouped(*columns: str) -> Callable[[Path], list[str]]:
    """Split a table that has a column of groups by it, and take only some columns."""

    def build(folder: Path) -> list[str]:
        (folder / "grouped.csv").write_text("g,a\n1,2\n0,1\n1,5\n0,3\n")
        return ["compare", "grouped.csv", "--by", "g", "--columns", ",".join(columns)]

    return build


def a_folder(folder: Path) -> list[str]:
    (folder / "folder.csv").mkdir()
    (folder / "good.csv").write_text(GOOD)
    return ["compare", "good.csv", "folder.csv"]


def a_cut_parquet(folder: Path) -> list[str]:
    pd.DataFrame({"a": range(100), "b": range(100)}).to_parquet(folder / "cut.parquet")
    (folder / "cut.parquet").write_bytes((folder / "cut.parquet").read_bytes()[:-10])
    return ["estimate", "cut.parquet"]


def nested_parquet(folder: Path) -> list[str]:
    pd.DataFrame({"a": [1, 2], "list": [[1], [2, 3]]}).to_parquet(folder / "nested.parquet")
    return ["estimate", "nested.parquet"]


def nameless_parquet(folder: Path) -> list[str]:
    pd.DataFrame({"": [1, 2]}).to_parquet(folder / "nameless.parquet")
    return ["estimate", "nameless.parquet"]


def a_huge_file(rows: int, *command: str) -> Callable[[Path], list[str]]:
    """Run a command on one row more than it takes."""

    def build(folder: Path) -> list[str]:
        index = np.arange(rows + 1)
        pd.DataFrame({"a": index, "b": index % 7}).to_parquet(folder / "huge.parquet")
        return [*command, "huge.parquet"]

    return build


def a_foreign_archive(folder: Path) -> list[str]:
    np.savez(folder / "foreign.npz", X=np.eye(2))
    return ["info", "foreign.npz"]


CASES: dict[str, tuple[Callable[[Path], list[str]], str]] = {
    # cells
    "blank cell": (in_folder("bad.csv", "a,b\n1,2\n3,\n"), "row 2, column 'b' is blank or NaN"),
    "NaN": (in_folder("bad.csv", "a,b\n1,2\nNaN,3\n"), "--missing drop"),
    "question mark": (in_folder("bad.csv", "a,b\n?,2\n1,3\n"), "row 1, column 'a' is blank"),
    "infinity": (in_folder("bad.csv", "a,b\n1,2\n3,inf\n"), "row 2, column 'b' is infinite"),
    "minus infinity": (in_folder("bad.csv", "a,b\n1,2\n-inf,2\n"), "infinite"),
    "beyond float64": (in_folder("bad.csv", "a,b\n1,2\n3,1e999\n"), "infinite"),
    "one bad cell": (in_folder("bad.csv", "a,b\n1,2\n3,4x\n"), "'4x' in row 2"),
    "text column": (in_folder("bad.csv", "a,b\n1,red\n3,blue\n"), "numeric in good.csv ('2' in row 1)"),
    "two text columns": (in_folder("bad.csv", "a,b\nx,red\ny,blue\n"), "categorical in bad.csv ('x' in row 1)"),
    "decimal commas": (in_folder("bad.csv", "a;b\n1,5;2,5\n3,5;4,5\n"), "'1,5' in row 1"),
    "dates": (in_folder("bad.csv", "a,b\n1,2020-01-01\n3,2020-01-02\n"), "datetime in bad.csv ('2020-01-01' in row 1)"),
    "long identifiers": (in_folder("bad.csv", "a,b\n9007199254740993,2\n1,3\n"), "2^53"),
    "all blank": (in_folder("bad.csv", "a,b\n,\n,\n"), "blank"),
    "blank line in one column": (one_table("estimate", "a\n1\n\n3\n"), "row 2, column 'a' is blank"),
    # rows and columns
    "one row": (in_folder("bad.csv", "a,b\n1,2\n"), "bad.csv has 1 row"),
    "header only": (in_folder("bad.csv", "a,b\n"), "no rows"),
    "no header": (in_folder("bad.csv", "1.5,2\n3,4\n"), "header line"),
    "name twice": (in_folder("bad.csv", "a,a\n1,2\n3,4\n"), "'a' twice"),
    "no name": (in_folder("bad.csv", "a,,b\n0,1,2\n1,3,4\n"), "column 2 has no name"),
    "other names": (in_folder("bad.csv", "a,c\n1,2\n3,4\n"), "only in good.csv: b; only in bad.csv: c"),
    "no common names": (in_folder("bad.csv", "c,d\n1,2\n3,4\n"), "rename them"),
    "a column more": (in_folder("bad.csv", "a,b,c\n1,2,3\n3,4,5\n"), "--columns a,b"),
    "constant and equal": (one_table("compare", "a,b\n1,2\n1,2\n1,2\n"), "constant and the same in both"),
    "few rows for a density": (words("density", "good.csv"), "at least 10 are needed"),
    "draws without a file": (words("density", "good.csv", "--sample", "5"), "belong together"),
    "no components": (words("density", "good.csv", "--components", "0,2"), "whole numbers from 1"),
    "constant columns": (one_table("dependence", "a,b\n1,2\n1,2\n1,2\n1,2\n"), "no two varying columns"),
    "few rows": (one_table("dependence", "a,b\n1,2\n3,4\n"), "at least 4"),
    "one group in both": (words("dependence", "good.csv", "--x", "a", "--y", "a"), "stands in x and in y"),
    "unknown column of a group": (words("dependence", "good.csv", "--x", "c"), "no column 'c'"),
    "unknown picture": (compare("--plot", "a.doc"), "ends in .png, .svg or .pdf"),
    "adaptive bandwidth": (compare("--bandwidth", "2"), "brings its own bandwidths"),
    "constant": (one_table("estimate", "a,b\n1,2\n1,2\n1,2\n"), "every column is constant"),
    "one row alone": (one_table("estimate", "a,b\n1,2\n"), "1 row; at least 2"),
    "nothing left": (compare("--drop", "a,b"), "no columns left"),
    "every row has a blank": (in_folder("bad.csv", "a,b\n1,\n2,\n"), "column 'b'"),
    "unknown column": (compare("--columns", "a,z"), "no column 'z'"),
    "unknown column to drop": (compare("--drop", "B"), "did you mean 'b'"),
    # files
    "missing file": (words("compare", "good.csv", "gone.csv"), "no file 'gone.csv'"),
    "misspelled name": (words("compare", "wines", "--by", "target"), "did you mean 'wine'"),
    "empty file": (in_folder("bad.csv", ""), "is empty"),
    "blank lines": (in_folder("bad.csv", "\n\n\n"), "is empty"),
    "ragged": (in_folder("bad.csv", "a,b\n1,2\n3\n"), "as many cells as the header"),
    "too many cells": (in_folder("bad.csv", "a,b\n1,2,3\n"), "as many cells as the header"),
    "open quote": (in_folder("bad.csv", 'a,b\n1,"2\n3,4\n'), "a quotation mark in row 1 is never closed"),
    "binary": (in_folder("bad.csv", bytes(range(256)) * 4), "not a text file"),
    "UTF-16": (in_folder("bad.csv", GOOD.encode("utf-16-le")), "not a text file"),
    "Latin-1": (in_folder("bad.csv", "a,b\n1,2\n3,é\n".encode("latin1")), "--encoding cp1252"),
    "Latin-1 header": (in_folder("bad.csv", "a,é\n1,2\n3,4\n".encode("latin1")), "--encoding cp1252"),
    "wrong ending": (in_folder("bad.xlsx", GOOD), "save the table as CSV or Parquet"),
    "no ending": (in_folder("bad", GOOD), "save the table as CSV or Parquet"),
    "folder": (a_folder, "is a folder without tables"),
    "text as Parquet": (in_folder("bad.parquet", GOOD), "not a Parquet file"),
    "cut Parquet": (a_cut_parquet, "damaged or not a Parquet file"),
    "empty Parquet": (in_folder("bad.parquet", ""), "is empty"),
    "nested Parquet": (nested_parquet, "'list'"),
    "Parquet without names": (nameless_parquet, "has no name"),
    "huge file": (a_huge_file(FIT_LIMIT, "density"), f"--max-rows {FIT_LIMIT}"),
    # groups
    "one table": (words("compare", "good.csv"), "--by COLUMN"),
    "two tables and a column": (compare("--by", "a"), "join them into a column of the first"),
    "groups without a column": (compare("--groups", "1,2"), "--by COLUMN"),
    "unknown group": (words("compare", "wine", "--by", "target", "--groups", "0,7"), "there is no group '7'"),
    "one group": (words("compare", "wine", "--by", "target", "--groups", "0"), "name two or more, each once"),
    "the same group": (words("compare", "wine", "--by", "target", "--groups", "0,0"), "name two or more, each once"),
    "unknown split": (words("compare", "wine", "--by", "colour"), "no column 'colour'"),
    "split by what is left out": (words("compare", "wine", "--by", "target", "--drop", "target"), "is among --drop"),
    "groups of one row": (words("compare", "good.csv", "--by", "a", "--groups", "1,2"), "a=1 has 1 row"),
    # options
    "unknown estimator": (compare("--estimator", "magic"), "mmkme"),
    "unknown bandwidth": (compare("--estimator", "kme", "--bandwidth", "wide"), "'wide'"),
    "negative bandwidth": (compare("--estimator", "kme", "--bandwidth", "-1"), "bandwidth"),
    "NaN bandwidth": (compare("--bandwidth", "nan"), "bandwidth"),
    "no permutations": (compare("--resamples", "0"), "--resamples"),
    "words for a number": (compare("--resamples", "many"), "--resamples"),
    "one row at most": (compare("--max-rows", "1"), "--max-rows"),
    "negative seed": (compare("--seed", "-1"), "--seed"),
    "unknown mend": (compare("--missing", "guess"), "'error', 'drop', 'category' or 'noise'"),
    "unknown option": (compare("--frobnicate"), "--frobnicate"),
    "unknown command": (words("contrast", "good.csv", "other.csv"), "contrast"),
    "no table": (words("compare"), "see kernelmean compare --help"),
    "no such option": (
        words("density", "iris", "--by", "target"),
        "No such option: --by; see kernelmean density --help",
    ),
    "no such option of all": (words("--nothing"), "see kernelmean --help"),
    "JSON into a missing folder": (compare("--json", "no/such/result.json"), "there is no folder"),
    "JSON into a folder": (compare("--json", "."), "is a folder or empty"),
    "saved into a missing folder": (words("estimate", "good.csv", "--save", "no/such.npz"), "there is no folder"),
    "nothing to save to": (words("estimate", "good.csv", "--save", ""), "is a folder or empty"),
    "unknown estimator to save": (words("estimate", "good.csv", "--estimator", "best"), "write one of kme, s-kmse"),
    "only the groups": (grouped("g"), "has no column beside 'g'"),
    "tiny numbers": (one_table("estimate", "a\n1e-200\n3e-200\n2e-200\n"), "write it in another unit"),
    "huge numbers": (one_table("compare", "a\n1e200\n3e200\n2e200\n"), "write it in another unit"),
    "tiny bandwidth": (compare("--bandwidth", "1e-300"), "a number from 1e-140 to 1e+140"),
    "no bandwidth": (compare("--bandwidth", "nan"), "a number from 1e-140 to 1e+140"),
    # estimate and info
    "estimate one row": (words("estimate", "wine", "--max-rows", "1"), "--max-rows"),
    "estimate text": (words("estimate", "good.csv", "--columns", "c"), "no column 'c'"),
    "save an unknown estimate": (words("estimate", "good.csv", "--save", "m.npz", "--estimator", "best"), "vpmkme"),
    "save into a missing folder": (words("estimate", "good.csv", "--save", "no/m.npz"), "there is no folder 'no'"),
    "info on text": (words("info", "good.csv"), "not written by kernelmean"),
    "info on nothing": (words("info", "gone.npz"), "gone.npz: No such file"),
    "info on a foreign archive": (a_foreign_archive, "not written by kernelmean"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_plain_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    build, text = CASES[name]
    arguments = build(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    out, err = capsys.readouterr()
    assert exit_.value.code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("kernelmean: ")
    assert text in err
    assert "Traceback" not in err


def test_a_failure_of_the_library_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by\nzero")

    monkeypatch.setattr("kernelmean.studies.estimate.fit_all", fail)
    with pytest.raises(SystemExit) as exit_:
        main(["estimate", "eckerle4"])
    err = capsys.readouterr().err
    assert exit_.value.code == 70
    assert err.count("\n") == 1
    assert "ZeroDivisionError: division by zero" in err
    assert "KERNELMEAN_DEBUG" in err
    monkeypatch.setenv("KERNELMEAN_DEBUG", "1")
    with pytest.raises(SystemExit) as exit_:
        main(["estimate", "eckerle4"])
    assert exit_.value.code == 70
    assert "in fail\n" in capsys.readouterr().err  # the traceback


def test_a_decomposition_that_fails_is_a_failure_of_the_library_not_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("kernelmean.studies.estimate.fit_all", fail)
    with pytest.raises(SystemExit) as exit_:
        main(["estimate", "eckerle4"])
    assert exit_.value.code == 70
    assert "LinAlgError: Singular matrix" in capsys.readouterr().err


def test_the_installed_program(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from kernelmean.cli import main; main()", "compare", "gone.csv", "gone.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    block = "import sys; sys.modules['typer'] = None; from kernelmean.cli import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == 'kernelmean: the command line needs its extra; write: pip install "kernelmean[cli]"\n'
