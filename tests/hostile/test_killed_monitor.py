"""A monitor of many batches of one file that is killed goes on from its last checkpoint."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import killed
import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import main

DAYS = 10
WORDS = ("monitor", "before.csv", "days.parquet", "--by", "day", "--checkpoint", "state.json", "--json", "out.json")


def test_a_monitor_that_is_killed_in_a_file_goes_on_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(100, 2)), columns=list("ab")).to_csv(tmp_path / "before.csv", index=False)
    days = pd.DataFrame(rng.normal(size=(DAYS * 200, 2)), columns=list("ab"))
    days.assign(day=np.repeat(np.arange(DAYS), 200)).to_parquet(tmp_path / "days.parquet")
    process = killed.start(killed.command, tmp_path, *WORDS)
    while not (tmp_path / "state.json").exists() and process.is_alive():
        time.sleep(0.001)
    process.kill()
    process.join(60)
    monkeypatch.chdir(tmp_path)
    kept = len(json.loads(Path("state.json").read_text())["batches"])
    assert 0 < kept < DAYS
    cut = outcome()
    Path("state.json").unlink()
    whole = outcome()
    assert [len(found["batches"]) for found in (whole, cut)] == [DAYS, DAYS - kept]
    assert whole["batches"][kept:] == cut["batches"]
    assert whole["pvalue"] == cut["pvalue"]


def outcome() -> dict[str, Any]:
    """Run the command to its end, and return its JSON."""
    with pytest.raises(SystemExit) as ended:
        main(WORDS)
    assert not ended.value.code
    return dict(json.loads(Path("out.json").read_text()))
