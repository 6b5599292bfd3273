"""density and estimate refuse columns that number rows, as compare and dependence do, unless --keep insists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import run
from kernelmean.studies import fit_all, fit_densities

TABLE = pd.DataFrame({"id": np.arange(1, 25), "a": np.random.default_rng(0).normal(size=24)})
COMMANDS = pytest.mark.parametrize("command", ["estimate", "density --estimator kme --components 1"])


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_refits: None, unsearched_peers: None) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("t.csv", index=False)


@COMMANDS
def test_a_column_that_numbers_rows_is_refused_unless_it_is_kept(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = command.split()
    assert run([name, "t.csv", *options]) == 2
    said = capsys.readouterr().err
    assert "t.csv: column 'id' looks like an identifier" in said
    assert "--drop id, or insist with --keep id" in said
    assert run([name, "t.csv", *options, "--keep", "id", "--quiet"]) == 0
    assert run([name, "t.csv", *options, "--keep", "z"]) == 2


@pytest.mark.parametrize("fit", [fit_all, fit_densities])
def test_in_python_too(fit: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"'id' looks like an identifier.*insist with keep=\['id'\]"):
        fit(TABLE)


def test_an_array_has_no_names_and_gets_a_note() -> None:
    found = fit_all(TABLE.to_numpy())
    assert found.notes[0].startswith("x0 may be an identifier")
    assert not any("identifier" in note for note in fit_all(TABLE, keep="id").notes)
