"""Whole numbers of text files: no digit of them is lost, and what float64 would round is refused in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.tables import Frame, TextFormat, joined, read_frame

LARGE = {16: 9007199254740993, 19: 1234567890123456789, 20: 12345678901234567890, 30: 10**29 + 7}


def written(path: Path, rows: list[tuple[Any, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"x": x, "h": h}) + "\n" for x, h in rows))
    else:
        path.write_text("x;h\n" + "".join(f"{x};{h}\n" for x, h in rows))
    return path


def in_batches(path: Path, text: TextFormat) -> Frame:
    return joined(list(km.read(path, text=text).frames()))


def in_memory(path: Path, text: TextFormat) -> Frame:
    return read_frame(path, text=text)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.tables.readers.csv_file.BLOCK_BYTES", 400)


@pytest.mark.parametrize("read", [in_memory, in_batches])
@pytest.mark.parametrize("first", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_no_digit_of_a_whole_number_is_lost(
    name: str, first: int, read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    cells = [*range(200), *(first + 2 * k for k in range(200))]
    path = written(tmp_path / name, list(enumerate(cells)))
    assert [int(cell) for cell in read(path, TextFormat())["h"]] == cells  # float64 calls unequal integers equal


@pytest.mark.parametrize("read", [in_memory, in_batches])
@pytest.mark.parametrize("decimal", [".", ","])
def test_whole_numbers_beside_fractions_keep_their_digits_too(
    read: Callable[[Path, TextFormat], Frame], decimal: str, tmp_path: Path
) -> None:
    rows = [*((k, f"{k}{decimal}5") for k in range(100)), (100, LARGE[16])]
    cells = read(written(tmp_path / "t.csv", rows), TextFormat(decimal=decimal))["h"]
    assert cells[0] == 0.5
    assert int(cells[-1]) == LARGE[16]


@pytest.mark.parametrize("read", [in_memory, in_batches])
def test_numbers_with_a_point_or_an_exponent_may_be_of_any_size(
    read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    path = written(tmp_path / "t.csv", [(1, "1.2345678901234567e+19"), (2, "12345678901234567000.0"), (3, 2**53)])
    cells = read(path, TextFormat())["h"]
    assert cells.dtype == np.float64
    assert cells.tolist() == [1.2345678901234567e19, 12345678901234567000.0, 2.0**53]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["{}.csv", "{}.jsonl"])
@pytest.mark.parametrize("first", [LARGE[19] - 789, LARGE[20] - 890], ids=["19 digits", "20 digits"])
def test_numbers_that_float64_would_round_are_refused_and_are_told_apart_as_categories(
    first: int, name: str, stream: bool, tmp_path: Path
) -> None:
    paths = [
        written(tmp_path / name.format(letter), [(k % 7, first + low + k % 6) for k in range(60)])
        for letter, low in (("a", 0), ("b", 300))
    ]
    tables = [km.read(path, in_memory=not stream) for path in paths]
    with pytest.raises(TypeError, match=r"column 'h' holds integers beyond 2\^53"):
        km.compare(*tables, n_resamples=99)
    assert km.compare(*tables, categorical=["h"], n_resamples=99, rng=0).pvalue < 0.05


def test_identifiers_of_twenty_digits_are_groups_and_clusters_of_their_own(tmp_path: Path) -> None:
    first = LARGE[20] - 890
    whole = written(tmp_path / "t.csv", [(k % 7, first + k % 6) for k in range(60)])
    groups = km.compare_groups(whole, "h", n_resamples=99, rng=0).groups
    assert [group.removeprefix("h=") for group in groups] == [str(first + k) for k in range(6)]
    parts = [
        written(tmp_path / f"{low}.csv", [(k % 7 + k % 5, first + low + k % 6) for k in range(60)]) for low in (0, 300)
    ]
    assert 0 < km.compare(*parts, clusters="h", n_resamples=99, rng=0).pvalue <= 1


@pytest.mark.parametrize("cell", [str(LARGE[19]), str(LARGE[20]), "007", "0x10"])
@pytest.mark.parametrize("others", [["5"], ["1.5"]], ids=["whole", "fractions"])
def test_numbers_read_in_batches_are_never_other_numbers(cell: str, others: list[str], tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", [(k, h) for k, h in enumerate([*others * 300, cell])])
    with pytest.raises((TypeError, ValueError), match=r"'h'|'0x10'"):
        list(km.read(path))
    with pytest.raises(TypeError, match="'h'"):
        read_frame(path).to_table()


@pytest.mark.parametrize("read", [in_memory, in_batches])
@pytest.mark.parametrize("cells", [["0x10", "0x1F"], ["12", "0X1f"], ["1.5", "0x10"], ["12", "007"]])
def test_hexadecimal_numbers_and_codes_are_text_in_every_column(
    cells: list[str], read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    early, late = cells
    column = [*[early] * 300, late]
    assert read(written(tmp_path / "t.csv", list(enumerate(column))), TextFormat())["h"].tolist() == column


@pytest.mark.parametrize("read", [in_memory, in_batches])
def test_a_zero_in_front_makes_codes_of_whole_numbers_only(
    read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    path = written(tmp_path / "t.csv", list(enumerate(["007.5"] * 300 + ["0"])))
    assert read(path, TextFormat())["h"].tolist() == [7.5] * 300 + [0.0]
    path = written(tmp_path / "t.csv", list(enumerate(["7.5"] * 300 + ["007"])))
    assert read(path, TextFormat())["h"].tolist() == ["7.5"] * 300 + ["007"]


@pytest.mark.parametrize("read", [in_memory, in_batches])
@pytest.mark.parametrize(("cell", "number"), [("5.", 5), (".5", 0.5), ("-Infinity", -np.inf), ("inf", np.inf)])
def test_a_blank_beside_a_cell_does_not_change_what_is_a_number(
    cell: str, number: float, read: Callable[[Path, TextFormat], Frame], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": [cell, "1"], "b": [cell, " NA "]}).to_csv(path, index=False)
    frame = read(path, TextFormat())
    assert frame["a"].tolist() == [number, 1]
    np.testing.assert_array_equal(frame["b"], [number, np.nan])
