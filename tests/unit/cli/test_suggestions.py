"""Suggested options can be written as they stand, whatever columns are called: a shell hands on the names whole."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernelmean.cli import main
from kernelmean.cli.spelling import comma_separated, worded, worded_names

NAMES = ("plain", "two words", "cost $a", 'say "so"', "it's", "a&b;c", "`number`", "back\\slash", "a,b", "~home", "(x)")


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    out, err = capsys.readouterr()
    assert (exit_.value.code, out) == (2, "")
    return err


def suggested(text: str, option: str) -> str:
    """Return the words of a suggestion from its option on, as a shell hands them to the program, the first two."""
    found = text[text.index(f"{option} ") :]
    for end in [match.start() for match in re.finditer(r"[,; .)\n]|$", found)][2:]:
        try:
            words = shlex.split(found[:end])
        except ValueError:  # a quote is open
            continue
        if len(words) == 2:
            return words[1]
    raise AssertionError(text)


@pytest.mark.parametrize("name", NAMES)
def test_options_are_read_back_by_a_shell(name: str) -> None:
    assert shlex.split(worded("--drop", name)) == ["--drop", name]
    assert shlex.split(worded_names("--drop", [name, "other"])) in (
        ["--drop", f"{name},other"],
        ["--drop", name, "--drop", "other"],
    )
    if shutil.which("sh"):
        script = f"printf '%s\\n' {worded('--drop', name)} {worded('--groups', comma_separated([name, 'other']))}"
        out = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
        assert out.splitlines() == ["--drop", name, "--groups", comma_separated([name, "other"])]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "a,b"])
def test_a_column_that_looks_like_an_identifier(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for k, file in enumerate(("one.csv", "two.csv")):
        table = pd.DataFrame({name: np.arange(40) + 40 * k, "x": rng.normal(size=40)})
        table.to_csv(file, index=False)
    told = refusal(capsys, "compare", "one.csv", "two.csv")
    for option in ("--drop", "--keep"):
        assert f"{worded(option, name)}" in told
        with pytest.raises(SystemExit) as exit_:
            main(["compare", "one.csv", "two.csv", "-q", "--estimator", "kme", *shlex.split(worded(option, name))])
        assert exit_.value.code == 0


def test_common_columns_rules_and_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    one = pd.DataFrame(rng.normal(size=(30, 3)), columns=["my dose", "cost $a", "z"])
    one.to_csv("one.csv", index=False)
    one.rename(columns={"z": "w"}).to_csv("two.csv", index=False)
    assert suggested(refusal(capsys, "compare", "one.csv", "two.csv"), "--columns") == "my dose,cost $a"
    city = one.assign(**{"the city": ["Rome", None, "Oslo"] * 10})
    city.to_csv("city.csv", index=False)
    told = refusal(capsys, "dependence", "city.csv", "--missing", "noise", "--estimator", "kme")
    assert '--missing "the city=category"' in told
    one.assign(**{"the day": np.arange(30) * 1.5}).to_csv("days.csv", index=False)
    told = refusal(capsys, "changes", "days.csv")
    assert '--time "the day"' in told
    assert '--keep "the day"' in told


def test_an_option_of_another_name_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert "No such option: --target (Possible options: --y)" in refusal(capsys, "dependence", "iris", "--target", "a")
    assert "--y" not in refusal(capsys, "compare", "iris", "iris", "--target", "a")
