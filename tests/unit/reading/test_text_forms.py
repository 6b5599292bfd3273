"""Texts that look the same are the same, in cells and in names: Unicode's forms NFC and NFD, and line ends."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kernelmean as km
from kernelmean.tables import TextFormat, column_names, read_frame

N = 60
NAMES = np.random.default_rng(0).choice(["José", "Renée", "Zoë\nMüller"], N)
A = pd.DataFrame({"größe": np.arange(N) % 7, "näme": NAMES, "straße é": np.arange(N) % 3})


def other_form(text: str) -> str:
    return unicodedata.normalize("NFD", text).replace("\n", "\r\n")


B = A.assign(näme=[other_form(name) for name in NAMES]).rename(columns=other_form)


def same(result: km.Comparison) -> None:
    """Check that both tables are one table to a comparison."""
    assert result.pvalue == 1.0
    assert {column.name for column in result.columns} == {*A.columns}
    shares = next(column.shares for column in result.columns if column.name == "näme")
    assert {share.category for share in shares} == {*NAMES}
    assert all(share.shares[0] == share.shares[1] for share in shares)


FILES: dict[str, Any] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False, lineterminator="\n"),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
}


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: frame.astype({frame.columns[1]: "category"}),
        lambda frame: frame.astype({frame.columns[1]: "string"}),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).to_arrow(),
    ],
    ids=["object", "category", "string", "polars", "pyarrow"],
)
def test_frames_of_two_forms_are_one_table(make: Any) -> None:
    same(km.compare(make(A), make(B), n_resamples=99))


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("ending", FILES)
def test_files_of_two_forms_are_one_table(ending: str, in_memory: bool, tmp_path: Path) -> None:
    for name, frame in (("a", A), ("b", B)):
        FILES[ending](frame, tmp_path / f"{name}{ending}")
    same(km.compare(*(km.read(tmp_path / f"{name}{ending}", in_memory=in_memory) for name in "ab"), n_resamples=99))
    assert list(column_names(tmp_path / f"b{ending}")) == [*A.columns]


@pytest.mark.parametrize("form", [str, other_form])
def test_columns_and_groups_are_named_in_either_form(form: Any, tmp_path: Path) -> None:
    groups = [form(name) for name in ("José", "Zoë\nMüller")]
    tested = [km.compare_groups(frame, form("näme"), groups, n_resamples=99) for frame in (A, B)]
    assert tested[0].groups == tested[1].groups == ("José", "Zoë\nMüller")
    assert tested[0].pvalue == tested[1].pvalue
    options: dict[str, Any] = {
        "categorical": [form("größe")],
        "ordinal": {form("näme"): [form(name) for name in dict.fromkeys(NAMES)]},
        "missing": {form("größe"): "category"},
        "strata": form("straße é"),
    }
    found = km.compare(A, B, n_resamples=99, **options)
    assert {column.name: column.kind for column in found.columns} == {"größe": "categorical", "näme": "ordinal"}
    B.to_csv(tmp_path / "b.csv", index=False)
    absent = TextFormat(na_values={form("näme"): [form("José")]})
    read = read_frame(tmp_path / "b.csv", text=absent)
    assert sum(cell is None for cell in read[form("näme")]) == (NAMES == "José").sum()
    assert read.drop([form("straße é")]).names == ("größe", "näme")


def test_names_that_become_equal_are_refused_as_a_name_used_twice(tmp_path: Path) -> None:
    twice = A.assign(**{other_form("größe"): A["größe"]})
    with pytest.raises(ValueError, match="uses the column name 'größe' twice"):
        km.compare(twice, twice)
    for ending, write in FILES.items():
        write(twice, tmp_path / f"t{ending}")
        for in_memory in (True, False):
            with pytest.raises(ValueError, match=r"'größe' twice|a key occurs in it twice"):
                km.compare(*[km.read(tmp_path / f"t{ending}", in_memory=in_memory)] * 2)
