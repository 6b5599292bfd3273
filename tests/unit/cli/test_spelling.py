"""Texts of the library on the command line: options of the running command are spelled as you write them there."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from kernelmean.cli.spelling import spelled


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("missing='category' or 'drop'; n_resamples=", "--missing category or drop; --resamples"),
        ("with kernelmean.read(..., drop=['a b', 'c']), or", 'with --drop "a b,c", or'),
        ("drop=['it\\'s (x)', 'a,b']", '--drop "it\'s (x)" --drop a,b'),
        ("read_frame(path, text=TextFormat(decimal=',', thousands=' '))", "--decimal , --thousands space"),
        (
            "read_frame(path, text=TextFormat(dates='dmy')) or text=TextFormat(dates='mdy')",
            "--dates dmy or --dates mdy",
        ),
        ("na_values=('-', '1,0')", "--na-values '-,\"1,0\"'"),
        ("text=TextFormat(skip=N)", "--skip N"),
        ("ordinal={'size': ['low', '…', 'high']}", "--ordinal size=low,…,high"),
        ("missing={'*': 'drop', 'a b': 'category'}", '--missing "drop,a b=category"'),
        ("paired=True or scale=False", "--paired or --no-scale"),
        ("pandas: read_csv(..., decimal=...)", "pandas: read_csv(..., decimal=...)"),
        ("kernelmean.read(path, in_memory=True), kernel=", "kernelmean.read(path, in_memory=True), kernel="),
        ("'drop=1', a/drop=2 and --drop=3", "'drop=1', a/drop=2 and --drop=3"),
    ],
)
def test_options_of_the_command_are_spelled_and_others_stay(
    python: str, command: str, on_command_line: Callable[[str], str]
) -> None:
    assert on_command_line(python) == command
    assert spelled(python) == python, "no command runs"


def test_groups_keep_their_names(tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from kernelmean.cli import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("weights,x\n" + "".join(f"{k % 2},{k % 7}.5\n" for k in range(40)))
    assert run(["compare", "t.csv", "--by", "weights", "--resamples", "19", "--estimator", "kme"]) == 0
    assert "weights=0 and weights=1" in " ".join(capsys.readouterr().out.split())


def test_names_and_cells_that_look_like_options_stay_in_tables_json_and_pages(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from kernelmean.cli import run

    monkeypatch.chdir(tmp_path)
    for name, often in (("a", 4), ("b", 1)):
        rows = (f"{k % 7}.5,{'level=high' if k % 5 < often else 'level=low'}" for k in range(40))
        (tmp_path / f"{name}.csv").write_text("drop=x,kind\n" + "\n".join(rows) + "\n")
    files = ["--json", "out.json", "--html", "out.html"]
    assert run(["compare", "a.csv", "b.csv", "--resamples", "199", "--estimator", "kme", *files]) == 0
    columns = {column["name"]: column for column in json.loads((tmp_path / "out.json").read_text())["columns"]}
    assert columns.keys() == {"drop=x", "kind"}
    assert {share["category"] for share in columns["kind"]["shares"]} == {"level=high", "level=low"}
    assert "--drop x" not in capsys.readouterr().out
    page = (tmp_path / "out.html").read_text()
    assert "drop=x" in page
    assert "--drop x" not in page


def test_advice_in_tables_csv_and_json_is_spelled_and_names_beside_it_stay(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from kernelmean.cli import run

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("drop=y,x\n" + "".join(f"key {k},{k % 7}.5\n" for k in range(40)))
    assert run(["describe", "t.csv", "--json", "out.json", "--csv", "out.csv"]) == 0
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["options"] == "--drop drop=y"
    assert content["columns"][0]["name"] == "drop=y"
    assert content["columns"][0]["change"] == "--drop drop=y or --categorical drop=y"
    assert "--drop drop=y" in (tmp_path / "out.csv").read_text()
    assert "--drop drop=y" in capsys.readouterr().out
