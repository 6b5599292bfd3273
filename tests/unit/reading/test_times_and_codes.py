"""Times as programs write them in JSON, and what is said of codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.tables import read_frame


@pytest.mark.parametrize(
    ("written", "expected", "zoned"),
    [
        ("2024-03-05T10:20:30.000", "2024-03-05T10:20:30", False),
        ("2024-03-05T10:20:30.125", "2024-03-05T10:20:30.125", False),
        ("2024-03-05T10:20:30Z", "2024-03-05T10:20:30", True),
        ("2024-03-05T10:20:30.125Z", "2024-03-05T10:20:30.125", True),
        ("2024-03-05T01:20:30+02:00", "2024-03-04T23:20:30", True),
        ("2024-03-05T10:20:30-0530", "2024-03-05T15:50:30", True),
    ],
)
def test_times_of_json_lines_with_fractions_and_zones_are_read(
    tmp_path: Path, written: str, expected: str, zoned: bool
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"t": cell}) + "\n" for cell in (written, None, written)))
    frame = read_frame(path)
    assert frame["t"].dtype.kind == "M"
    assert frame["t"][0] == np.datetime64(expected)
    assert np.isnat(frame["t"][1])
    assert ("t" in frame.declared) == zoned


def test_times_with_and_without_zone_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"t": "2024-03-05T10:20:30"}\n{"t": "2024-03-05T10:20:30Z"}\n')
    assert read_frame(path)["t"].dtype == object


def test_codes_with_a_zero_in_front_are_called_codes() -> None:
    codes = pd.DataFrame({"post": ["30159", "01067", "00200"] * 10})
    with pytest.raises(TypeError, match=r"'post' holds codes with a zero in front \('01067' in row 2\)") as caught:
        km.compare(codes, codes, n_resamples=9)
    assert "write all of them as numbers" not in str(caught.value)
