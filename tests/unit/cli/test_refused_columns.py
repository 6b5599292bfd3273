"""Columns that would become nonsense: commands stop with one line, and what it says to write reads them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from checkered import checkered
from in_batches import every_table_is_long, in_batches
from kernelmean.cli import main

FORMS: dict[str, Any] = {
    "commas": lambda v: f"{v:.2f}".replace(".", ","),
    "spaces": lambda v: f"{v:,.1f}".replace(",", "\u202f"),
    "apostrophes": lambda v: f"{v:,.0f}".replace(",", "'"),
    "days": lambda v: (pd.Timestamp("2020-01-13") + pd.Timedelta(days=round(v) % 700)).strftime("%d.%m.%Y"),
    "american days": lambda v: (pd.Timestamp("2020-01-13") + pd.Timedelta(days=round(v) % 700)).strftime("%m/%d/%Y"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, /, **columns: Any) -> str:
    pd.DataFrame(columns).to_csv(name, index=False, sep=";")
    return name


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str]:
    """Return the exit code and what stands on stderr."""
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    return exit_.value.code, capsys.readouterr().err


def line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line of a refusal."""
    code, err = call(capsys, *arguments)
    assert (code, err.count("\n")) == (2, 1), err
    return err


@pytest.fixture
def tables(folder: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    rng, form = np.random.default_rng(0), FORMS[request.param]
    values = rng.normal(50_000, 5000, (2, 40))
    first, second = (
        write(name, value=[form(v) for v in row], x=rng.integers(0, 30, 40))
        for name, row in zip(("one.csv", "two.csv"), values, strict=True)
    )
    return first, second


@pytest.mark.parametrize(
    ("tables", "how"),
    checkered(list(FORMS), [("compare", None), ("compare", 0), ("dependence", None)]),
    indirect=["tables"],
)
def test_the_options_of_the_line_read_the_column(
    tables: tuple[str, str], how: tuple[str, int | None], capsys: pytest.CaptureFixture[str]
) -> None:
    command, limit = how
    arguments = [command, *(tables if command == "compare" else tables[:1]), "--resamples", "19"]
    with every_table_is_long(limit):
        told = line(capsys, *arguments)
    assert "column 'value' holds " in told
    assert "TextFormat" not in told
    assert "categorical=" not in told
    (read,) = re.findall(
        r"(?:;|, or) read it with (.*), leave it out with --drop value, or insist with --categorical value", told
    )
    for mend in (read, "--drop value", *(["--categorical value"] if command == "compare" else [])):
        with every_table_is_long(limit):
            code, err = call(capsys, *arguments, *shlex.split(mend))
        if command == "dependence" and mend == "--drop value":
            assert (code, "there is one column only, 'x'" in err) == (2, True)
        else:
            assert (code, err) == (0, "")


@pytest.mark.parametrize(
    "cells",
    [
        [f"${v:,.2f}" for v in np.linspace(1000, 9000, 60)],
        [f"{v:.1f} kg" for v in np.linspace(10, 90, 60)],
        [f"{v:.2f}".replace(".", ",") for v in np.linspace(10, 90, 60)],
        [f"{d}.02.2024" for d in range(1, 29)] * 2 + ["x"] * 4,
        [f"{d}.02.2024" for d in range(1, 11)] * 6,
        [f"person {i}" for i in range(60)],
        [f"person {i}" for i in range(30)] * 2,
        ["36 months", "60 months", "12 months"] * 20,
        ["4x", "10x", "40x"] * 20,
        ["a", "b", "<5"] * 20,
        ["1", "2", "<5"] * 20,
        [*["a"] * 59, "1,5"],
    ],
    ids=str,
)
def test_the_verdict_is_the_same_in_memory_and_in_batches_of_any_size(cells: list[str]) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"c": cells, "x": rng.normal(size=60)})
    found = {}
    for rows in (1, 7, 25, 60):
        tables = [km.read(table, batch_rows=rows) for _ in range(2)]
        try:
            result = in_batches(*tables, n_resamples=19)
        except (TypeError, ValueError) as error:
            found[rows] = (type(error), str(error) if "is text in which" not in str(error) else "is text in which")
        else:
            found[rows] = (None, [note for note in result.notes if note.startswith("c ")])
    assert len({str(verdict) for verdict in found.values()}) == 1, found


def test_text_in_tables_of_numbers_names_what_reads_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write("prices.csv", price=[f"${v:,.2f}" for v in np.linspace(1000, 9000, 30)], x=np.linspace(0.5, 1, 30))
    for command in ("density", "estimate"):
        told = line(capsys, command, path)
        assert "'price' ('$1,000.00' in row 1)" in told
        assert "write plain numbers, such as" in told
