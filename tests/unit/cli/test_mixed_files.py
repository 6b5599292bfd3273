"""Files with mixed columns and blank cells: what the commands make of them, and the one line where they cannot."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.cli import main
from kernelmean.cli import run as run_command

QUICK = ("--resamples", "99", "--estimator", "kme")
SIZES = ["low", "mid", "high"]


def visits(seed: int, n: int, shares: Any) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 9, n).round(1),
            "city": rng.choice(["Lima", "Oslo", "Rome"], n, p=shares),
            "size": rng.choice(SIZES, n),
            "smoker": rng.random(n) < 0.3,
            "visit": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "code": rng.integers(1, 4, n),
        }
    )
    frame["city"] = frame["city"].astype(object)
    frame.loc[frame.index % 9 == 2, "age"] = np.nan
    frame.loc[frame.index % 11 == 3, "city"] = None
    return frame


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    before, after = visits(1, 40, [0.6, 0.2, 0.2]), visits(2, 36, [0.05, 0.05, 0.9])
    for name, frame in (("before", before), ("after", after)):
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_parquet(f"{name}.parquet", index=False)
    pd.concat([before.assign(year=2023), after.assign(year=2024)]).to_csv("both.csv", index=False)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must work without a word on stderr, and return what it printed."""
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert (exit_.value.code, err) == (0, "")
    return out


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must end with exit code 2 and one line."""
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert (exit_.value.code, out, err.count("\n")) == (2, "", 1)
    return err


def content_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capsys, *arguments, "--json", "-", *QUICK))
    return found


def test_mixed_files_work_out_of_the_box(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "compare", "before.csv", "after.csv", "--missing", "category", *QUICK)
    assert out.startswith("before.csv and after.csv differ")
    lines = out[out.index("Columns that differ most") :].splitlines()
    first = next(line for line in lines[1:] if line.split()[0] in ("city", "age", "visit", "size", "code"))
    assert first.split()[0] == "city"
    assert "% Rome" in first
    assert "missing cells in before.csv and after.csv: 5 (12 %) and 4 (11 %) of age; 4 (" in " ".join(out.split())
    assert any("2024-0" in line for line in lines if line.split()[:1] == ["visit"])


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        ("drop", "drop"),
        ("category", "category"),
        ("age=noise, city=category", {"age": "noise", "city": "category"}),
    ],
)
def test_csv_and_parquet_and_the_library_give_one_answer(
    rule: str, missing: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = ("--ordinal", "size=low, mid,high", "--ordinal", "smoker=False,True")
    options = ("--missing", rule, *orders, "--categorical", "code")
    found = [content_of(capsys, "compare", f"before.{end}", f"after.{end}", *options) for end in ("csv", "parquet")]
    frames = [pd.read_parquet(f"{name}.parquet") for name in ("before", "after")]
    ours = km.compare(
        *frames,
        missing=missing,
        ordinal={"size": SIZES, "smoker": ["False", "True"]},
        categorical="code",
        estimator="kme",
        n_resamples=99,
        names=("before.csv", "after.csv"),
    ).to_dict()
    for one in found:
        assert one["statistic"] == ours["statistic"]
        assert one["pvalue"] == ours["pvalue"]
        assert one["missing"] == ours["missing"]
        assert one["columns"] == json.loads(json.dumps(ours["columns"]))
    kinds = {column["name"]: column["kind"] for column in found[0]["columns"]}
    assert kinds == {
        "age": "numeric",
        "city": "categorical",
        "size": "ordinal",
        "smoker": "ordinal",
        "visit": "datetime",
        "code": "categorical",
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            (),
            "column 'age' is blank or NaN (9 such cells in this column of both tables; 7 in 'city'); write --missing",
        ),
        (("--missing", "noise"), "'city' is categorical; write a rule for each column"),
        (("--missing", "age=noise"), "column 'city' is blank"),
        (("--missing", "age="), "write a column, an equals sign and what it is, such as --missing drop,city=category"),
        (("--missing", "town=drop"), "missing names a column 'town' that is not there"),
        (("--missing", "age=noise,city=category", "--estimator", "adaptive"), "exact kernel for --estimator kme only"),
        (("--missing", "drop", "--ordinal", "size"), "--ordinal is 'size'; write a column, an equals sign"),
        (("--missing", "drop", "--ordinal", "size=low,mid"), "holds 'high', which is not one of its levels low, mid"),
        (("--missing", "drop", "--ordinal", "weight=low,mid"), "has no column 'weight'"),
        (("--missing", "drop", "--categorical", "cod"), "has no column 'cod' (did you mean 'code'?)"),
    ],
)
def test_what_is_not_clear_is_one_line(
    options: tuple[str, ...], text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in refusal(capsys, "compare", "before.csv", "after.csv", *QUICK, *options)


def test_one_bad_cell_makes_no_column_of_categories(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("first", "second"):
        (folder / f"{name}.csv").write_text("a,b\n1,2\n3,4x\n5,6\n")
    text = refusal(capsys, "compare", "first.csv", "second.csv", *QUICK)
    assert (
        "'b' is text in which 2 of 3 different cells of both tables are numbers, but not '4x' in row 2; write" in text
    )


def test_the_cell_that_is_no_number_is_shown_and_the_options_keep_columns_that_they_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{k % 9},{k};{k},5;{'<1,0' if k == 7 else f'{k},3'}" for k in range(20)]
    (folder / "lab.csv").write_text("\n".join(["a;b;c", *rows]) + "\n")
    text = refusal(capsys, "compare", "lab.csv", "lab.csv", *QUICK)
    assert "20 different cells of both tables are numbers, but not '<1,0' in row 8; where '<1,0' means" in text
    assert run_command(["describe", "lab.csv", "--json", "-", "--quiet"]) == 0
    options = json.loads(capsys.readouterr().out)["options"]
    assert options == "--decimal , --na-values '\"<1,0\"' --missing category"
    assert run_command(["compare", "lab.csv", "lab.csv", *QUICK, *shlex.split(options)]) == 0
    capsys.readouterr()
    (folder / "lab.csv").write_text("\n".join(["a;b;c;x", *(f"{row};{k / 2}" for k, row in enumerate(rows))]) + "\n")
    assert run_command(["describe", "lab.csv", "--json", "-", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["options"] == "--drop a,b,c"  # --decimal , would not read x
