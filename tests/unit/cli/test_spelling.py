"""Texts of the library on the command line: options of the running command are spelled as you write them there."""

from __future__ import annotations

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
