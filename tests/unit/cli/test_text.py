"""The options of text on the command line: one answer however the same numbers and dates are written."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from in_batches import every_table_is_long
from kernelmean.cli import main

QUICK = ("--resamples", "99", "--estimator", "kme")
SAID = ("--decimal", ",", "--thousands", ".", "--dates", "dmy", "--encoding", "latin-1")


def table(seed: int, rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "preis": rng.uniform(500, 2500, rows).round(2) + seed,
            "größe": rng.normal(size=rows).round(3),
            "share": rng.integers(1, 90, rows),
            "weight": rng.uniform(1, 9, rows).round(1),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), "D"),
        }
    )


def german(frame: pd.DataFrame) -> str:
    """Write a table as a spreadsheet in Germany does."""
    written = pd.DataFrame(
        {
            "preis": [f"{x:,.2f}".translate({44: 46, 46: 44}) for x in frame["preis"]],
            "größe": [f"{x:.3f}".replace(".", ",") for x in frame["größe"]],
            "share": [str(x) for x in frame["share"]],
            "weight": [f"{x:.1f}".replace(".", ",") for x in frame["weight"]],
            "day": [f"{day:%d.%m.%Y}" for day in frame["day"]],
        }
    )
    return written.to_csv(index=False, sep=";")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tables, written plainly and as in Germany, and what both are without their times."""
    monkeypatch.chdir(tmp_path)
    for name, seed, rows in (("before", 0, 60), ("after", 1, 50)):
        frame = table(seed, rows)
        frame.to_csv(f"{name}.csv", index=False)
        Path(f"{name}-de.csv").write_bytes(german(frame).encode("latin-1"))
    return tmp_path


def content(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    with pytest.raises(SystemExit) as exit_:
        main([*words, "--json", "-"])
    out, err = capsys.readouterr()
    assert exit_.value.code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(list(words))
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, err.count("\n")) == (2, "", 1), err
    assert "Traceback" not in err
    return err


def numbers(content: dict[str, Any]) -> str:
    """Return what was found, without what names files, and without times."""
    dropped = ("names", "notes", "reference", "batches", "source", "verdict")
    found = json.dumps({key: value for key, value in content.items() if key not in dropped})
    return re.sub(r'"seconds": [0-9.e-]+', "", found)


COMMANDS = {
    "compare": (("compare", "before.csv", "after.csv", *QUICK), ("compare", "before-de.csv", "after-de.csv", *QUICK)),
    "compare in batches": (
        ("compare", "before.csv", "after.csv", "--resamples", "99"),
        ("compare", "before-de.csv", "after-de.csv", "--resamples", "99"),
    ),
    "dependence": (("dependence", "before.csv", *QUICK), ("dependence", "before-de.csv", *QUICK)),
    "estimate": (
        ("estimate", "before.csv", "--drop", "day"),
        ("estimate", "before-de.csv", "--drop", "day"),
    ),
    "density": (
        ("density", "before.csv", "--drop", "day", "--components", "2"),
        ("density", "before-de.csv", "--drop", "day", "--components", "2"),
    ),
    "monitor": (
        ("monitor", "before.csv", "after.csv", "--drop", "day"),
        ("monitor", "before-de.csv", "after-de.csv", "--drop", "day"),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_reads_numbers_and_dates_as_they_are_meant(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], unsearched_peers: None, no_refits: None
) -> None:
    plain, written = COMMANDS[name]
    with every_table_is_long(0 if "batches" in name else None):
        expected = numbers(content(capsys, *plain))
        assert numbers(content(capsys, *written, *SAID)) == expected


def test_a_table_comes_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = numbers(content(capsys, "compare", "before.csv", "after.csv", *QUICK))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("before-de.csv").read_bytes())))
    found = content(capsys, "compare", "-", "after-de.csv", *SAID, *QUICK)
    assert numbers(found) == expected
    assert found["names"][0] == "standard input"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--thousands", "."), "name the other one too, such as --decimal , --thousands ."),
        (("--decimal", "x"), "--decimal is 'x'; write one of '.', ','"),
        (("--thousands", "dot"), "--thousands is 'dot'; write one of '.', ',', "),
        (("--dates", "dm"), "--dates is 'dm'; write one of 'dmy', 'mdy', 'ymd'"),
        (("--encoding", "klingon"), "--encoding is 'klingon'"),
    ],
)
def test_what_is_not_clear_is_one_line(words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    encoding = () if "--encoding" in words else ("--encoding", "latin-1")
    assert text in refusal(capsys, "compare", "before-de.csv", "after-de.csv", *encoding, *words, *QUICK)


def test_a_file_of_another_encoding_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--encoding cp1252" in refusal(capsys, "dependence", "before-de.csv", *QUICK)


def test_standard_input_holds_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert "holds one; write the other to a file" in refusal(capsys, "compare", "-", "-")
    assert "holds one; write the other to a file" in refusal(capsys, "monitor", "-", "after.csv", "-")


def test_long_compressed_files_are_streamed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 40)
    for name in ("before", "after"):
        pd.read_csv(f"{name}.csv").drop(columns="day").to_csv(f"{name}.csv.gz", index=False)
        pd.read_csv(f"{name}.csv").drop(columns="day").to_json(f"{name}.jsonl", orient="records", lines=True)
        pd.read_csv(f"{name}.csv").drop(columns="day").to_feather(f"{name}.feather")
    for end in ("csv.gz", "jsonl", "feather"):
        found = content(capsys, "compare", f"before.{end}", f"after.{end}", "--resamples", "99")
        assert any("read twice" in note for note in found["notes"])
        assert found["sizes"] == [60, 50]
