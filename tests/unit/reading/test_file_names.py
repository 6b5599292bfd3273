"""A file whose name is not UTF-8, as in an old archive, is refused in one line that says so."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import run

LATIN = os.fsdecode(b"caf\xe9")
COMMANDS = [
    ["compare", LATIN + ".csv", "b.csv"],
    ["compare", "b.csv", LATIN + ".csv"],
    ["compare", "folder", "other"],
    ["dependence", LATIN + ".jsonl"],
    ["describe", LATIN + ".parquet"],
    ["describe", LATIN + ".feather"],
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"x": [k % 7 for k in range(40)], "y": [k % 5 for k in range(40)]})
    try:
        Path(LATIN + ".csv").touch()
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    for folder in ("folder", "other"):
        Path(folder).mkdir()
        table.to_parquet(f"{folder}/t.parquet")
    for name in ("b", LATIN):
        table.to_csv(f"{name}.csv", index=False)
        table.to_json(f"{name}.jsonl", orient="records", lines=True)
        Path(f"{name}.parquet").write_bytes(Path("other/t.parquet").read_bytes())
        table.to_feather("t.feather")
        Path(f"{name}.feather").write_bytes(Path("t.feather").read_bytes())
    Path("folder/t.parquet").rename(f"folder/{LATIN}.parquet")
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=[" ".join(words).replace(LATIN, "latin") for words in COMMANDS])
def test_commands_refuse_a_name_that_is_not_utf8_in_one_line(
    words: list[str], files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "is not UTF-8 text; rename the file" in err


def test_functions_refuse_it_too(files: Path) -> None:
    for read in (km.read, km.tables.read_frame):
        with pytest.raises(ValueError, match=r"name of the file 'caf..csv' is not UTF-8 text"):
            read(LATIN + ".csv")
